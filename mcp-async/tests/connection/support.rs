//! One thread, one virtual clock, no runtime: everything that a test needs to be a script.

mod demo;
mod pair;
mod wire;

use core::future::Future;
use core::pin::{Pin, pin};
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::Arc;
use std::task::Wake;

use futures_io::{AsyncRead, AsyncWrite};
use mcp_async::{Clock, ManualClock};

pub(crate) use demo::{Demo, Watch};
pub(crate) use pair::{Pair, Setup};
pub(crate) use wire::{Wire, call};

/// Tasks on a virtual clock.
#[derive(Default)]
pub(crate) struct Sim {
    pub(crate) clock: ManualClock,
    tasks: Vec<Task>,
}

struct Task {
    future: Pin<Box<dyn Future<Output = ()>>>,
    flag: Arc<Flag>,
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Sim {
    pub(crate) fn spawn(&mut self, future: impl Future<Output = ()> + 'static) {
        let flag = Arc::new(Flag(AtomicBool::new(true)));
        self.tasks.push(Task {
            future: Box::pin(future),
            flag,
        });
    }

    /// Polls whatever was woken, until nothing is.
    pub(crate) fn settle(&mut self) {
        for round in 0.. {
            assert!(round < 1_000_000, "the tasks wake each other without end");
            let mut idle = true;
            self.tasks.retain_mut(|task| {
                if !task.flag.0.swap(false, Ordering::SeqCst) {
                    return true;
                }
                idle = false;
                let waker = Waker::from(Arc::clone(&task.flag));
                task.future
                    .as_mut()
                    .poll(&mut Context::from_waker(&waker))
                    .is_pending()
            });
            if idle {
                break;
            }
        }
    }

    pub(crate) fn now(&self) -> mcp_proto::Instant {
        self.clock.now()
    }

    pub(crate) fn advance(&mut self, by: Duration) {
        self.clock.advance(by);
        self.settle();
    }

    /// Runs everything until the future is ready; time passes only when nothing else happens.
    pub(crate) fn run<T>(&mut self, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        let flag = Arc::new(Flag(AtomicBool::new(true)));
        let waker = Waker::from(Arc::clone(&flag));
        loop {
            if flag.0.swap(false, Ordering::SeqCst)
                && let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker))
            {
                return value;
            }
            self.settle();
            if !flag.0.load(Ordering::SeqCst) {
                let next = self
                    .clock
                    .next_deadline()
                    .expect("the test waits for nothing");
                self.advance(next.saturating_since(self.clock.now()));
            }
        }
    }
}

/// Moves at most so many bytes at once.
pub(crate) struct Chopped<T>(pub(crate) T, pub(crate) usize);

impl<T: AsyncRead + Unpin> AsyncRead for Chopped<T> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<std::io::Result<usize>> {
        let len = buf.len().min(self.1);
        Pin::new(&mut self.0).poll_read(cx, &mut buf[..len])
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Chopped<T> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<std::io::Result<usize>> {
        let len = buf.len().min(self.1);
        Pin::new(&mut self.0).poll_write(cx, &buf[..len])
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Pin::new(&mut self.0).poll_close(cx)
    }
}
