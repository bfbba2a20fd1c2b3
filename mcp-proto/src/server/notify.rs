//! Notifications that the application sends.

use super::in_flight::InFlight;
use super::session::Phase;
use super::{Server, Storage};
use crate::action::{SendError, Transmit};
use crate::json::{EncodeError, Writer};
use crate::model::{LoggingLevel, ServerFeatures};
use crate::payload::Payload;
use crate::revision::Revision;
use crate::rpc::{Method, envelope};
use crate::slots::Key;
use crate::splice::check_object;
use crate::time::Instant;
use crate::token::Token;

impl<S: Storage> Server<'_, S> {
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
    /// # let (storage, now, mut out) = (OverHttp(Fixed::<64, 4, 1, 0, 64>::new()), Instant::ZERO, [0; 512]);
    /// # let mut server = Server::resume(now, config, storage, &SessionSnapshot::stateless(Revision::V2025_11_25)).unwrap();
    /// use mcp_proto::model::LoggingLevel;
    ///
    /// let sent = server.log(now, None, LoggingLevel::Warning, None, &"low on ink", &mut out)?;
    /// assert!(sent.is_some());
    /// // Below the level of the session: nothing is written.
    /// assert_eq!(server.log(now, None, LoggingLevel::Debug, None, &"tick", &mut out)?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn log(
        &mut self,
        _now: Instant,
        token: Option<Token>,
        level: LoggingLevel,
        logger: Option<&str>,
        data: &dyn Payload,
        out: &mut [u8],
    ) -> Result<Option<Transmit>, SendError> {
        if !self.config.declared.contains(ServerFeatures::LOGGING) {
            return Err(SendError::MissingCapability("logging"));
        }
        let session = self.session.revision().ok_or(SendError::NotReady);
        let token = token.map(|token| self.key(token)).transpose()?;
        let (revision, least) = match token {
            Some(token) => {
                let request = self.running(token)?;
                match request.revision.has_log_level_of_request() {
                    true => (request.revision, request.log_level),
                    // It may have been set while the request ran.
                    false => (request.revision, Some(self.session.log_level)),
                }
            }
            None => (session?, Some(self.session.log_level)),
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
        let len = self.bounded(w.finish())?;
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
        _now: Instant,
        method: Method<'_>,
        params: Option<&dyn Payload>,
        out: &mut [u8],
    ) -> Result<Transmit, SendError> {
        if self.is_closed() {
            return Err(SendError::Closed);
        }
        let Phase::Ready(revision) = self.session.phase else {
            return Err(SendError::NotReady);
        };
        if !self.may_notify(method, revision) {
            return Err(SendError::NotInRevision);
        }
        let mut w = Writer::new(out);
        let Some(params) = params else {
            envelope::bare_notification(&mut w, method);
            return Ok(Transmit::pipe(w.finish()?));
        };
        let mut object = (0, 0);
        envelope::notification(&mut w, method, |w| {
            object.0 = w.len();
            params.write(w, revision)?;
            object.1 = w.len();
            Ok(())
        })
        .map_err(|_: EncodeError| SendError::Encode)?;
        let len = w.len();
        self.bounded(check_object(out, len, object))
            .map(Transmit::pipe)
    }

    fn may_notify(&self, method: Method<'_>, revision: Revision) -> bool {
        if let Method::Other(name) = method {
            return self.is_own(name);
        }
        let facts = method.facts();
        facts.is_notification() && !facts.own_command.server && facts.server.contains(revision)
    }

    /// Tells what no outbox could ever hold from what only has to wait.
    pub(super) fn bounded<T, E: Into<SendError>>(
        &self,
        written: Result<T, E>,
    ) -> Result<T, SendError> {
        written.map_err(|error| error.into().within(self.max_message))
    }

    /// A request that the application may still speak for.
    /// The place of a request in the table.
    pub(super) fn key(&self, token: Token) -> Result<Key, SendError> {
        token.key_in(self.id).ok_or(SendError::Stale)
    }

    pub(super) fn running(&self, token: Key) -> Result<&InFlight<S::IdBuf>, SendError> {
        if self.is_closed() {
            return Err(SendError::Closed);
        }
        self.requests
            .get(token)
            .filter(|request| request.is_running())
            .ok_or(SendError::Stale)
    }
}
