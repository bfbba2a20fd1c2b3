//! Tasks on a virtual clock.

use core::future::Future;
use core::pin::{Pin, pin};
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::Arc;
use std::task::Wake;

use mcp_async::{Clock, ManualClock};

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
