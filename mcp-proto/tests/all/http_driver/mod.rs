//! The driver of HTTP: what becomes of exchanges, sessions, deadlines and limits.

#![cfg(feature = "alloc")]

mod listens;
mod site;

use core::time::Duration;

use mcp_proto::http::HttpLimits;
use mcp_proto::rpc::{ErrorObject, code};
use mcp_proto::server::ListKind;
use mcp_proto::server::http::HttpOptions;
use mcp_proto::server::http::streams::StreamLimits;
use mcp_proto::{Outcome, Revision, SendError};

use self::site::Site;
use crate::http_server::site::{INITIALIZED, raw};

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"now"}}"#;
const WAIT: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"wait","_meta":{"progressToken":1}}}"#;
const SESSION: &str = "mcp-session-id: s";
const MODERN: &str =
    "mcp-protocol-version: 2026-07-28; mcp-method: tools/call; mcp-name: wait; accept: */*";

/// A call of `wait` in 2026-07-28.
fn modern() -> String {
    let meta = r#"{"progressToken":1,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}"#;
    WAIT.replace(r#"{"progressToken":1"#, meta)
}

#[test]
fn json_or_events() {
    let mut site = Site::new().opened();
    site.check("POST", SESSION, CALL, "200 result");
    let late = site.send("POST", SESSION, WAIT);
    site.reads(late, "200 4-0=data: ..");
    site.answer(0).unwrap();
    site.reads(late, "4-1=result");

    // Without a session the first message decides.
    let (one, other) = (
        site.send("POST", MODERN, &modern()),
        site.send("POST", MODERN, &modern()),
    );
    site.reads(one, "..").reads(other, "..");
    site.answer(1).unwrap();
    site.reads(one, "200 result");
    site.progress(2, 1.0).unwrap();
    site.reads(other, "200 progress ..");
    site.answer(2).unwrap();
    site.reads(other, "result");
    assert_eq!(site.served.http.exchanges(), 0);
}

/// Each array as its elements are handled one by one, wherever it stands in the body.
#[test]
fn arrays() {
    let mut site = Site::new();
    let initialize = INITIALIZE.replace("2025-11-25", "2025-03-26");
    site.check("POST", "", &initialize, "200 s result")
        .check("POST", SESSION, INITIALIZED, "202");
    site.app.seen.clear();
    let both = format!(" [{CALL} , {INITIALIZED}]");
    let exchange = site.send("POST", SESSION, &both);
    site.work();
    assert!(site.served.response(exchange).unwrap().length.is_some());
    let (body, _) = site.served.read(&mut site.app, exchange, 10);
    let results = raw(core::str::from_utf8(&body).unwrap()).array().unwrap();
    assert_eq!(results.elements().count(), 1);
    site.check("POST", SESSION, &format!("[{INITIALIZED}]"), "202");
    let waiting = site.send("POST", SESSION, &format!("[{CALL},{WAIT}]"));
    site.reads(waiting, "200 ..");
    site.answer(0).unwrap();
    site.work();
    let (body, _) = site.served.read(&mut site.app, waiting, 10);
    assert_eq!(
        String::from_utf8(body).unwrap().matches("result").count(),
        2
    );
}

/// The first array is never answered, so those after it are answered one by one.
#[test]
fn each_array_that_is_answered_singly_ends_whatever_waits_to_be_read() {
    let streams = StreamLimits {
        unread: 2,
        ..StreamLimits::default()
    };
    let mut site = Site::with(HttpOptions {
        streams,
        ..HttpOptions::default()
    });
    let initialize = INITIALIZE.replace("2025-11-25", "2025-03-26");
    site.check("POST", "", &initialize, "200 s result")
        .check("POST", SESSION, INITIALIZED, "202");
    site.send("POST", SESSION, &format!("[{WAIT}]"));
    let array = format!("[{CALL}]");
    let both = [(); 2].map(|()| site.send("POST", SESSION, &array));
    for (exchange, expected) in both.into_iter().zip(["200 4-1=result", "200 5-1=result"]) {
        site.reads(exchange, expected);
    }
}

/// SH-42
#[test]
fn silence_is_commented() {
    let mut site = Site::new();
    let exchange = site.send("POST", MODERN, &modern());
    site.reads(exchange, "..").wait(14).reads(exchange, "..");
    site.wait(1).reads(exchange, "200 : ..");
    site.wait(14).reads(exchange, "..");
    site.wait(1).reads(exchange, ": ..");
    site.answer(0).unwrap();
    site.reads(exchange, "result").is_empty();
}

#[test]
fn bodies_that_are_late_or_too_long() {
    let limits = HttpLimits {
        body: 200,
        ..HttpLimits::default()
    };
    let options = HttpOptions {
        limits,
        bodies: 250,
        ..HttpOptions::default()
    };
    let mut site = Site::with(options);
    let late = site.open("POST", "");
    site.served.http.body(late, b"{");
    site.wait(29).reads(late, "..");
    site.wait(1).reads(late, "408 close -32600");
    let long = site.open("POST", "");
    site.served.http.body(long, &[b' '; 200]);
    assert!(site.served.http.wants_body(long));
    let other = site.open("POST", "");
    site.served.http.body(other, &[b' '; 51]);
    assert!(!site.served.http.wants_body(other));
    site.reads(other, "503 close -32603");
    site.served.http.body(long, b" ");
    assert!(!site.served.http.wants_body(long));
    site.reads(long, "413 close -32600");
    // All of it was given back.
    let whole = site.open("POST", "");
    site.served.http.body(whole, &[b' '; 200]);
    assert!(site.served.http.wants_body(whole));
    site.hang_up(whole).is_empty();
}

#[test]
fn sessions_end() {
    let mut site = Site::new().opened();
    site.wait(1799).check("POST", SESSION, CALL, "200 result");
    // One that is read is not idle.
    let own = site.send("GET", SESSION, "");
    site.reads(own, "200 0-0=data: ..").wait(10_000);
    site.app.seen.clear();
    site.reads(own, ": ..").hang_up(own);
    site.wait(1799).sees(&[]).wait(1).sees(&["closed"]);
    site.check("POST", SESSION, CALL, "404 -32600");
    site.is_empty();
}

/// SH-31
#[test]
fn sessions_are_deleted() {
    let mut site = Site::new().opened();
    let own = site.send("GET", SESSION, "");
    let call = site.send("POST", SESSION, WAIT);
    site.reads(own, "200 0-0=data: ..")
        .reads(call, "200 3-0=data: ..")
        .sees(&["request"]);
    // What arrived before is not handled after.
    let late = site.open("POST", SESSION);
    site.served.http.body(late, CALL.as_bytes());
    let body = site
        .served
        .http
        .end_body(site.served.now, late, || "s".into())
        .unwrap();
    site.check("DELETE", SESSION, "", "204")
        .sees(&["cancelled", "closed"]);
    site.handle(body);
    site.reads(own, "")
        .reads(call, "")
        .reads(late, "404 -32600");
    site.check("DELETE", SESSION, "", "404 -32600")
        .check("GET", SESSION, "", "404 -32600");
    assert_eq!(site.answer(0), Err(SendError::Closed));
    site.is_empty();
}

/// SH-18, SH-19
#[test]
fn clients_hang_up() {
    let mut site = Site::new().opened();
    let call = site.send("POST", SESSION, WAIT);
    site.reads(call, "200 3-0=data: ..").hang_up(call);
    site.answer(0).unwrap();
    let resumed = "mcp-session-id: s; last-event-id: 3-0";
    site.sees(&["request"])
        .check("GET", resumed, "", "200 3-1=result");
    site.check("DELETE", SESSION, "", "204").sees(&["closed"]);

    let exchange = site.send("POST", MODERN, &modern());
    site.reads(exchange, "..").hang_up(exchange);
    site.sees(&["request", "cancelled"]).is_empty();
    let events = site.send("POST", MODERN, &modern());
    site.work();
    site.progress(2, 1.0).unwrap();
    site.reads(events, "200 progress ..").hang_up(events);
    site.sees(&["request", "cancelled"]).is_empty();

    // Before anything was handled.
    for (fields, body) in [(MODERN, &*modern()), ("", INITIALIZE)] {
        let exchange = site.open("POST", fields);
        site.served.http.body(exchange, body.as_bytes());
        let body = site
            .served
            .http
            .end_body(site.served.now, exchange, || "s".into());
        site.hang_up(exchange).handle(body.unwrap());
        site.app.seen.clear();
        site.is_empty();
    }
    let exchange = site.open("POST", "");
    site.hang_up(exchange).is_empty();
}

#[test]
fn the_later_reader_wins() {
    let mut site = Site::new().opened();
    let first = site.send("GET", SESSION, "");
    site.reads(first, "200 0-0=data: ..");
    let second = site.send("GET", SESSION, "");
    site.reads(first, "retry: 5000")
        .reads(second, "200 0-1=data: ..");
}

/// SH-13
#[test]
fn a_client_is_told_to_come_back() {
    let mut site = Site::new().opened();
    let call = site.send("POST", SESSION, WAIT);
    site.reads(call, "200 3-0=data: ..");
    let (machine, token) = site.app.calls[0];
    let mut commands = site.served.http.commands(machine).unwrap();
    assert!(commands.disconnect(token, Duration::from_secs(2)));
    site.reads(call, "retry: 2000");
    let again = site.send("GET", "mcp-session-id: s; last-event-id: 3-0", "");
    site.reads(again, "200 3-1=data: ..");
    site.answer(0).unwrap();
    site.reads(again, "3-2=result");
}

#[test]
fn a_slow_reader_holds_up_its_stream_alone() {
    let streams = StreamLimits {
        unread: 1,
        ..StreamLimits::default()
    };
    let options = HttpOptions {
        streams,
        ..HttpOptions::default()
    };
    let mut site = Site::with(options).opened();
    let slow = site.send("POST", SESSION, WAIT);
    site.reads(slow, "200 3-0=data: ..");
    site.progress(0, 1.0).unwrap();
    let full = SendError::BufferFull { needed: 0 };
    assert_eq!(site.progress(0, 2.0), Err(full));
    site.check("POST", SESSION, CALL, "200 result");
    site.reads(slow, "3-1=progress ..");
    site.progress(0, 2.0).unwrap();
    site.answer(0).unwrap();
    site.reads(slow, "3-2=progress 3-3=result");
}

#[test]
fn limits() {
    let limits = HttpLimits {
        sessions: 1,
        ..HttpLimits::default()
    };
    let options = HttpOptions {
        limits,
        exchanges: 1,
        streams: StreamLimits {
            streams: 1,
            ..StreamLimits::default()
        },
        ..HttpOptions::default()
    };
    let mut site = Site::with(options).opened();
    site.check("POST", "", INITIALIZE, "503 -32603");
    let call = site.send("POST", SESSION, WAIT);
    site.check("POST", SESSION, CALL, "503 -32603");
    // What ends at once is no stream that lasts.
    let ping = r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#;
    site.check("POST", SESSION, ping, "200 result");
    site.check("POST", SESSION, INITIALIZED, "202");
    site.reads(call, "200 3-0=data: ..");
    let exchange = site.send("POST", MODERN, &modern());
    site.check("POST", MODERN, &modern(), "503 -32603");
    site.hang_up(exchange);
    let exchange = site.send("POST", MODERN, &modern());
    site.reads(exchange, "..");
}

/// SH-46: who met a limit is told when to try again.
#[test]
fn limits_say_when_to_try_again() {
    for (code, status, seconds) in [
        (code::OVERLOADED, 503, "5"),
        (code::TOO_MANY_REQUESTS, 429, "1"),
        (code::INVALID_REQUEST, 400, ""),
    ] {
        let mut site = Site::new();
        let exchange = site.send("POST", MODERN, &modern());
        site.work();
        let error = ErrorObject::new(code, "no");
        site.answer_with(0, Outcome::Error(error)).unwrap();
        site.work();
        let head = site.served.http.response(exchange).unwrap();
        let mut found = String::new();
        head.fields(|name, value| {
            if name == "retry-after" {
                found.push_str(core::str::from_utf8(value.as_bytes()).unwrap());
            }
        });
        assert_eq!((head.status, found.as_str()), (status, seconds));
    }
}

/// Each kind of machine counts for its own limit.
#[test]
fn limits_of_sessions_and_exchanges_are_apart() {
    let limits = HttpLimits {
        sessions: 2,
        ..HttpLimits::default()
    };
    let options = HttpOptions {
        limits,
        exchanges: 1,
        ..HttpOptions::default()
    };
    let mut site = Site::with(options);
    // Handshakes that are under way count as sessions, and as no exchanges.
    let mut opened = Vec::new();
    for id in ["a", "b", "c"] {
        let exchange = site.open("POST", "");
        site.served.http.body(exchange, INITIALIZE.as_bytes());
        site.end_body(exchange, id);
        opened.push(exchange);
    }
    let modern_call = site.send("POST", MODERN, &modern());
    site.reads(opened[0], "200 a result")
        .reads(opened[1], "200 b result")
        .reads(opened[2], "503 -32603")
        .reads(modern_call, "..");
    // A session that has ended, and whose stream is not read to its end, is no exchange either.
    site.check("POST", "mcp-session-id: a", INITIALIZED, "202");
    let slow = site.open("GET", "mcp-session-id: a; accept: text/event-stream");
    site.check("DELETE", "mcp-session-id: a", "", "204");
    site.hang_up(modern_call);
    let modern_call = site.send("POST", MODERN, &modern());
    site.reads(modern_call, "..");
    site.hang_up(slow).hang_up(modern_call);
    site.check("DELETE", "mcp-session-id: b", "", "204")
        .is_empty();
    assert_eq!(site.served.http.exchanges(), 0);
}

/// SH-58
#[test]
fn a_session_is_its_openers() {
    let mut site = Site::new();
    site.served.principal = Some("ada");
    let mut site = site.opened();
    for other in [None, Some("eve")] {
        site.served.principal = other;
        site.check("POST", SESSION, CALL, "404 -32600")
            .check("DELETE", SESSION, "", "404 -32600");
        let exchange = site.open("GET", &format!("{SESSION}; accept: text/event-stream"));
        site.reads(exchange, "404 -32600");
    }
    site.served.principal = Some("ada");
    site.check("POST", SESSION, CALL, "200 result")
        .check("DELETE", SESSION, "", "204");
}

/// What concerns all machines goes to each of them.
#[test]
fn commands_to_every_machine() {
    let mut site = Site::new().opened();
    let call = site.send("POST", SESSION, WAIT);
    site.reads(call, "200 3-0=data: ..");
    let mut seen = Vec::new();
    site.served.http.for_each(|mut commands| {
        commands.list_changed(ListKind::Tools);
        let revision = commands.server().revision();
        seen.push((commands.session_id().map(str::to_owned), revision));
    });
    let revision = Some(Revision::V2025_11_25);
    assert_eq!(seen, [(Some("s".to_owned()), revision)]);
}

#[test]
fn ids_that_cannot_be() {
    let mut site = Site::new();
    for id in ["", "a b", "ä"] {
        let exchange = site.open("POST", "");
        site.served.http.body(exchange, INITIALIZE.as_bytes());
        site.end_body(exchange, id);
        site.reads(exchange, "503 -32603").is_empty();
    }
    // At the same time, and one after the other.
    let (first, second) = (
        site.send("POST", "", INITIALIZE),
        site.send("POST", "", INITIALIZE),
    );
    site.reads(first, "200 s result")
        .reads(second, "503 -32603");
    site.check("POST", "", INITIALIZE, "503 -32603");
}

/// What browsers want to know.
#[test]
fn pages_of_other_origins() {
    let mut site = Site::new().opened();
    let origin = "origin: http://localhost:3000";
    let fields = |site: &mut Site, exchange| {
        site.work();
        let head = site.served.http.response(exchange).unwrap();
        let mut text = String::new();
        head.fields(|name, value| {
            if name.starts_with("access-control") || name == "vary" || name == "allow" {
                text += &format!("{name}: {}\n", String::from_utf8_lossy(value.as_bytes()));
            }
        });
        text
    };
    let shared = "access-control-allow-origin: http://localhost:3000\naccess-control-expose-headers: Mcp-Session-Id, WWW-Authenticate\nvary: Origin\n";
    let exchange = site.send("POST", &format!("{SESSION}; {origin}"), CALL);
    assert_eq!(fields(&mut site, exchange), shared);
    let asked = format!("{origin}; access-control-request-headers: mcp-method, x");
    let exchange = site.send("OPTIONS", &asked, "");
    let allowed = "access-control-allow-methods: GET, POST, DELETE\naccess-control-allow-headers: mcp-method, x\naccess-control-max-age: 7200\n";
    assert_eq!(fields(&mut site, exchange), format!("{allowed}{shared}"));
    let exchange = site.send("PUT", "", "");
    assert_eq!(fields(&mut site, exchange), "allow: GET, POST, DELETE\n");
    site.check(
        "POST",
        "origin: http://attacker.example",
        CALL,
        "403 -32600",
    );
}
