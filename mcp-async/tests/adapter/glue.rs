//! Clients and servers of whichever adapter includes this, with real processes and sockets
//! between them.

use core::future::Future;
use core::time::Duration;
use std::io::{self, BufRead, Read, Write};
use std::process::{Command as Program, Stdio};
use std::sync::{Arc, Mutex};

use mcp_proto::RevisionSet;
use mcp_proto::client::{ClientConfig, Timeouts};
use mcp_proto::json::RawBuf;
use mcp_proto::model::ServerFeatures;
use mcp_proto::rpc::Method;
use mcp_proto::server::ServerConfig;

use super::adapter::client::{CallError, ConnectError};
use super::adapter::server::{Call, Service, serve_stdio, service_fn};
use super::adapter::{self, Command, ErrorChain, ErrorReply};
use super::script::{Roll, Script, call_in, command, program};
use super::{block_on, sockets, spawn_task};

pub(crate) const SCRIPTS: &[Script] = &[
    ("a spawned server answers in every revision", every_revision),
    ("the last client ends the server", last_client),
    ("a server that dies is described", dies),
    (
        "a server that hangs up on the probe is met again",
        hangs_up_on_probe,
    ),
    (
        "a server that is silent on the probe is met again",
        silent_on_probe,
    ),
    ("a server that suits nobody is shut down", suits_nobody),
    ("a program that is not there cannot be started", not_there),
    ("a server that prints anything is quoted", prints),
    ("a server may print a banner", banner),
    (
        "a server that dies during a call is described",
        dies_in_call,
    ),
    ("a spawn that is dropped kills the server", dropped_spawn),
    (
        "a session that is dropped kills the server",
        dropped_session,
    ),
    ("a server on a socket", on_socket),
    ("an idle server ends with its input", idle_at_end),
    (
        "what was read is answered at the end of input",
        answers_at_end,
    ),
    (
        "a server whose output is closed ends quietly",
        output_closed,
    ),
    #[cfg(unix)]
    ("a signal ends a server in good order", interrupted),
];

/// ST-01, ST-18.
fn every_revision() {
    for revision in RevisionSet::all().iter() {
        block_on(async {
            let roll = Roll::open();
            let command = command("serve", &[&roll.address()]);
            let spawned =
                command.connect_in_task(adapter::Runtime, config(RevisionSet::of(&[revision])), ());
            let (client, ending) = spawned.await.unwrap();
            assert_eq!(client.server().unwrap().revision, revision);
            assert!(tools(&client).await.contains("tools"));
            client.close();
            assert_eq!(ending.await.unwrap().code(), Some(0));
            let [server] = roll.expect(["serve"]);
            server.dies();
        });
    }
}

fn last_client() {
    block_on(async {
        let roll = Roll::open();
        let command = command("serve", &[&roll.address()]);
        let (client, ending) = command
            .connect_in_task(adapter::Runtime, config(RevisionSet::all()), ())
            .await
            .unwrap();
        let twin = client.clone();
        drop(client);
        assert!(tools(&twin).await.contains("tools"));
        drop(twin);
        assert_eq!(ending.await.unwrap().code(), Some(0));
        let [server] = roll.expect(["serve"]);
        server.dies();
    });
}

fn dies() {
    block_on(async {
        let seen = Arc::new(Mutex::new(0));
        let sink = Arc::clone(&seen);
        let command = command("die", &[]).on_stderr(move |_| *sink.lock().unwrap() += 1);
        let spawned = command
            .connect_in_task(adapter::Runtime, config(RevisionSet::modern()), ())
            .await;
        let Err(ConnectError::ExitedEarly(died)) = spawned else {
            panic!("connected to the dead");
        };
        assert_eq!(died.status.unwrap().code(), Some(3));
        assert_eq!(died.lines, ["cannot find the key", "giving up"]);
        assert_eq!(*seen.lock().unwrap(), 2);
    });
}

/// VR-30.
fn hangs_up_on_probe() {
    block_on(async {
        let command = command("handshake-only", &[]);
        let (client, ending) = command
            .connect_in_task(adapter::Runtime, config(RevisionSet::all()), ())
            .await
            .unwrap();
        assert!(client.server().unwrap().revision.is_legacy());
        client.close();
        assert_eq!(ending.await.unwrap().code(), Some(0));
        // Who accepts no legacy revision has nobody to meet again.
        let spawned = command
            .connect_in_task(adapter::Runtime, config(RevisionSet::modern()), ())
            .await;
        assert!(matches!(spawned, Err(ConnectError::ExitedEarly(_))));
    });
}

/// The runtime's timer at work: `initialize` follows when the probe stays unanswered.
fn silent_on_probe() {
    block_on(async {
        let command = command("silent-on-probe", &[]);
        let config = ClientConfig {
            timeouts: Timeouts {
                probe: Duration::from_millis(50),
                ..Timeouts::default()
            },
            ..config(RevisionSet::all())
        };
        let (client, ending) = command
            .connect_in_task(adapter::Runtime, config, ())
            .await
            .unwrap();
        assert!(client.server().unwrap().revision.is_legacy());
        client.close();
        assert_eq!(ending.await.unwrap().code(), Some(0));
    });
}

fn suits_nobody() {
    block_on(async {
        let roll = Roll::open();
        let command = command("serve-modern", &[&roll.address()]);
        let spawned = command
            .connect_in_task(adapter::Runtime, config(RevisionSet::legacy()), ())
            .await;
        let Err(error) = spawned else {
            panic!("agreed on nothing");
        };
        let has_ended = matches!(error, ConnectError::Closed | ConnectError::ExitedEarly(_));
        assert!(!has_ended, "{error}");
        let [server] = roll.expect(["serve-modern"]);
        server.dies();
    });
}

fn not_there() {
    block_on(async {
        let nowhere = Command::new("no-such-server-anywhere");
        let spawned = nowhere
            .connect_in_task(adapter::Runtime, config(RevisionSet::all()), ())
            .await;
        let Err(error @ ConnectError::Start(_)) = spawned else {
            panic!("started nothing");
        };
        let text = ErrorChain(&error).to_string();
        let start = "the server cannot be started: \"no-such-server-anywhere\": ";
        assert!(text.starts_with(start), "{text}");
        let command = command("serve", &[""]).current_dir("/no/such/directory");
        let spawned = command
            .connect_in_task(adapter::Runtime, config(RevisionSet::all()), ())
            .await;
        let text = ErrorChain(&spawned.err().unwrap()).to_string();
        assert!(
            text.contains("\"/no/such/directory\" does not exist"),
            "{text}"
        );
    });
}

/// ST-04: a server that prints something else fails at once, and not after a minute of silence.
fn prints() {
    block_on(async {
        let roll = Roll::open();
        let printing = command("print", &[&roll.address()]);
        let spawned = printing
            .connect_in_task(adapter::Runtime, config(RevisionSet::all()), ())
            .await;
        let Err(error @ ConnectError::Output(_)) = spawned else {
            panic!("connected to a printer");
        };
        assert_eq!(
            error.to_string(),
            "the server printed \"Listening on \\\"port\\\" 8000\", which is no MCP message; \
             the last line of its standard error: \"ready\""
        );
        let [server] = roll.expect(["print"]);
        server.dies();
        // One that ends is described as one that ended.
        let usage = command("usage", &[]);
        let spawned = usage
            .connect_in_task(adapter::Runtime, config(RevisionSet::all()), ())
            .await;
        let Err(ConnectError::ExitedEarly(died)) = spawned else {
            panic!("connected to the dead");
        };
        assert_eq!(died.printed.as_deref(), Some("usage: server [OPTIONS]"));
        assert_eq!(died.status.unwrap().code(), Some(2));
    });
}

fn banner() {
    block_on(async {
        let roll = Roll::open();
        let command = command("banner", &[&roll.address()]);
        let spawned = command.connect_in_task(adapter::Runtime, config(RevisionSet::all()), ());
        let (client, ending) = spawned.await.unwrap();
        assert!(tools(&client).await.contains("tools"));
        client.close();
        assert_eq!(ending.await.unwrap().code(), Some(0));
    });
}

fn dies_in_call() {
    block_on(async {
        let builder = adapter::Client::builder("glue", "1.0").revisions(RevisionSet::legacy());
        let server = adapter::child(command("die-in-call", &[]));
        let client = builder.connect(server).await.unwrap();
        for _ in 0..2 {
            let error = client.call_tool("x", &()).await.unwrap_err();
            let CallError::ExitedEarly(died) = &error else {
                panic!("{error}");
            };
            assert_eq!(died.status.unwrap().code(), Some(7));
            assert_eq!(died.lines, ["out of memory", "at line 3"]);
            let text = error.to_string();
            assert!(
                text.contains("7") && text.ends_with("[\"out of memory\", \"at line 3\"]"),
                "{text}"
            );
        }
        assert_eq!(client.closed().await.unwrap().unwrap().code(), Some(7));
    });
}

fn dropped_spawn() {
    block_on(async {
        let roll = Roll::open();
        let command = command("deaf", &[&roll.address()]);
        let spawned = command.connect_in_task(adapter::Runtime, config(RevisionSet::all()), ());
        let mut spawned = Box::pin(spawned);
        core::future::poll_fn(|task| {
            assert!(spawned.as_mut().poll(task).is_pending());
            core::task::Poll::Ready(())
        })
        .await;
        let [server] = roll.expect(["deaf"]);
        drop(spawned);
        server.dies();
    });
}

fn dropped_session() {
    let roll = Roll::open();
    block_on(async {
        let command = command("serve", &[&roll.address()]);
        let connected = command.connect(adapter::Runtime, config(RevisionSet::all()), ());
        let (session, client, ending) = connected.await.unwrap();
        drop(session);
        assert!(client.is_closed());
        assert_eq!(
            ending.await.unwrap_err().kind(),
            io::ErrorKind::ConnectionAborted
        );
    });
    let [server] = roll.expect(["serve"]);
    server.dies();
}

/// ST-20.
fn on_socket() {
    block_on(async {
        let (near, far) = sockets().await;
        let (connection, _peer) = adapter::server::connect(
            adapter::split(far),
            adapter::Runtime,
            server(RevisionSet::all()),
            service(),
        );
        spawn_task(connection);
        let client = adapter::client::connect_in_task(
            adapter::split(near),
            adapter::Runtime,
            config(RevisionSet::all()),
            (),
        );
        let client = client.await.unwrap();
        assert!(tools(&client).await.contains("tools"));
    });
}

/// ST-10.
fn idle_at_end() {
    let roll = Roll::open();
    let ended = serve(&roll, Stdio::null(), b"");
    assert_eq!(ended, (Some(0), String::new()));
}

fn answers_at_end() {
    let roll = Roll::open();
    let (code, output) = serve(
        &roll,
        Stdio::piped(),
        br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#,
    );
    assert_eq!(code, Some(0));
    assert_eq!(output, "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n");
}

fn output_closed() {
    let roll = Roll::open();
    let mut running = Program::new(program())
        .args(["role:serve", &roll.address()])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(running.stdout.take());
    let mut input = running.stdin.take().unwrap();
    while running.try_wait().unwrap().is_none() {
        // It may end between two of them.
        let _ = input.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\n");
        std::thread::sleep(Duration::from_millis(10));
    }
    let ended = running.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(0));
    assert_eq!(String::from_utf8(ended.stderr).unwrap(), "");
}

#[cfg(unix)]
fn interrupted() {
    use rustix::process::{Pid, Signal, kill_process};

    for signal in [Signal::INT, Signal::TERM] {
        let roll = Roll::open();
        let mut running = Program::new(program())
            .args(["role:serve", &roll.address()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = running.stdin.take().unwrap();
        let mut output = io::BufReader::new(running.stdout.take().unwrap());
        let ping = b"{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"ping\"}\n";
        let mut answer = String::new();
        input.write_all(ping).unwrap();
        output.read_line(&mut answer).unwrap();
        assert_eq!(answer, "{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{}}\n");
        let process = Pid::from_child(&running);
        kill_process(process, signal).unwrap();
        assert_eq!(output.read_to_string(&mut answer).unwrap(), 0);
        assert_eq!(running.wait().unwrap().code(), Some(0));
    }
}

/// What this program does when it was started as a child; false for a role of others.
pub(crate) fn play(role: &str, arguments: &[&str]) -> bool {
    match (role, arguments) {
        ("serve", [address]) => {
            call_in("serve", address);
            block_on(serve_stdio(
                adapter::Runtime,
                server(RevisionSet::all()),
                service(),
            ))
            .unwrap();
        }
        ("serve-modern", [address]) => {
            call_in("serve-modern", address);
            block_on(serve_stdio(
                adapter::Runtime,
                server(RevisionSet::modern()),
                service(),
            ))
            .unwrap();
        }
        ("handshake-only", []) => {
            let mut lines = io::stdin().lock().lines();
            let first = lines.next().unwrap().unwrap();
            if !first.contains("\"initialize\"") {
                std::process::exit(1);
            }
            println!("{}", handshake(1));
            lines.for_each(drop);
        }
        ("silent-on-probe", []) => {
            let mut lines = io::stdin().lock().lines().map(Result::unwrap);
            lines.find(|line| line.contains("\"initialize\""));
            println!("{}", handshake(2));
            lines.for_each(drop);
        }
        ("print", [address]) => {
            call_in("print", address);
            eprintln!("ready");
            println!("Listening on \"port\" 8000");
            loop {
                std::thread::park();
            }
        }
        ("usage", []) => {
            println!("usage: server [OPTIONS]");
            std::process::exit(2);
        }
        ("banner", [address]) => {
            println!("\n> server@1.0.0 start\n> node server.js\n");
            return play("serve", &[address]);
        }
        ("die-in-call", []) => {
            let mut lines = io::stdin().lock().lines().map(Result::unwrap);
            lines.find(|line| line.contains("\"initialize\""));
            let tools =
                handshake(1).replace("\"capabilities\":{}", "\"capabilities\":{\"tools\":{}}");
            println!("{tools}");
            lines.find(|line| line.contains("\"tools/call\""));
            eprintln!("out of memory\nat line 3");
            std::process::exit(7);
        }
        _ => return false,
    }
    true
}

/// Starts the server by hand, gives it this to read, and waits for its end.
fn serve(roll: &Roll, stdin: Stdio, input: &[u8]) -> (Option<i32>, String) {
    let mut running = Program::new(program())
        .args(["role:serve", &roll.address()])
        .stdin(stdin)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    if let Some(mut stdin) = running.stdin.take() {
        stdin.write_all(input).unwrap();
    }
    let mut output = String::new();
    running
        .stdout
        .take()
        .unwrap()
        .read_to_string(&mut output)
        .unwrap();
    (running.wait().unwrap().code(), output)
}

async fn tools(client: &adapter::client::Peer) -> String {
    let tools: RawBuf = client.call(Method::ToolsList, None).await.unwrap();
    tools.as_raw().as_str().to_owned()
}

fn service() -> impl Service {
    service_fn(|call: Call<'_>| match call.method {
        Method::ToolsList => call.ready(Ok(mcp_proto::model::ListToolsResult::default())),
        _ => call.refuse(ErrorReply::method_not_found()),
    })
}

fn server(revisions: RevisionSet) -> ServerConfig<'static> {
    ServerConfig {
        capabilities: ServerFeatures::TOOLS.capabilities(),
        revisions,
        ..ServerConfig::new("glue", "1.0")
    }
}

fn config(revisions: RevisionSet) -> ClientConfig<'static> {
    ClientConfig {
        revisions,
        ..ClientConfig::new("glue", "1.0")
    }
}

/// What a server of old would say.
fn handshake(id: u32) -> String {
    let result = r#"{"protocolVersion":"2024-11-05","capabilities":{},"serverInfo":{"name":"old","version":"1"}}"#;
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#)
}
