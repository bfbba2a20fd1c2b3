//! The driver, joined with its peer and with a script in its place.

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

type Scripted = Side<Server<'static, server::Fixed<4, 1>>, Script>;

fn scripted(input: &'static str, room: usize) -> Scripted {
    let config = ServerConfig {
        capabilities: ServerFeatures::TOOLS.capabilities(),
        ..ServerConfig::new("bare_loop", "1.0")
    };
    let script = Script {
        input: input.as_bytes(),
        output: Vec::new(),
        room,
    };
    let server = Server::new(config, server::Fixed).unwrap();
    Side::new(script, server).unwrap()
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
    assert!(side.link.machine.is_closed());
}

#[test]
fn a_stream_that_takes_nothing_more_is_an_error() {
    let mut side = scripted(PING, 10);
    let failed = (0..3).find_map(|_| turn(&mut side).err());
    assert_eq!(failed.unwrap().kind(), ErrorKind::WriteZero);
}

/// The whole conversation: calls, a slow one, one that is cancelled, and one that the end of the
/// connection finds running.
#[test]
fn a_slow_tool_a_cancellation_and_the_end_of_input() {
    let (user, tools) = talk().unwrap();
    assert_eq!(user.answers, client_app::ECHOES + 1);
    assert_eq!(tools.cancelled, 2);
    assert_eq!(tools.next_timeout(), None);
}

/// Requests before the end of input are answered, unless they take their time.
#[test]
fn the_end_of_input_cancels_what_runs() {
    let mut side = scripted(SLOW_AND_ECHO, 1000);
    let mut tools = Tools::default();
    for _ in 0..3 {
        side.turn(Instant::ZERO, |machine, event, outbox| {
            tools.on(Instant::ZERO, machine, event, outbox)
        })
        .unwrap();
    }
    let output = core::str::from_utf8(&side.stream.output).unwrap();
    assert_eq!(output.lines().count(), 2, "{output}");
    assert_eq!(tools.cancelled, 1);
    assert!(side.link.machine.is_closed());
}

const SLOW_AND_ECHO: &str = concat!(
    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"slow"}}"#,
    "\n",
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{"text":"x"}}}"#,
);
