//! The core in a completion-style loop: an operation takes its buffer with it and gives it back
//! when it is complete, as with `io_uring` or overlapped IO. Nothing here is async.
//!
//! `cargo run -p mcp-proto --features alloc --example completion_loop` starts a server on loopback
//! and a client that sends its requests as lines. The engine stands for the kernel's: it owns each
//! buffer while the operation is in flight, which the types enforce, because the buffer is moved
//! into it.

use core::net::Ipv4Addr;
use core::time::Duration;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;

use mcp_proto::json::Raw;
use mcp_proto::model::ServerFeatures;
use mcp_proto::server::{Event, Growing, Server, ServerConfig};
use mcp_proto::{Inbox, Instant, Limits, Link, Machine, Outbox, Outcome, TurnEnd, Verdict};

fn main() -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let mut client = TcpStream::connect(listener.local_addr()?)?;
    let (socket, _) = listener.accept()?;
    let server = thread::spawn(move || serve(Engine::start(socket.try_clone()?, socket)));
    for line in [INITIALIZE, INITIALIZED, CALL] {
        client.write_all(line.as_bytes())?;
    }
    client.shutdown(Shutdown::Write)?;
    let mut answers = String::new();
    client.read_to_string(&mut answers)?;
    print!("{answers}");
    server
        .join()
        .map_err(|_| io::Error::other("the server panicked"))?
}

/// What is written: the bytes that the machine has put into it.
type Output = Outbox<Vec<u8>>;

/// A completed operation gives its buffer back.
enum Completion {
    Read(Vec<u8>, io::Result<usize>),
    Write(Output, io::Result<usize>),
}

/// Reads and writes by threads where a kernel would do it.
struct Engine {
    reads: Sender<Vec<u8>>,
    writes: Sender<Output>,
    completions: Receiver<Completion>,
}

impl Engine {
    fn start(mut from: impl Read + Send + 'static, mut to: impl Write + Send + 'static) -> Self {
        let (reads, buffers) = mpsc::channel::<Vec<u8>>();
        let (writes, outputs) = mpsc::channel::<Output>();
        let (done, completions) = mpsc::channel();
        let written = done.clone();
        thread::spawn(move || {
            for mut buffer in buffers {
                let count = from.read(&mut buffer);
                let _ = done.send(Completion::Read(buffer, count));
            }
        });
        thread::spawn(move || {
            for output in outputs {
                let count = to.write(output.pending());
                let _ = written.send(Completion::Write(output, count));
            }
        });
        Self {
            reads,
            writes,
            completions,
        }
    }

    /// Begins to read into this buffer.
    fn read(&self, buffer: Vec<u8>) -> io::Result<()> {
        self.reads.send(buffer).map_err(io::Error::other)
    }

    /// Begins to write what is pending in this outbox.
    fn write(&self, output: Output) -> io::Result<()> {
        let gone = |_| io::Error::other("the engine has stopped");
        self.writes.send(output).map_err(gone)
    }

    /// The next completion; `None` if this time passes without one.
    fn wait(&self, patience: Option<Duration>) -> io::Result<Option<Completion>> {
        match self.completions.recv_timeout(patience.unwrap_or(DAY)) {
            Ok(completion) => Ok(Some(completion)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(gone) => Err(io::Error::other(gone)),
        }
    }
}

/// Bytes that were read, as far as the inbox has not taken them.
struct Arrived {
    buffer: Vec<u8>,
    from: usize,
    to: usize,
}

/// Serves one client until its last request is answered.
fn serve(engine: Engine) -> io::Result<()> {
    let limits = Limits {
        message: SIZE,
        output: SIZE,
        ..Limits::default()
    };
    let config = ServerConfig {
        limits,
        capabilities: ServerFeatures::TOOLS.capabilities(),
        ..ServerConfig::new("completion_loop", "1.0")
    };
    let machine = Server::new(config, Growing).map_err(io::Error::other)?;
    let mut link = Link::new(machine, Vec::new(), Vec::new()).map_err(io::Error::other)?;
    // A second outbox: one is filled while the other is in flight.
    let mut spare = Some(Outbox::new(Vec::new(), &limits));
    let mut arrived: Option<Arrived> = None;
    engine.read(vec![0; PORTION])?;

    let started = std::time::Instant::now();
    loop {
        let millis = u64::try_from(started.elapsed().as_millis());
        let now = Instant::from_millis(millis.unwrap_or(u64::MAX));
        // The inbox may be full: then the rest waits until messages were taken out of it.
        let rest = loop {
            let moved = arrived.as_mut().is_some_and(|it| it.fill(&mut link.inbox));
            let rest = link.turn(now, answer);
            if !moved || rest == TurnEnd::Full {
                break rest;
            }
        };
        if let Some(read) = arrived.take_if(|it| it.from == it.to) {
            engine.read(read.buffer)?;
        }
        if !link.outbox.is_empty()
            && let Some(empty) = spare.take()
        {
            engine.write(core::mem::replace(&mut link.outbox, empty))?;
            if rest == TurnEnd::Full {
                continue;
            }
        }
        if rest == TurnEnd::Empty && link.inbox.is_closed() && spare.is_some() {
            // All was answered and written. Running requests would now be cancelled.
            link.machine.hang_up();
            return Ok(());
        }
        let due = link.machine.poll_timeout();
        match engine.wait(due.map(|due| due.saturating_since(now)))? {
            None => {}
            Some(Completion::Read(_, Ok(0))) => link.inbox.close(),
            Some(Completion::Read(buffer, count)) => {
                let to = count?;
                arrived = Some(Arrived {
                    buffer,
                    from: 0,
                    to,
                });
            }
            Some(Completion::Write(mut output, count)) => {
                match count? {
                    0 => return Err(ErrorKind::WriteZero.into()),
                    count => output.consume(count),
                }
                match output.is_empty() {
                    true => spare = Some(output),
                    // Not all of it was taken.
                    false => engine.write(output)?,
                }
            }
        }
    }
}

impl Arrived {
    /// Moves what fits into the inbox; says whether anything did.
    fn fill(&mut self, inbox: &mut Inbox<Vec<u8>>) -> bool {
        let Some(room) = inbox.spare_mut() else {
            return false;
        };
        let count = room.len().min(self.to - self.from);
        room[..count].copy_from_slice(&self.buffer[self.from..self.from + count]);
        inbox.filled(count);
        self.from += count;
        count > 0
    }
}

/// The application: a tool that returns its arguments.
fn answer(server: &mut Server<'_, Growing>, event: Event<'_>, outbox: &mut Output) -> Verdict {
    let Event::Request { token, params, .. } = event else {
        return Verdict::Done;
    };
    let text = params.get("arguments").map_or("{}", |it| it.as_str());
    let result = format!(r#"{{"content":[],"structuredContent":{text}}}"#);
    let Ok(result) = Raw::parse(result.as_bytes(), 128) else {
        return Verdict::Done;
    };
    // If the result does not fit, the request comes again.
    outbox
        .put(|out| server.respond(token, Outcome::Result(&result), out))
        .into()
}

const INITIALIZE: &str = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{\
    \"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\
    \"clientInfo\":{\"name\":\"lines\",\"version\":\"1\"}}}\n";
const INITIALIZED: &str = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
const CALL: &str = "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\
    \"name\":\"same\",\"arguments\":{\"n\":1}}}\n";
const SIZE: usize = 4096;
const PORTION: usize = 1024;
const DAY: Duration = Duration::from_secs(86_400);

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;

    /// Takes a few bytes at a time.
    struct Slow(Arc<Mutex<Vec<u8>>>, usize);

    impl Write for Slow {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = bytes.len().min(self.1);
            self.0.lock().unwrap().extend_from_slice(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// However much comes and goes at a time, each call is answered, in order.
    #[test]
    fn every_call_is_answered() {
        let mut input = [INITIALIZE, INITIALIZED].concat();
        for n in 0..200 {
            let id = format!("\"id\":{}", n + 10);
            input += &CALL
                .replace("\"id\":2", &id)
                .replace("\"n\":1", &format!("\"n\":{n}"));
        }
        for pace in [7, 1000, 100_000] {
            let written = Arc::new(Mutex::new(Vec::new()));
            let from = io::Cursor::new(input.clone().into_bytes());
            serve(Engine::start(from, Slow(Arc::clone(&written), pace))).unwrap();
            let output = String::from_utf8(written.lock().unwrap().clone()).unwrap();
            let lines: Vec<_> = output.lines().collect();
            assert_eq!(lines.len(), 201);
            for (n, line) in lines[1..].iter().enumerate() {
                assert!(
                    line.contains(&format!("\"structuredContent\":{{\"n\":{n}}}")),
                    "{line}"
                );
            }
        }
    }
}
