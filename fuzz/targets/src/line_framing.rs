//! A stream of lines, cut anywhere.

use mcp_proto::json::{MAX_DEPTH, Raw};
use mcp_proto::rpc::{Incoming, Message, Reason};
use mcp_proto::{Inbox, Limits, Store};

/// However a stream is cut and wherever it is stored, the same messages come out of it, and they
/// are those of a reader that has the whole stream and splits it at its newlines.
///
/// The first byte chooses how the stream is cut; the rest is the stream.
pub fn line_framing(input: &[u8]) {
    let Some((&cut, stream)) = input.split_first() else {
        return;
    };
    let limits = Limits {
        message: LIMIT,
        ..Limits::default()
    };
    let expected = naive(stream);
    let pieces = |stream| Cuts {
        stream,
        state: u32::from(cut) | 1,
    };
    assert_eq!(
        read(Inbox::new(Vec::new(), &limits), core::iter::once(stream)),
        expected
    );
    assert_eq!(
        read(Inbox::new(Vec::new(), &limits), stream.chunks(1)),
        expected
    );
    assert_eq!(
        read(Inbox::new(Vec::new(), &limits), pieces(stream)),
        expected
    );
    // Room for the longest line with its mark, its carriage return and its newline.
    assert_eq!(
        read(Inbox::new([0; LIMIT + 5], &limits), pieces(stream)),
        expected
    );
}

/// Small, so that lines over it are found soon.
const LIMIT: usize = 96;

/// What a line turned out to be, with as much of it as tells two apart.
#[derive(Debug, PartialEq)]
enum Line {
    Message(Vec<u8>),
    Invalid(Reason),
    TooLong,
    Batch(Vec<Self>),
}

fn read<S: Store<u8>>(
    mut inbox: Inbox<S>,
    pieces: impl Iterator<Item = impl AsRef<[u8]>>,
) -> Vec<Line> {
    let mut lines = Lines::default();
    for piece in pieces {
        let mut piece = piece.as_ref();
        while !piece.is_empty() {
            if let Some(spare) = inbox.spare_mut() {
                let len = piece.len().min(spare.len());
                spare[..len].copy_from_slice(&piece[..len]);
                inbox.filled(len);
                piece = &piece[len..];
            }
            lines.take(&mut inbox);
            assert!(inbox.capacity() <= LIMIT + 5, "a limit is a limit");
        }
    }
    inbox.close();
    lines.take(&mut inbox);
    assert!(inbox.is_empty());
    assert!(lines.batch.is_none());
    lines.found
}

#[derive(Default)]
struct Lines {
    found: Vec<Line>,
    batch: Option<Vec<Line>>,
}

impl Lines {
    fn take<S: Store<u8>>(&mut self, inbox: &mut Inbox<S>) {
        while let Some(incoming) = inbox.next_message() {
            match incoming {
                Incoming::BatchStart => assert!(self.batch.replace(Vec::new()).is_none()),
                Incoming::BatchEnd => self.found.push(Line::Batch(self.batch.take().unwrap())),
                Incoming::Message(message) => {
                    let line = describe(&message);
                    self.batch.as_mut().unwrap_or(&mut self.found).push(line);
                }
            }
        }
    }
}

fn describe(message: &Message<'_>) -> Line {
    match message {
        Message::Invalid(invalid) if invalid.reason == Reason::TooLong => Line::TooLong,
        Message::Invalid(invalid) => Line::Invalid(invalid.reason),
        message => {
            let needed = message.encode(&mut []).unwrap_err().needed;
            let mut bytes = vec![0; needed];
            message.encode(&mut bytes).unwrap();
            Line::Message(bytes)
        }
    }
}

/// The whole stream at once.
fn naive(stream: &[u8]) -> Vec<Line> {
    let stream = stream.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stream);
    let mut lines = Vec::new();
    for line in stream.split(|&byte| byte == b'\n') {
        let text = line.strip_suffix(b"\r").unwrap_or(line);
        if text.iter().all(|byte| b" \t\r".contains(byte)) {
            continue;
        }
        lines.push(if text.len() > LIMIT {
            Line::TooLong
        } else {
            naive_line(text)
        });
    }
    lines
}

fn naive_line(text: &[u8]) -> Line {
    let array = Raw::parse(text, MAX_DEPTH).ok().and_then(Raw::array);
    match array {
        Some(array) if array.is_empty() => Line::Invalid(Reason::EmptyBatch),
        Some(array) => Line::Batch(
            array
                .elements()
                .map(|element| describe(&Message::from_raw(element)))
                .collect(),
        ),
        None => describe(&Message::parse(text, MAX_DEPTH)),
    }
}

/// Pieces of 1 to 16 bytes by a small generator.
struct Cuts<'b> {
    stream: &'b [u8],
    state: u32,
}

impl<'b> Iterator for Cuts<'b> {
    type Item = &'b [u8];

    fn next(&mut self) -> Option<&'b [u8]> {
        if self.stream.is_empty() {
            return None;
        }
        self.state = self
            .state
            .wrapping_mul(1_664_525)
            .wrapping_add(1_013_904_223);
        let len = (self.state >> 28) as usize + 1;
        let (piece, rest) = self.stream.split_at(len.min(self.stream.len()));
        self.stream = rest;
        Some(piece)
    }
}
