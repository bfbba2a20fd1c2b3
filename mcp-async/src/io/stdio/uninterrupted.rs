//! Repeats a system call that a signal interrupted.

use std::io;

/// A signal handler of the application must not look like a fault of the stream.
pub(super) fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}
