//! The server of `fixture stdio`, `fixture http` and `fixture http-auth`: a few tools that drivers measure and abuse.

use core::net::Ipv4Addr;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::io;
use std::sync::Arc;

use mcp_async::net::Network;
use mcp_async::server::{Context, NoArguments, ServerBuilder, Tool};
use mcp_async::{Runtime, Server};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Sleep {
    ms: u64,
}

#[derive(Deserialize, JsonSchema)]
struct Progress {
    steps: u32,
    /// Between two steps; 10, if absent.
    ms: Option<u64>,
}

#[derive(Deserialize, JsonSchema)]
struct Big {
    n: usize,
}

#[derive(Deserialize, JsonSchema)]
struct Region {
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
    q: Option<String>,
}

/// Serves standard input and output until they end.
pub(crate) async fn stdio<R: Runtime>() -> io::Result<()> {
    server::<R>(&[]).serve_stdio().await
}

/// Serves `http://127.0.0.1:PORT/mcp` until interrupted.
pub(crate) async fn http<R: Network>(port: &str) -> io::Result<()> {
    let port: u16 = port.parse().map_err(io::Error::other)?;
    server::<R>(&[])
        .serve_http((Ipv4Addr::LOCALHOST, port))
        .await
}

/// The server. A token needs these scopes for the tool `region`.
pub(crate) fn server<R: Runtime>(region_scopes: &[&str]) -> ServerBuilder<R, Running> {
    Server::builder("fixture", env!("CARGO_PKG_VERSION"))
        .with_state(Running::default())
        .tool("echo", "Says its text again", |args: Echo, _| async move {
            Ok(args.text)
        })
        .tool(
            "sleep",
            "Sleeps until cancelled",
            |args: Sleep, cx: Context<Running>| {
                let running = cx.state().enter();
                async move {
                    pause::<R>(args.ms).await;
                    drop(running);
                    Ok("slept")
                }
            },
        )
        .tool(
            "progress",
            "Tells its progress",
            |args: Progress, cx: Context<Running>| {
                let running = cx.state().enter();
                async move {
                    for step in 1..=args.steps {
                        pause::<R>(args.ms.unwrap_or(10)).await;
                        cx.progress(step.into()).total(args.steps.into()).await;
                    }
                    drop(running);
                    Ok("done")
                }
            },
        )
        .tool(
            "big",
            "Answers with so many characters",
            |args: Big, _| async move {
                let mut text = String::new();
                // An answer that cannot be is an error, and not the end of the process.
                text.try_reserve_exact(args.n)?;
                text.extend(core::iter::repeat_n('x', args.n));
                Ok(text)
            },
        )
        .tool(
            "inflight",
            "Counts what sleeps or progresses",
            |_: NoArguments, cx| async move { Ok(cx.state().count().to_string()) },
        )
        .with(
            Tool::new("region")
                .description("Has an argument in a header")
                .scopes(region_scopes)
                .handler(|args: Region, _| async move {
                    Ok(format!("{}:{}", args.region, args.q.unwrap_or_default()))
                }),
        )
}

async fn pause<R: Runtime>(ms: u64) {
    R::reactor().sleep(Duration::from_millis(ms)).await;
}

/// How many handlers run that take their time.
#[derive(Clone, Default)]
pub(crate) struct Running(Arc<AtomicUsize>);

impl Running {
    fn enter(&self) -> Entered {
        self.0.fetch_add(1, Ordering::Relaxed);
        Entered(self.clone())
    }

    fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// One of them; it is counted until it ends, is cancelled or panics.
struct Entered(Running);

impl Drop for Entered {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Ordering::Relaxed);
    }
}
