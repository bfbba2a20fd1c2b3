//! Reads the complete body of a request.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use http_body::Body;
use pin_project_lite::pin_project;

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

pin_project! {
    /// Reads the whole body, if it is not longer than `limit` and comes within `timeout`.
    ///
    /// The rest of a body that is too long is read and discarded, up to a bound: where the connection
    /// is closed while the client still writes, the client may see a reset instead of the answer. A
    /// client that awaits `100 Continue` has written nothing yet, and is not asked to.
    ///
    /// While it is on its way it takes of `room`, its beginning not counted: a client that sends much and ends
    /// nothing keeps out no short message.
    ///
    /// An async function would have room for most of it twice.
    pub(in crate::http::server) struct Collect<'r, B> {
        #[pin]
        body: B,
        limit: usize,
        timeout: Duration,
        room: Share<CallerId>,
        runtime: &'r RuntimeHandle,
        // Most bodies are one frame, which is returned without a copy.
        first: Bytes,
        whole: BytesMut,
        announced: usize,
        too_long: bool,
        // The body is too long, and is refused without a read.
        refused: bool,
        discarded: usize,
        deadline: Option<Box<Sleep>>,
    }
}

impl<'r, B: Body> Collect<'r, B> {
    pub(in crate::http::server) fn new(
        body: B,
        limit: usize,
        timeout: Duration,
        room: Share<CallerId>,
        runtime: &'r RuntimeHandle,
        awaits_continue: bool,
    ) -> Self {
        let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
        let too_long = announced > limit;
        Self {
            body,
            limit,
            timeout,
            room,
            runtime,
            first: Bytes::new(),
            whole: BytesMut::new(),
            announced,
            too_long,
            refused: too_long && (awaits_continue || announced > DRAIN),
            discarded: 0,
            deadline: None,
        }
    }
}

impl<B: Body> Future for Collect<'_, B> {
    type Output = Result<Bytes, Broken>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Result<Bytes, Broken>> {
        let mut this = self.project();
        if *this.refused {
            return Poll::Ready(Err(Broken::TooLong));
        }
        loop {
            match this.body.as_mut().poll_frame(cx) {
                Poll::Ready(None | Some(Err(_))) if *this.too_long => {
                    return Poll::Ready(Err(Broken::TooLong));
                }
                Poll::Ready(None) => {
                    let first = core::mem::take(this.first);
                    return Poll::Ready(Ok(match first.is_empty() {
                        true => core::mem::take(this.whole).freeze(),
                        false => first,
                    }));
                }
                Poll::Ready(Some(Err(_))) => return Poll::Ready(Err(Broken::Unreadable)),
                Poll::Ready(Some(Ok(frame))) => {
                    // Trailers are no part of it.
                    let Ok(mut data) = frame.into_data() else {
                        continue;
                    };
                    let before = this.first.len() + this.whole.len();
                    let len = before.saturating_add(data.remaining());
                    *this.too_long |= len > *this.limit;
                    if *this.too_long {
                        *this.discarded = this.discarded.saturating_add(data.remaining());
                        if *this.discarded > DRAIN {
                            return Poll::Ready(Err(Broken::TooLong));
                        }
                        (*this.first, *this.whole) = (Bytes::new(), BytesMut::new());
                        this.room.set(0);
                        continue;
                    }
                    if !this.room.grow_to(len.saturating_sub(FIRST)) {
                        return Poll::Ready(Err(Broken::Crowded));
                    }
                    if before == 0 {
                        *this.first = data.copy_to_bytes(data.remaining());
                        continue;
                    }
                    if this.whole.is_empty() {
                        // Space is given for what arrives, not for what was announced.
                        let expected = (*this.announced).min(FIRST).min(*this.limit);
                        this.whole.reserve(expected);
                        this.whole.put(core::mem::take(this.first));
                    }
                    this.whole.put(data);
                }
                Poll::Pending => {
                    let (runtime, timeout) = (*this.runtime, *this.timeout);
                    let deadline = this
                        .deadline
                        .get_or_insert_with(|| Box::new(Sleep::after(runtime, timeout)));
                    let late = match *this.too_long {
                        true => Broken::TooLong,
                        false => Broken::Late,
                    };
                    return deadline.poll_done(cx).map(|()| Err(late));
                }
            }
        }
    }
}

/// The most that is discarded of a body that is too long.
const DRAIN: usize = 16 << 20;

/// The bytes that an ordinary message needs; the buffer grows for a longer one.
const FIRST: usize = 16 << 10;
