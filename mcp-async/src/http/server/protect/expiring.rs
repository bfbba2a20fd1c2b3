//! Event streams that end when the token of their request expires.

use core::task::{Context, Poll};

use bytes::Bytes;

use crate::http::server::messages::body::Events;
use crate::runtime::Sleep;

/// Ends a stream at a moment (AU-17). The stream that it read is dropped then, as if the client had
/// closed it.
pub(in crate::http::server) struct Expiring {
    /// `None` once it has ended.
    events: Option<Box<dyn Events>>,
    end: Sleep,
}

impl Expiring {
    pub(in crate::http::server) const fn new(events: Box<dyn Events>, end: Sleep) -> Self {
        Self {
            events: Some(events),
            end,
        }
    }
}

impl Events for Expiring {
    fn poll_text(&mut self, cx: &mut Context<'_>) -> Poll<Option<Bytes>> {
        if self.end.poll_done(cx).is_ready() {
            self.events = None;
        }
        match &mut self.events {
            Some(events) => events.poll_text(cx),
            None => Poll::Ready(None),
        }
    }
}
