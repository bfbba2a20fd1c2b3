//! The core alone: a server and a client over a non-blocking socket of `std`, in one plain loop.
//! No async runtime, and once it runs not one allocation.
//!
//! `cargo run -p mcp-proto --example bare_loop` starts both ends on loopback, calls a tool a few
//! times and ends. What stands here for the socket can as well be a serial line.

use core::net::Ipv4Addr;
use core::time::Duration;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream};

use mcp_proto::client::{self, Call, Client, ClientConfig};
use mcp_proto::json::{Object, Raw};
use mcp_proto::model::{
    CallToolParams, CallToolResult, ContentBlock, ListToolsResult, ServerCapabilities, TextContent,
    Tool, ToolsCapability,
};
use mcp_proto::rpc::{ErrorObject, Method, code};
use mcp_proto::server::{self, Server, ServerConfig};
use mcp_proto::{Inbox, Instant, Limits, Link, Machine, Outbox, Outcome, Rest, SendError, Verdict};

fn main() -> io::Result<()> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
    let near = TcpStream::connect(listener.local_addr()?)?;
    let (far, _) = listener.accept()?;
    near.set_nonblocking(true)?;
    far.set_nonblocking(true)?;

    // All the memory that the two connections ever take is in these two variables.
    let limits = Limits {
        message: SIZE,
        output: SIZE,
        ..Limits::default()
    };
    let client = ClientConfig {
        limits,
        ..ClientConfig::new("bare_loop", "1.0")
    };
    let server = ServerConfig {
        limits,
        capabilities: ServerCapabilities {
            tools: Some(ToolsCapability::default()),
            ..ServerCapabilities::default()
        },
        ..ServerConfig::new("bare_loop", "1.0")
    };
    let client = Client::new(client, client::Fixed::<4, 1>).map_err(io::Error::other)?;
    let server = Server::new(server, server::Fixed::<64, 4, 1, 0, 0>::new());
    let server = server.map_err(io::Error::other)?;
    let mut client = Side::new(near, limits, client)?;
    let mut server = Side::new(far, limits, server)?;

    let started = std::time::Instant::now();
    let clock =
        || Instant::from_millis(u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX));
    let mut answers = 0;
    client.machine.connect(clock()).map_err(io::Error::other)?;
    while answers < CALLS && !client.machine.is_closed() {
        let now = clock();
        let moved = client.turn(now, |machine, event, outbox| {
            listen(&mut answers, now, machine, event, outbox)
        })?;
        if !server.turn(now, |machine, event, outbox| {
            serve(now, machine, event, outbox)
        })? && !moved
        {
            // Where there is `poll(2)`, here it would wait for the socket or the deadline.
            let due = [client.machine.poll_timeout(), server.machine.poll_timeout()];
            let left = due
                .into_iter()
                .flatten()
                .min()
                .map(|due| due.saturating_since(now));
            std::thread::sleep(left.unwrap_or(TICK).min(TICK));
        }
    }
    if answers < CALLS {
        return Err(io::Error::other("the connection ended early"));
    }
    Ok(())
}

/// A machine, its two buffers, and a stream that never blocks.
struct Side<M, T> {
    machine: M,
    link: Link<[u8; SIZE], [u8; SIZE]>,
    stream: T,
}

impl<M: Machine, T: Read + Write> Side<M, T> {
    fn new(stream: T, limits: Limits, mut machine: M) -> io::Result<Self> {
        let inbox = Inbox::new([0; SIZE], &limits);
        let outbox = Outbox::new([0; SIZE], &limits);
        Ok(Self {
            link: Link::new(&mut machine, inbox, outbox).map_err(io::Error::other)?,
            machine,
            stream,
        })
    }

    /// Reads what has come, lets the machine work, writes what it has to say. Returns whether
    /// any byte moved.
    fn turn(
        &mut self,
        now: Instant,
        mut app: impl FnMut(&mut M, M::Event<'_>, &mut Outbox<[u8; SIZE]>) -> Verdict,
    ) -> io::Result<bool> {
        let mut moved = false;
        if let Some(spare) = self.link.inbox.spare_mut() {
            match self.stream.read(spare) {
                // The last line may lack its line feed: it is handled before the end.
                Ok(0) => self.link.inbox.close(),
                Ok(count) => {
                    self.link.inbox.filled(count);
                    moved = true;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        let rest = self.link.turn(&mut self.machine, now, &mut app);
        if rest == Rest::Empty && self.link.inbox.is_closed() {
            self.machine.hang_up(now);
            // Only events are left. What does not fit is not written any more.
            let (Rest::Full | Rest::Empty) = self.link.turn(&mut self.machine, now, &mut app);
        }
        while !self.link.outbox.pending().is_empty() {
            match self.stream.write(self.link.outbox.pending()) {
                // Another attempt would say the same, for ever.
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(count) => self.link.outbox.consume(count),
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                Err(error) => return Err(error),
            }
            moved = true;
        }
        Ok(moved)
    }
}

/// The server's application: one tool that says what it was told.
fn serve<S: server::Storage>(
    now: Instant,
    server: &mut Server<'_, S>,
    event: server::Event<'_>,
    outbox: &mut Outbox<[u8; SIZE]>,
) -> Verdict {
    let server::Event::Request {
        token,
        method,
        params,
        context,
    } = event
    else {
        return Verdict::Done;
    };
    let mut respond = |outcome: Outcome<'_>| {
        match outbox.put(|out| server.respond(now, token, outcome, out)) {
            // The client has to read first; then the request comes again.
            Err(SendError::BufferFull { .. }) => Verdict::Again,
            Ok(_) | Err(_) => Verdict::Done,
        }
    };
    match method {
        Method::ToolsList => respond(Outcome::Result(&ListToolsResult {
            tools: (&[Tool::new(ECHO, object(SCHEMA))]).into(),
            ..ListToolsResult::default()
        })),
        Method::ToolsCall if context.subject.is_some_and(|name| name == ECHO) => {
            // The text goes back as it came, still escaped: nothing is decoded, nothing copied.
            let arguments = params.get("arguments").and_then(Raw::object);
            let text = arguments
                .and_then(|arguments| arguments.get("text"))
                .and_then(Raw::string);
            let block = TextContent {
                text: text.unwrap_or_default(),
                ..TextContent::default()
            };
            respond(Outcome::Result(&CallToolResult {
                content: (&[ContentBlock::Text(block)]).into(),
                ..CallToolResult::default()
            }))
        }
        _ => respond(Outcome::Error(ErrorObject::new(
            code::INVALID_PARAMS,
            "no such tool",
        ))),
    }
}

/// The client's application: one call after the other.
fn listen<S: client::Storage>(
    answers: &mut u32,
    now: Instant,
    client: &mut Client<'_, S>,
    event: client::Event<'_>,
    outbox: &mut Outbox<[u8; SIZE]>,
) -> Verdict {
    match event {
        client::Event::Connected(server) => println!("connected, {}", server.revision),
        client::Event::Answer {
            outcome: Ok(result),
            ..
        } => {
            *answers += 1;
            println!("{}", result.as_str());
        }
        other => {
            println!("{other:?}");
            return Verdict::Done;
        }
    }
    if *answers < CALLS {
        let params = CallToolParams {
            name: ECHO.into(),
            arguments: Some(object(ARGUMENTS)),
            ..CallToolParams::default()
        };
        let call = Call {
            params: Some(&params),
            ..Call::new(Method::ToolsCall)
        };
        if let Err(error) = outbox.put(|out| client.call(now, &call, out)) {
            println!("{error}");
        }
    }
    Verdict::Done
}

/// JSON of our own, which is an object.
fn object(text: &[u8]) -> Object<'_> {
    Raw::parse(text, 8)
        .ok()
        .and_then(Raw::object)
        .unwrap_or_default()
}

const ECHO: &str = "echo";
const SCHEMA: &[u8] =
    br#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#;
const ARGUMENTS: &[u8] = br#"{"text":"hello \ud83d\udc4b"}"#;
const CALLS: u32 = 5;
const SIZE: usize = 2048;
const TICK: Duration = Duration::from_millis(1);

#[cfg(test)]
mod tests {
    use super::*;

    /// What the peer sent before it closed its half; what is written to it is kept, up to `room`.
    struct Script {
        input: &'static [u8],
        output: Vec<u8>,
        room: usize,
    }

    impl Read for Script {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            self.input.read(into)
        }
    }

    impl Write for Script {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let count = bytes.len().min(self.room - self.output.len());
            self.output.extend(&bytes[..count]);
            Ok(count)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    type Scripted = Side<Server<'static, server::Fixed<64, 4, 1, 0, 0>>, Script>;

    fn scripted(input: &'static str, room: usize) -> Scripted {
        let limits = Limits::default();
        let config = ServerConfig {
            limits,
            ..ServerConfig::new("bare_loop", "1.0")
        };
        let script = Script {
            input: input.as_bytes(),
            output: Vec::new(),
            room,
        };
        let server = Server::new(config, server::Fixed::new()).unwrap();
        Side::new(script, limits, server).unwrap()
    }

    fn turn(side: &mut Scripted) -> io::Result<bool> {
        side.turn(Instant::ZERO, |_, _, _| Verdict::Done)
    }

    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    const PONG: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";

    #[test]
    fn a_last_line_without_line_feed_is_answered() {
        let mut side = scripted(PING, 1000);
        for _ in 0..3 {
            turn(&mut side).unwrap();
        }
        assert_eq!(side.stream.output, PONG);
        assert!(side.machine.is_closed());
    }

    #[test]
    fn a_stream_that_takes_nothing_more_is_an_error() {
        let mut side = scripted(PING, 10);
        let failed = (0..3).find_map(|_| turn(&mut side).err());
        assert_eq!(failed.unwrap().kind(), ErrorKind::WriteZero);
    }
}
