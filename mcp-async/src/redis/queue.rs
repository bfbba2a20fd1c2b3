//! Commands on their way to a store, and the calls that wait for their replies.

use core::future::poll_fn;
use core::task::{Poll, Waker};
use core::time::Duration;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mcp_proto::Instant;
use redis::Value;

use super::error::Failure;

/// Shared by the calls of a connection and its driver.
#[derive(Default)]
pub(super) struct Queue(Mutex<Commands>);

#[derive(Default)]
pub(super) struct Commands {
    /// A driver runs.
    running: bool,
    /// There are no more calls to come.
    pub(super) closed: bool,
    /// What is to be written.
    pub(super) out: Vec<u8>,
    /// The calls in the order of their commands.
    waiting: VecDeque<Waiting>,
    /// Of the driver.
    pub(super) waker: Option<Waker>,
    /// Why the last connection ended, and until when there is no other.
    failure: Option<(Failure, Instant)>,
    /// The wait before the next connection.
    backoff: Duration,
}

struct Waiting {
    deadline: Instant,
    reply: Arc<Reply>,
}

/// The reply to one command.
#[derive(Default)]
pub(super) struct Reply(Mutex<Arrived>);

#[derive(Default)]
struct Arrived {
    result: Option<Result<Value, Failure>>,
    waker: Option<Waker>,
}

impl Queue {
    /// Takes a command in. Returns its reply, and whether a driver has to be started.
    pub(super) fn push(
        &self,
        command: &[u8],
        now: Instant,
        deadline: Instant,
    ) -> Result<(Arc<Reply>, bool), Failure> {
        let mut commands = self.lock();
        if !commands.running
            && let Some((failure, _)) = commands.failure.as_ref().filter(|(_, until)| now < *until)
        {
            return Err(failure.clone());
        }
        if commands.waiting.len() >= MAX_WAITING {
            return Err(Failure::Overloaded);
        }
        commands.out.extend_from_slice(command);
        let reply = Arc::<Reply>::default();
        commands.waiting.push_back(Waiting {
            deadline,
            reply: Arc::clone(&reply),
        });
        let starts = !core::mem::replace(&mut commands.running, true);
        let waker = commands.waker.take();
        drop(commands);
        if let Some(waker) = waker {
            waker.wake();
        }
        Ok((reply, starts))
    }

    /// The connection is there.
    pub(super) fn connected(&self) {
        let mut commands = self.lock();
        commands.failure = None;
        commands.backoff = Duration::ZERO;
    }

    /// A reply to the first command.
    pub(super) fn reply(&self, result: Result<Value, Failure>) -> Result<(), Failure> {
        let first = self.lock().waiting.pop_front();
        first.ok_or(Failure::Malformed)?.reply.arrive(result);
        Ok(())
    }

    /// When the first command has waited too long.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.lock().waiting.front().map(|first| first.deadline)
    }

    /// The connection has ended, and with it all commands.
    pub(super) fn fail(&self, now: Instant, failure: &Failure) {
        let waiting = {
            let mut commands = self.lock();
            commands.running = false;
            commands.out = Vec::new();
            commands.backoff = (commands.backoff * 2).clamp(MIN_BACKOFF, MAX_BACKOFF);
            commands.failure = Some((failure.clone(), now + commands.backoff));
            core::mem::take(&mut commands.waiting)
        };
        for waiting in waiting {
            waiting.reply.arrive(Err(failure.clone()));
        }
    }

    /// There are no more calls to come.
    pub(super) fn close(&self) {
        let waker = {
            let mut commands = self.lock();
            commands.closed = true;
            commands.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Commands> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Reply {
    fn arrive(&self, result: Result<Value, Failure>) {
        let waker = {
            let mut arrived = self.lock();
            arrived.result = Some(result);
            arrived.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    pub(super) async fn wait(&self) -> Result<Value, Failure> {
        poll_fn(|cx| {
            let mut arrived = self.lock();
            match arrived.result.take() {
                Some(result) => Poll::Ready(result),
                None => {
                    arrived.waker = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }

    fn lock(&self) -> MutexGuard<'_, Arrived> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Commands that may wait for replies.
const MAX_WAITING: usize = 10_000;

/// The first wait after a connection that broke; each further one is twice as long.
const MIN_BACKOFF: Duration = Duration::from_millis(50);

/// The longest one.
const MAX_BACKOFF: Duration = Duration::from_secs(1);
