//! One step of the work on one connection.

use crate::action::{Action, IgnoreReason};
use crate::config_error::ConfigError;
use crate::inbox::Inbox;
use crate::machine::Machine;
use crate::outbox::Outbox;
use crate::rpc::Incoming;
use crate::source::Pipe;
use crate::store::Store;
use crate::time::Instant;

/// The result of a [`step`](crate::Link::step).
#[derive(Debug)]
#[must_use = "a request whose event is dropped is never answered"]
pub enum Step<'o, M, E, O> {
    /// Something for the application, which may answer into the outbox at once.
    ///
    /// If the answer does not fit: [`Machine::unhandle`](crate::Machine::unhandle) with what [`Machine::request_of`](crate::Machine::request_of) returned
    /// for the event, [`Inbox::unread`](crate::Inbox::unread), and the request comes again once the peer has read
    /// something.
    Event {
        /// It borrows from the inbox.
        event: E,
        /// The machine, which writes the answer.
        machine: &'o mut M,
        /// For the answer.
        outbox: &'o mut Outbox<O>,
    },
    /// A message was dealt with.
    Done,
    /// A message had no effect.
    Ignored(IgnoreReason),
    /// No further message is handled until the peer has read. Deadlines still count: step again when
    /// [`Machine::poll_timeout`] has passed, too.
    Full,
    /// Nothing to do until bytes arrive or time passes.
    Empty,
}

/// Checks that an outbox can hold the longest answer that the machine itself gives, so that none
/// is ever lost. [`Link::new`](crate::Link::new) does it; a driver that calls [`step`] does it once.
///
/// # Errors
///
/// [`ConfigError::OutputTooSmall`]: neither the outbox nor its limit ever holds it.
pub fn check<M: Machine, O: Store<u8>>(machine: &M, outbox: &Outbox<O>) -> Result<(), ConfigError> {
    let needed = machine.reserve();
    if outbox.max_message() < needed {
        return Err(ConfigError::OutputTooSmall {
            needed: needed.saturating_add(1),
        });
    }
    Ok(())
}

/// Does one thing for one connection, in this order: what is due by now, messages that follow
/// from state, events of time and teardown, and then the next message of the peer. Events of time and
/// teardown need no room: they are returned although the messages that follow from state do not fit.
///
/// A message is taken only while the outbox has room for all that the machine itself may have to
/// say about it, so its answer is never lost and a peer that does not read is not read either.
/// The machine learns what the outbox can hold: an answer for which there will never be room is
/// replaced by an error. [`Step::Ignored`] with [`IgnoreReason::NoRoom`] reports one for which even the error
/// is too long, in an outbox that does not pass [`check`].
/// Never loops over messages: an event borrows from the inbox, and the caller decides what comes
/// next.
///
/// ```
/// # use mcp_proto::server::{Fixed, Server, ServerConfig};
/// # let mut machine = Server::new(ServerConfig::new("demo", "1.0"), Fixed::new()).unwrap();
/// use mcp_proto::{Inbox, Instant, Limits, Outbox, Step, link};
///
/// # let limits = Limits::default();
/// # let (mut inbox, mut outbox) = (Inbox::new([0; 512], &limits), Outbox::new([0; 4096], &limits));
/// let ping = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
/// inbox.spare_mut().unwrap()[..ping.len()].copy_from_slice(ping);
/// inbox.filled(ping.len());
/// let step = link::step(&mut machine, &mut inbox, &mut outbox, Instant::ZERO);
/// assert!(matches!(step, Step::Done));
/// assert_eq!(outbox.pending(), b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
/// ```
#[inline]
pub fn step<'i, 'o, M: Machine, I: Store<u8>, O: Store<u8>>(
    machine: &'o mut M,
    inbox: &'i mut Inbox<I>,
    outbox: &'o mut Outbox<O>,
    now: Instant,
) -> Step<'o, M, M::Event<'i>, O> {
    step_with(
        machine,
        || inbox.next_message_for(M::HAS_BATCHES),
        outbox,
        now,
    )
}

/// Does one thing for one connection, as [`step`] does, with messages from `next`, which is called
/// at most once: only when a message can be taken.
pub fn step_with<'i, 'o, M: Machine, O: Store<u8>>(
    machine: &'o mut M,
    next: impl FnOnce() -> Option<Incoming<'i>>,
    outbox: &'o mut Outbox<O>,
    now: Instant,
) -> Step<'o, M, M::Event<'i>, O> {
    machine.set_max_message(outbox.max_message());
    if machine.poll_timeout().is_some_and(|due| due <= now) {
        machine.handle_timeout(now);
        debug_assert!(
            machine.poll_timeout().is_none_or(|due| due > now),
            "a deadline that is not ahead spins the driver"
        );
    }
    let is_flushed = flush(machine, outbox, now);
    // It needs no room: a request that is overdue ends, although the peer reads nothing.
    if let Some(event) = machine.poll_event() {
        return Step::Event {
            event,
            machine,
            outbox,
        };
    }
    if !is_flushed {
        return Step::Full;
    }
    // An outbox that was not checked may be too small for some answers, and hold others.
    if !outbox.reserve(machine.reserve()) && !outbox.is_empty() {
        return Step::Full;
    }
    let Some(incoming) = next() else {
        return Step::Empty;
    };
    match machine.handle(now, &Pipe.into(), incoming) {
        Action::Event(event) => {
            // Messages that this message made due are sent before the application's answer to it:
            // `initialized` before the first call. If they do not fit, they follow.
            flush(machine, outbox, now);
            Step::Event {
                event,
                machine,
                outbox,
            }
        }
        Action::Reply(reply) => {
            let follow_up = machine.event_after_reply(&reply);
            match (
                outbox.put_once(|out| machine.reply(now, reply, out)),
                follow_up,
            ) {
                (Ok(_), Some(event)) => Step::Event {
                    event,
                    machine,
                    outbox,
                },
                (Ok(_), None) => Step::Done,
                (Err(_), _) => Step::Ignored(IgnoreReason::NoRoom),
            }
        }
        Action::Done => Step::Done,
        Action::Ignore(why) => Step::Ignored(why),
    }
}

/// Writes what follows from state, and says whether all of it got in.
fn flush<M: Machine, O: Store<u8>>(machine: &mut M, outbox: &mut Outbox<O>, now: Instant) -> bool {
    while let Some(channel) = machine.next_channel() {
        match outbox.put(|out| machine.poll_transmit(now, channel, out)) {
            Ok(Some(_)) => {}
            // Nothing after all: ask again in the next step rather than spin here.
            Ok(None) => break,
            // Nor wait for room that an empty outbox will never have.
            Err(_) => return outbox.is_empty(),
        }
    }
    true
}
