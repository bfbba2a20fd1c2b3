//! Responses: JSON, pages, redirects.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::jwt::JsonText;
use crate::{AuthError, form};

/// A response of the authorization server.
///
/// `Debug` shows neither the values of the fields nor the body.
#[derive(Clone)]
#[non_exhaustive]
pub struct LoginResponse {
    /// The status.
    pub status: u16,
    /// The fields of the head.
    pub headers: Vec<(&'static str, String)>,
    /// The body.
    pub body: String,
    /// The reason for the log, if the provider or a document of a client is at fault.
    pub cause: Option<Box<AuthError>>,
}

impl LoginResponse {
    pub(super) fn empty(status: u16) -> Self {
        Self {
            status,
            headers: Vec::from([("cache-control", "no-store".to_owned())]),
            body: String::new(),
            cause: None,
        }
    }

    /// Returns a response that programs read, also in pages of other origins.
    pub(super) fn json(status: u16, body: JsonText) -> Self {
        let mut response = Self::empty(status)
            .with("content-type", "application/json")
            .with("access-control-allow-origin", "*");
        response.body = body.into_string();
        response
    }

    /// Returns a page of its own origin, which runs nothing, loads nothing, and is shown in no frame. Its style is part
    /// of it. `form-action` is left out: browsers apply it to the redirect after the form as well.
    pub(super) fn page(status: u16, title: &str, content: &str) -> Self {
        let policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'";
        let mut response = Self::empty(status)
            .with("content-type", "text/html; charset=utf-8")
            .with("content-security-policy", policy)
            .with("x-frame-options", "DENY")
            .with("x-content-type-options", "nosniff")
            // Without a referrer, the form would have no `Origin` either.
            .with("referrer-policy", "same-origin");
        let title = escape(title);
        response.body = format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\">\
             <meta name=\"viewport\" content=\"width=device-width\"><title>{title}</title>\
             <style>body{{font:1rem/1.5 sans-serif;margin:2rem auto;max-width:36rem;padding:0 1rem}}\
             dt{{font-weight:bold}}dd{{margin:0 0 .5rem;overflow-wrap:anywhere}}\
             button{{font:inherit;padding:.5rem 1.5rem}}</style><h1>{title}</h1>{content}</html>"
        );
        response
    }

    /// Returns a page that says why the login cannot continue.
    pub(super) fn refusal_page(status: u16, reason: &str) -> Self {
        let content = format!("<p>{}</p>", escape(reason));
        Self::page(status, "The login was not completed", &content)
    }

    /// Returns a redirect of the browser by GET, whatever the method of its request.
    pub(super) fn redirect(location: String) -> Self {
        let mut response = Self::empty(303).with("referrer-policy", "no-referrer");
        response.headers.push(("location", location));
        response
    }

    /// Returns the answer to a preflight request of a page.
    pub(super) fn preflight(method: &'static str) -> Self {
        Self::empty(204)
            .with("access-control-allow-origin", "*")
            .with("access-control-allow-methods", method)
            .with("access-control-allow-headers", "*")
            .with("access-control-max-age", "86400")
    }

    #[must_use]
    pub(super) fn with(mut self, name: &'static str, value: &str) -> Self {
        self.headers.push((name, value.to_owned()));
        self
    }

    #[must_use]
    pub(super) fn because(mut self, cause: AuthError) -> Self {
        self.cause = Some(Box::new(cause));
        self
    }

    /// Returns the value of a field.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        let found = headers.find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

impl fmt::Debug for LoginResponse {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoginResponse")
            .field("status", &self.status)
            .field("cause", &self.cause)
            .finish_non_exhaustive()
    }
}

/// An error of OAuth in an answer of this server. The description is a sentence, which people read as well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RequestError {
    pub(super) code: &'static str,
    pub(super) description: &'static str,
}

impl RequestError {
    pub(super) const fn new(code: &'static str, description: &'static str) -> Self {
        Self { code, description }
    }

    pub(super) const fn invalid_request(description: &'static str) -> Self {
        Self::new("invalid_request", description)
    }

    pub(super) const fn invalid_grant(description: &'static str) -> Self {
        Self::new("invalid_grant", description)
    }

    /// The provider, the store or the randomness cannot be reached now.
    pub(super) const UNAVAILABLE: Self =
        Self::new("temporarily_unavailable", "Try again in a few seconds.");

    /// Returns the response of an endpoint for programs.
    pub(super) fn into_response(self) -> LoginResponse {
        let status = match self.code {
            "temporarily_unavailable" => 503,
            "invalid_client" => 401,
            _ => 400,
        };
        let body = JsonText::new()
            .text("error", self.code)
            .text("error_description", self.description);
        let response = LoginResponse::json(status, body.end());
        match status {
            503 => response.with("retry-after", "2"),
            _ => response,
        }
    }

    /// Returns the response of an endpoint for the browser, which is not sent elsewhere.
    pub(super) fn into_page(self) -> LoginResponse {
        let status = if self == Self::UNAVAILABLE { 503 } else { 400 };
        LoginResponse::refusal_page(status, self.description)
    }
}

/// Returns the authorization response to a client: a code or an error, always with `iss` (AU-73).
pub(super) fn answer_client(
    issuer: &str,
    redirect_uri: &str,
    state: Option<&str>,
    result: Result<&str, RequestError>,
) -> LoginResponse {
    let mut url = String::from(redirect_uri);
    if !url.contains('?') {
        url.push('?');
    }
    match result {
        Ok(code) => form::push(&mut url, "code", code),
        Err(error) => {
            form::push(&mut url, "error", error.code);
            form::push(&mut url, "error_description", error.description);
        }
    }
    if let Some(state) = state.filter(|state| state.len() <= MAX_STATE) {
        form::push(&mut url, "state", state);
    }
    form::push(&mut url, "iss", issuer);
    LoginResponse::redirect(url)
}

/// The bytes of the longest `state` of a client.
pub(super) const MAX_STATE: usize = 2_048;

/// Returns text in HTML. Characters that change the direction of text, or are not shown, are left out.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' => {}
            '\u{61c}' | '\u{feff}' => {}
            _ if letter.is_control() => out.push(' '),
            _ => out.push(letter),
        }
    }
    out
}
