//! Writes messages as events.

use core::time::Duration;

use crate::action::BufferFull;

/// The fields in front of an event's data.
///
/// ```
/// use mcp_proto::frame::sse::{self, EventHead};
///
/// let mut out = [0; 64];
/// let head = EventHead { id: Some("3-7"), ..EventHead::default() };
/// let (before, message) = sse::narrow(&mut out, head)?;
/// message[..2].copy_from_slice(b"{}");
/// let len = sse::end(&mut out, before + 2);
/// assert_eq!(&out[..len], b"id: 3-7\ndata: {}\n\n");
/// # Ok::<(), mcp_proto::BufferFull>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct EventHead<'a> {
    /// The event's type; without one it is `message` (SSE-01).
    pub name: Option<&'a str>,
    /// The id that a client sends to resume after this event.
    pub id: Option<&'a str>,
}

/// Begins an event at the front of `out`, and returns the length of that beginning and the part
/// that the message may take, so that the event's end has room behind it. A message is JSON
/// without line breaks (SSE-09); [`end`] ends the event. CR, LF and NUL, which would break the
/// head, are left out of it.
///
/// # Errors
/// [`BufferFull`] if there is no room for any message.
pub fn narrow<'o>(
    out: &'o mut [u8],
    head: EventHead<'_>,
) -> Result<(usize, &'o mut [u8]), BufferFull> {
    let mut pen = Pen { out, len: 0 };
    for (field, value) in [("event: ", head.name), ("id: ", head.id)] {
        if let Some(value) = value {
            pen.line(field, value);
        }
    }
    pen.put("data: ");
    let Pen { out, len } = pen;
    let needed = len + END.len();
    let spare = out.len().checked_sub(needed).filter(|spare| *spare > 0);
    match spare.and_then(|spare| out.get_mut(len..len + spare)) {
        Some(message) => Ok((len, message)),
        None => Err(BufferFull { needed: needed + 1 }),
    }
}

/// Ends the event whose beginning and message take `len` bytes, and returns the length of all.
pub fn end(out: &mut [u8], len: usize) -> usize {
    match out.get_mut(len..len + END.len()) {
        Some(place) => {
            place.copy_from_slice(END.as_bytes());
            len + END.len()
        }
        None => len,
    }
}

/// Writes a comment, which keeps a stream alive that has nothing to say: `:`, the text and a blank
/// line. Returns the length.
///
/// # Errors
/// [`BufferFull`], and nothing of it counts as written.
pub fn comment(out: &mut [u8], text: &str) -> Result<usize, BufferFull> {
    write(out, |pen| {
        pen.line(if text.is_empty() { ":" } else { ": " }, text);
        pen.put("\n");
    })
}

/// Writes the event without data that gives a client an id to come back with before anything
/// was said (SSE-11): `id: 3-0`, an empty `data:` and a blank line. Returns the length.
///
/// # Errors
/// [`BufferFull`], and nothing of it counts as written.
pub fn priming(out: &mut [u8], id: &str) -> Result<usize, BufferFull> {
    write(out, |pen| {
        pen.line("id: ", id);
        pen.put("data:\n\n");
    })
}

/// Writes how long a client is to wait before it connects again, in whole milliseconds:
/// `retry: 3000` and a blank line. Returns the length.
///
/// # Errors
/// [`BufferFull`], and nothing of it counts as written.
pub fn retry(out: &mut [u8], delay: Duration) -> Result<usize, BufferFull> {
    let mut digits = [b'0'; 20];
    let mut rest = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
    let mut first = digits.len() - 1;
    for (place, digit) in digits.iter_mut().enumerate().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
        first = place;
        if rest == 0 {
            break;
        }
    }
    let digits = digits.get(first..).unwrap_or_default();
    write(out, |pen| {
        pen.put("retry: ");
        pen.bytes(digits);
        pen.put("\n\n");
    })
}

fn write(out: &mut [u8], text: impl FnOnce(&mut Pen<'_>)) -> Result<usize, BufferFull> {
    let mut pen = Pen { out, len: 0 };
    text(&mut pen);
    let Pen { out, len } = pen;
    if len > out.len() {
        return Err(BufferFull { needed: len });
    }
    Ok(len)
}

/// Writes what fits, and counts all of it.
struct Pen<'o> {
    out: &'o mut [u8],
    len: usize,
}

impl Pen<'_> {
    fn line(&mut self, field: &str, value: &str) {
        self.put(field);
        for part in value.split(['\r', '\n', '\0']) {
            self.put(part);
        }
        self.put("\n");
    }

    fn put(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        let end = self.len.saturating_add(bytes.len());
        if let Some(place) = self.out.get_mut(self.len..end) {
            place.copy_from_slice(bytes);
        }
        self.len = end;
    }
}

/// Ends the line of the data, and the event.
pub(crate) const END: &str = "\n\n";
