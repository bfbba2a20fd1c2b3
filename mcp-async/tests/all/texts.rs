//! What many texts contain.

pub(crate) const INTERNAL_ERROR: &str = "Internal error";
pub(crate) const SHUTTING_DOWN: &str = "the server is shutting down";
pub(crate) const UNKNOWN_TASK: &str = "Unknown task";

/// The member `error` of a response, with the code of internal errors.
pub(crate) fn internal(message: &str) -> String {
    format!(r#""error":{{"code":-32603,"message":"{message}"}}"#)
}

/// Fails if a text does not contain each of these parts.
#[track_caller]
pub(crate) fn has<const N: usize>(text: &str, parts: [&str; N]) {
    for part in parts {
        assert!(text.contains(part), "no {part} in {text}");
    }
}
