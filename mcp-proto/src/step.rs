//! The result of one step on a connection.

use crate::action::IgnoreReason;
use crate::outbox::Outbox;

/// The result of a [`step`](crate::Link::step).
#[derive(Debug)]
#[must_use = "a request whose event is dropped is never answered"]
pub enum Step<'o, E, O> {
    /// Something for the application, which may answer into the outbox at once.
    ///
    /// If the answer does not fit: [`Machine::unhandle`](crate::Machine::unhandle) with what [`Machine::request_of`](crate::Machine::request_of) returned
    /// for the event, [`Inbox::unread`](crate::Inbox::unread), and the request comes again once the peer has read
    /// something.
    Event {
        /// It borrows from the inbox.
        event: E,
        /// For the answer.
        outbox: &'o mut Outbox<O>,
    },
    /// A message was dealt with.
    Handled,
    /// A message led to nothing.
    Ignored(IgnoreReason),
    /// The peer has to read before anything else happens.
    Full,
    /// Nothing to do until bytes arrive or time passes.
    Empty,
}
