//! The metadata of an MCP server as a protected resource (RFC 9728).

use alloc::string::String;
use alloc::vec::Vec;

use super::document::DocumentReader;
use super::error::{AuthError, Document, Problem, printable, shown_url};
use super::{Scopes, Uri};

/// The name below `/.well-known/`.
pub(crate) const WELL_KNOWN: &str = "oauth-protected-resource";

/// The metadata of an MCP server.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResourceMetadata {
    /// The identifier of the server as it publishes it, to the byte: this text is sent as
    /// `resource` (AU-53).
    pub resource: String,
    /// The issuers of its authorization servers, at least one (AU-04).
    pub authorization_servers: Vec<String>,
    /// The scopes that it knows; `None` if it does not say.
    pub scopes_supported: Option<Scopes>,
    /// Its name for people.
    pub resource_name: Option<String>,
    /// True if the server accepts only tokens that are bound to a key.
    pub dpop_required: bool,
    /// The algorithms of proofs that it accepts; `None` if it does not say.
    pub dpop_algorithms: Option<Vec<String>>,
}

impl ResourceMetadata {
    /// Reads the document that came from `url`. `None` for JSON objects of another kind, and for
    /// what is no JSON object (AU-38).
    ///
    /// # Errors
    ///
    /// [`AuthError`] if the document is too large, or is of this kind but wrong.
    pub fn read(url: &str, body: &[u8]) -> Result<Option<Self>, AuthError> {
        let document = match DocumentReader::new(Document::ResourceMetadata, url, body) {
            Err(error) if is_other_kind(&error) => return Ok(None),
            other => other?,
        };
        if !document.has_any(&["resource", "authorization_servers"]) {
            return Ok(None);
        }
        let resource = document.required_text("resource")?;
        let servers = document.texts("authorization_servers")?;
        let servers = servers.filter(|servers| !servers.is_empty());
        let scopes = document.texts("scopes_supported")?;
        Ok(Some(Self {
            resource,
            authorization_servers: servers
                .ok_or_else(|| document.fail(Problem::Missing("authorization_servers")))?,
            scopes_supported: scopes.map(|scopes| scopes.iter().map(String::as_str).collect()),
            resource_name: document.text("resource_name")?,
            dpop_required: document.flag("dpop_bound_access_tokens_required")?,
            dpop_algorithms: document.texts("dpop_signing_alg_values_supported")?,
        }))
    }

    /// Checks that the document at `url` is about `server` (AU-23). A document at the root of the
    /// server's origin may also be about the origin. `accept_parent` admits a parent path.
    ///
    /// # Errors
    ///
    /// [`AuthError`] that names both texts.
    pub fn check_resource(
        &self,
        url: &str,
        server: &Uri<'_>,
        accept_parent: bool,
    ) -> Result<(), AuthError> {
        let fail = |problem| AuthError::new(Document::ResourceMetadata, url, problem);
        let resource = Uri::parse(&self.resource).map_err(|reason| {
            fail(Problem::UnusableUrl {
                member: "resource",
                reason,
            })
        })?;
        let origin = server.origin();
        let is_root = |found: Uri<'_>| {
            let root = Uri::parse(&origin);
            let place = root.map(|root| root.well_known(WELL_KNOWN));
            place.is_ok_and(|place| place == found.as_str())
                && root.is_ok_and(|root| resource.is_same_resource(&root))
        };
        let accepted = resource.is_same_resource(server)
            || Uri::parse(url).is_ok_and(is_root)
            || (accept_parent && resource.is_parent_resource(server));
        match accepted {
            true => Ok(()),
            false => Err(fail(Problem::Mismatch {
                member: "resource",
                expected: shown_url(server.as_str()),
                found: printable(&self.resource, 300),
            })),
        }
    }
}

/// Returns true if the body was no JSON object: a page, or another document.
pub(crate) const fn is_other_kind(error: &AuthError) -> bool {
    matches!(error.problem, Problem::NotJson(_) | Problem::NotObject(_))
}
