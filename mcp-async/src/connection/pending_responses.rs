//! Answers to own requests, until their callers take them.

use core::task::Context;
use std::sync::Arc;

use mcp_proto::json::{Number, Raw, RawBuf, Str};

use super::frame::{Frame, keep};
use super::progress::ReceivedProgress;
use crate::error::{AuthorizationError, ErrorReply};
use crate::sync::{Waiter, Waiters};

/// The places of one connection. A place is named by a cookie, which travels through the machine with
/// the request: its index, a mark of the caller, and its generation above. The generation changes when
/// the place is given back, so what arrives for a caller that was dropped reaches no other one. The buffer stays with its
/// place, so in the long run an answer costs no allocation.
#[derive(Debug)]
pub(crate) struct PendingResponses<F> {
    responses: Vec<Place<F>>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Place<F> {
    /// Number of callers that had the place before.
    generation: u32,
    arrival: Option<Arrival<F>>,
    waker: Waiter,
    /// The caller's name for the request.
    tag: u64,
    /// The result, or the questions of an input round.
    buffer: RawBuf,
    /// Progress that the caller has not received yet.
    received: ReceivedProgress,
    /// The error that comes next says that the head of the request was wrong.
    mismatched: bool,
    /// The reason why the request had no credentials, if it fails next.
    denied: Option<Arc<AuthorizationError>>,
}

/// No request has this cookie any more.
#[derive(Debug)]
pub(crate) struct Gone;

/// News of a request.
#[derive(Debug)]
pub(crate) enum Arrival<F> {
    /// The result is in the buffer.
    Result,
    /// The peer's error.
    Error(ErrorReply),
    /// The peer's error: the head of the request did not repeat what its body says.
    Mismatched(ErrorReply),
    /// It ended here.
    Failed(F),
    /// It ended here, because the client has no credentials that the server accepts.
    Denied(Arc<AuthorizationError>),
    /// Input is wanted: questions, if there are any, are in the buffer.
    Input { asks: bool, state: Option<RawBuf> },
    /// The request is to be encoded and sent again.
    Again,
}

impl<F> PendingResponses<F> {
    /// Takes a free place and returns its cookie, which has this [mark](is_marked).
    pub(crate) fn take(&mut self, tag: u64, mark: bool) -> u64 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.responses.push(Place {
                generation: 0,
                arrival: None,
                waker: Waiter::new(),
                tag,
                buffer: RawBuf::default(),
                received: ReceivedProgress::default(),
                mismatched: false,
                denied: None,
            });
            // A machine's table is full long before this saturates.
            u32::try_from(self.responses.len() - 1).unwrap_or(u32::MAX)
        });
        let Some(place) = self.responses.get_mut(index as usize) else {
            return u64::MAX;
        };
        place.tag = tag;
        place.mismatched = false;
        place.denied = None;
        let mark = if mark { MARK } else { 0 };
        u64::from(place.generation) << u32::BITS | u64::from(index) | mark
    }

    /// Gives a place back, with what was taken from it; returns the result that was not.
    pub(crate) fn give_back(
        &mut self,
        cookie: u64,
        buffer: Option<RawBuf>,
        received: ReceivedProgress,
    ) -> (Waiter, Option<RawBuf>) {
        let Some(place) = self.place(cookie) else {
            return (Waiter::new(), None);
        };
        place.generation = place.generation.wrapping_add(1);
        let unclaimed = match place.arrival.take() {
            Some(Arrival::Result) => Some(core::mem::take(&mut place.buffer)),
            _ => None,
        };
        place.received.keep(received);
        // The buffer of one huge answer is not kept.
        if let Some(buffer) =
            buffer.filter(|buffer| buffer.capacity() <= KEPT && !buffer.is_shared())
        {
            place.buffer = buffer;
        }
        let waker = place.waker.take();
        self.free.push(index(cookie));
        (waker, unclaimed)
    }

    /// Puts down how the request got on; the waker is to be woken outside the lock.
    ///
    /// # Errors
    /// [`Gone`] if its caller was dropped.
    pub(crate) fn put(
        &mut self,
        cookie: u64,
        arrival: Arrival<F>,
        raw: Option<Raw<'_>>,
        frame: Frame<'_>,
    ) -> Result<Waiter, Gone> {
        let place = self.place(cookie).ok_or(Gone)?;
        match (raw, frame) {
            (Some(raw), None) => place.buffer.copy_from(raw),
            (Some(raw), Some(_)) => place.buffer = keep(raw, frame),
            (None, _) => {}
        }
        place.arrival = Some(match arrival {
            Arrival::Error(error) if place.mismatched => Arrival::Mismatched(error),
            Arrival::Failed(failure) => match place.denied.take() {
                Some(error) => Arrival::Denied(error),
                None => Arrival::Failed(failure),
            },
            other => other,
        });
        Ok(place.waker.take())
    }

    /// The error that is put down next says that head and body of the request differ.
    pub(crate) fn mismatched(&mut self, cookie: u64) {
        if let Some(place) = self.place(cookie) {
            place.mismatched = true;
        }
    }

    /// The failure that is put down next has this reason.
    pub(crate) fn denied(&mut self, cookie: u64, error: Arc<AuthorizationError>) {
        if let Some(place) = self.place(cookie) {
            place.denied = Some(error);
        }
    }

    /// Puts down how far the request is; the waker is to be woken outside the lock.
    pub(crate) fn receive_progress(
        &mut self,
        cookie: u64,
        progress: Number<'_>,
        total: Option<Number<'_>>,
        message: Option<Str<'_>>,
    ) -> Waiter {
        let Some(place) = self.place(cookie) else {
            return Waiter::new();
        };
        place.received.push(progress, total, message);
        place.waker.take()
    }

    /// Returns the news of the request, if there are any; else the task is woken when there are.
    /// Progress that arrived before is swapped into `received`.
    pub(crate) fn collect(
        &mut self,
        cookie: u64,
        cx: &Context<'_>,
        received: &mut ReceivedProgress,
    ) -> Option<(Arrival<F>, RawBuf)> {
        let place = self.place(cookie)?;
        if !place.received.is_empty() {
            core::mem::swap(&mut place.received, received);
        }
        let Some(arrival) = place.arrival.take() else {
            place.waker.register(cx);
            return None;
        };
        Some((arrival, core::mem::take(&mut place.buffer)))
    }

    /// The caller's name for the request; 0 if its caller was dropped.
    pub(crate) fn tag(&mut self, cookie: u64) -> u64 {
        self.place(cookie).map_or(0, |place| place.tag)
    }

    /// Moves out the wakers of all waiting tasks.
    pub(crate) fn end(&mut self, waiting: &mut Waiters) {
        let places = self.responses.iter_mut();
        waiting.extend(places.map(|place| place.waker.take()));
    }

    fn place(&mut self, cookie: u64) -> Option<&mut Place<F>> {
        let place = self.responses.get_mut(index(cookie) as usize)?;
        (u64::from(place.generation) == cookie >> u32::BITS).then_some(place)
    }
}

/// The index in a cookie.
const fn index(cookie: u64) -> u32 {
    (cookie & (MARK - 1)) as u32
}

/// Returns true if the caller marked the request when its place was taken.
pub(crate) const fn is_marked(cookie: u64) -> bool {
    cookie & MARK != 0
}

impl<F> Default for PendingResponses<F> {
    fn default() -> Self {
        Self {
            responses: Vec::new(),
            free: Vec::new(),
        }
    }
}

/// The mark in a cookie. No table has so many places.
const MARK: u64 = 1 << 31;

/// The bytes that one place keeps at most: with the default of 1 024 requests in flight 64 MiB in
/// the very worst case, and a few KiB as answers usually are.
const KEPT: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use core::task::Waker;

    use super::*;

    /// The machine names the caller before the lock is free for a moment, in which the caller is dropped.
    #[test]
    fn what_arrives_for_a_caller_that_was_dropped_reaches_no_other_one() {
        let mut responses = PendingResponses::<()>::default();
        let cx = Context::from_waker(Waker::noop());
        let gone = responses.take(1, true);
        let _ = responses.give_back(gone, None, ReceivedProgress::default());
        let next = responses.take(2, false);

        let result = Raw::parse(b"{}", 1).ok();
        let progress = Raw::parse(b"1", 1).ok().and_then(Raw::number).unwrap();
        let put = responses.put(gone, Arrival::Result, result, None);
        assert!(put.is_err() && is_marked(gone) && !is_marked(next));
        let _ = responses.receive_progress(gone, progress, None, None);
        assert_eq!(responses.tag(gone), 0);
        let mut received = ReceivedProgress::default();
        assert!(responses.collect(next, &cx, &mut received).is_none());
        assert!(received.is_empty());

        let _ = responses.put(next, Arrival::Result, result, None).unwrap();
        assert!(responses.collect(next, &cx, &mut received).is_some());

        // One that is not taken.
        let _ = responses.put(next, Arrival::Result, result, None).unwrap();
        let (_, unclaimed) = responses.give_back(next, None, ReceivedProgress::default());
        assert_eq!(unclaimed.unwrap().as_raw().as_str(), "{}");
    }
}
