//! The server of `fixture stdio`, `fixture http` and `fixture http-auth`: a few tools that drivers measure and abuse.

use core::net::Ipv4Addr;
use std::io;

use mcp_async::Server;
use mcp_async::net::HttpListener;
use mcp_async::runtime::RuntimeHandle;
use mcp_async::server::{self, Context, ServerBuilder, Tool};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::running::Running;

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
pub(crate) async fn stdio(runtime: RuntimeHandle) -> io::Result<()> {
    server(runtime.clone(), &[])
        .serve(server::stdio(runtime))
        .await
}

/// Serves `http://127.0.0.1:PORT/mcp` until interrupted.
pub(crate) async fn http(runtime: RuntimeHandle, port: &str) -> io::Result<()> {
    let port: u16 = port.parse().map_err(io::Error::other)?;
    let http = server(runtime.clone(), &[]).http();
    http.serve(HttpListener::bind(runtime, (Ipv4Addr::LOCALHOST, port)))
        .await
}

/// The server. A token needs these scopes for the tool `region`.
pub(crate) fn server(runtime: RuntimeHandle, region_scopes: &[&str]) -> ServerBuilder<Running> {
    Server::builder("fixture", env!("CARGO_PKG_VERSION"))
        .with_state(Running::new(runtime))
        .tool("echo", "Says its text again", |args: Echo, _| async move {
            Ok(args.text)
        })
        .tool(
            "sleep",
            "Sleeps until cancelled",
            |args: Sleep, cx: Context<Running>| {
                let running = cx.state().enter();
                async move {
                    running.sleep(args.ms).await;
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
                        running.sleep(args.ms.unwrap_or(10)).await;
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
            |(): (), cx| async move { Ok(cx.state().count().to_string()) },
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
