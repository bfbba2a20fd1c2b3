//! Two processes that share their sessions and reach each other over TLS.

use mcp_async::http::{HttpForward, MemoryStore};
use mcp_async::net::{HttpClient, Identity, RootCertificates};
use mcp_async::server::StateKeys;

use super::mcp::{initialize, post, server};
use super::service::Tested;
use super::{Raw, Running, certificate, local, run};
use crate::adapter::tcp;

fn process(store: &MemoryStore, (identity, roots): &(Identity, RootCertificates)) -> Running {
    let clients = local();
    let processes = tcp("127.0.0.1:0").tls(identity.clone());
    let forward = HttpForward::new(HttpClient::builder().roots(roots.clone()));
    let server = server(&Tested::default()).state_keys(StateKeys::new([7; 32]));
    let http = server.http().share_with(store.clone(), forward);
    run(clients.address().unwrap(), |until| {
        let http = http.processes_on(processes).with_graceful_shutdown(until);
        http.serve(clients)
    })
}

/// The head of a session that begins at this process.
fn open(process: &Running) -> String {
    let opened = process.connect().say(&post("", &initialize())).hear();
    let id = opened.split_once("mcp-session-id: ").unwrap().1;
    let id = id.split_once('\r').unwrap().0;
    format!("MCP-Protocol-Version: 2025-11-25\r\nMcp-Session-Id: {id}\r\n")
}

fn stream(process: &Running, session: &str) -> Raw {
    let mut stream = process.connect();
    let head = "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n";
    let answer = stream.say(&format!("{head}{session}\r\n")).hear();
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    stream
}

/// One connection of HTTP/2 has 64 streams.
#[test]
fn streams_of_many_sessions_leave_room_for_calls() {
    let (store, tls) = (MemoryStore::default(), certificate());
    let (owner, other) = (process(&store, &tls), process(&store, &tls));
    let streams: Vec<_> = (0..=64).map(|_| stream(&other, &open(&owner))).collect();
    let call = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"hello","arguments":{}}}"#;
    let mut client = other.connect();
    client.say(&post(&open(&owner), call));
    let mut answer = client.hear();
    while !answer.contains("Hello!") {
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        answer += &client.hear();
    }
    drop(streams);
}
