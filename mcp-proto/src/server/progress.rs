//! Progress of requests, and the rate of its notifications (PG-06).

use core::time::Duration;

use super::in_flight::InFlight;
use super::pace::{Pace, ProgressReport};
use super::{Server, Storage};
use crate::action::{SendError, Transmit};
use crate::id_buf::IdStorage;
use crate::json::{EncodeError, Writer};
use crate::rpc::{Id, Method, envelope};
use crate::slots::{Key, Queue};
use crate::source::Place;
use crate::time::Instant;
use crate::token::Token;

impl<S: Storage> Server<'_, S> {
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
        let token = self.requests.key(token)?;
        let request = self.running(token)?;
        let progress_token = request.progress_token().ok_or(SendError::Progress)?;
        let rises = progress.progress.is_finite() && progress.progress > request.progress;
        let sound = progress.total.is_none_or(f64::is_finite);
        if !rises || !sound {
            return Err(SendError::Progress);
        }
        let interval = self.config.progress_interval;
        if request.pace.is_early(now, interval) {
            self.hold(token, interval, progress);
            return Ok(Transmit::on(self.channel_of(Some(token)), 0));
        }
        let mut w = Writer::new(out);
        write(&mut w, request, progress_token, progress);
        let len = self.requests.bounded(w.finish())?;
        if let Some(request) = self.requests.table.get_mut(token) {
            request.progress = progress.progress;
            request.pace.clear();
            if !interval.is_zero() {
                request.pace.take(now, interval);
                self.arm_request(token, None);
                self.requests.table.unmark(Queue::Transmit, token);
            }
        }
        Ok(Transmit::on(self.channel_of(Some(token)), len))
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
        token: Key,
        out: &mut [u8],
    ) -> Result<Option<Transmit>, SendError> {
        let Some(request) = self.requests.table.get(token).filter(|it| it.is_running()) else {
            return Ok(None);
        };
        let held = request.pace.held(request.progress);
        let (Some(held), Some(id)) = (held, request.progress_token()) else {
            return Ok(None);
        };
        let mut w = Writer::new(out);
        write(&mut w, request, id, held);
        let written = self.requests.bounded(w.finish());
        if let Err(error @ SendError::BufferFull { .. }) = written {
            return Err(error);
        }
        let interval = self.config.progress_interval;
        if let Some(request) = self.requests.table.get_mut(token) {
            request.pace.clear();
            request.pace.take(now, interval);
        }
        self.arm_request(token, None);
        self.requests.table.unmark(Queue::Transmit, token);
        // A text for which there will never be room is lost.
        Ok(written
            .ok()
            .map(|len| Transmit::on(self.channel_of(Some(token)), len)))
    }

    /// Keeps the newest progress of a request until the next one may leave.
    fn hold(&mut self, token: Key, interval: Duration, progress: ProgressReport<'_>) {
        let Some(request) = self.requests.table.get_mut(token) else {
            return;
        };
        request.progress = progress.progress;
        let until = request.pace.next(interval);
        if request.pace.hold(progress) {
            self.arm_request(token, Some(until));
        }
    }

    /// Has a request reported that is not answered until then.
    pub(super) fn set_overdue(&mut self, token: Token, until: Instant) {
        let Ok(key) = self.requests.key(token) else {
            return;
        };
        if let Some(request) = self.requests.table.get_mut(key) {
            request.pace.set_overdue(until);
            self.requests.table.arm(key, Some(until));
        }
    }

    /// Sets the deadline of a request whose held progress, if any, may leave at `progress`.
    fn arm_request(&mut self, token: Key, progress: Option<Instant>) {
        if !Pace::HOLDS {
            return;
        }
        let request = self.requests.table.get(token);
        let overdue = request.and_then(|request| request.pace.overdue());
        let due = [progress, overdue].into_iter().flatten().min();
        self.requests.table.arm(token, due);
    }

    /// Lets the progress leave that was held back until now, and reports requests that are overdue.
    pub(super) fn request_timeout(&mut self, now: Instant) {
        let interval = self.config.progress_interval;
        while let Some(token) = self.requests.table.pop_due(now) {
            let request = self.requests.table.get_mut(token);
            let Some(request) = request.filter(|request| request.is_running()) else {
                continue;
            };
            let is_overdue = request.pace.take_overdue(now);
            let held = request
                .pace
                .is_holding()
                .then(|| request.pace.next(interval));
            self.arm_request(token, held.filter(|until| *until > now));
            if held.is_some_and(|until| until <= now) {
                self.requests.table.mark(Queue::Transmit, token);
            }
            if is_overdue {
                self.requests.table.mark(Queue::Event, token);
            }
        }
    }
}

fn write<L: IdStorage, P: Place>(
    w: &mut Writer<'_>,
    request: &InFlight<L, P>,
    token: Id<'_>,
    progress: ProgressReport<'_>,
) {
    let _ = envelope::notification(w, Method::Progress, |w| {
        w.literal(r#"{"progressToken":"#);
        token.write(w);
        w.literal(r#","progress":"#);
        w.float(progress.progress);
        if let Some(total) = progress.total {
            w.literal(r#","total":"#);
            w.float(total);
        }
        if let Some(message) = progress.message
            && request.revision.has_progress_message()
        {
            w.literal(r#","message":"#);
            w.string(message);
        }
        w.literal("}");
        Ok::<(), EncodeError>(())
    });
}
