//! What an extension does apart from connections, and its end with the server.

use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;

use mcp_async::Server;
use mcp_async::server::{Background, Extension};
use mcp_proto::Revision;

use crate::scripted::LineClient;
use crate::seen::Seen;

/// Notes what it is asked for.
#[derive(Default)]
struct Work(Seen);

impl Background for Work {
    fn attach(&self) {
        self.0.note("attach");
    }

    fn begin_shutdown(&self, grace: Duration) {
        self.0.note(format!("begin_shutdown {}", grace.as_millis()));
    }

    fn stop(&self) {
        self.0.note("stop");
    }

    fn poll_stopped(&self, _: &mut Context<'_>) -> Poll<()> {
        Poll::Ready(())
    }
}

fn server() -> (Server, Arc<Work>) {
    let work = Arc::<Work>::default();
    let server = Server::builder("s", "1")
        .extension(Extension::new("com.example/work").background(Arc::clone(&work) as _))
        .shutdown_timeout(Duration::from_millis(700))
        .build();
    (server.unwrap(), work)
}

#[test]
fn a_shutdown_gives_it_the_time_of_handlers() {
    let (server, work) = server();
    server.registry().shutdown();
    assert_eq!(work.0.take(), ["attach", "begin_shutdown 700"]);
}

#[test]
fn it_stops_when_the_server_and_its_connections_are_dropped() {
    let (server, work) = server();
    let wire = LineClient::new(&server, Revision::V2026_07_28);
    let other = server.clone();
    drop((server, other));
    assert_eq!(work.0.take(), ["attach"], "a connection is open");
    drop(wire);
    assert_eq!(work.0.take(), ["stop"]);
}
