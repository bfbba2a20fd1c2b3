//! A server in a process of its own, and what the system says of that process.

use std::io::{self, BufRead as _, BufReader, Error, Read as _};
use std::process::{Child, Command, Stdio};
use std::{fs, thread};

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

    /// The CPU time of all its threads so far, in nanoseconds, that of the kernel on their behalf
    /// included.
    pub(crate) fn cpu(&self) -> io::Result<u64> {
        let mut sum = 0;
        for task in fs::read_dir(format!("/proc/{}/task", self.process.id()))? {
            let times = fs::read_to_string(task?.path().join("schedstat"))?;
            let on_cpu = times.split(' ').next().unwrap_or_default();
            sum += on_cpu.parse::<u64>().map_err(Error::other)?;
        }
        Ok(sum)
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

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        // It ended by itself at the latest now; there is nobody to tell how.
        let _ = self.process.wait();
    }
}
