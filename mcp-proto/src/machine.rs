//! The interface of both roles for drivers.

use crate::action::{Action, BufferFull, Channel, Transmit};
use crate::limits::Limits;
use crate::rpc::Incoming;
use crate::source::Pipe;
use crate::time::Instant;
use crate::token::Token;

/// The interface of a state machine, server or client, for its driver.
///
/// A driver needs nothing else. It passes messages and the time in, and drains in this order:
///
/// 1. [`poll_transmit`](Self::poll_transmit) until it has nothing more for any channel, or there is no room,
/// 2. [`poll_event`](Self::poll_event) until `None`, although there is no room,
/// 3. [`handle`](Self::handle) with the next message, when [`reserve`](Self::reserve) bytes are
///    free for the answer that the core itself may owe,
/// 4. wait for bytes, for room, or for [`poll_timeout`](Self::poll_timeout).
///
/// `Link` is a machine with its buffers, and this order. Commands of the application
/// (`respond`, `call`, ..) are methods of the machines themselves.
///
/// ```
/// use mcp_proto::{BufferFull, Instant, Machine};
///
/// /// Everything that a machine has to say by now; then when to look again.
/// fn drain<M: Machine>(
///     machine: &mut M,
///     now: Instant,
///     out: &mut [u8],
/// ) -> Result<Option<Instant>, BufferFull> {
///     if machine.poll_timeout().is_some_and(|due| due <= now) {
///         machine.handle_timeout(now);
///     }
///     while let Some(channel) = machine.next_channel() {
///         let Some(sent) = machine.poll_transmit(now, channel, out)? else { break };
///         println!("{} bytes for {:?}", sent.len, sent.channel);
///     }
///     Ok(machine.poll_timeout())
/// }
/// ```
pub trait Machine {
    /// The origin of a message: [`Pipe`], or for a server that can be reached over HTTP [`Source`](crate::Source). A driver of
    /// any machine passes `&Pipe.into()`.
    type Origin<'h>: From<Pipe>;

    /// The event type for the application; it borrows from the message.
    type Event<'b>;

    /// The answer type of the core, for answers that it gives by itself; it borrows from the
    /// message.
    type Reply<'b>;

    /// True if the machine takes batches. Otherwise [`Link`](crate::Link) and [`step`](crate::link::step) give it an array as one
    /// message that is not an object. [`step_with`](crate::link::step_with) does not apply this: its caller reads the messages.
    const HAS_BATCHES: bool = true;

    /// Takes in one message, or the start or end of a batch.
    ///
    /// After it, every poll may have changed its answer.
    fn handle<'b>(
        &mut self,
        now: Instant,
        from: &Self::Origin<'_>,
        incoming: Incoming<'b>,
    ) -> Action<Self::Event<'b>, Self::Reply<'b>>;

    /// Writes an answer of the core, once; it takes no more than [`reserve`](Self::reserve) bytes.
    ///
    /// # Errors
    ///
    /// [`BufferFull`] if `out` is shorter than the answer; then nothing changed.
    fn reply(
        &mut self,
        now: Instant,
        reply: Self::Reply<'_>,
        out: &mut [u8],
    ) -> Result<Transmit, BufferFull>;

    /// Returns the event that follows an answer of the core once that is written, for example
    /// who opened a session. Ask for it before [`reply`](Self::reply) takes the answer. By
    /// default there is nothing.
    fn event_after_reply<'b>(&self, reply: &Self::Reply<'b>) -> Option<Self::Event<'b>> {
        let _ = reply;
        None
    }

    /// The limits of its configuration, which its buffers obey too.
    fn limits(&self) -> &Limits;

    /// The most bytes that one answer of the core can take, without framing.
    fn reserve(&self) -> usize;

    /// Sets the length of the longest message that the output can ever hold, without framing.
    ///
    /// An answer that is longer is replaced by error -32603, a command is refused with
    /// [`SendError::TooLarge`](crate::SendError::TooLarge). Before the first call the limit is
    /// [`Limits::output`](crate::Limits::output), and it never exceeds that.
    /// [`step`](crate::link::step) calls it with what its outbox can hold; a driver without it
    /// calls it once if its buffers are smaller than the limit.
    fn set_max_message(&mut self, len: usize);

    /// The request that this event hands to the application, which owes it an answer.
    fn request_of(event: &Self::Event<'_>) -> Option<Token>;

    /// Undoes the arrival of a request whose event could not be answered now: the same message
    /// will be handed in again. Returns whether the request was still there.
    fn unhandle(&mut self, request: Token) -> bool;

    /// The channel that [`poll_transmit`](Self::poll_transmit) would write to, if there is
    /// something to say.
    fn next_channel(&self) -> Option<Channel> {
        self.next_channel_where(|_| true)
    }

    /// The first channel with something to say of those that have room: so that an unread stream holds up no other.
    fn next_channel_where(&self, has_room: impl FnMut(Channel) -> bool) -> Option<Channel>;

    /// Writes one message that follows from state: a cancellation, a list change, a ping.
    ///
    /// Returns `None` when nothing is due on that channel.
    ///
    /// # Errors
    ///
    /// [`BufferFull`] if `out` is shorter than the message; nothing changed.
    fn poll_transmit(
        &mut self,
        now: Instant,
        on: Channel,
        out: &mut [u8],
    ) -> Result<Option<Transmit>, BufferFull>;

    /// The next effect of time or of teardown: a call that expired, a connection that closed.
    ///
    /// It borrows nothing, so it can stand where any other event is due.
    fn poll_event<'b>(&mut self) -> Option<Self::Event<'b>>;

    /// Returns the time at which [`handle_timeout`](Self::handle_timeout) must be called; `None`
    /// for never.
    fn poll_timeout(&self) -> Option<Instant>;

    /// Lets everything that is due happen. Afterwards
    /// [`poll_timeout`](Self::poll_timeout) is later than `now`.
    fn handle_timeout(&mut self, now: Instant);

    /// The peer is gone: every request ends, as [`poll_event`](Self::poll_event) then tells.
    fn hang_up(&mut self);
}

/// A machine that lies elsewhere, such as a `static` of firmware.
impl<M: Machine> Machine for &mut M {
    type Origin<'h> = M::Origin<'h>;
    type Event<'b> = M::Event<'b>;
    type Reply<'b> = M::Reply<'b>;

    const HAS_BATCHES: bool = M::HAS_BATCHES;

    fn handle<'b>(
        &mut self,
        now: Instant,
        from: &Self::Origin<'_>,
        incoming: Incoming<'b>,
    ) -> Action<Self::Event<'b>, Self::Reply<'b>> {
        (**self).handle(now, from, incoming)
    }

    fn reply(
        &mut self,
        now: Instant,
        reply: Self::Reply<'_>,
        out: &mut [u8],
    ) -> Result<Transmit, BufferFull> {
        (**self).reply(now, reply, out)
    }

    fn event_after_reply<'b>(&self, reply: &Self::Reply<'b>) -> Option<Self::Event<'b>> {
        (**self).event_after_reply(reply)
    }

    fn limits(&self) -> &Limits {
        (**self).limits()
    }

    fn reserve(&self) -> usize {
        (**self).reserve()
    }

    fn set_max_message(&mut self, len: usize) {
        (**self).set_max_message(len);
    }

    fn request_of(event: &Self::Event<'_>) -> Option<Token> {
        M::request_of(event)
    }

    fn unhandle(&mut self, request: Token) -> bool {
        (**self).unhandle(request)
    }

    fn next_channel_where(&self, has_room: impl FnMut(Channel) -> bool) -> Option<Channel> {
        (**self).next_channel_where(has_room)
    }

    fn poll_transmit(
        &mut self,
        now: Instant,
        on: Channel,
        out: &mut [u8],
    ) -> Result<Option<Transmit>, BufferFull> {
        (**self).poll_transmit(now, on, out)
    }

    fn poll_event<'b>(&mut self) -> Option<Self::Event<'b>> {
        (**self).poll_event()
    }

    fn poll_timeout(&self) -> Option<Instant> {
        (**self).poll_timeout()
    }

    fn handle_timeout(&mut self, now: Instant) {
        (**self).handle_timeout(now);
    }

    fn hang_up(&mut self) {
        (**self).hang_up();
    }
}
