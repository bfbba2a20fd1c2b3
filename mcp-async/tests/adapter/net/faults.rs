//! Every point of a conversation at which I/O can fail, and every poll at which a program can drop it.
//!
//! A conversation runs once to count its points: operations on streams and sockets that complete, on both sides, and polls of
//! the client's future. Then it runs once for each of them.

use core::future::{Future, poll_fn};
use core::net::SocketAddr;
use core::panic::AssertUnwindSafe;
use core::pin::Pin;
use core::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use core::task::{Context, Poll};
use core::time::Duration;
use std::io;
use std::panic::catch_unwind;
use std::sync::Arc;

use futures_io::{AsyncRead, AsyncWrite};
use mcp_async::client::Connector;
use mcp_async::http::HttpConnector;
use mcp_async::net::HttpListener;
use mcp_async::runtime::{
    BoxFuture, BoxStream, BoxTimer, Listener, Runtime, RuntimeHandle, Task, Timer, Work, duplex,
    split, within,
};
use mcp_async::server::{self, ListKind};
use mcp_async::{Server, Streams};
use mcp_proto::{Instant, Revision, RevisionSet};
use serde_json::json;

use super::{PATIENCE, run};
use crate::adapter::{self, Client};
use crate::block_on;

/// A clock that is faster than the real one by this factor: pauses and time limits pass soon.
const FASTER: u64 = 20;

/// The counters that both sides of a conversation share.
#[derive(Debug, Default)]
struct FaultPoints {
    passed: AtomicUsize,
    /// The point that fails, counted from one.
    fails: usize,
    panics: AtomicUsize,
}

impl FaultPoints {
    fn pass(&self) -> io::Result<()> {
        match self.passed.fetch_add(1, SeqCst) + 1 == self.fails {
            true => Err(io::ErrorKind::ConnectionReset.into()),
            false => Ok(()),
        }
    }
}

/// The runtime of the adapter for one side, whose I/O fails at one point.
#[derive(Clone, Debug)]
struct Faulty {
    points: Arc<FaultPoints>,
    /// Tasks and streams that there are.
    alive: Arc<AtomicUsize>,
}

impl Faulty {
    fn new(points: &Arc<FaultPoints>) -> Self {
        Self {
            points: Arc::clone(points),
            alive: Arc::default(),
        }
    }

    fn counted<T>(&self, value: T) -> Counted<T> {
        self.alive.fetch_add(1, SeqCst);
        Counted {
            value,
            runtime: self.clone(),
            is_broken: false,
        }
    }

    fn stream(&self, stream: impl mcp_async::runtime::Stream + 'static) -> BoxStream {
        Box::new(self.counted(Box::new(stream) as BoxStream))
    }

    /// Waits until no task and no stream is left.
    async fn has_ended(&self) {
        let real = RuntimeHandle::from(adapter::Runtime);
        let ended = async {
            while self.alive.load(SeqCst) > 0 {
                pause(&real).await;
            }
        };
        within(&real, PATIENCE, ended)
            .await
            .expect("something is left");
    }
}

async fn pause(runtime: &RuntimeHandle) {
    let mut timer = runtime.timer();
    let until = runtime.now() + Duration::from_millis(2);
    poll_fn(|cx| timer.as_mut().poll_until(until, cx)).await;
}

impl Runtime for Faulty {
    fn check(&self) -> io::Result<()> {
        adapter::Runtime.check()
    }

    fn now(&self) -> Instant {
        Instant::from_millis(adapter::Runtime.now().as_millis() * FASTER)
    }

    fn timer(&self) -> BoxTimer {
        Box::pin(Fast(adapter::Runtime.timer()))
    }

    fn spawn(&self, task: Task) {
        adapter::Runtime.spawn(Box::pin(self.counted(task)));
    }

    fn spawn_blocking(&self, work: Work) {
        adapter::Runtime.spawn_blocking(work);
    }

    fn listen(&self, socket: std::net::TcpListener) -> io::Result<Box<dyn Listener>> {
        let listener = adapter::Runtime.listen(socket)?;
        Ok(Box::new(Accepting(listener, self.clone())))
    }

    fn resolve<'a>(
        &'a self,
        host: &'a str,
        port: u16,
    ) -> BoxFuture<'a, io::Result<Vec<SocketAddr>>> {
        let runtime = adapter::Runtime;
        Box::pin(async move { runtime.resolve(host, port).await })
    }

    fn dial(&self, address: SocketAddr) -> BoxFuture<'static, io::Result<BoxStream>> {
        let this = self.clone();
        Box::pin(async move {
            let stream = adapter::Runtime.dial(address).await?;
            this.points.pass()?;
            Ok(this.stream(stream))
        })
    }
}

struct Fast(BoxTimer);

impl Timer for Fast {
    fn poll_until(mut self: Pin<&mut Self>, deadline: Instant, cx: &mut Context<'_>) -> Poll<()> {
        let real = Instant::from_millis(deadline.as_millis().div_ceil(FASTER));
        self.0.as_mut().poll_until(real, cx)
    }
}

struct Accepting(Box<dyn Listener>, Faulty);

impl Listener for Accepting {
    fn poll_accept(&self, cx: &mut Context<'_>) -> Poll<io::Result<(BoxStream, SocketAddr)>> {
        let accepted = core::task::ready!(self.0.poll_accept(cx));
        self.1.points.pass()?;
        Poll::Ready(accepted.map(|(stream, address)| (self.1.stream(stream), address)))
    }
}

/// A task or a stream.
struct Counted<T> {
    value: T,
    runtime: Faulty,
    is_broken: bool,
}

impl<T> Drop for Counted<T> {
    fn drop(&mut self) {
        self.runtime.alive.fetch_sub(1, SeqCst);
    }
}

/// A task whose panic is counted.
impl Future for Counted<Task> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let polled = catch_unwind(AssertUnwindSafe(|| self.value.as_mut().poll(cx)));
        polled.unwrap_or_else(|_| {
            self.runtime.points.panics.fetch_add(1, SeqCst);
            Poll::Ready(())
        })
    }
}

impl Counted<BoxStream> {
    /// Counts an operation that completed; after the one that fails, all do.
    fn pass<T>(&mut self, done: io::Result<T>) -> Poll<io::Result<T>> {
        if self.is_broken {
            return Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()));
        }
        let passed = self.runtime.points.pass();
        self.is_broken = passed.is_err();
        Poll::Ready(passed.and(done))
    }
}

impl AsyncRead for Counted<BoxStream> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        let done = core::task::ready!(Pin::new(&mut self.value).poll_read(cx, buf));
        self.pass(done)
    }
}

impl AsyncWrite for Counted<BoxStream> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let done = core::task::ready!(Pin::new(&mut self.value).poll_write(cx, buf));
        self.pass(done)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = core::task::ready!(Pin::new(&mut self.value).poll_flush(cx));
        self.pass(done)
    }

    fn poll_close(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let done = core::task::ready!(Pin::new(&mut self.value).poll_close(cx));
        self.pass(done)
    }
}

/// The polls of a future.
struct Polls {
    made: usize,
    /// After so many the future is dropped.
    most: usize,
}

impl Polls {
    async fn run<T>(&mut self, future: impl Future<Output = T>) -> Option<T> {
        let mut future = Box::pin(future);
        poll_fn(|cx| {
            self.made += 1;
            match future.as_mut().poll(cx) {
                Poll::Ready(output) => Poll::Ready(Some(output)),
                Poll::Pending if self.made >= self.most => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }
}

/// Connects, calls a tool and closes. Any part may fail.
async fn converse(connector: impl Connector, revision: Revision) -> Result<String, String> {
    let builder = Client::builder("t", "1").revisions(RevisionSet::of(&[revision]));
    let client = builder
        .connect(connector)
        .await
        .map_err(|error| error.to_string())?;
    let answer = client.call_tool("work", &json!({})).await;
    let closed = client.close().await;
    let text = answer.map_err(|error| error.to_string())?.text();
    closed.map_err(|error| error.to_string())?;
    Ok(text)
}

fn server() -> Server {
    let server = Server::builder("s", "1")
        .revisions(RevisionSet::of(&Revision::ALL))
        .tool(
            "work",
            "Reports progress",
            |(): (), cx: server::Context| async move {
                let _ = cx.progress(1.0).await;
                Ok("done")
            },
        );
    server.build().unwrap()
}

/// One run: the client's answer, unless it was dropped, and what was counted.
struct Outcome {
    answer: Option<Result<String, String>>,
    points: usize,
    polls: usize,
}

type Scenario = fn(&Faulty, &Faulty, Revision, &mut Polls) -> Option<Result<String, String>>;

/// Over a pair of byte streams, such as standard input and output.
fn over_streams(
    near: &Faulty,
    far: &Faulty,
    revision: Revision,
    polls: &mut Polls,
) -> Option<Result<String, String>> {
    block_on(async {
        let (left, right) = duplex(256);
        let transport = Streams::new(far.clone(), split(far.stream(right)));
        let server = server();
        let mut served = Box::pin(server.serve(transport));
        let connector = Streams::new(near.clone(), split(near.stream(left)));
        let mut talk = Box::pin(polls.run(converse(connector, revision)));
        let mut is_served = false;
        let answer = poll_fn(|cx| {
            is_served = is_served || served.as_mut().poll(cx).is_ready();
            talk.as_mut().poll(cx)
        });
        let answer = bounded(answer).await;
        drop(talk);
        near.has_ended().await;
        if !is_served {
            let _ended = bounded(served).await;
        }
        far.has_ended().await;
        answer
    })
}

/// Over HTTP on sockets; in a legacy revision with a session and its stream.
fn over_http(
    near: &Faulty,
    far: &Faulty,
    revision: Revision,
    polls: &mut Polls,
) -> Option<Result<String, String>> {
    let listen = HttpListener::bind(far.clone(), "127.0.0.1:0");
    let server = server();
    let registry = server.registry();
    let running = run(listen.address().unwrap(), move |until| {
        server.http().with_graceful_shutdown(until).serve(listen)
    });
    let url = format!("http://{}/mcp", running.address);
    let answer = block_on(async {
        let connector = HttpConnector::new(near.clone(), url.clone());
        let answer = bounded(polls.run(converse(connector, revision))).await;
        registry.list_changed(ListKind::Tools);
        near.has_ended().await;
        // The server serves the next client.
        let next = bounded(converse(adapter::http(url), revision)).await;
        assert!(next.is_ok() || polls.most == usize::MAX, "{next:?}");
        answer
    });
    running.has_ended();
    block_on(far.has_ended());
    assert!(registry.peers().is_empty());
    answer
}

async fn bounded<T>(future: impl Future<Output = T>) -> T {
    let real = RuntimeHandle::from(adapter::Runtime);
    within(&real, PATIENCE, future)
        .await
        .expect("it never ends")
}

fn attempt(scenario: Scenario, revision: Revision, fails: usize, most: usize) -> Outcome {
    let points = Arc::new(FaultPoints {
        fails,
        ..FaultPoints::default()
    });
    let mut polls = Polls { made: 0, most };
    let (near, far) = (Faulty::new(&points), Faulty::new(&points));
    let answer = scenario(&near, &far, revision, &mut polls);
    assert_eq!(points.panics.load(SeqCst), 0);
    Outcome {
        answer,
        points: points.passed.load(SeqCst),
        polls: polls.made,
    }
}

fn check(scenario: Scenario, revision: Revision) {
    let whole = attempt(scenario, revision, 0, usize::MAX);
    assert_eq!(whole.answer, Some(Ok("done".to_owned())));
    let mut errors = 0;
    for fails in 1..=whole.points {
        let failed = attempt(scenario, revision, fails, usize::MAX);
        match failed.answer.expect("it was not dropped") {
            Ok(text) => assert_eq!(text, "done", "point {fails}"),
            Err(_) => errors += 1,
        }
    }
    assert!(errors > 0, "no point has failed");
    for most in 1..whole.polls {
        attempt(scenario, revision, 0, most);
    }
}

#[test]
fn streams_that_fail_or_are_dropped_at_every_place() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        check(over_streams, revision);
    }
}

#[test]
fn exchanges_that_fail_or_are_dropped_at_every_place() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        check(over_http, revision);
    }
}
