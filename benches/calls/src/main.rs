//! Calls of a tool in one thread and in memory: `calls WAY ERA TIMES`, where WAY is `direct` or `proxied`, and ERA is `legacy` or
//! `modern` on all sides. The client, the servers and the proxy are counted together.

use std::env;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use mcp_async::runtime::{ManualRuntime, RuntimeHandle};
use mcp_async::{Client, Revision, RevisionSet, Server, in_memory, schemars};
use mcp_compose::{Naming, Proxy, ServerEntry};

#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
struct Forecast {
    city: String,
    days: u32,
}

fn main() {
    let arguments: Vec<String> = env::args().collect();
    let [_, way, era, times] = arguments.as_slice() else {
        panic!("usage: {} WAY ERA TIMES", arguments[0])
    };
    let revision = match era.as_str() {
        "legacy" => Revision::V2025_11_25,
        _ => Revision::V2026_07_28,
    };
    let times: u32 = times.parse().expect("a number");
    let manual = ManualRuntime::default();
    let runtime = RuntimeHandle::from(manual.clone());
    run(&manual, async {
        let mut server = weather(revision);
        if way == "proxied" {
            let (behind, inner) = (server, runtime.clone());
            let entry =
                ServerEntry::connector("weather", move || in_memory(inner.clone(), &behind));
            let proxy = Proxy::builder().entry(entry).naming(Naming::bare());
            let proxy = proxy.start(runtime.clone()).await;
            let front = Server::builder("front", "1.0").revisions(RevisionSet::of(&[revision]));
            server = proxy.server(front).expect("it is well formed");
        }
        let client = Client::builder("bench", "1.0").connect(in_memory(runtime.clone(), &server));
        let client = client.await.expect("it connects");
        let arguments = Forecast {
            city: "Kyoto".to_owned(),
            days: 3,
        };
        for _ in 0..times {
            let told = client
                .call_tool("forecast", &arguments)
                .await
                .expect("a result");
            assert_eq!(told.text(), "3 days of sun in Kyoto");
        }
    });
}

fn weather(revision: Revision) -> Server {
    let server = Server::builder("weather", "1.0")
        .revisions(RevisionSet::of(&[revision]))
        .tool(
            "forecast",
            "Forecast for a city",
            |asked: Forecast, _| async move {
                Ok(format!("{} days of sun in {}", asked.days, asked.city))
            },
        );
    server.build().expect("it is well formed")
}

/// Runs everything until the future is ready, on a clock that stands still.
fn run(runtime: &ManualRuntime, future: impl Future<Output = ()>) {
    let mut future = pin!(future);
    let woken = Arc::new(Woken(AtomicBool::new(true)));
    let waker = Waker::from(Arc::clone(&woken));
    let cx = &mut Context::from_waker(&waker);
    loop {
        if woken.0.swap(false, Ordering::Relaxed)
            && let Poll::Ready(()) = future.as_mut().poll(cx)
        {
            return;
        }
        runtime.run();
    }
}

struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}
