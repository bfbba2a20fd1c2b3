//! Machines in storage of fixed size, compared with machines in storage that grows.

use core::fmt::{self, Debug, Write as _};

use arbitrary::{Arbitrary, Unstructured};
use mcp_proto::client::{self, Call, Client, ClientConfig};
use mcp_proto::json::Raw;
use mcp_proto::model::{ClientFeatures, ServerFeatures};
use mcp_proto::rpc::{Incoming, Message, Messages, Method};
use mcp_proto::server::{self, AskOptions, Server, ServerConfig};
use mcp_proto::{
    Heapless, Instant, Limits, Link, Machine, Outcome, Question, Revision, RevisionSet, SendError,
    SentToken, Step, Store, Token, Transmit, TurnEnd,
};

use crate::operations::{clock, fill, pick, take};

/// A machine in `Fixed` storage, with arrays or `heapless` vectors as buffers, reports and writes the same as one in growing storage with
/// the same limits, until it refuses something for lack of room, with an error that says so. Everything ends with the connection.
///
/// The input is read as a byte, which chooses role, sizes and revision, and a list of `Operation`s.
pub fn fixed_storage(input: &[u8]) {
    let Ok((setup, operations)) =
        <(u8, Vec<Operation>)>::arbitrary_take_rest(Unstructured::new(input))
    else {
        return;
    };
    let revision = [
        Revision::V2025_03_26,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ][usize::from(setup / 8) % 3];
    let (mut fixed, mut growing): (Box<dyn Peer>, Box<dyn Peer>) = match setup % 8 {
        0 => servers::<4, 4, 300, 64, 64>(revision, [0; 1024], [0; 2048]),
        1 => servers::<1, 1, 0, 0, 8>(revision, [0; 256], [0; 700]),
        2 => servers::<3, 3, 64, 16, 16>(revision, Heapless::<u8, 700>::new(), [0; 1200]),
        3 => servers::<5, 5, 500, 40, 32>(revision, [0; 2048], Heapless::<u8, 2000>::new()),
        4 => clients::<4, 4, 300, 64>(revision, [0; 1024], [0; 2048]),
        5 => clients::<1, 1, 3, 8>(revision, [0; 300], [0; 700]),
        6 => clients::<3, 3, 64, 16>(revision, Heapless::<u8, 700>::new(), [0; 1200]),
        _ => clients::<6, 6, 500, 32>(revision, [0; 2048], Heapless::<u8, 2000>::new()),
    };
    let (seen, expected) = (fixed.open(revision), growing.open(revision));
    let mut is_alike = seen == expected;
    assert!(
        is_alike || seen.is_refusal(),
        "{seen:#?} instead of {expected:#?}"
    );
    for operation in operations {
        let seen = fixed.apply(&operation);
        if is_alike {
            let expected = growing.apply(&operation);
            is_alike = seen == expected;
            assert!(
                is_alike || seen.is_refusal(),
                "{operation:?}: {seen:#?} instead of {expected:#?}"
            );
        }
    }
    fixed.end();
    growing.end();
}

/// One thing that happens. Small numbers choose among what there is.
#[derive(Debug, Arbitrary)]
enum Operation {
    /// The peer writes a message, with an id of that length.
    Message { kind: u8, id: u8, length: u8 },
    /// The peer writes several as an array.
    Array { kinds: Vec<u8> },
    /// The peer writes anything.
    Bytes(Vec<u8>),
    /// The application answers a request, with so many bytes of text.
    Respond { which: u8, length: u8 },
    /// The application makes a request of its own.
    Send { which: u8 },
    /// The application cancels it.
    Cancel { which: u8 },
    /// The clock moves: see `clock`.
    Wait(u16),
}

/// The effects of one operation.
#[derive(Debug, Default, PartialEq)]
struct Seen {
    written: Vec<u8>,
    events: Vec<String>,
    error: Option<SendError>,
}

impl Seen {
    /// Returns true if something was refused: a command, or a message of the peer by an error.
    fn is_refusal(&self) -> bool {
        let refuses = |incoming| match incoming {
            Incoming::Message(Message::Response(response)) => response.outcome.is_err(),
            _ => false,
        };
        let lines = self.written.split(|byte| *byte == b'\n');
        // A peer that must not answer with an error reports the message to its application instead.
        let is_reported = self.events.iter().any(|event| event == "Unusable");
        let is_ended = self.events.iter().any(|event| event == "Failed");
        self.error.is_some()
            || is_reported
            || is_ended
            || lines
                .into_iter()
                .any(|line| Messages::new(line, 128).any(refuses))
    }
}

trait Peer {
    fn open(&mut self, revision: Revision) -> Seen;
    fn apply(&mut self, operation: &Operation) -> Seen;
    fn end(&mut self);
}

/// A server in fixed storage, and one in growing storage with its limits.
fn servers<const R: usize, const Q: usize, const B: usize, const U: usize, const ID: usize>(
    revision: Revision,
    inbox: impl Store<u8> + 'static,
    outbox: impl Store<u8> + 'static,
) -> (Box<dyn Peer>, Box<dyn Peer>) {
    let fixed = server::Fixed::<R, Q, B, U, ID>;
    let limits = limits(R, B, U, &inbox, &outbox);
    let config = |limits, features: ServerFeatures| ServerConfig {
        capabilities: features.capabilities(),
        revisions: RevisionSet::of(&[revision]),
        limits,
        ..ServerConfig::new("s", "1")
    };
    let mut features = ServerFeatures::TOOLS.with(ServerFeatures::RESOURCES);
    if U > 0 {
        features = features.with(ServerFeatures::RESOURCES_SUBSCRIBE);
    }
    let machine = Server::with_room(config(limits, features), fixed);
    let fixed = Joined::new(machine, inbox, outbox);
    let machine = Server::with_room(config(limits, features), server::Growing);
    (
        Box::new(fixed),
        Box::new(Joined::new(machine, Vec::new(), Vec::new())),
    )
}

/// A client in fixed storage, and one in growing storage with its limits.
fn clients<const C: usize, const Q: usize, const B: usize, const ID: usize>(
    revision: Revision,
    inbox: impl Store<u8> + 'static,
    outbox: impl Store<u8> + 'static,
) -> (Box<dyn Peer>, Box<dyn Peer>) {
    let fixed = client::Fixed::<C, Q, B, 0, ID>;
    let config = ClientConfig {
        capabilities: ClientFeatures::ROOTS.capabilities(),
        revisions: RevisionSet::of(&[revision]),
        limits: limits(C, B, 0, &inbox, &outbox),
        ..ClientConfig::new("c", "1")
    };
    let machine = Client::with_room(config, fixed);
    let fixed = Joined::new(machine, inbox, outbox);
    let machine = Client::with_room(config, client::Growing);
    (
        Box::new(fixed),
        Box::new(Joined::new(machine, Vec::new(), Vec::new())),
    )
}

fn limits(
    in_flight: usize,
    batch_bytes: usize,
    subscription_bytes: usize,
    inbox: &impl Store<u8>,
    outbox: &impl Store<u8>,
) -> Limits {
    Limits {
        message: inbox.max_len(),
        output: outbox.max_len(),
        in_flight,
        batch_bytes,
        subscription_bytes,
        ..Limits::default()
    }
}

/// A machine with its buffers, and what its application has open.
struct Joined<M, I, O> {
    now: Instant,
    link: Link<M, I, O>,
    requests: Vec<Token>,
    sent: Vec<SentToken>,
}

/// The operations that differ between the roles.
trait Role: Machine {
    fn begin(&mut self);
    fn opening(revision: Revision) -> &'static [&'static str];
    fn message(kind: u8, id: &str, number: u8) -> String;
    fn answer(
        &mut self,
        to: Token,
        with: Outcome<'_>,
        out: &mut [u8],
    ) -> Result<Transmit, SendError>;
    fn send(
        &mut self,
        now: Instant,
        parent: Option<Token>,
        out: &mut [u8],
    ) -> Result<(SentToken, Transmit), SendError>;
    fn give_up(&mut self, sent: SentToken);
    fn in_flight(&self) -> usize;
}

impl<M: Role, I: Store<u8>, O: Store<u8>> Joined<M, I, O>
where
    for<'b> M::Event<'b>: Debug,
{
    fn new(machine: M, inbox: I, outbox: O) -> Self {
        Self {
            now: Instant::ZERO,
            link: Link::new(machine, inbox, outbox).expect("the outbox has room"),
            requests: Vec::new(),
            sent: Vec::new(),
        }
    }

    fn arrive(&mut self, mut bytes: &[u8], seen: &mut Seen) {
        while !bytes.is_empty() {
            let Some(rest) = fill(&mut self.link.inbox, bytes) else {
                return;
            };
            bytes = rest;
            self.drive(seen);
        }
    }

    /// Everything that can be done without waiting, with a peer that reads at once.
    fn drive(&mut self, seen: &mut Seen) {
        loop {
            let end = match self.link.step(self.now) {
                Step::Event { event, .. } => {
                    self.requests.extend(M::request_of(&event));
                    seen.events.push(name(&event));
                    continue;
                }
                Step::Done | Step::Ignored(_) => continue,
                Step::Full => TurnEnd::Full,
                Step::Empty => TurnEnd::Empty,
            };
            let pending = self.link.outbox.pending();
            let count = pending.len();
            seen.written.extend(pending);
            self.link.outbox.consume(count);
            match end {
                TurnEnd::Full => assert!(count > 0, "full, and nothing to read"),
                TurnEnd::Empty => return,
            }
        }
    }
}

impl<M: Role, I: Store<u8>, O: Store<u8>> Peer for Joined<M, I, O>
where
    for<'b> M::Event<'b>: Debug,
{
    fn open(&mut self, revision: Revision) -> Seen {
        let mut seen = Seen::default();
        self.link.machine.begin();
        self.drive(&mut seen);
        for line in M::opening(revision) {
            self.arrive(line.as_bytes(), &mut seen);
        }
        seen
    }

    fn apply(&mut self, operation: &Operation) -> Seen {
        let mut seen = Seen::default();
        let Self { link, now, .. } = self;
        match operation {
            Operation::Message { kind, id, length } => {
                let name = format!("{}{}", "i".repeat(usize::from(length % 70)), id % 8);
                let mut line = M::message(*kind, &name, *id);
                line.push('\n');
                self.arrive(line.as_bytes(), &mut seen);
            }
            Operation::Array { kinds } => {
                let elements: Vec<String> = kinds
                    .iter()
                    .map(|kind| M::message(*kind, &format!("a{}", kind / 16), kind / 16))
                    .collect();
                self.arrive(format!("[{}]\n", elements.join(",")).as_bytes(), &mut seen);
            }
            Operation::Bytes(bytes) => self.arrive(bytes, &mut seen),
            Operation::Respond { which, length } => {
                let Some(token) = take(&mut self.requests, *which) else {
                    return seen;
                };
                let text = "x".repeat(usize::from(*length) * 4);
                let text = format!(r#"{{"content":[],"text":"{text}"}}"#);
                let result = Raw::parse(text.as_bytes(), 8).expect("it is JSON");
                let machine = &mut link.machine;
                let put = |out: &mut [u8]| machine.answer(token, Outcome::Result(&result), out);
                seen.error = link.outbox.put(put).err();
            }
            Operation::Send { which } => {
                let parent = pick(&self.requests, *which).copied();
                let machine = &mut link.machine;
                match link.outbox.put(|out| machine.send(*now, parent, out)) {
                    Ok((token, _)) => self.sent.push(token),
                    Err(error) => seen.error = Some(error),
                }
            }
            Operation::Cancel { which } => {
                if let Some(token) = take(&mut self.sent, *which) {
                    link.machine.give_up(token);
                }
            }
            Operation::Wait(by) => *now = clock(*now, *by),
        }
        self.drive(&mut seen);
        seen
    }

    fn end(&mut self) {
        self.link.machine.hang_up();
        self.drive(&mut Seen::default());
        assert_eq!(self.link.machine.in_flight(), 0);
        assert_eq!(self.link.machine.poll_timeout(), None);
        assert_eq!(self.link.machine.next_channel(), None);
    }
}

/// The name of a variant: the formatter stops at its end, as the rest of an event is long.
fn name(event: &impl Debug) -> String {
    let mut name = Name(String::new());
    let _ = write!(name, "{event:?}");
    name.0
}

struct Name(String);

impl fmt::Write for Name {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = text.find(|c: char| !c.is_alphanumeric());
        self.0 += &text[..end.unwrap_or(text.len())];
        match end {
            None => Ok(()),
            Some(_) => Err(fmt::Error),
        }
    }
}

impl<S: server::Storage> Role for Server<'static, S> {
    fn begin(&mut self) {}

    fn opening(revision: Revision) -> &'static [&'static str] {
        match revision {
            Revision::V2026_07_28 => &[],
            Revision::V2025_03_26 => &[
                concat!(
                    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}}"#,
                    "\n"
                ),
                concat!(
                    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
                    "\n"
                ),
            ],
            _ => &[
                concat!(
                    r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"c","version":"1"}}}"#,
                    "\n"
                ),
                concat!(
                    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
                    "\n"
                ),
            ],
        }
    }

    fn message(kind: u8, id: &str, number: u8) -> String {
        const META: &str = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
        let (method, params) = [
            ("ping", String::new()),
            ("tools/call", r#""name":"a""#.to_owned()),
            ("tools/call", format!(r#""name":"a",{META}"#)),
            ("resources/subscribe", format!(r#""uri":"a:{number}""#)),
            ("resources/unsubscribe", format!(r#""uri":"a:{number}""#)),
            (
                "subscriptions/listen",
                format!(r#""notifications":{{"resourceSubscriptions":["a:{number}"]}},{META}"#),
            ),
            ("notifications/cancelled", format!(r#""requestId":"{id}""#)),
            ("", String::new()),
        ][usize::from(kind % 8)]
        .clone();
        match method {
            "" => format!(r#"{{"jsonrpc":"2.0","id":{number},"result":{{}}}}"#),
            "notifications/cancelled" => {
                format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{{{params}}}}}"#)
            }
            _ => format!(
                r#"{{"jsonrpc":"2.0","id":"{id}","method":"{method}","params":{{{params}}}}}"#
            ),
        }
    }

    fn answer(
        &mut self,
        to: Token,
        with: Outcome<'_>,
        out: &mut [u8],
    ) -> Result<Transmit, SendError> {
        self.respond(to, with, out)
    }

    fn send(
        &mut self,
        now: Instant,
        parent: Option<Token>,
        out: &mut [u8],
    ) -> Result<(SentToken, Transmit), SendError> {
        let question = Question {
            method: Method::RootsList,
            params: &Raw::EMPTY_OBJECT,
        };
        self.ask(now, parent, question, AskOptions::default(), out)
    }

    fn give_up(&mut self, sent: SentToken) {
        self.cancel(sent);
    }

    fn in_flight(&self) -> usize {
        Server::in_flight(self)
    }
}

impl<S: client::Storage> Role for Client<'static, S> {
    fn begin(&mut self) {
        self.connect(Instant::ZERO).expect("it is the first time");
    }

    fn opening(revision: Revision) -> &'static [&'static str] {
        match revision {
            Revision::V2025_03_26 => &[concat!(
                r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#,
                "\n"
            )],
            Revision::V2026_07_28 => &[concat!(
                r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}"#,
                "\n"
            )],
            _ => &[concat!(
                r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#,
                "\n"
            )],
        }
    }

    fn message(kind: u8, id: &str, number: u8) -> String {
        match kind % 8 {
            0 => format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"ping"}}"#),
            1 | 2 => format!(r#"{{"jsonrpc":"2.0","id":"{id}","method":"roots/list"}}"#),
            3 => format!(
                r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":"{id}"}}}}"#
            ),
            4 => {
                format!(r#"{{"jsonrpc":"2.0","id":{number},"error":{{"code":1,"message":"no"}}}}"#)
            }
            5 => format!(
                r#"{{"jsonrpc":"2.0","id":{number},"result":{{"resultType":"input_required","requestState":"s"}}}}"#
            ),
            _ => format!(r#"{{"jsonrpc":"2.0","id":{number},"result":{{}}}}"#),
        }
    }

    fn answer(
        &mut self,
        to: Token,
        with: Outcome<'_>,
        out: &mut [u8],
    ) -> Result<Transmit, SendError> {
        self.respond(to, with, out)
    }

    fn send(
        &mut self,
        now: Instant,
        _: Option<Token>,
        out: &mut [u8],
    ) -> Result<(SentToken, Transmit), SendError> {
        self.call(now, &Call::new(Method::ToolsList), out)
    }

    fn give_up(&mut self, sent: SentToken) {
        self.cancel(sent);
    }

    fn in_flight(&self) -> usize {
        Client::in_flight(self)
    }
}
