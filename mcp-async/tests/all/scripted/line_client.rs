//! A client of a server by script, which writes lines and reads those that came.

use core::time::Duration;

use mcp_async::runtime::{PipeReader, PipeWriter};
use mcp_async::server::{BoxService, Connection, Peer};
use mcp_proto::Revision;
use mcp_proto::json::{Raw, RawBuf};

use super::LinePeer;
use super::messages::{INITIALIZED, message, opening, with_meta};
use crate::server_typed::support::Offer;
use crate::sim::{self, Sim};

/// A client, and the server's handle of it.
pub(crate) struct LineClient {
    pub(crate) peer: Peer,
    revision: Revision,
    /// The capabilities that the client declares.
    capabilities: String,
    /// Further members of each `_meta` of 2026-07-28.
    meta: &'static str,
    lines: LinePeer,
    next_id: u64,
    /// Lines that came besides answers.
    pub(crate) heard: Vec<String>,
}

/// Capabilities of a client that can be asked for anything.
pub(crate) const ANSWERS: &str = r#"{"sampling":{},"elicitation":{"form":{}},"roots":{}}"#;

/// A connection on a virtual clock.
pub(crate) type Served = Connection<PipeReader, PipeWriter, BoxService>;

impl LineClient {
    /// A client that speaks this revision and declares nothing.
    pub(crate) fn new(server: &impl Offer, revision: Revision) -> Self {
        Self::declaring(server, revision, "{}")
    }

    /// A client that declares these capabilities.
    pub(crate) fn declaring(server: &impl Offer, revision: Revision, declared: &str) -> Self {
        Self::of(
            |streams| server.server().connect(streams, Sim),
            revision,
            declared,
        )
    }

    /// States these members, too, in each `_meta` of 2026-07-28.
    pub(crate) const fn stating(mut self, members: &'static str) -> Self {
        self.meta = members;
        self
    }

    /// A client of a server that begins its connection like this.
    pub(crate) fn of(
        begin: impl FnOnce((PipeReader, PipeWriter)) -> (Served, Peer),
        revision: Revision,
        declared: &str,
    ) -> Self {
        let (lines, streams) = LinePeer::pair(1 << 20);
        let (connection, peer) = begin(streams);
        let mut wire = Self::over(lines.polling(connection), peer, revision, declared);
        wire.open();
        wire
    }

    fn over(lines: LinePeer, peer: Peer, revision: Revision, declared: &str) -> Self {
        Self {
            peer,
            revision,
            capabilities: declared.into(),
            meta: "",
            lines,
            next_id: 0,
            heard: Vec::new(),
        }
    }

    /// Begins the session, where the revision has one.
    fn open(&mut self) {
        if self.revision.is_legacy() {
            let opening = opening(self.revision.as_str(), &self.capabilities);
            self.ask("initialize", &opening);
            self.line(INITIALIZED);
        }
    }

    /// The capabilities that the server declares.
    pub(crate) fn capabilities(server: &impl Offer, revision: Revision) -> String {
        let mut wire = Self::new(server, revision);
        let answer = if revision.is_modern() {
            wire.ask("server/discover", "{}")
        } else {
            let mut fresh = Self::bare(server, revision);
            fresh.ask("initialize", &opening(revision.as_str(), "{}"))
        };
        member(&answer, &["result", "capabilities"])
    }

    /// A client that has said nothing yet.
    pub(crate) fn bare(server: &impl Offer, revision: Revision) -> Self {
        let mut wire = Self::declaring(server, Revision::V2026_07_28, "{}");
        wire.revision = revision;
        wire
    }

    /// Sends a request, and returns the whole answer.
    pub(crate) fn ask(&mut self, method: &str, params: &str) -> String {
        let id = self.send(method, params);
        self.answer(id)
            .unwrap_or_else(|| panic!("no answer to {method} in {}", self.revision))
    }

    /// The result of a request; without what 2026-07-28 adds to each.
    pub(crate) fn result(&mut self, method: &str, params: &str) -> String {
        let answer = self.ask(method, params);
        let result = member(&answer, &["result"]);
        assert!(!result.is_empty(), "{answer} in {}", self.revision);
        let cut = result.find(r#","resultType":"complete""#);
        match cut {
            Some(cut) => format!("{}}}", &result[..cut]),
            None => result,
        }
    }

    /// The code and the text of the error that answers a request.
    pub(crate) fn error(&mut self, method: &str, params: &str) -> (i64, String) {
        let answer = self.ask(method, params);
        let code = member(&answer, &["error", "code"]);
        let code = code
            .parse()
            .unwrap_or_else(|_| panic!("{answer} in {}", self.revision));
        (code, text(&answer, &["error", "message"]))
    }

    /// Sends a request without waiting; its id.
    pub(crate) fn send(&mut self, method: &str, params: &str) -> u64 {
        let line = self.request(method, params);
        self.line(&line);
        self.next_id
    }

    /// The line of a request, which is the next that is sent.
    pub(crate) fn request(&mut self, method: &str, params: &str) -> String {
        self.next_id += 1;
        let (id, params) = (self.next_id, self.with_meta(params));
        message(&format!("{id} {method} {params}"))
    }

    pub(crate) fn notify(&mut self, method: &str, params: &str) {
        self.line(&format!("- {method} {params}"));
    }

    /// Says that a request is cancelled.
    pub(crate) fn cancel(&mut self, id: u64) {
        self.notify(
            "notifications/cancelled",
            &format!(r#"{{"requestId":{id}}}"#),
        );
    }

    /// The answer to a request, if it is there; all else that came is kept.
    pub(crate) fn answer(&mut self, id: u64) -> Option<String> {
        let lines = self.lines.lines();
        let prefix = format!(r#"{{"jsonrpc":"2.0","id":{id},"#);
        let mut answer = None;
        for line in lines {
            if line.starts_with(&prefix) {
                assert!(answer.is_none(), "a second answer: {line}");
                answer = Some(line);
            } else {
                self.heard.push(line);
            }
        }
        answer.or_else(|| {
            let at = self
                .heard
                .iter()
                .position(|line| line.starts_with(&prefix))?;
            Some(self.heard.remove(at))
        })
    }

    /// The lines that came besides answers, since they were last asked for.
    pub(crate) fn hear(&mut self) -> Vec<String> {
        self.heard.append(&mut self.lines.lines());
        core::mem::take(&mut self.heard)
    }

    pub(crate) fn advance(&mut self, by: Duration) {
        sim::advance(by);
        self.settle();
    }

    /// True after the end of the connection.
    pub(crate) fn has_ended(&mut self) -> bool {
        self.lines.has_ended()
    }

    /// Polls the connection for as long as it wants to be.
    pub(crate) fn settle(&mut self) {
        self.lines.settle();
    }

    /// The parameters with what 2026-07-28 wants in `_meta`, which comes last if there is one.
    fn with_meta(&self, params: &str) -> String {
        if self.revision.is_legacy() {
            return params.to_owned();
        }
        let (revision, capabilities) = (self.revision, &self.capabilities);
        let (comma, more) = (if self.meta.is_empty() { "" } else { "," }, self.meta);
        let meta = format!(
            r#""io.modelcontextprotocol/protocolVersion":"{revision}","io.modelcontextprotocol/clientCapabilities":{capabilities}{comma}{more}"#
        );
        with_meta(params, &meta)
    }

    /// Writes bytes as fast as they are taken, and returns the lines that came besides answers.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Vec<String> {
        self.lines.write(bytes);
        self.hear()
    }

    /// Writes a message, in short or in full.
    pub(crate) fn line(&mut self, text: &str) {
        self.lines.send(text);
    }
}

/// Returns the JSON of the member at this path, or an empty text without such a member.
pub(crate) fn member(json: &str, path: &[&str]) -> String {
    find(json, path).map_or_else(String::new, |raw| raw.as_raw().as_str().to_owned())
}

/// Returns the string at this path; fails without one.
pub(crate) fn text(json: &str, path: &[&str]) -> String {
    let found = find(json, path).unwrap_or_else(|| panic!("no {path:?} in {json}"));
    found.decode().unwrap()
}

fn find(json: &str, path: &[&str]) -> Option<RawBuf> {
    let mut raw = Raw::parse(json.as_bytes(), 64).unwrap();
    for step in path {
        raw = match step.parse::<usize>() {
            Ok(index) => raw.array()?.elements().nth(index)?,
            Err(_) => raw.object()?.get(step)?,
        };
    }
    Some(raw.into())
}
