//! The client role.
//!
//! A [`Client`] is the state of one connection to a server of either era: it negotiates the revision,
//! sends calls, and answers questions of the server.
//!
//! | Task | Use |
//! |---|---|
//! | Create a client | [`ClientConfig`], [`Client::new`] with [`Fixed`] or `Growing` (feature `alloc`) |
//! | Connect | [`Client::connect`], [`Event::Connected`] |
//! | Send a request and read its result | [`Call`], [`Client::call`], [`Event::Answer`], [`Event::Failed`] |
//! | Answer questions of a legacy server | [`Event::Question`], [`Client::respond`] |
//! | Answer questions inside of a result | [`Event::Input`], [`Client::retry`] |
//! | Cancel a request | [`Client::cancel`] |
//! | Connect by HTTP | `client::http` (feature `alloc`) |

mod abandoned;
mod call;
mod calls;
mod config;
mod connect;
mod encode;
mod event;
mod gathered;
mod incoming;
mod machine;
mod notification;
mod opening;
mod question;
mod questions;
mod reply;
mod send;
mod storage;
mod versions;

#[cfg(feature = "alloc")]
pub mod http;

// Configuration.
pub use config::{ClientConfig, Negotiation, Timeouts};

// Calls and events.
pub use call::{Call, Failure, Round, Trace};
pub use event::{CloseReason, ConnectError, Connected, Event, Unusable};
pub use reply::Reply;

// Storage.
pub use crate::store::Fixed;
#[cfg(feature = "alloc")]
pub use crate::store::Growing;
pub use storage::Storage;

use crate::config_error::ConfigError;
use crate::model::ServerFeatures;
use crate::prepared_config::PreparedConfig;
use crate::received::ReceivedRequests;
use crate::revision::Revision;
use crate::sent::Cancellation;
use crate::token::MachineId;
use calls::Calls;
use gathered::Gathered;
use opening::Opening;
use questions::Questions;

/// The client's machine: negotiation, calls, questions, on one connection.
///
/// Messages and the time go in, events, bytes and a deadline come out, as
/// [`Machine`](crate::Machine) tells. It owns no bytes: what an event says is borrowed from the
/// message, and what a call was is not remembered, so that a further round of it is encoded
/// again by its caller.
///
/// - Getters: [`revision`](Self::revision),
///   [`server_features`](Self::server_features), [`is_closed`](Self::is_closed),
///   [`in_flight`](Self::in_flight), [`awaits`](Self::awaits), [`config`](Self::config).
/// - Inputs: [`connect`](Self::connect), those of [`Machine`](crate::Machine), and over HTTP
///   [`fail`](Self::fail), [`refuse`](Self::refuse) and [`lose_session`](Self::lose_session).
/// - Commands: [`call`](Self::call), [`retry`](Self::retry), [`cancel`](Self::cancel),
///   [`respond`](Self::respond), [`notify`](Self::notify), [`begin_batch`](Self::begin_batch),
///   [`end_batch`](Self::end_batch), [`defer_batch`](Self::defer_batch), [`hold`](Self::hold), [`release`](Self::release).
/// - Polls: those of [`Machine`](crate::Machine).
///
/// ```
/// use mcp_proto::client::{Call, Client, ClientConfig, Event, Fixed};
/// use mcp_proto::rpc::{Incoming, Message, Method};
/// use mcp_proto::{Action, Channel, Instant, Machine, Pipe, RevisionSet};
///
/// let config = ClientConfig {
///     revisions: RevisionSet::legacy(),
///     ..ClientConfig::new("demo", "1.0")
/// };
/// let mut client = Client::new(config, Fixed::new().questions::<1>()).unwrap();
/// let mut out = [0; 512];
/// let now = Instant::ZERO;
///
/// client.connect(now)?;
/// let sent = client.poll_transmit(now, Channel::PIPE, &mut out)?.unwrap();
/// assert!(out[..sent.len].starts_with(br#"{"jsonrpc":"2.0","id":1,"method":"initialize""#));
///
/// let answer = br#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25",
///     "capabilities":{"tools":{}},"serverInfo":{"name":"srv","version":"2"}}}"#;
/// let incoming = Incoming::Message(Message::parse(answer, 128));
/// let Action::Event(Event::Connected(server)) = client.handle(now, &Pipe, incoming)
///     else { panic!("it is connected") };
/// assert!(server.capabilities.is_some());
///
/// // `notifications/initialized` leaves, then calls may.
/// let _ = client.poll_transmit(now, Channel::PIPE, &mut out)?;
/// let (_, sent) = client.call(now, &Call::new(Method::ToolsList), &mut out)?;
/// assert_eq!(&out[..sent.len], br#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Client<'c, S: Storage> {
    config: PreparedConfig<ClientConfig<'c>>,
    phase: Phase,
    revision: Option<Revision>,
    /// The features that the server declared; `None` if it told only its era.
    server: Option<ServerFeatures>,
    calls: Calls<S::Calls, S::Abandoned>,
    questions: Questions<S::IdBuf, S::Questions, S::Batch>,
    /// The calls of the batch that the application makes.
    batch: Gathered<S::Batch>,
    initialized_owed: bool,
    miss_untold: bool,
    connect_failed: Option<ConnectError<'static>>,
    closed_untold: Option<CloseReason>,
}

/// The phase of a connection.
///
/// ```text
///   Idle --connect--> Opening --InitializeResult--> Legacy --.
///                        |  `---DiscoverResult----> Modern --|
///                        |                                   | hang_up, missed pings
///                        `--- refusal, silence, hang_up ---> Closed
/// ```
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// Nothing was said.
    Idle,
    /// The server's era and revision are being found out.
    Opening(Opening),
    /// A session: the server may ask, too.
    Legacy,
    /// Each request stands for itself, and only the client asks.
    Modern,
    /// For good: a new connection is a new client.
    Closed,
}

impl<'c, S: Storage> Client<'c, S> {
    /// The least that [`Limits::output`](crate::Limits::output) may be.
    pub const MIN_OUTPUT: usize = reply::reserve(S::ID_ECHO) + 1;

    /// A client that has said nothing yet; [`connect`](Self::connect) begins.
    ///
    /// # Errors
    ///
    /// See [`ConfigError`]. The least output is [`MIN_OUTPUT`](Self::MIN_OUTPUT).
    pub fn new(
        config: impl Into<PreparedConfig<ClientConfig<'c>>>,
        storage: S,
    ) -> Result<Self, ConfigError> {
        let config = config.into();
        config.check::<S>()?;
        Ok(Self::with_room(config, storage))
    }

    /// Creates a client, as [`new`](Self::new) does, with [`Limits::output`](crate::Limits::output)
    /// raised to [`MIN_OUTPUT`](Self::MIN_OUTPUT) if it is less. Other mistakes are not looked for: see
    /// [`PreparedConfig::check`].
    pub fn with_room(config: impl Into<PreparedConfig<ClientConfig<'c>>>, storage: S) -> Self {
        let mut config = config.into();
        if config.limits.output < Self::MIN_OUTPUT {
            config.parts_mut().config.limits.output = Self::MIN_OUTPUT;
        }
        let max_message = config.limits.max_message();
        let longest = config.limits.batch_bytes.min(max_message);
        // Its tokens are refused by all other machines.
        let machine = MachineId::next();
        Self {
            phase: Phase::Idle,
            revision: None,
            server: None,
            calls: Calls::new(
                storage.calls(),
                storage.abandoned(),
                config.limits.in_flight,
                config.ping,
                machine,
            ),
            questions: ReceivedRequests::new(
                (storage.questions(), config.limits.in_flight),
                (storage.batch(), config.limits.batch_bytes),
                max_message,
                machine,
            ),
            batch: Gathered::new(storage.batch(), longest),
            initialized_owed: false,
            miss_untold: false,
            connect_failed: None,
            closed_untold: None,
            config,
        }
    }

    /// The revision that rules, once connected.
    pub const fn revision(&self) -> Option<Revision> {
        self.revision
    }

    /// Returns the features that the server declared and that the revision knows (LC-23); `None`
    /// before the connection, and if the server told only its era.
    pub fn server_features(&self) -> Option<ServerFeatures> {
        Some(self.server?.known_in(self.revision?))
    }

    /// Returns true if the connection is over: hang up, if the transport is not gone already.
    pub const fn is_closed(&self) -> bool {
        matches!(self.phase, Phase::Closed)
    }

    /// Returns the number of calls that are not over, including cancelled ones until the server is
    /// notified.
    pub fn in_flight(&self) -> usize {
        self.calls.sent.table.len()
    }

    /// Returns the configuration.
    pub const fn config(&self) -> &PreparedConfig<ClientConfig<'c>> {
        &self.config
    }

    /// Every call ends, every question is void; the events tell.
    fn close(&mut self, reason: CloseReason) {
        if matches!(self.phase, Phase::Closed) {
            return;
        }
        if matches!(self.phase, Phase::Opening(_)) && reason == CloseReason::HungUp {
            self.connect_failed = Some(ConnectError::Closed);
        }
        self.phase = Phase::Closed;
        self.calls.sent.pinger.stop();
        self.initialized_owed = false;
        self.batch.clear();
        self.closed_untold = Some(reason);
        self.calls
            .sent
            .end_all(Cancellation::NotOwed, Failure::Closed);
        self.questions.end_all();
    }
}
