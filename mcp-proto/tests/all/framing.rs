//! The inbox beside a reader that has the whole stream and splits it.

use mcp_proto::rpc::{Incoming, Invalid, Message, Reason, Shape};
use mcp_proto::{Inbox, Limits, Store};
use proptest::prelude::*;

/// What an incoming says, as far as it depends on the framing.
fn told(incoming: Incoming<'_>) -> String {
    match incoming {
        Incoming::BatchStart => "[".to_owned(),
        Incoming::BatchEnd => "]".to_owned(),
        Incoming::Message(Message::Invalid(Invalid {
            reason: Reason::TooLong,
            id,
            shape,
        })) => {
            format!("too long {id:?} {shape:?}")
        }
        Incoming::Message(message) => format!("{message:?}"),
    }
}

fn naive(stream: &[u8], limit: usize) -> Vec<String> {
    let mut log = Vec::new();
    let stream = stream.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(stream);
    for line in stream.split(|byte| *byte == b'\n') {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.iter().all(|byte| b" \t\r".contains(byte)) {
            continue;
        }
        let read = Message::parse(line, 128);
        if line.len() > limit {
            // Whatever it says, only its id and its shape matter.
            let (id, shape) = match read {
                Message::Request(request) => (Some(request.id), Shape::Request),
                Message::Notification(_) => (None, Shape::Notification),
                Message::Response(response) => (response.id, Shape::Response),
                Message::Invalid(invalid) => (invalid.id, invalid.shape),
            };
            log.push(format!("too long {id:?} {shape:?}"));
        } else if line.trim_ascii_start().starts_with(b"[") {
            match serde_json::from_slice::<Vec<serde_json::Value>>(line) {
                Ok(elements) if !elements.is_empty() => {
                    log.push("[".to_owned());
                    for element in elements {
                        let text = element.to_string();
                        log.push(told(Incoming::Message(Message::parse(
                            text.as_bytes(),
                            128,
                        ))));
                    }
                    log.push("]".to_owned());
                }
                Ok(_) => log.push(told(Incoming::Message(Message::Invalid(Invalid {
                    reason: Reason::EmptyBatch,
                    id: None,
                    shape: Shape::Unknown,
                })))),
                Err(_) => log.push(format!("{read:?}")),
            }
        } else {
            log.push(format!("{read:?}"));
        }
    }
    log
}

fn drain<S: Store<u8>>(inbox: &mut Inbox<S>, log: &mut Vec<String>, twice: bool) {
    while let Some(incoming) = inbox.next_message() {
        let first = told(incoming);
        if twice {
            inbox.unread();
            assert_eq!(inbox.next_message().map(told).as_ref(), Some(&first));
        }
        log.push(first);
    }
}

/// Feeds the stream in chunks of these sizes, over and over.
fn run<S: Store<u8>>(store: S, stream: &[u8], limit: usize, sizes: &[usize]) -> Vec<String> {
    let limits = Limits {
        message: limit,
        ..Limits::default()
    };
    let mut inbox = Inbox::new(store, &limits);
    let mut log = Vec::new();
    let mut rest = stream;
    for (turn, size) in sizes.iter().cycle().enumerate() {
        if rest.is_empty() {
            break;
        }
        // Some turns only fill.
        let Some(spare) = inbox.spare_mut() else {
            drain(&mut inbox, &mut log, false);
            continue;
        };
        let count = spare.len().min(rest.len()).min(*size);
        let (now, later) = rest.split_at(count);
        spare[..count].copy_from_slice(now);
        inbox.filled(count);
        rest = later;
        if turn % 3 != 0 {
            drain(&mut inbox, &mut log, turn % 2 == 0);
        }
    }
    inbox.close();
    drain(&mut inbox, &mut log, true);
    assert!(inbox.is_empty());
    log
}

fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        4 => Just(b"\n".to_vec()),
        2 => Just(b"\r\n".to_vec()),
        1 => Just(b"\r".to_vec()),
        1 => Just(b" \t ".to_vec()),
        1 => Just(b"\xEF\xBB\xBF".to_vec()),
        1 => Just(b"\xEF\xBB".to_vec()),
        3 => Just(br#"{"jsonrpc":"2.0","id":1,"method":"a"}"#.to_vec()),
        2 => Just(br#"{"jsonrpc":"2.0","method":"b"}"#.to_vec()),
        1 => Just(br#"{"id":7,"method":"c","params":{"x":tru}}"#.to_vec()),
        1 => Just(br#"{"method":"c","id":"d" "#.to_vec()),
        1 => Just(br#"[{"id":1,"jsonrpc":"2.0","result":{}},5]"#.to_vec()),
        1 => Just(b"[]".to_vec()),
        1 => Just(b"[1,2".to_vec()),
        1 => (40usize..120).prop_map(|len| vec![b'x'; len]),
        1 => (1usize..6).prop_map(|len| vec![b'['; len]),
        1 => proptest::collection::vec(any::<u8>(), 0..6),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn streams_are_split_alike(
        pieces in proptest::collection::vec(piece(), 0..24),
        sizes in proptest::collection::vec(1usize..40, 1..5),
        limit in 40usize..90,
    ) {
        let stream = pieces.concat();
        let expected = naive(&stream, limit);
        // Room for the limit, a byte order mark, a carriage return and a newline, and then more.
        let mut exact = vec![0; limit + 5];
        let mut ample = vec![0; 512];
        prop_assert_eq!(&run(exact.as_mut_slice(), &stream, limit, &sizes), &expected);
        prop_assert_eq!(&run(ample.as_mut_slice(), &stream, limit, &sizes), &expected);
        prop_assert_eq!(&run(ample.as_mut_slice(), &stream, limit, &[1]), &expected);
        #[cfg(feature = "alloc")]
        prop_assert_eq!(&run(Vec::new(), &stream, limit, &sizes), &expected);
    }
}
