//! Errors that no log receives: a program without a subscriber of `tracing` that wants them still sees
//! the first.

use std::process::Command;

use mcp_async::Server;
use mcp_async::server::{Context, HandlerError};
use mcp_proto::Revision;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::scripted::LineClient;
use crate::texts::{INTERNAL_ERROR, has};

/// Tells this test that it runs in a process of its own, where no other test has set a subscriber.
const CHILD: &str = "MCP_TEST_OF_UNSEEN_ERRORS";

/// What such a process writes to its standard error.
fn stderr(test: &str) -> String {
    let program = std::env::current_exe().unwrap();
    let mut command = Command::new(program);
    let test = format!("server_typed::unseen::{test}");
    command.args(["--exact", &test, "--nocapture", "--test-threads=1"]);
    let output = command.env(CHILD, "1").output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stderr).unwrap()
}

#[derive(Deserialize, JsonSchema)]
struct Key {
    #[serde(rename = "key")]
    _key: String,
}

fn fail() {
    let server = Server::builder("demo", "1")
        .tool("fails", "", |_: Key, _: Context| async {
            Err::<(), _>(std::io::Error::other("no such table: \u{1b}[2Jnotes").into())
        })
        .tool("hints", "", |(): (), _: Context| async {
            Err::<(), _>(HandlerError::visible("try another"))
        });
    let mut wire = LineClient::new(&server, Revision::V2026_07_28);
    wire.ask("tools/call", r#"{"name":"hints"}"#);
    for _ in 0..3 {
        has(
            &wire.ask(
                "tools/call",
                r#"{"name":"fails","arguments":{"key":"s3cret"}}"#,
            ),
            [INTERNAL_ERROR],
        );
    }
}

#[test]
fn the_first_error_is_printed_where_no_subscriber_is_set() {
    if std::env::var(CHILD).is_ok() {
        return fail();
    }
    let shown = stderr("the_first_error_is_printed_where_no_subscriber_is_set");
    let lines = Vec::from_iter(shown.lines().filter(|line| line.starts_with("mcp-async: ")));
    let [error, hint] = lines[..] else {
        panic!("{shown}");
    };
    assert_eq!(
        error,
        "mcp-async: a handler failed: no such table: \\u{1b}[2Jnotes"
    );
    assert!(hint.contains("tracing"), "{hint}");
    assert!(!shown.contains("s3cret") && !shown.contains("try another"));
}

/// A subscriber that wants nothing.
struct Deaf;

impl tracing::Subscriber for Deaf {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        false
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

    fn event(&self, _: &tracing::Event<'_>) {}

    fn enter(&self, _: &tracing::span::Id) {}

    fn exit(&self, _: &tracing::span::Id) {}
}

#[test]
fn the_first_error_is_printed_where_the_subscriber_wants_none() {
    if std::env::var(CHILD).is_ok() {
        return tracing::subscriber::with_default(Deaf, fail);
    }
    let shown = stderr("the_first_error_is_printed_where_the_subscriber_wants_none");
    assert_eq!(shown.matches("no such table").count(), 1, "{shown}");
}

#[test]
fn nothing_is_printed_where_a_subscriber_is_set() {
    use crate::connection::spans::Notes;

    if std::env::var(CHILD).is_ok() {
        let notes = Notes::default();
        notes.watch(fail);
        assert!(
            notes
                .take()
                .iter()
                .any(|line| line.contains("no such table"))
        );
        return;
    }
    let shown = stderr("nothing_is_printed_where_a_subscriber_is_set");
    assert!(!shown.contains("mcp-async: "), "{shown}");
}
