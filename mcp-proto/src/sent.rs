//! Requests of this side that wait for an answer: the calls of a client, the questions of a server.

use core::time::Duration;

use crate::action::{BufferFull, IgnoreReason, SendError};
use crate::json::{Decimal, Number, Object, Raw, Str, Writer};
use crate::ping::Pinger;
use crate::rpc::{Id, Method, envelope};
use crate::slots::{Key, Slot, Slots};
use crate::store::Table;
use crate::time::Instant;

/// The part of a request that is alike in both roles.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    /// Of the latest message; below the counter of the table.
    pub(crate) id: u64,
    /// A number of the application's choice, which returns with each event of the request.
    pub(crate) cookie: u64,
    /// The longest wait for a sign of life (LC-18).
    timeout: Duration,
    /// No progress moves the deadline beyond it (LC-19).
    pub(crate) latest: Instant,
    /// The last value, if progress was asked for; at first below every number. Compared without floating-point arithmetic.
    progress: Option<Decimal>,
}

impl Sent {
    /// A request that is made now, under the next id of its table.
    pub(crate) fn new(
        id: u64,
        cookie: u64,
        timeout: Duration,
        latest: Instant,
        progress: bool,
    ) -> Self {
        Self {
            id,
            cookie,
            timeout,
            latest,
            progress: progress.then(Decimal::default),
        }
    }

    /// The time until which it waits if it shows a sign of life now.
    fn deadline(&self, now: Instant) -> Instant {
        (now + self.timeout).min(self.latest)
    }
}

/// An entry of the table of a role.
pub(crate) trait SentRequest {
    fn sent(&self) -> &Sent;

    fn sent_mut(&mut self) -> &mut Sent;

    /// Returns true if the peer may still answer the request.
    fn is_awaited(&self) -> bool;
}

/// The table of a role's requests, its pings, and the ids of both. In a store that holds nothing no request is made, and no
/// ping is sent.
#[derive(Debug)]
pub(crate) struct SentRequests<T, S> {
    pub(crate) table: Slots<T, S>,
    pub(crate) pinger: Pinger,
    /// Ids of our requests count up, so that none is ever used twice (JR-05).
    next_id: u64,
}

impl<T: SentRequest, S: Table<Slot<T>>> SentRequests<T, S> {
    pub(crate) fn new(store: S, limit: usize, pinger: Pinger) -> Self {
        Self {
            table: Slots::new(store, limit),
            pinger,
            next_id: 1,
        }
    }

    /// The id of our next request, which is used once its bytes fit.
    pub(crate) const fn next_id(&self) -> u64 {
        self.next_id
    }

    pub(crate) const fn take_id(&mut self) -> u64 {
        let id = self.next_id;
        self.next_id = id.saturating_add(1);
        id
    }

    /// Returns true if a ping is to be written.
    pub(crate) const fn is_ping_due(&self) -> bool {
        S::HOLDS && self.pinger.is_due()
    }

    /// Writes the ping that is due. Returns its length.
    pub(crate) fn write_ping(
        &mut self,
        now: Instant,
        out: &mut [u8],
    ) -> Result<Option<usize>, BufferFull> {
        if !self.is_ping_due() {
            return Ok(None);
        }
        let mut w = Writer::new(out);
        envelope::bare_request(&mut w, self.next_id, Method::Ping);
        let len = w.finish()?;
        let id = self.take_id();
        self.pinger.sent(now, id);
        Ok(Some(len))
    }

    /// Takes the answer to the ping of this id, of any kind: it is a sign of life. Returns false if no such ping is unanswered.
    pub(crate) fn take_pong(&mut self, now: Instant, id: u64) -> bool {
        S::HOLDS && self.pinger.answered(now, id)
    }

    /// The time at which a request or a ping is over, or a ping is due.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        if !S::HOLDS {
            return None;
        }
        let deadlines = [self.table.next_deadline(), self.pinger.deadline()];
        deadlines.into_iter().flatten().min()
    }

    /// Continues after the ids of another process.
    pub(crate) fn go_on_from(&mut self, id: u64) {
        self.next_id = id.max(1);
    }

    /// Returns true if a request of ours had this id.
    pub(crate) fn is_used(&self, id: u64) -> bool {
        (1..self.next_id).contains(&id)
    }

    /// Takes in a request that is made now, under the next id.
    pub(crate) fn insert(&mut self, now: Instant, request: T) -> Result<Key, SendError> {
        let deadline = request.sent().deadline(now);
        let hash = request.sent().id as u32;
        let key = self
            .table
            .insert(hash, request)
            .map_err(|_| SendError::TableFull)?;
        self.table.arm(key, Some(deadline));
        self.take_id();
        Ok(key)
    }

    /// A request that is made again now, under the next id.
    pub(crate) fn sent_again(&mut self, now: Instant, key: Key, timeout: Duration, progress: bool) {
        let id = self.take_id();
        self.table.rename(key, id as u32);
        if let Some(request) = self.table.get_mut(key) {
            let sent = request.sent_mut();
            *sent = Sent::new(id, sent.cookie, timeout, sent.latest, progress);
            let deadline = sent.deadline(now);
            self.table.arm(key, Some(deadline));
        }
    }

    /// The request that the peer may still answer under this id.
    pub(crate) fn find(&self, id: u64) -> Option<Key> {
        self.table.find(id as u32, |request| {
            request.sent().id == id && request.is_awaited()
        })
    }

    /// The request of this id, also if it is over and its cancellation has not left.
    pub(crate) fn find_any(&self, id: u64) -> Option<Key> {
        self.table
            .find(id as u32, |request| request.sent().id == id)
    }

    /// Gives the request its time again. Returns whether its deadline is ahead.
    pub(crate) fn extend(&mut self, now: Instant, key: Key) -> bool {
        let Some(sent) = self.table.get(key).map(SentRequest::sent) else {
            return false;
        };
        let deadline = (now + sent.timeout.max(LEAST)).min(sent.latest);
        let ahead = deadline > now;
        if ahead {
            self.table.arm(key, Some(deadline));
        }
        ahead
    }

    /// Notes progress that the peer reports. Returns the request and its cookie if the request is awaited, asked for progress, and the
    /// value exceeds the last one (PG-04, PG-09).
    pub(crate) fn progressed(&mut self, progress: &Progress<'_>) -> Option<(Key, u64)> {
        let key = self.find(progress.id?)?;
        let sent = self.table.get_mut(key)?.sent_mut();
        let value = progress.value.decimal();
        if sent.progress? >= value {
            return None;
        }
        sent.progress = Some(value);
        Some((key, sent.cookie))
    }
}

/// A `notifications/progress` of the peer.
pub(crate) struct Progress<'b> {
    /// Its token, if it is one that this side gives.
    id: Option<u64>,
    pub(crate) value: Number<'b>,
    pub(crate) total: Option<Number<'b>>,
    pub(crate) message: Option<Str<'b>>,
}

impl<'b> Progress<'b> {
    pub(crate) fn read(params: Object<'b>) -> Result<Self, IgnoreReason> {
        let Ok([Some(token), Some(value), total, message]) =
            params.find(["progressToken", "progress", "total", "message"])
        else {
            return Err(IgnoreReason::Malformed);
        };
        let (Some(token), Some(value)) = (Id::from_raw(token), value.number()) else {
            return Err(IgnoreReason::Malformed);
        };
        Ok(Self {
            id: token.to_u64(),
            value,
            total: total.and_then(Raw::number),
            message: message.and_then(Raw::string),
        })
    }
}

/// A deadline that is due now would be due again at once.
const LEAST: Duration = Duration::from_millis(1);
