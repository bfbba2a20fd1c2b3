//! The streams of a session, told as scripts.
#![cfg(feature = "alloc")]

mod stored;

use core::time::Duration;

use mcp_proto::http::{PostStatus, Refusal};
use mcp_proto::rpc::{Incoming, Message, OwnedMessages};
use mcp_proto::server::http::streams::{
    Delivery, StreamLimits, StreamRead, StreamReader, StreamResponse, Streams,
};
use mcp_proto::{Channel, Outgoing as _, Transmit};

fn session() -> Streams {
    Streams::new(Delivery::Resumable, StreamLimits::default())
}

fn limited(events: usize, bytes: usize) -> Streams {
    let limits = StreamLimits {
        streams: 2,
        events,
        bytes,
        unread: 8,
    };
    Streams::new(Delivery::Resumable, limits)
}

/// Reads all that there is, and compares it and the state of the rest.
fn check(streams: &mut Streams, reader: &StreamReader, expected: &str, then: StreamRead) {
    let mut out = Vec::new();
    let read = streams.read(reader, &mut out, 1 << 20);
    assert_eq!(
        (core::str::from_utf8(&out).unwrap(), read),
        (expected, then)
    );
}

fn post(streams: &mut Streams, messages: &[&str]) -> StreamReader {
    let reader = streams.open().unwrap();
    for (index, message) in messages.iter().enumerate() {
        let last = index + 1 == messages.len();
        streams.push(reader.channel(), message.as_bytes(), None, last);
    }
    reader
}

/// The status of a body of one message with this verdict.
fn verdict(verdict: Option<u16>) -> PostStatus {
    let mut status = PostStatus::default();
    status.note(&Incoming::Message(Message::parse(b"{}", 8)), verdict);
    status
}

/// SH-09.
#[test]
fn an_array_is_answered_by_an_array_or_by_events() {
    let mut status = PostStatus::default();
    status.note(&Incoming::BatchStart, None);
    for (answer, is_body) in [("[{}]", true), ("{}", false)] {
        let mut s = session();
        let reader = post(&mut s, &[answer]);
        s.handled(reader.channel(), status);
        let body = StreamResponse::Message {
            status: 200,
            is_error: false,
            message: answer.into(),
        };
        let expected = if is_body {
            body
        } else {
            StreamResponse::Events
        };
        assert_eq!(s.response(&reader, false), expected);
    }
}

#[test]
fn responses_are_decided() {
    let once = || Streams::new(Delivery::Once, StreamLimits::default());
    let message = |status, text: &str| StreamResponse::Message {
        status,
        is_error: false,
        message: text.into(),
    };

    // Until the machine has had its messages, nothing is said of a POST.
    for mut s in [session(), once()] {
        let reader = post(&mut s, &["{}"]);
        assert_eq!(s.response(&reader, true), StreamResponse::Pending);
        s.handled(reader.channel(), verdict(None));
        assert_eq!(s.response(&reader, false), message(200, "{}"));

        let reader = s.open().unwrap();
        s.handled(reader.channel(), verdict(Some(202)));
        assert_eq!(s.response(&reader, false), StreamResponse::Status(202));
        let reader = s.open().unwrap();
        s.refuse(reader.channel(), Refusal::Path);
        let refused = StreamResponse::Refused(Refusal::Path);
        assert_eq!(s.response(&reader, false), refused);
        assert!(!s.has_readers());

        // What runs when the conversation ends has no response.
        let reader = s.open().unwrap();
        s.finish();
        assert_eq!(s.response(&reader, false), StreamResponse::Nothing);
    }

    // In a session what is not there at once is a stream; otherwise the first message decides, or silence.
    let mut s = session();
    let reader = s.open().unwrap();
    s.handled(reader.channel(), verdict(None));
    assert_eq!(s.response(&reader, false), StreamResponse::Events);
    let mut s = once();
    let reader = s.open().unwrap();
    s.handled(reader.channel(), verdict(None));
    assert_eq!(s.response(&reader, false), StreamResponse::Pending);
    assert_eq!(s.response(&reader, true), StreamResponse::Events);
    s.push(reader.channel(), b"1", None, false);
    assert_eq!(s.response(&reader, false), StreamResponse::Events);

    // The machine says whether it is an error.
    let mut s = once();
    let reader = s.open().unwrap();
    s.handled(reader.channel(), verdict(None));
    let mut error = Transmit::pipe(2);
    (error.channel, error.end) = (reader.channel(), true);
    (error.status, error.is_error) = (403, true);
    assert_eq!(s.take(error, None, b"{}"), None);
    let expected = StreamResponse::Message {
        status: 403,
        is_error: true,
        message: b"{}".into(),
    };
    assert_eq!(s.response(&reader, false), expected);

    // All that was asked for was cancelled.
    let mut s = once();
    let reader = s.open().unwrap();
    s.handled(reader.channel(), verdict(None));
    s.push(reader.channel(), b"", None, true);
    assert_eq!(s.response(&reader, false), StreamResponse::Status(202));
}

#[test]
fn a_replaced_reader_has_no_events() {
    let mut s = session();
    let first = s.open().unwrap();
    let second = s.resume(b"1-0").unwrap();
    s.handled(first.channel(), verdict(None));
    assert_eq!(s.response(&first, false), StreamResponse::Events);
    check(&mut s, &first, "retry: 5000\n\n", StreamRead::End);
    s.push(first.channel(), b"{}", None, true);
    check(&mut s, &second, "id: 1-1\ndata: {}\n\n", StreamRead::End);
}

#[test]
fn a_request_without_a_session_has_one_response() {
    let mut s = Streams::new(Delivery::Once, StreamLimits::default());
    let reader = s.open().unwrap();
    s.push(Channel::PIPE, b"1", None, false);
    assert_eq!(s.unread(Channel::PIPE), 1);
    s.push(reader.channel(), b"2", None, true);
    check(&mut s, &reader, "data: 1\n\ndata: 2\n\n", StreamRead::End);
}

#[test]
fn the_answer_to_a_request_without_a_session_may_be_an_event() {
    let mut array = PostStatus::default();
    array.note(&Incoming::BatchStart, None);
    for status in [None, Some(array)] {
        let mut s = Streams::new(Delivery::Once, StreamLimits::default());
        let reader = s.open().unwrap();
        let mut last = Transmit::pipe(2);
        (last.channel, last.end) = (reader.channel(), true);
        assert_eq!(s.take(last, None, b"{}"), None);
        // Nothing follows the last message.
        assert_eq!(s.push(reader.channel(), b"1", None, false), None);
        if let Some(status) = status {
            s.handled(reader.channel(), status);
            assert_eq!(s.response(&reader, false), StreamResponse::Events);
        }
        let mut out = Vec::new();
        assert_eq!(s.read(&reader, &mut out, 1), StreamRead::More);
        assert_eq!(out, b"data: {");
        assert_eq!(s.single(&reader), None);
        check(&mut s, &reader, "}\n\n", StreamRead::End);
    }
}

#[test]
fn a_short_answer_is_no_stream() {
    let mut s = session();
    let reader = post(&mut s, &["{\"id\":1}"]);
    assert_eq!(s.single(&reader).unwrap(), b"{\"id\":1}");
    check(&mut s, &reader, "", StreamRead::End);

    let reader = s.open().unwrap();
    s.push(reader.channel(), b"{}", None, false);
    assert_eq!(s.single(&reader), None, "more may come");
    s.push(reader.channel(), b"", None, true);
    assert_eq!(s.single(&reader).unwrap(), b"{}");

    let two = post(&mut s, &["1", "2"]);
    assert_eq!(s.single(&two), None);
    check(
        &mut s,
        &two,
        "id: 3-1\ndata: 1\n\nid: 3-2\ndata: 2\n\n",
        StreamRead::End,
    );

    let begun = post(&mut s, &["1"]);
    let mut out = Vec::new();
    assert_eq!(s.read(&begun, &mut out, 1), StreamRead::End);
    assert_eq!(s.single(&begun), None);
}

/// SSE-01, SSE-09, HS-04.
#[test]
fn each_delivery_has_its_events() {
    for (delivery, expected) in [
        (Delivery::Resumable, "id: 1-1\ndata: {}\n\n"),
        (Delivery::Once, "data: {}\n\n"),
        (Delivery::HttpSse, "event: message\ndata: {}\n\n"),
    ] {
        let mut s = Streams::new(delivery, StreamLimits::default());
        let reader = s.open().unwrap();
        s.push(reader.channel(), b"{}", None, false);
        check(&mut s, &reader, expected, StreamRead::Pending);
        s.push(reader.channel(), b"", None, true);
        check(&mut s, &reader, "", StreamRead::End);
        let again = s.resume(b"1-1");
        if delivery != Delivery::Resumable {
            assert_eq!(s.prime(Channel::PIPE), None);
            assert!(!s.disconnect(Channel::PIPE, None));
            assert_eq!(again, Err(Refusal::EventUnknown));
        }
    }
}

/// SH-24, SH-25, SH-26, SH-53.
#[test]
fn an_event_id_has_to_be_one_that_was_given() {
    let mut s = session();
    let reader = post(&mut s, &["1", "2"]);
    check(
        &mut s,
        &reader,
        "id: 1-1\ndata: 1\n\nid: 1-2\ndata: 2\n\n",
        StreamRead::End,
    );
    for unknown in ["", "1", "1-3", "2-1", "0-0", "x", "1-1 ", "01-1"] {
        let refused = s.resume(unknown.as_bytes()).unwrap_err();
        assert_eq!(
            (refused, refused.status()),
            (Refusal::EventUnknown, 400),
            "{unknown}"
        );
    }
    let reader = s.resume(b"1-1").unwrap();
    check(&mut s, &reader, "id: 1-2\ndata: 2\n\n", StreamRead::End);
}

/// SH-26.
#[test]
fn a_stream_that_ended_with_this_event_is_not_resumed() {
    let mut s = session();
    let reader = post(&mut s, &["1", "2"]);
    let first = s.resume(b"1-1").unwrap();
    check(&mut s, &reader, "retry: 5000\n\n", StreamRead::End);
    let refused = s.resume(b"1-2").unwrap_err();
    assert_eq!((refused, refused.status()), (Refusal::StreamEnded, 405));
    // The reader that is there stays.
    check(&mut s, &first, "id: 1-2\ndata: 2\n\n", StreamRead::End);
    assert_eq!(s.resume(b"1-2"), Err(Refusal::StreamEnded));

    // A cancelled call's stream ends without a message.
    let reader = s.open().unwrap();
    s.prime(reader.channel());
    check(&mut s, &reader, "id: 2-0\ndata:\n\n", StreamRead::Pending);
    s.push(reader.channel(), b"", None, true);
    check(&mut s, &reader, "", StreamRead::End);
    assert_eq!(s.resume(b"2-0"), Err(Refusal::StreamEnded));
}

#[test]
fn a_stream_that_is_resumed_gives_an_id_of_its_own() {
    let mut s = session();
    let reader = s.open().unwrap();
    let on = reader.channel();
    s.prime(on);
    check(&mut s, &reader, "id: 1-0\ndata:\n\n", StreamRead::Pending);
    let again = s.resume(b"1-0").unwrap();
    assert_eq!(s.prime(on), Some(1));
    check(&mut s, &again, "id: 1-1\ndata:\n\n", StreamRead::Pending);
    s.push(on, b"", None, true);
    check(&mut s, &again, "", StreamRead::End);
    assert_eq!(s.resume(b"1-1"), Err(Refusal::StreamEnded));
    let older = s.resume(b"1-0").unwrap();
    assert_eq!(s.prime(on), None, "it has ended");
    check(&mut s, &older, "id: 1-1\ndata:\n\n", StreamRead::End);
}

/// SH-12, SSE-11.
#[test]
fn priming_gives_an_id_that_works() {
    let mut s = session();
    let reader = s.open().unwrap();
    assert_eq!(s.prime(reader.channel()), Some(0));
    check(&mut s, &reader, "id: 1-0\ndata:\n\n", StreamRead::Pending);
    s.detach(&reader);
    s.push(reader.channel(), b"{}", None, true);
    let reader = s.resume(b"1-0").unwrap();
    check(&mut s, &reader, "id: 1-1\ndata: {}\n\n", StreamRead::End);

    let first = s.listen();
    s.prime(Channel::PIPE);
    check(&mut s, &first, "id: 0-0\ndata:\n\n", StreamRead::Pending);
    s.push(Channel::PIPE, b"1", None, false);
    check(&mut s, &first, "id: 0-1\ndata: 1\n\n", StreamRead::Pending);
    let second = s.listen();
    assert_eq!(
        s.prime(Channel::PIPE),
        Some(2),
        "an id is never given twice"
    );
    check(&mut s, &second, "id: 0-2\ndata:\n\n", StreamRead::Pending);
    let third = s.listen();
    s.push(Channel::PIPE, b"2", None, false);
    assert_eq!(s.prime(Channel::PIPE), None, "a message has an id already");
    check(&mut s, &third, "id: 0-3\ndata: 2\n\n", StreamRead::Pending);
}

#[test]
fn the_later_reader_wins() {
    let mut s = session();
    let first = s.listen();
    s.push(Channel::PIPE, b"1", None, false);
    let second = s.listen();
    // It does not come back at once, or it would displace the other in turn.
    check(&mut s, &first, "retry: 5000\n\n", StreamRead::End);
    check(&mut s, &first, "", StreamRead::End);
    s.detach(&first);
    assert!(
        s.is_read(Channel::PIPE),
        "an earlier reader's end is nobody's"
    );
    check(&mut s, &second, "id: 0-1\ndata: 1\n\n", StreamRead::Pending);
    let third = s.resume(b"0-1").unwrap();
    check(&mut s, &second, "retry: 5000\n\n", StreamRead::End);
    check(&mut s, &third, "", StreamRead::Pending);
    s.detach(&third);
    assert!(!s.has_readers());
}

/// Whatever follows the half of an event would become a part of it.
#[test]
fn a_reader_that_is_displaced_within_an_event_just_ends() {
    let mut s = session();
    let first = s.listen();
    s.push(Channel::PIPE, b"12345678", None, false);
    let mut out = Vec::new();
    assert_eq!(s.read(&first, &mut out, 4), StreamRead::More);
    assert_eq!(out, b"id: 0-1\ndata: 1234");
    let second = s.listen();
    check(&mut s, &first, "", StreamRead::End);
    let third = s.listen();
    check(&mut s, &first, "", StreamRead::End);
    check(&mut s, &second, "retry: 5000\n\n", StreamRead::End);
    check(
        &mut s,
        &third,
        "id: 0-1\ndata: 12345678\n\n",
        StreamRead::Pending,
    );
    // One whose place is free again may come back at once.
    s.detach(&third);
    check(&mut s, &third, "", StreamRead::End);
}

/// SH-13.
#[test]
fn polling_ends_a_connection_and_not_its_stream() {
    let mut s = session();
    let reader = s.open().unwrap();
    let on = reader.channel();
    s.push(on, b"1", None, false);
    assert!(s.disconnect(on, Some(Duration::from_millis(500))));
    s.push(on, b"2", None, true);
    check(
        &mut s,
        &reader,
        "id: 1-0\ndata:\n\nid: 1-1\ndata: 1\n\nretry: 500\n\n",
        StreamRead::End,
    );
    assert!(!s.disconnect(on, None), "nobody is connected");
    let reader = s.resume(b"1-1").unwrap();
    check(&mut s, &reader, "id: 1-2\ndata: 2\n\n", StreamRead::End);

    let reader = s.open().unwrap();
    assert!(s.disconnect(reader.channel(), None));
    check(&mut s, &reader, "id: 2-0\ndata:\n\n", StreamRead::End);
    let reader = s.resume(b"2-0").unwrap();
    assert!(s.disconnect(reader.channel(), None));
    check(&mut s, &reader, "", StreamRead::End);
}

#[test]
fn a_stream_without_an_id_has_no_second_reader() {
    let mut s = session();
    let reader = s.open().unwrap();
    s.detach(&reader);
    assert_eq!(s.push(reader.channel(), b"{}", None, true), None);
    assert_eq!(s.resume(b"1-0"), Err(Refusal::EventUnknown));
}

/// SH-53.
#[test]
fn the_oldest_finished_stream_makes_room() {
    let mut s = limited(100, 1000);
    let first = post(&mut s, &["1"]);
    let open = s.open().unwrap();
    let full = Refusal::Unavailable("the session has too many streams");
    assert_eq!(s.open(), Err(full), "none is finished");
    let body = |text: &str| OwnedMessages::parse(text.as_bytes().to_vec(), 8);
    let ping = body(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    let call = body(r#"{"jsonrpc":"2.0","id":1,"method":"tools/call"}"#);
    let brief = [s.open_for(&ping).unwrap(), s.open_for(&ping).unwrap()];
    assert_eq!(s.open_for(&ping), Err(full), "there is an end");
    assert_eq!(s.open_for(&call), Err(full));
    brief.iter().for_each(|reader| s.detach(reader));
    check(&mut s, &first, "id: 1-1\ndata: 1\n\n", StreamRead::End);
    let third = s.open().unwrap();
    assert_eq!(s.resume(b"1-1"), Err(Refusal::EventUnknown));
    s.push(open.channel(), b"2", None, false);
    s.push(third.channel(), b"3", None, false);
    check(&mut s, &open, "id: 2-1\ndata: 2\n\n", StreamRead::Pending);
    check(&mut s, &third, "id: 5-1\ndata: 3\n\n", StreamRead::Pending);
}

/// SH-53.
#[test]
fn what_was_read_is_dropped_first() {
    let mut s = limited(3, 1000);
    let reader = s.listen();
    for n in 1..=3 {
        s.push(Channel::PIPE, b"m", None, false);
        check(
            &mut s,
            &reader,
            &format!("id: 0-{n}\ndata: m\n\n"),
            StreamRead::Pending,
        );
    }
    let slow = post(&mut s, &["1", "2"]);
    assert_eq!(s.resume(b"0-1"), Err(Refusal::EventGone));
    let reader = s.resume(b"0-2").unwrap();
    check(&mut s, &reader, "id: 0-3\ndata: m\n\n", StreamRead::Pending);
    check(
        &mut s,
        &slow,
        "id: 1-1\ndata: 1\n\nid: 1-2\ndata: 2\n\n",
        StreamRead::End,
    );

    let mut s = limited(100, 10);
    let big = post(&mut s, &["a message of more bytes than are kept", "2"]);
    let expected = "id: 1-1\ndata: a message of more bytes than are kept\n\nid: 1-2\ndata: 2\n\n";
    check(&mut s, &big, expected, StreamRead::End);
    assert_eq!(s.resume(b"1-0"), Err(Refusal::EventGone));
    let reader = s.resume(b"1-1").unwrap();
    check(&mut s, &reader, "id: 1-2\ndata: 2\n\n", StreamRead::End);
}

#[test]
fn unread_messages_wait_for_their_reader_and_lose_the_oldest_without() {
    let mut s = limited(3, 1000);
    let reader = s.listen();
    for _ in 0..4 {
        assert!(s.has_room(Channel::PIPE));
        s.push(Channel::PIPE, b"mm", None, false);
    }
    assert!(!s.has_room(Channel::PIPE), "its reader is slow");
    s.detach(&reader);
    assert!(s.has_room(Channel::PIPE), "nobody reads");
    s.push(Channel::PIPE, b"5", None, false);
    let reader = s.listen();
    let expected = "id: 0-3\ndata: mm\n\nid: 0-4\ndata: mm\n\nid: 0-5\ndata: 5\n\n";
    check(&mut s, &reader, expected, StreamRead::Pending);
    assert!(s.has_room(Channel::PIPE));
}

#[test]
fn chunks_cut_events_anywhere() {
    let whole = "id: 1-1\ndata: [1,2,3,4,5,6,7]\n\nid: 1-2\ndata: {}\n\n";
    for max in 0..whole.len() + 2 {
        let mut s = session();
        let reader = post(&mut s, &["[1,2,3,4,5,6,7]", "{}"]);
        let mut all = Vec::new();
        loop {
            let mut chunk = Vec::new();
            let read = s.read(&reader, &mut chunk, max);
            assert!(!chunk.is_empty() || read == StreamRead::End, "{max}");
            all.extend_from_slice(&chunk);
            if read == StreamRead::End {
                break;
            }
        }
        assert_eq!(core::str::from_utf8(&all).unwrap(), whole, "{max}");
    }
}

#[test]
fn a_session_that_is_over_ends_its_readers() {
    let mut s = session();
    let reader = s.listen();
    s.push(Channel::PIPE, b"1", None, false);
    s.finish();
    check(&mut s, &reader, "id: 0-1\ndata: 1\n\n", StreamRead::End);
}

#[test]
fn nothing_is_allocated_before_the_first_message() {
    let used = allocation_counter::measure(|| {
        let streams = session();
        assert!(streams.has_room(Channel::PIPE) && !streams.has_readers());
    });
    assert_eq!(used.count_total, 0);
    assert!(size_of::<Streams>() <= 192, "{}", size_of::<Streams>());
}
