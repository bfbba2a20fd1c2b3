//! The work that turns a newline stream, which arrives in chunks, into messages.

use std::hint::black_box;

use mcp_proto::rpc::{Incoming, Message};
use mcp_proto::{Inbox, Limits};

/// A contestant: its name and its work.
pub trait LinePeer: Default {
    const NAME: &'static str;

    /// Reads a whole stream in chunks of so many bytes, and returns the number of its messages.
    fn read(&mut self, stream: &[u8], chunk: usize) -> usize;
}

/// `mcp_proto::Inbox`: each message is validated and classified.
pub struct McpProto(Inbox<Vec<u8>>);

impl Default for McpProto {
    fn default() -> Self {
        Self(Inbox::new(vec![0; 65_536], &Limits::default()))
    }
}

impl LinePeer for McpProto {
    const NAME: &'static str = "mcp-proto";

    fn read(&mut self, stream: &[u8], chunk: usize) -> usize {
        let mut count = 0;
        for mut piece in stream.chunks(chunk) {
            while !piece.is_empty() {
                if let Some(spare) = self.0.spare_mut() {
                    let len = piece.len().min(spare.len());
                    spare[..len].copy_from_slice(&piece[..len]);
                    self.0.filled(len);
                    piece = &piece[len..];
                }
                while let Some(incoming) = self.0.next_message() {
                    match black_box(incoming) {
                        Incoming::Message(Message::Invalid(invalid)) => panic!("{invalid:?}"),
                        _ => count += 1,
                    }
                }
            }
        }
        count
    }
}

/// The least that framing costs: no limit, no validation, but the position is remembered.
#[derive(Default)]
pub struct Splitter {
    held: Vec<u8>,
}

impl LinePeer for Splitter {
    const NAME: &'static str = "splitter";

    fn read(&mut self, stream: &[u8], chunk: usize) -> usize {
        let mut count = 0;
        for piece in stream.chunks(chunk) {
            let mut searched = self.held.len();
            self.held.extend_from_slice(piece);
            let mut start = 0;
            while let Some(at) = memchr::memchr(b'\n', &self.held[searched..]) {
                let end = searched + at;
                black_box(&self.held[start..end]);
                count += 1;
                start = end + 1;
                searched = start;
            }
            self.held.drain(..start);
        }
        count
    }
}
