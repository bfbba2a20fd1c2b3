//! A client whose lines a test writes and reads.

use core::future::Future as _;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};

use futures_io::{AsyncRead as _, AsyncWrite as _};
use mcp_async::runtime::{PipeReader, PipeWriter, duplex};
use mcp_async::server::{BoxService, Connection, ServerBuilder};
use mcp_proto::Revision;
use serde_json::Value;

use crate::support::{json, runtime};

/// One client of a server, which declares no extension.
pub(crate) struct Wire {
    revision: Revision,
    connection: Served,
    reader: PipeReader,
    writer: PipeWriter,
    next_id: u64,
    /// The capabilities that the server declares.
    pub(crate) capabilities: Value,
}

/// The connection of the server.
type Served = Connection<PipeReader, PipeWriter, BoxService>;

impl Wire {
    /// A client that speaks this revision.
    pub(crate) fn new(server: &ServerBuilder, revision: Revision) -> Self {
        let server = server.clone().build().unwrap();
        Self::of(|streams| server.connect(streams, runtime()).0, revision)
    }

    /// A client of a server that begins its connection like this.
    pub(crate) fn of(
        begin: impl FnOnce((PipeReader, PipeWriter)) -> Served,
        revision: Revision,
    ) -> Self {
        let (ours, theirs) = duplex(1 << 20);
        let (reader, writer) = ours.split();
        let mut wire = Self {
            revision,
            connection: begin(theirs.split()),
            reader,
            writer,
            next_id: 0,
            capabilities: Value::Null,
        };
        let opened = match revision.is_modern() {
            true => wire.result("server/discover", "{}"),
            false => {
                let opened = wire.result("initialize", &format!(
                    r#"{{"protocolVersion":"{revision}","capabilities":{{}},"clientInfo":{{"name":"t","version":"0"}}}}"#
                ));
                wire.line(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
                opened
            }
        };
        wire.capabilities = json(&opened)["capabilities"].take();
        wire
    }

    /// Sends a request, and returns the whole answer.
    pub(crate) fn ask(&mut self, method: &str, params: &str) -> String {
        self.next_id += 1;
        let id = self.next_id;
        let params = match self.revision.is_modern() {
            true => self.with_meta(params),
            false => params.to_owned(),
        };
        self.line(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#
        ));
        let prefix = format!(r#"{{"jsonrpc":"2.0","id":{id},"#);
        let mut text = String::new();
        for _ in 0..100 {
            text += &self.read();
            let mut lines = text.lines();
            if let Some(line) = lines.find(|line| line.starts_with(&prefix) && line.ends_with('}'))
            {
                return line.to_owned();
            }
        }
        panic!("no answer to {method} in {}: {text}", self.revision);
    }

    /// Sends a request, and returns its result.
    pub(crate) fn result(&mut self, method: &str, params: &str) -> String {
        let answer = self.ask(method, params);
        let result = &json(&answer)["result"];
        assert!(result.is_object(), "{answer} in {}", self.revision);
        result.to_string()
    }

    /// Sends a request, and returns the code of the error that answers it.
    pub(crate) fn error(&mut self, method: &str, params: &str) -> i64 {
        let answer = self.ask(method, params);
        let code = json(&answer)["error"]["code"].as_i64();
        code.unwrap_or_else(|| panic!("{answer} in {}", self.revision))
    }

    /// The parameters with what each request of 2026-07-28 has in `_meta`.
    fn with_meta(&self, params: &str) -> String {
        let mut params = json(params);
        params["_meta"] = serde_json::json!({
            "io.modelcontextprotocol/protocolVersion": self.revision.to_string(),
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        params.to_string()
    }

    fn line(&mut self, line: &str) {
        let bytes = format!("{line}\n").into_bytes();
        let cx = &mut Context::from_waker(Waker::noop());
        match Pin::new(&mut self.writer).poll_write(cx, &bytes) {
            Poll::Ready(Ok(count)) => assert_eq!(count, bytes.len()),
            other => panic!("{other:?}"),
        }
    }

    /// Polls the connection, and reads what it has written.
    fn read(&mut self) -> String {
        let cx = &mut Context::from_waker(Waker::noop());
        let ended = Pin::new(&mut self.connection).poll(cx);
        assert!(ended.is_pending(), "{ended:?}");
        let mut text = Vec::new();
        let mut buf = vec![0; 1 << 16];
        while let Poll::Ready(Ok(count @ 1..)) = Pin::new(&mut self.reader).poll_read(cx, &mut buf)
        {
            text.extend_from_slice(&buf[..count]);
        }
        String::from_utf8(text).unwrap()
    }
}
