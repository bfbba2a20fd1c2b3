//! Texts of errors that many tests compare with, each written once.

pub(crate) const INTERNAL_ERROR: &str = "Internal error";
pub(crate) const SHUTTING_DOWN: &str = "the server is shutting down";
pub(crate) const UNKNOWN_TASK: &str = "Unknown task";

/// The member `error` of a response, with the code of internal errors.
pub(crate) fn internal(message: &str) -> String {
    format!(r#""error":{{"code":-32603,"message":"{message}"}}"#)
}
