//! Errors in the bodies of responses.

use alloc::vec::Vec;

use super::awaited::Awaited;
use crate::json::{Writer, append};
use crate::rpc::{ErrorObject, Id, Message, envelope};

/// The error that a body is, and the request that it names.
pub(super) fn error_of(body: Message<'_>) -> Option<(Option<Id<'_>>, ErrorObject<'_>)> {
    match body {
        Message::Response(response) => Some((response.id, response.outcome.err()?)),
        _ => None,
    }
}

/// Writes an error as the answer to these requests of ours: to several in an array.
pub(super) fn write_to_all(requests: &Awaited, error: &ErrorObject<'_>, line: &mut Vec<u8>) {
    if let Some(id) = requests.only() {
        return write(id, error, line);
    }
    for (at, id) in requests.iter().enumerate() {
        line.push(if at == 0 { b'[' } else { b',' });
        write(id, error, line);
    }
    line.push(b']');
}

/// Writes an error as the answer to a request of ours.
fn write(id: u64, error: &ErrorObject<'_>, line: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut number = Writer::new(&mut digits);
    number.unsigned(id);
    let Ok(len) = number.finish() else { return };
    let Some(id) = digits.get(..len).and_then(Id::parse) else {
        return;
    };
    append(line, |writer| envelope::error(writer, Some(id), error));
}
