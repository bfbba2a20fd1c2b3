//! An event stream, cut anywhere.

use mcp_proto::frame::sse::{Events, Piece};
use mcp_proto::{Limits, Store};

/// However a stream is cut and wherever it is stored, the same events come out of it, and they
/// are those of a reader that has the whole stream and goes by the words of the HTML standard.
///
/// The first byte chooses how the stream is cut; the rest is the stream.
pub fn event_stream(input: &[u8]) {
    let Some((&cut, stream)) = input.split_first() else {
        return;
    };
    let limits = Limits {
        message: LIMIT,
        ..Limits::default()
    };
    let expected = naive(stream);
    let size = usize::from(cut) % 13 + 1;
    let growing = || Events::new(Vec::new(), [Vec::new(), Vec::new(), Vec::new()], &limits);
    assert_eq!(read(growing(), stream.len().max(1), stream), expected);
    assert_eq!(read(growing(), 1, stream), expected);
    assert_eq!(read(growing(), size, stream), expected);
    // Room for the longest event, however many lines it has, and for what its lines begin with.
    let fixed = Events::new([0; 2 * LIMIT + 32], [const { [0; LIMIT] }; 3], &limits);
    if longest_line(stream) <= LIMIT {
        assert_eq!(read(fixed, size, stream), expected);
    }
}

/// Small, so that events over it are found soon.
const LIMIT: usize = 96;

/// Name, data and id; of an event over the limit only its data.
#[derive(Debug, PartialEq)]
enum Found {
    Event(Vec<u8>, Vec<u8>, Vec<u8>),
    TooLong(Vec<u8>),
}

type Heard = (Vec<Found>, Vec<u8>, Option<u64>);

fn read<S: Store<u8>, F: Store<u8>>(mut events: Events<S, F>, size: usize, stream: &[u8]) -> Heard {
    let mut found = Vec::new();
    let mut parts = Vec::new();
    let mut fruitless = 0;
    for mut piece in stream.chunks(size) {
        while !piece.is_empty() {
            let before = found.len() + parts.len();
            if let Some(spare) = events.spare_mut() {
                let len = piece.len().min(spare.len());
                spare[..len].copy_from_slice(&piece[..len]);
                events.filled(len);
                piece = &piece[len..];
                fruitless = 0;
            }
            take(&mut events, &mut found, &mut parts);
            fruitless += usize::from(found.len() + parts.len() == before);
            assert!(fruitless < 4, "neither room nor events");
        }
        take(&mut events, &mut found, &mut parts);
    }
    if !parts.is_empty() {
        // The stream broke inside of it.
        parts.clear();
    }
    let retry = events.retry().map(|delay| delay.as_millis() as u64);
    (found, events.last_event_id().to_vec(), retry)
}

fn take<S: Store<u8>, F: Store<u8>>(
    events: &mut Events<S, F>,
    found: &mut Vec<Found>,
    parts: &mut Vec<u8>,
) {
    while let Some(piece) = events.next_event() {
        match piece {
            Piece::Event(event) => found.push(Found::Event(
                event.name.to_vec(),
                event.data.to_vec(),
                event.id.to_vec(),
            )),
            Piece::Part(part) => parts.extend_from_slice(part),
            Piece::End => {
                // Of its line breaks only some are handed out.
                parts.retain(|byte| *byte != b'\n');
                found.push(Found::TooLong(core::mem::take(parts)));
            }
        }
    }
}

/// The whole stream at once.
fn naive(stream: &[u8]) -> Heard {
    let (mut found, mut committed, mut retry) = (Vec::new(), Vec::new(), None);
    let (mut data, mut name, mut id) = (None::<Vec<&[u8]>>, Vec::new(), Vec::new());
    for line in lines(stream) {
        if line.is_empty() {
            committed.clone_from(&id);
            if let Some(data) = data.take() {
                let joined = data.join(&b"\n"[..]);
                found.push(if joined.len() > LIMIT {
                    Found::TooLong(data.concat())
                } else if name.is_empty() {
                    Found::Event(b"message".to_vec(), joined, id.clone())
                } else {
                    Found::Event(name.clone(), joined, id.clone())
                });
            }
            name.clear();
            continue;
        }
        let colon = line.iter().position(|byte| *byte == b':');
        let (field, value) = match colon {
            Some(at) => (&line[..at], &line[at + 1..]),
            None => (line, &b""[..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => data.get_or_insert_default().push(value),
            b"event" => name = value.to_vec(),
            b"id" if !value.contains(&0) => id = value.to_vec(),
            b"retry" if !value.is_empty() && value.iter().all(u8::is_ascii_digit) => {
                retry = Some(value.iter().fold(0u64, |total, digit| {
                    total
                        .saturating_mul(10)
                        .saturating_add(u64::from(digit - b'0'))
                }));
            }
            _ => {}
        }
    }
    (found, committed, retry)
}

/// The complete lines of a stream.
fn lines(stream: &[u8]) -> Vec<&[u8]> {
    let stream = stream.strip_prefix(b"\xef\xbb\xbf").unwrap_or(stream);
    let (mut lines, mut start, mut at) = (Vec::new(), 0, 0);
    while at < stream.len() {
        let end = at;
        at += 1;
        match stream[end] {
            b'\r' if stream.get(at) == Some(&b'\n') => at += 1,
            b'\r' | b'\n' => {}
            _ => continue,
        }
        lines.push(&stream[start..end]);
        start = at;
    }
    lines
}

fn longest_line(stream: &[u8]) -> usize {
    stream
        .split(|byte| b"\r\n".contains(byte))
        .map(<[u8]>::len)
        .max()
        .unwrap_or(0)
}
