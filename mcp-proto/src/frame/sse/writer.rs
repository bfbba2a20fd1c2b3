//! Writes messages as events.

use core::time::Duration;

use crate::action::BufferFull;
use crate::slice_writer::{SliceWriter, decimal_digits};

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
    let mut writer = SliceWriter::new(out);
    for (field, value) in [("event: ", head.name), ("id: ", head.id)] {
        if let Some(value) = value {
            line(&mut writer, field, value);
        }
    }
    writer.bytes(b"data: ");
    let (out, len) = writer.into_parts();
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
    let mut writer = SliceWriter::new(out);
    line(&mut writer, if text.is_empty() { ":" } else { ": " }, text);
    writer.bytes(b"\n");
    writer.finish()
}

/// Writes the event without data that gives a client an id to come back with before anything
/// was said (SSE-11): `id: 3-0`, an empty `data:` and a blank line. Returns the length.
///
/// # Errors
/// [`BufferFull`], and nothing of it counts as written.
pub fn priming(out: &mut [u8], id: &str) -> Result<usize, BufferFull> {
    let mut writer = SliceWriter::new(out);
    line(&mut writer, "id: ", id);
    writer.bytes(b"data:\n\n");
    writer.finish()
}

/// Writes how long a client is to wait before it connects again, in whole milliseconds:
/// `retry: 3000` and a blank line. Returns the length.
///
/// # Errors
/// [`BufferFull`], and nothing of it counts as written.
pub fn retry(out: &mut [u8], delay: Duration) -> Result<usize, BufferFull> {
    let millis = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX);
    let mut writer = SliceWriter::new(out);
    writer.bytes(b"retry: ");
    writer.bytes(decimal_digits(millis, &mut [0; 20]));
    writer.bytes(END.as_bytes());
    writer.finish()
}

fn line(writer: &mut SliceWriter<'_>, field: &str, value: &str) {
    writer.bytes(field.as_bytes());
    for part in value.split(['\r', '\n', '\0']) {
        writer.bytes(part.as_bytes());
    }
    writer.bytes(b"\n");
}

/// Ends the line of the data, and the event.
pub(crate) const END: &str = "\n\n";
