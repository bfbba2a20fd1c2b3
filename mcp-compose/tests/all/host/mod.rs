//! Hosts of servers in this process.

mod approvals;
mod hostile;
mod questions;
mod servers;

use std::sync::{Arc, Mutex};

use mcp_async::client::ClientBuilder;
use mcp_async::server::ServerBuilder;
use mcp_async::{Revision, RevisionSet};
use mcp_compose::{Host, HostBuilder, ServerEntry};

use crate::support::{runtime, to};

/// An entry of a server in this process.
fn entry(name: &str, server: &ServerBuilder) -> ServerEntry {
    let server = server.clone();
    ServerEntry::connector(name, move || to(&server))
}

/// Settings of clients that speak this revision and no other.
fn only(revision: Revision) -> impl Fn(&str, ClientBuilder) -> ClientBuilder {
    move |_, client| client.revisions(RevisionSet::of(&[revision]))
}

fn builder(revision: Revision) -> HostBuilder {
    Host::builder("desk", "1.0").client(only(revision))
}

/// Starts the host, and waits until its servers are connected.
async fn start(builder: HostBuilder) -> Host {
    let host = builder.start(runtime());
    host.ready().await;
    host
}

fn names(host: &Host) -> Vec<String> {
    let view = host.view();
    view.tools()
        .iter()
        .map(|tool| tool.exposed_name.clone())
        .collect()
}

/// What was noted, in its order.
#[derive(Clone, Default)]
struct Notes(Arc<Mutex<Vec<String>>>);

impl Notes {
    fn note(&self, text: impl Into<String>) {
        self.0.lock().unwrap().push(text.into());
    }

    fn take(&self) -> Vec<String> {
        core::mem::take(&mut self.0.lock().unwrap())
    }
}
