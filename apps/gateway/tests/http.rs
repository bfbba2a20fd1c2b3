//! Drives the program over loopback HTTP, as several users and as a web page.

use std::process::Stdio;
use std::time::Duration;

use mcp_tokio::client::{CallError, Negotiation, Update};
use mcp_tokio::model::ElicitResult;
use mcp_tokio::{Client, http};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

/// The program while it runs.
struct Gateway {
    process: Child,
    url: String,
}

impl Gateway {
    async fn start() -> Self {
        let mut process = Command::new(env!("CARGO_BIN_EXE_gateway"))
            .args([":memory:", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        let url = lines.next_line().await.unwrap().unwrap();
        Self { process, url }
    }

    fn host(&self) -> &str {
        let rest = self.url.strip_prefix("http://").unwrap();
        rest.split('/').next().unwrap()
    }

    async fn client(&self, user: &str, negotiation: Negotiation) -> Client {
        let builder = Client::builder("test", "1.0")
            .negotiation(negotiation)
            .bearer(&format!("{user}-token"))
            .on_elicitation(|_, _| async { Ok(ElicitResult::accept(&json!({ "sure": true }))?) });
        builder.connect(http(&self.url)).await.unwrap()
    }

    /// Sends one request and returns the whole response.
    async fn raw(&self, request: &str) -> String {
        let host = self.host();
        let mut stream = TcpStream::connect(host).await.unwrap();
        let request = format!("{request}\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        response.to_lowercase()
    }

    async fn stop(mut self) {
        let id = self.process.id().unwrap().to_string();
        let signal = Command::new("kill").args(["-INT", &id]).status();
        assert!(signal.await.unwrap().success());
        assert!(self.process.wait().await.unwrap().success());
    }
}

/// Each user works with the notes of their own, in both eras.
#[tokio::test]
async fn users_do_not_see_each_other() {
    let gateway = Gateway::start().await;
    for negotiation in [Negotiation::Probe, Negotiation::Handshake] {
        let ada = gateway.client("ada", negotiation).await;
        let bob = gateway.client("bob", negotiation).await;
        let note = json!({ "title": "Secret", "body": "x" });
        let note: Value = ada.call_tool_as("add", &note).await.unwrap();

        let listed = ada.resources().all().await.unwrap();
        assert!(listed.iter().any(|resource| resource.name == "Secret"));
        let listed = bob.resources().all().await.unwrap();
        assert!(listed.iter().all(|resource| resource.name == "index"));
        let all = json!({});
        let found: Value = bob.call_tool_as("search", &all).await.unwrap();
        assert_eq!(found, json!({ "notes": [] }));
        let uri = format!("note:///{}", note["id"]);
        let error = bob.read_resource(&uri).await.unwrap_err();
        assert!(matches!(error, CallError::Server(_)), "{error}");
        let id = json!({ "id": note["id"] });
        let refused = bob.call_tool("delete", &id).await.unwrap();
        assert!(refused.is_error, "{}", refused.text());

        let found: Value = ada.call_tool_as("search", &all).await.unwrap();
        assert_eq!(found, json!({ "notes": [note] }));
        let deleted: Value = ada.call_tool_as("delete", &id).await.unwrap();
        assert_eq!(deleted, json!({ "deleted": true }));
        ada.close().await.unwrap();
        bob.close().await.unwrap();
    }
    gateway.stop().await;
}

/// A change is reported to its user, in all clients of that user, and to no other user.
#[tokio::test]
async fn changes_are_reported_to_their_user() {
    let gateway = Gateway::start().await;
    for negotiation in [Negotiation::Probe, Negotiation::Handshake] {
        let ada = gateway.client("ada", negotiation).await;
        let other = gateway.client("ada", negotiation).await;
        let bob = gateway.client("bob", negotiation).await;
        let mut hers = other.subscribe("note:///index").await.unwrap();
        let mut his = bob.subscribe("note:///index").await.unwrap();
        let note = json!({ "title": "a", "body": "b" });
        ada.call_tool("add", &note).await.unwrap();
        let index = Update::Resource("note:///index".into());
        assert_eq!(hers.next().await, Some(index));
        let nothing = tokio::time::timeout(Duration::from_millis(200), his.next()).await;
        assert!(nothing.is_err(), "{nothing:?}");
    }
    gateway.stop().await;
}

/// An open stream does not keep the program from its end.
#[tokio::test]
async fn subscriptions_end_with_the_program() {
    let gateway = Gateway::start().await;
    for negotiation in [Negotiation::Probe, Negotiation::Handshake] {
        let ada = gateway.client("ada", negotiation).await;
        let mut changes = ada.subscribe("note:///index").await.unwrap();
        let note = json!({ "title": "a", "body": "b" });
        ada.call_tool("add", &note).await.unwrap();
        let index = Update::Resource("note:///index".into());
        assert_eq!(changes.next().await, Some(index));
    }
    let ada = gateway.client("ada", Negotiation::Probe).await;
    let _changes = ada.subscribe("note:///index").await.unwrap();
    gateway.stop().await;
}

#[tokio::test]
async fn strangers_are_refused() {
    let gateway = Gateway::start().await;
    let error = Client::connect(http(&gateway.url)).await.unwrap_err();
    assert!(error.to_string().contains("401"), "{error:?}");
    let stranger = Client::builder("test", "1.0").bearer("guessed");
    let error = stranger.connect(http(&gateway.url)).await.unwrap_err();
    assert!(error.to_string().contains("401"), "{error:?}");

    let response = gateway.raw("POST /api/mcp HTTP/1.1").await;
    assert!(response.starts_with("http/1.1 401 "), "{response}");
    assert!(response.contains("www-authenticate: bearer"), "{response}");
    let response = gateway.raw("GET /health HTTP/1.1").await;
    assert!(response.starts_with("http/1.1 200 "), "{response}");
    gateway.stop().await;
}

/// Only the pages of the configured origin may use the server, and they ask by a preflight.
#[tokio::test]
async fn web_pages_ask_first() {
    let gateway = Gateway::start().await;
    let preflight = "OPTIONS /api/mcp HTTP/1.1\r\nAccess-Control-Request-Method: POST\r\n\
        Access-Control-Request-Headers: authorization, content-type";
    let own = format!("{preflight}\r\nOrigin: https://app.example.com");
    let response = gateway.raw(&own).await;
    assert!(response.starts_with("http/1.1 20"), "{response}");
    let allowed = "access-control-allow-origin: https://app.example.com";
    assert!(response.contains(allowed), "{response}");
    assert!(response.contains("authorization"), "{response}");

    let other = format!("{preflight}\r\nOrigin: https://evil.example.com");
    let response = gateway.raw(&other).await;
    assert!(response.starts_with("http/1.1 403 "), "{response}");

    // A page can read that its request is refused.
    let refused = "POST /api/mcp HTTP/1.1\r\nOrigin: https://app.example.com";
    let response = gateway.raw(refused).await;
    assert!(response.starts_with("http/1.1 401 "), "{response}");
    assert!(response.contains(allowed), "{response}");
    gateway.stop().await;
}
