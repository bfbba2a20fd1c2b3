//! Subscriptions of 2026-07-28: `subscriptions/listen` (SB-01 to SB-14).

use super::context::Asked;
use super::in_flight::{InFlight, Listen, Step};
use super::lists::{ListKind, Lists};
use super::reply::Reply;
use super::subscriptions::Owner;
use super::{Event, PeerError, Server, Storage};
use crate::action::{Action, SendError, Transmit};
use crate::id_buf::IdStorage;
use crate::json::{Array, EncodeError, Object, Raw, Writer};
use crate::model::ServerFeatures;
use crate::payload::Payload;
use crate::rpc::{Id, Method, envelope};
use crate::slots::{Key, Queue};
use crate::source::{Arrival, Place};
use crate::token::Token;

impl<S: Storage> Server<'_, S> {
    /// Accepts a listen: what it asks for and is served, and nothing else (SB-01, SB-02).
    pub(super) fn listen<'b>(
        &mut self,
        from: &Arrival<'_, S::Place>,
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
        let held = self.is_judged(filter)?;
        let uris = match uris {
            Some(uris) => Some(uris.array().ok_or(PeerError::Missing(RESOURCES))?),
            None => None,
        };
        let served = uris.filter(|_| {
            let declared = self.config.declared();
            self.subscriptions.has_room() && declared.contains(ServerFeatures::RESOURCES_SUBSCRIBE)
        });
        let key = self.admit(from, id, Method::SubscriptionsListen, asked)?;
        if let Some(request) = self.requests.table.get_mut(key) {
            request.listen = Some(Listen {
                wanted,
                changed: Lists::NONE,
                resources: served.is_some(),
                step: match held {
                    true => Step::Held,
                    false => Step::Acknowledge,
                },
            });
        }
        self.subscriptions.begin_listen();
        if let Some(uris) = served
            && let Err(error) = self.add_uris(key, uris)
        {
            self.release(key);
            return Err(error);
        }
        // An acknowledgement that no outbox could ever hold would block all following messages.
        let mut counting = Writer::counting();
        let written = self.write_acknowledgement(key, &[], &mut counting);
        debug_assert!(written.is_ok(), "no payload was written");
        if counting.len() > self.requests.max_message() {
            self.release(key);
            return Err(PeerError::TooManySubscriptions);
        }
        if !held {
            self.requests.table.mark(Queue::Transmit, key);
        }
        Ok(Action::Event(Event::Listening {
            token: self.requests.token(key),
            filter,
            held,
            context: asked.context,
        }))
    }

    /// Adds the resources that a listen asks for.
    fn add_uris(&mut self, token: Key, uris: Array<'_>) -> Result<(), PeerError> {
        for uri in uris.elements() {
            let uri = uri.string().filter(|uri| uri.is_exact());
            let uri = uri.ok_or(PeerError::Missing(RESOURCES))?;
            self.add_uri(Owner::Request(token), uri)
                .map_err(|_| PeerError::TooManySubscriptions)?;
        }
        Ok(())
    }

    /// Returns true if the filter has a key that the application judges; an error if such a key
    /// stands twice.
    fn is_judged(&self, filter: Object<'_>) -> Result<bool, PeerError> {
        let mut is_judged = false;
        for key in self.config.texts().filters() {
            let found = filter.find([key]);
            let [member] = found.map_err(|_| PeerError::Doubled("notifications"))?;
            is_judged |= member.is_some();
        }
        Ok(is_judged)
    }

    /// Acknowledges a [held](Event::Listening) listen: with the lists and resources that the core
    /// honours, and with the values that the application accepts, each under its key of
    /// [`ServerConfig::filters`](super::ServerConfig::filters). Values that it does not accept are
    /// left out (SB-02). From then on [`notify_for`](Self::notify_for) reaches the listen.
    ///
    /// # Errors
    ///
    /// - [`SendError::BufferFull`]: make the same call again with more room.
    /// - [`SendError::TooLarge`]: no room would ever be enough; the listen is still held, to be
    ///   refused by [`respond`](Self::respond).
    /// - [`SendError::Stale`]: the listen is over, or was acknowledged already.
    /// - [`SendError::Encode`]: a value cannot be written, or a key stands twice or is not one of
    ///   the configuration.
    ///
    /// ```
    /// # use mcp_proto::rpc::{Incoming, Message};
    /// # use mcp_proto::server::{Event, Fixed, Server, ServerConfig};
    /// # use mcp_proto::{Action, Instant, Machine, Pipe};
    /// let config = ServerConfig { filters: &["notes"], ..ServerConfig::new("demo", "1.0") };
    /// let mut server = Server::new(config, Fixed::new().questions::<1>().uris::<64>())?;
    /// # let listen = br#"{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{
    /// #     "notifications":{"notes":["a","b"]},
    /// #     "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    /// # let listen = Incoming::Message(Message::parse(listen, 8));
    /// # let (now, mut out) = (Instant::ZERO, [0; 512]);
    /// let action = server.handle(now, &Pipe, listen);
    /// let Action::Event(Event::Listening { token, held: true, .. }) = action else { panic!() };
    /// let sent = server.acknowledge(token, &[("notes", &["a"])], &mut out)?;
    /// assert!(out[..sent.len].ends_with(br#""notifications":{"notes":["a"]}}}"#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn acknowledge(
        &mut self,
        token: Token,
        accepted: &[(&str, &dyn Payload)],
        out: &mut [u8],
    ) -> Result<Transmit, SendError> {
        if self.is_closed() {
            return Err(SendError::Closed);
        }
        let key = self.requests.key(token)?;
        let held = self
            .requests
            .table
            .get(key)
            .filter(|request| request.is_held());
        let filters = self.config.texts().filters();
        let known = filters.filter(|key| accepted.iter().any(|(own, _)| own == key));
        let known = known.count();
        if held.is_none() {
            return Err(SendError::Stale);
        }
        if known != accepted.len() {
            return Err(SendError::Encode);
        }
        let mut w = Writer::new(out);
        self.write_acknowledgement(key, accepted, &mut w)
            .map_err(|_| SendError::Encode)?;
        let len = self.requests.bounded(w.finish())?;
        if let Some(listen) = self.listen_mut(key) {
            listen.step = Step::Open;
        }
        // Changes that waited.
        self.requests.table.mark(Queue::Transmit, key);
        Ok(Transmit::on(self.channel_of(Some(key)), len))
    }

    /// Notifies of a changed list (TL-02): the legacy client, once it is ready, and every
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
    /// # let (storage, now, mut out) = (OverHttp(Fixed::new().questions::<1>().uris::<64>()), Instant::ZERO, [0; 512]);
    /// # let mut server = Server::new(config, storage).unwrap();
    /// # server.resume(now, &SessionSnapshot::stateless(Revision::V2025_11_25));
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
        let mut at = 0;
        while let Some(key) = self.requests.table.next_key(&mut at) {
            if let Some(listen) = self
                .listen_mut(key)
                .filter(|listen| listen.wanted.contains(kind))
            {
                listen.changed = listen.changed.with(kind);
                if listen.step != Step::Held {
                    self.requests.table.mark(Queue::Transmit, key);
                }
            }
        }
    }

    /// Notifies the subscribers of the resource at `uri`, or of a parent of it, that it changed
    /// (RS-10, RS-11), by the URI of each subscription. Several changes before the next
    /// notification are reported once.
    pub fn resource_updated(&mut self, uri: &str) {
        self.touch(Some(uri));
    }

    /// Notifies the subscribers of each resource: changes of it may have been missed.
    pub fn resources_updated(&mut self) {
        self.touch(None);
    }

    fn touch(&mut self, uri: Option<&str>) {
        if self.is_closed() {
            return;
        }
        let Self {
            subscriptions,
            requests,
            ..
        } = self;
        subscriptions.touch(uri, |key| {
            let listen = requests.table.get(key).and_then(InFlight::listen);
            if listen.is_some_and(|listen| listen.step != Step::Held) {
                requests.table.mark(Queue::Transmit, key);
            }
        });
    }

    /// Returns whether any client subscribed to the resource at `uri`: others need not be
    /// watched.
    pub fn is_watched(&self, uri: &str) -> bool {
        self.subscriptions.covers(uri)
    }

    /// Ends a listen on our side (SB-08): what changed before is still told, then its result
    /// and, on a pipe, `notifications/cancelled` follow (CN-17). One that is still held is
    /// acknowledged first, with what the core honours. A token that is no listen is left alone.
    /// No event follows.
    pub fn end_listen(&mut self, token: Token) {
        if let Ok(key) = self.requests.key(token) {
            self.end_listen_at(key);
        }
    }

    pub(super) fn end_listen_at(&mut self, key: Key) {
        if let Some(listen) = self.listen_mut(key) {
            if listen.step == Step::Open {
                listen.step = Step::Result;
            } else if matches!(listen.step, Step::Held | Step::Acknowledge) {
                listen.step = Step::AcknowledgeLast;
            }
            self.requests.table.mark(Queue::Transmit, key);
        }
    }

    fn listen_mut(&mut self, key: Key) -> Option<&mut Listen> {
        self.requests.table.get_mut(key)?.listen.as_mut()
    }

    /// Writes what a listen is owed next, if anything, and takes it off.
    pub(super) fn transmit_listen(
        &mut self,
        token: Key,
        out: &mut [u8],
    ) -> Result<Option<Transmit>, SendError> {
        let Some(request) = self.requests.table.get(token) else {
            return Ok(None);
        };
        let Some(listen) = request.listen() else {
            return Ok(None);
        };
        let channel = request.place().channel();
        let mut w = Writer::new(out);
        let mut next = listen;
        let mut told = None;
        match listen.step {
            Step::Held => return Ok(None),
            Step::Acknowledge | Step::AcknowledgeLast => {
                self.write_acknowledgement(token, &[], &mut w)
                    .map_err(|_| SendError::Encode)?;
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
                    self.requests.table.unmark(Queue::Transmit, token);
                    return Ok(None);
                }
                None => {
                    write_end(&mut w, request);
                    next.step = Step::Cancelled;
                }
            },
            Step::Cancelled => {
                envelope::cancelled(&mut w, |w| request.id().write(w), None);
            }
        }
        let len = w.finish()?;
        if let Some(place) = told {
            self.subscriptions.told(place);
        }
        // The result ends an exchange; on a pipe something has to be said (CN-17).
        let last = match channel.is_exchange() {
            true => next.step == Step::Cancelled,
            false => listen.step == Step::Cancelled,
        };
        if last {
            self.release(token);
        } else if let Some(listen) = self.listen_mut(token) {
            *listen = next;
        }
        Ok(Some(Transmit {
            end: last && channel.is_exchange(),
            ..Transmit::on(channel, len)
        }))
    }

    /// The first changed resource with a pending notification.
    pub(super) fn first_dirty(&self, owner: Owner) -> Option<(usize, &str)> {
        self.subscriptions.first_changed(owner)
    }

    /// Returns true if the server declared that it sends notifications of changes of this list.
    fn tells_of(&self, kind: ListKind) -> bool {
        let facts = kind.notification().facts();
        self.config.declared().contains(facts.server_declares)
    }

    /// Writes what is honoured: by the core, and of the application what it `accepted`.
    fn write_acknowledgement(
        &self,
        token: Key,
        accepted: &[(&str, &dyn Payload)],
        w: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        let Some(request) = self.requests.table.get(token) else {
            return Ok(());
        };
        let Some(listen) = request.listen() else {
            return Ok(());
        };
        let mut written = Ok(());
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
            if listen.resources {
                w.literal(separator);
                w.string(RESOURCES);
                w.literal(":[");
                let uris = self.subscriptions.of(Owner::Request(token));
                for (n, uri) in uris.enumerate() {
                    w.literal(if n > 0 { "," } else { "" });
                    w.string(uri);
                }
                w.literal("]");
                separator = ",";
            }
            for (key, value) in accepted {
                w.literal(separator);
                w.string(key);
                w.literal(":");
                if let Err(error) = value.write(w, request.revision) {
                    written = Err(error);
                }
                separator = ",";
            }
            w.literal("}");
        });
        written
    }
}

/// A notification of a listen, which names it (SB-03).
pub(super) fn notification(
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
fn write_end<L: IdStorage, P: Place>(w: &mut Writer<'_>, request: &InFlight<L, P>) {
    let id = request.id();
    let _ = envelope::result(w, id, |w| -> Result<(), core::convert::Infallible> {
        w.literal(r#"{"resultType":"complete","_meta":"#);
        write_subscription(w, id);
        w.literal("}");
        Ok(())
    });
}

/// Returns true for the keys of the filter of `subscriptions/listen` that the machine judges itself.
pub(super) fn is_filter_key(key: &str) -> bool {
    key == RESOURCES || ListKind::ALL.iter().any(|kind| kind.filter() == key)
}

const RESOURCES: &str = "resourceSubscriptions";
