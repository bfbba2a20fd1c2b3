//! A server, and a hand that writes and reads its lines.

use core::ops::{Deref, DerefMut};
use std::io;
use std::sync::{Arc, Mutex};

use mcp_async::server::{BoxService, Peer, Service, connect};
use mcp_proto::Limits;
use mcp_proto::model::ServerFeatures;
use mcp_proto::server::ServerConfig;
use tower_layer::Layer;

use super::{Demo, Watch};
use crate::chopped::Chopped;
use crate::scripted::{INITIALIZED, LinePeer, initialize_with, message};
use crate::sim::{Sim, spawn};
use crate::texts::has;

pub(crate) struct Wire {
    pub(crate) peer: Peer,
    pub(crate) watch: Arc<Watch>,
    lines: LinePeer,
    result: Arc<Mutex<Option<io::Result<()>>>>,
}

impl Wire {
    pub(crate) fn new() -> Self {
        Self::with(1 << 20, usize::MAX, Limits::default())
    }

    /// With pipes of that capacity, moving so many bytes at once.
    pub(crate) fn with(capacity: usize, chop: usize, limits: Limits) -> Self {
        let features = ServerFeatures::TOOLS
            .with(ServerFeatures::TOOLS_LIST_CHANGED)
            .with(ServerFeatures::LOGGING);
        let config = ServerConfig {
            capabilities: features.capabilities(),
            limits,
            ..ServerConfig::new("demo", "1")
        };
        let demo = Demo::default();
        Self {
            watch: Arc::clone(&demo.0),
            ..Self::serving(config, demo, capacity, chop)
        }
    }

    /// The demo behind a layer.
    pub(crate) fn layered<L: Layer<Demo, Service: Service>>(
        config: ServerConfig<'static>,
        layer: L,
    ) -> Self {
        let demo = Demo::default();
        Self {
            watch: Arc::clone(&demo.0),
            ..Self::serving(config, layer.layer(demo), 1 << 20, usize::MAX)
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
        let (lines, (reader, writer)) = LinePeer::pair(capacity);
        let streams = (Chopped(reader, chop), Chopped(writer, chop));
        let (connection, peer) = connect(streams, Sim, config, service);
        let result = Arc::new(Mutex::new(None));
        let done = Arc::clone(&result);
        spawn(async move {
            let result = connection.await;
            *done.lock().unwrap() = Some(result);
        });
        Self {
            peer,
            watch: Arc::default(),
            lines,
            result,
        }
    }

    /// With the handshake of a legacy session behind it.
    pub(crate) fn legacy(mut self) -> Self {
        self.send(&initialize_with("2025-11-25", r#"{"elicitation":{}}"#));
        self.send(INITIALIZED);
        has(&self.read(), [r#""protocolVersion":"2025-11-25""#]);
        self
    }

    pub(crate) fn call(&mut self, id: u32, tool: &str) {
        self.send(&call(id, tool, ""));
    }

    /// Reads what there is, counting answers; whether there was nothing.
    pub(crate) fn count_answers(&mut self, answers: &mut usize) -> bool {
        let text = self.read();
        *answers += text.matches(r#""result":"#).count();
        text.is_empty()
    }

    /// How the connection ended, if it did.
    pub(crate) fn result(&self) -> Option<Result<(), io::ErrorKind>> {
        let result = self.result.lock().unwrap();
        result
            .as_ref()
            .map(|result| result.as_ref().map(|_| ()).map_err(io::Error::kind))
    }
}

impl Deref for Wire {
    type Target = LinePeer;

    fn deref(&self) -> &LinePeer {
        &self.lines
    }
}

impl DerefMut for Wire {
    fn deref_mut(&mut self) -> &mut LinePeer {
        &mut self.lines
    }
}

pub(crate) fn call(id: u32, tool: &str, meta: &str) -> String {
    message(&format!(
        r#"{id} tools/call {{"name":"{tool}","arguments":{{"id":{id}}}{meta}}}"#
    ))
}

/// Returns the last parameter of [`call`] for a request of 2026-07-28, with these further members.
pub(crate) fn modern_meta(members: &str) -> String {
    format!(
        concat!(
            r#","_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
            r#""io.modelcontextprotocol/clientCapabilities":{{}}{}}}"#
        ),
        members
    )
}

/// Returns the line of an answer.
pub(crate) fn answer(id: u32, result: &str) -> String {
    message(&format!("{id} = {result}")) + "\n"
}
