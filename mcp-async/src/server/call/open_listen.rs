//! An open subscription, as its job and its handles share it.

use core::future::Future;
use core::mem;
use core::pin::Pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};
use std::collections::HashMap;
use std::sync::{Arc, Weak};
use std::task::Wake;

use crate::connection::discard;
use crate::sync::{Lock, Waiter, Waiters};

/// The state of a subscription, open or closed, and its sources of notifications.
#[derive(Default)]
pub(in crate::server) struct OpenListen(Lock<State>);

#[derive(Default)]
struct State {
    closed: bool,
    /// By their numbers; without those that are being polled.
    sources: HashMap<u64, Source>,
    /// The number of the newest source.
    last: u64,
    /// The sources that are to be polled.
    woken: Vec<u64>,
    /// The job, which polls the sources.
    job: Waiter,
    /// Tasks that wait for the end.
    waiting: Waiters,
}

struct Source {
    future: Pin<Box<dyn Future<Output = ()> + Send>>,
    waker: Arc<SourceWaker>,
}

/// Lets the job poll one source.
struct SourceWaker {
    open: Weak<OpenListen>,
    number: u64,
    is_woken: AtomicBool,
}

impl Wake for SourceWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.is_woken.swap(true, Ordering::AcqRel) {
            return;
        }
        let Some(open) = self.open.upgrade() else {
            return;
        };
        let job = {
            let state = &mut *open.0.lock();
            state.woken.push(self.number);
            state.job.take()
        };
        job.wake();
    }
}

impl OpenListen {
    pub(in crate::server) fn add(
        self: &Arc<Self>,
        future: impl Future<Output = ()> + Send + 'static,
    ) {
        let future: Pin<Box<dyn Future<Output = ()> + Send>> = Box::pin(future);
        let (job, late) = {
            let state = &mut *self.0.lock();
            if state.closed {
                (Waiter::new(), Some(future))
            } else {
                state.last = state.last.wrapping_add(1);
                let waker = Arc::new(SourceWaker {
                    open: Arc::downgrade(self),
                    number: state.last,
                    is_woken: AtomicBool::new(true),
                });
                state.woken.push(state.last);
                state.sources.insert(state.last, Source { future, waker });
                (state.job.take(), None)
            }
        };
        // A future of the application is dropped outside the lock.
        discard(late);
        job.wake();
    }

    /// Polls the sources that were woken; ready when the subscription has ended.
    pub(in crate::server) fn poll_sources(&self, cx: &Context<'_>) -> Poll<()> {
        let woken = {
            let state = &mut *self.0.lock();
            state.job.register(cx);
            mem::take(&mut state.woken)
        };
        for number in woken {
            let source = self.0.lock().sources.remove(&number);
            let Some(mut source) = source else { continue };
            source.waker.is_woken.store(false, Ordering::Release);
            let waker = Waker::from(Arc::clone(&source.waker));
            let polled = source
                .future
                .as_mut()
                .poll(&mut Context::from_waker(&waker));
            if polled.is_pending() {
                let late = {
                    let state = &mut *self.0.lock();
                    match state.closed {
                        true => Some(source),
                        false => state.sources.insert(number, source),
                    }
                };
                discard(late);
            }
        }
        match self.is_closed() {
            true => Poll::Ready(()),
            false => Poll::Pending,
        }
    }

    /// Ends it for its handles.
    pub(in crate::server) fn close(&self) {
        let State {
            sources,
            job,
            waiting,
            ..
        } = {
            let closed = State {
                closed: true,
                ..State::default()
            };
            mem::replace(&mut *self.0.lock(), closed)
        };
        for source in sources.into_values() {
            discard(source);
        }
        waiting.wake();
        job.wake();
    }

    pub(in crate::server) fn is_closed(&self) -> bool {
        self.0.lock().closed
    }

    pub(in crate::server) fn poll_closed(&self, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.0.lock();
        if state.closed {
            return Poll::Ready(());
        }
        state.waiting.register(cx);
        Poll::Pending
    }
}
