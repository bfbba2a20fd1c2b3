//! Servers over HTTP in a process of their own.

use core::time::Duration;
use std::io::{self, BufRead, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use mcp_async::net::Listen;

use super::adapter::Server;
use super::adapter::server::NoArguments;
use super::block_on;
use super::script::{PATIENCE, Script, program};

pub(crate) const SCRIPTS: &[Script] = &[
    (
        "a signal ends a server over HTTP in good order",
        interrupted,
    ),
    #[cfg(target_os = "linux")]
    ("sessions that are dropped leave no memory behind", sessions),
    #[cfg(target_os = "linux")]
    (
        "a server without descriptors goes on when it has some",
        descriptors,
    ),
];

/// Sessions are forgotten so soon here.
const IDLE: Duration = Duration::from_millis(100);

/// What this program does when it was started as a child; false for a role of others.
pub(crate) fn play(role: &str, arguments: &[&str]) -> bool {
    let ("serve-http", limit) = (role, arguments) else {
        return false;
    };
    #[cfg(target_os = "linux")]
    if let [limit] = limit {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

        let current = limit.parse().ok();
        let maximum = getrlimit(Resource::Nofile).maximum;
        setrlimit(Resource::Nofile, Rlimit { current, maximum }).unwrap();
    }
    let _ = limit;
    let server = Server::new("s", "1").tool("hello", "Greets", |_: NoArguments, _| async {
        Ok("Hello!")
    });
    let listen = Listen::bind("127.0.0.1:0").unwrap();
    println!("{}", listen.address().unwrap());
    let http = server.http().idle_timeout(IDLE);
    block_on(http.serve_on(listen)).unwrap();
    true
}

struct Served {
    child: Child,
    address: String,
}

impl Served {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(program())
            .arg("role:serve-http")
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        let mut output = io::BufReader::new(child.stdout.take().unwrap());
        output.read_line(&mut address).unwrap();
        let address = address.trim_end().to_owned();
        Self { child, address }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Opens a session, and hangs up.
    fn open(&self) {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
        let length = body.len();
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = [0; 4096];
        let len = stream.read(&mut answer).unwrap();
        let answer = String::from_utf8_lossy(&answer[..len]);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        assert!(answer.contains("mcp-session-id"), "{answer}");
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let process = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(process, signal).unwrap();
    }

    /// What the process has in memory, in KiB.
    #[cfg(target_os = "linux")]
    fn memory(&self) -> u64 {
        let status = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(status).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let text = line.unwrap().trim().strip_suffix(" kB").unwrap();
        text.parse().unwrap()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = (self.child.kill(), self.child.wait());
    }
}

fn interrupted() {
    use rustix::process::Signal;

    for signal in [Signal::INT, Signal::TERM] {
        let mut server = Served::start(&[]);
        server.open();
        let mut idle = server.connect();
        server.signal(signal);
        // A reset, where it was not yet accepted.
        assert!(matches!(idle.read(&mut [0]), Ok(0) | Err(_)));
        assert_eq!(server.child.wait().unwrap().code(), Some(0));
    }
}

#[cfg(target_os = "linux")]
fn sessions() {
    let server = Served::start(&[]);
    let thousand = || (0..1_000).for_each(|_| server.open());
    thousand();
    std::thread::sleep(IDLE * 5);
    let before = server.memory();
    (0..5).for_each(|_| thousand());
    // The allocator keeps some; a session that stays has several KiB, and there were 5,000.
    let started = std::time::Instant::now();
    while server.memory() > before + 8 * 1024 {
        let after = server.memory();
        assert!(
            started.elapsed() < PATIENCE,
            "{before} KiB became {after} KiB"
        );
        std::thread::sleep(IDLE);
    }
}

#[cfg(target_os = "linux")]
fn descriptors() {
    let server = Served::start(&["32"]);
    // A runtime may want some for itself at its first task.
    server.open();
    let many: Vec<TcpStream> = (0..64).map(|_| server.connect()).collect();
    std::thread::sleep(IDLE);
    drop(many);
    server.open();
}
