//! The metadata document of a resource (RFC 9728).

use alloc::string::String;
use alloc::vec::Vec;

use mcp_proto::http::Head;

use crate::Uri;

/// The well-known name of the document.
pub(super) const WELL_KNOWN: &str = "oauth-protected-resource";

const PREFIX: &str = "/.well-known/oauth-protected-resource";

/// The document and the paths where it is served.
#[derive(Clone, Debug)]
pub(super) struct Metadata {
    document: Vec<u8>,
    paths: Vec<String>,
}

/// The response to a request for the metadata document, which needs no token and which pages of
/// every origin may read (AU-16).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetadataResponse<'r> {
    /// The HTTP status.
    pub status: u16,
    /// Header fields.
    pub fields: &'static [(&'static str, &'static str)],
    /// The body; may be empty.
    pub body: &'r [u8],
}

const DOCUMENT: &[(&str, &str)] = &[
    ("content-type", "application/json"),
    ("access-control-allow-origin", "*"),
    ("cache-control", "public, max-age=300"),
    ("x-content-type-options", "nosniff"),
];

const PREFLIGHT: &[(&str, &str)] = &[
    ("access-control-allow-origin", "*"),
    ("access-control-allow-methods", "GET, HEAD"),
    // The client's request has `MCP-Protocol-Version` (AU-28).
    ("access-control-allow-headers", "*"),
    ("access-control-max-age", "86400"),
];

const METHOD: &[(&str, &str)] = &[
    ("allow", "GET, HEAD, OPTIONS"),
    ("access-control-allow-origin", "*"),
];

impl Metadata {
    /// `metadata_url` is where the document is published, and `local` is the path of the endpoint
    /// as requests state it, if a proxy changes it.
    pub(super) fn new(
        document: String,
        metadata_url: &Uri<'_>,
        local: Option<&str>,
        at_root: bool,
    ) -> Self {
        let mut paths = alloc::vec![String::from(metadata_url.path())];
        let local = local.map(|path| if path == "/" { "" } else { path });
        paths.extend(local.map(|path| alloc::format!("{PREFIX}{path}")));
        if at_root {
            paths.push(String::from(PREFIX));
        }
        Self {
            document: document.into_bytes(),
            paths,
        }
    }

    pub(super) fn document(&self) -> &[u8] {
        &self.document
    }

    pub(super) fn respond(&self, head: &impl Head) -> Option<MetadataResponse<'_>> {
        if !self.paths.iter().any(|path| path == head.path()) {
            return None;
        }
        let (status, fields, body): (_, _, &[u8]) = match head.method() {
            "GET" => (200, DOCUMENT, &self.document),
            "HEAD" => (200, DOCUMENT, &[]),
            "OPTIONS" => (204, PREFLIGHT, &[]),
            _ => (405, METHOD, &[]),
        };
        Some(MetadataResponse {
            status,
            fields,
            body,
        })
    }
}
