//! A legacy session: its handshake, its requests and notifications, and its state.

use super::config::ServerSettings;
use super::context::{Admission, Members};
use super::lists::{ListKind, Lists};
use super::reply::{Initialize, Reply, ReplyKind};
use super::{Event, PeerError, ServerConfig, SessionSnapshot, Storage};
use crate::action::{Action, IgnoreReason};
use crate::json::{Object, Raw};
use crate::model::{ClientFeatures, LoggingLevel, keys};
use crate::prepared_config::PreparedConfig;
use crate::revision::Revision;
use crate::rpc::{Id, Method};

/// ```text
///        initialize answered          initialized, or a request
/// Fresh ─────────────────────► Answered ─────────────────────► Ready
/// ```
///
/// Modern requests are served in every phase (VR-19).
#[derive(Debug)]
pub(super) struct Session {
    phase: Phase,
    features: ClientFeatures,
    log_level: LoggingLevel,
    /// Lists whose change was not told yet.
    changed: Lists,
    /// It is one of exchanges over HTTP, and not a pipe.
    by_exchanges: bool,
    /// The application is still to hear that the session is open.
    announce: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// No handshake yet.
    Fresh,
    /// `initialize` was answered: requests are served, but ours wait (LC-08, LC-14).
    Answered(Revision),
    /// Both sides may speak.
    Ready(Revision),
}

impl Session {
    pub(super) const fn new(log_level: LoggingLevel) -> Self {
        Self {
            phase: Phase::Fresh,
            features: ClientFeatures::NONE,
            log_level,
            changed: Lists::NONE,
            by_exchanges: false,
            announce: false,
        }
    }

    /// The negotiated revision.
    pub(super) const fn revision(&self) -> Option<Revision> {
        match self.phase {
            Phase::Fresh => None,
            Phase::Answered(revision) | Phase::Ready(revision) => Some(revision),
        }
    }

    /// The negotiated revision, if the server may ask and notify.
    pub(super) const fn ready_revision(&self) -> Option<Revision> {
        match self.phase {
            Phase::Ready(revision) => Some(revision),
            Phase::Fresh | Phase::Answered(_) => None,
        }
    }

    pub(super) const fn features(&self) -> ClientFeatures {
        self.features
    }

    pub(super) const fn log_level(&self) -> LoggingLevel {
        self.log_level
    }

    pub(super) const fn set_log_level(&mut self, level: LoggingLevel) {
        self.log_level = level;
    }

    /// Returns true if the session is one of exchanges over HTTP.
    pub(super) const fn is_by_exchanges(&self) -> bool {
        self.by_exchanges
    }

    /// Its `initialize` was answered.
    pub(super) const fn open(&mut self, opened: &Initialize<'_>, by_exchanges: bool) {
        self.phase = Phase::Answered(opened.revision);
        self.features = opened.features;
        self.by_exchanges = by_exchanges;
    }

    /// Continues a session over HTTP, in place of a handshake.
    pub(super) fn resume(&mut self, snapshot: &SessionSnapshot) {
        self.phase = match snapshot.ready {
            true => Phase::Ready(snapshot.revision),
            false => Phase::Answered(snapshot.revision),
        };
        self.features = snapshot.features;
        self.by_exchanges = true;
        self.log_level = snapshot.log_level.unwrap_or(self.log_level);
    }

    /// Returns what another process needs to continue this session; `None` before its handshake.
    pub(super) fn snapshot(&self, next_id: u64) -> Option<SessionSnapshot> {
        Some(SessionSnapshot {
            revision: self.revision()?,
            features: self.features,
            log_level: Some(self.log_level),
            ready: self.ready_revision().is_some(),
            next_id,
        })
    }

    /// Returns, once, that a request has shown that the client is ready.
    pub(super) const fn take_announcement(&mut self) -> bool {
        core::mem::replace(&mut self.announce, false)
    }

    /// Notes a change of a list for the client, unless there is no session.
    pub(super) const fn note_change(&mut self, kind: ListKind) {
        if self.revision().is_some() {
            self.changed = self.changed.with(kind);
        }
    }

    /// The next changed list of which the client is to be notified; it waits until it is ready (LC-26).
    pub(super) fn next_change(&self) -> Option<ListKind> {
        self.ready_revision().and_then(|_| self.changed.first())
    }

    /// The client was notified of the change.
    pub(super) const fn forget_change(&mut self, kind: ListKind) {
        self.changed = self.changed.without(kind);
    }

    /// Accepts a request without modern `_meta`.
    pub(super) fn admit<'s, 'b, S: Storage>(
        &mut self,
        config: &PreparedConfig<impl ServerSettings<'s>>,
        id: Id<'b>,
        method: Method<'b>,
        params: Option<Object<'b>>,
        members: &Members<'b>,
    ) -> Result<Admission<'b>, PeerError> {
        let core = |kind| Ok(Admission::Answer(Reply::to(Some(id), kind)));
        match method {
            Method::Initialize => {
                return self
                    .initialize::<S>(config, id, params)
                    .map(Admission::Answer);
            }
            // VR-24, VR-03: it can only be meant for the modern era.
            Method::ServerDiscover if config.revisions.has_modern() => {
                return Err(MISSING_VERSION);
            }
            Method::Ping if config.revisions.has_legacy() => return core(ReplyKind::Pong),
            // VR-25
            Method::Ping => return Err(PeerError::UnknownMethod),
            _ if !S::LEGACY || !config.revisions.has_legacy() => return Err(MISSING_VERSION),
            _ => {}
        }
        let revision = self.revision().ok_or(PeerError::NotInitialized)?;
        // LC-14: a lost notification must not mute the server.
        if self.become_ready() {
            self.announce = true;
        }
        if !config.serves(method, revision) {
            return Err(PeerError::UnknownMethod);
        }
        if method == Method::LoggingSetLevel {
            return core(ReplyKind::LogLevel(log_level(params)?));
        }
        members.settle(method, revision, self.features, Some(self.log_level))
    }

    /// Handles a notification of the client, other than one about a request or a question.
    pub(super) fn notification<'s, 'b, S: Storage>(
        &mut self,
        config: &PreparedConfig<impl ServerSettings<'s>>,
        method: Method<'b>,
        params: Option<Object<'b>>,
    ) -> Action<Event<'b>, Reply<'b>> {
        let facts = method.facts();
        let Some(revision) = self.revision().filter(|_| S::LEGACY) else {
            return Action::Ignore(if facts.client.is_empty() {
                IgnoreReason::UnknownNotification
            } else {
                IgnoreReason::Misplaced
            });
        };
        let event = Event::Notification {
            method,
            params: params.unwrap_or(Object::EMPTY),
        };
        match method {
            Method::Initialized if self.become_ready() => Action::Event(Event::Initialized),
            Method::Initialized => Action::Done,
            Method::Other(name) if config.texts().has_method(name) => Action::Event(event),
            Method::Other(_) | Method::CancelRequest => {
                Action::Ignore(IgnoreReason::UnknownNotification)
            }
            _ if facts.is_notification() && facts.client.contains(revision) => Action::Event(event),
            _ => Action::Ignore(IgnoreReason::Misplaced),
        }
    }

    /// The client is ready. Returns whether that is news.
    const fn become_ready(&mut self) -> bool {
        let Phase::Answered(revision) = self.phase else {
            return false;
        };
        self.phase = Phase::Ready(revision);
        true
    }

    /// The handshake: LC-03, LC-04, LC-13, LC-15.
    // Not inlined: the stack of every other message would have room for its variables.
    #[inline(never)]
    fn initialize<'b, S: Storage>(
        &self,
        config: &ServerConfig<'_>,
        id: Id<'b>,
        params: Option<Object<'b>>,
    ) -> Result<Reply<'b>, PeerError> {
        if self.phase != Phase::Fresh {
            return Err(PeerError::AlreadyInitialized);
        }
        const KEYS: [&str; 3] = ["protocolVersion", "capabilities", "clientInfo"];
        let [version, capabilities, client_info] = params
            .unwrap_or(Object::EMPTY)
            .find(KEYS)
            .map_err(|double| {
                PeerError::Doubled(KEYS.get(double.key).copied().unwrap_or_default())
            })?;
        let Some(offered) = version.and_then(Raw::string) else {
            return Ok(Reply::refusal(Some(id), PeerError::NoVersion, version));
        };
        let negotiated = config.negotiate(offered.revision()).filter(|_| S::LEGACY);
        let Some(revision) = negotiated else {
            let error = PeerError::UnsupportedVersion;
            return Ok(Reply::refusal(Some(id), error, version));
        };
        let capabilities = match capabilities {
            Some(raw) => raw.object().ok_or(PeerError::Missing("capabilities"))?,
            // The schema wants them, but nothing goes wrong without.
            None => Object::EMPTY,
        };
        // LC-01
        let client_info = client_info
            .and_then(Raw::object)
            .ok_or(PeerError::Missing("clientInfo"))?;
        let features = ClientFeatures::read(Some(capabilities)).known_in(revision);
        let opened = Initialize {
            revision,
            offered,
            features,
            capabilities,
            client_info,
        };
        Ok(Reply::to(Some(id), ReplyKind::Initialize(opened)))
    }
}

fn log_level(params: Option<Object<'_>>) -> Result<LoggingLevel, PeerError> {
    let [level] = params
        .unwrap_or(Object::EMPTY)
        .find(["level"])
        .map_err(|_| PeerError::Doubled("level"))?;
    level
        .and_then(Raw::string)
        .and_then(LoggingLevel::parse)
        .ok_or(PeerError::LogLevel)
}

const MISSING_VERSION: PeerError = PeerError::MissingMeta(keys::PROTOCOL_VERSION);
