//! Streams whose events a store keeps.

use mcp_proto::Channel;
use mcp_proto::http::Refusal;
use mcp_proto::server::http::streams::{StreamRead, Streams};

use super::{check, post, session};

/// The events that have to go to the store, as `stream-number:message`, `.` behind it if that is the end.
fn appends(streams: &mut Streams) -> String {
    let mut text = String::new();
    while let Some(append) = streams.poll_append() {
        let message = core::str::from_utf8(append.message).unwrap();
        let end = if append.end { "." } else { "" };
        let (stream, number) = (append.channel.number(), append.sequence);
        text += &format!("{stream}-{number}:{message}{end} ");
    }
    text
}

#[test]
fn a_reader_stops_at_what_is_not_settled() {
    let mut s = session().stored();
    let reader = s.open().unwrap();
    let on = reader.channel();
    s.prime(on);
    check(&mut s, &reader, "id: 1-0\ndata:\n\n", StreamRead::Pending);
    for message in ["a", "b", "c"] {
        s.push(on, message.as_bytes(), None, message == "c");
    }
    assert_eq!(appends(&mut s), "1-1:a 1-2:b 1-3:c. ");
    assert_eq!(appends(&mut s), "");
    s.settle(on, 2);
    check(&mut s, &reader, "", StreamRead::Pending);
    s.settle(on, 1);
    check(
        &mut s,
        &reader,
        "id: 1-1\ndata: a\n\nid: 1-2\ndata: b\n\n",
        StreamRead::Pending,
    );
    s.settle(on, 3);
    s.settle(on, 4);
    check(&mut s, &reader, "id: 1-3\ndata: c\n\n", StreamRead::End);
}

#[test]
fn readers_that_are_interrupted_end_where_the_store_does() {
    let mut s = session().stored();
    let own = s.listen();
    let reader = s.open().unwrap();
    let on = reader.channel();
    s.prime(on);
    for message in ["a", "b"] {
        s.push(on, message.as_bytes(), None, message == "b");
    }
    s.settle(on, 1);
    let mut interrupted = Vec::new();
    s.interrupt_readers(|channel| interrupted.push(channel.number()));
    assert_eq!(interrupted, [0, 1]);
    check(&mut s, &own, "", StreamRead::End);
    let seen = "id: 1-0\ndata:\n\nid: 1-1\ndata: a\n\n";
    check(&mut s, &reader, seen, StreamRead::End);
    assert!(!s.has_readers());
    let reader = s.resume(b"1-1").unwrap();
    check(&mut s, &reader, "", StreamRead::Pending);
    s.settle(on, 2);
    check(&mut s, &reader, "id: 1-2\ndata: b\n\n", StreamRead::End);
    // A reader without an id cannot come back: it waits until there is something that is not taken.
    let unknown = post(&mut s, &[]);
    s.interrupt_readers(|channel| interrupted.push(channel.number()));
    assert_eq!(interrupted, [0, 1]);
    s.push(unknown.channel(), b"a", None, false);
    s.push(unknown.channel(), b"b", None, false);
    s.interrupt_readers(|_| {});
    check(&mut s, &unknown, "", StreamRead::End);
    assert!(s.resume(b"2-0").is_err() && appends(&mut s).starts_with("1-"));
}

#[test]
fn a_store_gets_what_can_be_replayed_and_no_more() {
    let mut s = session().stored();
    let single = post(&mut s, &["{}"]);
    assert_eq!(appends(&mut s), "", "it may be a JSON answer");
    assert!(s.single(&single).is_some());
    let read = post(&mut s, &["a", "b"]);
    check(&mut s, &read, "", StreamRead::Pending);
    assert_eq!(appends(&mut s), "2-1:a 2-2:b. ");
    let open = s.open().unwrap();
    s.prime(open.channel());
    s.push(open.channel(), b"", None, true);
    assert_eq!(appends(&mut s), "3-1:. ", "the end alone");
    s.push(Channel::PIPE, b"n", None, false);
    assert_eq!(appends(&mut s), "0-1:n ");
}

#[test]
fn priming_waits_for_no_store() {
    let mut s = session().stored();
    let reader = s.open().unwrap();
    let on = reader.channel();
    s.push(on, b"a", None, false);
    s.push(on, b"b", None, true);
    assert_eq!(s.prime(on), Some(0));
    assert_eq!(s.prime(on), None);
    check(&mut s, &reader, "id: 1-0\ndata:\n\n", StreamRead::Pending);
    assert_eq!(appends(&mut s), "1-1:a 1-2:b. ");
    s.settle(on, 1);
    s.settle(on, 2);
    check(
        &mut s,
        &reader,
        "id: 1-1\ndata: a\n\nid: 1-2\ndata: b\n\n",
        StreamRead::End,
    );
}

#[test]
fn a_session_goes_on_in_another_process() {
    let mut s = session().stored();
    s.number_from(1 << 20);
    s.number_from(5);
    assert!(s.restore(Channel::PIPE, 4, [], false));
    assert_eq!(s.push(Channel::PIPE, b"4", None, false), Some(4));
    s.settle(Channel::PIPE, 4);
    assert_eq!(s.resume(b"0-1"), Err(Refusal::EventGone));
    assert!(
        !s.restore(Channel::PIPE, 2, [b"2".as_slice()], false),
        "3 is missing"
    );
    assert_eq!(s.resume(b"0-1"), Err(Refusal::EventGone));
    let events = [b"2".as_slice(), b"3", b"4 again"];
    assert!(
        s.restore(Channel::PIPE, 2, events, false),
        "what is known is not replaced"
    );
    let reader = s.resume(b"0-1").unwrap();
    let expected = "id: 0-2\ndata: 2\n\nid: 0-3\ndata: 3\n\nid: 0-4\ndata: 4\n\n";
    check(&mut s, &reader, expected, StreamRead::Pending);

    assert!(s.restore(Channel::new(9), 3, [b"3".as_slice()], true));
    let reader = s.resume(b"9-2").unwrap();
    check(&mut s, &reader, "id: 9-3\ndata: 3\n\n", StreamRead::End);
    assert_eq!(s.open().unwrap().channel().number(), 1 << 20);
}
