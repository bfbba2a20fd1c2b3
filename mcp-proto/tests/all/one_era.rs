//! Servers whose storage leaves out an era.

use mcp_proto::model::ServerFeatures;
use mcp_proto::server::{Event, Fixed, LegacyOnly, ModernOnly, Server, ServerConfig, Storage};
use mcp_proto::{ConfigError, Instant, Link, Outcome, RevisionSet, Step};

/// A line of each kind: both handshakes, calls of both eras, and what either refuses.
const LINES: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"server/discover"}"#,
    r#"{"jsonrpc":"2.0","id":4,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    r#"{"jsonrpc":"2.0","id":5,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    r#"{"jsonrpc":"2.0","id":6,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":7}}}"#,
    r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    r#"{"jsonrpc":"2.0","id":8,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#,
    r#"{"jsonrpc":"2.0","id":9,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    r#"{"jsonrpc":"2.0","id":10,"method":"tools/list"}"#,
    r#"{"jsonrpc":"2.0","id":11,"method":"prompts/list"}"#,
    r#"{"jsonrpc":"2.0","id":12,"method":"initialize","params":{"protocolVersion":"2026-07-28","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#,
    "nonsense",
];

fn config(revisions: RevisionSet) -> ServerConfig<'static> {
    ServerConfig {
        capabilities: ServerFeatures::TOOLS_LIST_CHANGED.capabilities(),
        revisions,
        ..ServerConfig::new("s", "1")
    }
}

/// Returns all that the server writes in answer to the lines.
fn answers<S: Storage>(revisions: RevisionSet, storage: S) -> String {
    let server = Server::new(config(revisions), storage).unwrap();
    let mut link = Link::new(server, [0; 1024], [0; 8192]).unwrap();
    for line in LINES {
        let spare = link.inbox.spare_mut().unwrap();
        spare[..line.len()].copy_from_slice(line.as_bytes());
        spare[line.len()] = b'\n';
        link.inbox.filled(line.len() + 1);
        loop {
            match link.step(Instant::ZERO) {
                Step::Event {
                    event: Event::Request { token, .. },
                    machine,
                    outbox,
                } => {
                    let tools = mcp_proto::json::Raw::parse(br#"{"tools":[]}"#, 4).unwrap();
                    let answer = Outcome::Result(&tools);
                    let _ = outbox
                        .put(|out| machine.respond(token, answer, out))
                        .unwrap();
                }
                Step::Event { .. } | Step::Done | Step::Ignored(_) => {}
                Step::Full => panic!("the outbox is full"),
                Step::Empty => break,
            }
        }
    }
    String::from_utf8(link.outbox.pending().into()).unwrap()
}

/// The storage has the effect of the configuration, byte for byte.
#[test]
fn a_storage_of_one_era_serves_its_revisions() {
    let (all, legacy, modern) = (
        RevisionSet::all(),
        RevisionSet::legacy(),
        RevisionSet::modern(),
    );
    let fixed = || Fixed::<4>;
    assert_eq!(answers(all, LegacyOnly(fixed())), answers(legacy, fixed()));
    assert_eq!(answers(all, ModernOnly(fixed())), answers(modern, fixed()));
    assert_ne!(answers(all, LegacyOnly(fixed())), answers(all, fixed()));
    assert_ne!(answers(all, ModernOnly(fixed())), answers(all, fixed()));
}

#[test]
fn no_revision_is_left() {
    let refused = Server::new(config(RevisionSet::modern()), LegacyOnly(Fixed::<4>));
    assert_eq!(refused.err(), Some(ConfigError::NoRevision));
    let refused = Server::new(
        config(RevisionSet::all()),
        ModernOnly(LegacyOnly(Fixed::<4>)),
    );
    assert_eq!(refused.err(), Some(ConfigError::NoRevision));
}
