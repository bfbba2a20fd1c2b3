//! Runs work in a separate task or thread, bound to its call.

use core::future::{Future, poll_fn};
use core::panic::AssertUnwindSafe;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::panic::{catch_unwind, resume_unwind};
use std::sync::Arc;

use super::discard;
use crate::observe::Here;
use crate::runtime::RuntimeHandle;
use crate::sync::{Lock, Waiter};

/// Runs the future in a task, which ends with this future: by its result, or by being dropped.
pub(crate) async fn spawned<T: Send + 'static>(
    runtime: &RuntimeHandle,
    future: Pin<Box<dyn Future<Output = T> + Send>>,
) -> T {
    let bridge = Arc::new(Bridge::default());
    let guard = CancelOnDrop(&bridge);
    runtime.spawn(Box::pin(Tasked {
        future: Some(future),
        span: Here::current(),
        bridge: Arc::clone(&bridge),
    }));
    guard.end().await
}

/// Runs the closure on the runtime's pool for blocking work.
pub(crate) async fn blocking<T: Send + 'static>(
    runtime: RuntimeHandle,
    work: impl FnOnce() -> T + Send + 'static,
) -> T {
    let bridge = Arc::new(Bridge::default());
    let guard = CancelOnDrop(&bridge);
    let span = Here::current();
    let end = Blocked(Arc::clone(&bridge));
    runtime.spawn_blocking(Box::new(move || {
        if end.0.0.lock().cancelled {
            return;
        }
        match catch_unwind(AssertUnwindSafe(|| span.within(work))) {
            Ok(value) => end.0.end(End::Value(value)),
            Err(panic) => discard(panic),
        }
    }));
    guard.end().await
}

/// The thread's end of the bridge.
struct Blocked<T>(Arc<Bridge<T>>);

impl<T> Drop for Blocked<T> {
    fn drop(&mut self) {
        self.0.end(End::Lost);
    }
}

/// Between the call and the task.
struct Bridge<T>(Lock<State<T>>);

struct State<T> {
    end: Option<End<T>>,
    /// The connection, which waits for the end.
    caller: Waiter,
    /// The task, woken when the call is over.
    task: Waiter,
    cancelled: bool,
}

enum End<T> {
    Value(T),
    /// It panicked, or its runtime has dropped it.
    Lost,
}

impl<T> Bridge<T> {
    fn end(&self, end: End<T>) {
        let (waker, late) = {
            let mut state = self.0.lock();
            if state.cancelled || state.end.is_some() {
                (Waiter::new(), Some(end))
            } else {
                state.end = Some(end);
                (state.caller.take(), None)
            }
        };
        // Both are dropped and woken outside the lock: they are a user's.
        discard(late);
        waker.wake();
    }
}

impl<T> Default for Bridge<T> {
    fn default() -> Self {
        Self(Lock::new(State {
            end: None,
            caller: Waiter::new(),
            task: Waiter::new(),
            cancelled: false,
        }))
    }
}

/// The call's end of it: dropped, it cancels the task.
struct CancelOnDrop<'a, T>(&'a Bridge<T>);

impl<T> CancelOnDrop<'_, T> {
    /// Waits for the value.
    async fn end(&self) -> T {
        let end = poll_fn(|cx| {
            let mut state = self.0.0.lock();
            match state.end.take() {
                Some(end) => Poll::Ready(end),
                None => {
                    state.caller.register(cx);
                    Poll::Pending
                }
            }
        })
        .await;
        match end {
            End::Value(value) => value,
            // The connection catches it where it catches those of other handlers. The hook has
            // reported the real one, which stays here.
            End::Lost => resume_unwind(Box::new(())),
        }
    }
}

impl<T> Drop for CancelOnDrop<'_, T> {
    fn drop(&mut self) {
        let task = {
            let mut state = self.0.0.lock();
            state.cancelled = true;
            state.task.take()
        };
        task.wake();
    }
}

/// The task's end of it.
struct Tasked<T> {
    future: Option<Pin<Box<dyn Future<Output = T> + Send>>>,
    span: Here,
    bridge: Arc<Bridge<T>>,
}

impl<T> Future for Tasked<T> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        {
            let mut state = this.bridge.0.lock();
            if state.cancelled {
                drop(state);
                discard(this.future.take());
                return Poll::Ready(());
            }
            state.task.register(cx);
        }
        let Some(future) = &mut this.future else {
            return Poll::Ready(());
        };
        let end = match catch_unwind(AssertUnwindSafe(|| {
            this.span.within(|| future.as_mut().poll(cx))
        })) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(value)) => End::Value(value),
            Err(panic) => {
                discard(panic);
                End::Lost
            }
        };
        discard(this.future.take());
        this.bridge.end(end);
        Poll::Ready(())
    }
}

impl<T> Drop for Tasked<T> {
    fn drop(&mut self) {
        discard(self.future.take());
        self.bridge.end(End::Lost);
    }
}
