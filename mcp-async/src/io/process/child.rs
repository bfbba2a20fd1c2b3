use core::fmt;
use core::future::poll_fn;
use core::pin::Pin;
use core::task::{Context, Poll, ready};
use core::time::Duration;
use std::io;
use std::process::ExitStatus;

use futures_io::AsyncRead;

use super::group::Group;
use super::stderr::Stderr;
use crate::io::stdio::{Input, Output};
use crate::runtime::{RuntimeHandle, Sleep};

/// A server that runs as a child process: its byte streams, and the child.
///
/// The parts are public because a connection takes the streams while the child is waited for.
///
/// ```
/// use mcp_async::process::Command;
/// use mcp_async::runtime::RuntimeHandle;
///
/// async fn run(runtime: &RuntimeHandle) -> std::io::Result<()> {
///     let process = Command::new("some-server").spawn(runtime)?;
///     // ... a conversation over process.stdin and process.stdout ...
///     drop((process.stdin, process.stdout));
///     println!("it ended with {}", process.child.shutdown().await?);
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct Process {
    /// Client to server. Dropped or closed, it ends the child's input.
    pub stdin: Output,
    /// Server to client.
    pub stdout: Input,
    /// The process itself and its standard error.
    pub child: Child,
}

/// A child process, its descendants and its standard error.
///
/// Wait for it all the time, through [`poll_exit`](Self::poll_exit): this reads its standard
/// error, and a child blocks when the pipe of its standard error is full. Dropping it kills
/// the child and all that it started.
///
/// ```
/// use core::future::poll_fn;
/// use mcp_async::process::Child;
///
/// async fn watch(mut child: Child) -> std::io::Result<()> {
///     let status = poll_fn(|cx| child.poll_exit(cx)).await?;
///     eprintln!("{} ended with {status}", child.id());
///     for line in child.last_lines() {
///         eprintln!("{line}");
///     }
///     Ok(())
/// }
/// ```
#[derive(Debug)]
pub struct Child {
    group: Group,
    stderr: Option<Input>,
    /// The buffer for its standard error.
    block: Box<[u8]>,
    lines: Stderr,
    status: Option<ExitStatus>,
    grace: Grace,
    runtime: RuntimeHandle,
}

/// The time that a shutdown waits before each of its steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grace {
    /// The time from the end of the child's input until the child is asked to terminate (default 2
    /// s, as the official SDKs).
    pub close: Duration,
    /// The time from that request until the child is killed (default 2 s).
    pub terminate: Duration,
}

/// The end of a child that ended while the connection still needed it.
#[derive(Clone, PartialEq, Eq)]
pub struct ExitedEarly {
    /// The exit status; `None` if the child closed its output but continued to run, and was killed
    /// for that.
    pub status: Option<ExitStatus>,
    /// The first line of its standard output that was no message, if there was one before the
    /// server was known; at most 200 bytes of it.
    pub printed: Option<String>,
    /// The last lines of its standard error, oldest first. They are the child's text:
    /// untrusted, and possibly confidential.
    pub lines: Vec<String>,
}

impl Process {
    pub(super) fn start(
        runtime: RuntimeHandle,
        command: std::process::Command,
        lines: Stderr,
        grace: Grace,
        watchdog: bool,
    ) -> io::Result<Self> {
        let (group, pipes) = Group::spawn(&*runtime, command, watchdog)?;
        Ok(Self {
            stdin: pipes.stdin,
            stdout: pipes.stdout,
            child: Child {
                group,
                stderr: Some(pipes.stderr),
                block: vec![0; BLOCK].into(),
                lines,
                status: None,
                grace,
                runtime,
            },
        })
    }
}

impl Child {
    /// Takes what the child has written to its standard error and says whether it has exited.
    ///
    /// Ready again and again once it has; what its descendants write is still taken then.
    ///
    /// # Errors
    ///
    /// The status is lost because other code of this program waited for the child.
    pub fn poll_exit(&mut self, task: &mut Context<'_>) -> Poll<io::Result<ExitStatus>> {
        let _ = self.poll_stderr(task);
        if let Some(status) = self.status {
            return Poll::Ready(Ok(status));
        }
        let status = ready!(self.group.poll_exit(task))?;
        self.status = Some(status);
        // Its last words were in the pipe before it exited.
        let _ = self.poll_stderr(task);
        Poll::Ready(Ok(status))
    }

    /// Waits until the child has exited, taking its standard error meanwhile.
    ///
    /// # Errors
    ///
    /// As [`poll_exit`](Self::poll_exit).
    pub async fn wait(&mut self) -> io::Result<ExitStatus> {
        poll_fn(|task| self.poll_exit(task)).await
    }

    /// Ends the child in order: after its input was closed, waits for
    /// [`Grace::close`], asks the group to terminate, waits for [`Grace::terminate`], kills it.
    /// Whatever the child leaves behind in its group is killed in any case.
    ///
    /// Close or drop [`Process::stdin`] first, and drop [`Process::stdout`] too unless it is
    /// still being read: a child that waits for a reader does not see the end of its input.
    /// Dropping this future kills at once.
    ///
    /// # Errors
    ///
    /// As [`poll_exit`](Self::poll_exit); [`TimedOut`](io::ErrorKind::TimedOut) if the child has
    /// been killed and still is not gone after a second.
    pub async fn shutdown(self) -> io::Result<ExitStatus> {
        let close = self.grace.close;
        self.end(close).await
    }

    /// Ends the child as [`shutdown`](Self::shutdown) does, and describes it once it has exited, or
    /// after a second.
    pub(crate) async fn shutdown_described(
        mut self,
        describe: impl FnOnce(ExitedEarly),
    ) -> io::Result<ExitStatus> {
        let first = self.grace.close.min(DESCRIBED);
        let end = self.exit_within(first).await;
        let status = end.as_ref().and_then(|end| end.as_ref().ok()).copied();
        if status.is_some() {
            self.take_last_words().await;
        }
        describe(self.describe(status, None));
        match end {
            Some(end) => end,
            None => {
                let rest = self.grace.close.saturating_sub(first);
                self.end(rest).await
            }
        }
    }

    async fn end(mut self, close: Duration) -> io::Result<ExitStatus> {
        if let Some(end) = self.exit_within(close).await {
            return end;
        }
        if self.group.terminate()
            && let Some(end) = self.exit_within(self.grace.terminate).await
        {
            return end;
        }
        self.group.kill();
        let end = self.exit_within(KILLED).await;
        end.unwrap_or_else(|| Err(io::ErrorKind::TimedOut.into()))
    }

    /// Returns how the child ended, after its output has ended too early. The child gets
    /// [`Grace::close`] to exit, then it is killed.
    pub async fn exited_early(self) -> ExitedEarly {
        let close = self.grace.close;
        self.exited_early_within(close, None).await
    }

    /// As [`exited_early`](Self::exited_early), for a child that has `limit` to exit, and whose
    /// first line that is no message is `printed`.
    pub(crate) async fn exited_early_within(
        mut self,
        limit: Duration,
        printed: Option<String>,
    ) -> ExitedEarly {
        let status = self.exit_within(limit).await;
        self.group.kill();
        self.take_last_words().await;
        self.describe(status.and_then(Result::ok), printed)
    }

    pub(crate) const fn grace(&self) -> Grace {
        self.grace
    }

    /// Takes what is left of the standard error. Where another process keeps it open, its last
    /// line counts without a line break.
    async fn take_last_words(&mut self) {
        let mut sleep = self.sleep(LAST_WORDS);
        poll_fn(|task| match self.poll_stderr(task) {
            Poll::Ready(()) => Poll::Ready(()),
            Poll::Pending => sleep.poll_done(task),
        })
        .await;
        self.lines.finish();
    }

    fn describe(&self, status: Option<ExitStatus>, printed: Option<String>) -> ExitedEarly {
        ExitedEarly {
            status,
            printed,
            lines: self.lines.kept().map(str::to_owned).collect(),
        }
    }

    /// The child's process id, which is its group's too (Unix).
    pub fn id(&self) -> u32 {
        self.group.id()
    }

    /// The last lines of its standard error, oldest first.
    pub fn last_lines(&self) -> impl Iterator<Item = &str> {
        self.lines.kept()
    }

    pub(crate) fn sleep(&self, duration: Duration) -> Sleep {
        Sleep::after(&self.runtime, duration)
    }

    async fn exit_within(&mut self, limit: Duration) -> Option<io::Result<ExitStatus>> {
        let mut sleep = self.sleep(limit);
        poll_fn(|task| match self.poll_exit(task) {
            Poll::Ready(end) => Poll::Ready(Some(end)),
            Poll::Pending => sleep.poll_done(task).map(|()| None),
        })
        .await
    }

    /// Ready when its standard error has ended. The work of one turn is bounded by what a pipe
    /// holds, so that a flood does not keep others waiting.
    fn poll_stderr(&mut self, task: &mut Context<'_>) -> Poll<()> {
        for _ in 0..BLOCKS {
            let Some(stderr) = &mut self.stderr else {
                return Poll::Ready(());
            };
            match ready!(Pin::new(stderr).poll_read(task, &mut self.block)) {
                Ok(len) if len > 0 => self.lines.push(self.block.get(..len).unwrap_or_default()),
                _ => {
                    self.lines.finish();
                    self.stderr = None;
                }
            }
        }
        task.waker().wake_by_ref();
        Poll::Pending
    }
}

impl Default for Grace {
    fn default() -> Self {
        Self {
            close: Duration::from_secs(2),
            terminate: Duration::from_secs(2),
        }
    }
}

impl fmt::Display for ExitedEarly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.status, &self.printed) {
            (Some(status), None) => write!(f, "the server ended with {status}")?,
            (Some(status), Some(line)) => write!(
                f,
                "the server ended with {status} and printed {line:?}, which is no MCP message"
            )?,
            (None, Some(line)) => {
                write!(f, "the server printed {line:?}, which is no MCP message")?;
            }
            (None, None) => f.write_str("the server closed its output")?,
        }
        let from = self.lines.len().saturating_sub(SHOWN);
        match self.lines.get(from..).unwrap_or_default() {
            [] => Ok(()),
            [line] => write!(f, "; the last line of its standard error: {line:?}"),
            lines => {
                f.write_str("; the last lines of its standard error: ")?;
                f.debug_list().entries(lines).finish()
            }
        }
    }
}

impl core::error::Error for ExitedEarly {}

/// Shows the number of lines only: the output of a child may be a secret.
impl fmt::Debug for ExitedEarly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExitedEarly")
            .field("status", &self.status)
            .field("lines", &self.lines.len())
            .finish()
    }
}

/// The lines of standard error that an error quotes at most.
const SHOWN: usize = 5;

/// The time in which a child may exit before it is described as running.
const DESCRIBED: Duration = Duration::from_secs(1);

/// The time in which the kernel must end a killed process; longer is a process stuck in a driver.
const KILLED: Duration = Duration::from_secs(1);

/// The time for which standard error may stay open after every process that could write to it was
/// killed.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Together the capacity of a pipe on Linux, 64 KiB.
const BLOCK: usize = 4096;
const BLOCKS: usize = 16;
