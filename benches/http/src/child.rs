//! A server in a process of its own, and what the system says of that process.

use std::io::{self, BufRead as _, BufReader, Error, Read as _, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::{fs, thread};

use crate::requests::Era;
#[cfg(feature = "auth")]
use crate::tokens::Signed;
use crate::{bare, ours};

/// On each runtime, the bare server and ours.
pub(crate) const SERVERS: [&str; 4] = ["hyper-tokio", "mcp-tokio", "hyper-smol", "mcp-smol"];

/// Serves until the input ends.
pub(crate) fn serve(server: &str) -> io::Result<()> {
    let socket = std::net::TcpListener::bind("127.0.0.1:0")?;
    println!("{}", socket.local_addr()?.port());
    thread::spawn(|| {
        let ended = io::stdin().read_to_end(&mut Vec::new());
        std::process::exit(i32::from(ended.is_err()));
    });
    match server {
        "hyper-tokio" => bare::on_tokio(socket),
        "hyper-smol" => bare::on_smol(socket),
        "mcp-tokio" => ours::on_tokio(socket),
        "mcp-smol" => ours::on_smol(socket),
        "tasks" => ours::tasks_on_tokio(socket),
        "tools" => ours::tools_on_tokio(socket),
        "updates" => ours::updates_on_tokio(socket),
        #[cfg(feature = "auth")]
        "rs256" => ours::protected_on_tokio(socket, Signed::Rs256),
        #[cfg(feature = "auth")]
        "eddsa" => ours::protected_on_tokio(socket, Signed::EdDsa),
        _ => Err(Error::other(format!("no such server: {server}"))),
    }
}

/// A server that runs; it ends when this is dropped.
pub(crate) struct Server {
    process: Child,
    pub(crate) port: u16,
}

impl Server {
    pub(crate) fn start(server: &str) -> io::Result<Self> {
        let mut process = Command::new(std::env::current_exe()?)
            .args(["serve", server])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = String::new();
        if let Some(output) = process.stdout.take() {
            BufReader::new(output).read_line(&mut line)?;
        }
        let port = line.trim().parse().map_err(Error::other)?;
        Ok(Self { process, port })
    }

    /// The CPU time so far: see [`cpu_of`].
    pub(crate) fn cpu(&self) -> io::Result<u64> {
        cpu_of(self.process.id())
    }

    /// The memory that is resident now, in bytes.
    pub(crate) fn resident(&self) -> io::Result<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id()))?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB"));
        let kib: Option<u64> = kib.and_then(|kib| kib.parse().ok());
        kib.map(|kib| kib << 10)
            .ok_or_else(|| Error::other("the system says nothing of its memory"))
    }
}

/// The CPU time of all threads of a process so far, in nanoseconds, that of the kernel on their behalf
/// included.
pub(crate) fn cpu_of(process: u32) -> io::Result<u64> {
    let mut sum = 0;
    for task in fs::read_dir(format!("/proc/{process}/task"))? {
        let times = fs::read_to_string(task?.path().join("schedstat"))?;
        let on_cpu = times.split(' ').next().unwrap_or_default();
        sum += on_cpu.parse::<u64>().map_err(Error::other)?;
    }
    Ok(sum)
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        // It ended by itself at the latest now; there is nobody to tell how.
        let _ = self.process.wait();
    }
}

/// A server on a pipe; it ends when this is dropped.
pub(crate) struct Piped {
    process: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    depth: usize,
    calls: String,
}

impl Piped {
    /// Starts a server of this program, or another program, and a session if the era has them. So many calls will be made at once,
    /// with a text of `bytes` or, without, a short one.
    pub(crate) fn start(
        program: Option<&str>,
        server: &str,
        era: Era,
        (depth, bytes): (usize, Option<usize>),
    ) -> io::Result<Self> {
        let mut command = match program {
            Some(program) => Command::new(program),
            None => Command::new(std::env::current_exe()?),
        };
        if program.is_none() {
            command.args(["pipe", server]);
        }
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (input, output) = (process.stdin.take(), process.stdout.take());
        let output = output.ok_or_else(|| Error::other("there is no output"))?;
        let mut piped = Self {
            process,
            input,
            output: BufReader::with_capacity(1 << 16, output),
            depth,
            calls: String::new(),
        };
        let mut lines: Vec<String> = era.conversation(depth, bytes).collect();
        let calls = lines.split_off(lines.len() - depth);
        piped.calls = calls.join("\n") + "\n";
        if !lines.is_empty() {
            piped.write(&(lines.join("\n") + "\n"))?;
            piped.read()?;
        }
        Ok(piped)
    }

    /// Writes the calls at once and reads as many answers.
    pub(crate) fn exchange(&mut self) -> io::Result<()> {
        let calls = std::mem::take(&mut self.calls);
        self.write(&calls)?;
        self.calls = calls;
        (0..self.depth).try_for_each(|_| self.read())
    }

    fn write(&mut self, text: &str) -> io::Result<()> {
        let input = self.input.as_mut();
        let input = input.ok_or_else(|| Error::other("there is no input"))?;
        input.write_all(text.as_bytes())
    }

    fn read(&mut self) -> io::Result<()> {
        match self.output.skip_until(b'\n')? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }

    /// The CPU time so far: see [`cpu_of`].
    pub(crate) fn cpu(&self) -> io::Result<u64> {
        cpu_of(self.process.id())
    }
}

impl Drop for Piped {
    fn drop(&mut self) {
        drop(self.input.take());
        // As above.
        let _ = self.process.wait();
    }
}
