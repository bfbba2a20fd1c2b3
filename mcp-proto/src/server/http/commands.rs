//! Commands of the application to one machine.

use alloc::vec::Vec;
use core::fmt;
use core::time::Duration;

use super::ServerId;
use super::entry::Entry;
use crate::action::SendError;
use crate::conversation::Outgoing as _;
use crate::outbox::{NeedsBuffer, Outbox, Written};
use crate::payload::Outcome;
use crate::server::{Growing, ListKind, Server};
use crate::time::Instant;
use crate::token::{SentToken, Token};

/// Access to one machine of an [`HttpServer`](super::HttpServer): what is written goes to the
/// stream or the response that it belongs to.
///
/// ```
/// use mcp_proto::server::ProgressReport;
/// use mcp_proto::server::http::{HttpServer, ServerId};
/// use mcp_proto::{Instant, Outcome, Payload, SendError, Token};
///
/// /// Answers a call that an event brought earlier, after a last report of progress.
/// fn finish(
///     http: &mut HttpServer<'_>,
///     now: Instant,
///     (machine, token): (ServerId, Token),
///     result: &dyn Payload,
/// ) -> Result<(), SendError> {
///     // A machine that is gone takes its requests with it.
///     let mut commands = http.commands(machine).ok_or(SendError::Closed)?;
///     let progress = ProgressReport::new(1.0);
///     let _ = commands.send(Some(token), |server, out| server.progress(now, token, progress, out));
///     commands.respond(now, token, Outcome::Result(result))
/// }
/// ```
pub struct Commands<'h, 'c> {
    pub(super) id: ServerId,
    pub(super) entry: &'h mut Entry<'c>,
    pub(super) outbox: &'h mut Outbox<Vec<u8>>,
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
        self.put(|server, out| server.respond(token, outcome, out))
            .map(drop)
    }

    /// Sends another message on behalf of a request, or of none: progress, a log message, a notification, a question.
    ///
    /// # Errors
    /// Those of the command; [`SendError::BufferFull`] with `needed` 0 while the client leaves too much of that stream
    /// unread ([`StreamLimits::unread`](super::streams::StreamLimits::unread)).
    pub fn send<T: Written>(
        &mut self,
        request: Option<Token>,
        write: impl FnMut(&mut Server<'c, Growing>, &mut [u8]) -> Result<T, SendError>,
    ) -> Result<T, SendError> {
        let server = &self.entry.server;
        let key = request
            .map(|token| server.requests.key(token))
            .transpose()?;
        match self.entry.outgoing.has_room(server.channel_of(key)) {
            true => self.put(write),
            false => Err(SendError::BufferFull { needed: 0 }),
        }
    }

    /// Sends a message that is always taken, such as [`Server::acknowledge`].
    ///
    /// # Errors
    /// Those of the command.
    pub fn put<T: Written, E: NeedsBuffer>(
        &mut self,
        write: impl FnMut(&mut Server<'c, Growing>, &mut [u8]) -> Result<T, E>,
    ) -> Result<T, E> {
        let written = self.entry.conversation(self.outbox).put(write);
        written.map(|(written, _)| written)
    }

    /// Ends the response that a request of a session is answered in, after telling the client
    /// when to ask for the rest (SH-13); returns whether the client can do so.
    pub fn disconnect(&mut self, token: Token, retry: Duration) -> bool {
        let Ok(key) = self.entry.server.requests.key(token) else {
            return false;
        };
        let channel = self.entry.server.channel_of(Some(key));
        self.entry.disconnect(channel, retry)
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
