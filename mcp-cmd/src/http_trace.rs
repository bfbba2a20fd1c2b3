//! Exchanges over HTTP, shown with `--trace`.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use super::plain::escaped;
use super::screen::Screen;
use super::style::{BLUE, DIM, GREEN, paint};
use super::target::shown;
use mcp_tokio::http::{HttpEvent, HttpStep};

/// Shows heads without secrets and bodies line by line as they arrive, with the number of their
/// exchange.
#[derive(Debug)]
pub(crate) struct HttpTrace {
    screen: Screen,
    /// The last line of each body that has not ended.
    lines: Mutex<HashMap<u64, Vec<u8>>>,
}

impl HttpTrace {
    pub(crate) fn new(screen: &Screen) -> Self {
        Self {
            screen: screen.clone(),
            lines: Mutex::default(),
        }
    }

    pub(crate) fn show(&self, event: &HttpEvent<'_>) {
        let sent = paint(BLUE, format_args!("-> #{}", event.exchange));
        let received = paint(GREEN, format_args!("<- #{}", event.exchange));
        let lines = || self.lines.lock().unwrap_or_else(PoisonError::into_inner);
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
                self.line(&sent, body);
            }
            HttpStep::Response { status, headers } => {
                self.say(&received, &status.to_string());
                for (name, value) in headers {
                    self.header(&received, name.as_str(), value.as_bytes(), false);
                }
            }
            HttpStep::Data(data) => {
                let mut lines = lines();
                let line = lines.entry(event.exchange).or_default();
                line.extend_from_slice(data);
                while let Some(end) = line.iter().position(|byte| *byte == b'\n') {
                    let rest = line.split_off(end + 1);
                    self.line(&received, line);
                    *line = rest;
                }
            }
            HttpStep::End => {
                let rest = lines().remove(&event.exchange);
                self.line(&received, &rest.unwrap_or_default());
            }
            _ => {}
        }
    }

    fn header(&self, direction: &str, name: &str, value: &[u8], is_secret: bool) {
        let value = match is_secret || SECRET.contains(&name) {
            true => "...".into(),
            false => String::from_utf8_lossy(value),
        };
        self.say(
            direction,
            &paint(DIM, format_args!("{name}: {}", escaped(&value))),
        );
    }

    fn line(&self, direction: &str, line: &[u8]) {
        let line = String::from_utf8_lossy(line);
        if !line.trim().is_empty() {
            self.say(direction, &escaped(line.trim_end()));
        }
    }

    fn say(&self, direction: &str, text: &str) {
        self.screen.say(format!("{direction} {text}"));
    }
}

/// Headers whose values let another program act for the user. Those that the user gives are not
/// shown either.
const SECRET: [&str; 6] = [
    "authorization",
    "cookie",
    "dpop",
    "mcp-session-id",
    "proxy-authorization",
    "set-cookie",
];
