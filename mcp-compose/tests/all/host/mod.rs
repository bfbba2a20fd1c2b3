//! Hosts of servers in this process.

mod approvals;
mod hostile;
mod questions;
mod servers;

use std::sync::{Arc, Mutex};

use mcp_async::client::ClientBuilder;
use mcp_async::{Revision, RevisionSet};
use mcp_compose::{Host, HostBuilder};

use crate::support::runtime;

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
