//! The server role.
//!
//! A [`Server`] is the state of one connection. It serves both eras at once: each request names the era
//! to which it belongs, and a notification belongs to the era of the request that it names (VR-18,
//! VR-24). This module holds what the eras share, such as the table of ids.
//!
//! | Task | Use |
//! |---|---|
//! | Create a server | [`ServerConfig`], [`Server::new`] with [`Fixed`] or `Growing` (feature `alloc`) |
//! | Create many servers of one configuration | [`PreparedConfig`] |
//! | Answer requests | [`Event::Request`], [`RequestContext`], [`Server::respond`] |
//! | Report progress and log | [`Server::progress`], [`Server::log`] |
//! | Report changes | [`Server::list_changed`], [`Server::resource_updated`] |
//! | Serve an extension | [`CustomMethod`](crate::CustomMethod), [`Server::acknowledge`], [`Server::notify_for`] |
//! | Ask the client | [`Server::ask`]; since 2026-07-28 [`Outcome::Input`](crate::Outcome::Input) |
//! | Serve HTTP | `server::http` (feature `alloc`), or [`http`](crate::http) with [`OverHttp`] |

mod config;
mod constant;
mod context;
mod event;
mod headers;
mod in_flight;
mod incoming;
mod listen;
mod lists;
mod machine;
mod modern;
mod notify;
mod outcome;
mod pace;
mod peer_error;
mod prepared;
mod progress;
mod question_check;
mod questions;
mod reply;
mod respond;
mod result_members;
mod session;
mod session_snapshot;
mod status;
mod storage;
mod subscriptions;
mod transmit;

#[cfg(feature = "alloc")]
pub mod http;

use core::fmt;
use core::marker::PhantomData;

use headers::HeadRules;
use in_flight::InFlight;
use listen::Listen;
use questions::{Ended, Questions};
use session::Session;
use subscriptions::{Owner, Subscriptions};

// Configuration.
pub use config::{ServerConfig, ServerSettings};
pub use constant::{Constant, ConstantConfig, ConstantServer};

// Events, and the answers of the core.
pub use context::RequestContext;
pub use event::{Answer, Event};
pub use peer_error::PeerError;
pub use reply::{Initialize, Reply, ReplyKind};

// Arguments of commands.
pub use lists::ListKind;
pub use pace::ProgressReport;
pub use question_check::check_question;
pub use questions::AskOptions;
pub use session_snapshot::SessionSnapshot;

// Storage.
pub use crate::store::Fixed;
#[cfg(feature = "alloc")]
pub use crate::store::Growing;
pub use storage::{LegacyOnly, ModernOnly, OverHttp, Storage, WithoutSubscriptions};

use crate::action::SendError;
use crate::config_error::ConfigError;
use crate::model::ClientFeatures;
use crate::ping::{Pinger, Unwritten};
use crate::prepared_config::{Config, PreparedConfig};
use crate::received::{ReceivedRequest, ReceivedRequests, Stage};
use crate::revision::Revision;
use crate::rpc::Id;
use crate::sent::Cancellation;
use crate::slots::Key;
use crate::source::Place;
use crate::time::Instant;
use crate::token::{MachineId, Token};

/// The server's side of one connection: a state machine without bytes, clock or IO.
///
/// - Inputs: [`handle`](crate::Machine::handle), [`handle_timeout`](crate::Machine::handle_timeout),
///   [`hang_up`](crate::Machine::hang_up), and [`unhandle`](crate::Machine::unhandle).
/// - Commands: [`respond`](Self::respond), [`progress`](Self::progress),
///   [`flush_progress`](Self::flush_progress), [`log`](Self::log),
///   [`ask`](Self::ask), [`cancel`](Self::cancel), [`notify`](Self::notify),
///   [`notify_for`](Self::notify_for), [`acknowledge`](Self::acknowledge),
///   [`list_changed`](Self::list_changed), [`resource_updated`](Self::resource_updated),
///   [`end_listen`](Self::end_listen), [`cancel_all`](Self::cancel_all).
/// - Polls: [`poll_transmit`](crate::Machine::poll_transmit), [`poll_event`](crate::Machine::poll_event),
///   [`poll_timeout`](crate::Machine::poll_timeout); any of the above may change their answers.
/// - Getters: all others.
///
/// A method that writes a message writes it whole or not at all: `BufferFull` states how much room
/// the message takes, and nothing has changed. An answer of the core itself comes as
/// [`Action::Reply`](crate::Action::Reply), and the caller gives it to [`reply`](crate::Machine::reply).
///
/// ```
/// use mcp_proto::json::Raw;
/// use mcp_proto::rpc::{Incoming, Message};
/// use mcp_proto::server::{Event, Fixed, Server, ServerConfig};
/// use mcp_proto::{Action, Instant, Machine, Outcome, Pipe};
///
/// let mut server = Server::new(ServerConfig::new("demo", "1.0"), Fixed::new())?;
/// let ping = Message::parse(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, 16);
/// let mut out = [0; 1024];
/// match server.handle(Instant::ZERO, &Pipe, Incoming::Message(ping)) {
///     Action::Reply(reply) => {
///         let transmit = server.reply(Instant::ZERO, reply, &mut out).unwrap();
///         assert_eq!(&out[..transmit.len], br#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
///     }
///     other => panic!("a ping is answered in every phase, not {other:?}"),
/// }
/// # Ok::<(), mcp_proto::ConfigError>(())
/// ```
pub struct Server<'c, S: Storage, C: Config = ServerConfig<'c>> {
    config: PreparedConfig<C>,
    requests: storage::Requests<S>,
    questions: Questions<S::Questions>,
    subscriptions: Subscriptions<S::Uris>,
    session: Session,
    /// Misses of the ping that were not reported yet.
    missed: Option<u32>,
    life: Lifecycle,
    /// The lifetime of the texts, which that of `C` does not depend on: two lifetimes that are independent let a generic `async` block
    /// prove its bounds for any two.
    texts: PhantomData<&'c ()>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lifecycle {
    Open,
    /// Over; the application must still be notified.
    Closing,
    Closed,
}

impl<'c, S: Storage> Server<'c, S> {
    /// Creates a server of a [`ServerConfig`] or of a [`PreparedConfig`]. Nothing was received yet.
    ///
    /// # Errors
    ///
    /// [`ConfigError`] says what is wrong with the configuration.
    pub fn new(
        config: impl Into<PreparedConfig<ServerConfig<'c>>>,
        storage: S,
    ) -> Result<Self, ConfigError> {
        let config = config.into();
        config.check::<S>()?;
        Ok(Self::with_room(config, storage))
    }

    /// Creates a server, as [`new`](Self::new) does, without a check: [`Limits::output`](crate::Limits::output) is raised to one
    /// answer of the core if it is less. Requests for subscriptions are refused, and no pings are sent, if the storage has no room
    /// for them. Other mistakes stay: of two methods with one name the first counts. Call [`PreparedConfig::check`] first.
    pub fn with_room(config: impl Into<PreparedConfig<ServerConfig<'c>>>, storage: S) -> Self {
        let config = config.into();
        let in_flight = config.limits.in_flight;
        Self::with_in_flight(config, in_flight, storage)
    }

    /// Creates a server of the configuration `T::CONFIG`. The machine does not store it, and code that it does not use is not
    /// linked.
    ///
    /// ```
    /// use mcp_proto::server::{ConstantConfig, Fixed, Server, ServerConfig};
    ///
    /// struct Demo;
    ///
    /// impl ConstantConfig for Demo {
    ///     const CONFIG: ServerConfig<'static> = ServerConfig::new("demo", "1.0");
    /// }
    ///
    /// let server = Server::constant::<Demo>(Fixed::new())?;
    /// assert_eq!(server.config().info.name, *"demo");
    /// # Ok::<(), mcp_proto::ConfigError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new); all of them depend on `T` and `S` alone.
    pub fn constant<T: ConstantConfig>(storage: S) -> Result<ConstantServer<T, S>, ConfigError> {
        let config = PreparedConfig::from(Constant::<T, S>::NEW);
        config.check::<S>()?;
        let in_flight = config.limits.in_flight;
        Ok(Server::prepared(config, in_flight, storage))
    }

    /// Creates a server, as [`with_room`](Self::with_room) does, for so many [requests in flight](crate::Limits::in_flight) instead
    /// of those of the configuration: one, if it serves the one request of a POST.
    pub fn with_in_flight(
        config: PreparedConfig<ServerConfig<'c>>,
        in_flight: usize,
        storage: S,
    ) -> Self {
        Self::prepared(config, in_flight, storage)
    }
}

impl<'c, S: Storage, C: ServerSettings<'c>> Server<'_, S, C> {
    fn prepared(mut config: PreparedConfig<C>, in_flight: usize, storage: S) -> Self {
        let output = config.limits.output.max(config.least_output(S::ID_ECHO));
        let declared = config.declared().without(S::LACKS);
        let revisions = S::served(config.revisions);
        // Few machines need another configuration than was prepared, and those that do not share it.
        if output != config.limits.output
            || declared != config.declared()
            || revisions != config.revisions
        {
            let parts = config.parts_mut();
            parts.declared = declared.to_bits();
            if let Some(settings) = parts.config.settings_mut() {
                settings.limits.output = output;
                settings.revisions = revisions;
            }
        }
        let limits = &config.limits;
        // Its tokens are refused by all other machines.
        let machine = MachineId::next();
        Self {
            requests: ReceivedRequests::new(
                (storage.requests(), in_flight),
                (storage.batch(), limits.batch_bytes),
                limits.max_message(),
                machine,
            ),
            questions: Questions::new(
                storage.questions(),
                in_flight,
                Pinger::new(config.ping, Unwritten::Waits),
                machine,
            ),
            subscriptions: Subscriptions::new(
                storage.uris(),
                limits.subscription_bytes,
                limits.subscriptions,
            ),
            session: Session::new(config.log_level),
            missed: None,
            life: Lifecycle::Open,
            texts: PhantomData,
            config,
        }
    }

    /// Returns the configuration that the server was made with. After [`with_room`](Self::with_room), `limits.output` may be larger
    /// than was set.
    pub const fn config(&self) -> &PreparedConfig<C> {
        &self.config
    }

    /// The revision of the legacy session, once `initialize` was answered.
    pub const fn revision(&self) -> Option<Revision> {
        self.session.revision()
    }

    /// Returns the features of the client of the legacy session.
    pub const fn client_features(&self) -> ClientFeatures {
        self.session.features()
    }

    /// Returns the number of requests that the application still has to answer; listens are not
    /// among them.
    pub fn in_flight(&self) -> usize {
        self.requests
            .table
            .len()
            .saturating_sub(self.subscriptions.listens())
    }

    /// Returns true if this request is still to be answered.
    pub fn is_live(&self, token: Token) -> bool {
        self.entry(token).is_some_and(InFlight::is_running)
    }

    /// The id that the client gave this request, for logs.
    pub fn request_id(&self, token: Token) -> Option<Id<'_>> {
        self.entry(token).map(InFlight::id)
    }

    /// Returns true if the connection is over.
    pub fn is_closed(&self) -> bool {
        self.life != Lifecycle::Open
    }

    /// Returns whether any client subscribed to the resource at `uri`: others need not be
    /// watched.
    pub fn is_watched(&self, uri: &str) -> bool {
        self.subscriptions.covers(uri)
    }

    /// The URIs that clients subscribed to, of the legacy session and of each subscription of 2026-07-28: one that several have
    /// comes several times.
    pub fn watched(&self) -> impl Iterator<Item = &str> {
        self.subscriptions.all()
    }

    /// Continues a legacy session over HTTP, in place of a handshake.
    pub fn resume(&mut self, now: Instant, snapshot: &SessionSnapshot) {
        self.session.resume(snapshot);
        self.questions.go_on_from(snapshot.next_id);
        self.questions.start_pings(now);
    }

    /// Returns what another process needs to continue this session; `None` before its handshake.
    pub fn snapshot(&self) -> Option<SessionSnapshot> {
        self.session.snapshot(self.questions.next_id())
    }

    /// The URIs that the client of the legacy session subscribed to.
    pub fn subscriptions(&self) -> impl Iterator<Item = &str> {
        self.subscriptions.of(Owner::Session)
    }

    /// Restores one of them. Returns whether there was room: see
    /// [`Limits::subscription_bytes`](crate::Limits::subscription_bytes), and the bytes of a storage
    /// of arrays.
    pub fn subscribe(&mut self, uri: &str) -> bool {
        let max_message = self.requests.max_message();
        let added = self
            .subscriptions
            .add(Owner::Session, uri.into(), max_message);
        added.is_ok()
    }

    /// Returns true if the server serves a legacy session over HTTP that is held to the transports
    /// draft of spring 2026: `Mcp-Param-*`, which the application has to check, are demanded there,
    /// and numbers may be annotated.
    pub fn is_held_to_draft(&self) -> bool {
        self.head_rules().is_session_draft()
    }

    fn head_rules(&self) -> HeadRules {
        HeadRules::new(&self.config, &self.session, S::Place::MANY)
    }

    fn entry(&self, token: Token) -> Option<&storage::Request<S>> {
        self.requests.table.get(self.requests.key(token).ok()?)
    }

    /// A request that the application may still speak for.
    fn running(&self, key: Key) -> Result<&storage::Request<S>, SendError> {
        if self.is_closed() {
            return Err(SendError::Closed);
        }
        let request = self.requests.running(key)?;
        match request.listen {
            Some(_) => Err(SendError::Stale),
            None => Ok(request),
        }
    }

    /// Ends every request and every question, as if the client had cancelled them: the events
    /// are polled. For the end of an orderly shutdown; listens end with their result, as long
    /// as the driver drains [`poll_transmit`](crate::Machine::poll_transmit).
    pub fn cancel_all(&mut self) {
        let mut at = 0;
        while let Some(key) = self.requests.table.next_key(&mut at) {
            if let Ok(request) = self.requests.running(key) {
                match request.listen {
                    None => self.end_request(key),
                    Some(_) => self.end_listen_at(key),
                }
            }
        }
        self.questions.end_all(Cancellation::Owed, Ended::Cancelled);
    }

    /// Takes a request out of the table, with everything that hangs on it.
    fn release(&mut self, key: Key) {
        self.detach(key);
        self.requests.remove(key);
    }

    /// Takes out a request that has no answer: over HTTP its channel is still to end.
    fn retire(&mut self, key: Key) {
        self.detach(key);
        match self.is_closed() {
            true => drop(self.requests.remove(key)),
            false => self.requests.retire(key),
        }
    }

    /// Ends a request on our side: a polled event notifies the application.
    fn end_request(&mut self, key: Key) {
        if let Some(request) = self.requests.table.get_mut(key) {
            request.drop_held();
            if request.listen.take().is_some() {
                self.subscriptions.end_listen();
                self.subscriptions.remove_all(key);
            }
        }
        self.requests.end(key);
    }

    /// Takes away everything that hangs on a request, which is over with that.
    fn detach(&mut self, key: Key) {
        let Some(request) = self.requests.table.get_mut(key) else {
            return;
        };
        let asked = core::mem::take(&mut request.asked);
        let subscribes = core::mem::take(&mut request.traits.subscribes);
        let listens = request.listen.take().is_some();
        request.drop_held();
        if listens {
            self.subscriptions.end_listen();
        }
        if listens || subscribes {
            self.subscriptions.remove_all(key);
        }
        if asked {
            self.questions.end_children(key);
        }
    }

    /// Returns true if errors without an id are written with the id `null` (JR-51).
    fn null_id(&self) -> bool {
        let revision = self.session.revision();
        self.config.null_ids && revision.is_some_and(Revision::allows_null_error_id)
    }

    fn close(&mut self) {
        if self.life != Lifecycle::Open {
            return;
        }
        self.life = Lifecycle::Closing;
        let mut at = 0;
        while let Some(key) = self.requests.table.next_key(&mut at) {
            let Some(request) = self.requests.table.get(key) else {
                continue;
            };
            match request.received().stage() {
                Stage::Running if !request.listen.is_some_and(Listen::is_ending) => {
                    self.end_request(key);
                }
                // The application knows already.
                Stage::Running | Stage::Refused | Stage::Silent => self.release(key),
                Stage::Ended => {}
            }
        }
        self.questions.end_all(Cancellation::NotOwed, Ended::Closed);
        self.requests.batch.clear();
        self.questions.pinger.stop();
        self.session.take_announcement();
    }
}

impl<S: Storage, C: Config> fmt::Debug for Server<'_, S, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("life", &self.life)
            .field("session", &self.session)
            .field("requests", &self.requests.table.len())
            .field("listens", &self.subscriptions.listens())
            .field("questions", &self.questions.table.len())
            .finish_non_exhaustive()
    }
}
