//! Streams against a model that keeps everything: a client whose connections break anywhere
//! loses nothing, sees nothing twice and never another stream's messages.
#![cfg(feature = "alloc")]

use std::collections::BTreeMap;

use mcp_proto::Channel;
use mcp_proto::http::Refusal;
use mcp_proto::server::http::streams::{Delivery, StreamLimits, StreamRead, StreamReader, Streams};
use proptest::prelude::*;

/// Every event that was ever pushed, by stream and sequence number; priming events are empty.
type Pushed = BTreeMap<(u32, u64), String>;

/// One client's side of one stream.
#[derive(Default)]
struct Client {
    reader: Option<StreamReader>,
    /// Bytes of the event that is not yet whole.
    partial: String,
    last: Option<u64>,
    seen: Vec<u64>,
    over: bool,
    /// It came back without an id, so that what was on the way is lost.
    lossy: bool,
    gone: bool,
}

struct World {
    streams: Streams,
    pushed: Pushed,
    clients: BTreeMap<u32, Client>,
}

impl World {
    fn new(limits: StreamLimits) -> Self {
        let mut world = Self {
            streams: Streams::new(Delivery::Resumable, limits),
            pushed: Pushed::new(),
            clients: BTreeMap::new(),
        };
        let reader = world.streams.listen();
        world.begin(reader);
        world
    }

    fn begin(&mut self, reader: StreamReader) {
        let number = reader.channel().number();
        self.prime(number);
        let client = self.clients.entry(number).or_default();
        client.reader = Some(reader);
    }

    fn prime(&mut self, number: u32) {
        if let Some(sequence) = self.streams.prime(Channel::new(number)) {
            let before = self.pushed.insert((number, sequence), String::new());
            assert_eq!(before, None, "an id was given twice");
        }
    }

    fn push(&mut self, number: u32, size: usize, end: bool) {
        let count = self.pushed.len();
        let message = format!(
            "{{\"stream\":{number},\"count\":{count},\"x\":\"{}\"}}",
            "x".repeat(size)
        );
        let channel = Channel::new(number);
        if let Some(sequence) = self.streams.push(channel, message.as_bytes(), None, end) {
            assert_eq!(self.pushed.insert((number, sequence), message), None);
        }
    }

    /// Reads once, at most `max` bytes; with `keep`, the connection breaks and only so many of
    /// these bytes arrive.
    fn read(&mut self, number: u32, max: usize, keep: Option<usize>) {
        let Some(client) = self.clients.get_mut(&number) else {
            return;
        };
        let Some(reader) = client.reader.take() else {
            return;
        };
        let mut chunk = Vec::new();
        let read = self.streams.read(&reader, &mut chunk, max);
        let kept = keep.unwrap_or(chunk.len()).min(chunk.len());
        client.partial += core::str::from_utf8(&chunk[..kept]).unwrap();
        while let Some(end) = client.partial.find("\n\n") {
            let event: String = client.partial.drain(..end + 2).collect();
            client.event(number, &event, &self.pushed);
        }
        if keep.is_some() {
            self.streams.detach(&reader);
            client.partial.clear();
        } else if read == StreamRead::End {
            assert_eq!(client.partial, "");
            client.over = true;
        } else {
            client.reader = Some(reader);
        }
    }

    fn come_back(&mut self, number: u32) {
        let Some(client) = self.clients.get_mut(&number) else {
            return;
        };
        if client.over || client.gone || client.reader.is_some() {
            return;
        }
        match client.last {
            Some(last) => match self.streams.resume(format!("{number}-{last}").as_bytes()) {
                Ok(reader) => {
                    assert_eq!(reader.channel().number(), number);
                    client.reader = Some(reader);
                }
                Err(Refusal::EventUnknown | Refusal::EventGone) => client.gone = true,
                Err(Refusal::StreamEnded) => client.over = true,
                Err(other) => panic!("{other:?}"),
            },
            None if number == 0 => {
                client.lossy = true;
                let reader = self.streams.listen();
                self.begin(reader);
            }
            None => client.gone = true,
        }
    }

    /// Everybody comes back and reads to the end.
    fn settle(&mut self) {
        let numbers: Vec<u32> = self.clients.keys().copied().collect();
        for number in numbers {
            self.come_back(number);
            for _ in 0..100 {
                self.read(number, 1 << 20, None);
            }
        }
    }
}

impl Client {
    fn event(&mut self, number: u32, event: &str, pushed: &Pushed) {
        let (head, message) = event
            .strip_prefix("id: ")
            .and_then(|rest| rest.strip_suffix("\n\n"))
            .and_then(|rest| rest.split_once('\n'))
            .unwrap();
        let (stream, sequence) = head.split_once('-').unwrap();
        assert_eq!(stream, number.to_string(), "another stream's event");
        let sequence: u64 = sequence.parse().unwrap();
        let message = message.strip_prefix("data:").unwrap();
        let expected = &pushed[&(number, sequence)];
        assert_eq!(message.strip_prefix(' ').unwrap_or(message), expected);
        if let Some(last) = self.last {
            assert_eq!(sequence, last + 1, "lost or doubled");
        }
        self.last = Some(sequence);
        self.seen.push(sequence);
    }
}

#[derive(Clone, Debug)]
enum Op {
    Open,
    Push(u32, usize, bool),
    Read(u32, usize),
    Break(u32, usize, usize),
    ComeBack(u32),
    Poll(u32),
}

fn op() -> impl Strategy<Value = Op> {
    let stream = 0..6u32;
    prop_oneof![
        1 => Just(Op::Open),
        6 => (stream.clone(), 0..40usize, prop::bool::weighted(0.1))
            .prop_map(|(stream, size, end)| Op::Push(stream, size, end)),
        4 => (stream.clone(), 1..200usize).prop_map(|(stream, max)| Op::Read(stream, max)),
        2 => (stream.clone(), 1..200usize, 0..200usize)
            .prop_map(|(stream, max, keep)| Op::Break(stream, max, keep)),
        3 => stream.clone().prop_map(Op::ComeBack),
        1 => stream.prop_map(Op::Poll),
    ]
}

fn run(world: &mut World, ops: &[Op]) {
    for op in ops {
        match *op {
            Op::Open => {
                if let Ok(reader) = world.streams.open() {
                    world.begin(reader);
                }
            }
            Op::Push(stream, size, end) => {
                let ended = stream != 0 && end;
                world.push(stream, size, ended);
            }
            Op::Read(stream, max) => world.read(stream, max, None),
            Op::Break(stream, max, keep) => world.read(stream, max, Some(keep)),
            Op::ComeBack(stream) => world.come_back(stream),
            Op::Poll(stream) => {
                world.streams.disconnect(Channel::new(stream), None);
                // What ends here is a connection: the client comes back.
                world.read(stream, 1 << 20, Some(1 << 20));
            }
        }
    }
}

proptest! {
    #[test]
    fn nothing_is_lost_and_nothing_doubled(ops in prop::collection::vec(op(), 0..120)) {
        let limits = StreamLimits { events: 100_000, ..StreamLimits::default() };
        let mut world = World::new(limits);
        run(&mut world, &ops);
        world.settle();
        for (number, client) in &world.clients {
            if client.gone {
                prop_assert_eq!(client.last, None, "only a client without an id is lost");
            } else if !client.lossy {
                let all: Vec<u64> = world.pushed.range((*number, 0)..=(*number, u64::MAX))
                    .map(|((_, sequence), _)| *sequence).collect();
                prop_assert_eq!(&client.seen, &all);
            }
        }
    }

    #[test]
    fn limits_refuse_and_never_confuse(
        ops in prop::collection::vec(op(), 0..120),
        streams in 1..5usize,
        events in 0..12usize,
        bytes in 0..400usize,
    ) {
        let mut world = World::new(StreamLimits { streams, events, bytes, unread: 100 });
        run(&mut world, &ops);
        world.settle();
    }
}

#[test]
fn a_stream_is_broken_at_every_byte() {
    let script = |world: &mut World| {
        let reader = world.streams.open().unwrap();
        world.begin(reader);
        world.push(1, 3, false);
        world.push(1, 0, false);
        world.push(0, 5, false);
        world.push(1, 9, true);
    };
    for first in 0..220 {
        for second in [0, 1, 17, 50, 220] {
            let mut world = World::new(StreamLimits::default());
            script(&mut world);
            world.read(1, 1 << 20, Some(first));
            world.come_back(1);
            world.read(1, 1 << 20, Some(second));
            world.settle();
            let client = &world.clients[&1];
            if first < "id: 1-0\ndata:\n\n".len() {
                assert!(client.gone && client.seen.is_empty(), "{first}");
            } else {
                assert_eq!(client.seen, [0, 1, 2, 3], "{first}, then {second}");
            }
        }
    }
}
