//! Standard input and output, and other inherited descriptors, as asynchronous byte streams.
//!
//! Inherited descriptors are shared: the parent's shell, the other half of a pipeline and every
//! sibling see the same open file description. `O_NONBLOCK` is a property of that
//! description, so setting it here would make *their* reads fail. Nothing inherited gets the
//! flag; instead
//!
//! | what it is | how it is driven | thread hop |
//! |---|---|---|
//! | pipe, FIFO, terminal (Linux) | reopened through `/proc/self/fd`: a description of our own | no |
//! | socket (Unix) | as it is, every call with `MSG_DONTWAIT` | no |
//! | file, block device, `/dev/null` | as it is: it is always ready | no |
//! | anything else, and where reopening fails | one thread per direction, bounded buffers | yes |
//!
//! The readiness itself comes from the [`Runtime`](crate::runtime::Runtime).

#[cfg(unix)]
mod descriptor;
#[cfg(not(unix))]
#[path = "no_descriptor.rs"]
mod descriptor;
mod input;
mod mode;
mod output;
mod thread;

use std::io;

pub use input::Input;
pub use mode::{StdioMode, open};
pub use output::Output;

/// Repeats a system call that a signal interrupted. A signal handler of the application must not look like a
/// fault of the stream.
fn uninterrupted<T>(mut call: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match call() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}
