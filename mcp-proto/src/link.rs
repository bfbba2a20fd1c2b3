//! The order of work on one connection. The caller performs the I/O.

use crate::action::{Action, Why};
use crate::inbox::Inbox;
use crate::limits::OutputTooSmall;
use crate::machine::Machine;
use crate::outbox::Outbox;
use crate::rpc::Incoming;
use crate::source::Source;
use crate::store::Store;
use crate::time::Instant;

/// Joins the two buffers of a pipe and fixes the order of work between them.
///
/// A driver reads into [`Inbox::spare_mut`], calls [`step`](Self::step) until it says
/// [`Step::Empty`] or [`Step::Full`], writes [`Outbox::pending`] and then waits: for bytes, for
/// the peer to take some, or for [`Machine::poll_timeout`]. A driver that keeps the machine
/// behind a lock has its buffers elsewhere and calls the function [`step`].
///
/// ```
/// use mcp_proto::server::{Fixed, Server, ServerConfig};
/// use mcp_proto::{Inbox, Instant, Limits, Link, Outbox, Step};
///
/// let mut server = Server::new(ServerConfig::new("demo", "1.0"), Fixed::<64, 4, 1, 0, 0>::new())?;
/// let limits = Limits::default();
/// let (inbox, outbox) = (Inbox::new([0; 512], &limits), Outbox::new([0; 4096], &limits));
/// let mut link = Link::new(&mut server, inbox, outbox)?;
///
/// let ping = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
/// link.inbox.spare_mut().unwrap()[..ping.len()].copy_from_slice(ping);
/// link.inbox.filled(ping.len());
/// assert!(matches!(link.step(&mut server, Instant::ZERO), Step::Handled));
/// assert!(matches!(link.step(&mut server, Instant::ZERO), Step::Empty));
/// assert_eq!(link.outbox.pending(), b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
/// # Ok::<(), mcp_proto::OutputTooSmall>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Link<I, O> {
    /// What the peer wrote.
    pub inbox: Inbox<I>,
    /// What the peer will read.
    pub outbox: Outbox<O>,
}

impl<I: Store<u8>, O: Store<u8>> Link<I, O> {
    /// Joins the two buffers of a machine, which learns the longest message that leaves.
    ///
    /// # Errors
    ///
    /// [`OutputTooSmall`]: the outbox, or its limit, cannot hold the longest answer of the machine.
    pub fn new<M: Machine>(
        machine: &mut M,
        inbox: Inbox<I>,
        outbox: Outbox<O>,
    ) -> Result<Self, OutputTooSmall> {
        check(machine, &outbox)?;
        machine.set_max_message(outbox.max_message());
        Ok(Self { inbox, outbox })
    }

    /// Does one thing: see [`step`].
    #[inline]
    pub fn step<'l, M: Machine>(
        &'l mut self,
        machine: &mut M,
        now: Instant,
    ) -> Step<'l, M::Event<'l>, O> {
        step(machine, &mut self.inbox, &mut self.outbox, now)
    }

    /// Does all there is to do: a loop over [`step`] that hands each event to `app`.
    ///
    /// `app` answers with [`Verdict::Done`], or with [`Verdict::Again`] if its answer did not fit:
    /// then the same request comes again in a later turn. Returns why it stopped.
    ///
    /// ```
    /// # use mcp_proto::json::Raw;
    /// # use mcp_proto::model::ServerFeatures;
    /// # use mcp_proto::server::{Fixed, Server, ServerConfig};
    /// # use mcp_proto::{Inbox, Limits, Link, Outbox};
    /// use mcp_proto::server::Event;
    /// use mcp_proto::{Instant, Outcome, Rest, SendError, Verdict};
    ///
    /// # let capabilities = ServerFeatures::TOOLS.capabilities();
    /// # let config = ServerConfig { capabilities, ..ServerConfig::new("demo", "1.0") };
    /// # let mut machine = Server::new(config, Fixed::<64, 4, 1, 0, 0>::new())?;
    /// # let limits = Limits::default();
    /// # let (inbox, outbox) = (Inbox::new([0; 2048], &limits), Outbox::new([0; 2048], &limits));
    /// # let mut link = Link::new(&mut machine, inbox, outbox)?;
    /// # for id in [1, 2] {
    /// #     let call = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"a\",\"_meta\":{{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\",\"io.modelcontextprotocol/clientCapabilities\":{{}}}}}}}}\n");
    /// #     link.inbox.spare_mut().unwrap()[..call.len()].copy_from_slice(call.as_bytes());
    /// #     link.inbox.filled(call.len());
    /// # }
    /// # let text = format!("{{\"content\":[{{\"type\":\"text\",\"text\":\"{}\"}}]}}", "a".repeat(1000));
    /// # let result = Raw::parse(text.as_bytes(), 8)?;
    /// // Two calls wait in the inbox, and the outbox holds 2 KiB: only one answer at a time.
    /// let now = Instant::ZERO;
    /// let mut events = 0;
    /// let mut app = |server: &mut Server<'_, _>, event: Event<'_>, outbox: &mut Outbox<_>| {
    ///     events += 1;
    ///     let Event::Request { token, .. } = event else { return Verdict::Done };
    ///     match outbox.put(|out| server.respond(now, token, Outcome::Result(&result), out)) {
    ///         Err(SendError::BufferFull { .. }) => Verdict::Again,
    ///         _ => Verdict::Done,
    ///     }
    /// };
    /// assert_eq!(link.turn(&mut machine, now, &mut app), Rest::Full);
    /// // The client reads the first answer, and the second call comes again, with a new token.
    /// link.outbox.consume(link.outbox.pending().len());
    /// assert_eq!(link.turn(&mut machine, now, &mut app), Rest::Empty);
    /// assert_eq!(events, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn turn<M: Machine>(
        &mut self,
        machine: &mut M,
        now: Instant,
        mut app: impl FnMut(&mut M, M::Event<'_>, &mut Outbox<O>) -> Verdict,
    ) -> Rest {
        loop {
            let request = match self.step(machine, now) {
                Step::Event { event, outbox } => {
                    let request = M::request_of(&event);
                    match app(machine, event, outbox) {
                        Verdict::Done => None,
                        Verdict::Again => request,
                    }
                }
                Step::Handled | Step::Ignored(_) => None,
                Step::Full => return Rest::Full,
                Step::Empty => return Rest::Empty,
            };
            if request.is_some_and(|request| machine.forget(request)) {
                self.inbox.unread();
                return Rest::Full;
            }
        }
    }
}

/// The result of a [`step`].
#[derive(Debug)]
#[must_use = "an event nobody handles is a request nobody answers"]
pub enum Step<'o, E, O> {
    /// Something for the application, which may answer into the outbox at once.
    ///
    /// If the answer does not fit: [`Machine::forget`] with what [`Machine::request_of`] returned
    /// for the event, [`Inbox::unread`], and the request comes again once the peer has read
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
    Ignored(Why),
    /// The peer has to read before anything else happens.
    Full,
    /// Nothing to do until bytes arrive or time passes.
    Empty,
}

/// The result of an event in a [`turn`](Link::turn).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The application has what it needs.
    Done,
    /// The answer to the request of this event did not fit: the request comes again. The same as
    /// [`Done`](Self::Done) for an event that is no request, and for a request that was answered.
    Again,
}

/// The reason why a [`turn`](Link::turn) ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a full outbox has to be written before reading makes sense"]
pub enum Rest {
    /// The outbox is full: write first.
    Full,
    /// All is done until bytes arrive or time passes.
    Empty,
}

/// Checks that an outbox can hold the longest answer that the machine itself gives, so that none
/// is ever lost. [`Link::new`] does it; a driver that calls [`step`] does it once.
///
/// # Errors
///
/// [`OutputTooSmall`]: neither the outbox nor its limit ever holds it.
pub fn check<M: Machine, O: Store<u8>>(
    machine: &M,
    outbox: &Outbox<O>,
) -> Result<(), OutputTooSmall> {
    let needed = machine.reserve();
    if outbox.max_message() < needed {
        return Err(OutputTooSmall {
            needed: needed.saturating_add(1),
        });
    }
    Ok(())
}

/// Does one thing for one connection, in this order: what is due by now, messages that follow
/// from state, events of time and teardown, and then the next message of the peer.
///
/// A message is taken only while the outbox has room for all that the machine itself may have to
/// say about it, so its answer is never lost and a peer that does not read is not read either.
/// The machine learns what the outbox can hold: an answer for which there will never be room is
/// replaced by an error. [`Step::Ignored`] with [`Why::NoRoom`] reports one for which even the error
/// is too long, in an outbox that does not pass [`check`].
/// Never loops over messages: an event borrows from the inbox, and the caller decides what comes
/// next.
///
/// ```
/// # use mcp_proto::server::{Fixed, Server, ServerConfig};
/// # let mut machine = Server::new(ServerConfig::new("demo", "1.0"), Fixed::<64, 4, 1, 0, 0>::new()).unwrap();
/// use mcp_proto::{Inbox, Instant, Limits, Outbox, Step, link};
///
/// # let limits = Limits::default();
/// # let (mut inbox, mut outbox) = (Inbox::new([0; 512], &limits), Outbox::new([0; 4096], &limits));
/// let ping = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
/// inbox.spare_mut().unwrap()[..ping.len()].copy_from_slice(ping);
/// inbox.filled(ping.len());
/// let step = link::step(&mut machine, &mut inbox, &mut outbox, Instant::ZERO);
/// assert!(matches!(step, Step::Handled));
/// assert_eq!(outbox.pending(), b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
/// ```
#[inline]
pub fn step<'i, 'o, M: Machine, I: Store<u8>, O: Store<u8>>(
    machine: &mut M,
    inbox: &'i mut Inbox<I>,
    outbox: &'o mut Outbox<O>,
    now: Instant,
) -> Step<'o, M::Event<'i>, O> {
    step_with(machine, || inbox.next_message(), outbox, now)
}

/// The same with messages from wherever `next` has them, which is asked at most once: only when
/// a message can be taken.
pub fn step_with<'i, 'o, M: Machine, O: Store<u8>>(
    machine: &mut M,
    next: impl FnOnce() -> Option<Incoming<'i>>,
    outbox: &'o mut Outbox<O>,
    now: Instant,
) -> Step<'o, M::Event<'i>, O> {
    machine.set_max_message(outbox.max_message());
    if machine.poll_timeout().is_some_and(|due| due <= now) {
        machine.handle_timeout(now);
        debug_assert!(
            machine.poll_timeout().is_none_or(|due| due > now),
            "a deadline that is not ahead spins the driver"
        );
    }
    if !flush(machine, outbox, now) {
        return Step::Full;
    }
    if let Some(event) = machine.poll_event() {
        return Step::Event { event, outbox };
    }
    // An outbox that was not checked may be too small for some answers, and hold others.
    if !outbox.reserve(machine.reserve()) && !outbox.is_empty() {
        return Step::Full;
    }
    let Some(incoming) = next() else {
        return Step::Empty;
    };
    match machine.handle(now, &Source::PIPE, incoming) {
        Action::Event(event) => {
            // What the message made due leaves before the application's answer to it does:
            // `initialized` before the first call. Where it does not fit, it follows.
            flush(machine, outbox, now);
            Step::Event { event, outbox }
        }
        Action::Reply(reply) => {
            let told = machine.told(&reply);
            match (outbox.put_once(|out| machine.reply(now, reply, out)), told) {
                (Ok(_), Some(event)) => Step::Event { event, outbox },
                (Ok(_), None) => Step::Handled,
                (Err(_), _) => Step::Ignored(Why::NoRoom),
            }
        }
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

#[cfg(test)]
mod tests;
