//! Streams, cut in every way, in stores of every size.

use std::format;
use std::string::{String, ToString as _};
use std::vec::Vec;

use super::*;
use crate::rpc::Response;

/// The kind of an incoming item, and its id.
fn told(incoming: Incoming<'_>) -> String {
    match incoming {
        Incoming::BatchStart => String::from("["),
        Incoming::BatchEnd => String::from("]"),
        Incoming::Message(Message::Request(request)) => format!("request {}", request.id),
        Incoming::Message(Message::Notification(told)) => format!("notification {}", told.method),
        Incoming::Message(Message::Response(Response { id, .. })) => {
            format!(
                "response {}",
                id.map_or(String::from("-"), |id| id.to_string())
            )
        }
        Incoming::Message(Message::Invalid(Invalid { reason, id, .. })) => {
            let reason = match reason {
                Reason::Json(_) => String::from("json"),
                other => format!("{other:?}"),
            };
            match id {
                Some(id) => format!("{reason} {id}"),
                None => reason,
            }
        }
    }
}

/// Everything that can be read now; each item is read twice.
fn drain<S: Store<u8>>(inbox: &mut Inbox<S>, log: &mut Vec<String>) {
    while let Some(incoming) = inbox.next_message() {
        let first = told(incoming);
        inbox.unread();
        assert_eq!(inbox.next_message().map(told).as_ref(), Some(&first));
        log.push(first);
    }
}

/// Feeds a stream in chunks of `size`, reading as often as possible, or only when full.
fn run<S: Store<u8>>(
    store: S,
    limit: usize,
    stream: &[u8],
    size: usize,
    eager: bool,
) -> Vec<String> {
    let limits = Limits {
        message: limit,
        ..Limits::default()
    };
    let mut inbox = Inbox::new(store, &limits);
    let mut log = Vec::new();
    for mut chunk in stream.chunks(size) {
        while !chunk.is_empty() {
            match inbox.spare_mut() {
                Some(spare) => {
                    let count = spare.len().min(chunk.len());
                    let (now, later) = chunk.split_at(count);
                    spare[..count].copy_from_slice(now);
                    inbox.filled(count);
                    chunk = later;
                }
                None => {
                    let before = log.len();
                    drain(&mut inbox, &mut log);
                    assert!(log.len() > before || inbox.is_empty(), "full of nothing");
                }
            }
            if eager {
                drain(&mut inbox, &mut log);
            }
        }
    }
    drain(&mut inbox, &mut log);
    inbox.close();
    drain(&mut inbox, &mut log);
    assert!(inbox.is_empty());
    log
}

/// Whole, byte by byte, in between; in storage that grows, and in arrays that hold `longest`.
fn check(limit: usize, stream: &[u8], expected: &[&str]) {
    let longest = stream.split(|byte| *byte == b'\n').map(<[u8]>::len).max();
    let longest = longest.unwrap_or(0).min(limit) + 6;
    for size in [1, 2, 3, 5, 16, stream.len().max(1)] {
        for eager in [false, true] {
            let mut stores = std::vec![
                std::vec![0; longest],
                std::vec![0; longest + 7],
                std::vec![0; 4096]
            ];
            for store in &mut stores {
                let got = run(store.as_mut_slice(), limit, stream, size, eager);
                assert_eq!(got, expected, "{size} {eager} {}", stream.escape_ascii());
            }
            #[cfg(feature = "alloc")]
            assert_eq!(run(Vec::new(), limit, stream, size, eager), expected);
        }
    }
}

const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

/// ST-21.
#[test]
fn lines_end_in_lf_or_crlf_or_with_the_stream() {
    let notice = r#"{"jsonrpc":"2.0","method":"a"}"#;
    for end in ["\n", "\r\n", ""] {
        let stream = format!("{PING}\n{notice}\r\n{PING}{end}");
        check(
            1024,
            stream.as_bytes(),
            &["request 1", "notification a", "request 1"],
        );
    }
}

#[test]
fn blank_lines_and_a_first_byte_order_mark_are_skipped() {
    check(1024, b"", &[]);
    check(1024, b"\n\r\n \t \n\n", &[]);
    check(1024, b"  ", &[]);
    check(
        1024,
        format!("\n \n{PING}\n\t\n").as_bytes(),
        &["request 1"],
    );
    check(1024, format!("\u{FEFF}{PING}\n").as_bytes(), &["request 1"]);
    check(
        1024,
        format!("\u{FEFF}\n{PING}\n").as_bytes(),
        &["request 1"],
    );
    check(1024, "\u{FEFF}".as_bytes(), &[]);
    check(
        1024,
        format!("{PING}\n\u{FEFF}{PING}\n").as_bytes(),
        &["request 1", "json 1"],
    );
    check(1024, format!("\n\u{FEFF}{PING}\n").as_bytes(), &["json 1"]);
}

#[test]
fn a_bad_line_is_one_report_and_the_next_is_read() {
    check(
        1024,
        format!("hello\n{{\"id\":7,\n\"}}\n\u{1}\n{PING}\n\x00").as_bytes(),
        &["json", "json 7", "json", "json", "request 1", "json"],
    );
}

#[test]
fn a_line_over_the_limit_is_reported_with_its_id_and_skipped() {
    let long = "x".repeat(100);
    let stream = format!(
        concat!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"a","params":{{"a":"{long}"}}}}"#,
            "\n{PING}\n",
            r#"{{"jsonrpc":"2.0","method":"a","params":{{"a":"{long}","id":4}},"id":"two"}}"#,
            "\r\n",
            r#"[{{"jsonrpc":"2.0","id":3,"method":"a","params":{{"a":"{long}"}}}}]"#,
            "\n{PING}",
        ),
        PING = PING,
        long = long,
    );
    let expected = [
        "TooLong 1",
        "request 1",
        r#"TooLong "two""#,
        "TooLong",
        "request 1",
    ];
    for limit in [PING.len(), PING.len() + 1, 64, 100] {
        check(limit, stream.as_bytes(), &expected);
    }
    let open = format!("{PING}\n{long}{long}");
    check(64, open.as_bytes(), &["request 1", "TooLong"]);
    for mark in ["", "\u{FEFF}"] {
        let blank = format!("{mark}{}\n{PING}\n", " ".repeat(200));
        check(64, blank.as_bytes(), &["request 1"]);
    }
}

#[test]
fn the_limit_is_exact() {
    for end in ["\n", "\r\n", ""] {
        for mark in ["", "\u{FEFF}"] {
            let stream = format!("{mark}{PING}{end}");
            check(PING.len(), stream.as_bytes(), &["request 1"]);
            check(PING.len() - 1, stream.as_bytes(), &["TooLong 1"]);
        }
    }
}

#[test]
fn many_lines_over_the_limit_need_no_stack() {
    let stream = " ".repeat(9).as_bytes().to_vec();
    let mut lines = Vec::new();
    for _ in 0..100_000 {
        lines.extend_from_slice(&stream);
        lines.push(b'\n');
    }
    assert_eq!(
        run(
            std::vec![0; lines.len()].as_mut_slice(),
            4,
            &lines,
            lines.len(),
            true
        ),
        [""; 0]
    );
}

/// Without either feature no id is searched for.
#[cfg(any(feature = "diagnostics", feature = "alloc"))]
#[test]
fn an_id_that_is_too_long_to_echo_is_none() {
    for (len, found) in [
        (ID_ECHO - 2, true),
        (ID_ECHO - 1, false),
        (4 * ID_ECHO, false),
    ] {
        let id = "i".repeat(len);
        let padding = "p".repeat(5 * ID_ECHO);
        let stream = format!("{{\"id\":\"{id}\",\"method\":\"a\",\"params\":\"{padding}\"}}\n");
        let expected = if found {
            format!("TooLong \"{id}\"")
        } else {
            String::from("TooLong")
        };
        check(4 * ID_ECHO, stream.as_bytes(), &[&expected]);
    }
}

#[test]
fn an_array_is_its_elements_between_brackets() {
    let stream = format!(
        concat!(
            r#"[{PING},{{"jsonrpc":"2.0","method":"a"}}, 5 , [],{{"id":2}} ]"#,
            "\r\n",
            " [\t{PING}]\n",
            "[]\n[ ]\n[{PING},]\n[{PING}\n",
            "[1,2]x\n{PING}\n[{PING}]",
        ),
        PING = PING,
    );
    check(
        1024,
        stream.as_bytes(),
        &[
            "[",
            "request 1",
            "notification a",
            "NotObject",
            "NotObject",
            "Version 2",
            "]",
            "[",
            "request 1",
            "]",
            "EmptyBatch",
            "EmptyBatch",
            "json",
            "json",
            "json",
            "request 1",
            "[",
            "request 1",
            "]",
        ],
    );
    check(
        1024,
        format!("\u{FEFF}[{PING}]\n").as_bytes(),
        &["[", "request 1", "]"],
    );
}

#[test]
fn bytes_may_arrive_in_the_middle_of_an_array() {
    let mut inbox = Inbox::new([0; 64], &Limits::default());
    let stream = b"[1,2,3]\n{}\n";
    let mut rest = stream.as_slice();
    let mut log = Vec::new();
    while log.len() < 6 {
        if let (Some(spare), [byte, behind @ ..]) = (inbox.spare_mut(), rest) {
            spare[0] = *byte;
            inbox.filled(1);
            rest = behind;
        }
        log.extend(inbox.next_message().map(told));
    }
    assert_eq!(
        log,
        ["[", "NotObject", "NotObject", "NotObject", "]", "Version"]
    );
}

#[test]
fn a_full_inbox_has_no_spare_until_something_is_read() {
    let stream = b"{}\n{}\n{}";
    let mut inbox = Inbox::new([0; 8], &Limits::default());
    inbox.spare_mut().unwrap().copy_from_slice(stream);
    inbox.filled(8);
    assert!(inbox.spare_mut().is_none());
    assert!(!inbox.is_empty());
    assert!(inbox.next_message().is_some());
    assert!(
        inbox.spare_mut().is_none(),
        "moving five bytes for three would not pay"
    );
    assert!(inbox.next_message().is_some());
    assert_eq!(inbox.spare_mut().map(|spare| spare.len()), Some(6));
}

#[cfg(feature = "alloc")]
#[test]
fn growing_stops_at_the_limit() {
    let limits = Limits {
        message: 3000,
        ..Limits::default()
    };
    let mut inbox = Inbox::new(Vec::new(), &limits);
    assert_eq!(inbox.capacity(), 0);
    for _ in 0..1_000 {
        let spare = inbox.spare_mut().unwrap();
        spare.fill(b'x');
        let count = spare.len();
        inbox.filled(count);
        assert!(inbox.next_message().is_none());
        assert!(inbox.capacity() <= 3000 + line::OVERHEAD);
    }
}

#[cfg(feature = "alloc")]
#[test]
fn widening_keeps_what_is_there_and_stops_at_the_limit() {
    let limits = Limits {
        message: 3000,
        ..Limits::default()
    };
    let mut inbox = Inbox::new(Vec::new(), &limits);
    let line = b"{\"jsonrpc\":\"2.0\",\"method\":\"a\"}\n{\"jsonrpc\"";
    inbox.spare_mut().unwrap()[..line.len()].copy_from_slice(line);
    inbox.filled(line.len());
    assert!(inbox.widen());
    assert_eq!(inbox.capacity(), 2048);
    assert_eq!(told(inbox.next_message().unwrap()), "notification a");
    while inbox.widen() {}
    assert_eq!(inbox.capacity(), 3000 + line::OVERHEAD);
    let rest = b":\"2.0\",\"method\":\"b\"}\n";
    inbox.spare_mut().unwrap()[..rest.len()].copy_from_slice(rest);
    inbox.filled(rest.len());
    assert_eq!(told(inbox.next_message().unwrap()), "notification b");
    assert!(!Inbox::new([0; 8], &limits).widen());
}

#[test]
#[cfg_attr(debug_assertions, should_panic(expected = "more than the spare bytes"))]
fn no_more_is_filled_than_is_spare() {
    let mut inbox = Inbox::new([0; 8], &Limits::default());
    inbox.filled(9);
    assert!(inbox.next_message().is_none());
}
