//! The calls that run: futures of answers, held by the connection's future.

use core::fmt;
use core::future::Future;
use core::panic::AssertUnwindSafe;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::panic::catch_unwind;
use std::sync::Arc;

use mcp_proto::Token;

use crate::alarm::{Alarm, JobWaker};

/// A call that was begun: the future that works out the answer and writes it.
///
/// It is the one allocation of a call. The connection polls it at once, outside its lock, and
/// keeps it only if it waits. Dropping it is cancellation.
#[must_use = "a job nobody polls is a request nobody answers"]
pub struct Job(Pin<Box<dyn Future<Output = Answered> + Send>>);

/// The proof that a request has its answer, or needs none any more.
#[derive(Clone, Copy, Debug)]
pub struct Answered(pub(crate) ());

impl Job {
    pub(crate) fn from_future(future: impl Future<Output = Answered> + Send + 'static) -> Self {
        Self(Box::pin(future))
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Job")
    }
}

/// What became of a poll.
pub(crate) enum Polled {
    Done,
    Waits,
    /// The handler panicked: its request is still without an answer.
    Panicked(Token),
}

/// The jobs of one connection, each in the place that its request has in the core's table, so
/// finding one costs an index.
pub(crate) struct Jobs {
    alarm: Arc<Alarm>,
    places: Vec<Place>,
    /// The places that hold a job.
    running: usize,
    /// The list of woken places while it is being worked off: `next <= woken.len()`.
    woken: Vec<u32>,
    next: usize,
}

struct Place {
    job: Option<(Token, Job)>,
    /// Both are the same waker; it stays with the place, so a wake costs no allocation.
    arm: Arc<JobWaker>,
    waker: Waker,
}

impl Jobs {
    pub(crate) fn new(alarm: Arc<Alarm>) -> Self {
        Self {
            alarm,
            places: Vec::new(),
            running: 0,
            woken: Vec::new(),
            next: 0,
        }
    }

    /// Polls a new job, and keeps it if it waits.
    pub(crate) fn start(&mut self, token: Token, job: Job) -> Polled {
        let index = token.index();
        while self.places.len() <= index {
            let arm = JobWaker::new(&self.alarm, u32::try_from(self.places.len()).unwrap_or(0));
            self.places.push(Place {
                job: None,
                waker: Waker::from(Arc::clone(&arm)),
                arm,
            });
        }
        let Some(place) = self.places.get_mut(index) else {
            return Polled::Panicked(token);
        };
        // The request of an earlier job here was answered from elsewhere: the job has no use.
        if let Some((_, job)) = place.job.replace((token, job)) {
            discard(job);
        } else {
            self.running += 1;
        }
        self.poll_place(index)
    }

    /// Polls the next job that was woken; `None` if none was.
    pub(crate) fn poll_woken(&mut self) -> Option<Polled> {
        if self.next >= self.woken.len() {
            self.woken.clear();
            self.next = 0;
            self.alarm.take_woken(&mut self.woken);
        }
        let index = *self.woken.get(self.next)?;
        self.next += 1;
        Some(self.poll_place(usize::try_from(index).unwrap_or(usize::MAX)))
    }

    /// Drops the job of a request that was cancelled.
    pub(crate) fn cancel(&mut self, token: Token) {
        let place = self.places.get_mut(token.index());
        let job = place.and_then(|place| place.job.take_if(|(of, _)| *of == token));
        if let Some((_, job)) = job {
            self.running -= 1;
            discard(job);
        }
    }

    /// Drops every job.
    pub(crate) fn cancel_all(&mut self) {
        for place in &mut self.places {
            if let Some((_, job)) = place.job.take() {
                discard(job);
            }
        }
        self.running = 0;
    }

    pub(crate) const fn is_empty(&self) -> bool {
        self.running == 0
    }

    fn poll_place(&mut self, index: usize) -> Polled {
        let Some(place) = self.places.get_mut(index) else {
            return Polled::Waits;
        };
        place.arm.rearm();
        let Some((token, job)) = &mut place.job else {
            return Polled::Waits;
        };
        let token = *token;
        let cx = &mut Context::from_waker(&place.waker);
        let polled = match catch_unwind(AssertUnwindSafe(|| job.0.as_mut().poll(cx))) {
            Ok(Poll::Pending) => return Polled::Waits,
            Ok(Poll::Ready(Answered(()))) => Polled::Done,
            Err(panic) => {
                discard(panic);
                Polled::Panicked(token)
            }
        };
        if let Some((_, job)) = place.job.take() {
            self.running -= 1;
            discard(job);
        }
        polled
    }
}

impl Drop for Jobs {
    fn drop(&mut self) {
        self.cancel_all();
    }
}

/// Drops what a user made: a panic in it must not end the connection.
pub(crate) fn discard<T>(value: T) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        // Its payload could panic once more; such a payload is left where it is.
        core::mem::forget(panic);
    }
}
