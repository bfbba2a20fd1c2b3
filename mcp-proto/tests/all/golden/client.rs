//! The declarations of a recorded client, and the messages of its server.

use std::collections::BTreeMap;

use mcp_proto::client::{Client, ClientConfig, Event, Growing, Negotiation};
use mcp_proto::model::ClientCapabilities;
use mcp_proto::{
    Instant, Limits, Outbox, PingPolicy, ResultType, Revision, RevisionSet, SendError, Written,
};

use super::every_revision;
use super::script::{fill, member};
use super::short::Short;
use super::text::raw;
use crate::script::user::{Reach, User};

pub(crate) type Guest = Client<'static, Growing>;

impl Reach<'static> for (&mut Guest, &mut Outbox<Vec<u8>>) {
    type Storage = Growing;

    fn put<T: Written>(
        &mut self,
        mut write: impl FnMut(&mut Guest, &mut [u8]) -> Result<T, SendError>,
    ) -> Result<T, SendError> {
        let (client, outbox) = self;
        outbox.put(|out| write(client, out))
    }

    fn client(&mut self) -> &mut Guest {
        self.0
    }
}

/// A client of one revision that can do everything.
pub(crate) fn config(revision: Revision) -> ClientConfig<'static> {
    ClientConfig {
        capabilities: raw(CAPABILITIES).decode(&mut []).expect("capabilities"),
        revisions: RevisionSet::of(&[revision]),
        ..ClientConfig::new("client", "2.0")
    }
}

const CAPABILITIES: &str = r#"{"roots":{"listChanged":true},"sampling":{"context":{},"tools":{}},"elicitation":{"form":{},"url":{}}}"#;

/// Changes the configuration as the command `config` says.
pub(crate) fn configure(config: &mut ClientConfig<'static>, options: &str) {
    for option in options.split(' ') {
        match option {
            "nothing" => config.capabilities = ClientCapabilities::default(),
            "all" => config.revisions = every_revision(),
            "legacy" => config.revisions = RevisionSet::legacy(),
            "handshake" => config.negotiation = Negotiation::Handshake,
            "anonymous" => config.identify = false,
            "pings" => config.ping = Some(PingPolicy::default()),
            "no-alias" => config.cancel_alias = false,
            "no-extension" => config.progress_extends = false,
            "tasks" => {
                config.result_types = &[ResultType {
                    name: "task",
                    extension: "io.modelcontextprotocol/tasks",
                    methods: &["tools/call"],
                }];
            }
            "small" => {
                config.limits = Limits {
                    message: 600,
                    depth: 8,
                    in_flight: 2,
                    batch: 3,
                    ..Limits::default()
                };
            }
            other => panic!("no such option: {other}"),
        }
    }
}

/// The server's messages, and the ids of the client's requests.
#[derive(Default)]
pub(crate) struct Peer {
    /// By the label of a call, or else by the method.
    ids: BTreeMap<String, String>,
}

impl Peer {
    /// Remembers the id of a request that leaves.
    pub(crate) fn heard(&mut self, message: &str) {
        if let (Some(method), Some(id)) = (member(message, "method"), member(message, "id")) {
            self.ids.insert(method.trim_matches('"').to_owned(), id);
        }
    }

    pub(crate) fn label(&mut self, label: &str, id: Option<String>) {
        match id {
            Some(id) => self.ids.insert(label.to_owned(), id),
            None => self.ids.remove(label),
        };
    }

    /// The label of the call that has this id, or the method of the message.
    pub(crate) fn label_of(&self, id: u64, message: &[u8]) -> String {
        let id = id.to_string();
        let call = self.ids.iter().find(|(_, other)| **other == id);
        let method = || {
            let text = core::str::from_utf8(message).expect("messages are text");
            member(text, "method").unwrap_or_default()
        };
        let label = call.map_or_else(method, |(label, _)| label.clone());
        label.trim_matches('"').to_owned()
    }

    pub(crate) fn id(&self, label: &str) -> Option<&str> {
        self.ids.get(label).map(String::as_str)
    }

    /// The text with `$label` replaced by the id of that request; `None` if it was not sent.
    pub(crate) fn fill(&self, text: &str) -> Option<String> {
        fill(text, |label| self.id(label))
    }

    /// The message that a line of the script has; `None` if its label is that of no request.
    pub(crate) fn message(&self, text: &str) -> Option<String> {
        let filled = self.fill(text)?;
        Some(match Short::parse(&filled) {
            Some(short) => short.in_full(),
            None => filled,
        })
    }

    /// What answers the first request of an ordinary opening.
    pub(crate) fn opening(&self, revision: Revision, capabilities: &str) -> String {
        let (id, result) = match revision.is_modern() {
            true => (
                self.id("server/discover"),
                format!(
                    r#"{{"resultType":"complete","supportedVersions":["{revision}"],"capabilities":{capabilities}}}"#
                ),
            ),
            false => (
                self.id("initialize"),
                format!(
                    r#"{{"protocolVersion":"{revision}","capabilities":{capabilities},"serverInfo":{{"name":"server","version":"1.0"}}}}"#
                ),
            ),
        };
        let id = id.expect("the first request was sent");
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
    }
}

/// A client's application, and its server.
#[derive(Default)]
pub(crate) struct Caller {
    user: User,
    pub(crate) peer: Peer,
}

impl Caller {
    pub(crate) fn tell(&mut self, event: &Event<'_>) -> String {
        self.user.on(event);
        self.user.tell_in_full(event)
    }

    /// Does what a line says, in which labels of other calls stand for their ids.
    pub(crate) fn command(
        &mut self,
        now: Instant,
        verb: &str,
        rest: &str,
        out: &mut impl Reach<'static>,
    ) -> Result<(), SendError> {
        let rest = self.peer.fill(rest).expect("a call that was made");
        let done = self.user.command(now, verb, &rest, out);
        if let Some((label, text)) = self.user.called.take() {
            self.peer.label(&label, member(&text, "id"));
        }
        done.unwrap_or_else(|| panic!("no such command: {verb}"))
    }
}
