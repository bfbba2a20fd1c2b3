//! A server and everything that can happen to it, in any order.

use core::fmt::Write as _;
use core::time::Duration;

use arbitrary::{Arbitrary, Unstructured};
use mcp_proto::json::Raw;
use mcp_proto::model::{LoggingLevel, ServerFeatures};
use mcp_proto::rpc::{ErrorObject, Message, Method};
use mcp_proto::server::{
    AskOptions, Event, Growing, ListKind, ProgressReport, Server, ServerConfig,
};
use mcp_proto::{
    Instant, Limits, Link, Machine, Outcome, PingPolicy, Question, SendError, SentToken, Step,
    Token,
};

use crate::operations::{clock, each_message, fill, pick, remove, take, take_line};

/// Whatever a client sends and an application does, in whatever order, and however the clock moves: every request ends once,
/// every question ends once, tables and buffers stay within their bounds, deadlines lie ahead, and
/// everything that is written is a message.
///
/// The input is read as a list of `Operation`s.
pub fn server_operations(input: &[u8]) {
    let Ok(operations) = Vec::<Operation>::arbitrary_take_rest(Unstructured::new(input)) else {
        return;
    };
    let mut world = World::new();
    for operation in operations {
        world.apply(operation);
        world.drive();
        world.check();
    }
    world.end();
}

/// One thing that happens. Small numbers choose among what there is.
#[derive(Debug, Arbitrary)]
enum Operation {
    /// The client writes a request.
    Request {
        id: u8,
        method: u8,
        modern: bool,
        extra: u8,
    },
    /// The client writes a notification.
    Notification {
        method: u8,
        id: u8,
    },
    /// The client answers a question.
    Answer {
        id: u8,
        well: bool,
    },
    /// The client writes anything.
    Bytes(Vec<u8>),
    /// The client opens or closes an array, or puts a comma.
    Bracket(u8),
    /// The client reads.
    Read(u16),
    /// The next event finds no room for its answer.
    NoRoom,
    Respond {
        which: u8,
        how: u8,
    },
    RespondStale {
        which: u8,
    },
    Progress {
        which: u8,
        value: u8,
    },
    Log {
        which: Option<u8>,
        level: u8,
    },
    Ask {
        which: Option<u8>,
        method: u8,
        timeout: u16,
    },
    CancelQuestion {
        which: u8,
    },
    Notify {
        method: u8,
    },
    ListChanged(u8),
    ResourceUpdated(u8),
    EndListen(u8),
    CancelAll,
    /// The clock moves: see `clock`.
    Wait(u16),
    HangUp,
}

struct World {
    now: Instant,
    link: Link<Server<'static, Growing>, Vec<u8>, Vec<u8>>,
    /// Requests that wait for the application, requests that are over, and what else is open.
    live: Vec<Token>,
    over: Vec<Token>,
    listens: Vec<Token>,
    questions: Vec<SentToken>,
    no_room: bool,
    /// All events have been told.
    settled: bool,
    closed: bool,
    /// What the client wrote and read.
    written: usize,
    answered: usize,
    line: Vec<u8>,
}

const IN_FLIGHT: usize = 6;
const BUFFER: usize = 4096;

impl World {
    fn new() -> Self {
        let limits = Limits {
            message: BUFFER,
            output: BUFFER,
            in_flight: IN_FLIGHT,
            batch: 4,
            batch_bytes: 1024,
            subscription_bytes: 64,
            ..Limits::default()
        };
        let config = ServerConfig {
            capabilities: ServerFeatures::TOOLS
                .with(ServerFeatures::TOOLS_LIST_CHANGED)
                .with(ServerFeatures::PROMPTS)
                .with(ServerFeatures::PROMPTS_LIST_CHANGED)
                .with(ServerFeatures::RESOURCES)
                .with(ServerFeatures::RESOURCES_LIST_CHANGED)
                .with(ServerFeatures::RESOURCES_SUBSCRIBE)
                .with(ServerFeatures::LOGGING)
                .capabilities(),
            limits,
            ping: Some(PingPolicy {
                interval: Duration::from_secs(20),
                timeout: Duration::from_secs(10),
                misses: 3,
            }),
            ..ServerConfig::new("fuzzed", "1")
        };
        let server = Server::new(config, Growing).expect("the output has room");
        let link = Link::new(server, Vec::new(), Vec::new());
        Self {
            now: Instant::ZERO,
            link: link.expect("the outbox has room"),
            live: Vec::new(),
            over: Vec::new(),
            listens: Vec::new(),
            questions: Vec::new(),
            no_room: false,
            settled: true,
            closed: false,
            written: 0,
            answered: 0,
            line: Vec::new(),
        }
    }

    fn apply(&mut self, operation: Operation) {
        match operation {
            Operation::Request {
                id,
                method,
                modern,
                extra,
            } => self.write(&request(id, method, modern, extra)),
            Operation::Notification { method, id } => self.write(&notification(method, id)),
            Operation::Answer { id, well: true } => {
                self.write(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#));
            }
            Operation::Answer { id, well: false } => {
                self.write(&format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":1,"message":"no"}}}}"#
                ));
            }
            Operation::Bytes(bytes) => self.arrive(&bytes),
            Operation::Bracket(which) => {
                self.arrive([&b"["[..], b"]\n", b","][usize::from(which % 3)]);
            }
            Operation::Read(count) => self.read(count.into()),
            Operation::NoRoom => self.no_room = true,
            Operation::Respond { which, how } => self.respond(which, how),
            Operation::RespondStale { which } => self.respond_stale(which),
            Operation::Progress { which, value } => self.progress(which, value),
            Operation::Log { which, level } => self.log(which, level),
            Operation::Ask {
                which,
                method,
                timeout,
            } => self.ask(which, method, timeout),
            Operation::CancelQuestion { which } => {
                if let Some(token) = take(&mut self.questions, which) {
                    self.link.machine.cancel(token);
                }
            }
            Operation::Notify { method } => {
                let method = [
                    Method::ElicitationComplete,
                    Method::Message,
                    Method::Cancelled,
                ][usize::from(method % 3)];
                let link = &mut self.link;
                let _ = link
                    .outbox
                    .put(|out| link.machine.notify(method, None, out));
            }
            Operation::ListChanged(kind) => {
                self.link.machine.list_changed(
                    [ListKind::Tools, ListKind::Prompts, ListKind::Resources]
                        [usize::from(kind % 3)],
                );
            }
            Operation::ResourceUpdated(uri) => self
                .link
                .machine
                .resource_updated(URIS[usize::from(uri) % URIS.len()]),
            Operation::EndListen(which) => {
                if let Some(token) = take(&mut self.listens, which) {
                    self.link.machine.end_listen(token);
                }
            }
            Operation::CancelAll => {
                self.link.machine.cancel_all();
                self.listens.clear();
            }
            Operation::Wait(by) => self.now = clock(self.now, by),
            Operation::HangUp => self.link.machine.hang_up(),
        }
    }

    fn write(&mut self, message: &str) {
        self.arrive(message.as_bytes());
        self.arrive(b"\n");
    }

    fn arrive(&mut self, mut bytes: &[u8]) {
        // Every message takes a few bytes, however broken it is.
        self.written += bytes.len();
        while !bytes.is_empty() {
            let Some(rest) = fill(&mut self.link.inbox, bytes) else {
                return;
            };
            bytes = rest;
            self.drive();
        }
    }

    /// Everything that can be done without reading or waiting.
    fn drive(&mut self) {
        loop {
            let Self { link, now, .. } = self;
            match link.step(*now) {
                Step::Event {
                    event: Event::Request { token, .. },
                    ..
                } => {
                    assert!(
                        !self.live.contains(&token) && !self.over.contains(&token),
                        "{token:?} comes twice"
                    );
                    if core::mem::take(&mut self.no_room) {
                        self.link.machine.unhandle(token);
                        self.link.inbox.unread();
                        assert!(!self.link.machine.is_live(token));
                        return self.settled = false;
                    }
                    self.live.push(token);
                }
                Step::Event {
                    event: Event::Listening { token, .. },
                    ..
                } => self.listens.push(token),
                Step::Event {
                    event: Event::Cancelled { token, .. },
                    ..
                } => {
                    let known = remove(&mut self.live, token) || remove(&mut self.listens, token);
                    assert!(known, "{token:?} was not open");
                    self.over.push(token);
                }
                Step::Event {
                    event: Event::Answer { token, .. },
                    ..
                } => {
                    let known = remove(&mut self.questions, token);
                    assert!(known, "{token:?} ended before");
                }
                Step::Event {
                    event: Event::Closed,
                    ..
                } => {
                    assert!(!core::mem::replace(&mut self.closed, true), "closed twice");
                }
                Step::Event { .. } | Step::Done | Step::Ignored(_) => {}
                Step::Full => return self.settled = false,
                Step::Empty => return self.settled = true,
            }
        }
    }

    fn check(&self) {
        // While the client does not read, the ends of requests are reported later.
        if self.settled {
            assert!(
                self.live
                    .iter()
                    .all(|token| self.link.machine.is_live(*token))
            );
            assert_eq!(self.link.machine.in_flight(), self.live.len());
            let due = self.link.machine.poll_timeout();
            assert!(due.is_none_or(|due| due > self.now), "a deadline is late");
        }
        assert!(self.live.len() + self.listens.len() <= IN_FLIGHT);
        assert!(self.link.outbox.capacity() <= BUFFER + 1);
        assert!(self.link.inbox.capacity() <= BUFFER + 5);
    }

    /// The client reads so many bytes; every whole line is a message or an array of them.
    fn read(&mut self, count: usize) {
        let pending = self.link.outbox.pending();
        let count = count.min(pending.len());
        self.line.extend_from_slice(&pending[..count]);
        self.link.outbox.consume(count);
        while let Some(line) = take_line(&mut self.line) {
            each_message(&line, |message| self.count(message));
        }
        // An answer needs something that was asked, and the shortest question is a byte and a newline.
        assert!(self.answered * 2 <= self.written);
    }

    fn count(&mut self, message: &Message<'_>) {
        assert!(!matches!(message, Message::Invalid(_)), "{message:?}");
        self.answered += usize::from(matches!(message, Message::Response(_)));
    }

    /// An answer is refused by a buffer that is a byte too small, nothing changes by that, and the size
    /// that was named is enough.
    fn respond(&mut self, which: u8, how: u8) {
        let Some(&token) =
            pick(&self.live, which).filter(|token| self.link.machine.is_live(**token))
        else {
            return;
        };
        let result = Raw::parse(br#"{"content":[{"type":"text","text":"\ud83d"}]}"#, 8).unwrap();
        let outcome = match how % 3 {
            0 => Outcome::Error(ErrorObject::new(-32603, "no")),
            1 => Outcome::Result(&Raw::EMPTY_OBJECT),
            _ => Outcome::Result(&result),
        };
        let link = &mut self.link;
        let server = &mut link.machine;
        let needed = match server.respond(token, outcome, &mut []) {
            Err(SendError::BufferFull { needed }) => needed,
            // Gathered in an array.
            Ok(transmit) => {
                assert_eq!(transmit.len, 0);
                remove(&mut self.live, token);
                self.over.push(token);
                return;
            }
            Err(error) => panic!("{error:?}"),
        };
        assert!(needed > 0 && server.is_live(token));
        let mut short = vec![0; needed - 1];
        let again = server.respond(token, outcome, &mut short);
        assert!(
            matches!(again, Err(SendError::BufferFull { needed: same }) if same == needed),
            "{again:?}"
        );
        match link.outbox.put(|out| server.respond(token, outcome, out)) {
            Ok(transmit) => {
                // What 2026-07-28 adds to a result is reserved before it is known to be missing.
                assert!(transmit.len <= needed);
                assert!(!server.is_live(token));
                remove(&mut self.live, token);
                self.over.push(token);
            }
            Err(SendError::BufferFull { .. }) => assert!(server.is_live(token)),
            Err(error) => panic!("{error:?}"),
        }
    }

    fn respond_stale(&mut self, which: u8) {
        let Some(&token) = pick(&self.over, which) else {
            return;
        };
        let answer =
            self.link
                .machine
                .respond(token, Outcome::Result(&Raw::EMPTY_OBJECT), &mut [0; 256]);
        assert!(
            matches!(answer, Err(SendError::Stale | SendError::Closed)),
            "{answer:?}"
        );
    }

    fn progress(&mut self, which: u8, value: u8) {
        let Some(&token) =
            pick(&self.live, which).filter(|token| self.link.machine.is_live(**token))
        else {
            return;
        };
        let progress = ProgressReport {
            progress: f64::from(value) / 2.0,
            total: Some(100.0),
            message: Some("half\nway"),
        };
        let Self { link, now, .. } = self;
        let server = &mut link.machine;
        let sent = link
            .outbox
            .put(|out| server.progress(*now, token, progress, out));
        assert!(
            matches!(
                sent,
                Ok(_) | Err(SendError::BufferFull { .. } | SendError::Progress)
            ),
            "{sent:?}"
        );
        if sent.is_ok() {
            let repeated = server.progress(*now, token, progress, &mut [0; 512]);
            assert!(matches!(repeated, Err(SendError::Progress)), "{repeated:?}");
        }
    }

    fn log(&mut self, which: Option<u8>, level: u8) {
        let level = [
            LoggingLevel::Debug,
            LoggingLevel::Info,
            LoggingLevel::Emergency,
        ][usize::from(level % 3)];
        let token = which.and_then(|which| pick(&self.live, which).copied());
        let link = &mut self.link;
        let _ = link
            .outbox
            .put(|out| link.machine.log(token, level, None, &"text", out));
    }

    fn ask(&mut self, which: Option<u8>, method: u8, timeout: u16) {
        let parent = which.and_then(|which| pick(&self.live, which).copied());
        let method = [
            Method::RootsList,
            Method::SamplingCreateMessage,
            Method::ElicitationCreate,
        ][usize::from(method % 3)];
        let question = Question {
            method,
            params: &Raw::EMPTY_OBJECT,
        };
        let options = AskOptions {
            timeout: Duration::from_millis(timeout.into()),
            ..AskOptions::default()
        };
        let mut asked = None;
        let Self { link, now, .. } = self;
        let server = &mut link.machine;
        let _ = link.outbox.put(|out| {
            let (token, transmit) = server.ask(*now, parent, question, options, out)?;
            asked = Some(token);
            Ok::<_, SendError>(transmit)
        });
        self.questions.extend(asked);
        assert!(self.questions.len() <= IN_FLIGHT);
    }

    /// The client is gone: everything that was open has ended.
    fn end(mut self) {
        self.link.machine.hang_up();
        while !self.link.outbox.is_empty() {
            self.read(usize::MAX);
        }
        self.no_room = false;
        self.drive();
        assert!(self.closed);
        assert!(self.live.is_empty() && self.questions.is_empty() && self.listens.is_empty());
        assert_eq!(self.link.machine.in_flight(), 0);
        assert_eq!(self.link.machine.poll_timeout(), None);
        assert_eq!(self.link.machine.next_channel(), None);
    }
}

fn request(id: u8, method: u8, modern: bool, extra: u8) -> String {
    let methods = [
        ("initialize", r#""protocolVersion":"#),
        ("ping", ""),
        ("tools/list", ""),
        ("tools/call", r#""name":"a","arguments":{}"#),
        ("resources/subscribe", r#""uri":"a:b""#),
        ("resources/unsubscribe", r#""uri":"a:b""#),
        ("resources/read", r#""uri":"a:b/c""#),
        (
            "subscriptions/listen",
            r#""notifications":{"toolsListChanged":true,"resourceSubscriptions":["a:b"]}"#,
        ),
        ("logging/setLevel", r#""level":"debug""#),
        ("server/discover", ""),
        ("tasks/get", r#""taskId":"1""#),
        ("prompts/get", r#""name":"a""#),
    ];
    let (method, params) = methods[usize::from(method) % methods.len()];
    let mut text = format!(
        r#"{{"jsonrpc":"2.0","id":{},"method":"{method}","params":{{{params}"#,
        id % 12
    );
    if method == "initialize" {
        let version = [
            "2024-11-05",
            "2025-03-26",
            "2025-06-18",
            "2025-11-25",
            "1999-01-01",
        ][usize::from(extra) % 5];
        let _ = write!(
            text,
            r#""{version}","capabilities":{{"roots":{{}},"sampling":{{}},"elicitation":{{}}}},"clientInfo":{{"name":"a","version":"1"}}"#
        );
    }
    let comma = if params.is_empty() { "" } else { "," };
    let _ = write!(text, r#"{comma}"_meta":{{"progressToken":{}"#, extra % 4);
    if modern {
        text.push_str(
            r#","io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/logLevel":"info""#,
        );
    }
    text.push_str("}}}");
    text
}

fn notification(method: u8, id: u8) -> String {
    match method % 5 {
        0 => r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#.to_owned(),
        1 => format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{}}}}}"#,
            id % 12
        ),
        2 => format!(
            r#"{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{id},"progress":{id}}}}}"#
        ),
        3 => format!(
            r#"{{"jsonrpc":"2.0","method":"$/cancelRequest","params":{{"id":{}}}}}"#,
            id % 12
        ),
        _ => r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#.to_owned(),
    }
}

const URIS: [&str; 3] = ["a:b", "a:b/c", "a:d"];
