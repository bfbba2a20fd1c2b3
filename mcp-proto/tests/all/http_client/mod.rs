//! The client's side of HTTP: what leaves for a message, and what a reply comes to.

#![cfg(feature = "alloc")]

mod streams;

use core::time::Duration;

use mcp_proto::client::http::{
    Body, Exchange, ExchangeOutcome, HttpMethod, Origin, Oversized, ReplyHead,
};
use mcp_proto::client::{ClientConfig, Failure};
use mcp_proto::frame::sse::{Event, Piece};
use mcp_proto::http::annotation::BadAnnotation;
use mcp_proto::json::MAX_DEPTH;
use mcp_proto::rpc::{Message, OwnedMessages};
use mcp_proto::{CustomMethod, Instant, PreparedConfig, Revision};

const NOW: Instant = Instant::from_millis(10_000);
const DISCOVER: &str = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#;
const INITIALIZE: &str =
    r#"{"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#;
const CALL: &str =
    r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"a","arguments":{}}}"#;
const ANSWER: &str = r#"{"jsonrpc":"2.0","id":7,"result":{}}"#;

/// A modern request with these members in its `params`.
fn modern(method: &str, params: &str) -> String {
    let comma = if params.is_empty() { "" } else { "," };
    format!(
        r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{{{params}{comma}"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}}}}"#
    )
}

fn parsed(text: &str) -> Message<'_> {
    Message::parse(text.as_bytes(), 16)
}

fn fields(origin: &Origin, exchange: &Exchange, message: &str) -> String {
    let mut said = Vec::new();
    exchange.fields(origin, &parsed(message), &mut |name, value| {
        said.push(format!("{name}: {}", String::from_utf8_lossy(value)));
    });
    said.join("\n")
}

fn head<'h>(status: u16, content_type: &'h str, session: &'h str) -> ReplyHead<'h> {
    let some = |text: &'h str| (!text.is_empty()).then_some(text.as_bytes());
    let mut head = ReplyHead::new(status);
    head.content_type = some(content_type);
    head.session = some(session);
    head
}

fn event<'b>(name: &'b str, data: &'b str) -> Event<'b> {
    Event {
        name: name.as_bytes(),
        data: data.as_bytes(),
        id: b"",
    }
}

/// Returns the outcome of a body, and the text whose messages the machine takes.
fn answer(exchange: &mut Exchange, origin: &mut Origin, body: &str) -> (ExchangeOutcome, String) {
    let mut instead = Vec::new();
    let after = exchange.answer(origin, &OwnedMessages::parse(body, 64), &mut instead);
    (after, text(delivered(body.as_bytes(), instead)))
}

/// The text whose messages the machine takes for an event, if there are any.
pub(crate) fn hear(
    exchange: &mut Exchange,
    origin: &mut Origin,
    event: &Event<'_>,
) -> Option<Vec<u8>> {
    if !exchange.event(event) {
        return None;
    }
    let (data, mut instead) = (OwnedMessages::parse(event.data, MAX_DEPTH), Vec::new());
    let heard = exchange.messages(origin, &data, &mut instead);
    assert!(heard || instead.is_empty());
    heard.then(|| delivered(event.data, instead))
}

/// The text whose messages the machine takes.
pub(crate) fn delivered(received: &[u8], instead: Vec<u8>) -> Vec<u8> {
    match instead.is_empty() {
        true => received.to_vec(),
        false => instead,
    }
}

fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

/// In a session of this revision.
fn session(revision: Revision) -> Origin {
    let mut origin = Origin::new();
    let mut exchange = Exchange::new(&origin, &parsed(INITIALIZE));
    let body = exchange.head(&mut origin, &head(200, "application/json", "s-1"));
    assert_eq!(body, Body::Json);
    let body = r#"{"jsonrpc":"2.0","id":2,"result":{}}"#;
    let (after, _) = answer(&mut exchange, &mut origin, body);
    assert_eq!(after, ExchangeOutcome::Deliver);
    origin.set_revision(revision);
    origin
}

/// What a refusal of this message comes to, and what the machine hears of it.
#[track_caller]
fn refused(
    origin: &mut Origin,
    message: &str,
    status: u16,
    body: &str,
) -> (ExchangeOutcome, String) {
    let mut exchange = Exchange::new(origin, &parsed(message));
    assert_eq!(exchange.head(origin, &head(status, "", "")), Body::Refusal);
    let mut line = Vec::new();
    let after = exchange.refused(origin, NOW, status, body.as_bytes(), &mut line, 0);
    (after, String::from_utf8(line).unwrap())
}

/// SC-02, SC-07, SC-09, SC-15, LC-10.
#[test]
fn fields_of_a_handshake_and_of_a_session() {
    let post = "content-type: application/json\naccept: application/json, text/event-stream";
    let origin = Origin::new();
    let exchange = Exchange::new(&origin, &parsed(INITIALIZE));
    assert_eq!(fields(&origin, &exchange, INITIALIZE), post);

    for (revision, version) in [
        (Revision::V2025_03_26, ""),
        (Revision::V2025_06_18, "\nmcp-protocol-version: 2025-06-18"),
        (Revision::V2025_11_25, "\nmcp-protocol-version: 2025-11-25"),
    ] {
        let origin = session(revision);
        let exchange = Exchange::new(&origin, &parsed(CALL));
        let expected = format!("{post}{version}\nmcp-session-id: s-1");
        assert_eq!(fields(&origin, &exchange, CALL), expected);
        let listen = origin.listen().unwrap();
        assert_eq!(listen.method(), HttpMethod::Get);
        let expected = format!("accept: text/event-stream{version}\nmcp-session-id: s-1");
        assert_eq!(fields(&origin, &listen, ""), expected);
        let delete = origin.delete().unwrap();
        assert_eq!(delete.method(), HttpMethod::Delete);
        let expected = format!("{version}\nmcp-session-id: s-1");
        assert_eq!(fields(&origin, &delete, ""), expected.trim_start());
        // A handshake begins without one.
        let exchange = Exchange::new(&origin, &parsed(INITIALIZE));
        assert_eq!(fields(&origin, &exchange, INITIALIZE), post);
    }
    assert!(origin.listen().is_none() && origin.delete().is_none());
    // A handshake was begun beside the discovery, which won.
    let mut origin = session(Revision::V2025_11_25);
    origin.set_revision(Revision::V2026_07_28);
    let delete = origin.delete().unwrap();
    assert_eq!(fields(&origin, &delete, ""), "mcp-session-id: s-1");
    assert!(session(Revision::V2024_11_05).listen().is_none());
}

/// SC-16, SC-17, SC-18, SC-19, XH-11, XH-13, EX-15.
#[test]
fn fields_of_modern_requests() {
    let own = CustomMethod {
        subject: Some("noteId"),
        ..CustomMethod::new("notes/get")
    };
    let config = ClientConfig {
        methods: &[own, CustomMethod::new("notes/list")],
        ..ClientConfig::new("c", "1")
    };
    let mut origin = Origin::new();
    origin.set_methods(&PreparedConfig::from(config));
    let check = |method: &str, params: &str, expected: &str| {
        let message = modern(method, params);
        let exchange = Exchange::new(&origin, &parsed(&message));
        let said = fields(&origin, &exchange, &message);
        let own: Vec<_> = said.lines().skip(2).collect();
        let version = "mcp-protocol-version: 2026-07-28";
        assert_eq!(own.join("\n"), format!("{expected}\n{version}"));
    };
    check("server/discover", "", "mcp-method: server/discover");
    // EX-15
    check(
        "notes/get",
        r#""noteId":"\u00e9""#,
        "mcp-method: notes/get\nmcp-name: =?base64?w6k=?=",
    );
    check("notes/get", "", "mcp-method: notes/get");
    check("notes/list", r#""noteId":"a""#, "mcp-method: notes/list");
    check("notes/put", r#""noteId":"a""#, "mcp-method: notes/put");
    // SC-17: the exact name, of all that a header can carry.
    check(r#"notes/\"a\\b\""#, "", r#"mcp-method: notes/"a\b""#);
    check(r"notes\/list", "", "mcp-method: notes/list");
    check("tools/list", r#""name":"x""#, "mcp-method: tools/list");
    check(
        "tools/call",
        r#""name":"ок""#,
        "mcp-method: tools/call\nmcp-name: =?base64?0L7Qug==?=",
    );
    check(
        "resources/read",
        r#""uri":"file:///a/b%20c.txt""#,
        "mcp-method: resources/read\nmcp-name: file:///a/b%20c.txt",
    );
    check(
        "prompts/get",
        r#""name":"p""#,
        "mcp-method: prompts/get\nmcp-name: p",
    );
    for method in ["tasks/get", "tasks/update", "tasks/cancel"] {
        let expected = format!("mcp-method: {method}\nmcp-name: t-1");
        check(method, r#""taskId":"t-1""#, &expected);
    }
}

/// SC-24
#[test]
fn fields_of_modern_notifications() {
    let mut origin = Origin::new();
    origin.set_revision(Revision::V2026_07_28);
    let told = r#"{"jsonrpc":"2.0","method":"acme/told"}"#;
    let exchange = Exchange::new(&origin, &parsed(told));
    let said = fields(&origin, &exchange, told);
    let own: Vec<_> = said.lines().skip(2).collect();
    assert_eq!(
        own,
        ["mcp-method: acme/told", "mcp-protocol-version: 2026-07-28"]
    );
}

/// XH-07, XH-09, XH-18
#[test]
fn tools_teach_their_headers() {
    let mut origin = Origin::new();
    let list = modern("tools/list", "");
    let tool = |name: &str, header: &str| {
        format!(
            r#"{{"name":"{name}","inputSchema":{{"type":"object","properties":{{"n":{{"type":"integer","x-mcp-header":"{header}"}}}}}}}}"#
        )
    };
    let page = |tools: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"tools":[{tools}],"ttlMs":0}}}}"#)
    };
    let call = modern("tools/call", r#""name":"good","arguments":{"n":42}"#);
    let header = |origin: &Origin| {
        let exchange = Exchange::new(origin, &parsed(&call));
        let said = fields(origin, &exchange, &call);
        let param = said.lines().filter(|line| line.starts_with("mcp-param"));
        param.collect::<Vec<_>>().join("\n")
    };
    assert_eq!(header(&origin), "");

    let (good, bad) = (tool("good", "N"), tool("bad", "no token"));
    let text = page(&format!("{bad},{good},{bad}"));
    let mut exchange = Exchange::new(&origin, &parsed(&list));
    let after = answer(&mut exchange, &mut origin, &text);
    assert_eq!(after, (ExchangeOutcome::Deliver, page(&good)));
    let bad = || ("bad".to_owned(), BadAnnotation::Name);
    assert_eq!(origin.take_dropped(), [bad(), bad()]);
    assert!(origin.take_dropped().is_empty());
    assert_eq!(header(&origin), "mcp-param-n: 42");

    // The newest schema counts, and one without headers has none.
    let text = page(&tool("good", "M"));
    let mut exchange = Exchange::new(&origin, &parsed(&list));
    let heard = hear(&mut exchange, &mut origin, &event("message", &text)).map(self::text);
    assert_eq!(heard, Some(text));
    assert_eq!(header(&origin), "mcp-param-m: 42");
    let text = page(r#"{"name":"good","inputSchema":{}}"#);
    let mut exchange = Exchange::new(&origin, &parsed(&list));
    let _ = answer(&mut exchange, &mut origin, &text);
    assert_eq!(header(&origin), "");
}

/// SC-06, SH-28.
#[test]
fn bodies_by_their_heads() {
    #[track_caller]
    fn check(message: &str, status: u16, content_type: &str, expected: Body) {
        let mut origin = session(Revision::V2025_11_25);
        let mut exchange = Exchange::new(&origin, &parsed(message));
        let body = exchange.head(&mut origin, &head(status, content_type, ""));
        assert_eq!(body, expected);
    }
    check(CALL, 200, "application/json; charset=utf-8", Body::Json);
    check(CALL, 200, "Text/Event-Stream", Body::Events);
    check(CALL, 200, "text/html", Body::Nothing);
    check(CALL, 202, "", Body::Nothing);
    for status in [199, 301, 400, 500] {
        check(CALL, status, "application/json", Body::Refusal);
    }
    let told = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    check(told, 202, "", Body::Nothing);
    check(told, 200, "application/json", Body::Nothing);

    let mut origin = session(Revision::V2025_11_25);
    let exchange = Exchange::new(&origin, &parsed(CALL));
    assert_eq!(
        exchange.nothing(&origin),
        ExchangeOutcome::Fail(Failure::NoAnswer)
    );
    let exchange = Exchange::new(&origin, &parsed(told));
    assert_eq!(exchange.nothing(&origin), ExchangeOutcome::Done);
    let mut listen = origin.listen().unwrap();
    let html = head(200, "text/html", "");
    assert_eq!(listen.head(&mut origin, &html), Body::Refusal);
    // An id of other characters is none (SH-28).
    let mut origin = Origin::new();
    let mut exchange = Exchange::new(&origin, &parsed(INITIALIZE));
    exchange.head(&mut origin, &head(200, "application/json", "a b"));
    assert!(origin.delete().is_none());
}

/// SC-06.
#[test]
fn answers_in_one_piece() {
    #[track_caller]
    fn check(body: &str, expected: Option<&str>) {
        let mut origin = session(Revision::V2025_03_26);
        let mut exchange = Exchange::new(&origin, &parsed(CALL));
        let (after, text) = answer(&mut exchange, &mut origin, body);
        match expected {
            Some(expected) => assert_eq!((after, &*text), (ExchangeOutcome::Deliver, expected)),
            None => assert_eq!(after, ExchangeOutcome::Fail(Failure::NoAnswer)),
        }
    }
    check(ANSWER, Some(ANSWER));
    let lines = "{\"id\":7,\n\"jsonrpc\":\"2.0\",\"result\":{}}";
    check(lines, Some(lines));
    let batch = format!(r#"[{{"jsonrpc":"2.0","method":"x/y"}},{ANSWER}]"#);
    check(&batch, Some(&batch));
    // Broken, but the machine can tell whose it is.
    let broken = r#"{"jsonrpc":"2.0","id":7,"result":oops}"#;
    check(broken, Some(broken));
    check(
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"m"}}"#,
        Some(r#"{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"m"}}"#),
    );
    check(r#"{"jsonrpc":"2.0","id":"7","result":{}}"#, None);
    check(r#"[{"jsonrpc":"2.0","method":"x/y"}]"#, None);
    check(&format!("[{ANSWER},]"), None);
    check(&format!("[{ANSWER}"), None);
    check("", None);
    check("<html>", None);
}

fn says_nothing(after: ExchangeOutcome) -> bool {
    matches!(after, ExchangeOutcome::Refuse(_) | ExchangeOutcome::Fail(_))
}

/// VR-13, VR-14, VR-16, VR-26, VR-27, VR-31, SC-26, SC-27.
#[test]
fn what_refusals_say_of_an_era() {
    let modern = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32022,"message":"m","data":{"supported":[]}}}"#;
    let session_needed =
        r#"{"jsonrpc":"2.0","error":{"code":-32000,"message":"no session"},"id":null}"#;
    let check = |message: &str, status, body: &str, expected| {
        let (after, line) = refused(&mut Origin::new(), message, status, body);
        assert_eq!(after, expected, "{status} {body}");
        assert_eq!(
            line.is_empty(),
            !body.contains("error") || says_nothing(after)
        );
    };
    check(DISCOVER, 400, "", ExchangeOutcome::Refuse(400));
    check(DISCOVER, 404, "<html>", ExchangeOutcome::Refuse(404));
    check(DISCOVER, 405, "{}", ExchangeOutcome::Refuse(405));
    check(DISCOVER, 400, modern, ExchangeOutcome::Deliver);
    check(DISCOVER, 400, session_needed, ExchangeOutcome::Deliver);
    // Of another request.
    check(
        DISCOVER,
        400,
        &modern.replace("null", "9"),
        ExchangeOutcome::Refuse(400),
    );
    // The old endpoints' own server may say so in JSON, too.
    check(
        INITIALIZE,
        400,
        session_needed,
        ExchangeOutcome::ProbeHttpSse(400),
    );
    check(INITIALIZE, 400, modern, ExchangeOutcome::Deliver);
    // Without the data of its code it may be any server's.
    for code in [-32021, -32022] {
        let other = format!(r#"{{"jsonrpc":"2.0","error":{{"code":{code},"message":"m"}}}}"#);
        check(INITIALIZE, 400, &other, ExchangeOutcome::ProbeHttpSse(400));
    }
    let ours = session_needed.replace("null", "2");
    check(INITIALIZE, 400, &ours, ExchangeOutcome::Deliver);
    check(INITIALIZE, 406, session_needed, ExchangeOutcome::Deliver);
    for status in [400, 404, 405] {
        check(
            INITIALIZE,
            status,
            "",
            ExchangeOutcome::ProbeHttpSse(status),
        );
    }
    for status in [302, 401, 403, 413, 429, 500, 503] {
        let failed = ExchangeOutcome::Fail(Failure::Status(status));
        check(INITIALIZE, status, "", failed);
        check(DISCOVER, status, "", failed);
    }
    // Credentials are judged before an era is (VR-26).
    for status in [401, 403] {
        for body in [modern, session_needed] {
            let failed = ExchangeOutcome::Fail(Failure::Status(status));
            check(INITIALIZE, status, body, failed);
            check(DISCOVER, status, body, failed);
        }
    }
    check(
        DISCOVER,
        500,
        session_needed,
        ExchangeOutcome::Fail(Failure::Status(500)),
    );
}

/// SC-32, XH-26.
#[test]
fn refusals_of_calls() {
    let mut origin = Origin::new();
    let error = r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"m","data":{"a":1}}}"#;
    let call = modern("tools/call", r#""name":"a""#);
    assert_eq!(
        refused(&mut origin, &call, 404, error),
        (ExchangeOutcome::Deliver, error.to_owned())
    );
    for status in [400, 404, 413, 431, 500] {
        let (after, _) = refused(&mut origin, &call, status, "no JSON");
        assert_eq!(after, ExchangeOutcome::Fail(Failure::Status(status)));
    }
    let told = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert_eq!(refused(&mut origin, told, 400, "").0, ExchangeOutcome::Done);
}

/// DF-03: a mismatch of head and body is one by its status and its code, and where there are such
/// headers.
#[test]
fn refusals_of_headers() {
    let error =
        |code| format!(r#"{{"jsonrpc":"2.0","id":7,"error":{{"code":{code},"message":"m"}}}}"#);
    let check = |origin: &mut Origin, message: &str, status, code, expected| {
        let error = error(code);
        let refused = refused(origin, message, status, &error);
        assert_eq!(refused, (expected, error));
    };
    let call = modern("tools/call", r#""name":"a""#);
    let mut switched = session(Revision::V2025_11_25);
    switched.hold_to_draft();
    let mirroring = [
        (Origin::new(), &*call),
        (session(Revision::DraftV1), CALL),
        (switched, CALL),
    ];
    for (mut origin, message) in mirroring {
        for code in [-32001, -32020] {
            check(&mut origin, message, 400, code, ExchangeOutcome::Mismatched);
            for status in [401, 403, 422, 500] {
                check(&mut origin, message, status, code, ExchangeOutcome::Deliver);
            }
        }
        for code in [-32000, -32021, -32602] {
            check(&mut origin, message, 400, code, ExchangeOutcome::Deliver);
        }
    }
    let mut plain = session(Revision::V2025_11_25);
    for code in [-32001, -32020] {
        check(&mut plain, CALL, 400, code, ExchangeOutcome::Deliver);
    }
    // Of no era, whatever the handshake and the probe repeat (VR-27).
    let (after, _) = refused(
        &mut Origin::new(),
        DISCOVER,
        400,
        &error(-32001).replace("7", "1"),
    );
    assert_eq!(after, ExchangeOutcome::Deliver);
}

/// DF-04: only pings are asked on the stream of a GET.
#[test]
fn refusals_of_questions() {
    let question = r#"{"jsonrpc":"2.0","id":"q","method":"roots/list"}"#;
    let ping = r#"{"jsonrpc":"2.0","id":"q","method":"ping"}"#;
    let hear = |exchange: &mut Exchange, origin: &mut Origin, text: &str| {
        let heard = hear(exchange, origin, &event("message", text)).map(self::text);
        (heard.unwrap_or_default(), exchange.take_refusals())
    };
    let mut switched = session(Revision::V2025_11_25);
    switched.hold_to_draft();
    for mut origin in [session(Revision::DraftV1), switched] {
        let mut own = origin.listen().unwrap();
        let (line, refusals) = hear(&mut own, &mut origin, question);
        assert_eq!(line, "");
        let refusal = String::from_utf8(refusals.concat()).unwrap();
        let expected = r#"{"jsonrpc":"2.0","id":"q","error":{"code":-32602,"message":""#;
        assert!(refusal.starts_with(expected), "{refusal}");
        assert_eq!(hear(&mut own, &mut origin, ping), (ping.into(), vec![]));
        // What belongs to a call is the machine's, here and where its stream is resumed.
        let mut call = Exchange::new(&origin, &parsed(CALL));
        for _ in 0..2 {
            let heard = hear(&mut call, &mut origin, question);
            assert_eq!(heard, (question.into(), vec![]));
            let after = call.end(&origin, NOW, b"1", None, 0);
            assert!(matches!(after, ExchangeOutcome::Resume(_)));
        }
    }
    let mut plain = session(Revision::V2025_11_25);
    let mut own = plain.listen().unwrap();
    let heard = hear(&mut own, &mut plain, question);
    assert_eq!(heard, (question.into(), vec![]));
}

/// SC-10, SC-32.
#[test]
fn a_session_is_lost_once() {
    let mut origin = session(Revision::V2025_11_25);
    let mut first = Exchange::new(&origin, &parsed(CALL));
    let mut second = Exchange::new(&origin, &parsed(CALL));
    let mut listen = origin.listen().unwrap();
    let line = &mut Vec::new();
    // Who says so of a stream that never was does not offer one.
    let mut refuse = |exchange: &mut Exchange, origin: &mut Origin| {
        exchange.refused(origin, NOW, 404, ANSWER.as_bytes(), line, 0)
    };
    assert_eq!(refuse(&mut listen, &mut origin), ExchangeOutcome::Done);
    assert_eq!(refuse(&mut first, &mut origin), ExchangeOutcome::Lost);
    assert_eq!((first.epoch(), origin.epoch()), (0, 1));
    assert!(origin.delete().is_none());
    assert_eq!(refuse(&mut second, &mut origin), ExchangeOutcome::Done);
    // Nor does anything else of that session count.
    let (after, _) = answer(&mut second, &mut origin, ANSWER);
    assert_eq!(after, ExchangeOutcome::Done);
    let said = event("message", ANSWER);
    assert_eq!(hear(&mut second, &mut origin, &said), None);
    assert_eq!(
        second.end(&origin, NOW, b"1", None, 0),
        ExchangeOutcome::Done
    );
}
