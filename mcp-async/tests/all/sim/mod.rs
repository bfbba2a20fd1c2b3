//! A runtime of one thread, whose tasks run and whose time passes when the test says so.

mod dice;
mod time;

use core::cell::{Cell, RefCell};
use core::future::{Future, ready};
use core::net::SocketAddr;
use core::pin::{Pin, pin};
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::Wake;

use mcp_async::runtime::Runtime;
use mcp_async::runtime::{BoxFuture, BoxStream, BoxTimer, Listener, Task, Work};
use mcp_proto::Instant;

use crate::authorization::guard;

pub(crate) use dice::Dice;
pub(crate) use time::{advance, clock, drive, join_all, play, run, sleep, yield_now};

/// Polls a future, which nothing wakes.
pub(crate) fn poll_once<F: Future + ?Sized>(future: Pin<&mut F>) -> Poll<F::Output> {
    future.poll(&mut Context::from_waker(Waker::noop()))
}

/// Begins a future, which waits at its first poll.
#[track_caller]
pub(crate) fn begin<F: Future>(future: F) -> Pin<Box<F>> {
    let mut future = Box::pin(future);
    assert!(poll_once(future.as_mut()).is_pending());
    future
}

/// Begins a future, and drops it when nothing else happens.
#[track_caller]
pub(crate) fn give_up<F: Future>(future: F) {
    let begun = begin(future);
    settle();
    drop(begun);
    settle();
}

/// Returns the output of a future that is ready at its first poll, such as that of a store in memory.
#[track_caller]
pub(crate) fn done<F: Future>(future: F) -> F::Output {
    match poll_once(pin!(future)) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("it waits"),
    }
}

/// Waits for nothing that only time would bring.
pub(crate) fn now<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    for _ in 0..100_000 {
        settle();
        let cx = &mut Context::from_waker(Waker::noop());
        if let Poll::Ready(output) = future.as_mut().poll(cx) {
            return output;
        }
    }
    panic!("it waits")
}

/// The runtime of the thread that a test runs on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Sim;

impl Runtime for Sim {
    fn now(&self) -> Instant {
        if let Some(meanwhile) = MEANWHILE.take() {
            meanwhile();
        }
        clock().now()
    }

    fn timer(&self) -> BoxTimer {
        clock().timer()
    }

    fn spawn(&self, task: Task) {
        spawn(task);
    }

    fn spawn_blocking(&self, work: Work) {
        spawn(async move { work() });
    }

    fn resolve<'a>(
        &'a self,
        host: &'a str,
        port: u16,
    ) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        Box::pin(ready(guard::resolve(host, port)))
    }

    fn listen(&self, _: std::net::TcpListener) -> io::Result<Box<dyn Listener>> {
        Ok(Box::new(guard::Accepting))
    }

    fn dial(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<BoxStream>> {
        // As late as it is asked for.
        Box::pin(async move { Ok(guard::dial(address)) })
    }
}

pub(crate) fn spawn(future: impl Future<Output = ()> + 'static) {
    let running = Running {
        future: Box::pin(future),
        flag: Flag::new(),
        process: CURRENT.with_borrow(Clone::clone),
    };
    TASKS.with_borrow_mut(|tasks| tasks.push(running));
}

/// Polls whatever was woken, until nothing is, and returns how many tasks go on.
pub(crate) fn settle() -> usize {
    for _ in 0..100_000 {
        let mut tasks = TASKS.take();
        let mut idle = true;
        tasks.retain_mut(|running| {
            if !running.process.as_ref().is_none_or(Process::runs) || !running.flag.take() {
                return true;
            }
            idle = false;
            let waker = Waker::from(Arc::clone(&running.flag));
            let cx = &mut Context::from_waker(&waker);
            let future = running.future.as_mut();
            within(running.process.clone(), || future.poll(cx)).is_pending()
        });
        // What they spawned comes behind them.
        let left = TASKS.with_borrow_mut(|spawned| {
            idle &= spawned.is_empty();
            tasks.append(spawned);
            *spawned = tasks;
            spawned.len()
        });
        if idle {
            return left;
        }
    }
    panic!("the tasks wake each other without end");
}

/// Drops every task, as a runtime that is over does.
pub(crate) fn end() {
    CURRENT.set(None);
    drop(TASKS.take());
}

/// One of several processes, which stop and continue on their own.
#[derive(Clone, Default)]
pub(crate) struct Process(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    mode: Mode,
    wakers: Vec<Waker>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Mode {
    #[default]
    Runs,
    /// Its tasks are not polled.
    Paused,
    /// They never will be.
    Dead,
}

impl Process {
    /// Does this in the process: the tasks that it spawns are those of the process.
    pub(crate) fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        within(Some(self.clone()), work)
    }

    pub(crate) fn set(&self, mode: Mode) {
        let woken = {
            let mut state = self.state();
            state.mode = mode;
            core::mem::take(&mut state.wakers)
        };
        woken.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn mode(&self) -> Mode {
        self.state().mode
    }

    pub(crate) fn runs(&self) -> bool {
        self.mode() == Mode::Runs
    }

    /// Polls something of the process; `Err` if the process is dead.
    pub(crate) fn poll<T>(
        &self,
        cx: &mut Context<'_>,
        poll: impl FnOnce(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<Result<T, ()>> {
        {
            let mut state = self.state();
            state.wakers.push(cx.waker().clone());
            match state.mode {
                Mode::Runs => {}
                Mode::Paused => return Poll::Pending,
                Mode::Dead => return Poll::Ready(Err(())),
            }
        }
        self.run(|| poll(cx)).map(Ok)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap()
    }
}

fn within<T>(process: Option<Process>, work: impl FnOnce() -> T) -> T {
    let before = CURRENT.replace(process);
    let done = work();
    CURRENT.set(before);
    done
}

/// Does this when the clock is next read, as another thread may do at that moment.
pub(crate) fn meanwhile(work: fn()) {
    MEANWHILE.set(Some(work));
}

struct Running {
    future: Pin<Box<dyn Future<Output = ()>>>,
    flag: Arc<Flag>,
    process: Option<Process>,
}

/// Whether a future wants to be polled: at first, and whenever it was woken since.
pub(crate) struct Flag(AtomicBool);

impl Flag {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(AtomicBool::new(true)))
    }

    pub(crate) fn take(&self) -> bool {
        self.0.swap(false, Ordering::SeqCst)
    }
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

thread_local! {
    static MEANWHILE: Cell<Option<fn()>> = const { Cell::new(None) };
    /// The process that runs.
    static CURRENT: RefCell<Option<Process>> = const { RefCell::new(None) };
    static TASKS: RefCell<Vec<Running>> = const { RefCell::new(Vec::new()) };
}
