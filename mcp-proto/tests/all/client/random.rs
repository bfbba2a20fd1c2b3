//! Random operations: whatever happens, every call ends exactly once, the tables keep their
//! bounds, and a timer that went off is not due again at once.

use core::time::Duration;
use std::collections::BTreeMap;

use mcp_proto::client::{Call, Client, ClientConfig, Event, Fixed, Round};
use mcp_proto::json::Raw;
use mcp_proto::model::ClientFeatures;
use mcp_proto::rpc::{Incoming, Message, Method};
use mcp_proto::{
    Action, Channel, Instant, Machine, Outcome, Payload, PingPolicy, Pipe, Revision, RevisionSet,
    SendError, SentToken, Token, Transmit,
};
use proptest::prelude::*;

use crate::client::connect::accepting;

#[derive(Clone, Debug)]
enum Operation {
    Call {
        listen: bool,
        progress: bool,
        timeout: u64,
    },
    Retry(usize),
    Cancel(usize),
    /// What the server writes, with an id of a request of ours.
    Hear(usize, usize),
    /// What the server writes of itself, with a small id of its own.
    Ask(u8, usize),
    /// What the server writes of itself, in an array.
    Array(Vec<(u8, usize)>),
    Respond(usize),
    Batch,
    DeferBatch,
    Pass(u64),
    /// Drains into a buffer of so many bytes.
    Transmit(usize),
    Events,
    HangUp,
}

const ANSWERS: [&str; 12] = [
    r#"{"jsonrpc":"2.0","id":ID,"result":{}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"complete"}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32603,"message":"x"}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"input_required","requestState":"s"}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"}}}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32022,"message":"x","data":{"supported":["2026-07-28"],"requested":"y"}}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{},"error":{}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":7}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":ID,"progress":1}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":ID},"notifications":{}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":ID}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":ID}}"#,
];

const QUESTIONS: [&str; 6] = [
    r#"{"jsonrpc":"2.0","id":"ID","method":"roots/list"}"#,
    r#"{"jsonrpc":"2.0","id":"ID","method":"elicitation/create","params":{}}"#,
    r#"{"jsonrpc":"2.0","id":"ID","method":"ping"}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"ID"}}"#,
    r#"{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":"ID"}}"#,
    r#"{"jsonrpc":ID"#,
];

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let number = any::<usize>();
    let one = prop_oneof![
        6 => (any::<bool>(), any::<bool>(), 0..3000u64)
            .prop_map(|(listen, progress, timeout)| Operation::Call { listen, progress, timeout }),
        3 => number.prop_map(Operation::Retry),
        2 => number.prop_map(Operation::Cancel),
        8 => (number, 0..ANSWERS.len()).prop_map(|(n, kind)| Operation::Hear(n, kind)),
        4 => (0..5u8, 0..QUESTIONS.len()).prop_map(|(id, kind)| Operation::Ask(id, kind)),
        2 => proptest::collection::vec((0..5u8, 0..QUESTIONS.len()), 0..5)
            .prop_map(Operation::Array),
        2 => number.prop_map(Operation::Respond),
        1 => Just(Operation::Batch),
        1 => Just(Operation::DeferBatch),
        4 => (0..2000u64).prop_map(Operation::Pass),
        4 => (0..200usize).prop_map(Operation::Transmit),
        4 => Just(Operation::Events),
    ];
    let operations = proptest::collection::vec(one, 0..120);
    // A hang-up anywhere, or at the end.
    (operations, any::<prop::sample::Index>()).prop_map(|(mut operations, at)| {
        operations.insert(at.index(operations.len() + 1), Operation::HangUp);
        operations
    })
}

/// How a call stands with its caller.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Life {
    Open,
    Ended,
    Cancelled,
}

struct World<'c> {
    client: Client<'c, Fixed<6, 3, 300>>,
    now: Instant,
    lives: BTreeMap<u64, Life>,
    tokens: Vec<(SentToken, u64)>,
    questions: Vec<Token>,
    cookies: u64,
    batching: bool,
    out: [u8; 2048],
}

impl World<'_> {
    fn run(&mut self, operation: &Operation) {
        match *operation {
            Operation::Call {
                listen,
                progress,
                timeout,
            } => {
                let modern = self.client.revision().is_some_and(Revision::is_modern);
                let method = match listen && modern {
                    true => Method::SubscriptionsListen,
                    false => Method::ToolsCall,
                };
                self.cookies += 1;
                let call = Call {
                    params: Some(&Raw::EMPTY_OBJECT),
                    progress,
                    timeout: Some(Duration::from_millis(timeout)),
                    max_duration: Some(Duration::from_millis(4000)),
                    batched: self.batching,
                    cookie: self.cookies,
                    ..Call::new(method)
                };
                match self.client.call(self.now, &call, &mut self.out) {
                    Ok((token, _)) => {
                        self.lives.insert(self.cookies, Life::Open);
                        self.tokens.push((token, self.cookies));
                    }
                    Err(SendError::TableFull | SendError::Closed) => {}
                    Err(SendError::NotReady) if self.batching => {}
                    Err(error) => panic!("{error}"),
                }
            }
            Operation::Retry(n) => {
                let Some((token, cookie)) = self.nth(n) else {
                    return;
                };
                let call = Call {
                    cookie,
                    ..Call::new(Method::ToolsCall)
                };
                let answers: Option<&dyn Payload> = Some(&Raw::EMPTY_OBJECT);
                let round = Round {
                    responses: answers,
                    state: None,
                };
                match self
                    .client
                    .retry(self.now, token, &call, round, &mut self.out)
                {
                    Ok(Transmit { .. }) => assert_eq!(self.lives[&cookie], Life::Open),
                    Err(SendError::Stale | SendError::NotReady | SendError::Closed) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            Operation::Cancel(n) => {
                let Some((token, cookie)) = self.nth(n) else {
                    return;
                };
                self.client.cancel(token);
                if self.lives[&cookie] == Life::Open {
                    self.lives.insert(cookie, Life::Cancelled);
                }
            }
            Operation::Hear(n, kind) => {
                let id = 1 + n as u64 % (2 * self.cookies + 3);
                self.hear(&ANSWERS[kind].replace("ID", &id.to_string()));
            }
            Operation::Ask(id, kind) => self.hear(&QUESTIONS[kind].replace("ID", &id.to_string())),
            Operation::Array(ref elements) => {
                self.handle(Incoming::BatchStart);
                for (id, kind) in elements {
                    self.hear(&QUESTIONS[*kind].replace("ID", &id.to_string()));
                }
                self.handle(Incoming::BatchEnd);
            }
            Operation::Respond(n) => {
                let Some(at) = n.checked_rem(self.questions.len()) else {
                    return;
                };
                let token = self.questions.remove(at);
                let answer = Outcome::Result(&Raw::EMPTY_OBJECT);
                match self.client.respond(token, answer, &mut self.out) {
                    Ok(_)
                    | Err(SendError::Stale | SendError::Closed | SendError::NotInRevision) => {}
                    Err(error) => panic!("{error}"),
                }
            }
            Operation::Batch if self.batching => match self.client.end_batch(&mut self.out) {
                Ok(_) => self.batching = false,
                Err(error) => assert_eq!(error, SendError::Closed),
            },
            Operation::Batch => self.batching = self.client.begin_batch().is_ok(),
            Operation::DeferBatch => {
                self.client.defer_batch();
                self.batching = false;
            }
            Operation::Pass(millis) => {
                self.now = self.now + Duration::from_millis(millis);
                self.client.handle_timeout(self.now);
                assert!(self.client.poll_timeout().is_none_or(|due| due > self.now));
            }
            Operation::Transmit(len) => {
                while self.client.next_channel().is_some() {
                    let out = &mut self.out[..len];
                    match self.client.poll_transmit(self.now, Channel::PIPE, out) {
                        Ok(said) => assert!(said.is_some_and(|said| said.len > 0)),
                        Err(full) => return assert!(full.needed > len),
                    }
                }
            }
            Operation::Events => self.events(),
            Operation::HangUp => self.client.hang_up(),
        }
    }

    fn nth(&self, n: usize) -> Option<(SentToken, u64)> {
        self.tokens.get(n.checked_rem(self.tokens.len())?).copied()
    }

    fn hear(&mut self, line: &str) {
        self.handle(Incoming::Message(Message::parse(line.as_bytes(), 128)));
    }

    fn handle(&mut self, incoming: Incoming<'_>) {
        match self.client.handle(self.now, &Pipe, incoming) {
            Action::Event(event) => {
                if let Event::Question { token, .. } = event {
                    self.questions.push(token);
                }
                self.told(&event);
            }
            Action::Reply(reply) => {
                let reserve = self.client.reserve();
                let said = self.client.reply(self.now, reply, &mut self.out[..reserve]);
                assert!(said.is_ok());
            }
            Action::Done | Action::Ignore(_) => {}
        }
    }

    fn events(&mut self) {
        while let Some(event) = self.client.poll_event() {
            self.told(&event);
        }
    }

    fn told(&mut self, event: &Event<'_>) {
        let (cookie, after) = match *event {
            Event::Answer { cookie, .. } | Event::Failed { cookie, .. } => (cookie, Life::Ended),
            Event::Input { cookie, .. }
            | Event::Again { cookie, .. }
            | Event::Listening { cookie, .. }
            | Event::Progress { cookie, .. }
            | Event::Notification {
                subscription: Some((_, cookie)),
                ..
            } => (cookie, Life::Open),
            _ => return,
        };
        assert_eq!(self.lives[&cookie], Life::Open, "{event:?}");
        self.lives.insert(cookie, after);
    }
}

fn check(config: ClientConfig<'_>, opening: &str, operations: &[Operation]) {
    let mut world = World {
        client: Client::new(config, Fixed).unwrap(),
        now: Instant::ZERO,
        lives: BTreeMap::new(),
        tokens: Vec::new(),
        questions: Vec::new(),
        cookies: 0,
        batching: false,
        out: [0; 2048],
    };
    world.client.connect(world.now).unwrap();
    world.run(&Operation::Transmit(2048));
    world.hear(opening);
    world.run(&Operation::Transmit(2048));
    assert!(world.client.revision().is_some());
    for operation in operations {
        world.run(operation);
        assert!(world.client.in_flight() <= 6);
    }
    world.events();
    assert!(
        world.lives.values().all(|life| *life != Life::Open),
        "{:?}",
        world.lives
    );
    assert_eq!(world.client.in_flight(), 0);
    assert_eq!(world.client.poll_timeout(), None);
    assert_eq!(world.client.next_channel(), None);
}

fn config(revision: Revision) -> ClientConfig<'static> {
    ClientConfig {
        capabilities: ClientFeatures::ROOTS
            .with(ClientFeatures::ELICITATION)
            .capabilities(),
        ping: Some(PingPolicy {
            interval: Duration::from_millis(700),
            timeout: Duration::from_millis(300),
            misses: 3,
        }),
        ..accepting(RevisionSet::of(&[revision]))
    }
}

proptest! {
    #[test]
    fn every_call_ends_exactly_once(operations in operations(), which in 0..3usize) {
        let revision = [Revision::V2025_03_26, Revision::V2025_11_25, Revision::V2026_07_28][which];
        let opening = match revision.is_modern() {
            true => r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}}"#.to_owned(),
            false => format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"{revision}","capabilities":{{"tools":{{}}}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#),
        };
        check(config(revision), &opening, &operations);
    }
}
