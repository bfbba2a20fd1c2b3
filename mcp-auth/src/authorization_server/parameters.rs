//! The parameters of a request, and its cookie.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use mcp_proto::http::{Field, Head};

use super::context::LoginContext;
use super::response::RequestError;
use crate::form;

/// The parameters of a query or a form, each at most once. An empty one counts as absent (RFC 6749, section
/// 3.1).
#[derive(Clone)]
pub(super) struct Parameters(Vec<(String, String)>);

impl Parameters {
    pub(super) fn parse(text: &[u8]) -> Result<Self, RequestError> {
        let malformed = RequestError::invalid_request("The parameters are malformed.");
        let text = core::str::from_utf8(text).map_err(|_| malformed)?;
        let mut all: Vec<(String, String)> = Vec::new();
        for pair in form::pairs(text) {
            let (name, value) = pair.ok_or(malformed)?;
            if all.len() >= MAX_PARAMETERS {
                return Err(RequestError::invalid_request(
                    "There are too many parameters.",
                ));
            }
            if all.iter().any(|(known, _)| *known == name) {
                return Err(RequestError::invalid_request("A parameter comes twice."));
            }
            all.push((name.to_string(), value.to_string()));
        }
        Ok(Self(all))
    }

    pub(super) fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found
            .map(|(_, value)| value.as_str())
            .filter(|value| !value.is_empty())
    }
}

const MAX_PARAMETERS: usize = 64;

/// The name of the one cookie: a browser accepts it only over TLS, for the whole of this host and no other.
const COOKIE: &str = "__Host-mcp-login";

/// Returns the value of the cookie; `None` without one, and for one that this server cannot have set.
pub(super) fn cookie(head: &dyn Head) -> Option<String> {
    let mut found = None;
    head.values("cookie", &mut |line| {
        let line = core::str::from_utf8(line).unwrap_or_default();
        for pair in line.split(';') {
            if let Some((name, value)) = pair.trim_ascii().split_once('=')
                && name == COOKIE
            {
                found = Some(value.to_string());
            }
        }
    });
    found.filter(|value| is_encoded_hash(value))
}

/// Returns true if the text has the form of 32 bytes in Base64url, as a hash and a random value have it.
pub(super) fn is_encoded_hash(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    text.len() == 43 && text.bytes().all(is_digit)
}

/// Returns the field that sets the cookie, for an hour from now, or for as long as a consent is remembered. It takes the
/// place of the one of an earlier login, so that there is never a second one.
pub(super) fn set_cookie(context: &LoginContext<'_>, value: &str) -> String {
    let lifetime = context.server.settings.remember_consent.unwrap_or(0);
    let lifetime = lifetime.max(3_600);
    alloc::format!("{COOKIE}={value}; Path=/; Max-Age={lifetime}; Secure; HttpOnly; SameSite=Lax")
}

/// Returns true if a form was sent by a page of this origin, as far as the browser says so.
pub(super) fn is_own_form(head: &dyn Head, origin: &str) -> bool {
    let is_own = |name, expected: &str| match head.field(name) {
        Field::None => true,
        Field::One(sent) => sent.eq_ignore_ascii_case(expected.as_bytes()),
        Field::Many => false,
    };
    is_own("sec-fetch-site", "same-origin") && is_own("origin", origin)
}
