use core::task::{Context, Poll};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{self, Command, ExitStatus};
use std::thread;

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, WaitIdStatus, kill_process_group, waitid,
};

use super::Pipes;
use super::waiter::Waiter;
use super::watchdog::Watchdog;
use crate::io::stdio::{Input, Output};
use crate::runtime::Runtime;

/// A child, its process group, and the watchdog in it.
///
/// Invariant: until the drop the child is never reaped, only observed. An unreaped leader keeps
/// its number, so the number cannot belong to another group by now.
#[derive(Debug)]
pub(super) struct Group {
    leader: Option<process::Child>,
    pid: Pid,
    watchdog: Option<Watchdog>,
    exit: Option<Exit>,
}

/// The means by which the end of the leader is noticed.
#[derive(Debug)]
enum Exit {
    #[cfg(target_os = "linux")]
    Descriptor(Box<dyn crate::runtime::WatchedDescriptor>),
    Thread(Waiter),
}

impl Group {
    /// Whatever fails after the start ends the child with it.
    pub(super) fn spawn(
        runtime: &dyn Runtime,
        mut command: Command,
        watchdog: bool,
    ) -> io::Result<(Self, Pipes)> {
        let mut leader = command.process_group(0).spawn()?;
        let (stdin, stdout, stderr) = (
            leader.stdin.take(),
            leader.stdout.take(),
            leader.stderr.take(),
        );
        let pid = Pid::from_child(&leader);
        let mut group = Self {
            leader: Some(leader),
            pid,
            watchdog: None,
            exit: None,
        };
        if watchdog {
            group.watchdog = Watchdog::spawn(pid).ok();
        }
        group.exit = Some(Exit::watch(runtime, pid)?);
        let missing = || io::Error::from(io::ErrorKind::BrokenPipe);
        let stdin = OwnedFd::from(stdin.ok_or_else(missing)?);
        let stdout = OwnedFd::from(stdout.ok_or_else(missing)?);
        let stderr = OwnedFd::from(stderr.ok_or_else(missing)?);
        let pipes = Pipes {
            stdin: Output::owned(runtime, stdin)?,
            stdout: Input::owned(runtime, stdout)?,
            stderr: Input::owned(runtime, stderr)?,
        };
        Ok((group, pipes))
    }

    pub(super) fn id(&self) -> u32 {
        self.pid.as_raw_pid().unsigned_abs()
    }

    /// Ready again and again once the leader has ended.
    pub(super) fn poll_exit(&mut self, task: &mut Context<'_>) -> Poll<io::Result<ExitStatus>> {
        match &mut self.exit {
            #[cfg(target_os = "linux")]
            Some(Exit::Descriptor(pidfd)) => {
                let mut status = None;
                pidfd
                    .poll_io(task, 0, &mut |pidfd| {
                        status = observe(WaitId::PidFd(pidfd), WaitIdOptions::NOHANG)?;
                        status.map_or(Err(io::ErrorKind::WouldBlock.into()), |_| Ok(1))
                    })
                    .map_ok(|_| status.unwrap_or_default())
            }
            Some(Exit::Thread(waiter)) => waiter.poll(task),
            None => Poll::Pending,
        }
    }

    /// Sends SIGTERM to the group; returns whether this platform supports it.
    pub(super) fn terminate(&mut self) -> bool {
        self.signal(Signal::TERM);
        true
    }

    /// Kills all processes of the group.
    pub(super) fn kill(&mut self) {
        if !self.signal(Signal::KILL)
            && let Some(watchdog) = &mut self.watchdog
        {
            watchdog.end_group();
        }
    }

    /// Refuses where the leader was reaped behind our back (a `SIGCHLD` that is ignored, a
    /// `wait` for any child elsewhere in the program).
    fn signal(&self, signal: Signal) -> bool {
        let ours = observe(WaitId::Pid(self.pid), WaitIdOptions::NOHANG).is_ok();
        ours && kill_process_group(self.pid, signal).is_ok()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
        let shell = self.watchdog.take().map(Watchdog::release);
        let family: Vec<_> = self.leader.take().into_iter().chain(shell).collect();
        // A process needs time to exit, and this function must not block. Without a thread
        // two zombies remain until this program ends.
        let _ = thread::Builder::new().name("mcp-reap".into()).spawn(|| {
            family
                .into_iter()
                .try_for_each(|mut child| child.wait().map(drop))
        });
    }
}

impl Exit {
    #[cfg(target_os = "linux")]
    fn watch(runtime: &dyn Runtime, pid: Pid) -> io::Result<Self> {
        use crate::runtime::Interest;
        use rustix::process::{PidfdFlags, pidfd_open};

        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(pidfd) => Ok(Self::Descriptor(runtime.register(pidfd, Interest::Read)?)),
            // Kernels before 5.3, and sandboxes.
            Err(_) => Self::wait(pid),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn watch(_: &dyn Runtime, pid: Pid) -> io::Result<Self> {
        Self::wait(pid)
    }

    fn wait(pid: Pid) -> io::Result<Self> {
        let wait = move || {
            let status = observe(WaitId::Pid(pid), WaitIdOptions::empty())?;
            Ok(status.unwrap_or_default())
        };
        Waiter::spawn(wait).map(Self::Thread)
    }
}

/// Looks at the end of a child without reaping it.
fn observe(id: WaitId<'_>, options: WaitIdOptions) -> io::Result<Option<ExitStatus>> {
    let options = options | WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    loop {
        match waitid(id.clone(), options) {
            Ok(status) => return Ok(status.as_ref().map(exit_status)),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// In the encoding of `wait`, which is what the standard library takes.
fn exit_status(status: &WaitIdStatus) -> ExitStatus {
    const CORE_DUMPED: i32 = 0x80;
    let raw = match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => (code & 0xff) << 8,
        (None, Some(signal)) if status.dumped() => signal | CORE_DUMPED,
        (None, signal) => signal.unwrap_or_default(),
    };
    ExitStatus::from_raw(raw)
}
