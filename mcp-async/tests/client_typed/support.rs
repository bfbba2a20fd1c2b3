//! A runtime of one thread and a clock that moves when nothing else does.

use core::cell::RefCell;
use core::future::Future;
use core::pin::{Pin, pin};
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::Arc;
use std::task::Wake;

use mcp_async::stdio::{Reactor, Sleep};
use mcp_async::{Clock, ManualClock, ManualTimer, Runtime, Task};
use mcp_proto::Instant;

/// The runtime of the thread that a test runs on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sim;

thread_local! {
    static CLOCK: ManualClock = ManualClock::default();
    static TASKS: RefCell<Vec<Running>> = const { RefCell::new(Vec::new()) };
}

struct Running {
    future: Pin<Box<dyn Future<Output = ()>>>,
    flag: Arc<Flag>,
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

impl Clock for Sim {
    type Timer = ManualTimer;

    fn now(&self) -> Instant {
        CLOCK.with(Clock::now)
    }

    fn timer(&self) -> ManualTimer {
        CLOCK.with(Clock::timer)
    }
}

impl Reactor for Sim {
    #[cfg(unix)]
    fn register(
        &self,
        _: std::os::fd::OwnedFd,
        _: mcp_async::stdio::Interest,
    ) -> std::io::Result<Box<dyn mcp_async::stdio::Readiness>> {
        Err(std::io::ErrorKind::Unsupported.into())
    }

    fn sleep(&self, _: Duration) -> Sleep {
        Box::pin(core::future::pending())
    }
}

impl Runtime for Sim {
    fn reactor() -> &'static dyn Reactor {
        &Self
    }

    fn spawn(task: Task) {
        spawn(task);
    }
}

pub(crate) fn spawn(future: impl Future<Output = ()> + 'static) {
    let running = Running {
        future: Box::pin(future),
        flag: Arc::new(Flag(AtomicBool::new(true))),
    };
    TASKS.with_borrow_mut(|tasks| tasks.push(running));
}

/// Polls whatever was woken, until nothing is.
pub(crate) fn settle() {
    for round in 0.. {
        assert!(round < 100_000, "the tasks wake each other without end");
        let mut tasks = TASKS.take();
        let mut idle = true;
        tasks.retain_mut(|task| {
            if !task.flag.0.swap(false, Ordering::SeqCst) {
                return true;
            }
            idle = false;
            let waker = Waker::from(Arc::clone(&task.flag));
            let cx = &mut Context::from_waker(&waker);
            task.future.as_mut().poll(cx).is_pending()
        });
        // What they spawned comes behind them.
        TASKS.with_borrow_mut(|spawned| {
            idle &= spawned.is_empty();
            tasks.append(spawned);
            *spawned = tasks;
        });
        if idle {
            break;
        }
    }
}

pub(crate) fn advance(by: Duration) {
    CLOCK.with(|clock| clock.advance(by));
    settle();
}

/// Runs everything until the future is ready; time passes only when nothing else happens.
pub(crate) fn run<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let flag = Arc::new(Flag(AtomicBool::new(true)));
    let waker = Waker::from(Arc::clone(&flag));
    loop {
        if flag.0.swap(false, Ordering::SeqCst)
            && let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker))
        {
            return value;
        }
        settle();
        if !flag.0.load(Ordering::SeqCst) {
            let next = CLOCK.with(ManualClock::next_deadline);
            let next = next.expect("the test waits for nothing");
            advance(next.saturating_since(Sim.now()));
        }
    }
}
