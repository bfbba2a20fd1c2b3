//! Progress of requests, and the rate of its notifications (PG-06).

use core::time::Duration;

use super::in_flight::{InFlight, Progress};
use super::pace::ProgressReport;
use crate::action::SendError;
use crate::id_buf::IdStorage;
use crate::json::{EncodeError, Writer};
use crate::received::ReceivedRequests;
use crate::revision::Revision;
use crate::rpc::{Id, Method, envelope};
use crate::slots::{Key, Queue, SlotStore};
use crate::source::Place;
use crate::store::Store;
use crate::time::Instant;

/// Between two notifications of a request are at least `interval`, after the first ones.
impl<L: IdStorage, P: Place, S: SlotStore<InFlight<L, P>>, B: Store<u8>>
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
        report: ProgressReport<'_>,
        out: &mut [u8],
    ) -> Result<usize, SendError> {
        let request = self.running(key)?;
        let progress = request.progress().ok_or(SendError::Progress)?;
        let rises = report.progress.is_finite() && report.progress > progress.last;
        let sound = report.total.is_none_or(f64::is_finite);
        if !rises || !sound {
            return Err(SendError::Progress);
        }
        if progress.pace.is_early(now, interval) {
            self.hold(key, interval, report);
            return Ok(0);
        }
        let mut w = Writer::new(out);
        write(&mut w, request.revision, progress.token(), report);
        let len = self.bounded(w.finish())?;
        if let Some(progress) = self.progress_mut(key) {
            progress.last = report.progress;
            progress.pace.clear();
            if !interval.is_zero() {
                progress.pace.take(now, interval);
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
        let Some(progress) = request.progress() else {
            return Ok(None);
        };
        let Some(held) = progress.pace.held(progress.last) else {
            return Ok(None);
        };
        let mut w = Writer::new(out);
        write(&mut w, request.revision, progress.token(), held);
        let written = self.bounded(w.finish());
        if let Err(error @ SendError::BufferFull { .. }) = written {
            return Err(error);
        }
        if let Some(progress) = self.progress_mut(key) {
            progress.pace.clear();
            progress.pace.take(now, interval);
        }
        self.arm(key, None);
        self.table.unmark(Queue::Transmit, key);
        // A text for which there will never be room is lost.
        Ok(written.ok())
    }

    /// Keeps the newest progress of a request until the next one may leave.
    fn hold(&mut self, key: Key, interval: Duration, report: ProgressReport<'_>) {
        let Some(progress) = self.progress_mut(key) else {
            return;
        };
        progress.last = report.progress;
        let until = progress.pace.next(interval);
        if progress.pace.hold(report) {
            self.arm(key, Some(until));
        }
    }

    /// Has a request reported that is not answered until then.
    pub(super) fn set_overdue(&mut self, key: Key, until: Instant) {
        if let Some(request) = self.table.get_mut(key) {
            request.time_limit.set(until);
            self.table.arm(key, Some(until));
        }
    }

    fn progress_mut(&mut self, key: Key) -> Option<&mut Progress> {
        self.table.get_mut(key)?.progress_mut()
    }

    /// Sets the deadline of a request whose held progress, if any, may leave at `report`.
    fn arm(&mut self, key: Key, report: Option<Instant>) {
        let request = self.table.get(key);
        if let Some(deadline) = request.and_then(|request| request.time_limit.deadline(report)) {
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
            let is_overdue = request.time_limit.take(now);
            let pace = request.progress().map(|progress| &progress.pace);
            let held = pace
                .filter(|pace| pace.is_holding())
                .map(|pace| pace.next(interval));
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

fn write(w: &mut Writer<'_>, revision: Revision, token: Id<'_>, progress: ProgressReport<'_>) {
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
            && revision.has_progress_message()
        {
            w.literal(r#","message":"#);
            w.string(message);
        }
        w.literal("}");
        Ok::<(), EncodeError>(())
    });
}
