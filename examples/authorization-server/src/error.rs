use bytes::Bytes;
use http::header::{HeaderName, HeaderValue, WWW_AUTHENTICATE};
use http::{Response, StatusCode};
use serde_json::json;

use crate::answer;

/// An error of the token, registration or authorization endpoint (RFC 6749, section 5.2).
#[derive(Debug)]
pub(crate) struct OAuthError {
    status: StatusCode,
    pub(crate) code: &'static str,
    pub(crate) description: String,
    header: Option<(HeaderName, HeaderValue)>,
}

impl OAuthError {
    pub(crate) fn new(code: &'static str, description: impl Into<String>) -> Self {
        Self {
            status: StatusCode::BAD_REQUEST,
            code,
            description: description.into(),
            header: None,
        }
    }

    pub(crate) fn invalid_request(description: impl Into<String>) -> Self {
        Self::new("invalid_request", description)
    }

    pub(crate) fn invalid_grant(description: impl Into<String>) -> Self {
        Self::new("invalid_grant", description)
    }

    /// The client is unknown, or did not authenticate as registered.
    pub(crate) fn invalid_client(description: impl Into<String>) -> Self {
        let basic = HeaderValue::from_static("Basic realm=\"token\"");
        Self {
            status: StatusCode::UNAUTHORIZED,
            header: Some((WWW_AUTHENTICATE, basic)),
            ..Self::new("invalid_client", description)
        }
    }

    pub(crate) fn invalid_proof(description: impl Into<String>) -> Self {
        Self::new("invalid_dpop_proof", description)
    }

    /// The client must send the request again with this nonce (RFC 9449, section 8).
    pub(crate) fn use_nonce(nonce: &str) -> Self {
        Self {
            header: HeaderValue::from_str(nonce)
                .ok()
                .map(|nonce| (HeaderName::from_static("dpop-nonce"), nonce)),
            ..Self::new("use_dpop_nonce", "the proof must contain the nonce")
        }
    }

    pub(crate) fn into_response(self) -> Response<Bytes> {
        let body = json!({ "error": self.code, "error_description": self.description });
        let mut response = answer::json(self.status, &body);
        if let Some((name, value)) = self.header {
            response.headers_mut().insert(name, value);
        }
        response
    }
}
