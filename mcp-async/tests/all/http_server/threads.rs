//! Sessions whose handlers, tasks and clients are in threads of their own: no wake is lost.

use core::future::poll_fn;
use core::pin::Pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;

use bytes::Bytes;
use http_body::Body;
use http_body_util::Full;
use mcp_async::Server;
use mcp_async::http::HttpService;
use mcp_async::runtime::Runtime;
use mcp_async::runtime::{BoxTimer, Task, Timer, Work};
use mcp_async::server::Context as Call;
use mcp_proto::Instant;
use tower_service::Service;

use crate::block_on::block_on;
use crate::scripted::{self, RequestExt, initialize};

/// A thread for each task, and a clock that stands still.
#[derive(Clone, Copy, Debug, Default)]
struct Threads;

struct Never;

impl Timer for Never {
    fn poll_until(self: Pin<&mut Self>, _: Instant, _: &mut Context<'_>) -> Poll<()> {
        Poll::Pending
    }
}

impl Runtime for Threads {
    fn now(&self) -> Instant {
        Instant::ZERO
    }

    fn timer(&self) -> BoxTimer {
        Box::pin(Never)
    }

    fn spawn(&self, task: Task) {
        thread::spawn(|| block_on(task));
    }

    fn spawn_blocking(&self, work: Work) {
        thread::spawn(work);
    }
}

/// Goes on when another thread says so.
async fn elsewhere() {
    let done = Arc::new(AtomicBool::new(false));
    let mut begun = false;
    poll_fn(|cx| {
        if done.load(Ordering::SeqCst) {
            return Poll::Ready(());
        }
        if !begun {
            begun = true;
            let (done, waker) = (Arc::clone(&done), cx.waker().clone());
            thread::spawn(move || {
                done.store(true, Ordering::SeqCst);
                waker.wake();
            });
        }
        Poll::Pending
    })
    .await;
}

fn post(service: &HttpService, session: &str, text: String) -> (String, String) {
    let mut request = scripted::post(&text);
    if !session.is_empty() {
        request = request.with("mcp-session-id", session);
    }
    let request = request.map(Full::<Bytes>::from);
    block_on(async {
        let Ok(response) = service.clone().call(request).await;
        let (parts, mut body) = response.into_parts();
        let id = parts.headers.get("mcp-session-id");
        let id = id.map_or("", |id| id.to_str().unwrap()).to_owned();
        let mut text = String::new();
        while let Some(Ok(frame)) =
            poll_fn(|cx| core::pin::Pin::new(&mut body).poll_frame(cx)).await
        {
            text.push_str(core::str::from_utf8(&frame.into_data().unwrap()).unwrap());
        }
        (id, text)
    })
}

fn client(service: &HttpService, calls: u32) {
    let (session, _) = post(service, "", initialize("2025-11-25"));
    thread::scope(|scope| {
        for lane in 0..3 {
            let session = &session;
            scope.spawn(move || {
                for call in 0..calls {
                    let id = lane * calls + call + 1;
                    let (_, text) = post(service, session, scripted::call(id, "hop"));
                    assert!(text.contains(&format!(r#""id":{id},"result""#)), "{text}");
                    assert!(text.contains("done"), "{text}");
                }
            });
        }
    });
}

#[test]
fn everything_is_answered() {
    let server = Server::builder("demo", "1.0").tool(
        "hop",
        "Goes on in other threads",
        |(): (), cx: Call| async move {
            elsewhere().await;
            cx.progress(1.0).await;
            elsewhere().await;
            Ok("done")
        },
    );
    let service = server.http().into_service(Threads).unwrap();
    let (done, all) = mpsc::channel();
    for _ in 0..4 {
        let (service, done) = (service.clone(), done.clone());
        thread::spawn(move || {
            client(&service, 50);
            done.send(()).unwrap();
        });
    }
    for _ in 0..4 {
        all.recv_timeout(Duration::from_secs(120))
            .expect("a client waits for ever");
    }
    service.shutdown();
}
