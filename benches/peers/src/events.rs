//! The work of each library that turns the chunks of an event stream into events.

use std::convert::Infallible;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures_util::{Stream, stream};
use mcp_benches::events::EventPeer;

/// The crate `sse-stream`, which the official SDK uses.
pub struct SseStream;

impl EventPeer for SseStream {
    const NAME: &'static str = "sse-stream";

    fn read(chunks: &[Bytes], mut each: impl FnMut(&[u8], &[u8])) {
        drain(sse_stream::SseByteStream::new(arriving(chunks)), |event| {
            let event = event.expect("an event");
            // Of an id it shows only what each event says itself.
            let [data, id] = [event.data, event.id].map(Option::unwrap_or_default);
            each(data.as_bytes(), id.as_bytes());
        });
    }
}

/// The crate `eventsource-stream`.
pub struct EventsourceStream;

impl EventPeer for EventsourceStream {
    const NAME: &'static str = "eventsource-stream";

    fn read(chunks: &[Bytes], mut each: impl FnMut(&[u8], &[u8])) {
        let events = eventsource_stream::EventStream::new(arriving(chunks));
        drain(events, |event| {
            let event = event.expect("an event");
            each(event.data.as_bytes(), event.id.as_bytes());
        });
    }
}

fn arriving(chunks: &[Bytes]) -> impl Stream<Item = Result<Bytes, Infallible>> {
    stream::iter(chunks.iter().cloned().map(Ok))
}

/// Takes everything from a stream that never has to wait.
fn drain<S: Stream>(stream: S, mut each: impl FnMut(S::Item)) {
    let mut stream = pin!(stream);
    let cx = &mut Context::from_waker(Waker::noop());
    while let Poll::Ready(Some(item)) = stream.as_mut().poll_next(cx) {
        each(item);
    }
}

#[cfg(test)]
mod tests {
    use mcp_benches::events::{McpProto, chunks, encode, large, small};

    use super::*;

    #[test]
    fn everyone_reads_the_same_events() {
        fn read<P: EventPeer>(chunks: &[Bytes]) -> Vec<(Vec<u8>, Vec<u8>)> {
            let mut events = Vec::new();
            P::read(chunks, |data, id| events.push((data.to_vec(), id.to_vec())));
            events
        }
        for (stream, expected) in [(small(60), 60), (large(3), 3)] {
            for size in [7, 256, 4096, 65_536] {
                let chunks = chunks(stream.clone(), size);
                let events = read::<McpProto>(&chunks);
                assert_eq!(events.len(), expected);
                assert_eq!(encode(events.iter().map(|(data, _)| &data[..])), stream);
                assert!(events == read::<SseStream>(&chunks), "{size}");
                assert!(events == read::<EventsourceStream>(&chunks), "{size}");
            }
        }
    }
}
