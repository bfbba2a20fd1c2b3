//! The origin of the message that is being handled.

use crate::action::Channel;
use crate::http::Post;
use crate::source::{Origin, Place};

/// The origin of a message, passed down with the message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival<'h, P: Place> {
    origin: P::Origin<'h>,
    /// True if the message is of 2026-07-28 by its head, or by its body as soon as that is read.
    pub(super) modern: bool,
}

impl<'h, P: Place> Arrival<'h, P> {
    pub(super) fn new(origin: &P::Origin<'h>) -> Self {
        let mut arrival = Self {
            origin: *origin,
            modern: false,
        };
        arrival.modern = arrival.head().is_some_and(Post::is_modern);
        arrival
    }

    /// The channel on which an immediate answer leaves.
    pub(super) fn channel(&self) -> Channel {
        self.origin.channel()
    }

    /// The place that the message came from.
    pub(super) fn place(&self) -> P {
        P::of(self.channel())
    }

    /// The head of its POST.
    pub(super) fn head(&self) -> Option<&'h Post<'h>> {
        self.origin.head()
    }
}
