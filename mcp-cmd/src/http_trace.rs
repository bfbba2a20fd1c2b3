//! Exchanges over HTTP, shown with `--trace`.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::body_lines::BodyLines;
use super::plain::escaped;
use super::screen::Screen;
use super::secrets::is_secret;
use super::style::{BLUE, DIM, GREEN, RED, paint};
use super::url::shown;
use mcp_tokio::http::{HttpEvent, HttpStep};

/// Shows heads without secrets and bodies line by line as they arrive, with the number of their
/// exchange.
#[derive(Debug)]
pub(crate) struct HttpTrace {
    screen: Screen,
    /// Of each exchange whose body has not ended.
    bodies: Mutex<HashMap<u64, BodyLines>>,
}

impl HttpTrace {
    pub(crate) fn new(screen: &Screen) -> Self {
        Self {
            screen: screen.clone(),
            bodies: Mutex::default(),
        }
    }

    pub(crate) fn show(&self, event: &HttpEvent<'_>) {
        let sent = paint(BLUE, format_args!("-> #{}", event.exchange));
        let received = paint(GREEN, format_args!("<- #{}", event.exchange));
        let bodies = || self.bodies.lock().unwrap_or_else(PoisonError::into_inner);
        match event.step {
            HttpStep::Request {
                method,
                url,
                headers,
                body,
            } => {
                self.say(&sent, &format!("{method} {}", shown(&url.to_string())));
                for (name, value) in headers {
                    self.header(&sent, name.as_str(), value.as_bytes(), value.is_sensitive());
                }
                let mut lines = BodyLines::default();
                lines.push(body, |line| self.line(&sent, line));
                lines.end(|line| self.line(&sent, line));
            }
            HttpStep::Response { status, headers } => {
                self.say(&received, &status.to_string());
                for (name, value) in headers {
                    self.header(&received, name.as_str(), value.as_bytes(), false);
                }
            }
            HttpStep::Data(data) => {
                let mut bodies = bodies();
                let lines = bodies.entry(event.exchange).or_default();
                lines.push(data, |line| self.line(&received, line));
            }
            HttpStep::End | HttpStep::Failed(_) => {
                let lines = bodies().remove(&event.exchange);
                lines
                    .unwrap_or_default()
                    .end(|line| self.line(&received, line));
                if let HttpStep::Failed(reason) = event.step {
                    let text = format!("failed: {}", escaped(reason));
                    self.say(&received, &paint(RED, text));
                }
            }
            _ => {}
        }
    }

    fn header(&self, direction: &str, name: &str, value: &[u8], is_sensitive: bool) {
        let value = match String::from_utf8_lossy(value) {
            _ if is_sensitive || is_secret(name) => "...".into(),
            url if ["content-location", "location"].contains(&name) => shown(&url).into(),
            value => value,
        };
        self.say(
            direction,
            &paint(DIM, format_args!("{name}: {}", escaped(&value))),
        );
    }

    fn line(&self, direction: &str, line: &str) {
        self.say(direction, &escaped(&without_session(line)));
    }

    fn say(&self, direction: &str, text: &str) {
        self.screen.say(format!("{direction} {text}"));
    }
}

/// Returns a line of a body without the query of a URL that is the data of an event: in HTTP+SSE
/// (2024-11-05) the event `endpoint` has one with the session. The data of other events is JSON, which
/// has none of these characters before a quotation mark.
fn without_session(line: &str) -> Cow<'_, str> {
    let data = line.strip_prefix("data:").map(str::trim);
    let start = data.and_then(|data| data.split('"').next());
    match data.filter(|_| start.is_some_and(|it| it.contains(['?', '#', '@']))) {
        Some(url) => format!("data: {}", shown(url)).into(),
        None => line.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_are_cut() {
        let check = |line: &str, expected: &str| assert_eq!(without_session(line), expected);
        check("data: /messages?id=1", "data: /messages?...");
        check("data:m?id=\"1\"", "data: m?...");
        check("data: http://u:p@a/m?id=1\r", "data: http://a/m?...");
        check("data: /messages", "data: /messages");
        check("data: {\"a?\":1}", "data: {\"a?\":1}");
        check("data: [1,2]", "data: [1,2]");
        check("event: a?b", "event: a?b");
    }
}
