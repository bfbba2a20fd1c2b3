//! The body of a request, whole.

use core::future::poll_fn;
use core::pin::pin;
use core::task::Poll;
use core::time::Duration;

use bytes::Buf;
use http_body::Body;

use crate::clock::{Clock, Timer};

/// Why there is no body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Broken {
    /// It is longer than the limit.
    TooLong,
    /// It did not come in time.
    Late,
    /// The connection broke, or the framing was wrong.
    Unreadable,
}

/// Reads the whole body, if it is not longer than `limit` and comes within `patience`.
pub(super) async fn collect<B: Body>(
    body: B,
    limit: usize,
    patience: Duration,
    clock: &impl Clock,
) -> Result<Vec<u8>, Broken> {
    let size = body.size_hint();
    let announced = usize::try_from(size.lower()).unwrap_or(usize::MAX);
    if announced > limit {
        return Err(Broken::TooLong);
    }
    let mut body = pin!(body);
    // Space is given for what arrives, not for what was announced.
    let mut whole = Vec::with_capacity(announced.min(FIRST));
    let deadline = clock.now() + patience;
    let mut timer = None;
    poll_fn(|cx| {
        loop {
            match body.as_mut().poll_frame(cx) {
                Poll::Ready(None) => return Poll::Ready(Ok(())),
                Poll::Ready(Some(Err(_))) => return Poll::Ready(Err(Broken::Unreadable)),
                Poll::Ready(Some(Ok(frame))) => {
                    // Trailers are no part of it.
                    let Ok(mut data) = frame.into_data() else {
                        continue;
                    };
                    if data.remaining() > limit - whole.len() {
                        return Poll::Ready(Err(Broken::TooLong));
                    }
                    while data.has_remaining() {
                        let piece = data.chunk();
                        let len = piece.len();
                        whole.extend_from_slice(piece);
                        data.advance(len);
                    }
                }
                Poll::Pending => {
                    let timer = timer.get_or_insert_with(|| clock.timer());
                    return timer.poll_until(deadline, cx).map(|()| Err(Broken::Late));
                }
            }
        }
    })
    .await?;
    Ok(whole)
}

/// What an ordinary message needs; a longer one grows.
const FIRST: usize = 16 << 10;
