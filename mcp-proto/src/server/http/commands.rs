//! Commands of the application to one machine.

use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use super::ServerId;
use super::entry::Entry;
use crate::action::SendError;
use crate::model::LoggingLevel;
use crate::outbox::{NeedsBuffer, Output};
use crate::payload::{Outcome, Payload, Question};
use crate::rpc::Method;
use crate::server::{AskOptions, Growing, ListKind, ProgressReport, Server};
use crate::time::Instant;
use crate::token::{SentToken, Token};

/// Access to one machine of an [`HttpServer`](super::HttpServer): what is written goes to the
/// stream or the response that it belongs to.
///
/// The methods are those of [`Server`], without the buffer. An answer is always taken. Everything
/// else is refused with [`SendError::BufferFull`] while the client leaves too much of that stream
/// unread ([`StreamLimits::unread`](super::streams::StreamLimits::unread)); `needed` is 0 then.
///
/// ```
/// use mcp_proto::server::http::{HttpServer, ServerId};
/// use mcp_proto::{Instant, Outcome, Payload, SendError, Token};
///
/// /// Answers a call that an event brought earlier.
/// fn finish(
///     http: &mut HttpServer<'_>,
///     now: Instant,
///     (machine, token): (ServerId, Token),
///     result: &dyn Payload,
/// ) -> Result<(), SendError> {
///     // A machine that is gone takes its requests with it.
///     let mut commands = http.commands(machine).ok_or(SendError::Closed)?;
///     commands.respond(now, token, Outcome::Result(result))
/// }
/// ```
pub struct Commands<'h, 'c> {
    pub(super) id: ServerId,
    pub(super) entry: &'h mut Entry<'c>,
    pub(super) out: &'h mut Vec<u8>,
}

impl<'c> Commands<'_, 'c> {
    /// Names the machine, for answers that come later.
    pub const fn id(&self) -> ServerId {
        self.id
    }

    /// The id of the session; `None` for a request that belongs to no session, and before the
    /// handshake was answered.
    pub fn session_id(&self) -> Option<&str> {
        self.entry.session()
    }

    /// The principal that [opened](super::HttpServer::open) the session or sent the request.
    pub fn principal(&self) -> Option<&str> {
        self.entry.principal.as_deref()
    }

    /// The machine, for its getters.
    pub const fn server(&self) -> &Server<'c, Growing> {
        &self.entry.server
    }

    /// Reports that a list changed: see [`Server::list_changed`].
    pub fn list_changed(&mut self, kind: ListKind) {
        self.entry.server.list_changed(kind);
    }

    /// Reports that a resource changed: see [`Server::resource_updated`].
    pub fn resource_updated(&mut self, uri: &str) {
        self.entry.server.resource_updated(uri);
    }

    /// Ends a listen: see [`Server::end_listen`].
    pub fn end_listen(&mut self, token: Token) {
        self.entry.server.end_listen(token);
    }

    /// Gives up a question: see [`Server::cancel`].
    pub fn cancel(&mut self, question: SentToken) {
        self.entry.server.cancel(question);
    }

    /// Answers a request, after the progress that was held back: see [`Server::respond`].
    ///
    /// # Errors
    /// Those of [`Server::respond`], without `BufferFull`.
    pub fn respond(
        &mut self,
        now: Instant,
        token: Token,
        outcome: Outcome<'_>,
    ) -> Result<(), SendError> {
        self.put(|server, out| server.flush_progress(now, token, out))?;
        self.put(|server, out| server.respond(now, token, outcome, out))
    }

    /// Reports progress of a request: see [`Server::progress`].
    ///
    /// # Errors
    /// Those of [`Server::progress`].
    pub fn progress(
        &mut self,
        now: Instant,
        token: Token,
        progress: ProgressReport<'_>,
    ) -> Result<(), SendError> {
        self.check_room(Some(token))?;
        self.put(|server, out| server.progress(now, token, progress, out))
    }

    /// Sends a log message: see [`Server::log`].
    ///
    /// # Errors
    /// Those of [`Server::log`].
    pub fn log(
        &mut self,
        now: Instant,
        token: Option<Token>,
        level: LoggingLevel,
        logger: Option<&str>,
        data: &dyn Payload,
    ) -> Result<(), SendError> {
        self.check_room(token)?;
        self.put(|server, out| server.log(now, token, level, logger, data, out))
    }

    /// Sends a notification to the client of a session: see [`Server::notify`].
    ///
    /// # Errors
    /// Those of [`Server::notify`].
    pub fn notify(
        &mut self,
        now: Instant,
        method: Method<'_>,
        params: Option<&dyn Payload>,
    ) -> Result<(), SendError> {
        self.check_room(None)?;
        self.put(|server, out| server.notify(now, method, params, out))
    }

    /// Sends a notification that belongs to a request or to a listen: see [`Server::notify_for`].
    ///
    /// # Errors
    /// Those of [`Server::notify_for`].
    pub fn notify_for(
        &mut self,
        now: Instant,
        token: Token,
        method: Method<'_>,
        params: Option<&dyn Payload>,
    ) -> Result<(), SendError> {
        self.check_room(Some(token))?;
        self.put(|server, out| server.notify_for(now, token, method, params, out))
    }

    /// Acknowledges a held listen: see [`Server::acknowledge`].
    ///
    /// # Errors
    /// Those of [`Server::acknowledge`], without `BufferFull`.
    pub fn acknowledge(
        &mut self,
        now: Instant,
        token: Token,
        accepted: &[(&str, &dyn Payload)],
    ) -> Result<(), SendError> {
        self.put(|server, out| server.acknowledge(now, token, accepted, out))
    }

    /// Asks the client of a session: see [`Server::ask`]. Returns the token of the question.
    ///
    /// # Errors
    /// Those of [`Server::ask`].
    pub fn ask(
        &mut self,
        now: Instant,
        parent: Option<Token>,
        question: Question<'_>,
        options: AskOptions,
    ) -> Result<SentToken, SendError> {
        self.check_room(parent)?;
        let Self { entry, out, .. } = self;
        let asked = entry.put(out, |server, out| {
            server.ask(now, parent, question, options, out)
        });
        asked.map(|(token, _)| token)
    }

    /// Ends the response that a request of a session is answered in, after telling the client
    /// when to ask for the rest (SH-13); returns whether the client can do so.
    pub fn disconnect(&mut self, token: Token, retry: Duration) -> bool {
        let Ok(key) = self.entry.server.key(token) else {
            return false;
        };
        let channel = self.entry.server.channel_of(Some(key));
        self.entry.disconnect(channel, retry)
    }

    fn put<T: Output, E: NeedsBuffer>(
        &mut self,
        write: impl FnMut(&mut Server<'c, Growing>, &mut [u8]) -> Result<T, E>,
    ) -> Result<(), E> {
        self.entry.put(self.out, write).map(|_| ())
    }

    fn check_room(&self, request: Option<Token>) -> Result<(), SendError> {
        let server = &self.entry.server;
        let key = request.map(|token| server.key(token)).transpose()?;
        let channel = server.channel_of(key);
        match self.entry.streams.has_room(channel) {
            true => Ok(()),
            false => Err(SendError::BufferFull { needed: 0 }),
        }
    }
}

impl fmt::Debug for Commands<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Commands")
            .field("id", &self.id)
            .field("server", &self.entry.server)
            .finish_non_exhaustive()
    }
}
