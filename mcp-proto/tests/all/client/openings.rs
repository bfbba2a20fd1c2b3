//! Random openings: however a server answers, and however late, there is exactly one outcome,
//! and nothing that was sent is cancelled.

use core::time::Duration;

use mcp_proto::client::{Client, ClientConfig, Event, Fixed, Negotiation};
use mcp_proto::rpc::{Incoming, Message};
use mcp_proto::{Action, Channel, Instant, Machine, Pipe, RevisionSet};
use proptest::prelude::*;

use crate::client::connect::accepting;

#[derive(Clone, Debug)]
enum Operation {
    Hear(u64, usize),
    HearInArray(u64, usize),
    Pass(u64),
    Transmit(usize),
}

const LINES: [&str; 11] = [
    r#"{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"1.0","capabilities":{}}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"supportedVersions":["2026-07-28"],"capabilities":{}}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"supportedVersions":["2024-11-05"],"capabilities":{}}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{"supportedVersions":[]}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32022,"message":"x","data":{"supported":["2026-07-28"]}}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32022,"message":"x","data":{"supported":["2025-03-26"]}}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"x"}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"error":{"code":-32020,"message":"x"}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"result":{},"error":{}}"#,
    r#"{"jsonrpc":"2.0","id":ID,"method":"ping"}"#,
];

fn operations() -> impl Strategy<Value = Vec<Operation>> {
    let one = prop_oneof![
        4 => (1..5u64, 0..LINES.len()).prop_map(|(id, kind)| Operation::Hear(id, kind)),
        1 => (1..5u64, 0..LINES.len()).prop_map(|(id, kind)| Operation::HearInArray(id, kind)),
        2 => (0..40_000u64).prop_map(Operation::Pass),
        4 => (0..400usize).prop_map(Operation::Transmit),
    ];
    proptest::collection::vec(one, 0..20)
}

struct World {
    client: Client<'static, Fixed<2, 1>>,
    now: Instant,
    outcomes: usize,
    out: [u8; 1024],
}

impl World {
    fn run(&mut self, operation: &Operation) {
        match *operation {
            Operation::Hear(id, kind) => self.hear(id, kind),
            Operation::HearInArray(id, kind) => {
                self.handle(Incoming::BatchStart);
                self.hear(id, kind);
                self.handle(Incoming::BatchEnd);
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
                        Ok(said) => {
                            let said = &out[..said.expect("a channel was named").len];
                            let text = core::str::from_utf8(said).unwrap();
                            assert!(!text.contains("cancelled"), "{text}");
                        }
                        Err(full) => {
                            assert!(full.needed > len);
                            break;
                        }
                    }
                }
            }
        }
        while let Some(event) = self.client.poll_event() {
            self.told(&event);
        }
    }

    fn hear(&mut self, id: u64, kind: usize) {
        let line = LINES[kind].replace("ID", &id.to_string());
        self.handle(Incoming::Message(Message::parse(line.as_bytes(), 128)));
    }

    fn handle(&mut self, incoming: Incoming<'_>) {
        match self.client.handle(self.now, &Pipe, incoming) {
            Action::Event(event) => self.told(&event),
            Action::Reply(reply) => {
                assert!(self.client.reply(self.now, reply, &mut self.out).is_ok());
            }
            Action::Done | Action::Ignore(_) => {}
        }
    }

    fn told(&mut self, event: &Event<'_>) {
        match event {
            Event::Connected(server) => {
                self.outcomes += 1;
                assert!(self.client.config().revisions.contains(server.revision));
                assert_eq!(self.client.revision(), Some(server.revision));
                assert!(!self.client.is_closed());
            }
            Event::ConnectFailed(_) => {
                self.outcomes += 1;
                assert!(self.client.is_closed());
            }
            _ => {}
        }
    }
}

fn check(config: ClientConfig<'static>, operations: &[Operation]) {
    let mut world = World {
        client: Client::new(config, Fixed).unwrap(),
        now: Instant::ZERO,
        outcomes: 0,
        out: [0; 1024],
    };
    world.client.connect(world.now).unwrap();
    for operation in operations {
        world.run(operation);
        assert!(world.outcomes <= 1);
    }
    // Nobody waits for ever: after the probe and two requests there is an outcome.
    for _ in 0..4 {
        world.run(&Operation::Pass(60_000));
    }
    assert_eq!(world.outcomes, 1);
    world.client.hang_up();
    world.run(&Operation::Pass(1));
    assert_eq!(world.outcomes, 1);
    assert_eq!(world.client.poll_timeout(), None);
    assert_eq!(world.client.next_channel(), None);
}

proptest! {
    #[test]
    fn there_is_one_outcome(operations in operations(), which in 0..4usize) {
        let accepted = [
            RevisionSet::all(),
            RevisionSet::legacy(),
            RevisionSet::modern(),
            RevisionSet::all(),
        ][which];
        let negotiation = [Negotiation::Probe, Negotiation::Handshake][which / 3];
        check(ClientConfig { negotiation, ..accepting(accepted) }, &operations);
    }
}
