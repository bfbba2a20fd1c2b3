//! The `data` of the errors of the protocol.

use serde::{Deserialize, Serialize};

use super::{ClientCapabilities, ElicitParams};
use crate::json::{List, Raw, Str};
use crate::revision::Revision;
use crate::rpc::{ErrorObject, code};

/// The `data` of error -32022: the server does not speak this revision (VR-04). In the legacy
/// era, of the error to an `initialize` that names none.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:UnsupportedVersionData", rename_all = "camelCase")]
pub struct UnsupportedVersionData<'b> {
    /// The revisions that it speaks.
    #[serde(borrow)]
    pub supported: List<'b, Str<'b>>,
    /// The one that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requested: Option<Str<'b>>,
}

/// The `data` of error -32021: the client did not declare what the request needs (VR-07).
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:MissingCapabilitiesData", rename_all = "camelCase")]
pub struct MissingCapabilitiesData<'b> {
    /// What it needs.
    #[serde(borrow)]
    pub required_capabilities: ClientCapabilities<'b>,
}

/// The `data` of error -32042: pages have to be visited first (EL-13); 2025-11-25 only.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:UrlElicitationData", rename_all = "camelCase")]
pub struct UrlElicitationData<'b> {
    /// The pages.
    #[serde(borrow)]
    pub elicitations: List<'b, ElicitParams<'b>>,
}

/// Whether the error to a `resources/read` says that there is no such resource.
///
/// That is -32002 in every revision (accepted, though not sent, in 2026-07-28: JR-24), and in
/// 2026-07-28 -32602 with the URI in its data. Other codes that servers are seen to use, such
/// as -32001, mean nothing (JR-26).
pub fn is_resource_not_found(error: &ErrorObject<'_>, revision: Revision) -> bool {
    match error.code {
        code::RESOURCE_NOT_FOUND => true,
        other if other == revision.resource_not_found_code() => error
            .data
            .and_then(Raw::object)
            .and_then(|data| data.get("uri"))
            .is_some_and(|uri| uri.string().is_some()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RS-05
    #[test]
    fn resources_that_are_not_found() {
        let check = |code, data: Option<&str>, revision, expected| {
            let data = data.and_then(|text| Raw::parse(text.as_bytes(), 8).ok());
            let error = ErrorObject {
                data,
                ..ErrorObject::new(code, "?")
            };
            assert_eq!(is_resource_not_found(&error, revision), expected);
        };
        let uri = Some(r#"{"uri":"file:///a"}"#);
        for revision in Revision::ALL {
            check(-32002, None, revision, true);
            check(-32001, uri, revision, false);
            check(-32602, None, revision, false);
            check(-32602, Some(r#"{"uri":7}"#), revision, false);
        }
        check(-32602, uri, Revision::V2025_11_25, false);
        check(-32602, uri, Revision::V2026_07_28, true);
    }
}
