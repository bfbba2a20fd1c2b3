//! A machine with its two buffers.

use super::step::{Step, check, step};
use crate::action::SendError;
use crate::config_error::ConfigError;
use crate::inbox::Inbox;
use crate::machine::Machine;
use crate::outbox::Outbox;
use crate::store::Store;
use crate::time::Instant;

/// A machine with the two buffers of a pipe, and the order of work between them.
///
/// A driver reads into [`Inbox::spare_mut`], calls [`step`](Self::step) until it says
/// [`Step::Empty`] or [`Step::Full`], writes [`Outbox::pending`] and then waits: for bytes, for
/// the peer to take some, or for [`Machine::poll_timeout`]. A driver that keeps the machine
/// behind a lock has its buffers elsewhere and calls the function [`step()`].
///
/// The machine can be one that lies elsewhere: `&mut Server` is a machine as well.
///
/// ```
/// use mcp_proto::server::{Fixed, Server, ServerConfig};
/// use mcp_proto::{Instant, Link, Step};
///
/// let server = Server::new(ServerConfig::new("demo", "1.0"), Fixed::new())?;
/// let mut link = Link::new(server, [0; 512], [0; 4096])?;
///
/// let ping = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
/// link.inbox.spare_mut().unwrap()[..ping.len()].copy_from_slice(ping);
/// link.inbox.filled(ping.len());
/// assert!(matches!(link.step(Instant::ZERO), Step::Done));
/// assert!(matches!(link.step(Instant::ZERO), Step::Empty));
/// assert_eq!(link.outbox.pending(), b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
/// # Ok::<(), mcp_proto::ConfigError>(())
/// ```
#[derive(Debug)]
#[non_exhaustive]
pub struct Link<M, I, O> {
    /// The machine.
    pub machine: M,
    /// The bytes that the peer wrote.
    pub inbox: Inbox<I>,
    /// The bytes for the peer.
    pub outbox: Outbox<O>,
}

impl<M: Machine, I: Store<u8>, O: Store<u8>> Link<M, I, O> {
    /// Gives a machine the storage of its two buffers, which obey its [limits](Machine::limits). A storage that cannot
    /// grow as far as they allow is a limit of its own.
    ///
    /// # Errors
    ///
    /// [`ConfigError::OutputTooSmall`]: the storage of the outbox, or its limit, cannot hold the longest answer of the machine.
    pub fn new(mut machine: M, inbox: I, outbox: O) -> Result<Self, ConfigError> {
        let inbox = Inbox::new(inbox, machine.limits());
        let outbox = Outbox::new(outbox, machine.limits());
        check(&machine, &outbox)?;
        machine.set_max_message(outbox.max_message());
        Ok(Self {
            machine,
            inbox,
            outbox,
        })
    }

    /// Does one thing: see [`step()`].
    #[inline]
    pub fn step(&mut self, now: Instant) -> Step<'_, M, M::Event<'_>, O> {
        step(&mut self.machine, &mut self.inbox, &mut self.outbox, now)
    }

    /// Does all there is to do: a loop over [`step`](Self::step) that hands each event to `app`.
    ///
    /// `app` answers with [`Verdict::Done`], or with [`Verdict::Retry`] if its answer did not fit:
    /// then the same request comes again in a later turn. Returns why it stopped.
    ///
    /// ```
    /// # use mcp_proto::json::Raw;
    /// # use mcp_proto::model::ServerFeatures;
    /// # use mcp_proto::server::{Fixed, Server, ServerConfig};
    /// # use mcp_proto::{Link, Outbox};
    /// use mcp_proto::server::Event;
    /// use mcp_proto::{Verdict, Instant, Outcome, TurnEnd};
    ///
    /// # let capabilities = ServerFeatures::TOOLS.capabilities();
    /// # let config = ServerConfig { capabilities, ..ServerConfig::new("demo", "1.0") };
    /// # let machine = Server::new(config, Fixed::new())?;
    /// # let mut link = Link::new(machine, [0; 2048], [0; 2048])?;
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
    ///     outbox.put(|out| server.respond(token, Outcome::Result(&result), out)).into()
    /// };
    /// assert_eq!(link.turn(now, &mut app), TurnEnd::Full);
    /// // The client reads the first answer, and the second call comes again, with a new token.
    /// link.outbox.consume(link.outbox.pending().len());
    /// assert_eq!(link.turn(now, &mut app), TurnEnd::Empty);
    /// assert_eq!(events, 3);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn turn(
        &mut self,
        now: Instant,
        mut app: impl FnMut(&mut M, M::Event<'_>, &mut Outbox<O>) -> Verdict,
    ) -> TurnEnd {
        loop {
            let request = match self.step(now) {
                Step::Event {
                    event,
                    machine,
                    outbox,
                } => {
                    let request = M::request_of(&event);
                    match app(machine, event, outbox) {
                        Verdict::Done => None,
                        Verdict::Retry => request,
                    }
                }
                Step::Done | Step::Ignored(_) => None,
                Step::Full => return TurnEnd::Full,
                Step::Empty => return TurnEnd::Empty,
            };
            if request.is_some_and(|request| self.machine.unhandle(request)) {
                self.inbox.unread();
                return TurnEnd::Full;
            }
        }
    }
}

/// The verdict of the application on an event in a [`turn`](Link::turn).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The application has what it needs.
    Done,
    /// The answer to the request of this event did not fit: the request comes again. For an event
    /// that is no request, and for a request that was answered, this is the same as
    /// [`Done`](Self::Done).
    Retry,
}

impl<T> From<Result<T, SendError>> for Verdict {
    /// [`Retry`](Self::Retry) for an answer that did not fit, and [`Done`](Self::Done) for one that was written or never can be.
    fn from(written: Result<T, SendError>) -> Self {
        match written {
            Err(SendError::BufferFull { .. }) => Self::Retry,
            Ok(_) | Err(_) => Self::Done,
        }
    }
}

/// The reason why a [`turn`](Link::turn) ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a full outbox must be written before the next read"]
pub enum TurnEnd {
    /// The outbox is full: write first.
    Full,
    /// All is done until bytes arrive or time passes.
    Empty,
}
