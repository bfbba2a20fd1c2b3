//! Reads a body to its end, or to a limit.

use core::future::poll_fn;

use super::carrier::Reply;

pub(super) enum Whole {
    All(Vec<u8>),
    /// The part of the body that was read.
    TooLong(Vec<u8>),
    Broken,
}

pub(super) async fn whole(mut body: Reply, limit: usize) -> Whole {
    let mut bytes = Vec::new();
    loop {
        match poll_fn(|cx| body.poll_bytes(cx)).await {
            None => return Whole::All(bytes),
            Some(Err(_)) => return Whole::Broken,
            Some(Ok(part)) => {
                if bytes.len().saturating_add(part.len()) > limit {
                    return Whole::TooLong(bytes);
                }
                bytes.extend_from_slice(&part);
            }
        }
    }
}

/// The bytes that are read of a refusal: errors are short.
pub(super) const REFUSAL: usize = 64 << 10;
