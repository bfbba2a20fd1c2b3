//! The order of work of one conversation over HTTP: what [`link`](crate::link) is for a pair of byte streams.

mod at_once;

use crate::action::{Action, Channel, Transmit};
use crate::machine::Machine;
use crate::outbox::{NeedsBuffer, Outbox, Written};
use crate::rpc::Incoming;
use crate::store::Store;
use crate::time::Instant;
use crate::token::SentToken;

pub use self::at_once::AtOnce;

/// Takes the messages of one conversation over HTTP, each when it is written.
pub trait Outgoing {
    /// True if messages stay in the outbox, which the driver empties when the conversation is over.
    const STAYS: bool = false;

    /// Returns whether a message of the application may be added to this channel now.
    fn has_room(&self, on: Channel) -> bool;

    /// Takes a message, without framing, and the request of ours that it is, if it is one. The message is empty where
    /// a channel ends without one. Returns a receipt if the sender has to wait until a store has the message.
    fn take(
        &mut self,
        transmit: Transmit,
        request: Option<SentToken>,
        message: &[u8],
    ) -> Option<Receipt>;
}

/// Names a message that a store has to take before it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The stream of the message.
    pub channel: Channel,
    /// The number of the message on its stream.
    pub sequence: u64,
}

/// One conversation over HTTP: a machine, what takes its messages, and a buffer in which each message is written.
///
/// It borrows its three parts for one piece of work, so a driver may keep them where it likes, behind a lock for example.
/// It never calls the application: an event borrows from the message, and the application answers it by
/// [`put`](Self::put) when it likes.
///
/// ```
/// use mcp_proto::http::{Post, PostStatus, Version};
/// use mcp_proto::rpc::{Incoming, Message};
/// use mcp_proto::server::http::streams::{Delivery, StreamLimits, StreamResponse, Streams};
/// use mcp_proto::server::{Growing, Server, ServerConfig};
/// use mcp_proto::{Action, Conversation, Instant, Limits, Outbox, Revision, Source};
///
/// let mut server = Server::new(ServerConfig::new("demo", "1.0"), Growing)?;
/// let mut streams = Streams::new(Delivery::Once, StreamLimits::default());
/// let mut outbox = Outbox::new(Vec::new(), &Limits::default());
/// let mut conversation = Conversation {
///     machine: &mut server,
///     outgoing: &mut streams,
///     outbox: &mut outbox,
/// };
///
/// let post = Post {
///     version: Version::Known(Revision::V2026_07_28),
///     session: None,
///     method: Some(b"server/discover"),
///     name: None,
/// };
/// let body = br#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{
///     "io.modelcontextprotocol/protocolVersion":"2026-07-28",
///     "io.modelcontextprotocol/clientCapabilities":{}}}}"#;
/// let reader = conversation.outgoing.open().unwrap();
/// let source = Source::post(reader.channel(), &post);
/// let message = Incoming::Message(Message::parse(body, 16));
/// let mut status = PostStatus::default();
/// let look = |action: &_| status.note(&message, Action::http_status(action));
/// let event = conversation.handle(Instant::ZERO, &source, message, look);
/// assert!(event.is_none(), "the machine answers by itself");
/// conversation.outgoing.handled(reader.channel(), status);
///
/// match streams.response(&reader, false) {
///     StreamResponse::Message { status, is_error, message } => {
///         assert_eq!((status, is_error), (200, false));
///         assert!(message.starts_with(br#"{"jsonrpc":"2.0","id":1,"result":{"#));
///     }
///     other => panic!("{other:?}"),
/// }
/// # Ok::<(), mcp_proto::ConfigError>(())
/// ```
#[derive(Debug)]
pub struct Conversation<'p, M, O, B> {
    /// The machine.
    pub machine: &'p mut M,
    /// The destination of its messages.
    pub outgoing: &'p mut O,
    /// The buffer, which is empty between two calls unless messages [stay](Outgoing::STAYS) there.
    pub outbox: &'p mut Outbox<B>,
}

impl<M: Machine, O: Outgoing, B: Store<u8>> Conversation<'_, M, O, B> {
    /// Passes one message of the peer to the machine, and writes what the machine owes: its own answer, or what the
    /// message made due, which leaves before the answer of the application. Returns the event for the application.
    /// `look` sees the machine's verdict. The outbox must be able to hold [`Machine::reserve`] bytes, which
    /// [`link::check`](crate::link::check) tests: the answer of the core is lost otherwise, with the event that
    /// follows it.
    pub fn handle<'b>(
        &mut self,
        now: Instant,
        from: &M::Origin<'_>,
        incoming: Incoming<'b>,
        look: impl FnOnce(&Action<M::Event<'b>, M::Reply<'b>>),
    ) -> Option<M::Event<'b>> {
        self.machine.set_max_message(self.outbox.max_message());
        // The answer that the core itself may owe fits then.
        let _ = self.outbox.reserve(self.machine.reserve());
        let action = self.machine.handle(now, from, incoming);
        look(&action);
        match action {
            Action::Event(event) => {
                self.flush(now);
                Some(event)
            }
            Action::Reply(reply) => {
                let follow_up = self.machine.event_after_reply(&reply);
                let written = self
                    .outbox
                    .put_once(|out| self.machine.reply(now, reply, out));
                self.pass_on(&written.ok()?);
                follow_up
            }
            Action::Done | Action::Ignore(_) => None,
        }
    }

    /// Lets the machine write one message, which is taken at once.
    ///
    /// # Errors
    /// Those of `write`, of which the buffer being full only for a message that can never fit.
    pub fn put<T: Written, E: NeedsBuffer>(
        &mut self,
        mut write: impl FnMut(&mut M, &mut [u8]) -> Result<T, E>,
    ) -> Result<(T, Option<Receipt>), E> {
        let machine = &mut *self.machine;
        machine.set_max_message(self.outbox.max_message());
        let written = self.outbox.put(|out| write(machine, out))?;
        let receipt = self.pass_on(&written);
        Ok((written, receipt))
    }

    /// Writes all that follows from state, as far as its channels have room: a channel that is full blocks no other.
    pub fn flush(&mut self, now: Instant) {
        loop {
            let outgoing = &*self.outgoing;
            let next = self
                .machine
                .next_channel_where(|channel| outgoing.has_room(channel));
            let Some(channel) = next else { return };
            let sent = self.put(|machine, out| machine.poll_transmit(now, channel, out));
            if !matches!(sent, Ok((Some(_), _))) {
                return;
            }
        }
    }

    /// Does what is due by now, writes what follows from it and from state, and returns the next event that no message
    /// has caused.
    pub fn next_event<'b>(&mut self, now: Instant) -> Option<M::Event<'b>> {
        if self.machine.poll_timeout().is_some_and(|due| due <= now) {
            self.machine.handle_timeout(now);
        }
        self.flush(now);
        self.machine.poll_event()
    }

    /// Hands what was written to the destination, without its newline.
    fn pass_on(&mut self, written: &impl Written) -> Option<Receipt> {
        let transmit = written.transmit()?;
        let pending = self.outbox.pending();
        // The last line, if it wrote one.
        let start = pending.len().saturating_sub(transmit.len + NEWLINE);
        let message = pending.get(start..).unwrap_or_default();
        let message = message.get(..transmit.len).unwrap_or_default();
        let receipt = self.outgoing.take(transmit, written.request(), message);
        let len = pending.len();
        if !O::STAYS {
            self.outbox.consume(len);
        }
        receipt
    }
}

/// The framing of a message in the outbox.
const NEWLINE: usize = 1;
