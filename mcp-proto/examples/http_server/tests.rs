//! Requests as `curl` sends them.

use core::net::SocketAddr;
use core::sync::atomic::{AtomicBool, Ordering};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;

use super::*;

/// Runs a script against a server, and returns how many calls were cancelled.
fn serve(script: impl FnOnce(SocketAddr)) -> usize {
    serve_with(HttpOptions::default(), script)
}

fn serve_with(options: HttpOptions, script: impl FnOnce(SocketAddr)) -> usize {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    let over = &AtomicBool::new(false);
    std::thread::scope(|scope| {
        let server = scope.spawn(move || {
            let mut server = Server::new(listener, options).unwrap();
            while !over.load(Ordering::Relaxed) {
                server.turn().unwrap();
            }
            // A client that hung up at last is seen before its call could end.
            while server.app.next_timeout().is_some() {
                server.turn().unwrap();
            }
            server.app.cancelled
        });
        let script = core::panic::AssertUnwindSafe(|| script(address));
        let ended = std::panic::catch_unwind(script);
        over.store(true, Ordering::Relaxed);
        let cancelled = server.join().unwrap();
        ended.unwrap();
        cancelled
    })
}

/// A connection with one request on it.
struct Curl {
    stream: BufReader<TcpStream>,
    status: u16,
    fields: Vec<(String, String)>,
    /// What was read of an event stream.
    events: String,
}

impl Curl {
    fn send(address: SocketAddr, method: &str, fields: &str, body: &str) -> Self {
        let mut socket = TcpStream::connect(address).unwrap();
        socket
            .set_read_timeout(Some(Duration::from_secs(10)))
            .unwrap();
        let length = body.len();
        let head = format!(
            "{method} /mcp HTTP/1.1\r\nhost: localhost\r\naccept: */*\r\n\
             content-type: application/json\r\ncontent-length: {length}\r\n{fields}\r\n"
        );
        socket.write_all(head.as_bytes()).unwrap();
        socket.write_all(body.as_bytes()).unwrap();
        let mut curl = Self {
            stream: BufReader::new(socket),
            status: 0,
            fields: Vec::new(),
            events: String::new(),
        };
        curl.status = curl.line().split(' ').nth(1).unwrap().parse().unwrap();
        loop {
            let line = curl.line();
            let Some((name, value)) = line.split_once(": ") else {
                return curl;
            };
            curl.fields.push((name.into(), value.into()));
        }
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.stream.read_line(&mut line).unwrap();
        line.trim_end().into()
    }

    fn field(&self, name: &str) -> Option<&str> {
        let field = self.fields.iter().find(|(key, _)| key == name);
        field.map(|(_, value)| value.as_str())
    }

    /// A body whose length is known.
    fn json(mut self) -> String {
        let length = self.field("content-length").unwrap().parse().unwrap();
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body).unwrap();
        String::from_utf8(body).unwrap()
    }

    /// The next event; `None` at the end of the stream.
    fn event(&mut self) -> Option<String> {
        while !self.events.contains("\n\n") {
            let size = usize::from_str_radix(&self.line(), 16).unwrap();
            let mut chunk = vec![0; size + 2];
            self.stream.read_exact(&mut chunk).unwrap();
            if size == 0 {
                return None;
            }
            let text = String::from_utf8(chunk).unwrap();
            self.events.push_str(text.trim_end_matches("\r\n"));
        }
        let (event, rest) = self.events.split_once("\n\n").unwrap();
        let (event, rest) = (event.to_owned(), rest.to_owned());
        self.events = rest;
        Some(event)
    }
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"curl","version":"8"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const COUNT: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"count","_meta":{"progressToken":7}}}"#;

/// The fields of requests of a session.
fn open(address: SocketAddr) -> String {
    let opened = Curl::send(address, "POST", "", INITIALIZE);
    assert_eq!(opened.status, 200);
    let session = opened.field("mcp-session-id").unwrap().to_owned();
    assert!(opened.json().contains(r#""protocolVersion":"2025-11-25""#));
    let fields = format!("mcp-session-id: {session}\r\nmcp-protocol-version: 2025-11-25\r\n");
    let initialized = Curl::send(address, "POST", &fields, INITIALIZED);
    assert_eq!(initialized.status, 202);
    fields
}

#[test]
fn a_session() {
    let cancelled = serve(|address| {
        let fields = open(address);
        let mut own = Curl::send(address, "GET", &fields, "");
        assert_eq!(own.field("content-type"), Some("text/event-stream"));
        assert_eq!(own.event().unwrap(), "id: 0-0\ndata:");

        let mut call = Curl::send(address, "POST", &fields, COUNT);
        assert_eq!(call.event().unwrap(), "id: 3-0\ndata:");
        let progress = call.event().unwrap();
        assert!(progress.starts_with("id: 3-1\ndata: ") && progress.contains(r#""progress":1"#));
        // The connection breaks, and the client comes back for the rest.
        drop(call);
        let resumed = format!("{fields}last-event-id: 3-1\r\n");
        let mut call = Curl::send(address, "GET", &resumed, "");
        let mut rest = Vec::new();
        while let Some(event) = call.event() {
            rest.push(event);
        }
        let has = |text: &str| rest.iter().filter(|event| event.contains(text)).count();
        assert_eq!(
            (has(r#""progress":2"#), has(r#""text":"3""#)),
            (1, 1),
            "{rest:?}"
        );

        let deleted = Curl::send(address, "DELETE", &fields, "");
        assert_eq!(deleted.status, 204);
        assert_eq!(own.event(), None);
        let late = Curl::send(address, "POST", &fields, COUNT);
        assert_eq!(late.status, 404);
    });
    assert_eq!(cancelled, 0);
}

/// A request of 2026-07-28 and its fields.
fn modern(method: &str, params: &str) -> (String, String) {
    let name = match params.contains("count") {
        true => "mcp-name: count\r\n",
        false => "",
    };
    let fields = format!("mcp-protocol-version: 2026-07-28\r\nmcp-method: {method}\r\n{name}");
    let body = format!(
        r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{{params}"_meta":{{"progressToken":7,"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{}}}}}}}}"#
    );
    (fields, body)
}

#[test]
fn requests_without_a_session() {
    let cancelled = serve(|address| {
        let (fields, list) = modern("tools/list", "");
        let response = Curl::send(address, "POST", &fields, &list);
        assert_eq!(
            (response.status, response.field("mcp-session-id")),
            (200, None)
        );
        assert!(response.json().contains(r#""name":"count""#));

        let (fields, call) = modern("tools/call", r#""name":"count","#);
        let mut response = Curl::send(address, "POST", &fields, &call);
        let events: Vec<_> = core::iter::from_fn(|| response.event()).collect();
        assert_eq!(events.len(), 3, "{events:?}");
        assert!(events[2].contains(r#""text":"3""#));
    });
    assert_eq!(cancelled, 0);
}

#[test]
fn a_client_that_hangs_up_cancels() {
    let cancelled = serve(|address| {
        let (fields, call) = modern("tools/call", r#""name":"count","#);
        let mut response = Curl::send(address, "POST", &fields, &call);
        assert!(response.event().unwrap().contains(r#""progress":1"#));
    });
    assert_eq!(cancelled, 1);
}

#[test]
fn what_is_refused() {
    serve(|address| {
        let refused = Curl::send(
            address,
            "POST",
            "origin: http://attacker.example\r\n",
            COUNT,
        );
        assert_eq!(refused.status, 403);
        assert_eq!(refused.field("connection"), Some("close"));
        let unknown = Curl::send(address, "POST", "mcp-session-id: x\r\n", COUNT);
        assert_eq!(unknown.status, 404);
        let twice = Curl::send(address, "POST", "content-length: 1\r\n", COUNT);
        assert_eq!(twice.status, 400);
    });
}

/// Everything that the server says on a connection, until it closes it.
fn whole(address: SocketAddr, request: &str) -> String {
    let mut socket = TcpStream::connect(address).unwrap();
    socket
        .set_read_timeout(Some(Duration::from_secs(10)))
        .unwrap();
    socket.write_all(request.as_bytes()).unwrap();
    let mut said = String::new();
    socket.read_to_string(&mut said).unwrap();
    said
}

#[test]
fn a_connection_ends_where_the_client_wants_it() {
    serve(|address| {
        for (version, field) in [("1.1", "connection: TE, Close\r\n"), ("1.0", "")] {
            let request = format!(
                "POST /mcp HTTP/{version}\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                 {field}content-length: {}\r\n\r\n{INITIALIZE}",
                INITIALIZE.len()
            );
            let said = whole(address, &request);
            assert!(said.starts_with("HTTP/1.1 200 "), "{said}");
            assert_eq!(said.matches("connection: close\r\n").count(), 1, "{said}");
            assert!(said.contains(r#""protocolVersion":"2025-11-25""#), "{said}");
        }
    });
}

#[test]
fn a_response_to_head_has_no_body() {
    serve(|address| {
        let head = |field| format!("HEAD /mcp HTTP/1.1\r\nhost: localhost\r\n{field}\r\n");
        let both = head("") + &head("connection: close\r\n");
        let said = whole(address, &both);
        let heads: Vec<_> = said.split_inclusive("\r\n\r\n").collect();
        assert_eq!(heads.len(), 2, "{said}");
        assert!(heads.iter().all(|head| head.starts_with("HTTP/1.1 405 ")));
    });
}

#[test]
fn a_head_that_does_not_end_is_not_waited_for() {
    let mut options = HttpOptions::default();
    options.limits.head = Duration::from_millis(100);
    serve_with(options, |address| {
        let said = whole(address, "POST /mcp HTTP/1.1\r\nhost: ");
        assert!(said.starts_with("HTTP/1.1 408 "), "{said}");
        // Neither is a next one.
        assert_eq!(whole(address, ""), "");
        let options = "OPTIONS /mcp HTTP/1.1\r\nhost: localhost\r\n\r\n";
        let said = whole(address, options);
        assert!(said.starts_with("HTTP/1.1 405 "), "{said}");
    });
}
