//! A peer by hand: what it writes is bytes, and what it reads is lines.
#![cfg(feature = "server")]

use core::pin::Pin;
use core::task::{Context, Poll, Waker};

use futures_io::{AsyncRead, AsyncWrite};
use mcp_async::runtime::{PipeReader, PipeWriter, duplex};

use crate::server_typed::support::Offer;
use crate::sim::{Sim, settle, spawn};

/// One end of a pipe, with a task of the thread at the other end.
pub(crate) struct LinePeer {
    reader: PipeReader,
    writer: PipeWriter,
    next: u32,
}

impl LinePeer {
    pub(crate) fn new((reader, writer): (PipeReader, PipeWriter)) -> Self {
        Self {
            reader,
            writer,
            next: 0,
        }
    }

    /// A client of this server.
    pub(crate) fn of(server: &impl Offer) -> Self {
        let (ours, theirs) = duplex(1 << 20);
        let (connection, _peer) = server.server().connect(theirs.split(), Sim);
        // It lives whatever it reads, so an error of its own is a failure.
        spawn(async { connection.await.expect("it lives on") });
        Self::new(ours.split())
    }

    /// Writes bytes, as fast as they are taken, and returns the lines that came meanwhile.
    pub(crate) fn write(&mut self, mut bytes: &[u8]) -> Vec<String> {
        let cx = &mut Context::from_waker(Waker::noop());
        let mut came = Vec::new();
        let mut idle = 0;
        while !bytes.is_empty() {
            idle += 1;
            assert!(idle < 4, "nobody reads");
            if let Poll::Ready(count) = Pin::new(&mut self.writer).poll_write(cx, bytes) {
                bytes = &bytes[count.unwrap()..];
                idle = 0;
            }
            while self.read(&mut came) {
                idle = 0;
            }
        }
        while self.read(&mut came) {}
        let text = String::from_utf8(came).expect("UTF-8");
        text.lines().map(str::to_owned).collect()
    }

    /// A request of 2026-07-28 with these members besides `_meta`; what came upon it.
    pub(crate) fn send(&mut self, method: &str, members: &str) -> Vec<String> {
        let line = self.line(method, members);
        self.write(line.as_bytes())
    }

    /// The one answer to a request.
    #[track_caller]
    pub(crate) fn ask(&mut self, method: &str, members: &str) -> String {
        let mut lines = self.send(method, members);
        let start = format!(r#"{{"jsonrpc":"2.0","id":{},"#, self.next);
        lines.retain(|line| line.starts_with(&start));
        assert_eq!(lines.len(), 1, "{method} {members:.200}: {lines:?}");
        lines.remove(0)
    }

    pub(crate) fn line(&mut self, method: &str, members: &str) -> String {
        self.next += 1;
        let (id, comma) = (self.next, if members.is_empty() { "" } else { "," });
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{{members}{comma}{META}}}}}"#
        ) + "\n"
    }

    fn read(&mut self, came: &mut Vec<u8>) -> bool {
        settle();
        let mut buf = vec![0; 1 << 16];
        let cx = &mut Context::from_waker(Waker::noop());
        match Pin::new(&mut self.reader).poll_read(cx, &mut buf) {
            Poll::Ready(count) => {
                let count = count.unwrap();
                came.extend_from_slice(&buf[..count]);
                count > 0
            }
            Poll::Pending => false,
        }
    }
}

const META: &str = concat!(
    r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientCapabilities":"#,
    r#"{"sampling":{},"elicitation":{"form":{}},"roots":{}},"#,
    r#""io.modelcontextprotocol/logLevel":"debug","progressToken":"p"}"#
);
