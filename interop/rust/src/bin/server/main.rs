//! The features of the `everything` example, as a stdio server of rmcp.
//!
//! Values are written and read as JSON, through the SDK's types.

// What a revision deprecates is what this program is for.
#![allow(deprecated)]

mod ask;
mod content;
mod handler;
mod tools;

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use rmcp::model::LoggingLevel;
use rmcp::service::{RequestContext, SubscriptionSink};
use rmcp::{RoleServer, ServiceExt};

type Context = RequestContext<RoleServer>;

#[derive(Clone)]
struct Everything {
    state: Arc<Mutex<State>>,
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
    };
    server
        .serve(rmcp::transport::stdio())
        .await?
        .waiting()
        .await?;
    Ok(())
}
