//! Servers over HTTP in a process of their own.

use core::time::Duration;
use std::alloc::System;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Instant;

use cap::Cap;

use super::adapter::server::Registry;
use super::adapter::{Server, tcp};
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

/// Counts the bytes that are allocated.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// Sessions are forgotten so soon here.
const IDLE: Duration = Duration::from_millis(100);

/// Rounds of sessions, and how many there are in each at the same time.
#[cfg(target_os = "linux")]
const ROUNDS: usize = 20;
#[cfg(target_os = "linux")]
const SESSIONS: usize = 100;

/// The bytes by which queues and tables of a runtime may still grow after the first round, because
/// more tasks are woken at the same time. That is 8 for each session.
#[cfg(target_os = "linux")]
const RUNTIME: usize = 16 * 1024;

/// The KiB by which resident memory may differ between the first and the second half of the
/// rounds. The sessions of the second half take more than ten times as much.
#[cfg(target_os = "linux")]
const PAGES: u64 = 512;

const ACCEPT: &str = "Accept: application/json, text/event-stream";

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
    let server =
        Server::builder("s", "1").tool("hello", "Greets", |(): (), _| async { Ok("Hello!") });
    let listen = tcp("127.0.0.1:0");
    println!("{}", listen.address().unwrap());
    let server = server.build().unwrap();
    let registry = server.registry();
    thread::spawn(move || report(&registry));
    let http = server.http().idle_timeout(IDLE);
    block_on(http.serve(listen)).unwrap();
    true
}

/// Answers each line of the standard input with the bytes that are allocated and the count of
/// sessions.
fn report(registry: &Registry) {
    let mut line = [0];
    while matches!(io::stdin().read(&mut line), Ok(1)) {
        let sessions = registry.peers().len();
        println!("{} {sessions}", ALLOCATOR.allocated());
    }
}

/// Reads again if a signal for the process came in between: a socket with a time limit does not do that.
fn uninterrupted(mut read: impl FnMut() -> io::Result<usize>) -> io::Result<usize> {
    loop {
        match read() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other,
        }
    }
}

struct Served {
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    child: Child,
    address: String,
}

impl Served {
    fn start(arguments: &[&str]) -> Self {
        let mut child = Command::new(program())
            .arg("role:serve-http")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut address = String::new();
        let questions = child.stdin.take().unwrap();
        let mut answers = BufReader::new(child.stdout.take().unwrap());
        answers.read_line(&mut address).unwrap();
        let address = address.trim_end().to_owned();
        Self {
            questions,
            answers,
            child,
            address,
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// Sends a request, and returns the connection with the beginning of the answer.
    fn exchange(&self, method: &str, fields: &[&str], body: &str) -> (TcpStream, String) {
        let fields = fields.join("\r\n");
        let request =
            format!("{method} /mcp HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n\r\n{body}");
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = [0; 4096];
        let len = uninterrupted(|| stream.read(&mut answer)).unwrap();
        (stream, String::from_utf8_lossy(&answer[..len]).into_owned())
    }

    /// Opens a session and hangs up, until the server has done so too; the id of the session.
    fn open(&self) -> String {
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
        let length = format!("Content-Length: {}", body.len());
        let fields = ["Content-Type: application/json", ACCEPT, &length];
        let (mut stream, answer) = self.exchange("POST", &fields, body);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        stream.shutdown(Shutdown::Write).unwrap();
        io::copy(&mut stream, &mut io::sink()).unwrap();
        let (_, rest) = answer.split_once("mcp-session-id: ").expect(&answer);
        rest.split_once("\r\n").expect(&answer).0.to_owned()
    }

    /// Opens a session and a stream of it, so that the session is in use for as long as the
    /// connection is kept.
    fn listen(&self) -> TcpStream {
        let started = Instant::now();
        loop {
            let session = format!("Mcp-Session-Id: {}", self.open());
            let (stream, answer) = self.exchange("GET", &[ACCEPT, &session], "");
            if answer.starts_with("HTTP/1.1 200 ") {
                return stream;
            }
            // On a busy machine a session may end before its stream is asked for.
            assert!(answer.starts_with("HTTP/1.1 404 "), "{answer}");
            assert!(started.elapsed() < PATIENCE, "{answer}");
        }
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let process = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(process, signal).unwrap();
    }

    #[cfg(target_os = "linux")]
    fn status(&mut self) -> Status {
        self.questions.write_all(b"?").unwrap();
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        let (allocated, sessions) = line.trim_end().split_once(' ').unwrap();
        let descriptors = format!("/proc/{}/fd", self.child.id());
        Status {
            allocated: allocated.parse().unwrap(),
            sessions: sessions.parse().unwrap(),
            descriptors: std::fs::read_dir(descriptors).unwrap().count(),
        }
    }

    /// Waits until the server says what is expected.
    #[cfg(target_os = "linux")]
    fn status_once(&mut self, expected: impl Fn(&Status) -> bool) -> Status {
        let started = Instant::now();
        loop {
            let now = self.status();
            if expected(&now) {
                return now;
            }
            assert!(started.elapsed() < PATIENCE, "{now:?}");
            thread::sleep(IDLE / 10);
        }
    }

    /// What the process has in memory, in KiB.
    #[cfg(target_os = "linux")]
    fn resident(&self) -> u64 {
        let status = format!("/proc/{}/status", self.child.id());
        let status = std::fs::read_to_string(status).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let text = line.unwrap().trim().strip_suffix(" kB").unwrap();
        text.parse().unwrap()
    }
}

/// What a server says of itself.
#[cfg(target_os = "linux")]
#[derive(Debug)]
struct Status {
    /// The bytes that are allocated.
    allocated: usize,
    sessions: usize,
    descriptors: usize,
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

/// All sessions of a round exist at the same time, so that what is kept for as many as there ever
/// were is kept from the first round on.
#[cfg(target_os = "linux")]
fn sessions() {
    let mut server = Served::start(&[]);
    let mut round = |limit: usize| {
        let streams: Vec<TcpStream> = (0..SESSIONS).map(|_| server.listen()).collect();
        let during = server.status();
        assert!(during.sessions >= SESSIONS, "{during:?}");
        drop(streams);
        let ended = server.status_once(|now| {
            let hung_up = now.descriptors + SESSIONS <= during.descriptors;
            now.sessions == 0 && hung_up && now.allocated <= limit
        });
        (ended.allocated, server.resident())
    };
    let (first, resident) = round(usize::MAX);
    let mut resident = [resident, resident];
    for number in 1..ROUNDS {
        let (_, now) = round(first + RUNTIME);
        let half = &mut resident[2 * number / ROUNDS];
        *half = now.max(*half);
    }
    let [early, late] = resident;
    assert!(late <= early + PAGES, "{early} KiB became {late} KiB");
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
