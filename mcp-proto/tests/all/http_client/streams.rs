//! Streams of events, their ends, and what is over a limit.

use super::*;

/// SC-12, SC-13, SC-29, SSE-07, SSE-08.
#[test]
fn streams_and_their_ends() {
    let mut origin = session(Revision::V2025_11_25);
    let open = |origin: &mut Origin| {
        let mut exchange = Exchange::new(origin, &parsed(CALL));
        let body = exchange.head(origin, &head(200, "text/event-stream", ""));
        assert_eq!(body, Body::Events);
        exchange
    };
    // Answered: the end is the end.
    let mut exchange = open(&mut origin);
    let told = r#"{"jsonrpc":"2.0","method":"notifications/message"}"#;
    for (name, data, expected) in [
        ("message", "", None),
        ("other", ANSWER, None),
        ("message", told, Some(told)),
        ("message", ANSWER, Some(ANSWER)),
    ] {
        let heard = hear(&mut exchange, &mut origin, &event(name, data));
        assert_eq!(heard.as_deref(), expected.map(str::as_bytes));
    }
    assert_eq!(
        exchange.end(&origin, NOW, b"", None, 0),
        ExchangeOutcome::Done
    );

    // Broken before the first id.
    let mut exchange = open(&mut origin);
    let after = exchange.end(&origin, NOW, b"", None, 0);
    assert_eq!(after, ExchangeOutcome::Fail(Failure::Broken));

    // An id that no head can carry is none, not even the one before it.
    for id in [&b"e\x01"[..], b"\x7f", b"\x1b[2J", b" e", b"e\t"] {
        let mut exchange = open(&mut origin);
        let after = exchange.end(&origin, NOW, b"e-0", None, 0);
        assert!(matches!(after, ExchangeOutcome::Resume(_)));
        let after = exchange.end(&origin, NOW, id, None, 0);
        assert_eq!(after, ExchangeOutcome::Fail(Failure::Broken), "{id:?}");
    }

    // Closed by the server, which says when to come back.
    let mut exchange = open(&mut origin);
    let retry = Some(Duration::from_millis(500));
    let after = exchange.end(&origin, NOW, b"e-1", retry, u32::MAX);
    assert_eq!(
        after,
        ExchangeOutcome::Resume(NOW + Duration::from_millis(500))
    );
    assert_eq!(exchange.method(), HttpMethod::Get);
    let said = fields(&origin, &exchange, CALL);
    assert!(said.starts_with("accept: text/event-stream\nlast-event-id: e-1\n"));
    assert!(said.contains("mcp-session-id: s-1") && !said.contains("content-type"));
    // Nobody there for a while; what was heard last still counts.
    let after = exchange.unreachable(&origin, NOW, true, 0);
    assert_eq!(after, ExchangeOutcome::Resume(NOW + Duration::from_secs(2)));
    let after = exchange.refused(&mut origin, NOW, 503, b"", &mut Vec::new(), 0);
    assert_eq!(after, ExchangeOutcome::Resume(NOW + Duration::from_secs(4)));
    let body = exchange.head(&mut origin, &head(200, "text/event-stream", ""));
    assert_eq!(body, Body::Events);
    assert!(fields(&origin, &exchange, CALL).contains("last-event-id: e-1"));
    // Trimmed meanwhile.
    let after = exchange.refused(&mut origin, NOW, 400, b"", &mut Vec::new(), 0);
    assert_eq!(after, ExchangeOutcome::Fail(Failure::Broken));
}

/// SC-29.
#[test]
fn attempts_are_bounded() {
    let mut origin = session(Revision::V2025_11_25);
    let mut listen = origin.listen().unwrap();
    let stream = head(200, "text/event-stream", "");
    assert_eq!(listen.head(&mut origin, &stream), Body::Events);
    let attempts = |exchange: &mut Exchange| {
        let mut count = 0;
        while let ExchangeOutcome::Resume(at) = exchange.end(&origin, NOW, b"1", None, 7) {
            assert!(at > NOW);
            count += 1;
        }
        count
    };
    for _ in 0..100 {
        let after = listen.end(&origin, NOW, b"1", None, 7);
        assert!(matches!(after, ExchangeOutcome::Resume(_)));
    }
    let mut call = Exchange::new(&origin, &parsed(CALL));
    assert_eq!(attempts(&mut call), 8);
    let after = call.end(&origin, NOW, b"1", None, 7);
    assert_eq!(after, ExchangeOutcome::Fail(Failure::Broken));
}

/// SSE-10
#[test]
fn whose_an_event_over_the_limit_is() {
    // However it is cut, the first word about it is the only one.
    #[track_caller]
    fn check(own: bool, text: &str, expected: Oversized) {
        for size in [1, 3, 1000] {
            let origin = session(Revision::V2025_11_25);
            let mut exchange = match own {
                true => Exchange::new(&origin, &parsed(CALL)),
                false => origin.listen().unwrap(),
            };
            for _ in 0..2 {
                let parts = text.as_bytes().chunks(size).map(Piece::Part);
                let said: Vec<_> = parts
                    .chain([Piece::End])
                    .map(|piece| exchange.oversized(&origin, &piece))
                    .filter(|said| *said != Oversized::Passing)
                    .collect();
                assert_eq!(said, [expected], "{size} {text}");
            }
            let mut other = session(Revision::V2025_11_25);
            let after = refused(&mut other, CALL, 404, "").0;
            assert_eq!(after, ExchangeOutcome::Lost);
            let part = Piece::Part(ANSWER.as_bytes());
            assert_eq!(exchange.oversized(&other, &part), Oversized::Passing);
            assert_eq!(exchange.oversized(&other, &Piece::End), Oversized::Passing);
        }
    }
    use Oversized::{Answer, Lost};
    check(false, ANSWER, Answer(7));
    check(false, r#"{"result":{"id":3},"id":12"#, Answer(12));
    check(false, r#"{"id":12,"result":{"text":"xxxx"#, Answer(12));
    check(false, r#"{"id":7}"#, Answer(7));
    check(false, r#"{"id":12"#, Answer(12));
    check(false, r#"{"id":"7","result":{}}"#, Lost);
    check(false, r#"{"id":1,"id":2,"result":{}}"#, Lost);
    check(false, r#"{"id":7,"method":"x","result":{}}"#, Lost);
    check(false, r#"{"method":"x","params":{}}"#, Lost);
    check(false, r#"[{"id":7,"result":{}}]"#, Lost);
    check(false, "xxxx", Lost);
    let digits = "1".repeat(100);
    check(false, &format!(r#"{{"id":{digits},"result":{{}}}}"#), Lost);
    // The stream of one call has one answer, whatever it looks like.
    check(true, ANSWER, Answer(7));
    check(true, r#"[{"id":7"#, Answer(7));
    check(true, "xxxx", Answer(7));
}

#[test]
fn a_message_of_the_servers_own_over_the_limit() {
    let origin = session(Revision::V2025_11_25);
    let mut exchange = Exchange::new(&origin, &parsed(CALL));
    let head = r#"{"jsonrpc":"2.0","method":"x","params":{"#;
    let mut check = |part: &str, expected| {
        let said = exchange.oversized(&origin, &Piece::Part(part.as_bytes()));
        assert_eq!(said, Oversized::Passing);
        assert_eq!(exchange.oversized(&origin, &Piece::End), expected);
    };
    check(head, Oversized::Lost);
    check(&format!(r#"{head}}},"id":7}}"#), Oversized::Lost);
}

/// SC-07, SC-29
#[test]
fn the_servers_own_stream_is_asked_for_as_long_as_there_may_be_one() {
    let mut origin = session(Revision::V2025_11_25);
    let stream = head(200, "text/event-stream", "");
    let refuse = |listen: &mut Exchange, origin: &mut Origin, status| {
        listen.refused(origin, NOW, status, b"", &mut Vec::new(), 0)
    };
    let seconds = |after| match after {
        ExchangeOutcome::Resume(at) => at.saturating_since(NOW).as_secs(),
        other => panic!("{other:?}"),
    };
    // Before there was one, only what is said of the moment is no answer.
    for status in [408, 425, 429, 502, 503, 504] {
        let mut listen = origin.listen().unwrap();
        assert_eq!(seconds(refuse(&mut listen, &mut origin, status)), 1);
    }
    for status in [400, 404, 405, 406, 500, 501] {
        let mut listen = origin.listen().unwrap();
        assert_eq!(
            refuse(&mut listen, &mut origin, status),
            ExchangeOutcome::Done
        );
    }
    for status in [401, 403] {
        let mut listen = origin.listen().unwrap();
        assert_eq!(
            refuse(&mut listen, &mut origin, status),
            ExchangeOutcome::Authorize
        );
    }
    let mut listen = origin.listen().unwrap();
    assert_eq!(listen.head(&mut origin, &stream), Body::Events);
    assert_eq!(seconds(listen.end(&origin, NOW, b"e-1", None, 0)), 1);
    assert_eq!(seconds(refuse(&mut listen, &mut origin, 500)), 2);
    // Its place is gone, but not the stream.
    assert!(fields(&origin, &listen, "").contains("last-event-id: e-1"));
    assert_eq!(seconds(refuse(&mut listen, &mut origin, 400)), 4);
    assert!(!fields(&origin, &listen, "").contains("last-event-id"));
    assert_eq!(refuse(&mut listen, &mut origin, 400), ExchangeOutcome::Done);
    // One that stood for a minute begins anew.
    let later = NOW + Duration::from_secs(64);
    let after = listen.end(&origin, later, b"", None, 0);
    assert_eq!(
        after,
        ExchangeOutcome::Resume(later + Duration::from_secs(1))
    );
    let at = later + Duration::from_secs(60);
    let after = listen.end(&origin, at, b"", None, 0);
    assert_eq!(after, ExchangeOutcome::Resume(at + Duration::from_secs(2)));
    assert_eq!(refuse(&mut listen, &mut origin, 405), ExchangeOutcome::Done);
}

/// SC-21, SC-23
#[test]
fn nothing_modern_is_resumed() {
    let mut origin = Origin::new();
    let message = modern("tools/call", r#""name":"a""#);
    let mut exchange = Exchange::new(&origin, &parsed(&message));
    let head = head(200, "text/event-stream", "ignored");
    assert_eq!(exchange.head(&mut origin, &head), Body::Events);
    assert!(origin.delete().is_none() && origin.listen().is_none());
    let after = exchange.end(&origin, NOW, b"7", Some(Duration::ZERO), 0);
    assert_eq!(after, ExchangeOutcome::Fail(Failure::Broken));
}

#[test]
fn nobody_there() {
    let origin = session(Revision::V2025_11_25);
    let mut call = Exchange::new(&origin, &parsed(CALL));
    let after = call.unreachable(&origin, NOW, false, 0);
    assert_eq!(after, ExchangeOutcome::Fail(Failure::Unreachable));
    let after = call.unreachable(&origin, NOW, true, 0);
    assert_eq!(after, ExchangeOutcome::Fail(Failure::Broken));
    let told = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let mut told = Exchange::new(&origin, &parsed(told));
    assert_eq!(
        told.unreachable(&origin, NOW, false, 0),
        ExchangeOutcome::Done
    );
}

/// HS-04, HS-06, HS-09, HS-10.
#[test]
fn two_endpoints() {
    let mut origin = Origin::new();
    let mut stream = origin.probe_http_sse();
    assert_eq!(stream.method(), HttpMethod::Get);
    assert_eq!(fields(&origin, &stream, ""), "accept: text/event-stream");
    let plain = head(200, "text/html", "");
    assert_eq!(stream.head(&mut origin, &plain), Body::Refusal);
    let after = stream.refused(&mut origin, NOW, 404, b"", &mut Vec::new(), 0);
    assert_eq!(after, ExchangeOutcome::Refuse(404));

    let events = head(200, "text/event-stream", "");
    assert_eq!(stream.head(&mut origin, &events), Body::Events);
    origin.set_two_endpoints();
    let mut post = Exchange::new(&origin, &parsed(INITIALIZE));
    let accepted = head(202, "text/plain", "");
    assert_eq!(post.head(&mut origin, &accepted), Body::Nothing);
    assert_eq!(post.nothing(&origin), ExchangeOutcome::Done);
    origin.set_revision(Revision::V2024_11_05);
    let (after, _) = refused(&mut origin, CALL, 404, "");
    assert_eq!(after, ExchangeOutcome::Fail(Failure::Status(404)));
    let heard = hear(&mut stream, &mut origin, &event("message", ANSWER));
    assert_eq!(heard.as_deref(), Some(ANSWER.as_bytes()));
    assert!(origin.listen().is_none());
    assert_eq!(
        stream.end(&origin, NOW, b"1", None, 0),
        ExchangeOutcome::HangUp
    );
}
