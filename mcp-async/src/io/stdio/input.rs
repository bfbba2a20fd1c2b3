use core::fmt;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::io::{self, Read};

use futures_io::AsyncRead;

use super::descriptor::Descriptor;
use super::thread::ThreadReader;

/// Bytes that come in: standard input, or a child's output.
///
/// It ends with zero bytes, like every reader. Dropping it closes the descriptor, at once where
/// no thread is involved, otherwise when the thread's read returns.
pub struct Input {
    source: Source,
}

enum Source {
    Descriptor(Descriptor),
    Thread(ThreadReader),
}

impl Input {
    /// Reads through a thread of its own: for what no runtime can watch.
    ///
    /// The thread holds at most two unread blocks of 64 KiB, then it waits. After the drop it
    /// ends with the read that it is in, which may be never: the process can exit all the same.
    ///
    /// # Errors
    ///
    /// The operating system has no thread to give.
    pub fn from_reader(reader: impl Read + Send + 'static) -> io::Result<Self> {
        Ok(Self {
            source: Source::Thread(ThreadReader::spawn(reader)?),
        })
    }

    /// Returns the way in which the input waits for bytes, for tracing and tests: `watched`,
    /// `direct` or `thread`.
    pub const fn mode(&self) -> &'static str {
        match self.source {
            Source::Descriptor(ref descriptor) => descriptor.mode(),
            Source::Thread(_) => "thread",
        }
    }
}

#[cfg(unix)]
impl Input {
    /// Reads from a descriptor that others may share, without setting a flag on it.
    ///
    /// # Errors
    ///
    /// The descriptor cannot be examined, or the operating system has no thread to give.
    pub fn inherited(
        runtime: &dyn crate::runtime::Runtime,
        descriptor: std::os::fd::OwnedFd,
    ) -> io::Result<Self> {
        match Descriptor::inherited(runtime, descriptor, crate::runtime::Interest::Read)? {
            Ok(descriptor) => Ok(Self {
                source: Source::Descriptor(descriptor),
            }),
            Err(file) => Self::from_reader(file),
        }
    }

    /// Reads from a pipe or stream socket whose open file description is this program's alone.
    /// It is made non-blocking.
    ///
    /// # Errors
    ///
    /// The runtime cannot watch it.
    pub fn owned(
        runtime: &dyn crate::runtime::Runtime,
        descriptor: std::os::fd::OwnedFd,
    ) -> io::Result<Self> {
        let descriptor = Descriptor::owned(runtime, descriptor, crate::runtime::Interest::Read)?;
        Ok(Self {
            source: Source::Descriptor(descriptor),
        })
    }
}

impl AsyncRead for Input {
    fn poll_read(
        self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.get_mut().source {
            Source::Descriptor(descriptor) => descriptor.poll_read(task, buffer),
            Source::Thread(thread) => thread.poll_read(task, buffer),
        }
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Input").field(&self.mode()).finish()
    }
}
