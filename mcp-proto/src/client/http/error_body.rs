//! Errors in the bodies of responses.

use alloc::vec::Vec;

use crate::json::Writer;
use crate::rpc::{ErrorObject, Id, Message, envelope};

/// The error that a body is, and the request that it names.
pub(super) fn error_of(body: Message<'_>) -> Option<(Option<Id<'_>>, ErrorObject<'_>)> {
    match body {
        Message::Response(response) => Some((response.id, response.outcome.err()?)),
        _ => None,
    }
}

/// Writes an error as the answer to a request of ours.
pub(super) fn write(id: u64, error: &ErrorObject<'_>, line: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut number = Writer::new(&mut digits);
    number.unsigned(id);
    let Ok(len) = number.finish() else { return };
    let Some(id) = digits.get(..len).and_then(Id::parse) else {
        return;
    };
    let mut length = Writer::counting();
    envelope::error(&mut length, Some(id), error);
    let start = line.len();
    line.resize(start.saturating_add(length.len()), 0);
    let place = line.get_mut(start..).unwrap_or_default();
    envelope::error(&mut Writer::new(place), Some(id), error);
}
