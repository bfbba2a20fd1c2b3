use core::task::{Context, Poll};
use std::io;
use std::os::windows::io::AsRawHandle;
use std::os::windows::process::CommandExt;
use std::process::{Command, ExitStatus};

use win32job::{ExtendedLimitInfo, Job};

use super::Pipes;
use super::waiter::Waiter;
use crate::io::stdio::{Input, Output};
use crate::runtime::Runtime;

/// A child in a job object that ends with its last handle.
///
/// Ours is the only handle, so the operating system closes it whatever this program dies of.
/// The child joins the job right after its start: what it could start in between would have to
/// be faster than the return of the call that starts it.
#[derive(Debug)]
pub(super) struct Group {
    job: Option<Job>,
    id: u32,
    exit: Waiter,
}

impl Group {
    /// Whatever fails after the start ends the child with it.
    pub(super) fn spawn(
        _: &dyn Runtime,
        mut command: Command,
        _watchdog: bool,
    ) -> io::Result<(Self, Pipes)> {
        let mut limits = ExtendedLimitInfo::new();
        limits.limit_kill_on_job_close();
        let job = Job::create_with_limit_info(&limits).map_err(io::Error::other)?;
        let mut child = command
            .creation_flags(CREATE_NO_WINDOW | CREATE_NEW_PROCESS_GROUP)
            .spawn()?;
        if let Err(error) = job.assign_process(child.as_raw_handle() as isize) {
            child.kill()?;
            return Err(io::Error::other(error));
        }
        let missing = || io::Error::from(io::ErrorKind::BrokenPipe);
        let pipes = Pipes {
            stdin: Output::from_writer(child.stdin.take().ok_or_else(missing)?)?,
            stdout: Input::from_reader(child.stdout.take().ok_or_else(missing)?)?,
            stderr: Input::from_reader(child.stderr.take().ok_or_else(missing)?)?,
        };
        let group = Self {
            job: Some(job),
            id: child.id(),
            exit: Waiter::spawn(move || child.wait())?,
        };
        Ok((group, pipes))
    }

    pub(super) const fn id(&self) -> u32 {
        self.id
    }

    /// Ready again and again once the child has ended.
    pub(super) fn poll_exit(&mut self, task: &mut Context<'_>) -> Poll<io::Result<ExitStatus>> {
        self.exit.poll(task)
    }

    /// Returns false: this platform has no request to end.
    pub(super) const fn terminate(&mut self) -> bool {
        false
    }

    /// Kills all processes of the job.
    pub(super) fn kill(&mut self) {
        self.job = None;
    }
}

/// No console: nothing flashes up, and no Ctrl-C meant for this program reaches the child.
const CREATE_NO_WINDOW: u32 = 0x0800_0000;
const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
