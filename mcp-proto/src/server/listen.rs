//! Subscriptions of 2026-07-28: `subscriptions/listen` (SB-01 to SB-14).

use super::arrival::Arrival;
use super::context::Asked;
use super::in_flight::{InFlight, Listen, Stage, Step};
use super::lists::{ListKind, Lists};
use super::reply::Reply;
use super::respond::{status_of, write_error};
use super::uris::Owner;
use super::{Event, PeerError, Server, Storage};
use crate::action::{Action, Channel, SendError, Transmit};
use crate::id_buf::IdStorage;
use crate::json::{Object, Raw, Writer};
use crate::model::ServerFeatures;
use crate::payload::Outcome;
use crate::rpc::{Id, Method, envelope};
use crate::slots::{Key, Queue};
use crate::token::Token;

impl<S: Storage> Server<'_, S> {
    /// Accepts a listen: what it asks for and is served, and nothing else (SB-01, SB-02).
    pub(super) fn listen<'b>(
        &mut self,
        from: &Arrival<'_>,
        id: Id<'b>,
        params: Object<'b>,
        asked: &Asked<'b>,
    ) -> Result<Action<Event<'b>, Reply<'b>>, PeerError> {
        let [filter] = params
            .find(["notifications"])
            .map_err(|_| PeerError::Doubled("notifications"))?;
        let filter = filter
            .and_then(Raw::object)
            .ok_or(PeerError::Missing("notifications"))?;
        let [tools, prompts, resources, uris] = filter
            .find([
                ListKind::Tools.filter(),
                ListKind::Prompts.filter(),
                ListKind::Resources.filter(),
                RESOURCES,
            ])
            .map_err(|_| PeerError::Doubled("notifications"))?;
        let mut wanted = Lists::NONE;
        for (kind, flag) in ListKind::ALL.into_iter().zip([tools, prompts, resources]) {
            if flag.and_then(Raw::boolean) == Some(true) && self.tells_of(kind) {
                wanted = wanted.with(kind);
            }
        }
        let uris = match uris {
            Some(uris) => Some(uris.array().ok_or(PeerError::Missing(RESOURCES))?),
            None => None,
        };
        let served = uris.filter(|_| {
            S::WATCHES
                && self
                    .config
                    .declared
                    .contains(ServerFeatures::RESOURCES_SUBSCRIBE)
        });
        let token = self.admit(from, id, Method::SubscriptionsListen, asked)?;
        if let Some(request) = self.requests.get_mut(token) {
            request.stage = Stage::Listening(Listen {
                wanted,
                changed: Lists::NONE,
                resources: served.is_some(),
                step: Step::Acknowledge,
            });
        }
        self.subscriptions.begin_listen();
        for uri in served.into_iter().flat_map(|uris| uris.elements()) {
            let added = match uri.string().filter(|uri| uri.is_exact()) {
                Some(uri) => self
                    .add_uri(Owner::Request(token), uri)
                    .map_err(|_| PeerError::TooManySubscriptions),
                None => Err(PeerError::Missing(RESOURCES)),
            };
            if let Err(error) = added {
                self.release(token);
                return Err(error);
            }
        }
        // An acknowledgement that no outbox could ever hold would block all following messages.
        let mut counting = Writer::counting();
        self.write_acknowledgement(token, &mut counting);
        if counting.len() > self.max_message {
            self.release(token);
            return Err(PeerError::TooManySubscriptions);
        }
        self.requests.mark(Queue::Transmit, token);
        Ok(Action::Event(Event::Listening {
            token: Token::new(token, self.id),
            context: asked.context,
        }))
    }

    /// Says that a list changed (TL-02): to the legacy client, once it is ready, and to every
    /// listen that asked for it. Several changes before the next notification are reported
    /// once.
    ///
    /// It does nothing where the capability's `listChanged` is not declared.
    ///
    /// ```
    /// # use mcp_proto::model::ServerFeatures;
    /// # use mcp_proto::server::{Fixed, OverHttp, Server, ServerConfig, SessionSnapshot};
    /// # use mcp_proto::{Channel, Instant, Machine, Revision};
    /// # let config = ServerConfig { capabilities: ServerFeatures::TOOLS.with(ServerFeatures::TOOLS_LIST_CHANGED).capabilities(), ..ServerConfig::new("demo", "1.0") };
    /// # let (storage, now, mut out) = (OverHttp(Fixed::<64, 4, 1, 0, 64>::new()), Instant::ZERO, [0; 512]);
    /// # let mut server = Server::resume(now, config, storage, &SessionSnapshot::stateless(Revision::V2025_11_25)).unwrap();
    /// use mcp_proto::server::ListKind;
    ///
    /// server.list_changed(ListKind::Tools);
    /// let sent = server.poll_transmit(now, Channel::PIPE, &mut out)?.unwrap();
    /// assert!(out[..sent.len].ends_with(br#""method":"notifications/tools/list_changed"}"#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn list_changed(&mut self, kind: ListKind) {
        if self.is_closed() || !self.tells_of(kind) {
            return;
        }
        if self.session.revision().is_some() {
            self.session.changed = self.session.changed.with(kind);
        }
        if self.subscriptions.listens() == 0 {
            return;
        }
        for index in 0..self.requests.capacity() as u32 {
            let Some(token) = self.requests.key(index) else {
                continue;
            };
            let listen = self.requests.get_mut(token).and_then(InFlight::listen_mut);
            if let Some(listen) = listen.filter(|listen| listen.wanted.contains(kind)) {
                listen.changed = listen.changed.with(kind);
                self.requests.mark(Queue::Transmit, token);
            }
        }
    }

    /// Says that the resource at `uri` changed: to the subscribers of it or of a parent of it
    /// (RS-10, RS-11), by the URI of each subscription. Several changes before the next
    /// notification are reported once.
    pub fn resource_updated(&mut self, uri: &str) {
        if !S::WATCHES || self.is_closed() {
            return;
        }
        let Self {
            subscriptions,
            requests,
            ..
        } = self;
        subscriptions.touch(uri, |key| {
            let stage = requests.get(key).map(|request| request.stage);
            if matches!(stage, Some(Stage::Listening(_))) {
                requests.mark(Queue::Transmit, key);
            }
        });
    }

    /// Returns whether any client subscribed to the resource at `uri`: others need not be
    /// watched.
    pub fn is_watched(&self, uri: &str) -> bool {
        self.subscriptions.covers(uri)
    }

    /// Ends a listen on our side (SB-08): what changed before is still told, then its result
    /// and, on a pipe, `notifications/cancelled` follow (CN-17). A token that is no
    /// listen is left alone. No event follows.
    pub fn end_listen(&mut self, token: Token) {
        if let Some(key) = token.key_in(self.id) {
            self.end_listen_at(key);
        }
    }

    pub(super) fn end_listen_at(&mut self, token: Key) {
        let listen = self.requests.get_mut(token).and_then(InFlight::listen_mut);
        if let Some(listen) = listen {
            if listen.step == Step::Open {
                listen.step = Step::Result;
            } else if listen.step == Step::Acknowledge {
                listen.step = Step::AcknowledgeLast;
            }
            self.requests.mark(Queue::Transmit, token);
        }
    }

    /// An application's answer to a listen: an error ends it, anything else ends it well.
    pub(super) fn answer_listen(
        &mut self,
        token: Key,
        outcome: Outcome<'_>,
        out: &mut [u8],
    ) -> Result<Transmit, SendError> {
        let Outcome::Error(error) = outcome else {
            self.end_listen_at(token);
            return Ok(Transmit::pipe(0));
        };
        let request = self.requests.get(token).ok_or(SendError::Stale)?;
        let len = write_error(request.id(), &error, request.revision, out)?;
        let channel = self.channel_of(Some(token));
        self.release(token);
        Ok(Transmit {
            end: channel.is_exchange(),
            status: status_of(error.code),
            ..Transmit::on(channel, len)
        })
    }

    /// Writes what a listen is owed next, if anything, and takes it off.
    pub(super) fn transmit_listen(
        &mut self,
        token: Key,
        out: &mut [u8],
    ) -> Result<Option<Transmit>, SendError> {
        let Some(request) = self.requests.get(token) else {
            return Ok(None);
        };
        let Stage::Listening(listen) = request.stage else {
            return Ok(None);
        };
        let channel = match S::HTTP {
            true => request.channel,
            false => Channel::PIPE,
        };
        let mut w = Writer::new(out);
        let mut next = listen;
        let mut told = None;
        match listen.step {
            Step::Acknowledge | Step::AcknowledgeLast => {
                self.write_acknowledgement(token, &mut w);
                next.step = match listen.step {
                    Step::AcknowledgeLast => Step::Result,
                    _ => Step::Open,
                };
            }
            Step::Open | Step::Result if !listen.changed.is_empty() => {
                let Some(kind) = listen.changed.first() else {
                    return Ok(None);
                };
                notification(&mut w, kind.notification(), request.id(), |_| {});
                next.changed = listen.changed.without(kind);
            }
            Step::Open | Step::Result => match self.first_dirty(Owner::Request(token)) {
                Some((place, uri)) => {
                    notification(&mut w, Method::ResourcesUpdated, request.id(), |w| {
                        w.literal(r#","uri":"#);
                        w.string(uri);
                    });
                    told = Some(place);
                }
                None if listen.step == Step::Open => {
                    self.requests.unmark(Queue::Transmit, token);
                    return Ok(None);
                }
                None => {
                    write_end(&mut w, request);
                    next.step = Step::Cancelled;
                }
            },
            Step::Cancelled => {
                write_cancelled(&mut w, request.id());
            }
        }
        let len = w.finish()?;
        if let Some(place) = told.filter(|_| S::WATCHES) {
            self.subscriptions.told(place);
        }
        // The result ends an exchange; on a pipe something has to be said (CN-17).
        let last = match channel.is_exchange() {
            true => next.step == Step::Cancelled,
            false => listen.step == Step::Cancelled,
        };
        if last {
            self.release(token);
        } else if let Some(listen) = self.requests.get_mut(token).and_then(InFlight::listen_mut) {
            *listen = next;
        }
        Ok(Some(Transmit {
            end: last && channel.is_exchange(),
            ..Transmit::on(channel, len)
        }))
    }

    /// The first changed resource with a pending notification.
    pub(super) fn first_dirty(&self, owner: Owner) -> Option<(usize, &str)> {
        if S::WATCHES {
            self.subscriptions.first_changed(owner)
        } else {
            None
        }
    }

    /// Whether we declared that we tell of changes of this list.
    fn tells_of(&self, kind: ListKind) -> bool {
        let facts = kind.notification().facts();
        self.config.declared.contains(facts.server_declares)
    }

    fn write_acknowledgement(&self, token: Key, w: &mut Writer<'_>) {
        let Some(request) = self.requests.get(token) else {
            return;
        };
        let Stage::Listening(listen) = request.stage else {
            return;
        };
        notification(w, Method::SubscriptionsAcknowledged, request.id(), |w| {
            w.literal(r#","notifications":{"#);
            let mut separator = "";
            for kind in ListKind::ALL {
                if listen.wanted.contains(kind) {
                    w.literal(separator);
                    w.string(kind.filter());
                    w.literal(":true");
                    separator = ",";
                }
            }
            if S::WATCHES && listen.resources {
                w.literal(separator);
                w.string(RESOURCES);
                w.literal(":[");
                separator = "";
                for uri in self.subscriptions.of(Owner::Request(token)) {
                    w.literal(separator);
                    w.string(uri);
                    separator = ",";
                }
                w.literal("]");
            }
            w.literal("}");
        });
    }
}

/// A notification of a listen, which names it (SB-03).
fn notification(
    w: &mut Writer<'_>,
    method: Method<'_>,
    id: Id<'_>,
    members: impl FnOnce(&mut Writer<'_>),
) {
    let _ = envelope::notification(w, method, |w| -> Result<(), core::convert::Infallible> {
        w.literal(r#"{"_meta":"#);
        write_subscription(w, id);
        members(w);
        w.literal("}");
        Ok(())
    });
}

fn write_subscription(w: &mut Writer<'_>, id: Id<'_>) {
    w.literal(r#"{"io.modelcontextprotocol/subscriptionId":"#);
    id.write(w);
    w.literal("}");
}

/// The result that ends a listen (SB-08).
fn write_end<L: IdStorage>(w: &mut Writer<'_>, request: &InFlight<L>) {
    let id = request.id();
    let _ = envelope::result(w, id, |w| -> Result<(), core::convert::Infallible> {
        w.literal(r#"{"resultType":"complete","_meta":"#);
        write_subscription(w, id);
        w.literal("}");
        Ok(())
    });
}

/// `notifications/cancelled` of ours.
pub(super) fn write_cancelled(w: &mut Writer<'_>, id: Id<'_>) {
    let _ = envelope::notification(w, Method::Cancelled, |w| {
        w.literal(r#"{"requestId":"#);
        id.write(w);
        w.literal("}");
        Ok::<(), core::convert::Infallible>(())
    });
}

const RESOURCES: &str = "resourceSubscriptions";
