//! A typed server on a pipe, and a client that is a script.

use core::time::Duration;

use mcp_async::server::Registry;
use mcp_proto::Revision;

use super::names::Names;
use super::peer::Peer;
use super::script::{Driver, member};
use super::served;
use super::transcript::Transcript;
use crate::scripted::LinePeer;
use crate::sim::clock;

pub(crate) struct Pipe {
    peer: Peer,
    names: Names,
    lines: LinePeer,
    registry: Registry,
}

impl Driver for Pipe {
    fn new(revision: Revision) -> Self {
        let (lines, streams) = LinePeer::pair(1 << 20);
        let registry = served::on_pipe(streams);
        Self {
            peer: Peer::new(revision),
            names: Names::default(),
            lines,
            registry,
        }
    }

    fn command(&mut self, verb: &str, rest: &str, transcript: &mut Transcript) {
        if let Some(messages) = self.peer.say(verb, rest) {
            for message in messages {
                transcript.line(">", &message);
                self.lines.send(&message);
                self.hear(transcript);
            }
            return;
        }
        transcript.line(".", format!("{verb} {rest}").trim_end());
        match verb {
            "+" => clock().advance(Duration::from_millis(rest.parse().expect("milliseconds"))),
            "hangup" => self.lines.close(),
            _ => served::change(&self.registry, verb, rest),
        }
        self.hear(transcript);
    }
}

impl Pipe {
    /// Writes down what the server says until it rests.
    fn hear(&mut self, transcript: &mut Transcript) {
        for line in self.lines.lines() {
            transcript.line("<", &self.names.replace(&line));
            if member(&line, "method").is_some() {
                self.peer.question = member(&line, "id").or(self.peer.question.take());
            }
        }
        if self.lines.is_over() {
            transcript.line("<", "end");
        }
    }
}
