//! Headers of every request, and the server that receives them.

use std::sync::Arc;

use http::header::{AUTHORIZATION, HOST};
use http::{HeaderMap, HeaderName, HeaderValue, Uri};
use mcp_proto::{Revision, RevisionSet};
use url::Url;

use super::http_event::HttpObserver;
use crate::client::ConnectError;
use crate::net::without_secrets;

/// Fields of the application's own, the same in every request.
#[derive(Clone, Default)]
pub(super) struct Settings {
    pub(super) fields: HeaderMap,
    /// True if legacy sessions are held to the transports draft.
    pub(super) draft: bool,
    pub(super) observer: Option<Arc<HttpObserver>>,
    /// The way in which access tokens are obtained.
    #[cfg(feature = "auth")]
    pub(super) authorization: Option<super::authorization::Authorization>,
    /// The first that is none.
    wrong: Option<String>,
}

impl Settings {
    pub(super) fn header(&mut self, name: &str, value: &str) {
        let field = HeaderName::try_from(name)
            .ok()
            .filter(|name| !is_ours(name))
            .zip(HeaderValue::try_from(value).ok());
        match field {
            Some((name, mut value)) => {
                // Whatever it is: it is not for logs, nor for tables of compression.
                value.set_sensitive(true);
                self.fields.append(name, value);
            }
            None if self.wrong.is_none() => self.wrong = Some(name.to_owned()),
            None => {}
        }
    }

    pub(super) fn bearer(&mut self, token: &str) {
        match bearer(token) {
            Ok(value) => {
                self.fields.insert(AUTHORIZATION, value);
            }
            Err(_) if self.wrong.is_none() => self.wrong = Some(AUTHORIZATION.to_string()),
            Err(_) => {}
        }
    }

    /// The revisions that are accepted over HTTP: the draft's own where it was asked for, beside
    /// others of its era.
    pub(super) fn revisions(&self, revisions: RevisionSet) -> RevisionSet {
        if self.draft && revisions.has_legacy() {
            revisions.with(Revision::DraftV1)
        } else {
            revisions
        }
    }

    /// The URL, if it is one of HTTP.
    pub(super) fn check(&self, url: &str) -> Result<Url, ConnectError> {
        if let Some(name) = &self.wrong {
            return Err(ConnectError::Header(name.clone()));
        }
        Url::parse(url)
            .ok()
            .filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host())
            .ok_or_else(|| ConnectError::Url(without_secrets(url)))
    }
}

/// The value of `Authorization` that carries this token.
pub(super) fn bearer(token: &str) -> Result<HeaderValue, ConnectError> {
    let mut value = HeaderValue::try_from(format!("Bearer {token}"))
        .map_err(|_| ConnectError::Header(AUTHORIZATION.to_string()))?;
    // It is not for logs, nor for tables of compression.
    value.set_sensitive(true);
    Ok(value)
}

/// Fields that the protocol or the transport decides.
fn is_ours(name: &HeaderName) -> bool {
    let name = name.as_str();
    let ours = [
        "accept",
        "connection",
        "content-length",
        "content-type",
        HOST.as_str(),
        "last-event-id",
        "transfer-encoding",
    ];
    ours.contains(&name) || name.starts_with("mcp-")
}

/// Returns a URL as a server receives it, without fragment; credentials in it are left out by the client.
pub(super) fn target(url: &Url) -> Option<Uri> {
    url.as_str().split('#').next()?.parse().ok()
}
