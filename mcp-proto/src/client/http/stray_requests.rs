//! Rejects server requests on streams that must not carry them.

use alloc::vec::Vec;

use crate::json::{Raw, append};
use crate::rpc::{ErrorObject, Id, Incoming, Message, Method, OwnedMessages, code, envelope};

/// A text of the server's own stream, without the requests in it.
pub(super) struct Parted {
    /// The errors that answer them: one message, or an array of them.
    pub(super) refusals: Vec<u8>,
    /// The messages that are left for the machine.
    pub(super) rest: Vec<u8>,
}

/// Refuses every request but pings; `None` if there is none. Only in 2025-03-26 is there more
/// than one.
pub(super) fn part<T: AsRef<[u8]>>(messages: &OwnedMessages<T>) -> Option<Parted> {
    let mut parted = Parted {
        refusals: Vec::new(),
        rest: Vec::new(),
    };
    let mut all = messages.messages().filter_map(|incoming| match incoming {
        Incoming::Message(message) => refused(message),
        Incoming::BatchStart | Incoming::BatchEnd => None,
    });
    let first = all.next()?;
    // The rest of an array is copied, so its elements are read as texts.
    let Some(list) = Raw::received(messages.text().as_ref().trim_ascii()).array() else {
        refuse(first, &mut parted.refusals);
        return Some(parted);
    };
    for element in list.elements() {
        match refused(Message::from_raw(element)) {
            Some(id) => {
                next(&mut parted.refusals);
                refuse(id, &mut parted.refusals);
            }
            None => {
                next(&mut parted.rest);
                parted.rest.extend_from_slice(element.as_bytes());
            }
        }
    }
    for array in [&mut parted.refusals, &mut parted.rest] {
        if !array.is_empty() {
            array.push(b']');
        }
    }
    Some(parted)
}

fn refused(message: Message<'_>) -> Option<Id<'_>> {
    match message {
        Message::Request(request) if request.method != Method::Ping => Some(request.id),
        _ => None,
    }
}

fn refuse(id: Id<'_>, out: &mut Vec<u8>) {
    let error = ErrorObject::new(
        code::INVALID_PARAMS,
        "this stream has no requests but pings",
    );
    append(out, |writer| envelope::error(writer, Some(id), &error));
}

/// Writes the bracket or the comma before an element of an array.
fn next(array: &mut Vec<u8>) {
    array.push(if array.is_empty() { b'[' } else { b',' });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, ids: &[&str], rest: &str) {
        let parted = part(&OwnedMessages::parse(text, 8)).unwrap();
        assert_eq!(parted.rest, rest.as_bytes());
        let refusals = Raw::parse(&parted.refusals, 8).unwrap();
        let refusals = match refusals.array() {
            Some(list) => list.elements().collect(),
            None => alloc::vec![refusals],
        };
        let named: Vec<_> = refusals
            .into_iter()
            .map(|refusal| match Message::from_raw(refusal) {
                Message::Response(response) => {
                    assert_eq!(response.outcome.unwrap_err().code, code::INVALID_PARAMS);
                    std::format!("{}", response.id.unwrap())
                }
                other => panic!("{other:?}"),
            })
            .collect();
        assert_eq!(named, ids);
    }

    #[test]
    fn questions_and_the_rest() {
        let question = r#"{"jsonrpc":"2.0","id":"q","method":"roots/list"}"#;
        let ping = r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#;
        let told = r#"{"jsonrpc":"2.0","method":"notifications/message"}"#;
        let unknown = r#"{"jsonrpc":"2.0","id":7,"method":"odd"}"#;
        check(question, &["\"q\""], "");
        check(unknown, &["7"], "");
        check(
            &std::format!("[{question},{ping},{told},{unknown}]"),
            &["\"q\"", "7"],
            &std::format!("[{ping},{told}]"),
        );
        check(&std::format!("[{unknown}]"), &["7"], "");
        for text in [ping, told, "[]", "{", "[{", "7", "[7]"] {
            assert!(part(&OwnedMessages::parse(text, 8)).is_none(), "{text}");
        }
    }
}
