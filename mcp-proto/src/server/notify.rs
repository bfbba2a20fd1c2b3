//! Notifications that the application sends.

use super::config::ServerSettings;
use super::in_flight::InFlight;
use super::listen::{Listen, notification};
use super::lists::ListKind;
use super::pace::ProgressReport;
use super::result_members::{Addition, complete};
use super::{Server, Storage};
use crate::action::{SendError, Transmit};
use crate::json::{EncodeError, Raw, Writer};
use crate::model::{LoggingLevel, ProtocolMeta, ServerFeatures, keys};
use crate::payload::Payload;
use crate::revision::Revision;
use crate::rpc::{Id, Method, envelope};
use crate::slots::{Key, Queue};
use crate::splice::{write_around, write_notification};
use crate::time::Instant;
use crate::token::Token;

impl<'c, S: Storage, C: ServerSettings<'c>> Server<'_, S, C> {
    /// Tells how far a request is.
    ///
    /// With a [`progress_interval`](super::ServerConfig::progress_interval) a message that is too
    /// early leaves later, or not at all if another one follows: then [`Transmit::len`] is 0.
    ///
    /// # Errors
    ///
    /// - [`SendError::BufferFull`]: make the same call again with more room.
    /// - [`SendError::TooLarge`]: no room would ever be enough.
    /// - [`SendError::Stale`]: the request is over (PG-03).
    /// - [`SendError::Progress`]: the client did not ask
    ///   ([`RequestContext::progress`](super::RequestContext::progress)), or the value does not exceed the
    ///   last one (PG-04).
    ///
    /// ```
    /// # use mcp_proto::model::ServerFeatures;
    /// # use mcp_proto::server::{Fixed, OverHttp, Server, ServerConfig, SessionSnapshot};
    /// # use mcp_proto::{Channel, Instant, Machine, Revision};
    /// # let config = ServerConfig { capabilities: ServerFeatures::TOOLS.capabilities(), ..ServerConfig::new("demo", "1.0") };
    /// # let (storage, now, mut out) = (OverHttp(Fixed::new().questions::<1>().uris::<64>()), Instant::ZERO, [0; 512]);
    /// # let mut server = Server::new(config, storage).unwrap();
    /// # server.resume(now, &SessionSnapshot::stateless(Revision::V2025_11_25));
    /// # use mcp_proto::rpc::{Incoming, Message};
    /// # use mcp_proto::server::Event;
    /// # use mcp_proto::{Action, Source};
    /// # let call = Message::parse(br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow","_meta":{"progressToken":1}}}"#, 8);
    /// # let Action::Event(Event::Request { token, .. }) = server.handle(now, &Source::PIPE, Incoming::Message(call)) else { panic!() };
    /// use mcp_proto::server::ProgressReport;
    ///
    /// // `token` came with `Event::Request`, whose context wants progress.
    /// let half = ProgressReport { total: Some(10.0), ..ProgressReport::new(5.0) };
    /// let sent = server.progress(now, token, half, &mut out)?;
    /// assert!(out[..sent.len].ends_with(br#""progress":5,"total":10}}"#));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn progress(
        &mut self,
        now: Instant,
        token: Token,
        progress: ProgressReport<'_>,
        out: &mut [u8],
    ) -> Result<Transmit, SendError> {
        let key = self.requests.key(token)?;
        self.running(key)?;
        let interval = self.config.progress_interval;
        let len = self.requests.report(now, key, interval, progress, out)?;
        Ok(Transmit::on(self.channel_of(Some(key)), len))
    }

    /// Writes the progress of a request that is held back, if any: call it before
    /// [`respond`](Self::respond), so that the client learns the last value.
    ///
    /// # Errors
    ///
    /// [`SendError::BufferFull`]: make the same call again with more room.
    pub fn flush_progress(
        &mut self,
        now: Instant,
        token: Token,
        out: &mut [u8],
    ) -> Result<Option<Transmit>, SendError> {
        match self.requests.key(token) {
            Ok(key) => self.flush_progress_at(now, key, out),
            Err(_) => Ok(None),
        }
    }

    pub(super) fn flush_progress_at(
        &mut self,
        now: Instant,
        key: Key,
        out: &mut [u8],
    ) -> Result<Option<Transmit>, SendError> {
        let interval = self.config.progress_interval;
        let len = self.requests.flush(now, key, interval, out)?;
        Ok(len.map(|len| Transmit::on(self.channel_of(Some(key)), len)))
    }

    /// Logs to the client: on behalf of a request, or of the legacy session as a whole.
    ///
    /// Returns `None`, and writes nothing, if the client does not want it: the level is below
    /// the one that it [set](super::ReplyKind::LogLevel), or its request of 2026-07-28 named
    /// none (LG-03, LG-05). `data` is any JSON value, without secrets (LG-08).
    ///
    /// # Errors
    ///
    /// - [`SendError::BufferFull`]: make the same call again with more room.
    /// - [`SendError::TooLarge`]: no room would ever be enough.
    /// - [`SendError::MissingCapability`]: the capability `logging` is ours to declare (LG-01).
    /// - [`SendError::Stale`]: the request is over.
    /// - [`SendError::NotReady`]: there is no legacy session, and no request was named.
    /// - [`SendError::Encode`]: the data cannot be written.
    ///
    /// ```
    /// # use mcp_proto::model::ServerFeatures;
    /// # use mcp_proto::server::{Fixed, OverHttp, Server, ServerConfig, SessionSnapshot};
    /// # use mcp_proto::{Channel, Instant, Machine, Revision};
    /// # let config = ServerConfig { capabilities: ServerFeatures::LOGGING.capabilities(), ..ServerConfig::new("demo", "1.0") };
    /// # let (storage, now, mut out) = (OverHttp(Fixed::new().questions::<1>().uris::<64>()), Instant::ZERO, [0; 512]);
    /// # let mut server = Server::new(config, storage).unwrap();
    /// # server.resume(now, &SessionSnapshot::stateless(Revision::V2025_11_25));
    /// use mcp_proto::model::LoggingLevel;
    ///
    /// let sent = server.log(None, LoggingLevel::Warning, None, &"low on ink", &mut out)?;
    /// assert!(sent.is_some());
    /// // Below the level of the session: nothing is written.
    /// assert_eq!(server.log(None, LoggingLevel::Debug, None, &"tick", &mut out)?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn log(
        &mut self,
        token: Option<Token>,
        level: LoggingLevel,
        logger: Option<&str>,
        data: &dyn Payload,
        out: &mut [u8],
    ) -> Result<Option<Transmit>, SendError> {
        if !self.config.declared().contains(ServerFeatures::LOGGING) {
            return Err(SendError::MissingCapability("logging"));
        }
        let session = self.session.revision().ok_or(SendError::NotReady);
        let token = token.map(|token| self.requests.key(token)).transpose()?;
        let (revision, least) = match token {
            Some(token) => {
                let request = self.running(token)?;
                match request.revision.has_log_level_of_request() {
                    true => (request.revision, request.log_level),
                    // It may have been set while the request ran.
                    false => (request.revision, Some(self.session.log_level())),
                }
            }
            None => (session?, Some(self.session.log_level())),
        };
        if self.is_closed() {
            return Err(SendError::Closed);
        }
        if least.is_none_or(|least| level < least) {
            return Ok(None);
        }
        let mut w = Writer::new(out);
        envelope::notification(&mut w, Method::Message, |w| {
            w.literal(r#"{"level":"#);
            w.string(level.as_str());
            if let Some(logger) = logger {
                w.literal(r#","logger":"#);
                w.string(logger);
            }
            w.literal(r#","data":"#);
            data.write(w, revision)?;
            w.literal("}");
            Ok(())
        })
        .map_err(|_: EncodeError| SendError::Encode)?;
        let len = self.requests.bounded(w.finish())?;
        Ok(Some(Transmit::on(self.channel_of(token), len)))
    }

    /// Sends another notification of the legacy session: `notifications/tasks/status`,
    /// `notifications/elicitation/complete`, or one of [`ServerConfig::methods`].
    ///
    /// [`ServerConfig::methods`]: super::ServerConfig::methods
    ///
    /// # Errors
    ///
    /// - [`SendError::BufferFull`]: make the same call again with more room.
    /// - [`SendError::TooLarge`]: no room would ever be enough.
    /// - [`SendError::NotReady`]: the session is not open yet.
    /// - [`SendError::NotInRevision`]: its revision has no such message, or there is a command of
    ///   its own for it.
    /// - [`SendError::Encode`]: the parameters are no JSON object.
    pub fn notify(
        &mut self,
        method: Method<'_>,
        params: Option<&dyn Payload>,
        out: &mut [u8],
    ) -> Result<Transmit, SendError> {
        if self.is_closed() {
            return Err(SendError::Closed);
        }
        let Some(revision) = self.session.ready_revision() else {
            return Err(SendError::NotReady);
        };
        if !self.may_notify(method, revision) {
            return Err(SendError::NotInRevision);
        }
        self.requests
            .bounded(write_notification(method, params, revision, out))
            .map(Transmit::pipe)
    }

    /// Sends a notification that belongs to a request: on its response stream. One that belongs to
    /// a listen names it in `_meta` (SB-03, EX-14).
    ///
    /// The method is one of [`ServerConfig::methods`](super::ServerConfig::methods), or
    /// `notifications/tasks`. A notification of one of the configuration's methods goes only where
    /// the client asked for it: to the request of the same extension, or to a listen whose filter
    /// it was accepted in.
    ///
    /// # Errors
    ///
    /// - [`SendError::BufferFull`]: make the same call again with more room.
    /// - [`SendError::TooLarge`]: no room would ever be enough.
    /// - [`SendError::Stale`]: the request is over.
    /// - [`SendError::NotReady`]: the listen is not acknowledged yet (SB-02).
    /// - [`SendError::NotInRevision`]: the revision of the request has no such message, or there is
    ///   a command of its own for it.
    /// - [`SendError::Encode`]: the parameters are no JSON object, or name a subscription.
    ///
    /// ```
    /// # use mcp_proto::rpc::{Incoming, Message};
    /// # use mcp_proto::server::{Event, Fixed, Server, ServerConfig};
    /// # use mcp_proto::{Action, Instant, Machine, Pipe};
    /// use mcp_proto::json::Raw;
    /// use mcp_proto::rpc::Method;
    /// use mcp_proto::CustomMethod;
    ///
    /// let config = ServerConfig {
    ///     methods: &[CustomMethod::new("notifications/notes")],
    ///     filters: &["notes"],
    ///     ..ServerConfig::new("demo", "1.0")
    /// };
    /// # let mut server = Server::new(config, Fixed::new().questions::<1>().uris::<64>())?;
    /// # let listen = br#"{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{
    /// #     "notifications":{"notes":true},
    /// #     "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;
    /// # let listen = Incoming::Message(Message::parse(listen, 8));
    /// # let (now, mut out) = (Instant::ZERO, [0; 512]);
    /// # let action = server.handle(now, &Pipe, listen);
    /// # let Action::Event(Event::Listening { token, held: true, .. }) = action else { panic!() };
    /// // `token` came with `Event::Listening`.
    /// let _ = server.acknowledge(token, &[("notes", &true)], &mut out)?;
    /// let params = Raw::parse(br#"{"note":"a"}"#, 8)?;
    /// let method = Method::from("notifications/notes");
    /// let sent = server.notify_for(token, method, Some(&params), &mut out)?;
    /// assert!(out[..sent.len].ends_with(
    ///     br#"{"note":"a","_meta":{"io.modelcontextprotocol/subscriptionId":7}}}"#
    /// ));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn notify_for(
        &mut self,
        token: Token,
        method: Method<'_>,
        params: Option<&dyn Payload>,
        out: &mut [u8],
    ) -> Result<Transmit, SendError> {
        if self.is_closed() {
            return Err(SendError::Closed);
        }
        let key = self.requests.key(token)?;
        let request = self.requests.running(key)?;
        if let Some(listen) = request.listen {
            listen.check_open()?;
        }
        let revision = request.revision;
        if !self.may_notify(method, revision) {
            return Err(SendError::NotInRevision);
        }
        let written = match request.listen.is_some() {
            true => write_of_listen(request.id(), method, params, revision, out),
            false => write_notification(method, params, revision, out),
        };
        let len = self.requests.bounded(written)?;
        Ok(Transmit::on(self.channel_of(Some(key)), len))
    }

    /// Acknowledges a [held](super::Event::Listening) listen: with the lists and resources that the core
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
        let request = self.requests.running(key)?;
        let held = request.listen.filter(|listen| listen.is_held());
        let listen = held.ok_or(SendError::Stale)?;
        let filters = self.config.texts().filters();
        let known = filters.filter(|key| accepted.iter().any(|(own, _)| own == key));
        if known.count() != accepted.len() {
            return Err(SendError::Encode);
        }
        let (id, revision) = (request.id(), request.revision);
        let mut w = Writer::new(out);
        listen
            .write_acknowledgement(key, id, revision, &self.subscriptions, accepted, &mut w)
            .map_err(|_| SendError::Encode)?;
        let len = self.requests.bounded(w.finish())?;
        if let Some(listen) = self.listen_mut(key) {
            listen.open();
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
        if self.is_closed() || !self.config.tells_of(kind) {
            return;
        }
        self.session.note_change(kind);
        if self.subscriptions.listens() == 0 {
            return;
        }
        let mut at = 0;
        while let Some(key) = self.requests.table.next_key(&mut at) {
            let listen = self.listen_mut(key);
            if listen.is_some_and(|listen| listen.note_change(kind)) {
                self.requests.table.mark(Queue::Transmit, key);
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
            if listen.is_some_and(|listen| !listen.is_held()) {
                requests.table.mark(Queue::Transmit, key);
            }
        });
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
            listen.end();
            self.requests.table.mark(Queue::Transmit, key);
        }
    }

    fn listen_mut(&mut self, key: Key) -> Option<&mut Listen> {
        self.requests.table.get_mut(key)?.listen.as_mut()
    }

    fn may_notify(&self, method: Method<'_>, revision: Revision) -> bool {
        if let Method::Other(name) = method {
            return self.config.texts().has_method(name);
        }
        let facts = method.facts();
        facts.is_notification() && !facts.own_command.server && facts.server.contains(revision)
    }
}

/// Writes a notification of the application that belongs to the listen of this id.
fn write_of_listen(
    id: Id<'_>,
    method: Method<'_>,
    params: Option<&dyn Payload>,
    revision: Revision,
    out: &mut [u8],
) -> Result<usize, SendError> {
    let Some(params) = params else {
        let mut w = Writer::new(out);
        notification(&mut w, method, id, |_| {});
        return Ok(w.finish()?);
    };
    let (len, object) = write_around(params, revision, out, |w, params| {
        envelope::notification(w, method, params)
    })?;
    let additions = [Addition {
        key: keys::SUBSCRIPTION_ID,
        in_meta: true,
        value: &|w| id.write(w),
    }];
    if len <= out.len() {
        let written = Raw::received(out.get(object.start..object.end).unwrap_or_default());
        let meta = written.object().and_then(ProtocolMeta::of);
        if meta.is_some_and(ProtocolMeta::names_subscription) {
            return Err(SendError::Encode);
        }
    }
    complete(out, len, object, &additions, Some((params, revision)))
}
