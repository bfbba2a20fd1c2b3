//! Finds the revision of the server: probe, handshake, negotiation.

use super::incoming::Received;
use super::opening::{Leg, Opening};
use super::reply::Reply;
use super::versions::{Discovered, is_modern, revisions, supported};
use super::{
    Client, CloseReason, ConnectError, Connected, Event, Failure, Negotiation, Phase, Storage,
    encode,
};
use crate::action::{Action, BufferFull, IgnoreReason, SendError, Transmit};
use crate::json::{EncodeError, Object, Raw, Str, Writer};
use crate::model::ServerFeatures;
use crate::revision::Revision;
use crate::rpc::{ErrorObject, Method, code, envelope};
use crate::time::Instant;

impl<S: Storage> Client<'_, S> {
    /// Begins to connect; what has to be said leaves through
    /// [`poll_transmit`](crate::Machine::poll_transmit), and [`Event::Connected`] or
    /// [`Event::ConnectFailed`] says how it went.
    ///
    /// A client that accepts both eras probes (VR-12) and falls back; one of a single era says
    /// at once what that era begins with.
    ///
    /// # Errors
    /// [`SendError::NotReady`] if that was done before.
    ///
    /// ```
    /// use mcp_proto::client::{Client, ClientConfig, Fixed};
    /// use mcp_proto::{Channel, Instant, Machine};
    ///
    /// let mut client = Client::new(ClientConfig::new("demo", "1.0"), Fixed::new().questions::<1>()).unwrap();
    /// client.connect(Instant::ZERO)?;
    /// let mut out = [0; 512];
    /// let sent = client.poll_transmit(Instant::ZERO, Channel::PIPE, &mut out)?.unwrap();
    /// // With both eras to choose from it asks first.
    /// assert!(String::from_utf8_lossy(&out[..sent.len]).contains("server/discover"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn connect(&mut self, now: Instant) -> Result<(), SendError> {
        match self.phase {
            Phase::Idle => {}
            Phase::Closed => return Err(SendError::Closed),
            _ => return Err(SendError::NotReady),
        }
        let accepted = self.config.revisions;
        let (modern, legacy) = (accepted.newest_modern(), accepted.newest_legacy());
        let timeouts = self.config.timeouts;
        let mut opening = Opening {
            probe: Leg::Unused,
            modern,
            handshake: Leg::Unused,
            legacy,
            silence: None,
            deadline: now + timeouts.connect,
            corrected: false,
        };
        let straight = self.config.negotiation == Negotiation::Handshake && legacy.is_some();
        if modern.is_some() && !straight {
            opening.probe = Leg::Owed(self.calls.sent.take_id());
            // A modern-only client has nothing else to try.
            opening.silence = legacy.map(|_| now + timeouts.probe);
        } else if legacy.is_some() {
            opening.handshake = Leg::Owed(self.calls.sent.take_id());
        } else {
            self.connect_failed = Some(ConnectError::NoRevision);
            self.close(CloseReason::NotConnected);
            return Ok(());
        }
        self.phase = Phase::Opening(opening);
        Ok(())
    }

    /// Begins to connect, like [`connect`](Self::connect), over a transport on which every
    /// request is answered or refused by itself: silence says nothing of the server's era there,
    /// so the probe has the time of any request (VR-16).
    ///
    /// # Errors
    /// [`SendError::NotReady`] if that was done before.
    pub fn connect_by_exchanges(&mut self, now: Instant) -> Result<(), SendError> {
        self.connect(now)?;
        if let Phase::Opening(opening) = &mut self.phase {
            opening.disable_probe_timeout();
        }
        Ok(())
    }

    /// A request was refused by an HTTP status, without an error that names a modern server. For
    /// the probe that tells a legacy one (VR-16), for everything else it is a failure.
    ///
    /// ```
    /// use mcp_proto::client::{Client, ClientConfig, Fixed};
    /// use mcp_proto::{Channel, Instant, Machine};
    ///
    /// let mut client = Client::new(ClientConfig::new("demo", "1.0"), Fixed::new().questions::<1>()).unwrap();
    /// client.connect_by_exchanges(Instant::ZERO)?;
    /// let _probe = client.poll_transmit(Instant::ZERO, Channel::PIPE, &mut [0; 512])?;
    /// // A server that knows no `server/discover` is met by a handshake.
    /// client.refuse(Instant::ZERO, 1, 404);
    /// let mut out = [0; 512];
    /// let sent = client.poll_transmit(Instant::ZERO, Channel::PIPE, &mut out)?.unwrap();
    /// assert!(String::from_utf8_lossy(&out[..sent.len]).contains("\"initialize\""));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn refuse(&mut self, now: Instant, id: u64, status: u16) {
        if let Phase::Opening(opening) = self.phase
            && self.fall_back(now, opening, id)
        {
            return;
        }
        self.fail(id, Failure::Status(status));
    }

    /// The server does not know the session any more (SC-10): the handshake is made again, in
    /// the revision that ruled, and when `initialized` has left, every call that was in flight
    /// becomes [`Event::Again`], to be sent once more in the new session. A
    /// call that this happens to twice ends with [`Failure::Session`]. Calls that the server has
    /// begun to answer [fail](Self::fail) before: it may have done what they ask for.
    ///
    /// Outside of a legacy session it does nothing, and says so.
    ///
    /// ```
    /// # use mcp_proto::client::{Client, ClientConfig, Fixed};
    /// # use mcp_proto::{Channel, Instant, Machine, Pipe, RevisionSet, rpc};
    /// # let config = ClientConfig { revisions: RevisionSet::legacy(), ..ClientConfig::new("demo", "1.0") };
    /// # let (mut client, mut out, now) = (Client::new(config, Fixed::new().questions::<1>()).unwrap(), [0; 512], Instant::ZERO);
    /// # client.connect(now)?;
    /// # let _ = client.poll_transmit(now, Channel::PIPE, &mut out)?;
    /// # let answer = br#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25",
    /// #     "capabilities":{"tools":{}},"serverInfo":{"name":"demo","version":"1.0"}}}"#;
    /// # let answer = rpc::Incoming::Message(rpc::Message::parse(answer, 16));
    /// # let _ = client.handle(now, &Pipe, answer);
    /// # let _ = client.poll_transmit(now, Channel::PIPE, &mut out)?;
    /// // The server answered with 404: the handshake is made once more.
    /// client.lose_session(now);
    /// let sent = client.poll_transmit(now, Channel::PIPE, &mut out)?.unwrap();
    /// assert!(String::from_utf8_lossy(&out[..sent.len]).contains("\"initialize\""));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn lose_session(&mut self, now: Instant) -> bool {
        let (Phase::Legacy, Some(revision)) = (&self.phase, self.revision) else {
            return false;
        };
        self.calls.sent.pinger.reset();
        self.initialized_owed = false;
        self.batch.clear();
        self.questions.end_all();
        self.calls.move_all();
        let id = self.calls.sent.take_id();
        let timeout = self.config.timeouts.connect;
        self.phase = Phase::Opening(Opening::again(now, timeout, revision, id));
        true
    }

    /// Keeps calls back until they are [released](Self::release): for an application that tells
    /// a new session what the lost one knew before anything else happens in it. Directly behind
    /// [`lose_session`](Self::lose_session).
    ///
    /// Nothing but `logging/setLevel` and `resources/subscribe` is sent meanwhile, or sent again;
    /// [`call`](Self::call) has [`SendError::NotReady`] for everything else.
    pub const fn hold(&mut self) {
        self.calls.set_held(true);
    }

    /// The session is set up: calls continue, and those of the lost session become
    /// [`Event::Again`]. While a session is still being opened it does
    /// nothing, because that one knows nothing yet.
    pub fn release(&mut self) {
        if self.ready().is_ok() {
            self.calls.set_held(false);
            self.calls.let_go();
        }
    }

    /// Handles a response to the request `id` while the connection is being opened.
    pub(super) fn opening_received<'b>(
        &mut self,
        now: Instant,
        opening: Opening,
        id: u64,
        received: Received<'_, 'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        if opening.probe == Leg::Sent(id) {
            self.probe_received(now, opening, received)
        } else if opening.handshake == Leg::Sent(id) {
            self.handshake_received(now, opening, received)
        } else {
            Action::Ignore(IgnoreReason::LateResponse)
        }
    }

    /// VR-13, VR-14: a DiscoverResult or a recognised modern error tells a modern server,
    /// everything else a legacy one.
    fn probe_received<'b>(
        &mut self,
        now: Instant,
        mut opening: Opening,
        received: Received<'_, 'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        opening.probe = Leg::Over;
        let refused = match received {
            Received::Result(result, _) => match Discovered::read(result) {
                Some(discovered) => return self.discovered(now, opening, &discovered),
                None => ConnectError::Answer,
            },
            Received::Error(error) => {
                if let Some(supported) = supported(error, &[code::UNSUPPORTED_VERSION]) {
                    return self.corrected(now, opening, supported, error);
                }
                if is_modern(error)
                    && let Some(revision) = opening.modern
                {
                    self.enter_modern(revision, None);
                    return connected(revision, None, None, None);
                }
                ConnectError::Refused(error)
            }
            Received::Unusable(_) => ConnectError::Answer,
        };
        match (opening.legacy, opening.handshake) {
            (None, _) => self.connect_error(refused),
            (Some(legacy), Leg::Unused) => self.shake_hands(now, opening, legacy),
            (Some(_), _) => {
                self.phase = Phase::Opening(opening);
                Action::Done
            }
        }
    }

    fn discovered<'b>(
        &mut self,
        now: Instant,
        opening: Opening,
        discovered: &Discovered<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        let common = revisions(discovered.versions).and(self.config.revisions);
        if let Some(revision) = common.newest_modern() {
            self.enter_modern(revision, discovered.capabilities);
            return connected(
                revision,
                discovered.server,
                discovered.capabilities,
                discovered.instructions,
            );
        }
        match (common.newest_legacy(), opening.handshake) {
            // VR-21: selection, not fallback.
            (Some(legacy), Leg::Unused) => self.shake_hands(now, opening, legacy),
            (Some(_), Leg::Owed(_) | Leg::Sent(_)) => {
                self.phase = Phase::Opening(opening);
                Action::Done
            }
            _ => self.connect_error(ConnectError::Revision {
                offered: discovered.versions,
                accepted: self.config.revisions,
            }),
        }
    }

    fn handshake_received<'b>(
        &mut self,
        now: Instant,
        mut opening: Opening,
        received: Received<'_, 'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        opening.handshake = Leg::Over;
        let result = match received {
            Received::Result(result, _) => result.object(),
            Received::Error(error) => {
                // LC-25: some servers refuse instead of offering another revision.
                let codes = [code::UNSUPPORTED_VERSION, code::INVALID_PARAMS];
                return match supported(error, &codes) {
                    Some(supported) => self.corrected(now, opening, supported, error),
                    None => self.connect_error(ConnectError::Refused(error)),
                };
            }
            Received::Unusable(_) => None,
        };
        let keys = [
            "protocolVersion",
            "capabilities",
            "serverInfo",
            "instructions",
        ];
        let Some(Ok([Some(version), capabilities, server, instructions])) =
            result.map(|result| result.find(keys))
        else {
            return self.connect_error(ConnectError::Answer);
        };
        let Some(named) = version.string() else {
            return self.connect_error(ConnectError::Answer);
        };
        // LC-05: what it cannot speak, it does not begin.
        let revision = named
            .revision()
            .filter(|revision| revision.is_legacy() && self.config.revisions.contains(*revision));
        let Some(revision) = revision else {
            return self.connect_error(ConnectError::Revision {
                offered: version,
                accepted: self.config.revisions,
            });
        };
        let capabilities = capabilities.and_then(Raw::object);
        // LC-16: the answered revision rules from here on.
        self.revision = Some(revision);
        self.server = Some(ServerFeatures::read(capabilities));
        self.phase = Phase::Legacy;
        self.initialized_owed = true;
        self.calls.sent.start_pings(now);
        connected(
            revision,
            server.and_then(Raw::object),
            capabilities,
            instructions.and_then(Raw::string),
        )
    }

    /// The server named the revisions that it speaks instead of answering. Once, that leads to
    /// another attempt under a new id (VR-05).
    fn corrected<'b>(
        &mut self,
        now: Instant,
        mut opening: Opening,
        supported: Raw<'b>,
        error: ErrorObject<'b>,
    ) -> Action<Event<'b>, Reply<'b>> {
        let common = revisions(supported).and(self.config.revisions);
        if common.is_empty() {
            return self.connect_error(ConnectError::Revision {
                offered: supported,
                accepted: self.config.revisions,
            });
        }
        if core::mem::replace(&mut opening.corrected, true) {
            return self.connect_error(ConnectError::Refused(error));
        }
        if let Some(modern) = common.newest_modern() {
            opening.modern = Some(modern);
            opening.probe = Leg::Owed(self.calls.sent.take_id());
            opening.handshake = Leg::Over;
            opening.silence = None;
            opening.deadline = now + self.config.timeouts.connect;
            self.phase = Phase::Opening(opening);
            return Action::Done;
        }
        match (common.newest_legacy(), opening.handshake) {
            (Some(legacy), Leg::Unused | Leg::Over) => self.shake_hands(now, opening, legacy),
            _ => {
                self.phase = Phase::Opening(opening);
                Action::Done
            }
        }
    }

    fn shake_hands<'b>(
        &mut self,
        now: Instant,
        mut opening: Opening,
        legacy: Revision,
    ) -> Action<Event<'b>, Reply<'b>> {
        opening.begin_handshake(
            now,
            self.config.timeouts.connect,
            legacy,
            self.calls.sent.take_id(),
        );
        self.phase = Phase::Opening(opening);
        Action::Done
    }

    fn enter_modern(&mut self, revision: Revision, capabilities: Option<Object<'_>>) {
        self.revision = Some(revision);
        self.server = capabilities.map(|_| ServerFeatures::read(capabilities));
        self.phase = Phase::Modern;
    }

    fn connect_error<'b>(&mut self, error: ConnectError<'b>) -> Action<Event<'b>, Reply<'b>> {
        self.close(CloseReason::NotConnected);
        Action::Event(Event::ConnectFailed(error))
    }

    /// The probe was refused by something that is no modern server: says whether there is another
    /// way.
    pub(super) fn fall_back(&mut self, now: Instant, mut opening: Opening, id: u64) -> bool {
        let (Leg::Sent(probe), Some(legacy), Leg::Unused) =
            (opening.probe, opening.legacy, opening.handshake)
        else {
            return false;
        };
        if probe == id {
            opening.probe = Leg::Over;
            let _ = self.shake_hands(now, opening, legacy);
        }
        probe == id
    }

    /// The silence is over, or the time.
    pub(super) fn opening_timeout(&mut self, now: Instant, mut opening: Opening) {
        if opening.deadline.is_due(now) {
            self.connect_failed = Some(ConnectError::Timeout);
            self.close(CloseReason::NotConnected);
            return;
        }
        if opening.silence.is_some_and(|silence| silence.is_due(now)) {
            opening.silence = None;
            if let (Some(legacy), Leg::Unused) = (opening.legacy, opening.handshake) {
                let id = self.calls.sent.take_id();
                opening.begin_handshake(now, self.config.timeouts.connect, legacy, id);
            }
            self.phase = Phase::Opening(opening);
        }
    }

    /// Writes what opens the connection, if it is owed.
    pub(super) fn transmit_opening(
        &mut self,
        mut opening: Opening,
        out: &mut [u8],
    ) -> Result<Option<Transmit>, BufferFull> {
        let mut writer = Writer::new(out);
        // The payloads are types of the model: their serialisation cannot fail.
        if let (Leg::Owed(id), Some(revision)) = (opening.probe, opening.modern) {
            let _ = envelope::request(&mut writer, id, Method::ServerDiscover, |writer| {
                writer.literal("{\"_meta\":{");
                encode::modern_meta(&self.config, revision, None, writer)?;
                writer.literal("}}");
                Ok::<_, SendError>(())
            });
            opening.probe = Leg::Sent(id);
        } else if let (Leg::Owed(id), Some(revision)) = (opening.handshake, opening.legacy) {
            let _ = envelope::request(&mut writer, id, Method::Initialize, |writer| {
                writer.literal("{\"protocolVersion\":");
                writer.string(revision.as_str());
                writer.literal(",\"capabilities\":");
                self.config.texts().write_capabilities(revision, writer);
                writer.literal(",\"clientInfo\":");
                self.config.texts().write_info(revision, writer);
                writer.literal("}");
                Ok::<_, EncodeError>(())
            });
            opening.handshake = Leg::Sent(id);
        } else {
            return Ok(None);
        }
        match writer.finish() {
            Ok(len) => {
                self.phase = Phase::Opening(opening);
                Ok(Some(Transmit::pipe(len)))
            }
            Err(full) if full.needed > self.questions.max_message() => {
                self.connect_failed = Some(ConnectError::TooLarge);
                self.close(CloseReason::NotConnected);
                Ok(None)
            }
            Err(full) => Err(full),
        }
    }
}

fn connected<'b>(
    revision: Revision,
    server: Option<Object<'b>>,
    capabilities: Option<Object<'b>>,
    instructions: Option<Str<'b>>,
) -> Action<Event<'b>, Reply<'b>> {
    Action::Event(Event::Connected(Connected {
        revision,
        server,
        capabilities,
        instructions,
    }))
}
