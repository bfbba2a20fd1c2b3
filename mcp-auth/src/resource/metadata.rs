//! The metadata document of a resource (RFC 9728).

use alloc::string::String;
use alloc::vec::Vec;

use mcp_proto::http::Head;

use super::algorithm::Algorithms;
use super::denial::DpopUse;
use super::text;
use crate::{Scopes, Uri};

/// The well-known name of the document.
pub(super) const WELL_KNOWN: &str = "oauth-protected-resource";

const PREFIX: &str = "/.well-known/oauth-protected-resource";

/// The document and the paths where it is served.
#[derive(Clone, Debug)]
pub(super) struct Metadata {
    document: Vec<u8>,
    paths: Vec<String>,
}

/// The statements of the metadata document.
#[derive(Clone, Debug)]
pub(super) struct Statements<'s> {
    pub(super) resource: &'s str,
    pub(super) authorization_servers: &'s [String],
    pub(super) scopes: &'s Scopes,
    pub(super) name: Option<&'s str>,
    pub(super) documentation: Option<&'s str>,
    pub(super) dpop: DpopUse,
    pub(super) proof_algorithms: Algorithms,
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
        statements: &Statements<'_>,
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
            document: statements.to_json(),
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

impl Statements<'_> {
    fn to_json(&self) -> Vec<u8> {
        text::written(|w| {
            w.literal("{\"resource\":");
            w.string(self.resource);
            w.literal(",\"authorization_servers\":");
            let issuers = self.authorization_servers.iter();
            text::write_list(w, issuers.map(String::as_str));
            // AU-11
            let scopes = || {
                self.scopes
                    .iter()
                    .filter(|scope| *scope != "offline_access")
            };
            if scopes().next().is_some() {
                w.literal(",\"scopes_supported\":");
                text::write_list(w, scopes());
            }
            w.literal(",\"bearer_methods_supported\":[\"header\"]");
            if let Some(name) = self.name {
                w.literal(",\"resource_name\":");
                w.string(name);
            }
            if let Some(documentation) = self.documentation {
                w.literal(",\"resource_documentation\":");
                w.string(documentation);
            }
            if self.dpop != DpopUse::Off {
                w.literal(",\"dpop_signing_alg_values_supported\":");
                let algorithms = self.proof_algorithms.iter();
                text::write_list(w, algorithms.map(|algorithm| algorithm.name()));
            }
            if self.dpop == DpopUse::Required {
                w.literal(",\"dpop_bound_access_tokens_required\":true");
            }
            w.literal("}");
        })
    }
}
