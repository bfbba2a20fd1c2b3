//! Errors of requests that have no result.

use mcp_async::client::{CallError, Failure};
use mcp_async::server::{HandlerError, StateError};
use mcp_async::{ErrorReply, code};

use super::sessions::OpenError;

/// Returns the error for the caller of a request for which there is no session.
pub(super) fn not_opened(server: &str, error: OpenError) -> HandlerError {
    match error {
        OpenError::Refused(error) => error,
        error => HandlerError::reply(no_session(server, &error)),
    }
}

/// Returns the error for the caller of a request for which there is no session, beside the calls.
pub(super) fn no_session(server: &str, error: &OpenError) -> ErrorReply {
    let text = match error {
        OpenError::Full => {
            "too many sessions with servers are open for this caller; try again later".to_owned()
        }
        OpenError::Unverified => {
            format!("the server `{server}` is for callers whose identity is verified")
        }
        OpenError::Refused(_) => format!("the server `{server}` is not open to this caller"),
        OpenError::Failed(_) => return unreachable(server),
    };
    ErrorReply::new(code::INTERNAL_ERROR, text)
}

/// Returns the error for the caller of a request to a server that is not connected.
pub(super) fn unreachable(server: &str) -> ErrorReply {
    let text = format!("the server `{server}` cannot be reached; the request was not sent");
    ErrorReply::new(code::INTERNAL_ERROR, text)
}

/// Returns true if the server refuses the credentials of the request, or may do so: an error that comes with status 401 says
/// only that the request is invalid.
pub(super) const fn is_denied(error: &CallError) -> bool {
    match error {
        CallError::Authorization(_) | CallError::Failed(Failure::Status(401 | 403)) => true,
        CallError::Server(error) => error.code == code::INVALID_REQUEST,
        _ => false,
    }
}

/// Returns the error for the caller of a call that has no result.
pub(super) fn failure(server: &str, error: CallError) -> ErrorReply {
    let text = match error {
        CallError::Server(error) | CallError::Input(error) => return passed_on(server, error),
        CallError::Authorization(_) | CallError::Failed(Failure::Status(401 | 403)) => {
            format!("the server `{server}` refuses the credentials of the request: {error}")
        }
        CallError::Closed | CallError::ExitedEarly(_) => {
            format!("the server `{server}` ended; the request may have run")
        }
        CallError::Timeout => {
            format!("the server `{server}` did not answer in time; the request may have run")
        }
        CallError::MissingCapability(_)
        | CallError::MissingExtension(_)
        | CallError::NotInRevision
        | CallError::Refused(_) => {
            format!("the request was not sent to the server `{server}`: {error}")
        }
        _ => format!("the answer of the server `{server}` cannot be used"),
    };
    ErrorReply::new(code::INTERNAL_ERROR, text)
}

/// Returns an error of a server for the caller. One that is about the request of the proxy itself would have another meaning for the
/// caller, which would send its own again, or in another revision.
fn passed_on(server: &str, error: ErrorReply) -> ErrorReply {
    match error.code {
        code::PARSE_ERROR
        | code::INVALID_REQUEST
        | code::METHOD_NOT_FOUND
        | code::HEADER_MISMATCH
        | code::UNSUPPORTED_VERSION => {
            let text = format!(
                "the server `{server}` refused the request: {} (code {})",
                error.message, error.code
            );
            ErrorReply::new(code::INTERNAL_ERROR, text)
        }
        _ => error,
    }
}

/// Returns the error for the caller of a call whose questions it cannot carry.
pub(super) fn not_kept(server: &str, error: &StateError) -> HandlerError {
    let text = format!("what the server `{server}` asks cannot be carried by the caller: {error}");
    HandlerError::reply(ErrorReply::new(code::INTERNAL_ERROR, text))
}

/// Returns the error for a caller who comes back too late, or to another process.
pub(super) fn over(server: &str) -> HandlerError {
    let text = format!("the call of the server `{server}` is over, or is open in another process");
    HandlerError::reply(ErrorReply::new(code::INTERNAL_ERROR, text))
}

/// Returns the error for the caller of a call that cannot be held.
pub(super) fn full(server: &str) -> HandlerError {
    let text =
        format!("too many calls wait for answers; that of the server `{server}` was cancelled");
    HandlerError::reply(ErrorReply::new(code::INTERNAL_ERROR, text))
}
