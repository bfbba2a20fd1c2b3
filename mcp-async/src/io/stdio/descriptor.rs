//! Classifies inherited descriptors, and drives them without changing them for other processes.

use core::task::{Context, Poll};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, OFlags, fcntl_getfl, fcntl_setfl, fstat};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags, SocketType, recv, send, sockopt};

use super::uninterrupted;
use crate::runtime::{Interest, Runtime, WatchedDescriptor};

/// A descriptor under the runtime's watch, and the call that moves its bytes.
#[derive(Debug)]
pub(super) struct Watched {
    readiness: Box<dyn WatchedDescriptor>,
    call: Call,
    /// A short transfer proves that the next one would block. True for pipes and stream
    /// sockets; a terminal hands out one line at a time however many are waiting.
    drains: bool,
}

#[derive(Clone, Copy, Debug)]
enum Call {
    /// `read` and `write`, on a description of our own with `O_NONBLOCK`.
    File,
    /// `recv` and `send` with `MSG_DONTWAIT`, on a description that others share.
    Socket,
}

impl Watched {
    fn poll_read(&mut self, task: &mut Context<'_>, buffer: &mut [u8]) -> Poll<io::Result<usize>> {
        let call = self.call;
        let expected = self.expected(buffer.len());
        self.readiness.poll_io(task, expected, &mut |descriptor| {
            uninterrupted(|| call.read(descriptor, buffer))
        })
    }

    fn poll_write(&mut self, task: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let call = self.call;
        let expected = self.expected(bytes.len());
        self.readiness.poll_io(task, expected, &mut |descriptor| {
            uninterrupted(|| call.write(descriptor, bytes))
        })
    }

    const fn expected(&self, len: usize) -> usize {
        if self.drains { len } else { 0 }
    }
}

impl Call {
    fn read(self, descriptor: BorrowedFd<'_>, buffer: &mut [u8]) -> io::Result<usize> {
        let len = match self {
            Self::File => rustix::io::read(descriptor, buffer)?,
            Self::Socket => recv(descriptor, buffer, RecvFlags::DONTWAIT)?.0,
        };
        Ok(len)
    }

    fn write(self, descriptor: BorrowedFd<'_>, bytes: &[u8]) -> io::Result<usize> {
        let len = match self {
            Self::File => rustix::io::write(descriptor, bytes)?,
            Self::Socket => send(descriptor, bytes, SEND)?,
        };
        Ok(len)
    }
}

/// A descriptor without a thread: the first ways of the table in the module's documentation.
#[derive(Debug)]
pub(super) enum Descriptor {
    Watched(Watched),
    Direct(File),
}

impl Descriptor {
    /// Takes a descriptor that others may share.
    ///
    /// # Errors
    /// The file, if a thread has to serve it; or the reason why it cannot be examined.
    pub(super) fn inherited(
        runtime: &dyn Runtime,
        descriptor: OwnedFd,
        interest: Interest,
    ) -> io::Result<Result<Self, Blocking>> {
        let kind = FileType::from_raw_mode(fstat(&descriptor)?.st_mode as _);
        let watched = match kind {
            FileType::RegularFile | FileType::Directory | FileType::BlockDevice => {
                return Ok(Ok(Self::Direct(descriptor.into())));
            }
            FileType::Socket => descriptor.try_clone().and_then(|twin| {
                Ok(Watched {
                    drains: sockopt::socket_type(&twin)? == SocketType::STREAM,
                    readiness: runtime.register(twin, interest)?,
                    call: Call::Socket,
                })
            }),
            _ => reopen(descriptor.as_fd(), interest).and_then(|own| {
                Ok(Watched {
                    readiness: runtime.register(own, interest)?,
                    call: Call::File,
                    drains: kind == FileType::Fifo,
                })
            }),
        };
        Ok(match watched {
            Ok(watched) => Ok(Self::Watched(watched)),
            // The selector's own word for "always ready", as for `/dev/null`.
            Err(error) if Errno::from_io_error(&error) == Some(Errno::PERM) => {
                Ok(Self::Direct(descriptor.into()))
            }
            Err(_) => Err(Blocking(descriptor.into())),
        })
    }

    /// Takes a descriptor whose open file description is this program's alone.
    pub(super) fn owned(
        runtime: &dyn Runtime,
        descriptor: OwnedFd,
        interest: Interest,
    ) -> io::Result<Self> {
        let flags = fcntl_getfl(&descriptor)?;
        fcntl_setfl(&descriptor, flags | OFlags::NONBLOCK)?;
        Ok(Self::Watched(Watched {
            readiness: runtime.register(descriptor, interest)?,
            call: Call::File,
            drains: true,
        }))
    }

    /// The word of the table.
    pub(super) const fn mode(&self) -> &'static str {
        match self {
            Self::Watched(_) => "watched",
            Self::Direct(_) => "direct",
        }
    }

    pub(super) fn poll_read(
        &mut self,
        task: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        match self {
            Self::Watched(watched) => watched.poll_read(task, buffer),
            Self::Direct(file) => Poll::Ready(uninterrupted(|| file.read(buffer))),
        }
    }

    pub(super) fn poll_write(
        &mut self,
        task: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self {
            Self::Watched(watched) => watched.poll_write(task, bytes),
            Self::Direct(file) => Poll::Ready(uninterrupted(|| file.write(bytes))),
        }
    }
}

/// For a thread: blocks even if a process that shares the description set `O_NONBLOCK` on it.
pub(super) struct Blocking(pub(super) File);

impl Blocking {
    fn retry<T>(
        &mut self,
        until: PollFlags,
        mut call: impl FnMut(&mut File) -> io::Result<T>,
    ) -> io::Result<T> {
        loop {
            match call(&mut self.0) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    uninterrupted(|| Ok(poll(&mut [PollFd::new(&self.0, until)], None)?))?;
                }
                other => return other,
            }
        }
    }
}

impl Read for Blocking {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.retry(PollFlags::IN, |file| file.read(buffer))
    }
}

impl Write for Blocking {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.retry(PollFlags::OUT, |file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Opens the same file again, with an open file description of its own, so that `O_NONBLOCK` is
/// ours alone.
///
/// It fails without `/proc`, for a terminal of another user, and for a pipe without reader; a
/// thread serves all of them.
#[cfg(target_os = "linux")]
fn reopen(descriptor: BorrowedFd<'_>, interest: Interest) -> io::Result<OwnedFd> {
    use std::os::fd::AsRawFd;

    let path = format!("/proc/self/fd/{}", descriptor.as_raw_fd());
    let access = match interest {
        Interest::Read => OFlags::RDONLY,
        Interest::Write => OFlags::WRONLY,
    };
    // Without NOCTTY a terminal could become the controlling one of a daemon.
    let flags = access | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    Ok(rustix::fs::open(path, flags, rustix::fs::Mode::empty())?)
}

/// Elsewhere `/dev/fd` duplicates instead of opening anew.
#[cfg(not(target_os = "linux"))]
fn reopen(_: BorrowedFd<'_>, _: Interest) -> io::Result<OwnedFd> {
    Err(io::ErrorKind::Unsupported.into())
}

/// On the systems without `MSG_NOSIGNAL` the standard library's ignored `SIGPIPE` must do.
#[cfg(not(target_vendor = "apple"))]
const SEND: SendFlags = SendFlags::DONTWAIT.union(SendFlags::NOSIGNAL);
#[cfg(target_vendor = "apple")]
const SEND: SendFlags = SendFlags::DONTWAIT;
