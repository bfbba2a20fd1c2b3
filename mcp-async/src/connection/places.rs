//! Where the answers to our own requests are put down until their askers take them.

use core::task::{Context, Waker};

use mcp_proto::json::{Number, Raw, RawBuf, Str};

use super::frame::{Frame, keep};
use super::progress::Heard;
use crate::error::ErrorReply;

/// The places of one connection. The number of a place travels through the machine as the
/// request's cookie; its buffer stays with it, so in the long run an answer costs no allocation.
#[derive(Debug)]
pub(crate) struct Places<F> {
    places: Vec<Place<F>>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Place<F> {
    arrival: Option<Arrival<F>>,
    waker: Option<Waker>,
    /// The caller's name for the request.
    tag: u64,
    /// The result, or the questions of an input round.
    buffer: RawBuf,
    /// Progress that the asker has not heard of yet.
    heard: Heard,
    /// The error that comes next says that the head of the request was wrong.
    mismatched: bool,
}

/// How a request got on.
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
    /// Input is wanted: questions, if there are any, are in the buffer.
    Input { asks: bool, state: Option<RawBuf> },
    /// The request is to be encoded and sent again.
    Again,
}

impl<F> Places<F> {
    /// Takes a free place.
    pub(crate) fn take(&mut self, tag: u64) -> u32 {
        let index = self.free.pop().unwrap_or_else(|| {
            self.places.push(Place {
                arrival: None,
                waker: None,
                tag,
                buffer: RawBuf::default(),
                heard: Heard::default(),
                mismatched: false,
            });
            // A machine's table is full long before this saturates.
            u32::try_from(self.places.len() - 1).unwrap_or(u32::MAX)
        });
        if let Some(place) = self.place(u64::from(index)) {
            place.tag = tag;
            place.mismatched = false;
        }
        index
    }

    /// Gives a place back, with what was taken from it.
    pub(crate) fn give_back(
        &mut self,
        index: u32,
        buffer: Option<RawBuf>,
        heard: Heard,
    ) -> Option<Waker> {
        let place = self.place(u64::from(index))?;
        place.arrival = None;
        place.heard.keep(heard);
        // One huge answer is not remembered for ever.
        if let Some(buffer) =
            buffer.filter(|buffer| buffer.capacity() <= KEPT && !buffer.is_shared())
        {
            place.buffer = buffer;
        }
        let waker = place.waker.take();
        self.free.push(index);
        waker
    }

    /// Puts down how the request got on; the waker is to be woken outside the lock.
    pub(crate) fn put(
        &mut self,
        cookie: u64,
        arrival: Arrival<F>,
        raw: Option<Raw<'_>>,
        frame: Frame<'_>,
    ) -> Option<Waker> {
        let place = self.place(cookie)?;
        match (raw, frame) {
            (Some(raw), None) => place.buffer.copy_from(raw),
            (Some(raw), Some(_)) => place.buffer = keep(raw, frame),
            (None, _) => {}
        }
        place.arrival = Some(match arrival {
            Arrival::Error(error) if place.mismatched => Arrival::Mismatched(error),
            other => other,
        });
        place.waker.take()
    }

    /// The error that is put down next says that head and body of the request differ.
    #[cfg(all(feature = "client", feature = "http"))]
    pub(crate) fn mismatched(&mut self, cookie: u64) {
        if let Some(place) = self.place(cookie) {
            place.mismatched = true;
        }
    }

    /// Puts down how far the request is; the waker is to be woken outside the lock.
    pub(crate) fn hear(
        &mut self,
        cookie: u64,
        progress: Number<'_>,
        total: Option<Number<'_>>,
        message: Option<Str<'_>>,
    ) -> Option<Waker> {
        let place = self.place(cookie)?;
        place.heard.push(progress, total, message);
        place.waker.take()
    }

    /// How the request got on, if anything is new; else the task is woken when it is. What was
    /// heard on the way is swapped into `heard`.
    pub(crate) fn collect(
        &mut self,
        index: u32,
        cx: &Context<'_>,
        heard: &mut Heard,
    ) -> Option<(Arrival<F>, RawBuf)> {
        let place = self.place(u64::from(index))?;
        if !place.heard.is_empty() {
            core::mem::swap(&mut place.heard, heard);
        }
        let Some(arrival) = place.arrival.take() else {
            match &mut place.waker {
                Some(waker) => waker.clone_from(cx.waker()),
                none => *none = Some(cx.waker().clone()),
            }
            return None;
        };
        Some((arrival, core::mem::take(&mut place.buffer)))
    }

    pub(crate) fn tag(&self, cookie: u64) -> u64 {
        let index = usize::try_from(cookie).unwrap_or(usize::MAX);
        self.places.get(index).map_or(0, |place| place.tag)
    }

    /// Moves out the waker of everyone who waits.
    pub(crate) fn end(&mut self, waiting: &mut Vec<Waker>) {
        waiting.extend(
            self.places
                .iter_mut()
                .filter_map(|place| place.waker.take()),
        );
    }

    fn place(&mut self, cookie: u64) -> Option<&mut Place<F>> {
        self.places.get_mut(usize::try_from(cookie).ok()?)
    }
}

impl<F> Default for Places<F> {
    fn default() -> Self {
        Self {
            places: Vec::new(),
            free: Vec::new(),
        }
    }
}

/// What one place keeps at most: with the default of 1 024 requests in flight 64 MiB in the
/// very worst case, and a few KiB as answers usually are.
const KEPT: usize = 64 << 10;
