//! The parts that targets with operations share.

use core::time::Duration;

use mcp_proto::json::Raw;
use mcp_proto::rpc::Message;
use mcp_proto::{Inbox, Instant, Store};

/// Moves a clock: mostly so many milliseconds ahead, or far ahead, or back.
pub(crate) fn clock(now: Instant, by: u16) -> Instant {
    match by {
        0..0xe000 => now + Duration::from_millis(by.into()),
        0xe000..0xf000 => now + Duration::from_millis(1 << (by % 64)),
        0xf000.. => Instant::from_millis(now.as_millis().saturating_sub((by & 0xfff).into())),
    }
}

pub(crate) fn pick<T>(from: &[T], which: u8) -> Option<&T> {
    from.get(usize::from(which).checked_rem(from.len())?)
}

pub(crate) fn take<T: Copy + PartialEq>(from: &mut Vec<T>, which: u8) -> Option<T> {
    let token = *pick(from, which)?;
    remove(from, token);
    Some(token)
}

pub(crate) fn remove<T: PartialEq>(from: &mut Vec<T>, token: T) -> bool {
    let before = from.len();
    from.retain(|other| *other != token);
    from.len() < before
}

/// Takes the first line of what was read, once it is whole.
pub(crate) fn take_line(read: &mut Vec<u8>) -> Option<Vec<u8>> {
    let end = read.iter().position(|byte| *byte == b'\n')?;
    Some(read.drain(..=end).collect())
}

/// Hands out the messages of a line, which is one or an array of them.
pub(crate) fn each_message(line: &[u8], mut each: impl FnMut(&Message<'_>)) {
    let array = Raw::parse(line, 128)
        .expect("what is written is JSON")
        .array();
    match array {
        Some(array) => array
            .elements()
            .for_each(|element| each(&Message::from_raw(element))),
        None => each(&Message::parse(line, 128)),
    }
}

/// Puts bytes into an inbox, as many as fit. Returns the rest, or `None` if no byte fits.
pub(crate) fn fill<'b, S: Store<u8>>(inbox: &mut Inbox<S>, bytes: &'b [u8]) -> Option<&'b [u8]> {
    let spare = inbox.spare_mut()?;
    let len = bytes.len().min(spare.len());
    spare[..len].copy_from_slice(&bytes[..len]);
    inbox.filled(len);
    Some(&bytes[len..])
}
