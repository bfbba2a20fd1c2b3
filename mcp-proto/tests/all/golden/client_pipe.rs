//! A client on a pipe, driven by a link.

use core::time::Duration;

use mcp_proto::client::{Client, ClientConfig, Growing};
use mcp_proto::{Instant, Link, Machine, Outbox, Revision, Step};

use super::client::{Guest, Peer, User, config, configure};
use super::script::{Player, word};
use super::text::{ignored, refusal};
use super::transcript::Transcript;

pub(crate) struct Pipe {
    revision: Revision,
    config: ClientConfig<'static>,
    now: Instant,
    side: Option<Side>,
}

struct Side {
    link: Link<Guest, Vec<u8>, Vec<u8>>,
    user: User,
    peer: Peer,
}

impl Player for Pipe {
    fn new(revision: Revision) -> Self {
        Self {
            revision,
            config: config(revision),
            now: Instant::from_millis(1_000),
            side: None,
        }
    }

    fn command(&mut self, verb: &str, rest: &str, transcript: &mut Transcript) {
        if verb == "with" {
            return configure(&mut self.config, rest);
        }
        let config = self.config;
        let side = self.side.get_or_insert_with(|| {
            let client = Client::new(config, Growing).unwrap();
            Side {
                link: Link::new(client, Vec::new(), Vec::new()).unwrap(),
                user: User::default(),
                peer: Peer::default(),
            }
        });
        // Whose stream a message is on makes no difference here.
        let (verb, rest) = match verb {
            "on" => word(word(rest).1),
            _ => (verb, rest),
        };
        if verb == "<" {
            if let Some(message) = side.peer.message(rest) {
                transcript.line("<", &message);
                side.feed(&message, self.now, transcript);
            }
            return;
        }
        transcript.line(".", format!("{verb} {rest}").trim_end());
        match verb {
            "connect" | "open" => {
                if let Err(error) = side.link.machine.connect(self.now) {
                    transcript.line("!", &refusal(error));
                }
            }
            // `LONG` stands for so many bytes.
            "send-long" => {
                let (len, message) = word(rest);
                let long = "x".repeat(len.parse().expect("a length"));
                if let Some(message) = side.peer.fill(message) {
                    side.feed(&message.replace("LONG", &long), self.now, transcript);
                }
            }
            "wait" => {
                let passed = rest.parse().expect("milliseconds");
                self.now = self.now + Duration::from_millis(passed);
            }
            "eof" => side.link.machine.hang_up(),
            _ => {
                let Side { link, user, peer } = side;
                let command = (verb, rest);
                let known =
                    user.command(&mut link.machine, self.now, command, &mut link.outbox, peer);
                assert!(known, "no such command: {verb}");
            }
        }
        side.run(self.now, transcript);
        if verb == "open" {
            let capabilities = if rest.is_empty() { "{}" } else { rest };
            let answer = side.peer.opening(self.revision, capabilities);
            transcript.line("<", &answer);
            side.feed(&answer, self.now, transcript);
        }
    }
}

impl Side {
    /// Takes in a line.
    fn feed(&mut self, line: &str, now: Instant, transcript: &mut Transcript) {
        for mut bytes in [line.as_bytes(), b"\n"] {
            while !bytes.is_empty() {
                let spare = self.link.inbox.spare_mut().expect("everything was read");
                let len = spare.len().min(bytes.len());
                spare[..len].copy_from_slice(&bytes[..len]);
                self.link.inbox.filled(len);
                bytes = &bytes[len..];
                self.run(now, transcript);
            }
        }
    }

    /// Does all there is to do.
    fn run(&mut self, now: Instant, transcript: &mut Transcript) {
        let Self { link, user, peer } = self;
        user.write_down(transcript);
        loop {
            flush(&mut link.outbox, peer, transcript);
            match link.step(now) {
                Step::Event { event, outbox, .. } => {
                    flush(outbox, peer, transcript);
                    user.on(&event);
                    user.write_down(transcript);
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

fn flush(outbox: &mut Outbox<Vec<u8>>, peer: &mut Peer, transcript: &mut Transcript) {
    let pending = outbox.pending().to_vec();
    outbox.consume(pending.len());
    for line in pending.split_inclusive(|byte| *byte == b'\n') {
        let line = line
            .strip_suffix(b"\n")
            .expect("messages end with a newline");
        transcript.bytes(">", line);
        peer.heard(core::str::from_utf8(line).expect("messages are text"));
    }
}
