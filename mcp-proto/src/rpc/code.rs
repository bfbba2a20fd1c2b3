//! Error codes as they appear on the wire.
//!
//! The revision decides which codes may be sent; the meaning of a code is equal in all of them.

/// The bytes are no JSON text that we accept: grammar, UTF-8, depth or size (JR-32).
pub const PARSE_ERROR: i64 = -32700;
/// JSON, but no message that we accept (JR-32).
pub const INVALID_REQUEST: i64 = -32600;
/// An unknown method, or one that an undeclared capability gates (JR-28, JR-35).
pub const METHOD_NOT_FOUND: i64 = -32601;
/// Parameters that do not fit the method; in 2026-07-28 also an unknown resource.
pub const INVALID_PARAMS: i64 = -32602;
/// A fault or a limit of the side that answers.
pub const INTERNAL_ERROR: i64 = -32603;
/// An unknown resource until 2025-11-25; only accepted, never sent, in 2026-07-28 (JR-24).
pub const RESOURCE_NOT_FOUND: i64 = -32002;
/// A form behind a URL has to be filled in first; 2025-11-25 only (JR-24).
pub const URL_ELICITATION_REQUIRED: i64 = -32042;
/// A header is missing, malformed or differs from the body; 2026-07-28, HTTP status 400.
pub const HEADER_MISMATCH: i64 = -32020;
/// The client lacks a capability that the request needs; 2026-07-28, HTTP status 400.
pub const MISSING_CLIENT_CAPABILITY: i64 = -32021;
/// The revision that a request names is not spoken here; 2026-07-28, HTTP status 400.
pub const UNSUPPORTED_VERSION: i64 = -32022;
/// A limit of the server is reached, and the request was refused before it had an effect. Only a name: it
/// is [written] as [`INTERNAL_ERROR`]. In 2026-07-28 its HTTP status is 503.
pub const OVERLOADED: i64 = -32650;
/// A limit of one client is reached, and the request was refused before it had an effect. Only a
/// name, as [`OVERLOADED`]. In 2026-07-28 its HTTP status is 429.
pub const TOO_MANY_REQUESTS: i64 = -32651;
/// A cancelled request. Not of MCP: some peers took it over from the Language Server Protocol.
pub const REQUEST_CANCELLED: i64 = -32800;
/// The user declined a sampling request.
pub const USER_REJECTED: i64 = -1;

/// Returns the text of an error of the core without the feature `diagnostics`.
pub(crate) const fn short_text(code: i64) -> &'static str {
    match code {
        PARSE_ERROR => "parse error",
        INVALID_REQUEST => "invalid request",
        METHOD_NOT_FOUND => "method not found",
        INVALID_PARAMS => "invalid params",
        _ => "refused",
    }
}

/// Returns the code that stands in messages for this one.
pub const fn written(code: i64) -> i64 {
    match code {
        OVERLOADED | TOO_MANY_REQUESTS => INTERNAL_ERROR,
        code => code,
    }
}
