//! The event streams of a session against a model that keeps everything.

use std::collections::BTreeMap;

use mcp_proto::Channel;
use mcp_proto::http::Refusal;
use mcp_proto::server::http::streams::{Delivery, StreamLimits, StreamRead, StreamReader, Streams};

/// Clients whose connections break anywhere and that come back lose nothing, see nothing twice, and never see messages of another
/// stream. If the limits of the log are small, they may be refused.
///
/// The first byte chooses the limits, and each three that follow are an operation, a stream and a size: 0 opens a stream,
/// 1 to 3 push a message to it, 4 reads from it, 5 and 6 read from a connection that breaks, 7 reads from one that the server ends, and 8 comes back.
pub fn stream_resumption(input: &[u8]) {
    let Some((&setup, operations)) = input.split_first() else {
        return;
    };
    let limits = match setup {
        0..128 => StreamLimits {
            events: 100_000,
            ..StreamLimits::default()
        },
        _ => StreamLimits {
            streams: 1 + usize::from(setup % 4),
            events: usize::from(setup / 4 % 8) * 2,
            bytes: usize::from(setup % 16) * 25,
            unread: 100,
        },
    };
    let mut world = World::new(limits);
    for operation in operations.chunks_exact(3) {
        let &[kind, stream, size] = operation else {
            return;
        };
        world.apply(kind, u32::from(stream % 6), stream / 6, usize::from(size));
    }
    world.settle();
    if setup < 128 {
        world.check();
    }
}

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

    fn apply(&mut self, kind: u8, stream: u32, more: u8, size: usize) {
        match kind % 9 {
            0 => {
                if let Ok(reader) = self.streams.open() {
                    self.begin(reader);
                }
            }
            // Now and then the last one; the stream besides the exchanges never ends.
            kind @ 1..=3 => self.push(stream, size % 40, kind == 3 && stream != 0 && more == 0),
            4 => self.read(stream, 1 + size, None),
            5 => self.read(stream, 1 + size, Some(usize::from(more) * 4)),
            6 => self.read(stream, 1 << 20, Some(size)),
            7 => {
                self.streams.disconnect(Channel::new(stream), None);
                // Only the connection ends here: the client comes back.
                self.read(stream, 1 << 20, Some(1 << 20));
            }
            _ => self.come_back(stream),
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

    /// Each client has seen all that was ever pushed to its stream.
    fn check(&self) {
        for (number, client) in &self.clients {
            if client.gone {
                assert_eq!(client.last, None, "only a client without an id is lost");
            } else if !client.lossy {
                let range = (*number, 0)..=(*number, u64::MAX);
                let all = self.pushed.range(range).map(|((_, sequence), _)| *sequence);
                assert!(all.eq(client.seen.iter().copied()), "{:?}", client.seen);
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
