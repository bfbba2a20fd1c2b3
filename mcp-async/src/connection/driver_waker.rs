//! Wakes the future of a connection without an allocation per wake.

use core::sync::atomic::{AtomicBool, Ordering};
use core::task::Waker;
use std::sync::{Arc, MutexGuard};
use std::task::Wake;

use crate::sync::Lock;

/// Wakes the driver of one connection: for handles that left something to send, and for
/// handlers that can continue.
///
/// While the future is being polled, or is already woken, a wake costs one load.
pub(crate) struct DriverWaker {
    /// True if the future will look for work anyway.
    awake: AtomicBool,
    /// True if the list of woken jobs may have entries: a look into it costs a lock.
    any_woken: AtomicBool,
    state: Lock<State>,
}

#[derive(Default)]
struct State {
    driver: Option<Waker>,
    /// The jobs that asked to be polled, in that order, each once.
    woken: Vec<u32>,
}

impl DriverWaker {
    pub(crate) fn new() -> Arc<Self> {
        // Awake until the first poll has registered a waker: before it there is no task to wake.
        Arc::new(Self {
            awake: AtomicBool::new(true),
            any_woken: AtomicBool::new(false),
            state: Lock::default(),
        })
    }

    /// Makes sure that the future looks for work after this moment.
    ///
    /// Call it after the work was left, and outside every lock.
    pub(crate) fn wake(&self) {
        // Mostly it is awake, and a load is cheaper than a swap.
        if !self.awake.load(Ordering::SeqCst) && !self.awake.swap(true, Ordering::SeqCst) {
            let driver = self.state().driver.clone();
            if let Some(waker) = driver {
                waker.wake();
            }
        }
    }

    /// Returns true if the future was woken, or has not rested yet.
    pub(crate) fn is_awake(&self) -> bool {
        self.awake.load(Ordering::SeqCst)
    }

    /// Begins a turn: registers the task's waker and says whether it is another than before.
    pub(crate) fn begin(&self, waker: &Waker) -> bool {
        self.awake.store(true, Ordering::SeqCst);
        let mut state = self.state();
        match &mut state.driver {
            Some(driver) if driver.will_wake(waker) => false,
            driver => {
                let _old = driver.replace(waker.clone());
                true
            }
        }
    }

    /// Ends a turn. Work that is added from now on wakes the future, so the caller must look
    /// once more after this call.
    pub(crate) fn rest(&self) {
        self.awake.store(false, Ordering::SeqCst);
    }

    /// Swaps the list of woken jobs with an empty one.
    pub(crate) fn take_woken(&self, list: &mut Vec<u32>) {
        if self.any_woken.load(Ordering::SeqCst) {
            let mut state = self.state();
            self.any_woken.store(false, Ordering::SeqCst);
            core::mem::swap(&mut state.woken, list);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }
}

/// The waker of one place for jobs. It outlives the job in it: a late wake costs a poll of
/// the next one, never more.
pub(crate) struct JobWaker {
    driver_waker: Arc<DriverWaker>,
    index: u32,
    /// True if the index is in the list already.
    queued: AtomicBool,
}

impl JobWaker {
    pub(crate) fn new(driver_waker: &Arc<DriverWaker>, index: u32) -> Arc<Self> {
        Arc::new(Self {
            driver_waker: Arc::clone(driver_waker),
            index,
            queued: AtomicBool::new(false),
        })
    }

    /// Call it before the poll: a wake during the poll asks for another. The swap acquires what
    /// the thread that woke it has released.
    pub(crate) fn rearm(&self) {
        if self.queued.load(Ordering::SeqCst) {
            self.queued.swap(false, Ordering::SeqCst);
        }
    }
}

impl Wake for JobWaker {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::SeqCst) {
            {
                let mut state = self.driver_waker.state();
                state.woken.push(self.index);
                self.driver_waker.any_woken.store(true, Ordering::SeqCst);
            }
            self.driver_waker.wake();
        }
    }
}
