//! The features of the `everything` example, as a server of rmcp.
//!
//! Usage: server [--http HOST:PORT]
//!
//! Values are written and read as JSON, through the SDK's types.

// What a revision deprecates is what this program is for.
#![allow(deprecated)]

mod ask;
mod content;
mod handler;
mod skills;
mod tasks;
mod tools;

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use axum::serve::ListenerExt as _;
use rmcp::model::LoggingLevel;
use rmcp::service::{RequestContext, SubscriptionSink};
use rmcp::task_manager::TaskManager;
use rmcp::transport::streamable_http_server::StreamableHttpService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::{RoleServer, ServiceExt};

type Context = RequestContext<RoleServer>;

#[derive(Clone)]
struct Everything {
    state: Arc<Mutex<State>>,
    tasks: TaskManager,
}

struct State {
    level: LoggingLevel,
    subscribed: HashSet<String>,
    listening: Vec<SubscriptionSink>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let state = State {
        level: LoggingLevel::Debug,
        subscribed: HashSet::new(),
        listening: Vec::new(),
    };
    let server = Everything {
        state: Arc::new(Mutex::new(state)),
        tasks: TaskManager::new(),
    };
    let mut arguments = std::env::args().skip(1);
    if arguments.next().as_deref() == Some("--http") {
        let address = arguments.next().ok_or("no address")?;
        let sessions = Arc::new(LocalSessionManager::default());
        let make = move || Ok(server.clone());
        let service = StreamableHttpService::new(make, sessions, Default::default());
        let router = axum::Router::new().nest_service("/mcp", service);
        // A response in several writes does not wait for acknowledgements.
        let listener = tokio::net::TcpListener::bind(address).await?;
        let listener = listener.tap_io(|stream| stream.set_nodelay(true).unwrap_or_default());
        axum::serve(listener, router).await?;
        return Ok(());
    }
    server
        .serve(rmcp::transport::stdio())
        .await?
        .waiting()
        .await?;
    Ok(())
}
