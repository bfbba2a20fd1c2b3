//! Servers of this process, and the runtime of a test.

use core::future::poll_fn;
use core::pin::{Pin, pin};
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll, Waker};
use std::sync::Arc;
use std::task::Wake;

use mcp_async::client::{ClientBuilder, Connector};
use mcp_async::json::RawBuf;
use mcp_async::model::ServerFeatures;
use mcp_async::runtime::{ManualRuntime, Runtime as _, RuntimeHandle, duplex};
use mcp_async::server::{self, BoxService, ServerBuilder};
use mcp_async::{Client, ErrorReply, Revision, RevisionSet, Server, Streams, in_memory};
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
    in_memory(
        runtime(),
        &server.clone().build().expect("it is well formed"),
    )
}

/// A client of the server.
pub(super) async fn join(server: &ServerBuilder, revision: Revision) -> Client {
    only(revision)
        .connect(to(server))
        .await
        .expect("it connects")
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
