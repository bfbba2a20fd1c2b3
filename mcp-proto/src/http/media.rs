//! Media types: those that a client accepts, and the type of a body.

use super::head::{Head, trim};

/// `application/json`.
pub const JSON: &str = "application/json";

/// `text/event-stream`.
pub const EVENT_STREAM: &str = "text/event-stream";

/// Returns true if the `Accept` of a head, in all of its lines, takes this media type (RFC 9110,
/// section 12.5.1): the most specific range that matches decides, and a head without `Accept` takes
/// any media type.
///
/// ```
/// # struct Accept(&'static str);
/// # impl mcp_proto::http::Head for Accept {
/// #     fn method(&self) -> &str { "GET" }
/// #     fn path(&self) -> &str { "/" }
/// #     fn fields<'h>(&'h self, each: &mut dyn FnMut(&'h str, &'h [u8])) {
/// #         each("accept", self.0.as_bytes());
/// #     }
/// # }
/// use mcp_proto::http::media::{EVENT_STREAM, JSON, accepts};
///
/// assert!(accepts(&Accept("application/json, text/event-stream"), EVENT_STREAM));
/// assert!(accepts(&Accept("text/*;q=0.5"), EVENT_STREAM));
/// assert!(!accepts(&Accept("*/*, application/json;q=0"), JSON));
/// ```
pub fn accepts(head: &(impl Head + ?Sized), media_type: &str) -> bool {
    let (kind, _) = media_type.split_once('/').unwrap_or((media_type, ""));
    let mut present = false;
    let mut best = None;
    head.values("accept", &mut |line| {
        present = true;
        for range in line.split(|byte| *byte == b',') {
            let mut parts = range.split(|byte| *byte == b';').map(trim);
            let Some(name) = parts.next() else { continue };
            let specificity = if name.eq_ignore_ascii_case(media_type.as_bytes()) {
                2
            } else if name
                .strip_suffix(b"/*")
                .is_some_and(|prefix| prefix.eq_ignore_ascii_case(kind.as_bytes()))
            {
                1
            } else if name == b"*/*" {
                0
            } else {
                continue;
            };
            let refused = parts.any(is_zero_weight);
            if best.is_none_or(|(found, _)| specificity >= found) {
                best = Some((specificity, !refused));
            }
        }
    });
    match best {
        Some((_, accepted)) => accepted,
        None => !present,
    }
}

/// Returns true if a `Content-Type` is this media type, whatever its parameters (SH-50).
pub fn is(content_type: &[u8], media_type: &str) -> bool {
    content_type
        .split(|byte| *byte == b';')
        .next()
        .is_some_and(|name| trim(name).eq_ignore_ascii_case(media_type.as_bytes()))
}

/// `q=0`, `q=0.0` and so on.
fn is_zero_weight(parameter: &[u8]) -> bool {
    match parameter {
        [b'q' | b'Q', b'=', b'0', rest @ ..] => rest.iter().all(|byte| matches!(byte, b'0' | b'.')),
        _ => false,
    }
}
