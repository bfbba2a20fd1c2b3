//! The work that turns the chunks of an event stream into events.

use std::hint::black_box;

use bytes::Bytes;
use mcp_proto::Limits;
use mcp_proto::frame::sse::{Events, Piece};

/// A contestant: its name and its work.
pub trait EventPeer {
    const NAME: &'static str;

    /// Reads a whole stream and shows the data and the id of each event.
    fn read(chunks: &[Bytes], each: impl FnMut(&[u8], &[u8]));
}

/// `mcp_proto::frame::sse::Events`: what arrives is copied into its store, and lent from there.
pub struct McpProto;

impl EventPeer for McpProto {
    const NAME: &'static str = "mcp-proto";

    fn read(chunks: &[Bytes], mut each: impl FnMut(&[u8], &[u8])) {
        let fields = [Vec::new(), Vec::new(), Vec::new()];
        let mut events = Events::new(vec![0; 16_384], fields, &Limits::default());
        for chunk in chunks {
            let mut rest = &chunk[..];
            while !rest.is_empty() {
                if let Some(spare) = events.spare_mut() {
                    let (now, later) = rest.split_at(rest.len().min(spare.len()));
                    spare[..now.len()].copy_from_slice(now);
                    events.filled(now.len());
                    rest = later;
                }
                while let Some(piece) = events.next_event() {
                    match piece {
                        Piece::Event(event) => each(event.data, event.id),
                        piece => panic!("{piece:?} within the limits"),
                    }
                }
            }
        }
    }
}

/// So many messages, each an event with an id, as a server of 2025-11-25 sends them.
pub fn encode<'m>(messages: impl Iterator<Item = &'m [u8]>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for (number, message) in messages.enumerate() {
        bytes.extend_from_slice(format!("id: 7-{number}\ndata: ").as_bytes());
        bytes.extend_from_slice(message);
        bytes.extend_from_slice(b"\n\n");
    }
    bytes
}

/// The messages of a busy connection, 155 bytes in the mean.
pub fn small(count: usize) -> Vec<u8> {
    let lines = crate::inputs::stream(count);
    encode(lines.trim_ascii_end().split(|byte| *byte == b'\n'))
}

/// Lists of tools, 54 kB each.
pub fn large(count: usize) -> Vec<u8> {
    let message = crate::inputs::tools_list();
    encode(std::iter::repeat_n(message.as_bytes(), count))
}

/// The stream in chunks, as a transport hands them over.
pub fn chunks(stream: Vec<u8>, size: usize) -> Vec<Bytes> {
    let stream = Bytes::from(stream);
    let starts = (0..stream.len()).step_by(size);
    starts
        .map(|start| stream.slice(start..stream.len().min(start + size)))
        .collect()
}

/// How many events there are, so that none can be left out.
pub fn count<P: EventPeer>(chunks: &[Bytes]) -> usize {
    let mut count = 0;
    P::read(chunks, |data, id| {
        black_box((data, id));
        count += 1;
    });
    count
}
