//! What the errors of the protocol say in their `data`.

use serde::{Deserialize, Serialize};

use super::{ClientCapabilities, ElicitParams};
use crate::json::{List, Str};

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
