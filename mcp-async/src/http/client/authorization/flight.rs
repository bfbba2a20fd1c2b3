//! One authorization at a time: callers wait for the one that runs.

use core::future::poll_fn;
use core::task::{Context, Poll, Waker};
use std::sync::{Arc, Mutex, MutexGuard};

use crate::error::AuthorizationError;
use crate::lock::lock;

pub(in crate::http::client) type Landed = Result<Obtained, Arc<AuthorizationError>>;

/// The origin of the credentials that an authorization led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http::client) enum Obtained {
    /// From an authorization for the goal of the caller.
    ForGoal,
    /// From another one: of another request, or of another process.
    Otherwise,
}

/// An authorization that runs in a task, or has ended.
#[derive(Default)]
pub(super) struct Flight(Mutex<State>);

#[derive(Default)]
struct State {
    landed: Option<Landed>,
    waiting: Vec<Waker>,
}

impl Flight {
    /// Waits for the end. Dropping the future does not end the authorization.
    pub(super) async fn wait(&self) -> Landed {
        poll_fn(|cx| self.poll(cx)).await
    }

    /// Notes the result; the first one counts.
    pub(super) fn land(&self, result: Landed) {
        let waiting = {
            let mut state = self.lock();
            state.landed.get_or_insert(result);
            core::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    fn poll(&self, cx: &Context<'_>) -> Poll<Landed> {
        let mut state = self.lock();
        if let Some(landed) = &state.landed {
            return Poll::Ready(landed.clone());
        }
        if !state.waiting.iter().any(|it| it.will_wake(cx.waker())) {
            state.waiting.push(cx.waker().clone());
        }
        Poll::Pending
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        lock(&self.0)
    }
}

/// Ends what waits for the client when the client is gone.
#[derive(Default)]
pub(super) struct Abandon(Mutex<(bool, Option<Waker>)>);

impl Abandon {
    pub(super) fn set(&self) {
        let waker = {
            let mut state = self.lock();
            state.0 = true;
            state.1.take()
        };
        waker.into_iter().for_each(Waker::wake);
    }

    /// Done when the client is gone. One task waits at a time.
    pub(super) async fn wait(&self) {
        poll_fn(|cx| {
            let mut state = self.lock();
            if state.0 {
                return Poll::Ready(());
            }
            state.1 = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn lock(&self) -> MutexGuard<'_, (bool, Option<Waker>)> {
        lock(&self.0)
    }
}
