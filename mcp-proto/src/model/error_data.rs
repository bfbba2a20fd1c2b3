//! The `data` of the errors of the protocol.

use crate::json::Raw;
use crate::revision::Revision;
use crate::rpc::{ErrorObject, code};

#[doc(hidden)]
#[macro_export]
macro_rules! declare_error_data {
    ($form:ident) => {
        $form! {
            /// The `data` of error -32022: the server does not speak the revision. In the legacy
            /// era, of the error to an `initialize` that names none.
            #[derive(Debug, Default)]
            struct UnsupportedVersionData<'b> {
                /// The revisions that the server speaks.
                supported: List<Text>,
                /// The revision of the request.
                requested: Option<Text>,
            }

            /// The `data` of error -32021: the client did not declare a capability that the request
            /// needs.
            #[derive(Debug, Default)]
            struct MissingCapabilitiesData<'b> {
                /// The capabilities that the request needs.
                required_capabilities "requiredCapabilities": ClientCapabilities,
            }

            /// The `data` of error -32042: pages have to be visited first; 2025-11-25 only.
            #[derive(Debug, Default)]
            struct UrlElicitationData<'b> {
                /// The pages.
                elicitations: List<ElicitParams>,
            }
            ;
            ;
        }
    };
}

/// Returns whether the error to a `resources/read` states that there is no such resource.
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
