//! A server on a pipe, driven by a link.

use core::time::Duration;

use mcp_proto::server::{Growing, Server, ServerConfig};
use mcp_proto::{
    Instant, Link, Machine, Outbox, Outcome, Revision, SendError, Step, Token, Written,
};

use super::peer::Peer;
use super::script::{Player, member, word};
use super::server::{App, Host, Reach, config, configure};
use super::text::ignored;
use super::transcript::Transcript;

pub(crate) struct Pipe {
    config: ServerConfig<'static>,
    peer: Peer,
    now: Instant,
    /// Made when the configuration is known.
    side: Option<Side>,
}

struct Side {
    link: Link<Host, Vec<u8>, Vec<u8>>,
    app: App,
}

impl Reach for (&mut Host, &mut Outbox<Vec<u8>>) {
    fn put<T: Written>(
        &mut self,
        _: Option<Token>,
        mut write: impl FnMut(&mut Host, &mut [u8]) -> Result<T, SendError>,
    ) -> Result<T, SendError> {
        let (host, outbox) = self;
        outbox.put(|out| write(host, out))
    }

    fn respond(&mut self, _: Instant, to: Token, with: Outcome<'_>) -> Result<(), SendError> {
        let answered = self.put(Some(to), |host, out| host.respond(to, with, out));
        answered.map(drop)
    }

    fn host(&mut self, mut change: impl FnMut(&mut Host)) {
        change(self.0);
    }
}

impl Player for Pipe {
    fn new(revision: Revision) -> Self {
        Self {
            config: config(),
            peer: Peer::new(revision),
            now: Instant::from_millis(1_000),
            side: None,
        }
    }

    fn command(&mut self, verb: &str, rest: &str, transcript: &mut Transcript) {
        if verb == "with" {
            return configure(&mut self.config, rest);
        }
        let Self { config, peer, .. } = self;
        let side = self.side.get_or_insert_with(|| {
            let host = Server::new(*config, Growing).unwrap();
            Side {
                link: Link::new(host, Vec::new(), Vec::new()).unwrap(),
                app: App::default(),
            }
        });
        if let Some(messages) = peer.say(verb, rest) {
            for message in messages {
                transcript.line(">", &message);
                side.feed(&message, self.now, peer, transcript);
            }
            return;
        }
        transcript.line(".", format!("{verb} {rest}").trim_end());
        match verb {
            // `LONG` stands for so many bytes.
            "send-long" => {
                let (len, message) = word(rest);
                let long = "x".repeat(len.parse().expect("a length"));
                side.feed(&message.replace("LONG", &long), self.now, peer, transcript);
            }
            "wait" => {
                let passed = rest.parse().expect("milliseconds");
                self.now = self.now + Duration::from_millis(passed);
            }
            "eof" => side.link.machine.hang_up(),
            _ => {
                let Side { link, app } = side;
                let mut out = (&mut link.machine, &mut link.outbox);
                let known = app.command(self.now, (verb, rest), &mut out);
                assert!(known, "no such command: {verb}");
            }
        }
        write_down(&mut side.app, transcript);
        side.run(self.now, peer, transcript);
    }
}

impl Side {
    /// Takes in a line.
    fn feed(&mut self, line: &str, now: Instant, peer: &mut Peer, transcript: &mut Transcript) {
        for mut bytes in [line.as_bytes(), b"\n"] {
            while !bytes.is_empty() {
                let spare = self.link.inbox.spare_mut().expect("everything was read");
                let len = spare.len().min(bytes.len());
                spare[..len].copy_from_slice(&bytes[..len]);
                self.link.inbox.filled(len);
                bytes = &bytes[len..];
                self.run(now, peer, transcript);
            }
        }
    }

    /// Does all there is to do.
    fn run(&mut self, now: Instant, peer: &mut Peer, transcript: &mut Transcript) {
        let Self { link, app } = self;
        loop {
            flush(&mut link.outbox, peer, transcript);
            match link.step(now) {
                Step::Event {
                    event,
                    machine,
                    outbox,
                } => {
                    flush(outbox, peer, transcript);
                    app.on(now, &event, &mut (machine, outbox));
                    write_down(app, transcript);
                }
                Step::Done => {}
                Step::Ignored(why) => {
                    transcript.line("~", &ignored(why));
                }
                Step::Full | Step::Empty => break,
            }
        }
        flush(&mut link.outbox, peer, transcript);
    }
}

fn write_down(app: &mut App, transcript: &mut Transcript) {
    for (mark, line) in app.lines() {
        transcript.line(mark, &line);
    }
}

fn flush(outbox: &mut Outbox<Vec<u8>>, peer: &mut Peer, transcript: &mut Transcript) {
    let pending = outbox.pending().to_vec();
    outbox.consume(pending.len());
    for line in pending.split_inclusive(|byte| *byte == b'\n') {
        let line = line
            .strip_suffix(b"\n")
            .expect("messages end with a newline");
        transcript.bytes("<", line);
        let text = core::str::from_utf8(line).expect("messages are text");
        if member(text, "method").is_some() {
            peer.question = member(text, "id").or(peer.question.take());
        }
    }
}
