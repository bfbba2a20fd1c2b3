//! A server behind HTTP without sockets.

use core::time::Duration;
use std::collections::BTreeMap;

use mcp_proto::http::Endpoint;
use mcp_proto::server::http::{Commands, ExchangeId, HttpOptions, ServerId};
use mcp_proto::server::{Event, Growing, Server, ServerConfig};
use mcp_proto::{IgnoreReason, Instant, Outcome, Revision, SendError, Token, Transmit, Written};

use super::heads::{BOTH, Heads};
use super::peer::Peer;
use super::script::Driver;
use super::server::{answer, config, configure};
use super::text::lines;
use super::transcript::Transcript;
use crate::http::{Application, Response, Sent, Served};
use crate::script::host::{Host, Reach};

pub(crate) struct Site {
    endpoint: Endpoint<'static>,
    config: ServerConfig<'static>,
    /// Made when the configuration is known.
    served: Option<Served>,
    apps: Apps,
    peer: Peer,
    heads: Heads,
    opened: u32,
    /// The machine that commands are for.
    current: Option<ServerId>,
    /// The responses that have not ended, by number.
    open: Vec<(u32, ExchangeId, bool)>,
    numbers: u32,
}

/// The application of each machine.
#[derive(Default)]
struct Apps {
    machines: BTreeMap<ServerId, Host>,
    /// The lines that are not written yet, with their marks.
    lines: Vec<(&'static str, String)>,
}

impl Application for Apps {
    fn on(&mut self, now: Instant, event: &Event<'_>, mut commands: Commands<'_, 'static>) {
        let host = self.machines.entry(commands.id()).or_default();
        self.lines.push(("=", host.tell_in_full(event)));
        if let Err(error) = answer(host, now, event, &mut commands) {
            self.lines.push(("!", format!("{error:?}")));
        }
    }

    fn ignored(&mut self, why: IgnoreReason) {
        self.lines.push(("~", format!("{why:?}")));
    }
}

impl Reach for Commands<'_, 'static> {
    type Storage = Growing;

    fn put<T: Written>(
        &mut self,
        request: Option<Token>,
        write: impl FnMut(&mut Server<'static, Growing>, &mut [u8]) -> Result<T, SendError>,
    ) -> Result<T, SendError> {
        self.send(request, write)
    }

    fn respond(&mut self, now: Instant, to: Token, with: Outcome<'_>) -> Result<(), SendError> {
        Commands::respond(self, now, to, with)
    }

    fn server(&mut self, mut change: impl FnMut(&mut Server<'static, Growing>)) {
        let nothing = Commands::put(self, |host, _| {
            change(host);
            Ok::<_, SendError>(None::<Transmit>)
        });
        assert_eq!(nothing, Ok(None));
    }
}

impl Driver for Site {
    fn new(revision: Revision) -> Self {
        let config = config();
        Self {
            endpoint: Endpoint {
                revisions: config.revisions,
                ..Endpoint::default()
            },
            config,
            served: None,
            apps: Apps::default(),
            peer: Peer::new(revision),
            heads: Heads::new(revision),
            opened: 0,
            current: None,
            open: Vec::new(),
            numbers: 0,
        }
    }

    fn command(&mut self, verb: &str, rest: &str, transcript: &mut Transcript) {
        match verb {
            "config" if rest == "no-sessions" => self.endpoint.sessions = false,
            "config" => {
                configure(&mut self.config, rest);
                self.endpoint.revisions = self.config.revisions;
                self.heads.draft |= self.config.draft_profile;
            }
            "head" => self.heads.next(rest),
            "get" | "delete" | "options" => {
                let head = self.heads.bodiless(verb, rest);
                self.request(&head, "", transcript);
            }
            "close" => self.close(rest.parse().expect("a response"), transcript),
            "+" => {
                transcript.line(".", &format!("{verb} {rest}"));
                let passed = rest.parse().expect("milliseconds");
                let (served, apps) = self.parts();
                served.now = served.now + Duration::from_millis(passed);
                served.work(apps);
            }
            _ => self.talk(verb, rest, transcript),
        }
        self.read(transcript);
    }
}

impl Site {
    fn parts(&mut self) -> (&mut Served, &mut Apps) {
        let (endpoint, config) = (self.endpoint, self.config);
        let served = self.served.get_or_insert_with(|| {
            let options = HttpOptions {
                // Comments are not part of the scripts.
                keep_alive: Duration::MAX,
                ..HttpOptions::default()
            };
            let mut served = Served::new(endpoint, config, options);
            served.now = Instant::from_millis(1_000);
            served
        });
        (served, &mut self.apps)
    }

    fn talk(&mut self, verb: &str, rest: &str, transcript: &mut Transcript) {
        let app = self.current.and_then(|it| self.apps.machines.get_mut(&it));
        if Peer::answers(rest)
            && let Some(app) = app
        {
            self.peer.question = app.asked.take();
        }
        if let Some(messages) = self.peer.say(verb, rest) {
            for message in messages {
                let head = self.heads.post(&message);
                self.request(&head, &message, transcript);
                self.read(transcript);
            }
            return;
        }
        transcript.line(".", format!("{verb} {rest}").trim_end());
        let everywhere = matches!(verb, "changed" | "updated");
        let current = self.current;
        let (served, apps) = self.parts();
        let now = served.now;
        for (machine, app) in &mut apps.machines {
            if !everywhere && Some(*machine) != current {
                continue;
            }
            let Some(mut commands) = served.http.commands(*machine) else {
                continue;
            };
            if verb == "disconnect" {
                let retry = rest.parse().expect("milliseconds");
                let call = app.last_held().expect("a call is held");
                commands.disconnect(call, Duration::from_millis(retry));
            } else {
                let done = app.command(now, verb, rest, &mut commands);
                if let Err(error) = done.unwrap_or_else(|| panic!("no such command: {verb}")) {
                    apps.lines.push(("!", format!("{error:?}")));
                }
            }
        }
        served.work(apps);
    }

    fn request(&mut self, head: &Sent, body: &str, transcript: &mut Transcript) {
        write_down(head, transcript);
        if !body.is_empty() {
            transcript.line(">", body);
        }
        self.opened += 1;
        let session = format!("session-{}", self.opened);
        let (served, apps) = self.parts();
        let mut is_new = false;
        let (exchange, machine) = served.request(apps, head, body.as_bytes(), || {
            is_new = true;
            session
        });
        self.opened -= u32::from(!is_new);
        self.current = machine.or(self.current);
        self.write_apps(transcript);
        self.numbers += 1;
        let number = self.numbers;
        let (served, _) = self.parts();
        match served.response(exchange) {
            None => transcript.line("<", &format!("nothing yet, response {number}")),
            Some(head) if head.length.is_none() => {
                transcript.line("<", &format!("{}, response {number}", text(&head)));
                self.open.push((number, exchange, true));
                return;
            }
            Some(head) => {
                self.numbers -= 1;
                return self.whole("<", exchange, &head, transcript);
            }
        }
        self.open.push((number, exchange, false));
    }

    /// Writes down a response with its body.
    fn whole(&mut self, mark: &str, of: ExchangeId, head: &Response, transcript: &mut Transcript) {
        transcript.line(mark, &text(head));
        if let Some(session) = head.field("mcp-session-id") {
            self.heads.session = Some(session.to_owned());
        }
        let (served, apps) = self.parts();
        let (body, ended) = served.read(apps, of, 64);
        assert!(ended);
        if !body.is_empty() {
            transcript.bytes(mark, &body);
        }
    }

    /// The client is gone that reads a response.
    fn close(&mut self, number: u32, transcript: &mut Transcript) {
        let Some(at) = self.open.iter().position(|(other, ..)| *other == number) else {
            return;
        };
        transcript.line(&format!(">{number}"), "closed");
        let (_, exchange, _) = self.open.remove(at);
        let (served, apps) = self.parts();
        served.http.hang_up(served.now, exchange);
        served.work(apps);
    }

    /// Reads all responses as far as they are.
    fn read(&mut self, transcript: &mut Transcript) {
        self.write_apps(transcript);
        for (number, exchange, has_head) in core::mem::take(&mut self.open) {
            let mark = format!("<{number}");
            let (served, apps) = self.parts();
            if !has_head {
                match served.response(exchange) {
                    None => {
                        self.open.push((number, exchange, false));
                        continue;
                    }
                    Some(head) if head.length.is_some() => {
                        self.whole(&mark, exchange, &head, transcript);
                        continue;
                    }
                    Some(head) => transcript.line(&mark, &text(&head)),
                }
            }
            let (body, ended) = served.read(apps, exchange, 64);
            lines(transcript, &mark, &body);
            if ended {
                transcript.line(&mark, "end");
            } else {
                self.open.push((number, exchange, true));
            }
        }
        self.write_apps(transcript);
    }

    fn write_apps(&mut self, transcript: &mut Transcript) {
        for (mark, line) in self.apps.lines.drain(..) {
            transcript.line(mark, &line);
        }
    }
}

/// The head of a response in a line.
fn text(head: &Response) -> String {
    let mut text = head.status.to_string();
    if let Some(kind) = head.field("content-type") {
        text.push(' ');
        text.push_str(kind);
    }
    if head.field("access-control-allow-methods").is_some() {
        text.push_str(", a preflight");
    }
    if let Some(session) = head.field("mcp-session-id") {
        text.push_str(", mcp-session-id: ");
        text.push_str(session);
    }
    text
}

/// Writes down the head, without the fields that every request has.
fn write_down(head: &Sent, transcript: &mut Transcript) {
    transcript.line(">", &format!("{} {}", head.method, head.path));
    for (name, value) in &head.fields {
        let value = core::str::from_utf8(value).expect("a field is text");
        if !USUAL.contains(&(name, value)) {
            transcript.line(">", &format!("  {name}: {value}"));
        }
    }
}

const USUAL: [(&str, &str); 4] = [
    ("host", "localhost"),
    ("content-type", "application/json"),
    ("accept", BOTH),
    ("accept", "text/event-stream"),
];
