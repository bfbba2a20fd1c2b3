//! A typed server behind HTTP without sockets, and a client that is a script.

use core::time::Duration;

use http::Request;
use mcp_async::http::HttpService;
use mcp_async::server::Registry;
use mcp_proto::Revision;

use super::Sent;
use super::heads::Heads;
use super::peer::Peer;
use super::script::{Driver, member};
use super::served;
use super::tape::{Tape, label};
use super::transcript::Transcript;
use crate::scripted::{Reply, Waiting};
use crate::sim::{clock, settle};

pub(crate) struct Site {
    service: HttpService,
    registry: Registry,
    peer: Peer,
    heads: Heads,
    tape: Tape,
    exchanges: Vec<Exchange>,
}

/// An exchange that goes on.
struct Exchange {
    label: String,
    state: State,
}

enum State {
    Asked(Waiting),
    Answered(Box<Reply>),
    Over,
}

impl Driver for Site {
    fn new(revision: Revision) -> Self {
        let (service, registry) = served::over_http();
        Self {
            service,
            registry,
            peer: Peer::new(revision),
            heads: Heads::new(revision),
            tape: Tape::default(),
            exchanges: Vec::new(),
        }
    }

    fn command(&mut self, verb: &str, rest: &str, transcript: &mut Transcript) {
        match verb {
            "head" => self.heads.next(rest),
            "get" | "delete" | "options" => {
                let head = self.heads.bodiless(verb, rest);
                self.ask(&head, "");
            }
            // The two endpoints of 2024-11-05.
            "sse" | "sse-post" => {
                let rest = self.tape.restore(rest);
                let (path, body) = super::script::word(&rest);
                self.heads.next(&format!(":path: {path}"));
                let head = match verb {
                    "sse" => self.heads.bodiless("get", ""),
                    _ => self.heads.post(body),
                };
                self.ask(&head, body);
            }
            "close" => {
                let open = self.exchanges.iter().rposition(|it| it.label == rest);
                if let Some(at) = open {
                    self.tape.line(&format!(">{rest}"), "closed");
                    self.exchanges.remove(at);
                }
            }
            "+" => {
                self.tape.line(".", &format!("+ {rest}"));
                clock().advance(Duration::from_millis(rest.parse().expect("milliseconds")));
            }
            _ => match self.peer.say(verb, rest) {
                Some(messages) => {
                    for message in messages {
                        let head = self.heads.post(&message);
                        self.ask(&head, &message);
                        self.settle();
                    }
                }
                None => {
                    self.tape.line(".", format!("{verb} {rest}").trim_end());
                    served::change(&self.registry, verb, rest);
                }
            },
        }
        self.settle();
        self.tape.write_down(transcript);
    }
}

impl Site {
    fn ask(&mut self, head: &Sent, body: &str) {
        let Sent {
            method,
            path,
            fields,
        } = head;
        let mut built = Request::builder().method(&**method).uri(&**path);
        for (name, value) in fields {
            built = built.header(name, &**value);
        }
        let (parts, ()) = built.body(()).expect("a request").into_parts();
        let label = label(&parts, body);
        let mark = format!(">{label}");
        self.tape.line(&mark, &format!("{method} {path}"));
        self.tape.fields(&mark, &parts.headers);
        if !body.is_empty() {
            self.tape.line(&mark, body);
        }
        let waiting = Waiting::new(&self.service, Request::from_parts(parts, body.to_owned()));
        self.exchanges.push(Exchange {
            label,
            state: State::Asked(waiting),
        });
    }

    /// Lets everything happen that needs no time.
    fn settle(&mut self) {
        let mut moved = true;
        while moved {
            settle();
            moved = false;
            for at in 0..self.exchanges.len() {
                moved |= self.poll(at);
            }
        }
        self.exchanges.retain(|it| !matches!(it.state, State::Over));
    }

    /// Polls an exchange; says whether anything came.
    fn poll(&mut self, at: usize) -> bool {
        let Self {
            exchanges,
            tape,
            peer,
            heads,
            ..
        } = self;
        let Exchange { label, state } = &mut exchanges[at];
        let mark = format!("<{label}");
        match state {
            State::Asked(waiting) => {
                let Some(reply) = waiting.poll() else {
                    return false;
                };
                tape.line(&mark, reply.status.as_str());
                tape.fields(&mark, &reply.headers);
                if reply.headers.contains_key("mcp-session-id") {
                    heads.session = Some(reply.header("mcp-session-id").to_owned());
                }
                *state = State::Answered(Box::new(reply));
            }
            State::Answered(reply) => match reply.frame() {
                Some(text) => {
                    for line in text.lines().filter(|line| !line.is_empty()) {
                        tape.line(&mark, line);
                        let message = line.strip_prefix("data: ").unwrap_or(line);
                        if member(message, "method").is_some() {
                            peer.question = member(message, "id").or(peer.question.take());
                        }
                    }
                }
                None if reply.is_over() => {
                    tape.line(&mark, "end");
                    *state = State::Over;
                }
                None => return false,
            },
            State::Over => return false,
        }
        true
    }
}
