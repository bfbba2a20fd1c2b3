//! Clients: those that register themselves, and those with a metadata document.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::context::LoginContext;
use super::response::{LoginResponse, RequestError};
use crate::document::DocumentReader;
use crate::error::{AuthError, Document, Problem, printable};
use crate::jwt::JsonText;
use crate::{HttpRequest, HttpResponse, UnixTime, Uri};

/// A client. The id of one that has registered itself is this, sealed: no registration is stored, so that any
/// number of them takes no memory.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct KnownClient {
    /// The name that the client gives itself.
    #[serde(rename = "n")]
    pub(super) name: String,
    #[serde(rename = "r")]
    redirects: Vec<String>,
    #[serde(rename = "i")]
    issued: UnixTime,
}

const CONTEXT: &str = "client";

/// The bytes of the longest registration, whose id travels in URLs, and of the longest redirect URI of a document.
const MAX_BYTES: usize = 1_500;

/// The letters of a name that are shown.
const MAX_NAME: usize = 80;

/// Answers a registration (RFC 7591). Every client is public.
pub(super) fn register(
    context: &LoginContext<'_>,
    body: &[u8],
) -> Result<LoginResponse, RequestError> {
    let wrong = |text| RequestError::new("invalid_client_metadata", text);
    let read = DocumentReader::new(Document::ClientMetadata, "", body);
    let reader = read.map_err(|_| wrong("The body is no JSON object."))?;
    let client = KnownClient::read(&reader, context.now)
        .map_err(|_| wrong("The member client_name or redirect_uris is malformed."))?;
    client.check_redirects()?;
    let bytes = client.redirects.iter().map(String::len).sum::<usize>();
    if bytes.saturating_add(client.name.len()) > MAX_BYTES {
        return Err(wrong(
            "The members client_name and redirect_uris are too long.",
        ));
    }
    let grants = reader.texts("grant_types");
    let grants = grants.map_err(|_| wrong("The member grant_types is malformed."))?;
    if grants.is_some_and(|grants| !grants.iter().any(|grant| grant == "authorization_code")) {
        return Err(wrong(
            "The member grant_types must have authorization_code.",
        ));
    }
    let id = context.seal_text(CONTEXT, &client)?;
    let redirects = client.redirects.iter().map(String::as_str);
    let body = JsonText::new()
        .text("client_id", &id)
        .number("client_id_issued_at", context.now.as_secs())
        .text("client_name", &client.name)
        .texts("redirect_uris", redirects)
        .texts("grant_types", ["authorization_code", "refresh_token"])
        .texts("response_types", ["code"])
        .text("token_endpoint_auth_method", "none");
    Ok(LoginResponse::json(201, body.end()))
}

impl KnownClient {
    /// Opens the id of a client that has registered itself, if its registration has not expired.
    pub(super) fn open(context: &LoginContext<'_>, id: &str) -> Option<Self> {
        let client: Self = context.open_text(CONTEXT, id)?;
        let lifetime = context.server.settings.registration_lifetime;
        (!context.has_passed(lifetime, client.issued)).then_some(client)
    }

    /// Returns the request for the metadata document of a client; `None` if the id is not the URL of one (AU-72).
    pub(super) fn document_request(context: &LoginContext<'_>, id: &str) -> Option<HttpRequest> {
        let uri = Uri::parse(id).ok()?;
        let issuer = Uri::parse(&context.server.issuer).ok()?;
        let mut segments = uri.path().split('/');
        let is_document = !matches!(uri.path(), "" | "/")
            && !uri.has_fragment()
            && !segments.any(|segment| matches!(segment, "." | ".."));
        let is_allowed = context.server.settings.client_documents && issuer.may_name(&uri);
        (is_document && is_allowed && id.len() <= MAX_BYTES).then(|| {
            let mut request = HttpRequest::get(Document::ClientMetadata, id.into());
            request.max_redirects = 0;
            request
        })
    }

    /// Reads the metadata document at this URL.
    pub(super) fn read_document(
        context: &LoginContext<'_>,
        url: &str,
        response: &HttpResponse<'_>,
    ) -> Result<Self, AuthError> {
        let fail = |problem| AuthError::new(Document::ClientMetadata, url, problem);
        if response.status != 200 {
            return Err(fail(Problem::Status(response.status)));
        }
        if response.body.len() > MAX_DOCUMENT {
            return Err(fail(Problem::TooLarge));
        }
        if !response.header("content-type").is_some_and(is_json) {
            return Err(fail(Problem::Unsupported {
                member: "Content-Type",
                expected: "application/json",
            }));
        }
        let reader = DocumentReader::new(Document::ClientMetadata, url, response.body)?;
        let id = reader.required_text("client_id")?;
        if id != url {
            return Err(fail(Problem::Mismatch {
                member: "client_id",
                expected: printable(url, 300),
                found: printable(&id, 300),
            }));
        }
        reader.required_text("client_name")?;
        let method = reader.text("token_endpoint_auth_method")?;
        if method.is_some_and(|method| method != "none") {
            return Err(fail(Problem::Unsupported {
                member: "token_endpoint_auth_method",
                expected: "none",
            }));
        }
        let client = Self::read(&reader, context.now)?;
        let sound = client.check_redirects();
        sound.map_err(|_| fail(Problem::UnsafeUrl("redirect_uris")))?;
        match client.redirects.iter().any(|uri| uri.len() > MAX_BYTES) {
            true => Err(fail(Problem::Malformed("redirect_uris"))),
            false => Ok(client),
        }
    }

    fn read(reader: &DocumentReader<'_>, issued: UnixTime) -> Result<Self, AuthError> {
        let name = reader.text("client_name")?.unwrap_or_default();
        Ok(Self {
            name: printable(&name, MAX_NAME),
            redirects: reader.texts("redirect_uris")?.unwrap_or_default(),
            issued,
        })
    }

    fn check_redirects(&self) -> Result<(), RequestError> {
        let wrong = |text| Err(RequestError::new("invalid_redirect_uri", text));
        if self.redirects.is_empty() {
            return wrong("The member redirect_uris is missing.");
        }
        match self.redirects.iter().all(|uri| is_sound_redirect(uri)) {
            true => Ok(()),
            false => {
                wrong("A redirect URI must be https, or http on loopback, and have no fragment.")
            }
        }
    }

    /// Returns the redirect URI of a request, which is one of the client's to the byte. The port of a loopback
    /// address is free (RFC 8252, section 7.3).
    pub(super) fn redirect_uri(&self, asked: Option<&str>) -> Option<String> {
        match (asked, &*self.redirects) {
            (None, [only]) => Some(only.clone()),
            (None, _) => None,
            (Some(asked), known) => known
                .iter()
                .any(|known| known == asked || is_same_program(known, asked))
                .then(|| asked.to_owned()),
        }
    }
}

/// The bytes of the longest metadata document of a client.
const MAX_DOCUMENT: usize = 64 * 1024;

/// Returns true for `application/json` and `application/..+json`. A file that a user has uploaded to a host has another
/// type, and is no statement of the host.
fn is_json(content_type: &str) -> bool {
    let essence = content_type.split(';').next().unwrap_or_default();
    let essence = essence.trim_ascii().to_ascii_lowercase();
    let kind = essence.strip_prefix("application/");
    kind.is_some_and(|kind| kind == "json" || kind.ends_with("+json"))
}

fn is_sound_redirect(uri: &str) -> bool {
    Uri::parse(uri).is_ok_and(|uri| uri.is_confidential() && !uri.has_fragment())
}

fn is_same_program(known: &str, asked: &str) -> bool {
    let (known, asked) = (without_loopback_port(known), without_loopback_port(asked));
    known.is_some() && known == asked
}

/// Returns a redirect URI of a program on the user's device without its port; `None` for others. Such programs listen
/// on another port each time (RFC 8252, section 7.3).
pub(super) fn without_loopback_port(redirect_uri: &str) -> Option<String> {
    let uri = Uri::parse(redirect_uri).ok()?;
    let query = uri.query().map(|query| format!("?{query}"));
    let is_program = uri.is_loopback() && !uri.is_https() && !uri.has_fragment();
    is_program.then(|| {
        format!(
            "http://{}{}{}",
            uri.host(),
            uri.path(),
            query.unwrap_or_default()
        )
    })
}

/// Returns true if a program on the user's device receives the answers at this URI.
pub(super) fn is_loopback(redirect_uri: &str) -> bool {
    Uri::parse(redirect_uri).is_ok_and(|uri| uri.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(known: &str, asked: &str, is_accepted: bool) {
        let client = KnownClient {
            name: String::new(),
            redirects: Vec::from([known.into()]),
            issued: UnixTime::from_secs(0),
        };
        let found = client.redirect_uri(Some(asked));
        assert_eq!(found.as_deref(), is_accepted.then_some(asked), "{asked}");
    }

    #[test]
    fn redirect_uris_are_compared_exactly_but_for_the_port_of_loopback() {
        let web = "https://app.example/cb?a=1";
        check(web, web, true);
        for asked in [
            "https://app.example/cb",
            "https://app.example/cb?a=1&b",
            "https://app.example/cb/?a=1",
            "https://app.example:8443/cb?a=1",
            "https://APP.example/cb?a=1",
            "https://app.example.evil/cb?a=1",
            "http://app.example/cb?a=1",
            "https://app.example/cb/../x?a=1",
            "https://app.example/cb?a=1#f",
            "https://me@app.example/cb?a=1",
            "javascript:alert(1)",
        ] {
            check(web, asked, false);
        }
        let native = "http://127.0.0.1/cb";
        check(native, "http://127.0.0.1:8765/cb", true);
        for asked in [
            "http://127.0.0.2:8765/cb",
            "http://localhost:8765/cb",
            "https://127.0.0.1:8765/cb",
            "http://127.0.0.1:8765/cb/x",
            "http://127.0.0.1:8765/cb?x",
            "http://127.0.0.1:8765/cb#f",
            "http://127.0.0.1:8765@evil.example/cb",
            "http://127.0.0.1.evil.example/cb",
        ] {
            check(native, asked, false);
        }
    }
}
