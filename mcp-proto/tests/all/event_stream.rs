//! The event stream's decoder against a naive twin, in every cut; and the writer against the
//! decoder.
#![cfg(feature = "alloc")]

use core::time::Duration;

use mcp_proto::frame::sse::{self, EventHead, Events, Piece};
use mcp_proto::{BufferFull, Limits, Store};

type Write = dyn Fn(&mut [u8]) -> Result<usize, BufferFull>;

/// What a stream says: (name, data, last id) of each event, and the last `retry`.
#[derive(Debug, Default, PartialEq)]
struct Heard {
    events: Vec<(String, String, String)>,
    id: String,
    retry: Option<u64>,
}

/// The HTML standard's words as they stand, on the whole stream.
fn naive(stream: &[u8]) -> Heard {
    let text = String::from_utf8_lossy(stream).into_owned();
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let (mut heard, mut data, mut name, mut id) = (
        Heard::default(),
        None::<String>,
        String::new(),
        String::new(),
    );
    let complete = text.rfind('\n').map_or("", |end| &text[..end]);
    for line in complete
        .split('\n')
        .take(if text.contains('\n') { usize::MAX } else { 0 })
    {
        if line.is_empty() {
            heard.id.clone_from(&id);
            if let Some(data) = data.take() {
                let name = if name.is_empty() { "message" } else { &name };
                heard.events.push((name.to_owned(), data, id.clone()));
            }
            name.clear();
            continue;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => match &mut data {
                Some(data) => *data = format!("{data}\n{value}"),
                none => *none = Some(value.to_owned()),
            },
            "event" => value.clone_into(&mut name),
            "id" if !value.contains('\0') => value.clone_into(&mut id),
            "retry" if value.bytes().all(|byte| byte.is_ascii_digit()) => {
                heard.retry = value.parse().ok().or(heard.retry);
            }
            _ => {}
        }
    }
    heard
}

/// Feeds the chunks, each as one read, as far as the store has room for it.
fn decode<S: Store<u8>>(store: S, limit: usize, chunks: &[&[u8]]) -> (Heard, Vec<String>) {
    let limits = Limits {
        message: limit,
        ..Limits::default()
    };
    let mut events = Events::new(store, [Vec::new(), Vec::new(), Vec::new()], &limits);
    let (mut heard, mut over, mut parts) = (Heard::default(), Vec::new(), Vec::new());
    let mut take = |events: &mut Events<S, Vec<u8>>| {
        let mut found = false;
        while let Some(piece) = events.next_event() {
            found = true;
            match piece {
                Piece::Event(event) => {
                    heard
                        .events
                        .push((text(event.name), text(event.data), text(event.id)));
                }
                Piece::Part(part) => parts.extend_from_slice(part),
                Piece::End => over.push(text(&core::mem::take(&mut parts))),
            }
        }
        found
    };
    for chunk in chunks {
        let mut chunk = *chunk;
        while !chunk.is_empty() {
            let Some(spare) = events.spare_mut() else {
                // What was read may have been nothing but comments: then there is room now.
                assert!(take(&mut events) || events.spare_mut().is_some() || take(&mut events));
                continue;
            };
            let count = spare.len().min(chunk.len());
            spare[..count].copy_from_slice(&chunk[..count]);
            events.filled(count);
            chunk = &chunk[count..];
        }
        take(&mut events);
    }
    heard.id = text(events.last_event_id());
    heard.retry = events.retry().map(|delay| delay.as_millis() as u64);
    (heard, over)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn check(stream: &[u8]) {
    let expected = naive(stream);
    let bytes: Vec<_> = stream.chunks(1).collect();
    let mut ways = vec![vec![stream], bytes];
    ways.extend((1..stream.len()).map(|at| vec![&stream[..at], &stream[at..]]));
    for chunks in ways {
        let heard = decode(Vec::new(), 1 << 20, &chunks);
        assert_eq!(
            heard,
            (expected_clone(&expected), Vec::new()),
            "{:?} as {chunks:?}",
            text(stream)
        );
        let heard = decode([0; 64], 1 << 20, &chunks);
        assert_eq!(
            heard.0,
            expected,
            "{:?} as {chunks:?} in 64 bytes",
            text(stream)
        );
    }
}

fn expected_clone(heard: &Heard) -> Heard {
    Heard {
        events: heard.events.clone(),
        id: heard.id.clone(),
        retry: heard.retry,
    }
}

/// SSE-02, SSE-03, SSE-04, SSE-05, SSE-06.
#[test]
fn the_standards_cases() {
    check(b"data: YHOO\ndata: +2\ndata: 10\n\n");
    check(b": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\ndata:  third event\n\n");
    check(b"data\n\ndata\ndata\n\ndata:");
    check(b"data:test\n\ndata: test\n\n");
    check("\u{feff}data: one\r\n\r\n\u{feff}data: two\r\rdata: three\n\n".as_bytes());
    check(b"event: endpoint\ndata: /messages?c=8f0c\n\nevent: message\ndata: {}\n\n");
    check(b"id: s1-0\ndata:\n\nid: s1-1\ndata: {}\n\nretry: 3000\n\nretry: 12x\nretry:\nretry: 7\nid: a\0b\n\n");
    check(b"id: kept\nevent: x\ndata: 1\nid: last\ndata: 2\nevent: y\ndata\n\nid\ndata: gone\n");
    check(b"datax: no\n data: no\nDATA: no\ndata : no\nid: 5\n\ndata: \xf0\x9f\x98\x80\xff\n\n");
}

/// Every short stream over what matters to the decoder. SSE-02, SSE-03, SSE-04, SSE-10.
#[test]
fn every_short_stream() {
    const TOKENS: [&str; 9] = ["data", "id", ":", " ", "\n", "\r", "x", "event", "\u{feff}"];
    for length in 1..=5usize {
        let mut digits = vec![0; length];
        loop {
            let stream: String = digits.iter().map(|digit| TOKENS[*digit]).collect();
            let expected = naive(stream.as_bytes());
            let bytes: Vec<_> = stream.as_bytes().chunks(1).collect();
            assert_eq!(
                decode(Vec::new(), 1 << 20, &[stream.as_bytes()]).0,
                expected,
                "{stream:?}"
            );
            assert_eq!(
                decode([0; 32], 1 << 20, &bytes).0,
                expected,
                "{stream:?} by bytes"
            );
            let Some(at) = digits.iter().rposition(|digit| *digit + 1 < TOKENS.len()) else {
                break;
            };
            digits[at] += 1;
            digits[at + 1..].fill(0);
        }
    }
}

#[test]
fn long_streams_in_every_cut() {
    let mut seed = 0x2545_f491_4f6c_dd1du64;
    let mut random = |below: usize| {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        (seed % below as u64) as usize
    };
    const LINES: [&str; 12] = [
        "data: {\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
        "data",
        "data:x",
        "id: 7-1",
        "id",
        "event: message",
        "event: other",
        ": keep",
        "retry: 250",
        "",
        "",
        "unknown: y",
    ];
    const ENDS: [&str; 3] = ["\n", "\r\n", "\r"];
    for _ in 0..400 {
        let stream: String = (0..random(12))
            .map(|_| format!("{}{}", LINES[random(LINES.len())], ENDS[random(ENDS.len())]))
            .collect();
        let expected = naive(stream.as_bytes());
        let bytes: Vec<_> = stream.as_bytes().chunks(1 + random(9)).collect();
        for chunks in [vec![stream.as_bytes()], bytes] {
            assert_eq!(
                decode(Vec::new(), 1 << 20, &chunks).0,
                expected,
                "{stream:?}"
            );
        }
    }
}

/// An event over the limit passes in parts, whatever the cut and the store, and the next one is
/// read as if nothing had happened.
#[test]
fn an_event_over_the_limit_passes_in_parts() {
    let long = "y".repeat(200);
    let streams = [
        (format!("data: {long}\n\n"), long.clone()),
        (
            format!("data: ab\ndata: {long}\nid: 3\n\n"),
            format!("ab{long}"),
        ),
        (
            format!("id: 3\ndata: {long}\ndata: ab\ndata: cd\n\n"),
            format!("{long}abcd"),
        ),
        (
            format!("data: {}\n\n", "data: x".repeat(30)),
            "data: x".repeat(30),
        ),
    ];
    for (over, data) in streams {
        let stream = format!("data: before\n\n{over}id: 4\ndata: after\n\n");
        for size in [1, 2, 7, 1000] {
            let chunks: Vec<_> = stream.as_bytes().chunks(size).collect();
            for (heard, parts) in [
                decode(Vec::new(), 100, &chunks),
                decode([0; 48], 1 << 20, &chunks),
            ] {
                let events: Vec<_> = heard.events.iter().map(|event| event.1.as_str()).collect();
                assert_eq!(events, ["before", "after"], "{stream:?} by {size}");
                assert_eq!(parts, core::slice::from_ref(&data), "{stream:?} by {size}");
                assert_eq!(heard.id, "4");
            }
        }
    }
}

/// What is not kept needs no room: comments, unknown fields and endless ids.
#[test]
fn what_nobody_needs_takes_no_memory() {
    for field in [": ", "unknown: ", "id: ", "event: "] {
        let stream = format!(
            "id: 1\ndata: a\n\n{field}{}\ndata: b\n\n",
            "z".repeat(100_000)
        );
        for size in [3, 1000] {
            let chunks: Vec<_> = stream.as_bytes().chunks(size).collect();
            let (heard, over) = decode([0; 64], 1 << 20, &chunks);
            let event = |data: &str| ("message".to_owned(), data.to_owned(), "1".to_owned());
            assert_eq!(heard.events, [event("a"), event("b")], "{field}");
            assert!(over.is_empty());
        }
    }
}

#[test]
fn what_is_written_is_read() {
    let mut out = vec![0; 256];
    let mut stream = Vec::new();
    for head in [
        EventHead::default(),
        EventHead {
            name: Some("endpoint"),
            id: Some("3\n-7\0"),
        },
    ] {
        let (before, message) = sse::narrow(&mut out, head).unwrap();
        message[..5].copy_from_slice(b"[1,2]");
        let len = sse::end(&mut out, before + 5);
        stream.extend_from_slice(&out[..len]);
        for short in 0..len {
            match sse::narrow(&mut out[..short], head) {
                Ok((_, message)) => assert!(message.len() < 5, "{short}"),
                Err(BufferFull { needed }) => {
                    assert!(needed > short && needed <= len, "{short}: {needed}");
                }
            }
        }
    }
    let writers: [&Write; 3] = [
        &|out| sse::comment(out, "alive"),
        &|out| sse::priming(out, "3-8"),
        &|out| sse::retry(out, Duration::from_millis(1_500)),
    ];
    for write in writers {
        let len = write(&mut out).unwrap();
        stream.extend_from_slice(&out[..len]);
        for short in 0..len {
            assert_eq!(write(&mut out[..short]), Err(BufferFull { needed: len }));
        }
        assert_eq!(write(&mut out[..len]), Ok(len));
    }
    let event =
        |name: &str, data: &str, id: &str| (name.to_owned(), data.to_owned(), id.to_owned());
    let (heard, _) = decode(Vec::new(), 1 << 20, &[&stream]);
    let expected = [
        event("message", "[1,2]", ""),
        event("endpoint", "[1,2]", "3-7"),
        event("message", "", "3-8"),
    ];
    assert_eq!(heard.events, expected);
    assert_eq!(heard.retry, Some(1_500));
}
