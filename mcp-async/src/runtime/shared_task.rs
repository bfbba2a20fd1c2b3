//! A task that another task may poll in place.

use core::future::Future;
use core::mem;
use core::panic::AssertUnwindSafe;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::panic::{catch_unwind, resume_unwind};
use std::sync::Arc;

use super::{RuntimeHandle, Task};
use crate::sync::Lock;

/// A task of a runtime that another task may poll: what it was woken for is done without a change of tasks.
///
/// It is polled with the waker of its own task, so it does not matter to it who polls. No lock is held meanwhile; a wake
/// that comes then is passed on when the poll is over.
#[derive(Clone, Default)]
pub(crate) struct SharedTask(Arc<Lock<Slot>>);

#[derive(Default)]
struct Slot {
    state: State,
    /// The waker of its own task, once that has run.
    own: Option<Waker>,
    runtime: Option<RuntimeHandle>,
}

#[derive(Default)]
enum State {
    /// It is not being polled.
    Idle(Task),
    /// It is being polled. True if its own task was woken meanwhile.
    Polled(bool),
    /// It has ended, or has not begun.
    #[default]
    Over,
}

impl SharedTask {
    /// Runs the future in a task of its own.
    pub(crate) fn spawn(&self, runtime: &RuntimeHandle, task: Task) {
        {
            let slot = &mut *self.0.lock();
            slot.state = State::Idle(task);
            slot.runtime = Some(runtime.clone());
        }
        runtime.spawn(Box::pin(OwnTask(self.clone())));
    }

    /// Polls it here. Returns false if it is being polled, has not begun or has ended, or if its runtime does not run here:
    /// then wake it. A panic is that of a task of the runtime.
    pub(crate) fn poll_in_place(&self) -> bool {
        let Some((task, own, runtime)) = self.take(None) else {
            return false;
        };
        if runtime.check().is_err() {
            self.put_back(task);
            return false;
        }
        let poll = AssertUnwindSafe(|| self.poll(task, &mut Context::from_waker(&own)));
        if let Err(panic) = catch_unwind(poll) {
            runtime.spawn(Box::pin(async { resume_unwind(panic) }));
        }
        true
    }

    /// Takes the future to poll it with the waker of its own task, for that task or for another one.
    fn take(&self, own: Option<&Waker>) -> Option<(Task, Waker, RuntimeHandle)> {
        let slot = &mut *self.0.lock();
        let (state, known) = (&mut slot.state, &mut slot.own);
        if let Some(own) = own {
            match known {
                Some(known) => known.clone_from(own),
                None => *known = Some(own.clone()),
            }
        }
        let (waker, runtime) = (known.clone()?, slot.runtime.clone()?);
        match mem::replace(state, State::Polled(false)) {
            State::Idle(task) => return Some((task, waker, runtime)),
            State::Polled(was_woken) => *state = State::Polled(was_woken || own.is_some()),
            State::Over => *state = State::Over,
        }
        None
    }

    fn poll(&self, mut task: Task, cx: &mut Context<'_>) {
        // Dropped by a panic, too.
        let end = End(self);
        if task.as_mut().poll(cx).is_pending() {
            mem::forget(end);
            self.put_back(task);
        }
    }

    fn put_back(&self, task: Task) {
        let (_over, woken) = {
            let slot = &mut *self.0.lock();
            match slot.state {
                State::Polled(was_woken) => {
                    slot.state = State::Idle(task);
                    (None, slot.own.clone().filter(|_| was_woken))
                }
                // Its own task was dropped.
                _ => (Some(task), None),
            }
        };
        if let Some(own) = woken {
            own.wake();
        }
    }

    /// Ends it. Returns its future, if that is here, and the waker of its own task.
    fn end(&self) -> (Option<Task>, Option<Waker>) {
        let slot = &mut *self.0.lock();
        let task = match mem::take(&mut slot.state) {
            State::Idle(task) => Some(task),
            _ => None,
        };
        (task, slot.own.take())
    }
}

/// Ends the shared task when its future has completed or panicked, and wakes its own task so that it ends.
struct End<'t>(&'t SharedTask);

impl Drop for End<'_> {
    fn drop(&mut self) {
        let (_none, own) = self.0.end();
        if let Some(own) = own {
            own.wake();
        }
    }
}

/// The task of the runtime.
struct OwnTask(SharedTask);

impl Future for OwnTask {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if let Some((task, ..)) = self.0.take(Some(cx.waker())) {
            self.0.poll(task, cx);
        }
        match self.0.0.lock().state {
            State::Over => Poll::Ready(()),
            _ => Poll::Pending,
        }
    }
}

impl Drop for OwnTask {
    fn drop(&mut self) {
        // Outside of the lock.
        let _ended = self.0.end();
    }
}

#[cfg(test)]
mod tests {
    use core::sync::atomic::{AtomicUsize, Ordering};

    use super::*;
    use crate::runtime::ManualRuntime;

    /// A future that counts its polls, and what becomes of it.
    struct Counted {
        polls: Arc<AtomicUsize>,
        on_poll: Box<OnPoll>,
    }

    type OnPoll = dyn FnMut(usize, &mut Context<'_>) -> Poll<()> + Send;

    impl Future for Counted {
        type Output = ();

        fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
            let polls = self.polls.fetch_add(1, Ordering::Relaxed) + 1;
            (self.on_poll)(polls, cx)
        }
    }

    impl Drop for Counted {
        fn drop(&mut self) {
            self.polls.fetch_add(100, Ordering::Relaxed);
        }
    }

    fn spawn(
        on_poll: impl FnMut(usize, &mut Context<'_>) -> Poll<()> + Send + 'static,
    ) -> (ManualRuntime, SharedTask, Arc<AtomicUsize>) {
        let (runtime, task) = (ManualRuntime::default(), SharedTask::default());
        let polls = Arc::<AtomicUsize>::default();
        let counted = Counted {
            polls: Arc::clone(&polls),
            on_poll: Box::new(on_poll),
        };
        task.spawn(&runtime.clone().into(), Box::pin(counted));
        (runtime, task, polls)
    }

    #[test]
    fn another_task_polls_it_once_its_own_has() {
        let (runtime, task, polls) = spawn(|_, _| Poll::Pending);
        assert!(!task.poll_in_place(), "its waker is not known");
        runtime.run();
        assert!(task.poll_in_place());
        assert_eq!(polls.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn a_poll_elsewhere_wakes_its_own_task() {
        // The second poll is elsewhere, and wants another one.
        let (runtime, task, polls) = spawn(|polls, cx| {
            if polls == 2 {
                cx.waker().wake_by_ref();
            }
            Poll::Pending
        });
        runtime.run();
        assert!(task.poll_in_place());
        runtime.run();
        assert_eq!(polls.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn a_poll_excludes_others_and_keeps_wakes() {
        let inner = SharedTask::default();
        let again = inner.clone();
        let runtime = ManualRuntime::default();
        let polls = Arc::<AtomicUsize>::default();
        let counted = Counted {
            polls: Arc::clone(&polls),
            on_poll: Box::new(move |polls, cx| {
                if polls == 2 {
                    assert!(!again.poll_in_place());
                    // Its own task is polled meanwhile, by another thread say.
                    assert!(again.take(Some(cx.waker())).is_none());
                }
                Poll::Pending
            }),
        };
        inner.spawn(&runtime.clone().into(), Box::pin(counted));
        runtime.run();
        assert!(inner.poll_in_place());
        runtime.run();
        assert_eq!(polls.load(Ordering::Relaxed), 3);
    }

    #[test]
    fn it_ends_wherever_it_was_polled_last() {
        let (runtime, task, polls) = spawn(|polls, _| match polls {
            2 => Poll::Ready(()),
            _ => Poll::Pending,
        });
        runtime.run();
        assert!(task.poll_in_place());
        assert_eq!(polls.load(Ordering::Relaxed), 102);
        assert!(!task.poll_in_place());
        runtime.run();
        assert_eq!(Arc::strong_count(&task.0), 1, "its own task has ended");
    }

    #[test]
    fn a_panic_ends_it() {
        let (runtime, task, polls) = spawn(|polls, _| {
            assert!(polls < 2, "as intended");
            Poll::Pending
        });
        runtime.run();
        assert!(task.poll_in_place());
        let run = AssertUnwindSafe(|| runtime.run());
        assert!(catch_unwind(run).is_err(), "it is that of a task");
        runtime.run();
        assert_eq!(polls.load(Ordering::Relaxed), 102);
        assert_eq!(Arc::strong_count(&task.0), 1);
    }

    #[test]
    fn a_runtime_that_drops_its_task_drops_the_future() {
        let (runtime, task, polls) = spawn(|_, _| Poll::Pending);
        runtime.run();
        drop(OwnTask(task.clone()));
        assert_eq!(polls.load(Ordering::Relaxed), 101);
        assert!(!task.poll_in_place());
    }
}
