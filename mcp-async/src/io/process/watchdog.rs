use std::io::{self, PipeWriter, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use rustix::process::Pid;

/// A shell in the child's process group that ends the group when this program has ended.
///
/// It knows by the end of a pipe whose other half only this program holds, and the kernel closes
/// that half whatever the program died of. As a member it keeps the group alive, and with it the
/// group's number: `kill 0` can never hit anyone else. The parent-death signal of Linux would
/// reach the child only, not what it started, and come when a mere thread of this program ends.
#[derive(Debug)]
pub(super) struct Watchdog {
    shell: Child,
    leash: PipeWriter,
}

impl Watchdog {
    /// Joins the group that `leader` leads.
    pub(super) fn spawn(leader: Pid) -> io::Result<Self> {
        let (reader, leash) = io::pipe()?;
        let shell = Command::new("/bin/sh")
            .args(["-c", SCRIPT])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .current_dir("/")
            .stdin(reader)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(leader.as_raw_pid())
            .spawn()?;
        Ok(Self { shell, leash })
    }

    /// Ends the group from inside, at once: for when its number is no longer ours to use.
    pub(super) fn end_group(&mut self) {
        // Fails only where the shell is gone, and then there is nothing to be done.
        let _ = self.leash.write_all(b"\n");
    }

    /// Releases the watchdog, which kills its group if that has not happened, and returns the
    /// shell, which must be reaped afterwards.
    pub(super) fn release(self) -> Child {
        self.shell
    }
}

/// A line means now; the end of the pipe means that the program has died, and with it the
/// child's input has ended: the order of ST-08 continues from there.
const SCRIPT: &str = "trap '' HUP INT QUIT PIPE TERM; \
    read -r line || { sleep 2; kill -TERM 0; sleep 2; }; \
    kill -KILL 0";
