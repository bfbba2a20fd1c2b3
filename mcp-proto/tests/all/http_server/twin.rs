//! The same requests to the driver: what it says of each has to be the same.

use mcp_proto::http::Endpoint;
use mcp_proto::server::http::streams::StreamRead;
use mcp_proto::server::http::{HttpOptions, HttpServer, HttpStep};
use mcp_proto::server::{Event, ServerConfig};
use mcp_proto::{Action, Instant, Outcome};

use crate::http_server::site::{Sent, raw, short_text};

/// A driver whose application answers all but the tools that `wait`.
pub(crate) struct Twin {
    http: HttpServer<'static>,
    opened: usize,
}

impl Twin {
    pub(crate) fn new(endpoint: Endpoint<'static>, config: ServerConfig<'static>) -> Self {
        Self {
            http: HttpServer::new(endpoint, config, HttpOptions::default()).unwrap(),
            opened: 0,
        }
    }

    /// Sends a POST and says in short what comes of it at once.
    pub(crate) fn post(&mut self, head: &Sent<'_>, body: &str) -> String {
        let now = Instant::ZERO;
        let exchange = self.http.open(now, head, None);
        self.http.body(exchange, body.as_bytes());
        let opened = &mut self.opened;
        let body = self.http.end_body(now, exchange, || {
            *opened += 1;
            format!("s{}", *opened - 1)
        });
        if let Some(body) = body {
            for message in body.messages() {
                let received = self.http.receive(now, &body, message);
                let Action::Event(Event::Request { token, context, .. }) = received else {
                    continue;
                };
                if context.subject.is_none_or(|tool| tool != "wait") {
                    let result = raw("{}");
                    let mut commands = self.http.commands(body.machine()).unwrap();
                    commands
                        .respond(now, token, Outcome::Result(&result))
                        .unwrap();
                }
            }
            self.http.finish(now, body);
        }
        while !matches!(self.http.step(now), HttpStep::Idle) {}
        let Some(head) = self.http.response(exchange) else {
            return "open".into();
        };
        let (status, length) = (head.status, head.length);
        let mut text = Vec::new();
        let mut read = StreamRead::More;
        while read == StreamRead::More {
            read = self.http.read(now, exchange, &mut text, 100);
        }
        let text = String::from_utf8(text).unwrap();
        let mut words = vec![status.to_string()];
        match length {
            Some(0) => {}
            Some(_) => words.push(short_text(&text)),
            None => {
                let messages = text.lines().filter_map(|line| line.strip_prefix("data: "));
                words.extend(messages.map(short_text));
                match (words.len(), read) {
                    (1, StreamRead::Pending) => words.clear(),
                    // The end alone.
                    (1, _) => words.push(String::new()),
                    _ => {}
                }
            }
        }
        if read == StreamRead::Pending {
            words.push("open".into());
        }
        words.join(" ")
    }
}
