//! A typed server on a pipe, and a client that is a script.

use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use core::time::Duration;

use futures_io::{AsyncRead, AsyncWrite};
use mcp_async::runtime::{PipeReader, PipeWriter, duplex};
use mcp_async::server::Registry;
use mcp_proto::Revision;

use super::names::Names;
use super::peer::Peer;
use super::script::{Driver, member};
use super::served;
use super::transcript::Transcript;
use crate::sim::{clock, settle};

pub(crate) struct Pipe {
    peer: Peer,
    names: Names,
    reader: PipeReader,
    writer: Option<PipeWriter>,
    registry: Registry,
}

impl Driver for Pipe {
    fn new(revision: Revision) -> Self {
        let (ours, theirs) = duplex(1 << 20);
        let registry = served::on_pipe(theirs.split());
        let (reader, writer) = ours.split();
        Self {
            peer: Peer::new(revision),
            names: Names::default(),
            reader,
            writer: Some(writer),
            registry,
        }
    }

    fn command(&mut self, verb: &str, rest: &str, transcript: &mut Transcript) {
        if let Some(messages) = self.peer.say(verb, rest) {
            for message in messages {
                transcript.line(">", &message);
                self.write(&message);
                self.hear(transcript);
            }
            return;
        }
        transcript.line(".", format!("{verb} {rest}").trim_end());
        match verb {
            "+" => clock().advance(Duration::from_millis(rest.parse().expect("milliseconds"))),
            "hangup" => self.writer = None,
            _ => served::change(&self.registry, verb, rest),
        }
        self.hear(transcript);
    }
}

impl Pipe {
    fn write(&mut self, line: &str) {
        let line = format!("{line}\n");
        let cx = &mut Context::from_waker(Waker::noop());
        let writer = self.writer.as_mut().expect("it is open");
        let written = Pin::new(writer).poll_write(cx, line.as_bytes());
        assert!(matches!(written, Poll::Ready(Ok(len)) if len == line.len()));
    }

    /// Writes down what the server says until it rests.
    fn hear(&mut self, transcript: &mut Transcript) {
        let mut text = Vec::new();
        let mut buffer = vec![0; 1 << 16];
        settle();
        let cx = &mut Context::from_waker(Waker::noop());
        let mut ended = false;
        loop {
            match Pin::new(&mut self.reader).poll_read(cx, &mut buffer) {
                Poll::Ready(Ok(len)) if len > 0 => text.extend_from_slice(&buffer[..len]),
                Poll::Ready(_) => {
                    ended = true;
                    break;
                }
                Poll::Pending => break,
            }
            settle();
        }
        let text = String::from_utf8(text).expect("messages are text");
        for line in text.lines() {
            transcript.line("<", &self.names.replace(line));
            if member(line, "method").is_some() {
                self.peer.question = member(line, "id").or(self.peer.question.take());
            }
        }
        if ended {
            transcript.line("<", "end");
        }
    }
}
