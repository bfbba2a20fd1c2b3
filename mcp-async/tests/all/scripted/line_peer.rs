//! A peer by script: it writes lines, and reads those that came.

use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::io;
use std::sync::Arc;

use futures_io::{AsyncRead, AsyncWrite};
use mcp_async::runtime::{PipeReader, PipeWriter, duplex};

use super::messages::message;
use crate::sim::{self, Flag};

/// One end of a pipe, with a client or a server at the other end.
pub(crate) struct LinePeer {
    reader: Option<PipeReader>,
    writer: Option<PipeWriter>,
    other: Other,
    /// Bytes that have come and were not taken.
    came: Vec<u8>,
    is_over: bool,
}

/// The owner of the other end.
enum Other {
    /// Tasks of the thread.
    Tasks,
    /// This connection and nothing else; `None` after its end.
    Connection(
        Option<Pin<Box<dyn Future<Output = io::Result<()>>>>>,
        Arc<Flag>,
    ),
}

impl LinePeer {
    /// A peer of tasks of the thread.
    pub(crate) fn new((reader, writer): (PipeReader, PipeWriter)) -> Self {
        Self {
            reader: Some(reader),
            writer: Some(writer),
            other: Other::Tasks,
            came: Vec::new(),
            is_over: false,
        }
    }

    /// A peer, and the streams of the other end of its pipe.
    pub(crate) fn pair(capacity: usize) -> (Self, (PipeReader, PipeWriter)) {
        let (ours, theirs) = duplex(capacity);
        (Self::new(ours.split()), theirs.split())
    }

    /// Polls this connection instead of the tasks of the thread, which run when the test says so.
    pub(crate) fn polling(
        mut self,
        connection: impl Future<Output = io::Result<()>> + 'static,
    ) -> Self {
        self.other = Other::Connection(Some(Box::pin(connection)), Flag::new());
        self
    }

    /// Lets everything happen at the other end.
    pub(crate) fn settle(&mut self) {
        let Other::Connection(connection, flag) = &mut self.other else {
            sim::settle();
            return;
        };
        let waker = Waker::from(Arc::clone(flag));
        while flag.take() {
            let Some(running) = connection else { return };
            if let Poll::Ready(end) = running.as_mut().poll(&mut Context::from_waker(&waker)) {
                end.expect("no error of the transport");
                *connection = None;
            }
        }
    }

    /// True after the end of the connection that it polls.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.settle();
        match &self.other {
            Other::Connection(connection, _) => connection.is_none(),
            Other::Tasks => panic!("it polls no connection"),
        }
    }

    /// Writes a message, in short or in full, and lets everything happen.
    pub(crate) fn send(&mut self, text: &str) {
        self.write((message(text) + "\n").as_bytes());
    }

    /// Answers a request with this result.
    pub(crate) fn answer(&mut self, id: u64, result: &str) {
        self.send(&format!("{id} = {result}"));
    }

    /// Writes bytes as fast as they are taken, and lets everything happen.
    pub(crate) fn write(&mut self, mut bytes: &[u8]) {
        let mut moved = true;
        while !bytes.is_empty() {
            let count = self.write_some(bytes);
            bytes = &bytes[count..];
            self.settle();
            // The other end may wait for its answers to be read.
            let moves = count > 0 || self.read_all() > 0;
            assert!(moves || moved, "nobody reads");
            moved = moves;
        }
    }

    /// Writes as many bytes as there is room for.
    pub(crate) fn write_some(&mut self, bytes: &[u8]) -> usize {
        let writer = Pin::new(self.writer.as_mut().expect("it is open"));
        match writer.poll_write(&mut Context::from_waker(Waker::noop()), bytes) {
            Poll::Ready(count) => count.unwrap(),
            Poll::Pending => 0,
        }
    }

    /// Everything that came by now.
    pub(crate) fn read(&mut self) -> String {
        self.settle();
        self.read_all();
        String::from_utf8(core::mem::take(&mut self.came)).expect("UTF-8")
    }

    /// Everything that came by now, line by line.
    pub(crate) fn lines(&mut self) -> Vec<String> {
        self.read().lines().map(str::to_owned).collect()
    }

    /// The next line, once it has come; `None` after the last.
    pub(crate) async fn next_line(&mut self) -> Option<String> {
        let mut buf = [0; 4096];
        loop {
            if let Some(end) = self.came.iter().position(|byte| *byte == b'\n') {
                let rest = self.came.split_off(end + 1);
                let line = core::mem::replace(&mut self.came, rest);
                return Some(String::from_utf8(line).expect("UTF-8"));
            }
            let reader = self.reader.as_mut().expect("it reads");
            match poll_fn(|cx| Pin::new(&mut *reader).poll_read(cx, &mut buf)).await {
                Ok(count @ 1..) => self.came.extend_from_slice(&buf[..count]),
                _ => return None,
            }
        }
    }

    /// Writes a message as fast as it is taken, or as much of it as is read before the other end closes.
    pub(crate) async fn write_line(&mut self, text: &str) {
        let line = message(text) + "\n";
        let mut rest = line.as_bytes();
        let writer = self.writer.as_mut().expect("it is open");
        while !rest.is_empty() {
            match poll_fn(|cx| Pin::new(&mut *writer).poll_write(cx, rest)).await {
                Ok(count) => rest = &rest[count..],
                Err(_) => return,
            }
        }
    }

    /// Reads once, and nothing happens meanwhile.
    pub(crate) fn read_some(&mut self, buf: &mut [u8]) -> usize {
        let reader = Pin::new(self.reader.as_mut().expect("it reads"));
        match reader.poll_read(&mut Context::from_waker(Waker::noop()), buf) {
            Poll::Ready(count) => {
                let count = count.unwrap();
                self.is_over |= count == 0;
                count
            }
            Poll::Pending => 0,
        }
    }

    fn read_all(&mut self) -> usize {
        let before = self.came.len();
        let mut buf = [0; 4096];
        loop {
            let count = self.read_some(&mut buf);
            if count == 0 {
                return self.came.len() - before;
            }
            self.came.extend_from_slice(&buf[..count]);
            self.settle();
        }
    }

    /// True after the last byte of the other end.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Ends what the other end reads.
    pub(crate) fn close(&mut self) {
        self.writer = None;
        self.settle();
    }

    /// Reads no more: the other end cannot write.
    pub(crate) fn stop_reading(&mut self) {
        self.reader = None;
        self.settle();
    }
}
