//! Progress of requests, and the rate of its notifications (PG-06).

use core::time::Duration;

use super::in_flight::InFlight;
use super::pace::ProgressReport;
use crate::action::SendError;
use crate::id_buf::IdStorage;
use crate::json::{EncodeError, Writer};
use crate::received::ReceivedRequests;
use crate::rpc::{Id, Method, envelope};
use crate::slots::{Key, Queue, Slot};
use crate::source::Place;
use crate::store::Store;
use crate::time::Instant;

/// Between two notifications of a request are at least `interval`, after the first ones.
impl<L: IdStorage, P: Place, S: Store<Slot<InFlight<L, P>>>, B: Store<u8>>
    ReceivedRequests<InFlight<L, P>, S, B>
{
    /// Writes the progress of a request, or holds it back and returns 0.
    ///
    /// # Errors
    ///
    /// Those of [`Server::progress`](super::Server::progress).
    pub(super) fn report(
        &mut self,
        now: Instant,
        key: Key,
        interval: Duration,
        progress: ProgressReport<'_>,
        out: &mut [u8],
    ) -> Result<usize, SendError> {
        let request = self.running(key)?;
        let progress_token = request.progress_token().ok_or(SendError::Progress)?;
        let rises = progress.progress.is_finite() && progress.progress > request.progress;
        let sound = progress.total.is_none_or(f64::is_finite);
        if !rises || !sound {
            return Err(SendError::Progress);
        }
        if request.pace.is_early(now, interval) {
            self.hold(key, interval, progress);
            return Ok(0);
        }
        let mut w = Writer::new(out);
        write(&mut w, request, progress_token, progress);
        let len = self.bounded(w.finish())?;
        if let Some(request) = self.table.get_mut(key) {
            request.progress = progress.progress;
            request.pace.clear();
            if !interval.is_zero() {
                request.pace.take(now, interval);
                self.arm(key, None);
                self.table.unmark(Queue::Transmit, key);
            }
        }
        Ok(len)
    }

    /// Writes the progress of a request that is held back, if any.
    ///
    /// # Errors
    ///
    /// [`SendError::BufferFull`].
    pub(super) fn flush(
        &mut self,
        now: Instant,
        key: Key,
        interval: Duration,
        out: &mut [u8],
    ) -> Result<Option<usize>, SendError> {
        let Some(request) = self.table.get(key).filter(|it| it.is_running()) else {
            return Ok(None);
        };
        let held = request.pace.held(request.progress);
        let (Some(held), Some(id)) = (held, request.progress_token()) else {
            return Ok(None);
        };
        let mut w = Writer::new(out);
        write(&mut w, request, id, held);
        let written = self.bounded(w.finish());
        if let Err(error @ SendError::BufferFull { .. }) = written {
            return Err(error);
        }
        if let Some(request) = self.table.get_mut(key) {
            request.pace.clear();
            request.pace.take(now, interval);
        }
        self.arm(key, None);
        self.table.unmark(Queue::Transmit, key);
        // A text for which there will never be room is lost.
        Ok(written.ok())
    }

    /// Keeps the newest progress of a request until the next one may leave.
    fn hold(&mut self, key: Key, interval: Duration, progress: ProgressReport<'_>) {
        let Some(request) = self.table.get_mut(key) else {
            return;
        };
        request.progress = progress.progress;
        let until = request.pace.next(interval);
        if request.pace.hold(progress) {
            self.arm(key, Some(until));
        }
    }

    /// Has a request reported that is not answered until then.
    pub(super) fn set_overdue(&mut self, key: Key, until: Instant) {
        if let Some(request) = self.table.get_mut(key) {
            request.pace.set_overdue(until);
            self.table.arm(key, Some(until));
        }
    }

    /// Sets the deadline of a request whose held progress, if any, may leave at `progress`.
    fn arm(&mut self, key: Key, progress: Option<Instant>) {
        let request = self.table.get(key);
        if let Some(deadline) = request.and_then(|request| request.pace.deadline(progress)) {
            self.table.arm(key, deadline);
        }
    }

    /// Lets the progress leave that was held back until now, and reports requests that are overdue.
    pub(super) fn handle_timeout(&mut self, now: Instant, interval: Duration) {
        while let Some(key) = self.table.pop_due(now) {
            let request = self.table.get_mut(key);
            let Some(request) = request.filter(|request| request.is_running()) else {
                continue;
            };
            let is_overdue = request.pace.take_overdue(now);
            let held = request
                .pace
                .is_holding()
                .then(|| request.pace.next(interval));
            self.arm(key, held.filter(|until| *until > now));
            if held.is_some_and(|until| until <= now) {
                self.table.mark(Queue::Transmit, key);
            }
            if is_overdue {
                self.table.mark(Queue::Event, key);
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
