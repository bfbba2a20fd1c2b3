//! Tells connections to close, and waits until they have.

use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::sync::atomic::{AtomicU8, Ordering};
use core::task::{Context, Poll, Waker};
use std::collections::HashMap;
use std::sync::{Arc, MutexGuard};

use pin_project_lite::pin_project;

use crate::shrink::shrink;
use crate::sync::{Lock, Waiter, Waiters};

/// The phases of a server's life, which its connections follow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Phase {
    Running,
    /// Finish what runs, begin nothing.
    Draining,
    /// End now.
    Over,
}

/// State that a server and its connections share.
pub(crate) struct Closing {
    phase: AtomicU8,
    connections: Lock<Connections>,
}

#[derive(Default)]
struct Connections {
    next: u64,
    /// Each connection that has not ended, and how to wake it.
    open: HashMap<u64, Waiter>,
    /// The number of connections whose first request may still arrive.
    fresh: usize,
    /// The server, when it waits for one of them to end, or to have had its first request.
    server: Waiter,
}

impl Closing {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            phase: AtomicU8::new(Phase::Running as u8),
            connections: Lock::default(),
        })
    }

    pub(crate) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Running,
            1 => Phase::Draining,
            _ => Phase::Over,
        }
    }

    /// Moves on to a phase and wakes every connection, so that it looks.
    pub(crate) fn enter(&self, phase: Phase) {
        self.phase.fetch_max(phase as u8, Ordering::AcqRel);
        let mut woken = Waiters::new();
        woken.extend(self.connections().open.values_mut().map(Waiter::take));
        woken.wake();
    }

    /// Done once fewer than `count` connections are open.
    pub(crate) async fn fewer_than(&self, count: usize) {
        poll_fn(|cx| {
            let mut connections = self.connections();
            if connections.open.len() < count {
                return Poll::Ready(());
            }
            connections.server.register(cx);
            Poll::Pending
        })
        .await;
    }

    /// Done once each connection has had its first request, or the time for it.
    pub(crate) async fn none_is_fresh(&self) {
        poll_fn(|cx| {
            let mut connections = self.connections();
            if connections.fresh == 0 {
                return Poll::Ready(());
            }
            connections.server.register(cx);
            Poll::Pending
        })
        .await;
    }

    /// Counts a connection whose first request has not arrived, until the returned value is dropped.
    pub(crate) fn fresh(self: &Arc<Self>) -> Fresh {
        self.connections().fresh += 1;
        Fresh(Arc::clone(self))
    }

    /// Counts a connection from now until what this returns is done or dropped.
    ///
    /// It is dropped when all is over; that everything should end is for `connection` to see,
    /// which is polled when the phase changes.
    pub(crate) fn watch<F: Future<Output = ()>>(self: &Arc<Self>, connection: F) -> Watched<F> {
        Watched {
            registration: Registration::new(self),
            connection,
        }
    }

    fn connections(&self) -> MutexGuard<'_, Connections> {
        self.connections.lock()
    }
}

/// A connection whose first request may still arrive.
pub(crate) struct Fresh(Arc<Closing>);

impl Drop for Fresh {
    fn drop(&mut self) {
        let server = {
            let mut connections = self.0.connections();
            connections.fresh -= 1;
            connections.server.take()
        };
        server.wake();
    }
}

pin_project! {
    /// A connection, counted.
    ///
    /// An async block would have room for it twice: as what it captures, and as what it pins.
    pub(crate) struct Watched<F> {
        registration: Registration,
        #[pin]
        connection: F,
    }
}

impl<F: Future<Output = ()>> Future for Watched<F> {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.project();
        this.registration.poll(this.connection, cx)
    }
}

/// One connection among those that a server waits for.
struct Registration {
    closing: Arc<Closing>,
    number: u64,
    /// The registered waker, so that an ordinary poll takes no lock.
    waker: Option<Waker>,
    seen: Phase,
}

impl Registration {
    fn new(closing: &Arc<Closing>) -> Self {
        let mut connections = closing.connections();
        let number = connections.next;
        connections.next = number.wrapping_add(1);
        connections.open.insert(number, Waiter::new());
        Self {
            closing: Arc::clone(closing),
            number,
            waker: None,
            seen: Phase::Running,
        }
    }

    fn poll(
        &mut self,
        connection: Pin<&mut impl Future<Output = ()>>,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        let registered = self.waker.as_ref();
        if !registered.is_some_and(|waker| waker.will_wake(cx.waker()))
            || self.seen != self.closing.phase()
        {
            if let Some(place) = self.closing.connections().open.get_mut(&self.number) {
                place.register(cx);
            }
            self.waker = Some(cx.waker().clone());
            // After the registration: a phase that is entered later wakes.
            self.seen = self.closing.phase();
        }
        if self.seen == Phase::Over {
            return Poll::Ready(());
        }
        connection.poll(cx)
    }
}

impl Drop for Registration {
    fn drop(&mut self) {
        let server = {
            let mut connections = self.closing.connections();
            connections.open.remove(&self.number);
            shrink(&mut connections.open);
            connections.server.take()
        };
        server.wake();
    }
}
