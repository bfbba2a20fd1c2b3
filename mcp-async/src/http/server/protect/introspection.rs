//! Introspection of tokens over HTTP (RFC 7662).

use core::error::Error;
use core::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::{HeaderValue, Request};
use mcp_auth::{Secret, Uri};

use super::fetch::{FetchError, fetch};
use super::token_verifier::Introspect;
use crate::net::HttpClient;
use crate::runtime::RuntimeHandle;

/// The introspection endpoint of an authorization server.
///
/// ```
/// use mcp_async::auth::{Protection, RemoteIntrospection};
///
/// fn protection(secret: &str) -> Protection {
///     let endpoint = RemoteIntrospection::at("https://login.example.com/introspect")
///         .basic("notes-server", secret);
///     Protection::new("https://mcp.example.com/mcp")
///         .introspection("https://login.example.com", endpoint)
/// }
/// ```
pub struct RemoteIntrospection {
    url: String,
    authorization: Option<Secret>,
    client: HttpClient,
}

impl RemoteIntrospection {
    /// The endpoint at this URL. Tokens are sent to `https`, and to `http` on this machine.
    pub fn at(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            authorization: None,
            client: HttpClient::default(),
        }
    }

    /// Identifies this server by an id and a secret (RFC 6749, section 2.3.1).
    #[must_use]
    pub fn basic(mut self, id: &str, secret: &str) -> Self {
        let pair = format!("{}:{}", form_encoded(id), form_encoded(secret));
        let pair = STANDARD.encode(pair);
        self.authorization = Some(format!("Basic {pair}").into());
        self
    }

    /// Identifies this server by a token of its own.
    #[must_use]
    pub fn bearer(mut self, token: &str) -> Self {
        self.authorization = Some(format!("Bearer {token}").into());
        self
    }

    /// Sets the client that asks.
    #[must_use]
    pub fn http_client(mut self, client: HttpClient) -> Self {
        self.client = client;
        self
    }
}

/// The question about a token (RFC 7662, section 2.1).
fn question(
    url: &str,
    authorization: Option<&Secret>,
    token: &Secret,
) -> Result<Request<Bytes>, FetchError> {
    let wrong = |reason| FetchError::wrong(url, reason);
    if !Uri::parse(url).is_ok_and(|url| url.is_confidential()) {
        return Err(wrong("it is not a URL with https"));
    }
    let token = form_encoded(token.expose());
    let body = format!("token={token}&token_type_hint=access_token");
    let form = HeaderValue::from_static("application/x-www-form-urlencoded");
    let request = Request::post(url).header(CONTENT_TYPE, form);
    let request = request.body(Bytes::from(body));
    let mut request = request.map_err(|_| wrong("it is not a URL"))?;
    if let Some(authorization) = authorization {
        let value = HeaderValue::try_from(authorization.expose());
        let mut value = value.map_err(|_| wrong("the token of this server is malformed"))?;
        value.set_sensitive(true);
        request.headers_mut().insert(AUTHORIZATION, value);
    }
    Ok(request)
}

impl Introspect for RemoteIntrospection {
    fn start(&self, runtime: &RuntimeHandle) {
        self.client.start(runtime);
    }

    async fn introspect(&self, token: Secret) -> Result<Vec<u8>, Box<dyn Error + Send + Sync>> {
        let question = question(&self.url, self.authorization.as_ref(), &token)?;
        Ok(fetch(&self.client, question).await?)
    }
}

impl fmt::Debug for RemoteIntrospection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RemoteIntrospection")
            .finish_non_exhaustive()
    }
}

/// A text as a value of a form.
fn form_encoded(text: &str) -> String {
    url::form_urlencoded::byte_serialize(text.as_bytes()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_is_a_form() {
        let secret = Secret::from("Basic YTpi");
        let asked = question(
            "https://as.example/ask",
            Some(&secret),
            &"a+b c:ü&=*~".into(),
        );
        let asked = asked.unwrap();
        assert_eq!(
            (asked.method().as_str(), asked.uri().path()),
            ("POST", "/ask")
        );
        assert_eq!(asked.headers()[AUTHORIZATION], "Basic YTpi");
        assert!(!format!("{asked:?}").contains("YTpi"), "{asked:?}");
        assert_eq!(
            asked.body(),
            "token=a%2Bb+c%3A%C3%BC%26%3D*%7E&token_type_hint=access_token"
        );
    }

    #[test]
    fn tokens_do_not_leave_this_machine_in_clear_text() {
        for (url, is_sent) in [
            ("https://as.example/ask", true),
            ("http://127.0.0.1:8080/ask", true),
            ("http://as.example/ask", false),
            ("http://10.0.0.1/ask", false),
        ] {
            assert_eq!(question(url, None, &"a".into()).is_ok(), is_sent, "{url}");
        }
    }

    #[test]
    fn errors_show_no_secret() {
        for (url, authorization) in [
            ("http://[", "a"),
            ("https://u:s3cret@as.example", "s3cret\n"),
        ] {
            let authorization = Secret::from(authorization);
            let error = question(url, Some(&authorization), &"s3cret".into()).unwrap_err();
            let shown = format!("{error} {error:?}");
            assert!(!shown.contains("s3cret"), "{shown}");
        }
    }
}
