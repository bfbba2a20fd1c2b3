//! Requests of this side that wait for an answer: the calls of a client, the questions of a server.

use core::time::Duration;

use crate::action::{BufferFull, IgnoreReason, SendError};
use crate::json::{Decimal, Number, Object, Raw, Str, Writer};
use crate::ping::{Missed, Pinger};
use crate::rpc::{Id, Method, envelope};
use crate::slots::{Key, Queue, SlotStore, Slots};
use crate::time::Instant;
use crate::token::{MachineId, SentToken};

/// The part of a request that is alike in both roles. It ends without an answer for one of the reasons `E`.
#[derive(Clone, Debug)]
pub(crate) struct Sent<E> {
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
    /// Present if the request is over, and a notification of that is due.
    over: Option<Over<E>>,
}

/// The notifications that are due after a request has ended without an answer.
#[derive(Clone, Copy, Debug)]
struct Over<E> {
    /// To the peer.
    cancellation: Cancellation,
    /// To the application.
    untold: Option<E>,
}

/// The `notifications/cancelled` that the peer is owed for a request that is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cancellation {
    /// None: the peer never received the request, has answered it, or is gone.
    NotOwed,
    /// One without a reason.
    Owed,
    /// One whose reason is that the time is over.
    OwedForTimeout,
}

impl<E> Sent<E> {
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
            over: None,
        }
    }

    /// Returns true if the request is over, and a notification of that is due.
    pub(crate) const fn is_over(&self) -> bool {
        self.over.is_some()
    }

    /// Returns true if the peer must still be notified that the request is over.
    pub(crate) fn is_cancellation_owed(&self) -> bool {
        let over = self.over.as_ref();
        over.is_some_and(|over| over.cancellation != Cancellation::NotOwed)
    }

    /// The time until which it waits if it shows a sign of life now.
    fn deadline(&self, now: Instant) -> Instant {
        (now + self.timeout).min(self.latest)
    }
}

/// An entry of the table of a role.
pub(crate) trait SentRequest {
    /// The reasons for an end without an answer.
    type End: Copy;

    fn sent(&self) -> &Sent<Self::End>;

    fn sent_mut(&mut self) -> &mut Sent<Self::End>;

    /// Returns true if the peer has the request, and may answer it unless it is over.
    fn is_at_peer(&self) -> bool {
        true
    }

    /// Returns true if the request is a subscription.
    fn is_subscription(&self) -> bool {
        false
    }
}

/// The table of a role's requests, its pings, and the ids of both. In a store that holds nothing no request is made, and no
/// ping is sent.
#[derive(Debug)]
pub(crate) struct SentRequests<T, S> {
    pub(crate) table: Slots<T, S>,
    pub(crate) pinger: Pinger,
    machine: MachineId,
    subscriptions: usize,
    /// Ids of our requests count up, so that none is ever used twice (JR-05).
    next_id: u64,
}

impl<T: SentRequest, S: SlotStore<T>> SentRequests<T, S> {
    /// An empty table of this machine.
    pub(crate) fn new(store: S, limit: usize, pinger: Pinger, machine: MachineId) -> Self {
        Self {
            table: Slots::new(store, limit),
            pinger,
            machine,
            subscriptions: 0,
            next_id: 1,
        }
    }

    /// The name of a request for the application.
    pub(crate) const fn token(&self, key: Key) -> SentToken {
        SentToken::new(key, self.machine)
    }

    /// The place of a request; `None` for a token of another machine.
    pub(crate) fn key(&self, token: SentToken) -> Option<Key> {
        token.key_in(self.machine)
    }

    /// The number of requests that are subscriptions.
    pub(crate) const fn subscriptions(&self) -> usize {
        self.subscriptions
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
    pub(crate) fn is_ping_due(&self) -> bool {
        self.has_places() && self.pinger.is_due()
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
        self.has_places() && self.pinger.answered(now, id)
    }

    /// Starts the pings of a session.
    pub(crate) fn start_pings(&mut self, now: Instant) {
        if self.has_places() {
            self.pinger.start(now);
        }
    }

    /// Returns the ping that was missed by now, if one was.
    pub(crate) fn take_missed_ping(&mut self, now: Instant) -> Option<Missed> {
        if !self.has_places() {
            return None;
        }
        self.pinger.handle_timeout(now)
    }

    /// The time at which a request or a ping is over, or a ping is due.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        let pinger = self.has_places().then_some(&self.pinger);
        let deadlines = [
            self.table.next_deadline(),
            pinger.and_then(Pinger::deadline),
        ];
        Instant::earliest(deadlines)
    }

    /// Returns true if the table can hold a request. If it cannot, no pings are sent, and no progress is awaited.
    fn has_places(&self) -> bool {
        self.table.most() > 0
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
        let added = usize::from(request.is_subscription());
        let key = self
            .table
            .insert(hash, request)
            .map_err(|_| SendError::TableFull)?;
        self.table.arm(key, Some(deadline));
        self.subscriptions = self.subscriptions.saturating_add(added);
        self.take_id();
        Ok(key)
    }

    pub(crate) fn remove(&mut self, key: Key) -> Option<T> {
        let request = self.table.remove(key)?;
        let removed = usize::from(request.is_subscription());
        self.subscriptions = self.subscriptions.saturating_sub(removed);
        Some(request)
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
            request.sent().id == id && request.is_at_peer() && !request.sent().is_over()
        })
    }

    /// The request of this id that is over, and whose cancellation has not left.
    pub(crate) fn find_cancelled(&self, id: u64) -> Option<Key> {
        self.table.find(id as u32, |request| {
            request.sent().id == id && request.sent().is_cancellation_owed()
        })
    }

    /// Ends a request without an answer, unless it is over, and keeps the reason for the application.
    pub(crate) fn end(&mut self, key: Key, cancellation: Cancellation, why: T::End) {
        self.set_over(key, cancellation, Some(why));
    }

    fn set_over(&mut self, key: Key, cancellation: Cancellation, untold: Option<T::End>) {
        let Some(request) = self.table.get_mut(key) else {
            return;
        };
        let over = &mut request.sent_mut().over;
        if over.is_some() {
            return;
        }
        *over = Some(Over {
            cancellation,
            untold,
        });
        self.table.arm(key, None);
        if cancellation != Cancellation::NotOwed {
            self.table.mark(Queue::Transmit, key);
        }
        if untold.is_some() {
            self.table.mark(Queue::Event, key);
        }
    }

    /// Ends a request that the application gives up: no event of it follows, even if it is over already. The peer is notified if
    /// it may still answer.
    pub(crate) fn give_up(&mut self, key: Key) {
        let Some(request) = self.table.get_mut(key) else {
            return;
        };
        let is_at_peer = request.is_at_peer();
        let Some(over) = &mut request.sent_mut().over else {
            match is_at_peer {
                true => self.set_over(key, Cancellation::Owed, None),
                false => drop(self.remove(key)),
            }
            return;
        };
        if over.untold.take().is_none() {
            return;
        }
        if over.cancellation == Cancellation::NotOwed {
            self.remove(key);
        } else {
            over.cancellation = Cancellation::Owed;
            self.table.unmark(Queue::Event, key);
        }
    }

    /// Ends all requests. [`Cancellation::NotOwed`] is for a peer that is gone: cancellations that it was owed are dropped.
    pub(crate) fn end_all(&mut self, cancellation: Cancellation, why: T::End) {
        let mut at = 0;
        while let Some(key) = self.table.next_key(&mut at) {
            self.end(key, cancellation, why);
            if cancellation == Cancellation::NotOwed {
                self.forget_cancellation(key);
            }
        }
    }

    /// Returns the next request with an event, its cookie, and, if it is over, the reason.
    pub(crate) fn next_event(&mut self) -> Option<(Key, u64, Option<T::End>)> {
        let key = self.table.first(Queue::Event)?;
        self.table.unmark(Queue::Event, key);
        let sent = self.table.get_mut(key)?.sent_mut();
        let cookie = sent.cookie;
        let over = sent.over.as_mut();
        let why = over.and_then(|over| over.untold.take());
        if why.is_some() && !sent.is_cancellation_owed() {
            self.remove(key);
        }
        Some((key, cookie, why))
    }

    /// The first request of which the peer must be notified that it is over.
    pub(crate) fn next_cancelled(&self) -> Option<Key> {
        self.table.first(Queue::Transmit)
    }

    /// Writes the cancellation of a request, which is then no longer owed.
    pub(crate) fn write_cancellation(
        &mut self,
        key: Key,
        out: &mut [u8],
    ) -> Result<usize, BufferFull> {
        let Some(sent) = self.table.get(key).map(SentRequest::sent) else {
            return Ok(0);
        };
        let cancellation = sent.over.as_ref().map(|over| over.cancellation);
        let is_late = cancellation == Some(Cancellation::OwedForTimeout);
        let mut w = Writer::new(out);
        envelope::cancelled(
            &mut w,
            |w| w.unsigned(sent.id),
            is_late.then_some("timed out"),
        );
        let len = w.finish()?;
        self.forget_cancellation(key);
        Ok(len)
    }

    /// The peer was notified that a request is over, or need not be.
    pub(crate) fn forget_cancellation(&mut self, key: Key) {
        let request = self.table.get_mut(key);
        let Some(over) = request.and_then(|request| request.sent_mut().over.as_mut()) else {
            return;
        };
        over.cancellation = Cancellation::NotOwed;
        let is_told = over.untold.is_none();
        self.table.unmark(Queue::Transmit, key);
        if is_told {
            self.remove(key);
        }
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

    /// Notes progress that the peer reports. Returns it with the request and its cookie if the request is awaited, asked for progress,
    /// and the value exceeds the last one (PG-04, PG-09).
    pub(crate) fn progressed<'b>(
        &mut self,
        params: Object<'b>,
    ) -> Result<(Key, u64, Progress<'b>), IgnoreReason> {
        let stale = IgnoreReason::StaleProgress;
        if !self.has_places() {
            return Err(stale);
        }
        let progress = Progress::read(params)?;
        let key = progress.id.and_then(|id| self.find(id)).ok_or(stale)?;
        let sent = self.table.get_mut(key).ok_or(stale)?.sent_mut();
        let value = progress.value.decimal();
        if sent.progress.ok_or(stale)? >= value {
            return Err(stale);
        }
        sent.progress = Some(value);
        Ok((key, sent.cookie, progress))
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
    fn read(params: Object<'b>) -> Result<Self, IgnoreReason> {
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
