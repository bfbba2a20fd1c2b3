//! Reads the complete body of a request.

use core::future::poll_fn;
use core::pin::pin;
use core::task::Poll;
use core::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use http_body::Body;

use crate::runtime::{RuntimeHandle, Sleep};
use crate::shares::{CallerId, Share};

/// Reasons for which there is no body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http::server) enum Broken {
    /// It is longer than the limit.
    TooLong,
    /// It did not come in time.
    Late,
    /// The connection broke, or the framing was wrong.
    Unreadable,
    /// Too much of others is under way.
    Crowded,
}

/// Reads the whole body, if it is not longer than `limit` and comes within `timeout`.
///
/// The rest of a body that is too long is read and discarded, up to a bound: where the connection
/// is closed while the client still writes, the client may see a reset instead of the answer. A
/// client that awaits `100 Continue` has written nothing yet, and is not asked to.
///
/// While it is on its way it takes of `room`, its beginning not counted: a client that sends much and ends
/// nothing keeps out no short message.
pub(in crate::http::server) async fn collect<B: Body>(
    body: B,
    limit: usize,
    timeout: Duration,
    mut room: Share<CallerId>,
    runtime: &RuntimeHandle,
    awaits_continue: bool,
) -> Result<Bytes, Broken> {
    let size = body.size_hint();
    let announced = usize::try_from(size.lower()).unwrap_or(usize::MAX);
    let mut too_long = announced > limit;
    if too_long && (awaits_continue || announced > DRAIN) {
        return Err(Broken::TooLong);
    }
    let mut body = pin!(body);
    // Most bodies are one frame, which is returned without a copy.
    let (mut first, mut whole) = (Bytes::new(), BytesMut::new());
    let mut discarded = 0_usize;
    let mut deadline = None;
    poll_fn(|cx| {
        loop {
            match body.as_mut().poll_frame(cx) {
                Poll::Ready(None) if too_long => return Poll::Ready(Err(Broken::TooLong)),
                Poll::Ready(None) => return Poll::Ready(Ok(())),
                Poll::Ready(Some(Err(_))) if too_long => {
                    return Poll::Ready(Err(Broken::TooLong));
                }
                Poll::Ready(Some(Err(_))) => return Poll::Ready(Err(Broken::Unreadable)),
                Poll::Ready(Some(Ok(frame))) => {
                    // Trailers are no part of it.
                    let Ok(mut data) = frame.into_data() else {
                        continue;
                    };
                    let before = first.len() + whole.len();
                    let len = before.saturating_add(data.remaining());
                    too_long |= len > limit;
                    if too_long {
                        discarded = discarded.saturating_add(data.remaining());
                        if discarded > DRAIN {
                            return Poll::Ready(Err(Broken::TooLong));
                        }
                        (first, whole) = (Bytes::new(), BytesMut::new());
                        room.set(0);
                        continue;
                    }
                    if !room.grow_to(len.saturating_sub(FIRST)) {
                        return Poll::Ready(Err(Broken::Crowded));
                    }
                    if before == 0 {
                        first = data.copy_to_bytes(data.remaining());
                        continue;
                    }
                    if whole.is_empty() {
                        // Space is given for what arrives, not for what was announced.
                        whole.reserve(announced.min(FIRST).min(limit));
                        whole.put(core::mem::take(&mut first));
                    }
                    whole.put(data);
                }
                Poll::Pending => {
                    let deadline = deadline.get_or_insert_with(|| Sleep::after(runtime, timeout));
                    let late = match too_long {
                        true => Broken::TooLong,
                        false => Broken::Late,
                    };
                    return deadline.poll_done(cx).map(|()| Err(late));
                }
            }
        }
    })
    .await?;
    Ok(match first.is_empty() {
        true => whole.freeze(),
        false => first,
    })
}

/// The most that is discarded of a body that is too long.
const DRAIN: usize = 16 << 20;

/// The bytes that an ordinary message needs; the buffer grows for a longer one.
const FIRST: usize = 16 << 10;
