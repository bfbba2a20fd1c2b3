//! One thread per direction, for streams that no runtime can watch.

use core::mem;
use core::task::{Context, Poll};
use std::io::{self, Read, Write};
use std::sync::{Arc, Condvar, MutexGuard, PoisonError};
use std::thread;

use super::uninterrupted;
use crate::sync::{Lock, Waiter};

/// A thread that reads ahead by one block.
#[derive(Debug)]
pub(super) struct ThreadReader {
    shared: Arc<Shared>,
}

/// A thread that writes what it is handed, one block at a time.
#[derive(Debug)]
pub(super) struct ThreadWriter {
    shared: Arc<Shared>,
}

/// State that the thread and the task share. `block[at..]` is on its way; the side that empties or
/// fills it wakes the other: the condition variable for the thread, the waker for the task.
#[derive(Debug, Default)]
struct Shared {
    state: Lock<State>,
    bell: Condvar,
}

#[derive(Debug, Default)]
struct State {
    block: Vec<u8>,
    at: usize,
    /// The thread is in a write whose bytes are no longer in `block`.
    busy: bool,
    /// The thread ended: with an error, or because the stream did.
    end: Option<Result<(), io::Error>>,
    /// The task's side was dropped.
    gone: bool,
    waker: Waiter,
}

impl ThreadReader {
    pub(super) fn spawn(reader: impl Read + Send + 'static) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        thread::Builder::new()
            .name("mcp-read".into())
            .spawn(move || read_all(reader, &theirs))?;
        Ok(Self { shared })
    }

    pub(super) fn poll_read(
        &mut self,
        task: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let mut state = self.shared.lock();
        let waiting = state.block.get(state.at..).unwrap_or_default();
        if waiting.is_empty() {
            return match state.end.take() {
                None => {
                    state.waker.register(task);
                    Poll::Pending
                }
                // The error is returned once, the end every time.
                Some(end) => {
                    state.end = Some(Ok(()));
                    Poll::Ready(end.map(|()| 0))
                }
            };
        }
        let len = waiting.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..len), waiting.get(..len)) {
            to.copy_from_slice(from);
        }
        state.at += len;
        if state.at == state.block.len() {
            state.block.clear();
            state.at = 0;
            self.shared.bell.notify_one();
        }
        Poll::Ready(Ok(len))
    }
}

impl ThreadWriter {
    pub(super) fn spawn(writer: impl Write + Send + 'static) -> io::Result<Self> {
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        thread::Builder::new()
            .name("mcp-write".into())
            .spawn(move || write_all(writer, &theirs))?;
        Ok(Self { shared })
    }

    pub(super) fn poll_write(
        &mut self,
        task: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let mut state = self.shared.lock();
        if let Some(end) = &state.end {
            return Poll::Ready(Err(again(end)));
        }
        if !state.block.is_empty() {
            state.waker.register(task);
            return Poll::Pending;
        }
        let len = bytes.len().min(BLOCK);
        state
            .block
            .extend_from_slice(bytes.get(..len).unwrap_or_default());
        self.shared.bell.notify_one();
        Poll::Ready(Ok(len))
    }

    pub(super) fn poll_flush(&mut self, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.shared.lock();
        if let Some(end) = &state.end {
            return Poll::Ready(Err(again(end)));
        }
        if state.block.is_empty() && !state.busy {
            return Poll::Ready(Ok(()));
        }
        state.waker.register(task);
        Poll::Pending
    }
}

impl Drop for ThreadReader {
    fn drop(&mut self) {
        self.shared.leave();
    }
}

impl Drop for ThreadWriter {
    fn drop(&mut self) {
        self.shared.leave();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    fn wait<'s>(&'s self, state: MutexGuard<'s, State>) -> MutexGuard<'s, State> {
        self.bell
            .wait(state)
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn leave(&self) {
        self.lock().gone = true;
        self.bell.notify_one();
    }

    fn end(&self, with: io::Result<()>) {
        let mut state = self.lock();
        state.busy = false;
        state.end = Some(with);
        wake(state);
    }
}

/// Wakes the task, which may look at the state at once.
fn wake(mut state: MutexGuard<'_, State>) {
    let task = state.waker.take();
    drop(state);
    task.wake();
}

fn read_all(mut reader: impl Read, shared: &Shared) {
    let mut next = vec![0; BLOCK];
    loop {
        next.resize(BLOCK, 0);
        let read = uninterrupted(|| reader.read(&mut next));
        let mut state = shared.lock();
        while !state.block.is_empty() && !state.gone {
            state = shared.wait(state);
        }
        if state.gone {
            return;
        }
        match read {
            Ok(len) if len > 0 => {
                next.truncate(len);
                mem::swap(&mut state.block, &mut next);
                wake(state);
            }
            other => {
                drop(state);
                return shared.end(other.map(|_| ()));
            }
        }
    }
}

fn write_all(mut writer: impl Write, shared: &Shared) {
    let mut block = Vec::new();
    loop {
        let mut state = shared.lock();
        while state.block.is_empty() && !state.gone {
            state = shared.wait(state);
        }
        if state.block.is_empty() {
            return;
        }
        block.clear();
        mem::swap(&mut state.block, &mut block);
        state.busy = true;
        wake(state);
        if let Err(error) = writer.write_all(&block).and_then(|()| writer.flush()) {
            return shared.end(Err(error));
        }
        let mut state = shared.lock();
        state.busy = false;
        wake(state);
    }
}

/// Makes a copy of the error for the next caller; `io::Error` cannot be cloned.
fn again(end: &io::Result<()>) -> io::Error {
    match end {
        Ok(()) => io::ErrorKind::BrokenPipe.into(),
        Err(error) => match error.raw_os_error() {
            Some(code) => io::Error::from_raw_os_error(code),
            None => error.kind().into(),
        },
    }
}

/// The bytes that one call moves at most; the capacity of a pipe on Linux.
const BLOCK: usize = 64 * 1024;

#[cfg(test)]
mod tests {
    use core::task::Waker;
    use core::time::Duration;
    use std::sync::mpsc::{Sender, channel};
    use std::task::Wake;

    use super::*;

    /// A task that is polled where it is woken.
    struct Inline(Lock<ThreadReader>, Sender<Poll<usize>>);

    impl Wake for Inline {
        fn wake(self: Arc<Self>) {
            let mut buffer = [0; 8];
            let cx = &mut Context::from_waker(Waker::noop());
            let read = self.0.lock().poll_read(cx, &mut buffer);
            self.1.send(read.map(Result::unwrap)).unwrap();
        }
    }

    #[test]
    fn a_task_that_is_polled_where_it_is_woken_finds_what_it_waits_for() {
        let (theirs, mut ours) = io::pipe().unwrap();
        let reader = ThreadReader::spawn(theirs).unwrap();
        let (sender, polled) = channel();
        let task = Arc::new(Inline(Lock::new(reader), sender));
        let waker = Waker::from(Arc::clone(&task));
        let cx = &mut Context::from_waker(&waker);
        let first = task.0.lock().poll_read(cx, &mut [0; 8]);
        assert!(first.is_pending());
        ours.write_all(b"abc").unwrap();
        let polled = polled.recv_timeout(Duration::from_secs(10));
        assert_eq!(polled, Ok(Poll::Ready(3)));
    }
}
