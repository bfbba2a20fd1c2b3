//! The driver of HTTP: what becomes of exchanges, sessions, deadlines and limits.

#![cfg(feature = "alloc")]

use core::time::Duration;

use mcp_proto::http::{Endpoint, HttpLimits};
use mcp_proto::model::{ServerCapabilities, ToolsCapability};
use mcp_proto::server::http::streams::{StreamLimits, StreamRead};
use mcp_proto::server::http::{Commands, ExchangeId, HttpOptions, HttpServer, HttpStep, ServerId};
use mcp_proto::server::{Event, ListKind, ProgressReport, ServerConfig};
use mcp_proto::{Instant, Outcome, Revision, SendError, Token};

use crate::http_server::site::{INITIALIZED, Sent, raw, short_text};

/// An endpoint whose tool `wait` is answered when the script says so, all others at once.
struct Site {
    http: HttpServer<'static>,
    now: Instant,
    /// Calls of `wait`.
    calls: Vec<(ServerId, Token)>,
    seen: Vec<&'static str>,
    /// Who sends the requests.
    principal: Option<&'static str>,
}

impl Site {
    fn new() -> Self {
        Self::with(HttpOptions::default())
    }

    fn with(options: HttpOptions) -> Self {
        let config = ServerConfig {
            capabilities: ServerCapabilities {
                tools: Some(ToolsCapability::default()),
                ..ServerCapabilities::default()
            },
            ..ServerConfig::new("s", "1")
        };
        Self {
            http: HttpServer::new(Endpoint::default(), config, options).unwrap(),
            now: Instant::ZERO,
            calls: Vec::new(),
            seen: Vec::new(),
            principal: None,
        }
    }

    /// A site with the session `s`, whose streams can be polled.
    #[track_caller]
    fn opened(mut self) -> Self {
        self.check("POST", "", INITIALIZE, "200 s result");
        self.check("POST", "mcp-session-id: s", INITIALIZED, "202");
        self.seen.clear();
        self
    }

    /// Begins an exchange, with fields between semicolons.
    fn open(&mut self, method: &str, fields: &str) -> ExchangeId {
        let mut request = Sent {
            method,
            fields: vec![("host", "localhost"), ("content-type", "application/json")],
        };
        let lines = fields.split("; ").filter(|line| !line.is_empty());
        request
            .fields
            .extend(lines.map(|line| line.split_once(": ").unwrap()));
        self.http.open(self.now, &request, self.principal)
    }

    fn send(&mut self, method: &str, fields: &str, body: &str) -> ExchangeId {
        let exchange = self.open(method, fields);
        self.http.body(exchange, body.as_bytes());
        self.http.end_body(self.now, exchange, || "s".into());
        exchange
    }

    #[track_caller]
    fn check(&mut self, method: &str, fields: &str, body: &str, expected: &str) -> &mut Self {
        let exchange = self.send(method, fields, body);
        self.reads(exchange, expected)
    }

    fn work(&mut self) {
        loop {
            match self.http.step(self.now) {
                HttpStep::Event {
                    event,
                    mut commands,
                } => on(
                    self.now,
                    &event,
                    &mut commands,
                    &mut self.calls,
                    &mut self.seen,
                ),
                HttpStep::Ready(_) | HttpStep::Handled | HttpStep::Ignored(_) => {}
                HttpStep::Idle => break,
            }
        }
        let next = self.http.poll_timeout();
        assert!(next.is_none_or(|next| next > self.now), "{next:?}");
    }

    /// What can be read of a response: its status, session and words, with a `..` at the end
    /// while more may come.
    #[track_caller]
    fn reads(&mut self, exchange: ExchangeId, expected: &str) -> &mut Self {
        self.work();
        let mut found = Vec::new();
        let mut json = false;
        if let Some(head) = self.http.response(exchange) {
            json = head.length.is_some();
            found.push(head.status.to_string());
            head.fields(&mut |name, value| {
                if name == "mcp-session-id" {
                    found.push(String::from_utf8(value.to_vec()).unwrap());
                }
            });
            if head.close {
                found.push("close".into());
            }
        }
        let mut body = Vec::new();
        let mut read = StreamRead::More;
        while read == StreamRead::More {
            read = self.http.read(self.now, exchange, &mut body, 10);
        }
        let body = String::from_utf8(body).unwrap();
        if json && !body.is_empty() {
            found.push(word(&body));
        } else {
            found.extend(body.split_terminator("\n\n").map(event));
        }
        if read == StreamRead::Pending {
            found.push("..".into());
        }
        assert_eq!(found.join(" "), expected);
        self.work();
        self
    }

    #[track_caller]
    fn sees(&mut self, expected: &[&str]) -> &mut Self {
        self.work();
        assert_eq!(self.seen, expected);
        self.seen.clear();
        self
    }

    fn wait(&mut self, seconds: u64) -> &mut Self {
        self.now = self.now + Duration::from_secs(seconds);
        self.work();
        self
    }

    fn hang_up(&mut self, exchange: ExchangeId) -> &mut Self {
        self.http.hang_up(self.now, exchange);
        self.work();
        self
    }

    fn answer(&mut self, call: usize) -> Result<(), SendError> {
        let (machine, token) = self.calls[call];
        let mut commands = self.http.commands(machine).ok_or(SendError::Closed)?;
        commands.respond(self.now, token, Outcome::Result(&raw("{}")))
    }

    fn progress(&mut self, call: usize, value: f64) -> Result<(), SendError> {
        let (machine, token) = self.calls[call];
        let mut commands = self.http.commands(machine).ok_or(SendError::Closed)?;
        commands.progress(self.now, token, ProgressReport::new(value))
    }

    /// Nothing is left of what was.
    #[track_caller]
    fn is_empty(&mut self) {
        self.work();
        assert_eq!(self.http.poll_timeout(), None);
        let expected = "HttpServer { machines: 0, sessions: 0, exchanges: 0, .. }";
        assert_eq!(format!("{:?}", self.http), expected);
    }
}

fn on(
    now: Instant,
    event: &Event<'_>,
    commands: &mut Commands<'_, '_>,
    calls: &mut Vec<(ServerId, Token)>,
    seen: &mut Vec<&'static str>,
) {
    seen.push(match event {
        Event::Request { token, context, .. } => {
            match context.subject.is_some_and(|tool| tool == "wait") {
                true => calls.push((commands.id(), *token)),
                false => {
                    let result = raw("{}");
                    commands
                        .respond(now, *token, Outcome::Result(&result))
                        .unwrap();
                }
            }
            "request"
        }
        Event::Cancelled { .. } => "cancelled",
        Event::Handshake(_) => "handshake",
        Event::Initialized => "initialized",
        Event::Closed => "closed",
        other => panic!("{other:?}"),
    });
}

/// A message in a word.
fn word(message: &str) -> String {
    short_text(message).replace("notifications/", "")
}

/// An event in a word, with its id.
fn event(text: &str) -> String {
    let mut words = Vec::new();
    for line in text.lines() {
        words.push(match line.split_once(": ") {
            Some(("id", id)) => id.into(),
            Some(("data", data)) => word(data),
            _ => line.into(),
        });
    }
    words.join("=")
}

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
    assert_eq!(site.http.exchanges(), 0);
}

/// Each array as its elements are handled one by one, wherever it stands in the body.
#[test]
fn arrays() {
    let mut site = Site::new();
    let initialize = INITIALIZE.replace("2025-11-25", "2025-03-26");
    site.check("POST", "", &initialize, "200 s result")
        .check("POST", SESSION, INITIALIZED, "202");
    site.seen.clear();
    let both = format!(" [{CALL} , {INITIALIZED}]");
    let exchange = site.send("POST", SESSION, &both);
    site.work();
    let mut body = Vec::new();
    assert!(site.http.response(exchange).unwrap().length.is_some());
    while site.http.read(site.now, exchange, &mut body, 10) == StreamRead::More {}
    let results = raw(core::str::from_utf8(&body).unwrap()).array().unwrap();
    assert_eq!(results.elements().count(), 1);
    site.check("POST", SESSION, &format!("[{INITIALIZED}]"), "202");
    let waiting = site.send("POST", SESSION, &format!("[{CALL},{WAIT}]"));
    site.reads(waiting, "200 ..");
    site.answer(0).unwrap();
    site.work();
    let mut body = Vec::new();
    while site.http.read(site.now, waiting, &mut body, 10) == StreamRead::More {}
    assert_eq!(
        String::from_utf8(body).unwrap().matches("result").count(),
        2
    );
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
    site.http.body(late, b"{");
    site.wait(29).reads(late, "..");
    site.wait(1).reads(late, "408 close -32600");
    let long = site.open("POST", "");
    site.http.body(long, &[b' '; 200]);
    assert!(site.http.wants_body(long));
    let other = site.open("POST", "");
    site.http.body(other, &[b' '; 51]);
    assert!(!site.http.wants_body(other));
    site.reads(other, "503 close -32603");
    site.http.body(long, b" ");
    assert!(!site.http.wants_body(long));
    site.reads(long, "413 close -32600");
    // All of it was given back.
    let whole = site.open("POST", "");
    site.http.body(whole, &[b' '; 200]);
    assert!(site.http.wants_body(whole));
    site.hang_up(whole).is_empty();
}

#[test]
fn sessions_end() {
    let mut site = Site::new().opened();
    site.wait(1799).check("POST", SESSION, CALL, "200 result");
    // One that is read is not idle.
    let own = site.send("GET", SESSION, "");
    site.reads(own, "200 0-0=data: ..").wait(10_000);
    site.seen.clear();
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
    let late = site.send("POST", SESSION, CALL);
    site.check("DELETE", SESSION, "", "204")
        .sees(&["cancelled", "closed"]);
    site.reads(own, "").reads(call, "").reads(late, "404");
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
        let exchange = site.send("POST", fields, body);
        site.hang_up(exchange);
        site.seen.clear();
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
    site.reads(first, "").reads(second, "200 0-1=data: ..");
}

/// SH-13
#[test]
fn a_client_is_told_to_come_back() {
    let mut site = Site::new().opened();
    let call = site.send("POST", SESSION, WAIT);
    site.reads(call, "200 3-0=data: ..");
    let (machine, token) = site.calls[0];
    let mut commands = site.http.commands(machine).unwrap();
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
    site.reads(call, "200 3-0=data: ..");
    let exchange = site.send("POST", MODERN, &modern());
    site.check("POST", MODERN, &modern(), "503 -32603");
    site.hang_up(exchange);
    let exchange = site.send("POST", MODERN, &modern());
    site.reads(exchange, "..");
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
        site.http.body(exchange, INITIALIZE.as_bytes());
        site.http.end_body(site.now, exchange, || id.into());
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
    assert_eq!(site.http.exchanges(), 0);
}

/// SH-58
#[test]
fn a_session_is_its_openers() {
    let mut site = Site::new();
    site.principal = Some("ada");
    let mut site = site.opened();
    for other in [None, Some("eve")] {
        site.principal = other;
        site.check("POST", SESSION, CALL, "404 -32600")
            .check("DELETE", SESSION, "", "404 -32600");
        let exchange = site.open("GET", &format!("{SESSION}; accept: text/event-stream"));
        site.reads(exchange, "404 -32600");
    }
    site.principal = Some("ada");
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
    site.http.for_each(|mut commands| {
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
        site.http.body(exchange, INITIALIZE.as_bytes());
        site.http.end_body(site.now, exchange, || id.into());
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
        let head = site.http.response(exchange).unwrap();
        let mut text = String::new();
        head.fields(&mut |name, value| {
            if name.starts_with("access-control") || name == "vary" || name == "allow" {
                text += &format!("{name}: {}\n", String::from_utf8_lossy(value));
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
