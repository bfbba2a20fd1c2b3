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

mod arrays;
mod ask;
mod config;
mod context;
mod event;
mod headers;
mod in_flight;
mod incoming;
mod legacy;
mod listen;
mod lists;
mod machine;
mod modern;
mod notify;
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

use arrays::Arrays;
use in_flight::{InFlight, Stage};
use questions::{Ended, Questions};
use session::Session;
use subscriptions::Subscriptions;

// Configuration.
pub use config::ServerConfig;

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
#[cfg(feature = "alloc")]
pub use crate::store::Growing;
pub use storage::{Fixed, OverHttp, Storage};

use crate::action::SendError;
use crate::config_error::ConfigError;
use crate::model::{ClientFeatures, ServerFeatures};
use crate::ping::{Pinger, Unwritten};
use crate::prepared_config::PreparedConfig;
use crate::revision::Revision;
use crate::rpc::Id;
use crate::sent::Cancellation;
use crate::slots::{Key, Queue, Slots};
use crate::store::Table;
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
pub struct Server<'c, S: Storage> {
    /// Its tokens are refused by all other machines.
    id: MachineId,
    config: PreparedConfig<ServerConfig<'c>>,
    /// The longest message that the output can ever hold.
    max_message: usize,
    requests: storage::Requests<S>,
    questions: Questions<S::Questions>,
    subscriptions: Subscriptions<S::Uris>,
    arrays: Arrays<S::Batch>,
    session: Session,
    /// Misses of the ping that were not reported yet.
    missed: Option<u32>,
    life: Lifecycle,
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
        let mut config = config.into();
        let least = config.least_output(S::ID_ECHO);
        let output = &mut config.config.limits.output;
        *output = (*output).max(least);
        if !S::Uris::HOLDS {
            let subscribe = ServerFeatures::RESOURCES_SUBSCRIBE;
            config.declared = config.declared().without(subscribe).to_bits();
        }
        let limits = &config.limits;
        let max_message = limits.max_message();
        let id = MachineId::next();
        Self {
            max_message,
            requests: Slots::new(storage.requests(), limits.in_flight),
            questions: Questions::new(
                storage.questions(),
                limits.in_flight,
                Pinger::new(
                    config.ping.filter(|_| S::Questions::HOLDS),
                    Unwritten::Waits,
                ),
                id,
            ),
            subscriptions: Subscriptions::new(
                storage.uris(),
                limits.subscription_bytes,
                limits.subscriptions,
            ),
            // An array that no outbox could ever hold must not be gathered.
            arrays: Arrays::new(storage.batch(), limits.batch_bytes.min(max_message)),
            session: Session::new(config.log_level),
            missed: None,
            life: Lifecycle::Open,
            config,
            id,
        }
    }

    /// Returns the configuration that the server was made with. After [`with_room`](Self::with_room), `limits.output` may be larger
    /// than was set.
    pub const fn config(&self) -> &PreparedConfig<ServerConfig<'c>> {
        &self.config
    }

    /// The revision of the legacy session, once `initialize` was answered.
    pub const fn revision(&self) -> Option<Revision> {
        self.session.revision()
    }

    /// Returns the features of the client of the legacy session.
    pub const fn client_features(&self) -> ClientFeatures {
        self.session.features
    }

    /// Returns the number of requests that the application still has to answer; listens are not
    /// among them.
    pub fn in_flight(&self) -> usize {
        self.requests
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

    fn entry(&self, token: Token) -> Option<&storage::Request<S>> {
        self.requests.get(token.key_in(self.id)?)
    }

    /// Tells what no outbox could ever hold from what only has to wait.
    fn bounded<T, E: Into<SendError>>(&self, written: Result<T, E>) -> Result<T, SendError> {
        written.map_err(|error| error.into().within(self.max_message))
    }

    /// The place of a request in the table.
    fn key(&self, token: Token) -> Result<Key, SendError> {
        token.key_in(self.id).ok_or(SendError::Stale)
    }

    /// A request that the application may still speak for.
    fn running(&self, token: Key) -> Result<&storage::Request<S>, SendError> {
        if self.is_closed() {
            return Err(SendError::Closed);
        }
        self.requests
            .get(token)
            .filter(|request| request.is_running())
            .ok_or(SendError::Stale)
    }

    /// Ends every request and every question, as if the client had cancelled them: the events
    /// are polled. For the end of an orderly shutdown; listens end with their result, as long
    /// as the driver drains [`poll_transmit`](crate::Machine::poll_transmit).
    pub fn cancel_all(&mut self) {
        let mut at = 0;
        while let Some(token) = self.requests.next_key(&mut at) {
            match self.requests.get(token).map(|request| request.stage) {
                Some(Stage::Running) => self.end_request(token),
                Some(Stage::Listening(_)) => self.end_listen_at(token),
                _ => {}
            }
        }
        self.questions.end_all(Cancellation::Owed, Ended::Cancelled);
    }

    /// Takes a request out of the table, with everything that hangs on it.
    fn release(&mut self, token: Key) {
        self.detach(token);
        self.requests.remove(token);
    }

    /// Takes away everything that hangs on a request, which is over with that.
    fn detach(&mut self, token: Key) {
        let Some(request) = self.requests.get_mut(token) else {
            return;
        };
        // Looked at where it is: a slot is large, and moving it out would copy it.
        let (batched, asked) = (request.batched, request.asked);
        let subscribes = request.traits.subscribes;
        let listens = matches!(request.stage, Stage::Listening(_));
        request.pace.clear();
        if batched {
            self.arrays.batch.close();
        }
        if listens {
            self.subscriptions.end_listen();
        }
        if listens || subscribes {
            self.subscriptions.remove_all(token);
        }
        if asked {
            self.questions.end_children(token);
        }
    }

    /// Ends a request on our side: a polled event notifies the application.
    fn end_request(&mut self, token: Key) {
        let Some(request) = self.requests.get_mut(token) else {
            return;
        };
        let batched = core::mem::take(&mut request.batched);
        if matches!(request.stage, Stage::Listening(_)) {
            self.subscriptions.end_listen();
            self.subscriptions.remove_all(token);
        }
        request.stage = Stage::Ended;
        request.pace.clear();
        if batched {
            self.arrays.batch.close();
        }
        self.requests.arm(token, None);
        self.requests.unmark(Queue::Transmit, token);
        self.requests.mark(Queue::Event, token);
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
        while let Some(token) = self.requests.next_key(&mut at) {
            let Some(request) = self.requests.get(token) else {
                continue;
            };
            match request.stage {
                // The application knows already.
                Stage::Refused => self.release(token),
                Stage::Listening(_) if request.is_ending() => self.release(token),
                Stage::Running | Stage::Listening(_) => self.end_request(token),
                Stage::Silent => {
                    self.requests.remove(token);
                }
                Stage::Ended => {}
            }
        }
        self.questions.end_all(Cancellation::NotOwed, Ended::Closed);
        self.arrays.clear();
        self.questions.pinger.stop();
        self.session.announce = false;
    }
}

impl<S: Storage> fmt::Debug for Server<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("life", &self.life)
            .field("session", &self.session)
            .field("requests", &self.requests.len())
            .field("listens", &self.subscriptions.listens())
            .field("questions", &self.questions.table.len())
            .finish_non_exhaustive()
    }
}
