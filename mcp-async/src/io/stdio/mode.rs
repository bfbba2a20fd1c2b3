use core::sync::atomic::{AtomicBool, Ordering};
use std::io;

use super::{Input, Output};
use crate::runtime::Runtime;

/// The access that the rest of the process has to standard input and output.
///
/// ```no_run
/// use mcp_async::runtime::RuntimeHandle;
/// use mcp_async::stdio::{StdioMode, open};
///
/// fn wire(runtime: &RuntimeHandle) -> std::io::Result<()> {
///     let (input, output) = open(&**runtime, StdioMode::Exclusive)?;
///     println!("this goes to standard error");
///     drop((input, output));
///     Ok(())
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StdioMode {
    /// From now on, until the process ends, its standard input is empty and its standard output
    /// is its standard error, for children too. A stray `println!` lands in the log and a child
    /// that reads its input finds the end, instead of corrupting the protocol stream.
    #[default]
    Exclusive,
    /// Descriptors 0 and 1 stay what they are. Printing corrupts the protocol stream.
    Shared,
}

/// Takes standard input and output as the two halves of a connection, once per process.
///
/// Call it before anything reads standard input: input that another reader has buffered is lost.
/// Text that was printed but not yet flushed goes where [`StdioMode`] sends it.
///
/// # Errors
///
/// [`AlreadyExists`](io::ErrorKind::AlreadyExists) the second time, since a connection has one
/// reader; otherwise what the operating system says about the descriptors, which are then as
/// before.
pub fn open(runtime: &dyn Runtime, mode: StdioMode) -> io::Result<(Input, Output)> {
    if CLAIMED.swap(true, Ordering::AcqRel) {
        return Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "standard input and output are already in use as a wire",
        ));
    }
    let wire = platform::duplicate(runtime).and_then(|wire| {
        if mode == StdioMode::Exclusive {
            platform::redirect()?;
        }
        Ok(wire)
    });
    if wire.is_err() {
        CLAIMED.store(false, Ordering::Release);
    }
    wire
}

static CLAIMED: AtomicBool = AtomicBool::new(false);

#[cfg(unix)]
mod platform {
    use std::io;

    use rustix::fs::{Mode, OFlags};
    use rustix::io::fcntl_dupfd_cloexec;

    use super::{Input, Output};
    use crate::runtime::Runtime;

    pub(super) fn duplicate(runtime: &dyn Runtime) -> io::Result<(Input, Output)> {
        // At least 3: a duplicate must never sit where a standard stream is looked for.
        let input = fcntl_dupfd_cloexec(io::stdin(), 3)?;
        let output = fcntl_dupfd_cloexec(io::stdout(), 3)?;
        Ok((
            Input::inherited(runtime, input)?,
            Output::inherited(runtime, output)?,
        ))
    }

    pub(super) fn redirect() -> io::Result<()> {
        let null = rustix::fs::open("/dev/null", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())?;
        rustix::stdio::dup2_stdin(&null)?;
        Ok(rustix::stdio::dup2_stdout(io::stderr())?)
    }
}

#[cfg(windows)]
mod platform {
    use std::fs::File;
    use std::io;
    use std::os::windows::io::AsHandle;

    use filedescriptor::{FileDescriptor, StdioDescriptor};

    use super::{Input, Output};
    use crate::runtime::Runtime;

    pub(super) fn duplicate(_: &dyn Runtime) -> io::Result<(Input, Output)> {
        let input = File::from(io::stdin().as_handle().try_clone_to_owned()?);
        let output = File::from(io::stdout().as_handle().try_clone_to_owned()?);
        Ok((Input::from_reader(input)?, Output::from_writer(output)?))
    }

    /// The standard library asks for the handles anew at each call, and so do its children.
    pub(super) fn redirect() -> io::Result<()> {
        let null = File::open("NUL")?;
        // The call returns the handle that was there: its drop closes it, as `dup2` would.
        FileDescriptor::redirect_stdio(&null, StdioDescriptor::Stdin).map_err(io::Error::other)?;
        FileDescriptor::redirect_stdio(&io::stderr(), StdioDescriptor::Stdout)
            .map_err(io::Error::other)?;
        Ok(())
    }
}
