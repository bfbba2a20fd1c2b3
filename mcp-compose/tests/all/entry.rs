//! Entries are connected as often as a program wants.

use core::time::Duration;

use mcp_async::Streams;
use mcp_async::client::ConnectError;
use mcp_async::runtime::duplex;
use mcp_compose::ServerEntry;

use crate::support::{in_each_revision, only, run, runtime, to, tools};

#[test]
fn each_connection_is_another() {
    in_each_revision(|revision| async move {
        let server = tools(&["hello"]);
        let entry = ServerEntry::connector("it", move || to(&server)).title("Greets");
        assert_eq!((entry.name(), entry.display_name()), ("it", "Greets"));
        let first = entry.connect(runtime(), only(revision)).await.unwrap();
        let second = entry.connect(runtime(), only(revision)).await.unwrap();
        first.close().await.unwrap();
        assert_eq!(
            second.call_tool("hello", &()).await.unwrap().text(),
            "hello"
        );
    });
}

#[test]
fn a_server_that_does_not_answer_has_a_deadline() {
    let (left, right) = duplex(64 << 10);
    let silent = std::sync::Mutex::new(Some(left));
    let entry = ServerEntry::connector("silent", move || {
        Streams::new(runtime(), silent.lock().unwrap().take().unwrap().split())
    });
    let before = runtime().now();
    let client = mcp_async::Client::builder("test", "0");
    let error = run(entry
        .deadline(Duration::from_secs(3))
        .connect(runtime(), client))
    .unwrap_err();
    assert!(matches!(error, ConnectError::Timeout), "{error}");
    assert_eq!(
        runtime().now().saturating_since(before),
        Duration::from_secs(3)
    );
    drop(right);
}

#[test]
fn headers_that_the_client_sets_are_errors() {
    let entry = ServerEntry::url("it", "http://127.0.0.1:1/mcp").header("Mcp-Method", "x");
    let client = mcp_async::Client::builder("test", "0");
    let error = run(entry.connect(runtime(), client)).unwrap_err();
    assert!(matches!(error, ConnectError::Header(_)), "{error}");
}
