//! Servers of this process, and the runtime of a test.

use core::future::{pending, poll_fn};
use core::pin::{Pin, pin};
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};
use core::time::Duration;
use std::sync::Arc;
use std::task::Wake;

use mcp_async::client::{ClientBuilder, Connector};
use mcp_async::json::RawBuf;
use mcp_async::model::ServerFeatures;
use mcp_async::runtime::{Duplex, ManualRuntime, Runtime as _, RuntimeHandle, duplex, within};
use mcp_async::server::{self, BoxService, ServerBuilder};
use mcp_async::{Client, ErrorReply, Revision, RevisionSet, Server, Streams, in_memory};
use mcp_compose::{CatalogView, ServerEntry};
use mcp_proto::PreparedConfig;
use mcp_proto::server::ServerConfig;

thread_local! {
    static RUNTIME: ManualRuntime = ManualRuntime::default();
}

/// The runtime of the thread that a test runs on.
pub(super) fn runtime() -> RuntimeHandle {
    RUNTIME.with(ManualRuntime::clone).into()
}

/// Runs everything until the future is ready, and returns its value. Time moves on when nothing else happens.
pub(super) fn run<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let woken = Arc::new(Woken(AtomicBool::new(true)));
    let waker = Waker::from(Arc::clone(&woken));
    let cx = &mut Context::from_waker(&waker);
    let manual = RUNTIME.with(ManualRuntime::clone);
    loop {
        if woken.0.swap(false, Ordering::SeqCst)
            && let Poll::Ready(value) = future.as_mut().poll(cx)
        {
            return value;
        }
        manual.run();
        if !woken.0.load(Ordering::SeqCst) {
            let next = manual
                .next_deadline()
                .expect("the future waits for nothing");
            manual.advance(next.saturating_since(manual.now()));
        }
    }
}

/// Lets so many seconds pass.
pub(super) async fn pause(seconds: u64) {
    sleep(Duration::from_secs(seconds)).await;
}

pub(super) async fn sleep(time: Duration) {
    within(&runtime(), time, pending::<()>()).await;
}

/// True if the task of a test was woken.
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Runs the script once in each revision.
pub(super) fn in_each_revision<F: Future<Output = ()>>(script: impl Fn(Revision) -> F) {
    for revision in RevisionSet::all().iter() {
        run(script(revision));
    }
}

/// The settings of a client that speaks this revision and no other.
pub(super) fn only(revision: Revision) -> ClientBuilder {
    Client::builder("test", "0").revisions(RevisionSet::of(&[revision]))
}

/// A connector to the server.
pub(super) fn to(server: &ServerBuilder) -> impl Connector + use<> {
    in_memory(runtime(), &built(server))
}

/// The entry of a server of this process.
pub(super) fn serving(name: &str, server: Server) -> ServerEntry {
    ServerEntry::connector(name, move || in_memory(runtime(), &server))
}

/// The entry of a server that is built of this.
pub(super) fn entry(name: &str, server: &ServerBuilder) -> ServerEntry {
    serving(name, built(server))
}

fn built(server: &ServerBuilder) -> Server {
    server.clone().build().expect("it is well formed")
}

/// The exposed names of the tools.
pub(super) fn names(view: &CatalogView) -> Vec<String> {
    let tools = view.tools().iter();
    tools.map(|tool| tool.exposed_name.clone()).collect()
}

/// A client of the server.
pub(super) async fn join(server: &ServerBuilder, revision: Revision) -> Client {
    only(revision)
        .connect(to(server))
        .await
        .expect("it connects")
}

/// Returns what a tool says, or the error instead of it.
pub(super) async fn said(client: &Client, tool: &str) -> String {
    match client.call_tool(tool, &()).await {
        Ok(result) => result.text(),
        Err(error) => error.to_string(),
    }
}

/// A server with tools of these names, which answer with their names.
pub(super) fn tools(names: &[&'static str]) -> ServerBuilder {
    names
        .iter()
        .fold(Server::builder("demo", "1.0"), |server, &name| {
            server.tool(
                name,
                "Says its name",
                move |(): (), _| async move { Ok(name) },
            )
        })
}

/// A connector to a server that answers each method, and the cursor or name of the parameters, with the JSON that the
/// closure returns.
pub(super) fn answering(
    answer: impl Fn(&str, &str) -> Result<String, ErrorReply> + Send + 'static,
) -> impl Connector {
    let features = ServerFeatures::TOOLS.with(ServerFeatures::RESOURCES);
    let config = ServerConfig {
        capabilities: features.capabilities(),
        ..ServerConfig::new("hostile", "1.0")
    };
    let service = server::service_fn(move |call| {
        let method = call.method.name().to_cow().into_owned();
        let text = |member| Some(call.params.get(member)?.string()?.to_cow().into_owned());
        let subject = text("cursor").or_else(|| text("name")).unwrap_or_default();
        let answer = answer(&method, &subject);
        call.ready(answer.map(|json| RawBuf::parse(json).expect("it is JSON")))
    });
    let service: BoxService = Box::new(service);
    let (left, right) = duplex(1 << 20);
    let config = PreparedConfig::from(config).shared();
    let (mut served, _peer) = server::connect(right.split(), runtime(), config, service);
    runtime().spawn(Box::pin(poll_fn(move |cx| {
        Pin::new(&mut served).poll(cx).map(drop)
    })));
    Streams::new(runtime(), left.split())
}

/// Writes all of it, unless the client has gone.
pub(super) async fn write(stream: &mut Duplex, mut bytes: &[u8]) -> bool {
    while !bytes.is_empty() {
        let wrote =
            poll_fn(|cx| futures_io::AsyncWrite::poll_write(Pin::new(&mut *stream), cx, bytes))
                .await;
        match wrote {
            Ok(len) if len > 0 => bytes = &bytes[len..],
            _ => return false,
        }
    }
    true
}

/// Reads a line; `None` if the client has gone.
pub(super) async fn read(stream: &mut Duplex) -> Option<String> {
    let (mut line, mut byte) = (Vec::new(), [0]);
    while byte != *b"\n" {
        let read =
            poll_fn(|cx| futures_io::AsyncRead::poll_read(Pin::new(&mut *stream), cx, &mut byte))
                .await;
        match read {
            Ok(1) => line.extend(byte),
            _ => return None,
        }
    }
    String::from_utf8(line).ok()
}

/// A server of 2025-11-25 that writes what the closure returns for the method and the text of each request: results, errors, or whole
/// messages. What it returns nothing for is answered as a server with the tool `x` does.
pub(super) fn legacy_lines(
    name: &str,
    answer: impl Fn(&str, &str) -> Vec<Arc<str>> + Send + Sync + 'static,
) -> ServerEntry {
    lines(name, answer, |method| match method {
        "initialize" => {
            r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"resources":{},"logging":{}},"serverInfo":{"name":"lines","version":"1"}}"#
        }
        "tools/list" => r#"{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}"#,
        "resources/list" => r#"{"resources":[]}"#,
        "resources/templates/list" => r#"{"resourceTemplates":[]}"#,
        "ping" | "logging/setLevel" => "{}",
        "tools/call" => r#"{"content":[]}"#,
        _ => UNKNOWN,
    })
}

/// A server of 2026-07-28, as [`legacy_lines`].
pub(super) fn modern_lines(
    name: &str,
    answer: impl Fn(&str, &str) -> Vec<Arc<str>> + Send + Sync + 'static,
) -> ServerEntry {
    lines(name, answer, |method| match method {
        "server/discover" => {
            r#"{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"ttlMs":0,"cacheScope":"private"}"#
        }
        "tools/list" => {
            r#"{"resultType":"complete","ttlMs":0,"cacheScope":"private","tools":[{"name":"x","inputSchema":{"type":"object"}}]}"#
        }
        "tools/call" => r#"{"resultType":"complete","content":[]}"#,
        _ => UNKNOWN,
    })
}

const UNKNOWN: &str = r#"{"code":-32601,"message":"Method not found"}"#;

fn lines(
    name: &str,
    answer: impl Fn(&str, &str) -> Vec<Arc<str>> + Send + Sync + 'static,
    usual: fn(&str) -> &'static str,
) -> ServerEntry {
    let answer = Arc::new(answer);
    ServerEntry::connector(name, move || {
        let (ours, theirs) = duplex(64 << 10);
        let answering = answer_lines(theirs, Arc::clone(&answer), usual);
        runtime().spawn(Box::pin(answering));
        Streams::new(runtime(), ours.split())
    })
}

async fn answer_lines(
    mut stream: Duplex,
    answer: Arc<impl Fn(&str, &str) -> Vec<Arc<str>>>,
    usual: fn(&str) -> &'static str,
) {
    while let Some(line) = read(&mut stream).await {
        let method = between(&line, "\"method\":\"", &['"']);
        let id = between(&line, "\"id\":", &[',', '}']);
        let mut answers = answer(method, &line);
        if answers.is_empty() && !id.is_empty() {
            answers.push(usual(method).into());
        }
        for answer in answers {
            let message = match &*answer {
                message if message.starts_with("{\"jsonrpc\"") => message.to_owned(),
                error if error.starts_with("{\"code\"") => {
                    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}")
                }
                result => format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}"),
            };
            if !write(&mut stream, format!("{message}\n").as_bytes()).await {
                return;
            }
        }
    }
}

/// Returns the part of a line between a text and the first of some characters.
fn between<'l>(line: &'l str, begin: &str, end: &[char]) -> &'l str {
    let after = line.split_once(begin).map_or("", |(_, after)| after);
    after.split(end).next().unwrap_or_default()
}
