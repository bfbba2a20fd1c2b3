//! The same requests to the driver: what it says of each has to be the same.

use mcp_proto::http::Endpoint;
use mcp_proto::server::http::{Commands, HttpOptions};
use mcp_proto::server::{Event, ServerConfig};
use mcp_proto::{Instant, Outcome};

use crate::http::{Application, Sent, Served};
use crate::http_server::site::{raw, short_text};

/// A driver whose application answers all but the tools that `wait`.
pub(crate) struct Twin {
    served: Served,
    opened: usize,
}

struct App;

impl Application for App {
    fn on(&mut self, now: Instant, event: &Event<'_>, mut commands: Commands<'_, 'static>) {
        if let Event::Request { token, context, .. } = event
            && context.subject.is_none_or(|tool| tool != "wait")
        {
            let result = raw("{}");
            commands
                .respond(now, *token, Outcome::Result(&result))
                .unwrap();
        }
    }
}

impl Twin {
    pub(crate) fn new(endpoint: Endpoint<'static>, config: ServerConfig<'static>) -> Self {
        Self {
            served: Served::new(endpoint, config, HttpOptions::default()),
            opened: 0,
        }
    }

    /// Sends a POST and says in short what comes of it at once.
    pub(crate) fn post(&mut self, head: &Sent, body: &str) -> String {
        let Self { served, opened } = self;
        let (exchange, _) = served.request(&mut App, head, body.as_bytes(), || {
            *opened += 1;
            format!("s{}", *opened - 1)
        });
        let Some(head) = served.response(exchange) else {
            return "open".into();
        };
        let (text, ended) = served.read(&mut App, exchange, 100);
        let text = String::from_utf8(text).unwrap();
        let mut words = vec![head.status.to_string()];
        match head.length {
            Some(0) => {}
            Some(_) => words.push(short_text(&text)),
            None => {
                let messages = text.lines().filter_map(|line| line.strip_prefix("data: "));
                words.extend(messages.map(short_text));
                match (words.len(), ended) {
                    (1, false) => words.clear(),
                    // The end alone.
                    (1, _) => words.push(String::new()),
                    _ => {}
                }
            }
        }
        if !ended {
            words.push("open".into());
        }
        words.join(" ")
    }
}
