//! Blocking work in a thread of its own, while the connection continues.

use core::future::{Future, poll_fn};
use core::task::{Poll, Waker};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

/// Runs `work` in a thread of its own, and the connection meanwhile. `None` if it panicked or
/// no thread could be started.
pub(crate) fn background<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> impl Future<Output = Option<T>> + Send {
    let line = Arc::new(Mutex::new(Line::Open(None)));
    let end = End(Arc::clone(&line));
    // A thread that could not be started drops its end of the line.
    let _ = thread::Builder::new()
        .name("question".to_owned())
        .spawn(move || {
            let result = work();
            end.tell(Some(result));
        });
    poll_fn(move |task| {
        let mut line = line.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *line {
            Line::Closed(result) => Poll::Ready(result.take()),
            Line::Open(waker) => {
                *waker = Some(task.waker().clone());
                Poll::Pending
            }
        }
    })
}

enum Line<T> {
    Open(Option<Waker>),
    Closed(Option<T>),
}

struct End<T>(Arc<Mutex<Line<T>>>);

impl<T> End<T> {
    fn tell(&self, result: Option<T>) {
        let mut line = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Line::Open(waker) = &mut *line {
            let waker = waker.take();
            *line = Line::Closed(result);
            drop(line);
            if let Some(waker) = waker {
                waker.wake();
            }
        }
    }
}

impl<T> Drop for End<T> {
    fn drop(&mut self) {
        self.tell(None);
    }
}
