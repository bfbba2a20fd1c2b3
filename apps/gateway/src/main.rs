//! The notes server in a router of axum, for users who authenticate themselves by a token:
//! `gateway DATABASE ADDRESS`. It prints the URL and ends on Ctrl-C or SIGTERM.

use std::future::{Ready, ready};

use anyhow::Context as _;
use axum::Router;
use axum::http::header::{AUTHORIZATION, HeaderValue};
use axum::http::request::Parts;
use axum::routing::get;
use mcp_tokio::http::AccessError;
use mcp_tokio::server::Principal;
use mcp_tokio::{HttpService, Runtime, interrupted};
use notes::Store;
use tokio::net::TcpListener;
use tracing_subscriber::filter::LevelFilter;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    // Errors that clients do not read are written to standard error.
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_max_level(LevelFilter::WARN)
        .init();
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: gateway DATABASE ADDRESS";
    let database = arguments.next().context(usage)?;
    let address = arguments.next().context(usage)?;

    let mcp = service(Store::open(&database)?)?;
    let listener = TcpListener::bind(address).await?;
    println!("http://{}/api/mcp", listener.local_addr()?);
    axum::serve(listener, router(mcp.clone()))
        .with_graceful_shutdown(interrupted())
        .await?;
    // Tasks have as much time to end as calls.
    mcp.drain().await;
    Ok(())
}

/// Makes the service. The end of the program is also its end: otherwise open streams would keep the
/// connections, and axum waits for those.
fn service(store: Store) -> anyhow::Result<HttpService> {
    Ok(notes::server(store)
        .http()
        .any_path()
        .allow_origins(["https://app.example.com"])
        .authenticate(authenticate)
        .with_graceful_shutdown(interrupted())
        .into_service(Runtime)?)
}

/// Makes the routes: the server below a prefix, and one of the program's own.
fn router(mcp: HttpService) -> Router {
    Router::new()
        .nest_service("/api/mcp", mcp)
        .route("/health", get(|| async { "ok" }))
}

/// Verifies the token of a request, and returns its user. The service calls this after its checks
/// of host and origin. It answers the preflights of browsers itself, because they have no token.
fn authenticate(head: &Parts) -> Ready<Result<Principal, AccessError>> {
    let token = head.headers.get(AUTHORIZATION);
    let user = token.and_then(|token| user(token.as_bytes()));
    let challenge = || AccessError::unauthorized(HeaderValue::from_static("Bearer"));
    ready(user.map(Principal::new).ok_or_else(challenge))
}

/// Returns who has this token. A real program looks it up.
fn user(token: &[u8]) -> Option<&'static str> {
    match token {
        b"Bearer ada-token" => Some("ada"),
        b"Bearer bob-token" => Some("bob"),
        _ => None,
    }
}
