//! The body of a response.

use core::convert::Infallible;
use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use crate::shares::UnreadBytes;

/// The body of a response: nothing, one message, or events for as long as there are some.
///
/// Dropping one of 2026-07-28 that has not ended cancels its request; the handlers
/// of a legacy session continue.
pub struct HttpBody {
    kind: Kind,
    /// Bytes that came last and were not read yet.
    rest: Bytes,
    /// Counts the bytes that came last until more is asked for, or a whole answer while it is not read.
    unread: Option<UnreadBytes>,
}

enum Kind {
    Empty,
    Full,
    /// A whole body, which is an error response of the machine.
    Error,
    Events(Box<dyn Events>),
}

/// Event-stream text as it comes; `None` at its end.
pub(in crate::http::server) trait Events: Send + 'static {
    fn poll_text(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>>;
}

impl HttpBody {
    pub(in crate::http::server) const fn empty() -> Self {
        Self::new(Kind::Empty, Bytes::new())
    }

    pub(crate) const fn full(bytes: Bytes) -> Self {
        Self::new(Kind::Full, bytes)
    }

    /// A whole body that is an error response of the machine.
    pub(in crate::http::server) const fn error(bytes: Bytes) -> Self {
        Self::new(Kind::Error, bytes)
    }

    pub(in crate::http::server) fn events(events: Box<impl Events>) -> Self {
        Self::new(Kind::Events(events), Bytes::new())
    }

    /// Returns the bytes of a body that is not an event stream.
    pub(in crate::http::server) fn bytes(&self) -> Option<&[u8]> {
        match &self.kind {
            Kind::Empty | Kind::Full | Kind::Error => Some(&self.rest),
            Kind::Events(_) => None,
        }
    }

    /// Changes the events of an event stream.
    pub(in crate::http::server) fn map_events<E: Events>(
        mut self,
        change: impl FnOnce(Box<dyn Events>) -> E,
    ) -> Self {
        if let Kind::Events(events) = self.kind {
            self.kind = Kind::Events(Box::new(change(events)));
        }
        self
    }

    const fn new(kind: Kind, rest: Bytes) -> Self {
        Self {
            kind,
            rest,
            unread: None,
        }
    }

    /// Returns true if the body is an error response of the machine.
    pub(in crate::http::server) const fn is_error(&self) -> bool {
        matches!(self.kind, Kind::Error)
    }

    /// Returns true if its bytes are counted until they are read.
    pub(in crate::http::server) const fn is_counted(&self) -> bool {
        self.unread.is_some()
    }

    /// Counts its bytes until they are read. The connection may hold what it has asked for last.
    pub(in crate::http::server) fn count_by(&mut self, unread: UnreadBytes) {
        self.unread = Some(unread);
    }
}

impl Body for HttpBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            let text = match &mut self.kind {
                Kind::Empty | Kind::Full | Kind::Error => Poll::Ready(None),
                Kind::Events(events) => events.poll_text(cx),
            };
            let len = match &text {
                Poll::Ready(Some(text)) => text.len(),
                _ => 0,
            };
            if let Some(unread) = &mut self.unread {
                unread.set(len);
            }
            let Some(text) = ready!(text) else {
                self.kind = Kind::Empty;
                return Poll::Ready(None);
            };
            self.rest = text;
        }
        let len = self.rest.len().min(PORTION);
        let portion = self.rest.split_to(len);
        Poll::Ready(Some(Ok(Frame::data(portion))))
    }

    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Empty | Kind::Full | Kind::Error => self.rest.is_empty(),
            Kind::Events(_) => false,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Empty | Kind::Full | Kind::Error => {
                SizeHint::with_exact(self.rest.len().try_into().unwrap_or(u64::MAX))
            }
            Kind::Events(_) => SizeHint::default(),
        }
    }
}

impl fmt::Debug for HttpBody {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match &self.kind {
            Kind::Empty => "HttpBody::Empty",
            Kind::Full => "HttpBody::Full",
            Kind::Error => "HttpBody::Error",
            Kind::Events(_) => "HttpBody::Events",
        })
    }
}

/// The size of one chunk: the sender holds no more of a long answer to a client that does not
/// read.
const PORTION: usize = 64 << 10;
