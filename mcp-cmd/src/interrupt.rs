//! Ctrl-C, and the end of the time that the program has.

use core::future::{Future, poll_fn};
use core::pin::pin;
use core::task::{Poll, Waker};
use core::time::Duration;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::exit::{Exit, Failure};
use super::screen::Screen;

/// The first Ctrl-C ends the wait of the program, the second the program. The rest of a server then
/// ends by itself: its watchdog notices the end of this process.
#[derive(Clone, Debug)]
pub(crate) struct Interrupt(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    pressed: bool,
    is_late: bool,
    waker: Option<Waker>,
}

impl Interrupt {
    /// Takes over Ctrl-C for the whole program, which has so much time.
    pub(crate) fn install(screen: &Screen, limit: Option<Duration>) -> Self {
        let screen = screen.clone();
        let state = Arc::new(Mutex::new(State::default()));
        let seen = Arc::clone(&state);
        // Without a handler Ctrl-C ends the program at once, which is no worse than before.
        let _ = ctrlc::set_handler(move || {
            let waker = {
                let mut state = seen.lock().unwrap_or_else(PoisonError::into_inner);
                if state.pressed {
                    screen.release();
                    std::process::exit(i32::from(Exit::Interrupted as u8));
                }
                state.pressed = true;
                state.waker.take()
            };
            if let Some(waker) = waker {
                waker.wake();
            }
        });
        if let Some(limit) = limit {
            let state = Arc::clone(&state);
            thread::spawn(move || {
                thread::sleep(limit);
                let waker = {
                    let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
                    state.is_late = true;
                    state.waker.take()
                };
                waker.into_iter().for_each(Waker::wake);
            });
        }
        Self(state)
    }

    /// Returns the output of the future; Ctrl-C and the end of the time drop it, which cancels a
    /// request.
    pub(crate) async fn or<T>(&self, future: impl Future<Output = T>) -> Result<T, Failure> {
        let mut future = pin!(future);
        poll_fn(|task| {
            if let Poll::Ready(value) = future.as_mut().poll(task) {
                return Poll::Ready(Ok(value));
            }
            let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if state.pressed {
                return Poll::Ready(Err(Failure::interrupted()));
            }
            if state.is_late {
                return Poll::Ready(Err(Failure::late()));
            }
            state.waker = Some(task.waker().clone());
            Poll::Pending
        })
        .await
    }
}
