//! A server with tools of every kind, which clients of the legacy revisions talk to.

use core::time::Duration;

use mcp_async::Server;
use mcp_async::http::HttpService;
use mcp_async::server::{Context, HandlerError, ServerBuilder};
use mcp_proto::json::RawBuf;
use mcp_proto::rpc;

use crate::scripted::{HttpClient, Serve};
use crate::server_typed::support::{never, says};
use crate::sim::{sleep, spawn};

pub(crate) fn server() -> ServerBuilder {
    Server::builder("demo", "1.0")
        .logging()
        .tool("echo", "Says it at once", says("done"))
        .tool("slow", "Takes a second", |(): (), cx: Context| async move {
            cx.progress(1.0).await;
            sleep(Duration::from_secs(1)).await;
            cx.progress(2.0).await;
            Ok("at last")
        })
        .tool(
            "poll",
            "Lets the client poll",
            |(): (), cx: Context| async move {
                cx.close_stream(Duration::from_millis(500)).await;
                sleep(Duration::from_secs(1)).await;
                Ok("at last")
            },
        )
        .tool(
            "ask",
            "Asks for the roots",
            |(): (), cx: Context| async move {
                let nothing = RawBuf::parse("{}").unwrap();
                let answer = cx.ask::<RawBuf>(rpc::Method::RootsList, &nothing).await;
                match answer {
                    Ok(roots) => Ok(roots.as_raw().as_str().to_owned()),
                    Err(error) => Err(HandlerError::visible(error.to_string())),
                }
            },
        )
        .tool("never", "Has no end", never)
}

pub(crate) fn service() -> HttpService {
    server().http().served()
}

/// A session whose server asks for the roots, on behalf of no call.
pub(crate) fn asked_session() -> HttpClient {
    let server = server().change_notifications().build().unwrap();
    let registry = server.registry();
    let session = HttpClient::open(&server.http().served(), "2025-11-25");
    let peer = registry.peers().pop().unwrap();
    spawn(async move {
        let nothing = RawBuf::parse("{}").unwrap();
        let _ = peer.ask::<RawBuf>(rpc::Method::RootsList, &nothing).await;
    });
    session
}
