//! A server, and a hand that writes and reads its lines.

use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::io;
use std::sync::{Arc, Mutex};

use futures_io::{AsyncRead, AsyncWrite};
use mcp_async::runtime::{PipeReader, PipeWriter, duplex};
use mcp_async::server::{BoxService, Peer, Service, connect};
use mcp_proto::Limits;
use mcp_proto::model::ServerFeatures;
use mcp_proto::server::ServerConfig;

use super::{Chopped, Demo, Watch};
use crate::sim::{Sim, settle, spawn};

pub(crate) struct Wire {
    pub(crate) peer: Peer,
    pub(crate) watch: Arc<Watch>,
    pub(crate) reader: Option<PipeReader>,
    pub(crate) writer: Option<PipeWriter>,
    result: Arc<Mutex<Option<io::Result<()>>>>,
}

impl Wire {
    pub(crate) fn new() -> Self {
        Self::with(1 << 20, usize::MAX, Limits::default())
    }

    /// With pipes of that capacity, moving so many bytes at once.
    pub(crate) fn with(capacity: usize, chop: usize, limits: Limits) -> Self {
        let demo = Demo::default();
        let watch = Arc::clone(&demo.0);
        let features = ServerFeatures::TOOLS
            .with(ServerFeatures::TOOLS_LIST_CHANGED)
            .with(ServerFeatures::LOGGING);
        let config = ServerConfig {
            capabilities: features.capabilities(),
            limits,
            ..ServerConfig::new("demo", "1")
        };
        Self {
            watch,
            ..Self::serving(config, demo, capacity, chop)
        }
    }

    /// With a service of the test's own.
    pub(crate) fn serving(
        config: ServerConfig<'static>,
        service: impl Service,
        capacity: usize,
        chop: usize,
    ) -> Self {
        // The connection is compiled once for all services.
        Self::boxed(config, Box::new(service), capacity, chop)
    }

    fn boxed(
        config: ServerConfig<'static>,
        service: BoxService,
        capacity: usize,
        chop: usize,
    ) -> Self {
        let (ours, theirs) = duplex(capacity);
        let (reader, writer) = theirs.split();
        let streams = (Chopped(reader, chop), Chopped(writer, chop));
        let (connection, peer) = connect(streams, Sim, config, service);
        let result = Arc::new(Mutex::new(None));
        let done = Arc::clone(&result);
        spawn(async move {
            let result = connection.await;
            *done.lock().unwrap() = Some(result);
        });
        let (reader, writer) = ours.split();
        Self {
            peer,
            watch: Arc::default(),
            reader: Some(reader),
            writer: Some(writer),
            result,
        }
    }

    /// With the handshake of a legacy session behind it.
    pub(crate) fn legacy(mut self) -> Self {
        self.send(concat!(
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"#,
            r#""2025-11-25","capabilities":{"elicitation":{}},"clientInfo":{"name":"t","version":"0"}}}"#,
        ));
        self.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
        let answer = self.read();
        assert!(
            answer.contains(r#""protocolVersion":"2025-11-25""#),
            "{answer}"
        );
        self
    }

    /// Writes a line, as far as there is room, and lets everything happen.
    pub(crate) fn send(&mut self, line: &str) {
        let mut rest = format!("{line}\n").into_bytes();
        while !rest.is_empty() {
            let count = self.write_some(&rest);
            assert!(count > 0, "the server does not read");
            rest.drain(..count);
            settle();
        }
    }

    pub(crate) fn write_some(&mut self, bytes: &[u8]) -> usize {
        let writer = Pin::new(self.writer.as_mut().unwrap());
        match writer.poll_write(&mut Context::from_waker(Waker::noop()), bytes) {
            Poll::Ready(count) => count.unwrap(),
            Poll::Pending => 0,
        }
    }

    pub(crate) fn call(&mut self, id: u32, tool: &str) {
        self.send(&call(id, tool, ""));
    }

    /// Everything that the server has written by now.
    pub(crate) fn read(&mut self) -> String {
        let mut text = Vec::new();
        loop {
            let mut buf = [0; 4096];
            settle();
            let reader = Pin::new(self.reader.as_mut().unwrap());
            match reader.poll_read(&mut Context::from_waker(Waker::noop()), &mut buf) {
                Poll::Ready(count) => match count.unwrap() {
                    0 => break,
                    count => text.extend_from_slice(&buf[..count]),
                },
                Poll::Pending => break,
            }
        }
        String::from_utf8(text).unwrap()
    }

    /// Reads what there is, counting answers; whether there was nothing.
    pub(crate) fn count_answers(&mut self, answers: &mut usize) -> bool {
        let text = self.read();
        *answers += text.matches(r#""result":"#).count();
        text.is_empty()
    }

    /// The end of the server's input.
    pub(crate) fn close(&mut self) {
        self.writer = None;
        settle();
    }

    /// How the connection ended, if it did.
    pub(crate) fn result(&self) -> Option<Result<(), io::ErrorKind>> {
        let result = self.result.lock().unwrap();
        result
            .as_ref()
            .map(|result| result.as_ref().map(|_| ()).map_err(io::Error::kind))
    }
}

pub(crate) fn call(id: u32, tool: &str, meta: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{{"id":{id}}}{meta}}}}}"#
    )
}
