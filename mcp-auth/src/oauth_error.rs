//! Errors of OAuth: the codes that are defined, and the error of a response.

use alloc::string::String;

use super::document::DocumentReader;
use super::error::{Document, Problem, printable};
use super::{HttpResponse, Secret};

/// Codes that say nothing but what their specifications define.
const CODES: [&str; 11] = [
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "unauthorized_client",
    "unsupported_grant_type",
    "invalid_scope",
    "invalid_target",
    "invalid_dpop_proof",
    "use_dpop_nonce",
    "invalid_token",
    "insufficient_scope",
];

/// Returns true if an error code has a meaning of its own, so that it repeats nothing of a request.
pub(crate) fn is_defined_error(code: &str) -> bool {
    CODES.contains(&code)
}

/// Returns the problem that a refusal reports: its OAuth error if there is one, else its status
/// (AU-39). Text that repeats one of the secrets is left out.
pub(crate) fn oauth_error(response: &HttpResponse<'_>, secrets: &[Secret]) -> Problem {
    let reader = DocumentReader::new(Document::TokenResponse, "", response.body).ok();
    let text = |name| reader.and_then(|reader| reader.text(name).ok().flatten());
    let is_clean = |text: &String| {
        let shows = |secret: &Secret| !secret.is_empty() && text.contains(secret.expose());
        !secrets.iter().any(shows)
    };
    let is_shown = |code: &String| is_defined_error(code) || is_clean(code);
    match text("error").filter(is_shown) {
        Some(error) => Problem::Refused {
            status: Some(response.status),
            error: printable(&error, 60),
            description: text("error_description")
                .filter(is_clean)
                .map(|text| printable(&text, 200)),
        },
        None => Problem::Status(response.status),
    }
}
