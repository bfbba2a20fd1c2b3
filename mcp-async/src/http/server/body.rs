//! What a response carries.

use core::convert::Infallible;
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

/// The body of a response: nothing, one message, or events for as long as there are some.
///
/// Dropping one of 2026-07-28 that has not ended cancels its request (SH-19); what runs in a
/// legacy session goes on (SH-18).
pub struct HttpBody(Kind);

enum Kind {
    Empty,
    Full(Bytes),
    Events(Box<dyn Events>),
}

/// Event-stream text as it comes; `None` at its end.
pub(super) trait Events: Send + 'static {
    fn poll_text(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>>;
}

impl HttpBody {
    pub(super) const fn empty() -> Self {
        Self(Kind::Empty)
    }

    pub(super) const fn full(bytes: Bytes) -> Self {
        Self(Kind::Full(bytes))
    }

    pub(super) fn events(events: impl Events) -> Self {
        Self(Kind::Events(Box::new(events)))
    }
}

impl Body for HttpBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let text = match &mut self.0 {
            Kind::Empty => None,
            Kind::Full(bytes) => Some(core::mem::take(bytes)).filter(|bytes| !bytes.is_empty()),
            Kind::Events(events) => match events.poll_text(cx) {
                Poll::Ready(text) => text,
                Poll::Pending => return Poll::Pending,
            },
        };
        if text.is_none() {
            self.0 = Kind::Empty;
        }
        Poll::Ready(text.map(|text| Ok(Frame::data(text))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.0 {
            Kind::Empty => true,
            Kind::Full(bytes) => bytes.is_empty(),
            Kind::Events(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.0 {
            Kind::Empty => SizeHint::with_exact(0),
            Kind::Full(bytes) => SizeHint::with_exact(bytes.len().try_into().unwrap_or(u64::MAX)),
            Kind::Events(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for HttpBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.0 {
            Kind::Empty => "HttpBody::Empty",
            Kind::Full(_) => "HttpBody::Full",
            Kind::Events(_) => "HttpBody::Events",
        })
    }
}
