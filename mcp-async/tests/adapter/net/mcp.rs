//! The protocol on real sockets.

use core::time::Duration;
use std::net::Shutdown;
use std::thread;

use mcp_async::http::Http;
use mcp_async::net::{HttpClient, HttpListener, RemoteAddr};
use mcp_async::runtime::Runtime as _;
use mcp_async::tasks::server::{TaskPolicy, Tasks};
use mcp_async::tasks::store::{MemoryTaskStore, TaskStore};
use mcp_proto::{Revision, RevisionSet};
use serde_json::json;

use super::service::{Gate, Open, Tested};
use super::{LATER, Running, SOON, certificate, local, run};
use crate::adapter::server::{Context, HandlerError, ServerBuilder, Tool};
use crate::adapter::{self, Client, Runtime, Server};
use crate::block_on;

/// `hello`, `held` until the gate is open, `flood` which does nothing but report progress.
pub(super) fn server(state: &Tested) -> ServerBuilder {
    let (held, flood) = (state.clone(), state.clone());
    Server::builder("s", "1")
        .revisions(RevisionSet::of(&Revision::ALL))
        .tool("hello", "Greets", |(): (), _| async { Ok("Hello!") })
        .tool("held", "Waits", move |(): (), _| {
            let state = held.clone();
            async move {
                let _open: Open = state.count();
                state.gate.passed().await;
                Ok("held")
            }
        })
        .tool(
            "whence",
            "Says who asks",
            |(): (), cx: Context| async move {
                let remote = cx
                    .http()
                    .and_then(|parts| parts.extensions.get::<RemoteAddr>());
                Ok(remote.map_or("nobody".to_owned(), |remote| remote.0.to_string()))
            },
        )
        .tool("flood", "Counts", move |(): (), cx: Context| {
            let state = flood.clone();
            async move {
                let _open: Open = state.count();
                for step in 0..u32::MAX {
                    let _ = cx.progress(f64::from(step)).await;
                }
                Ok("done")
            }
        })
}

type Set = fn(Http) -> Http;

fn serve(state: &Tested, listen: HttpListener, set: Set) -> Running {
    offer(server(state), listen, set)
}

fn offer(server: ServerBuilder, listen: HttpListener, set: Set) -> Running {
    run(listen.address().unwrap(), move |until| {
        set(server.http().with_graceful_shutdown(until)).serve(listen)
    })
}

fn plain(state: &Tested) -> Running {
    serve(state, local(), |http| http)
}

async fn connect(server: &Running, revision: Revision) -> Client {
    let url = format!("http://{}/mcp", server.address);
    let builder = Client::builder("t", "1").revisions(RevisionSet::of(&[revision]));
    let client = builder.connect(adapter::http(url)).await.unwrap();
    assert_eq!(client.info().revision, revision);
    client
}

const OVER_HTTP: [Revision; 4] = [
    Revision::V2025_03_26,
    Revision::V2025_06_18,
    Revision::V2025_11_25,
    Revision::V2026_07_28,
];

/// A POST by hand, in 2026-07-28.
fn modern(tool: &str) -> String {
    modern_of(tool, &json!({}))
}

/// The same, of a client with these capabilities.
fn modern_of(tool: &str, capabilities: &serde_json::Value) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": capabilities,
        "progressToken": "p",
    });
    let params = json!({ "name": tool, "arguments": {}, "_meta": meta });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let headers = format!(
        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {tool}\r\n"
    );
    post(&headers, &body.to_string())
}

pub(super) fn post(headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Accept: application/json, text/event-stream\r\n{headers}Content-Length: {length}\r\n\r\n{body}"
    )
}

pub(super) fn initialize() -> String {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": { "name": "t", "version": "1" },
    });
    json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params }).to_string()
}

#[test]
fn every_revision_is_spoken() {
    let state = Tested::default();
    let server = plain(&state);
    for revision in OVER_HTTP {
        block_on(async {
            let client = connect(&server, revision).await;
            assert_eq!(client.tools().all().await.unwrap().len(), 4);
            for _ in 0..10 {
                let answer = client.call_tool("hello", &json!({})).await.unwrap();
                assert_eq!(answer.text(), "Hello!");
            }
            client.close().await.unwrap();
        });
    }
    server.has_ended();
}

#[test]
fn tls_with_a_certificate() {
    let (identity, roots) = certificate();
    let server = serve(&Tested::default(), local().tls(identity), |http| http);
    for revision in OVER_HTTP {
        block_on(async {
            let http = HttpClient::builder().no_proxy().roots(roots.clone());
            let url = format!("https://localhost:{}/mcp", server.address.port());
            let builder = Client::builder("t", "1").revisions(RevisionSet::of(&[revision]));
            let server = adapter::http(url).through(http.build());
            let client = builder.connect(server).await.unwrap();
            let answer = client.call_tool("hello", &json!({})).await.unwrap();
            assert_eq!(answer.text(), "Hello!");
            client.close().await.unwrap();
        });
    }
}

#[test]
fn an_answer_is_one_write_with_its_length() {
    let server = plain(&Tested::default());
    let mut client = server.connect();
    for _ in 0..3 {
        let heard = client.say(&modern("hello")).hear();
        assert!(heard.starts_with("HTTP/1.1 200 OK\r\n"), "{heard}");
        assert!(heard.contains("content-length: "), "{heard}");
        assert!(heard.contains("Hello!"), "{heard}");
    }
    let heard = client.say(&post("", &initialize())).hear();
    assert!(heard.contains("content-length: "), "{heard}");
    assert!(heard.contains("mcp-session-id: "), "{heard}");
    assert!(heard.contains("\"serverInfo\""), "{heard}");
}

#[test]
fn handlers_know_the_address_of_who_asks() {
    let server = plain(&Tested::default());
    let mut client = server.connect();
    let heard = client.say(&modern("whence")).hear();
    assert!(heard.contains("127.0.0.1:"), "{heard}");
    let elsewhere = server.connect().say(&modern("whence")).hear();
    assert_ne!(
        heard.split_once("\r\n\r\n").unwrap().1,
        elsewhere.split_once("\r\n\r\n").unwrap().1
    );
}

#[test]
fn half_a_request_is_timed_out() {
    let server = serve(&Tested::default(), local().head_timeout(SOON), |http| http);
    let heard = server.connect().say("POST /mcp HTTP/1.1\r\nHo").hear_out();
    assert_eq!(heard, "");
    let server = serve(&Tested::default(), local(), |http| http.body_timeout(SOON));
    let whole = modern("hello");
    let half = whole.get(..whole.len() - 5).unwrap();
    let heard = server.connect().say(half).hear_out();
    assert!(heard.starts_with("HTTP/1.1 408 "), "{heard}");
}

#[test]
fn a_client_that_does_not_read_stops_its_handler() {
    let state = Tested::default();
    let unpaced = server(&state).progress_interval(Duration::ZERO);
    let server = offer(unpaced, local().stall_timeout(SOON), |http| http);
    let mut client = server.connect();
    let heard = client.say(&modern("flood")).hear();
    // It runs, then; perhaps it does no longer.
    assert!(heard.contains("text/event-stream"), "{heard}");
    state.has_open(0);
    drop(client);
}

#[test]
fn hanging_up_cancels_in_2026_07_28() {
    let state = Tested::default();
    let server = plain(&state);
    for tool in ["held", "flood"] {
        let mut half = server.connect();
        half.say(&modern(tool));
        state.has_open(1);
        half.0.shutdown(Shutdown::Write).unwrap();
        state.has_open(0);
        let mut whole = server.connect();
        whole.say(&modern(tool));
        state.has_open(1);
        drop(whole);
        state.has_open(0);
    }
}

#[test]
fn a_stream_that_broke_is_resumed_and_nothing_is_lost() {
    let state = Tested::default();
    let server = plain(&state);
    let mut client = server.connect();
    let opened = client.say(&post("", &initialize())).hear();
    let session = opened
        .lines()
        .find_map(|line| line.strip_prefix("mcp-session-id: "))
        .unwrap();
    let headers = format!("Mcp-Session-Id: {session}\r\nMCP-Protocol-Version: 2025-11-25\r\n");
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    assert!(client.say(&post(&headers, ready)).hear().contains(" 202 "));
    let call =
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"held","arguments":{}}}"#;
    let mut broken = server.connect();
    let mut heard = broken.say(&post(&headers, call)).hear();
    while !heard.contains("\nid: ") && !heard.contains("\nid:") {
        heard += &broken.hear();
    }
    let id = heard
        .lines()
        .find_map(|line| line.strip_prefix("id:"))
        .unwrap();
    let id = id.trim();
    state.has_open(1);
    drop(broken);
    state.gate.open();
    state.has_open(0);
    let mut again = server.connect();
    let mut heard = again
        .say(&format!(
            "GET /mcp HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n{headers}\
             Last-Event-ID: {id}\r\n\r\n"
        ))
        .hear();
    while !heard.contains("\"id\":2") {
        heard += &again.hear();
    }
    assert!(heard.contains("held"), "{heard}");
}

#[test]
fn the_end_lets_what_runs_finish() {
    let finishes = |revision| {
        let state = Tested::default();
        let server = plain(&state);
        let address = server.address;
        block_on(async {
            let client = connect(&server, revision).await;
            let gate = state.clone();
            let other = thread::spawn(move || {
                gate.has_open(1);
                server.end();
                while std::net::TcpStream::connect(address).is_ok() {
                    thread::sleep(core::time::Duration::from_millis(2));
                }
                gate.gate.open();
                server
            });
            let answer = client.call_tool("held", &json!({})).await.unwrap();
            assert_eq!(answer.text(), "held");
            other.join().unwrap().has_ended();
        });
    };
    // Each waits at its end for those who connected.
    thread::scope(|scope| {
        for revision in OVER_HTTP {
            scope.spawn(move || finishes(revision));
        }
    });
}

#[test]
fn a_server_that_dies_fails_the_call() {
    let state = Tested::default();
    let server = serve(&state, local().shutdown_timeout(SOON), |http| {
        http.shutdown_timeout(SOON)
    });
    block_on(async {
        let client = connect(&server, Revision::V2026_07_28).await;
        let gate = state.clone();
        let other = thread::spawn(move || {
            gate.has_open(1);
            server.has_ended();
        });
        let error = client.call_tool("held", &json!({})).await.unwrap_err();
        assert!(!error.to_string().is_empty());
        other.join().unwrap();
        let error = client.call_tool("hello", &json!({})).await.unwrap_err();
        assert!(error.to_string().contains("reached"), "{error}");
    });
}

#[test]
fn a_request_that_arrives_with_the_end_is_answered() {
    let server = plain(&Tested::default());
    let mut client = server.connect();
    server.end();
    let heard = client.say(&modern("hello")).hear_out();
    assert!(heard.starts_with("HTTP/1.1 200 OK"), "{heard}");
    server.has_ended();
}

/// The time for a first request runs while the runtime looks at the connection, and not while it is busy with other tasks.
#[test]
fn a_request_that_a_busy_runtime_reads_late_is_answered() {
    let server = plain(&Tested::default());
    let mut idle = server.connect();
    let heard = idle.say(&modern("hello")).hear();
    assert!(heard.starts_with("HTTP/1.1 200 OK"), "{heard}");
    let mut client = server.connect();
    block_on(async { Runtime.spawn(Box::pin(async { thread::sleep(2 * SOON) })) });
    server.end();
    let heard = client.say(&modern("hello")).hear_out();
    assert!(heard.starts_with("HTTP/1.1 200 OK"), "{heard}");
    server.has_ended();
}

#[test]
fn a_session_that_ended_leaves_its_place() {
    let server = serve(&Tested::default(), local(), |http| http.max_sessions(2));
    for _ in 0..20 {
        let mut client = server.connect();
        let heard = client.say(&post("", &initialize())).hear();
        assert!(heard.starts_with("HTTP/1.1 200 OK\r\n"), "{heard}");
        let session = heard
            .lines()
            .find_map(|line| line.strip_prefix("mcp-session-id: "));
        let session = session.unwrap();
        client.say(&format!(
            "DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: {session}\r\n\
             MCP-Protocol-Version: 2025-11-25\r\n\r\n"
        ));
        assert!(client.hear().starts_with("HTTP/1.1 2"));
    }
}

/// TK-60: tasks have the time of a shutdown, and the server waits until the store has their end.
#[test]
fn a_shutdown_ends_the_tasks_that_run() {
    let state = Tested::default();
    let store = MemoryTaskStore::new();
    let (held, tasks) = (state.clone(), Tasks::new().store(store.clone()));
    let tool = |name| {
        let state = held.clone();
        let tool = Tool::new(name).task(TaskPolicy::Required);
        tool.handler(move |(): (), _| {
            let state = state.clone();
            async move {
                let _open: Open = state.count();
                state.gate.passed().await;
                Ok("ended")
            }
        })
    };
    let forever = Tool::new("forever")
        .task(TaskPolicy::Required)
        .handler(|(): (), _| core::future::pending::<Result<String, HandlerError>>());
    let server = server(&state).with(tool("ends")).with(forever).tasks(tasks);
    let server = offer(server, local().shutdown_timeout(LATER / 2), |http| http);
    for name in ["ends", "forever"] {
        let declared = r#"{"extensions":{"io.modelcontextprotocol/tasks":{}}}"#;
        let request = modern_of(name, &serde_json::from_str(declared).unwrap());
        let heard = server.connect().say(&request).hear();
        assert!(heard.contains("taskId"), "{heard}");
    }
    let gate = state.gate.clone();
    let opening = thread::spawn(move || {
        thread::sleep(LATER / 4);
        gate.open();
    });
    server.has_ended();
    opening.join().unwrap();
    let mut ends = Vec::new();
    for record in block_on(store.expired(u64::MAX, 9)).unwrap() {
        let message = record.status_message().unwrap_or_default();
        ends.push(format!("{:?} {message}", record.status()));
    }
    ends.sort_unstable();
    assert_eq!(ends, ["Completed ", "Failed the server is shutting down"]);
    state.has_open(0);
}

#[test]
fn others_are_let_in_by_name_only() {
    let reachable = adapter::tcp("0.0.0.0:0");
    let refused = server(&Tested::default()).http().serve(reachable);
    let refused = block_on(refused).unwrap_err();
    assert!(refused.to_string().contains("allow_hosts"), "{refused}");
    assert!(refused.to_string().contains("allow_any_host"), "{refused}");
    let gate = Gate::default();
    gate.open();
    let until = async move { gate.passed().await };
    let open = server(&Tested::default())
        .http()
        .allow_any_host()
        .with_graceful_shutdown(until);
    block_on(open.serve(adapter::tcp("0.0.0.0:0"))).unwrap();
}

/// Writes a request, which is answered with this status before the connection is closed.
#[track_caller]
fn closes(server: &Running, request: &str, status: &str) {
    let heard = server.connect().say(request).hear_out();
    assert!(heard.starts_with(status), "{request}\n{heard}");
    assert_eq!(heard.matches("HTTP/1.1 ").count(), 1, "{heard}");
}

#[test]
fn heads_that_http_forbids() {
    let state = Tested::default();
    let server = &plain(&state);
    let good = modern("hello");
    let host = |with: &str| good.replace("Host: localhost\r\n", with);
    for wrong in [
        "",
        "Host: localhost\r\nHost: localhost\r\n",
        "Host: localhost:eighty\r\n",
        "Host: localhost:65536\r\n",
        "Host:\r\n",
    ] {
        let heard = server.connect().say(&host(wrong)).hear();
        assert!(heard.starts_with("HTTP/1.1 400 "), "{wrong}\n{heard}");
    }
    let (head, body) = good.split_once("\r\n\r\n").unwrap();
    let head = head.replace("Content-Length", "X-Length");
    let coded = |coding: &str| {
        let len = body.len();
        format!("{head}\r\n{coding}\r\n\r\n{len:x}\r\n{body}\r\n0\r\n\r\n")
    };
    let chunked = coded("Transfer-Encoding: chunked");
    let heard = server.connect().say(&chunked).hear();
    assert!(heard.starts_with("HTTP/1.1 200 "), "{heard}");
    for coding in [
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
    ] {
        // What follows is no request.
        closes(server, &(coded(coding) + &good), "HTTP/1.1 501 ");
    }
    for coding in ["identity", "chunked, gzip"] {
        let coded = coded(&format!("Transfer-Encoding: {coding}"));
        closes(server, &coded, "HTTP/1.1 400 ");
    }
    for method in ["GET", "DELETE"] {
        let heard = server
            .connect()
            .say(&good.replacen("POST", method, 1))
            .hear();
        assert!(heard.starts_with("HTTP/1.1 405 "), "{heard}");
        assert!(heard.contains("\r\nallow: POST\r\n"), "{heard}");
    }
}

/// A client that writes everything before it reads is answered, not reset.
#[test]
fn a_body_that_is_too_long_is_answered() {
    let state = Tested::default();
    let server = serve(&state, local(), |http| http.max_body_bytes(1 << 20));
    let body = "[".repeat(8 << 20);
    let mut client = server.connect();
    let heard = client.say(&post("", &body)).hear();
    assert!(heard.starts_with("HTTP/1.1 413 "), "{heard}");
    // It was read to its end, so the connection goes on.
    assert!(client.say(&modern("hello")).hear().contains("Hello!"));
}
