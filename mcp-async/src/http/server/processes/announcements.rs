//! Announcements that requests wait for. The task that renews the lease makes them.

use core::future::poll_fn;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::Poll;
use std::sync::Arc;

use crate::connection::{Notified, Notify, Signal};
use crate::sync::{Lock, Waiter};

/// The announcements of this process, one at a time.
#[derive(Default)]
pub(in crate::http::server) struct Announcements {
    state: Lock<State>,
    /// The store has taken one.
    taken: Notify,
}

#[derive(Default)]
struct State {
    /// The one that is under way.
    current: Option<Arc<Announcement>>,
    /// The one after it, if a request waits for it.
    next: Option<Arc<Announcement>>,
    /// The task that makes them.
    waker: Waiter,
    /// No more are made.
    is_over: bool,
}

#[derive(Default)]
struct Announcement {
    ended: Signal,
    /// The store has taken it.
    is_taken: AtomicBool,
}

/// Ends the announcements when the task ends that makes them, however that happens.
pub(in crate::http::server) struct Announcer<'a>(pub(in crate::http::server) &'a Announcements);

impl Drop for Announcer<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Announcements {
    /// Waits for the end of the announcement that is under way, if there is one.
    pub(in crate::http::server) async fn current(&self) {
        let current = self.state.lock().current.clone();
        if let Some(current) = current {
            current.ended.wait().await;
        }
    }

    /// Asks for an announcement that begins from now on, and waits for its end. Returns true if the store has
    /// taken it.
    pub(in crate::http::server) async fn next(&self) -> bool {
        let (next, waker) = {
            let mut state = self.state.lock();
            if state.is_over {
                return false;
            }
            let next = Arc::clone(state.next.get_or_insert_default());
            (next, state.waker.take())
        };
        waker.wake();
        next.ended.wait().await;
        next.is_taken.load(Ordering::Acquire)
    }

    /// Waits until a request asks for an announcement.
    pub(in crate::http::server) async fn asked(&self) {
        poll_fn(|cx| {
            let mut state = self.state.lock();
            if state.next.is_some() {
                return Poll::Ready(());
            }
            state.waker.register(cx);
            Poll::Pending
        })
        .await;
    }

    /// Notes the begin of an announcement.
    pub(in crate::http::server) fn begin(&self) {
        let mut state = self.state.lock();
        state.current = Some(state.next.take().unwrap_or_default());
    }

    /// Notes the end of the announcement that is under way.
    pub(in crate::http::server) fn end(&self, is_taken: bool) {
        let current = self.state.lock().current.take();
        if let Some(current) = current {
            current.is_taken.store(is_taken, Ordering::Release);
            current.ended.set();
        }
        if is_taken {
            self.taken.notify_waiters();
        }
    }

    /// Waits until the store takes the next announcement, whichever request asks for it.
    pub(in crate::http::server) fn taken(&self) -> Notified {
        self.taken.notified()
    }

    /// Ends the announcements. Requests that wait for one learn that the store has not taken it.
    pub(in crate::http::server) fn close(&self) {
        let waiting = {
            let mut state = self.state.lock();
            state.is_over = true;
            [state.current.take(), state.next.take()]
        };
        for announcement in waiting.into_iter().flatten() {
            announcement.ended.set();
        }
    }
}
