//! Event streams that end when the token of their request expires.

use core::task::{Context, Poll};

use bytes::Bytes;
use mcp_proto::Instant;

use crate::http::server::body::Events;
use crate::runtime::Timer;

/// Ends a stream at a moment (AU-17). The stream that it read is dropped then, as if the client had
/// closed it.
pub(super) struct Expiring<T> {
    /// `None` once it has ended.
    events: Option<Box<dyn Events>>,
    timer: T,
    end: Instant,
}

impl<T> Expiring<T> {
    pub(super) const fn new(events: Box<dyn Events>, timer: T, end: Instant) -> Self {
        Self {
            events: Some(events),
            timer,
            end,
        }
    }
}

impl<T: Timer + Send + 'static> Events for Expiring<T> {
    fn poll_text(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.timer.poll_until(self.end, cx).is_ready() {
            self.events = None;
        }
        match &mut self.events {
            Some(events) => events.poll_text(cx),
            None => Poll::Ready(None),
        }
    }
}
