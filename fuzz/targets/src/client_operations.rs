//! A client and everything that can happen to it, in any order.

use core::time::Duration;
use std::collections::BTreeSet;

use arbitrary::{Arbitrary, Unstructured};
use mcp_proto::client::{Call, Client, ClientConfig, Event, Growing, Negotiation, Round};
use mcp_proto::json::Raw;
use mcp_proto::model::ClientFeatures;
use mcp_proto::rpc::{ErrorObject, Message, Method};
use mcp_proto::{
    Instant, Limits, Link, Machine, Outcome, Payload, PingPolicy, Revision, RevisionSet, SendError,
    SentToken, Step, Token,
};

use crate::operations::{clock, each_message, fill, pick, remove, take, take_line};

/// Whatever a server sends and an application does, in whatever order, and however the clock moves: every call ends once and no
/// later than its maximum duration, every question ends once, tables and buffers stay within their bounds, deadlines lie ahead,
/// no id is used twice, and everything that is written is a message.
///
/// The input is read as a byte, which chooses the revision, and a list of `Operation`s.
pub fn client_operations(input: &[u8]) {
    let Ok((setup, operations)) =
        <(u8, Vec<Operation>)>::arbitrary_take_rest(Unstructured::new(input))
    else {
        return;
    };
    let mut world = World::new(setup);
    world.drive();
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
    Call {
        method: u8,
        timeout: u16,
        progress: bool,
    },
    Retry {
        which: u8,
    },
    Cancel {
        which: u8,
    },
    Respond {
        which: u8,
        how: u8,
    },
    RespondStale {
        which: u8,
    },
    Notify {
        method: u8,
    },
    /// Begins a batch, or ends it.
    Batch {
        deferred: bool,
    },
    /// The server answers the request of this id.
    Answer {
        id: u8,
        how: u8,
    },
    /// The server asks, or cancels its question.
    Ask {
        id: u8,
        how: u8,
    },
    /// The server notifies.
    Notification {
        id: u8,
        method: u8,
    },
    /// The server writes anything.
    Bytes(Vec<u8>),
    /// The server opens or closes an array, or puts a comma.
    Bracket(u8),
    /// The server reads.
    Read(u16),
    /// The next question finds no room for its answer.
    NoRoom,
    /// The clock moves: see `clock`.
    Wait(u16),
    HangUp,
}

/// A call as the application knows it.
struct CallState {
    token: SentToken,
    method: Method<'static>,
    /// The id of its first message, if that has left alone.
    id: Option<u64>,
    /// The time at which it ends at the latest, unless it is a subscription that was acknowledged.
    latest: Option<Instant>,
    is_over: bool,
}

struct World {
    now: Instant,
    link: Link<Client<'static, Growing>, Vec<u8>, Vec<u8>>,
    /// By their cookies.
    calls: Vec<CallState>,
    questions: Vec<Token>,
    over: Vec<Token>,
    no_room: bool,
    batching: bool,
    /// Every event was taken.
    settled: bool,
    /// The server has begun a message, or an array.
    midway: bool,
    closed: bool,
    /// The ids of requests that the server has read.
    ids: BTreeSet<u64>,
    line: Vec<u8>,
}

const IN_FLIGHT: usize = 6;
const BUFFER: usize = 4096;

/// The revisions; with the last, the client finds out which one the server speaks.
const REVISIONS: [RevisionSet; 5] = [
    RevisionSet::of(&[Revision::V2025_03_26]),
    RevisionSet::of(&[Revision::V2025_11_25]),
    RevisionSet::of(&[Revision::V2026_07_28]),
    RevisionSet::of(&[Revision::V2024_11_05]),
    RevisionSet::all(),
];

impl World {
    fn new(setup: u8) -> Self {
        let revisions = REVISIONS[usize::from(setup) % REVISIONS.len()];
        let config = ClientConfig {
            capabilities: ClientFeatures::ROOTS
                .with(ClientFeatures::ELICITATION)
                .capabilities(),
            revisions,
            negotiation: match setup < 128 {
                true => Negotiation::Probe,
                false => Negotiation::Handshake,
            },
            ping: Some(PingPolicy {
                interval: Duration::from_secs(20),
                timeout: Duration::from_secs(10),
                misses: 3,
            }),
            limits: Limits {
                message: BUFFER,
                output: BUFFER,
                in_flight: IN_FLIGHT,
                batch: 4,
                batch_bytes: 1024,
                ..Limits::default()
            },
            ..ClientConfig::new("fuzzed", "1")
        };
        let mut client = Client::new(config, Growing).expect("the output has room");
        client.connect(Instant::ZERO).expect("it is the first time");
        let link = Link::new(client, Vec::new(), Vec::new());
        let mut world = Self {
            now: Instant::ZERO,
            link: link.expect("the outbox has room"),
            calls: Vec::new(),
            questions: Vec::new(),
            over: Vec::new(),
            no_room: false,
            batching: false,
            settled: true,
            midway: false,
            closed: false,
            ids: BTreeSet::new(),
            line: Vec::new(),
        };
        // A server that is known answers at once; the other leaves that to the operations.
        let connected = [
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26","capabilities":{"tools":{},"logging":{}},"serverInfo":{"name":"s","version":"1"}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}"#,
        ];
        if let Some(opening) = connected.get(usize::from(setup) % REVISIONS.len()) {
            world.drive();
            world.write(opening);
            assert!(world.link.machine.revision().is_some());
        }
        world
    }

    fn apply(&mut self, operation: Operation) {
        match operation {
            Operation::Call {
                method,
                timeout,
                progress,
            } => self.call(method, timeout, progress),
            Operation::Retry { which } => self.retry(which),
            Operation::Cancel { which } => {
                if let Some(at) = usize::from(which).checked_rem(self.calls.len()) {
                    self.link.machine.cancel(self.calls[at].token);
                    self.calls[at].is_over = true;
                }
            }
            Operation::Respond { which, how } => self.respond(which, how),
            Operation::RespondStale { which } => self.respond_stale(which),
            Operation::Notify { method } => {
                let method = [Method::RootsListChanged, Method::Cancelled][usize::from(method % 2)];
                let link = &mut self.link;
                let _ = link
                    .outbox
                    .put(|out| link.machine.notify(method, None, out));
            }
            Operation::Batch { deferred } => self.batch(deferred),
            Operation::Answer { id, how } => self.answer(id.into(), how),
            Operation::Ask { id, how } => {
                let ask = QUESTIONS[usize::from(how) % QUESTIONS.len()];
                self.write(&ask.replace("ID", &format!("{}", id % 8)));
            }
            Operation::Notification { id, method } => {
                let text = NOTIFICATIONS[usize::from(method) % NOTIFICATIONS.len()];
                self.write(&text.replace("ID", &format!("{id}")));
            }
            Operation::Bytes(bytes) => self.arrive(&bytes),
            Operation::Bracket(which) => {
                self.arrive([&b"["[..], b"]\n", b","][usize::from(which % 3)]);
            }
            Operation::Read(count) => self.read(count.into()),
            Operation::NoRoom => self.no_room = true,
            Operation::Wait(by) => self.now = clock(self.now, by),
            Operation::HangUp => self.link.machine.hang_up(),
        }
    }

    /// A call is refused by a buffer that is a byte too small, nothing changes by that, and the size that was named is enough.
    fn call(&mut self, method: u8, timeout: u16, progress: bool) {
        let method = [
            Method::ToolsCall,
            Method::ToolsList,
            Method::Ping,
            Method::SubscriptionsListen,
            Method::LoggingSetLevel,
            Method::Other("x/y".into()),
        ][usize::from(method) % 6];
        let longest = Duration::from_millis(u64::from(timeout) * 4);
        let call = Call {
            params: Some(&Raw::EMPTY_OBJECT),
            timeout: Some(Duration::from_millis(timeout.into())),
            max_duration: Some(longest),
            progress,
            batched: self.batching,
            cookie: self.calls.len() as u64,
            ..Call::new(method)
        };
        let Self { link, now, .. } = self;
        let client = &mut link.machine;
        let before = client.in_flight();
        if !self.batching
            && let Err(SendError::BufferFull { needed }) = client.call(*now, &call, &mut [])
        {
            let short = client.call(*now, &call, &mut vec![0; needed - 1]);
            let same = SendError::BufferFull { needed };
            assert_eq!(short.map(|(token, _)| token), Err(same));
            assert_eq!(client.in_flight(), before, "nothing changed");
        }
        let mut id = None;
        let made = link.outbox.put(|out| {
            let made = client.call(*now, &call, out)?;
            id = match Message::parse(&out[..made.1.len], 128) {
                Message::Request(request) => request.id.to_u64(),
                _ => None,
            };
            Ok::<_, SendError>(made)
        });
        match made {
            Ok((token, _)) => {
                assert_eq!(
                    id.is_none(),
                    self.batching,
                    "a call that leaves is a request"
                );
                self.calls.push(CallState {
                    token,
                    method,
                    id,
                    latest: Some(*now + longest),
                    is_over: false,
                });
            }
            Err(SendError::Encode | SendError::Stale | SendError::Progress) => panic!("{made:?}"),
            Err(_) => assert_eq!(client.in_flight(), before),
        }
    }

    fn retry(&mut self, which: u8) {
        let Some(at) = usize::from(which).checked_rem(self.calls.len()) else {
            return;
        };
        let known = &mut self.calls[at];
        let answers: &dyn Payload = &Raw::EMPTY_OBJECT;
        let round = Round {
            responses: Some(answers),
            state: None,
        };
        let call = Call::new(known.method);
        let Self { link, now, .. } = self;
        let client = &mut link.machine;
        match link
            .outbox
            .put(|out| client.retry(*now, known.token, &call, round, out))
        {
            Ok(_) => {
                assert!(!known.is_over, "it was over");
                known.id = None;
            }
            Err(SendError::Stale) => assert!(known.is_over || !self.settled),
            Err(SendError::NotReady | SendError::Closed | SendError::BufferFull { .. }) => {}
            Err(error) => panic!("{error:?}"),
        }
    }

    fn respond(&mut self, which: u8, how: u8) {
        let Some(token) = take(&mut self.questions, which) else {
            return;
        };
        let outcome = match how % 2 {
            0 => Outcome::Error(ErrorObject::new(-32603, "no")),
            _ => Outcome::Result(&Raw::EMPTY_OBJECT),
        };
        let link = &mut self.link;
        let client = &mut link.machine;
        match link.outbox.put(|out| client.respond(token, outcome, out)) {
            Ok(_) => self.over.push(token),
            Err(SendError::BufferFull { .. }) => self.questions.push(token),
            // Its cancellation, or the end of the connection, is an event that waits.
            Err(SendError::Stale | SendError::Closed) if !self.settled || self.closed => {
                self.questions.push(token);
            }
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

    fn batch(&mut self, deferred: bool) {
        let client = &mut self.link.machine;
        if !self.batching {
            self.batching = client.begin_batch().is_ok();
        } else if deferred {
            client.defer_batch();
            self.batching = false;
        } else {
            match self.link.outbox.put(|out| client.end_batch(out)) {
                Err(SendError::BufferFull { .. }) => {}
                Ok(_) | Err(SendError::Closed) => self.batching = false,
                Err(error) => panic!("{error:?}"),
            }
        }
    }

    /// An answer to a call that waits ends that call, if nothing else could.
    fn answer(&mut self, id: u64, how: u8) {
        let waits = |known: &&CallState| known.id == Some(id) && !known.is_over;
        let waiting = self.calls.iter().find(waits).map(|known| known.token);
        let is_clean = self.settled && !self.midway && self.link.machine.revision().is_some();
        let answer = ANSWERS[usize::from(how) % ANSWERS.len()];
        self.write(&answer.replace("ID", &id.to_string()));
        let Some(token) = waiting.filter(|_| is_clean && self.settled) else {
            return;
        };
        let is_over = self.calls.iter().any(|it| it.token == token && it.is_over);
        assert!(is_over || answer.contains("input_required") || answer.contains("-32022"));
    }

    fn write(&mut self, message: &str) {
        self.arrive(message.as_bytes());
        self.arrive(b"\n");
    }

    fn arrive(&mut self, mut bytes: &[u8]) {
        if let Some(last) = bytes.last() {
            self.midway = *last != b'\n';
        }
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
            let event = match link.step(*now) {
                Step::Event { event, .. } => event,
                Step::Done | Step::Ignored(_) => continue,
                Step::Full => return self.settled = false,
                Step::Empty => return self.settled = true,
            };
            let (token, cookie, ends) = match event {
                Event::Answer { token, cookie, .. } | Event::Failed { token, cookie, .. } => {
                    (token, cookie, true)
                }
                // Its message has its answer; the next message has another id.
                Event::Input { token, cookie, .. } | Event::Again { token, cookie } => {
                    self.calls[cookie as usize].id = None;
                    (token, cookie, false)
                }
                Event::Progress { token, cookie, .. }
                | Event::Notification {
                    subscription: Some((token, cookie)),
                    ..
                } => (token, cookie, false),
                Event::Listening { token, cookie, .. } => {
                    self.calls[cookie as usize].latest = None;
                    (token, cookie, false)
                }
                Event::Question { token, .. } => {
                    assert!(
                        !self.questions.contains(&token) && !self.over.contains(&token),
                        "{token:?} comes twice"
                    );
                    if core::mem::take(&mut self.no_room) {
                        assert!(self.link.machine.unhandle(token));
                        self.link.inbox.unread();
                        return self.settled = false;
                    }
                    self.questions.push(token);
                    continue;
                }
                Event::QuestionCancelled { token, .. } => {
                    assert!(remove(&mut self.questions, token), "{token:?} was not open");
                    self.over.push(token);
                    continue;
                }
                Event::Closed(_) => {
                    assert!(!core::mem::replace(&mut self.closed, true), "closed twice");
                    continue;
                }
                _ => continue,
            };
            let known = &mut self.calls[cookie as usize];
            assert_eq!(known.token, token);
            assert!(!known.is_over, "an event of a call that is over");
            known.is_over = ends;
        }
    }

    fn check(&self) {
        let client = &self.link.machine;
        assert!(client.in_flight() <= IN_FLIGHT);
        assert!(self.questions.len() <= IN_FLIGHT);
        assert!(self.link.outbox.capacity() <= BUFFER + 1);
        assert!(self.link.inbox.capacity() <= BUFFER + 5);
        // While the server does not read, the ends of calls are reported later.
        if !self.settled {
            return;
        }
        assert!(client.poll_timeout().is_none_or(|due| due > self.now));
        for known in self.calls.iter().filter(|known| !known.is_over) {
            let is_late = known
                .latest
                .is_some_and(|at| at <= self.now && at < Instant::MAX);
            assert!(!is_late && !self.closed, "a call that never ends");
        }
    }

    /// The server reads so many bytes; every whole line is a message or an array of them.
    fn read(&mut self, count: usize) {
        let pending = self.link.outbox.pending();
        let count = count.min(pending.len());
        self.line.extend_from_slice(&pending[..count]);
        self.link.outbox.consume(count);
        while let Some(line) = take_line(&mut self.line) {
            each_message(&line, |message| self.receive(message));
        }
    }

    fn receive(&mut self, message: &Message<'_>) {
        match message {
            Message::Invalid(invalid) => panic!("{invalid:?}"),
            Message::Request(request) => {
                let id = request.id.to_u64().expect("ids are numbers");
                assert!(self.ids.insert(id), "an id is used twice");
            }
            Message::Response(_) | Message::Notification(_) => {}
        }
    }

    /// The server is gone: everything that was open has ended.
    fn end(mut self) {
        self.link.machine.hang_up();
        while !self.link.outbox.is_empty() {
            self.read(usize::MAX);
        }
        self.no_room = false;
        self.drive();
        assert!(self.closed);
        assert!(self.calls.iter().all(|known| known.is_over));
        assert!(self.questions.is_empty());
        let client = &self.link.machine;
        assert_eq!(client.in_flight(), 0);
        assert_eq!(client.poll_timeout(), None);
        assert_eq!(client.next_channel(), None);
    }
}

const ANSWERS: [&str; 11] = [
    r#"{"jsonrpc":"2.0","id":ID,"result":{}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"complete"}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32603,"message":"x"}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"input_required","requestState":"s"}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32022,"message":"x","data":{"supported":["2026-07-28"],"requested":"y"}}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{},"error":{}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":7}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"2025-03-26","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32602,"message":"x","data":{"supported":["2025-11-25"],"requested":"y"}}}"#,
];

const QUESTIONS: [&str; 6] = [
    r#"{"jsonrpc":"2.0","id":"ID","method":"roots/list"}"#,
    r#"{"jsonrpc":"2.0","id":"ID","method":"elicitation/create","params":{}}"#,
    r#"{"jsonrpc":"2.0","id":"ID","method":"sampling/createMessage","params":{}}"#,
    r#"{"jsonrpc":"2.0","id":"ID","method":"ping"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"ID"}}"#,
    r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"ID"}}"#,
];

const NOTIFICATIONS: [&str; 5] = [
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":ID,"progress":1}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":ID},"notifications":{}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":ID}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":ID}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":ID}}"#,
];
