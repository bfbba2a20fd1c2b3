//! Requests over HTTP, hang-ups and time, before the conversations of one endpoint.

use core::time::Duration;
use std::collections::BTreeSet;

use mcp_proto::http::{Endpoint, Head};
use mcp_proto::json::{MAX_DEPTH, Raw};
use mcp_proto::model::{ServerCapabilities, ServerFeatures};
use mcp_proto::rpc::{Incoming, Message, Messages};
use mcp_proto::server::http::streams::{StreamLimits, StreamRead};
use mcp_proto::server::http::{ExchangeId, HttpOptions, HttpServer, HttpStep, ServerId};
use mcp_proto::server::{Event, ProgressReport, ServerConfig};
use mcp_proto::{Action, Instant, Outcome, Token};

use crate::request_heads::Lines;

/// Whatever comes in whatever order: each exchange has at most one response, a body is one message or whole events, and
/// nothing is left of clients that are gone.
///
/// The input is commands with a zero byte between them: a request as HTTP/1.1 writes it, or a letter and a digit:
/// `h2` hangs the third exchange up, `b2` reads from it, `a0` answers the first call that waits, `p0` reports its progress,
/// `t9` lets 9 minutes pass.
pub fn http_conversations(input: &[u8]) {
    let config = ServerConfig {
        capabilities: ServerCapabilities {
            features: ServerFeatures::TOOLS,
            ..ServerCapabilities::default()
        },
        ..ServerConfig::new("s", "1")
    };
    let options = HttpOptions {
        exchanges: 4,
        streams: StreamLimits {
            streams: 4,
            events: 8,
            bytes: 1 << 10,
            unread: 64,
        },
        ..HttpOptions::default()
    };
    let http = HttpServer::new(Endpoint::default(), config, options);
    let mut site = Site {
        http: http.expect("a configuration without extensions"),
        now: Instant::ZERO,
        exchanges: Vec::new(),
        begun: BTreeSet::new(),
        calls: Vec::new(),
        sessions: 0,
    };
    for command in input.split(|byte| *byte == 0) {
        match command {
            [letter, digit @ b'0'..=b'9'] => site.command(*letter, usize::from(digit - b'0')),
            request => site.request(request),
        }
        site.work();
    }
    site.end();
}

struct Site {
    http: HttpServer<'static>,
    now: Instant,
    exchanges: Vec<ExchangeId>,
    /// Those whose response has begun, and whether it is a stream.
    begun: BTreeSet<(ExchangeId, bool)>,
    calls: Vec<(ServerId, Token)>,
    sessions: u32,
}

impl Site {
    fn request(&mut self, request: &[u8]) {
        let end = request.windows(2).position(|pair| pair == b"\n\n");
        let (head, body) = match end {
            Some(end) => (&request[..end], &request[end + 2..]),
            None => (request, &b""[..]),
        };
        let Some(head) = Lines::parse(head) else {
            return;
        };
        let exchange = self.http.open(self.now, &head, None);
        self.exchanges.push(exchange);
        assert!(!self.http.wants_body(exchange) || head.method() == "POST");
        for part in body.chunks(9) {
            self.http.body(exchange, part);
        }
        let sessions = &mut self.sessions;
        let body = self.http.end_body(self.now, exchange, || {
            *sessions += 1;
            format!("s{sessions}")
        });
        let Some(body) = body else {
            return;
        };
        for message in body.messages() {
            let received = self.http.receive(self.now, &body, message);
            if let Action::Event(event) = received {
                self.on(body.machine(), &event);
            }
        }
        self.http.finish(self.now, body);
    }

    fn command(&mut self, letter: u8, number: usize) {
        let exchange = self.exchanges.get(number).copied();
        let call = self.calls.get(number).copied();
        match (letter, exchange, call) {
            (b'h', Some(exchange), _) => self.http.hang_up(self.now, exchange),
            (b'b', Some(exchange), _) => self.read(exchange, 50),
            (b'a', _, Some((machine, token))) => {
                let result = Raw::EMPTY_OBJECT;
                if let Some(mut commands) = self.http.commands(machine) {
                    let _ = commands.respond(self.now, token, Outcome::Result(&result));
                }
            }
            (b'p', _, Some((machine, token))) => {
                let (now, progress) = (self.now, ProgressReport::new(self.now.as_millis() as f64));
                if let Some(mut commands) = self.http.commands(machine) {
                    let _ = commands.send(Some(token), |server, out| {
                        server.progress(now, token, progress, out)
                    });
                }
            }
            (b't', ..) => self.now = self.now + Duration::from_secs(60 * number as u64),
            _ => {}
        }
    }

    fn on(&mut self, machine: ServerId, event: &Event<'_>) {
        match event {
            Event::Request { token, .. } => self.calls.push((machine, *token)),
            Event::Cancelled { token, .. } => {
                let before = self.calls.len();
                self.calls.retain(|call| *call != (machine, *token));
                assert!(self.calls.len() <= before);
            }
            _ => {}
        }
    }

    fn work(&mut self) {
        loop {
            match self.http.step(self.now) {
                HttpStep::Event { machine, event } => self.on(machine, &event),
                HttpStep::Ready(exchange) => assert!(self.exchanges.contains(&exchange)),
                HttpStep::Idle => break,
            }
        }
        let next = self.http.poll_timeout();
        assert!(next.is_none_or(|next| next > self.now));
    }

    fn read(&mut self, exchange: ExchangeId, max: usize) {
        let mut whole = None;
        if let Some(head) = self.http.response(exchange) {
            assert!((200..600).contains(&head.status));
            whole = head.length;
            let is_new = self.begun.insert((exchange, whole.is_none()));
            assert!(is_new, "a second response");
        }
        let mut body = Vec::new();
        let mut read = self.http.read(self.now, exchange, &mut body, max);
        if let Some(length) = whole {
            while read == StreamRead::More {
                read = self.http.read(self.now, exchange, &mut body, max);
            }
            assert_eq!((body.len(), read), (length, StreamRead::End));
            assert!(body.is_empty() || is_message(&body));
        } else if read != StreamRead::More && !body.is_empty() {
            // What ends a portion ends an event, which may have begun in the portion before.
            assert!(body.ends_with(b"\n\n"));
        }
    }

    /// All clients go, and time passes: nothing stays.
    fn end(&mut self) {
        for exchange in core::mem::take(&mut self.exchanges) {
            self.http.hang_up(self.now, exchange);
        }
        for (machine, token) in core::mem::take(&mut self.calls) {
            if let Some(mut commands) = self.http.commands(machine) {
                let _ = commands.respond(self.now, token, Outcome::Result(&Raw::EMPTY_OBJECT));
            }
        }
        self.work();
        self.now = self.now + Duration::from_secs(3 * 3600);
        self.work();
        let left = format!("{:?}", self.http);
        assert_eq!(
            left,
            "HttpServer { machines: 0, sessions: 0, exchanges: 0, .. }"
        );
        assert_eq!(self.http.poll_timeout(), None);
    }
}

/// Returns true for a body that is one message, or an array of messages.
fn is_message(body: &[u8]) -> bool {
    Messages::new(body, MAX_DEPTH)
        .all(|incoming| !matches!(incoming, Incoming::Message(Message::Invalid(_))))
}
