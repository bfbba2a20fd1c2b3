//! Requests and notifications of the era with a handshake.

use super::context::Members;
use super::reply::{Initialize, Reply, ReplyKind};
use super::session::Phase;
use super::subscriptions::{Full, Owner};
use super::{Event, PeerError, Server, Storage};
use crate::action::{Action, IgnoreReason};
use crate::json::{Object, Raw, Str};
use crate::model::{ClientFeatures, LoggingLevel, keys};
use crate::rpc::{Id, Method};
use crate::source::Arrival;
use crate::time::Instant;

impl<S: Storage> Server<'_, S> {
    /// A request without modern `_meta`.
    pub(super) fn legacy_request<'b>(
        &mut self,
        from: &Arrival<'_, S::Place>,
        id: Id<'b>,
        method: Method<'b>,
        params: Option<Object<'b>>,
        members: Members<'b>,
    ) -> Result<Action<Event<'b>, Reply<'b>>, PeerError> {
        let core = |kind| Reply::to(Some(id), kind);
        if let Some(head) = from.head() {
            self.check_draft(from, head, method, &members)?;
        }
        match method {
            Method::Initialize => return self.initialize(from, id, params),
            // VR-24, VR-03: it can only be meant for the modern era.
            Method::ServerDiscover if self.config.revisions.newest_modern().is_some() => {
                return Err(MISSING_VERSION);
            }
            Method::Ping if self.config.has_legacy() => {
                return Ok(self.answer(from, core(ReplyKind::Pong)));
            }
            // VR-25
            Method::Ping => return Err(PeerError::UnknownMethod),
            _ if !self.config.has_legacy() => return Err(MISSING_VERSION),
            _ => {}
        }
        let revision = self.session.revision().ok_or(PeerError::NotInitialized)?;
        // LC-14: a lost notification must not mute the server.
        if self.session.ready() {
            self.session.announce = true;
        }
        if !self.serves(method, revision) {
            return Err(PeerError::UnknownMethod);
        }
        if method == Method::LoggingSetLevel {
            let level = log_level(params)?;
            return Ok(self.answer(from, core(ReplyKind::LogLevel(level))));
        }
        let asked = members.settle(
            method,
            revision,
            self.session.features,
            Some(self.session.log_level),
        )?;
        let key = self.admit(from, id, method, &asked)?;
        match (method, asked.context.subject) {
            // It counts once the application has agreed.
            (Method::ResourcesSubscribe, Some(uri)) => {
                let added = self.add_uri(Owner::Request(key), uri);
                if added.is_err() {
                    self.release(key);
                    return Err(PeerError::TooManySubscriptions);
                }
            }
            (Method::ResourcesUnsubscribe, Some(uri)) => self.unsubscribe(uri),
            _ => {}
        }
        Ok(Action::Event(Event::Request {
            token: self.requests.token(key),
            method,
            params: params.unwrap_or(Object::EMPTY),
            context: asked.context,
        }))
    }

    /// Notifications of the legacy era; progress of our questions too.
    pub(super) fn legacy_notification<'b>(
        &mut self,
        now: Instant,
        method: Method<'b>,
        params: Option<Object<'b>>,
    ) -> Action<Event<'b>, Reply<'b>> {
        let facts = method.facts();
        let Some(revision) = self.session.revision() else {
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
            Method::Initialized if self.session.ready() => Action::Event(Event::Initialized),
            Method::Initialized => Action::Done,
            Method::Progress => self
                .questions
                .take_progress(now, params.unwrap_or(Object::EMPTY)),
            Method::Other(name) if self.is_own(name) => Action::Event(event),
            Method::Other(_) | Method::CancelRequest => {
                Action::Ignore(IgnoreReason::UnknownNotification)
            }
            _ if facts.is_notification() && facts.client.contains(revision) => Action::Event(event),
            _ => Action::Ignore(IgnoreReason::Misplaced),
        }
    }

    /// The handshake: LC-03, LC-04, LC-13, LC-15.
    // Not inlined: the stack of every other message would have room for its variables.
    #[inline(never)]
    fn initialize<'b>(
        &mut self,
        from: &Arrival<'_, S::Place>,
        id: Id<'b>,
        params: Option<Object<'b>>,
    ) -> Result<Action<Event<'b>, Reply<'b>>, PeerError> {
        if self.requests.batch().is_reading() {
            return Err(PeerError::InitializeInBatch);
        }
        if self.session.phase != Phase::Fresh {
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
            return Ok(self.answer(
                from,
                Reply::refusal(Some(id), PeerError::NoVersion, version),
            ));
        };
        let Some(revision) = self.config.negotiate(offered.revision()) else {
            let error = PeerError::UnsupportedVersion;
            return Ok(self.answer(from, Reply::refusal(Some(id), error, version)));
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
        Ok(self.answer(from, Reply::to(Some(id), ReplyKind::Initialize(opened))))
    }

    /// Forgets a URI, agreed or still to be (RS-16).
    fn unsubscribe(&mut self, uri: Str<'_>) {
        let Self {
            subscriptions,
            requests,
            ..
        } = self;
        subscriptions.remove(uri, |key| {
            requests
                .table
                .get(key)
                .is_some_and(|request| request.traits.subscribes)
        });
    }

    /// Adds the URI to the subscriptions of this owner, if there is room.
    pub(super) fn add_uri(&mut self, owner: Owner, uri: Str<'_>) -> Result<(), Full> {
        self.subscriptions
            .add(owner, uri, self.requests.max_message())
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
