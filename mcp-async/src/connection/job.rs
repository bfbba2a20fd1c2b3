//! Running calls: futures that the future of the connection holds, and their outcomes.

use core::cmp::Reverse;
use core::fmt;
use core::future::Future;
use core::panic::AssertUnwindSafe;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::collections::BinaryHeap;
use std::panic::catch_unwind;
use std::sync::Arc;

use mcp_proto::{Instant, Token};

use super::driver_waker::{DriverWaker, JobWaker};
use crate::call_outcome::CallOutcome;
use crate::observe;

/// A call that was begun: the future that works out the answer and writes it.
///
/// It is the one allocation of a call. The connection polls it at once, outside its lock, and
/// keeps it only if it waits. Dropping it is cancellation.
#[must_use = "a request whose job is not polled is never answered"]
pub struct Job {
    future: Pin<Box<dyn Future<Output = Answered> + Send>>,
    lifetime: Lifetime,
    /// Its answer is known: no handler runs.
    is_ready: bool,
}

/// The limit of a job's time.
#[derive(Clone, Copy, Debug)]
enum Lifetime {
    /// As long as its call.
    Call,
    Within(Duration),
    /// As long as its subscription: the end of the connection does not wait for it.
    Listen,
}

/// The proof that a request has its answer, or needs none any more.
///
/// It counts for this request only: a job that ends with the proof of another one is answered with
/// the internal error.
///
/// A layer reads [how](Self::outcome) the call has ended:
///
/// ```
/// use mcp_async::CallOutcome;
/// use mcp_async::server::layers::around;
///
/// let failures = around(|call, service| {
///     service.call(call).wrap(|job| async move {
///         let answered = job.await;
///         match answered.outcome() {
///             CallOutcome::Error(code) => eprintln!("an error of code {code}"),
///             CallOutcome::ToolError => eprintln!("a tool failed"),
///             _ => {}
///         }
///         answered
///     })
/// });
/// # let _ = mcp_async::Server::builder("demo", "1.0").layer(failures);
/// ```
#[derive(Debug)]
pub struct Answered {
    token: Token,
    outcome: CallOutcome,
}

impl Answered {
    pub(crate) const fn new(token: Token, outcome: CallOutcome) -> Self {
        Self { token, outcome }
    }

    /// Returns how the call has ended.
    pub const fn outcome(&self) -> CallOutcome {
        self.outcome
    }

    /// The answer is the result of a tool that failed, unless it is no result.
    pub(crate) fn of_failed_tool(mut self) -> Self {
        if self.outcome == CallOutcome::Result {
            self.outcome = CallOutcome::ToolError;
        }
        self
    }
}

impl Job {
    /// A job made of the future that answers.
    pub(crate) fn from_future(future: impl Future<Output = Answered> + Send + 'static) -> Self {
        Self {
            future: Box::pin(future),
            lifetime: Lifetime::Call,
            is_ready: false,
        }
    }

    /// A job that lasts as long as a subscription.
    pub(crate) fn of_listen(future: impl Future<Output = Answered> + Send + 'static) -> Self {
        Self {
            lifetime: Lifetime::Listen,
            ..Self::from_future(future)
        }
    }

    /// Marks the job as one whose answer is known.
    pub(crate) fn ready(mut self) -> Self {
        self.is_ready = true;
        self
    }

    /// Returns true if the answer is known, so that no handler runs.
    pub(crate) const fn is_ready(&self) -> bool {
        self.is_ready
    }

    /// Wraps the job in a future that runs code before it, after it or around it: one more
    /// allocation.
    ///
    /// ```
    /// use mcp_async::server::{layers, service_fn};
    /// use tower_layer::Layer;
    ///
    /// let counting = layers::around(|call, service| {
    ///     service.call(call).wrap(|job| async move {
    ///         let answered = job.await;
    ///         println!("one more");
    ///         answered
    ///     })
    /// });
    /// let service = counting.layer(service_fn(|call| call.ready(Ok(()))));
    /// # let _ = service;
    /// ```
    pub fn wrap<F>(mut self, around: impl FnOnce(Self) -> F) -> Self
    where
        F: Future<Output = Answered> + Send + 'static,
    {
        let lifetime = core::mem::replace(&mut self.lifetime, Lifetime::Call);
        let is_ready = self.is_ready;
        Self {
            lifetime,
            is_ready,
            ..Self::from_future(around(self))
        }
    }

    /// Lets the job take so long at most, counted from its first poll; the shorter of two
    /// limits counts. After it the job is dropped, and its request is answered with the internal
    /// error (-32603), whose text names the limit. It costs nothing until the job waits.
    pub fn within(mut self, timeout: Duration) -> Self {
        self.lifetime = Lifetime::Within(match self.lifetime {
            Lifetime::Within(other) => other.min(timeout),
            Lifetime::Call | Lifetime::Listen => timeout,
        });
        self
    }
}

impl Job {
    /// Returns the time limit of the job, if it has one of its own.
    pub(crate) const fn limit(&self) -> Option<Duration> {
        match self.lifetime {
            Lifetime::Within(timeout) => Some(timeout),
            Lifetime::Call | Lifetime::Listen => None,
        }
    }
}

/// For what [wraps](Job::wrap) it; the connection polls a job by itself.
impl Future for Job {
    type Output = Answered;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Answered> {
        self.future.as_mut().poll(cx)
    }
}

impl fmt::Debug for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job")
            .field("lifetime", &self.lifetime)
            .finish_non_exhaustive()
    }
}

/// The outcome of a poll.
pub(crate) enum Polled {
    Done,
    Waits,
    /// The request is still without an answer: the handler panicked, or the job has ended with the proof of
    /// another request.
    Unanswered(Token),
}

/// The jobs of one connection, each in the place that its request has in the core's table, so
/// finding one costs an index.
pub(crate) struct Jobs {
    driver_waker: Arc<DriverWaker>,
    places: Vec<Place>,
    /// The places that hold a job.
    running: usize,
    /// The list of woken places while it is being worked off: `next <= woken.len()`.
    woken: Vec<u32>,
    next: usize,
    /// The times at which a place is looked at, the earliest on top. The job that an entry was made for
    /// may have gone by then, and a later job has an entry of its own.
    deadlines: BinaryHeap<Reverse<(Instant, u32)>>,
}

struct Place {
    job: Option<(Token, Job)>,
    /// The time at which the job is to be dropped, and its duration since the start of the job.
    limit: Option<(Instant, Duration)>,
    /// The entry among the deadlines that counts; others of this place are out of date.
    entry: Option<Instant>,
    /// Both are the same waker; it stays with the place, so a wake costs no allocation.
    arm: Arc<JobWaker>,
    waker: Waker,
}

impl Jobs {
    pub(crate) fn new(driver_waker: Arc<DriverWaker>) -> Self {
        Self {
            driver_waker,
            places: Vec::new(),
            running: 0,
            woken: Vec::new(),
            next: 0,
            deadlines: BinaryHeap::new(),
        }
    }

    /// Polls a new job, and keeps it if it waits.
    pub(crate) fn start(&mut self, token: Token, job: Job, now: Instant) -> Polled {
        let index = token.index();
        while self.places.len() <= index {
            let arm = JobWaker::new(
                &self.driver_waker,
                u32::try_from(self.places.len()).unwrap_or(0),
            );
            self.places.push(Place {
                job: None,
                limit: None,
                entry: None,
                waker: Waker::from(Arc::clone(&arm)),
                arm,
            });
        }
        let Some(place) = self.places.get_mut(index) else {
            return Polled::Unanswered(token);
        };
        // The request of an earlier job here was answered from elsewhere: the job has no use.
        let lifetime = job.lifetime;
        if let Some((_, job)) = place.job.replace((token, job)) {
            discard(job);
        } else {
            self.running += 1;
        }
        place.limit = None;
        let polled = self.poll_place(index);
        if let (Polled::Waits, Lifetime::Within(timeout)) = (&polled, lifetime) {
            self.limit(index, now + timeout, timeout);
        }
        polled
    }

    /// Gives the job of a place its time. Often an entry is there already: that of an earlier
    /// job, which had the same time.
    fn limit(&mut self, index: usize, deadline: Instant, timeout: Duration) {
        let Some(place) = self.places.get_mut(index) else {
            return;
        };
        place.limit = Some((deadline, timeout));
        if place.entry.is_none_or(|entry| deadline < entry) {
            place.entry = Some(deadline);
            self.enter(index, deadline);
        }
    }

    fn enter(&mut self, index: usize, deadline: Instant) {
        if self.deadlines.len() >= 2 * self.places.len() {
            let places = &self.places;
            self.deadlines
                .retain(|Reverse((at, index))| entry(places, *index) == Some(*at));
        }
        let index = u32::try_from(index).unwrap_or(u32::MAX);
        self.deadlines.push(Reverse((deadline, index)));
    }

    /// Returns the next time at which a place is looked at for a job whose deadline has passed.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        self.deadlines.peek().map(|Reverse((at, _))| *at)
    }

    /// Drops a job that has had its time, and says which and how much that was.
    pub(crate) fn expire(&mut self, now: Instant) -> Option<(Token, Duration)> {
        while let Some(Reverse((at, index))) = self.deadlines.peek().copied() {
            if at > now {
                break;
            }
            self.deadlines.pop();
            if entry(&self.places, index) != Some(at) {
                continue;
            }
            let index = usize::try_from(index).unwrap_or(usize::MAX);
            let place = self.places.get_mut(index)?;
            place.entry = None;
            match (place.limit, &place.job) {
                (Some((deadline, _)), Some(_)) if deadline > now => {
                    place.entry = Some(deadline);
                    self.enter(index, deadline);
                }
                (Some((_, timeout)), Some(_)) => {
                    let (token, job) = place.job.take()?;
                    self.running -= 1;
                    discard(job);
                    return Some((token, timeout));
                }
                _ => {}
            }
        }
        None
    }

    /// Polls the next job that was woken; `None` if none was.
    pub(crate) fn poll_woken(&mut self) -> Option<Polled> {
        if self.next >= self.woken.len() {
            self.woken.clear();
            self.next = 0;
            self.driver_waker.take_woken(&mut self.woken);
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
        self.take_all(|_| {});
    }

    /// Drops every job, and tells which calls these were.
    pub(crate) fn take_all(&mut self, mut took: impl FnMut(Token)) {
        for place in &mut self.places {
            place.entry = None;
            if let Some((token, job)) = place.job.take() {
                let is_call = !matches!(job.lifetime, Lifetime::Listen);
                discard(job);
                if is_call {
                    took(token);
                }
            }
        }
        self.running = 0;
        self.deadlines.clear();
    }

    /// Returns true if no call runs.
    pub(crate) fn is_empty(&self) -> bool {
        let mut jobs = self.places.iter().filter_map(|place| place.job.as_ref());
        self.running == 0 || jobs.all(|(_, job)| matches!(job.lifetime, Lifetime::Listen))
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
        let polled = match catch_unwind(AssertUnwindSafe(|| job.future.as_mut().poll(cx))) {
            Ok(Poll::Pending) => return Polled::Waits,
            Ok(Poll::Ready(answered)) if answered.token == token => Polled::Done,
            Ok(Poll::Ready(_)) => Polled::Unanswered(token),
            Err(panic) => {
                discard(panic);
                observe::panicked();
                Polled::Unanswered(token)
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

/// The entry of this place that counts.
fn entry(places: &[Place], index: u32) -> Option<Instant> {
    places.get(usize::try_from(index).ok()?)?.entry
}

/// Calls a function of the application; `None` if it panicked.
pub(crate) fn guarded<T>(call: impl FnOnce() -> T) -> Option<T> {
    let called = catch_unwind(AssertUnwindSafe(call)).map_err(discard);
    called.map_err(|()| observe::panicked()).ok()
}

/// Drops what a user made: a panic in it must not end the connection.
pub(crate) fn discard<T>(value: T) {
    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        observe::panicked();
        // Its payload could panic once more; such a payload is left where it is.
        core::mem::forget(panic);
    }
}
