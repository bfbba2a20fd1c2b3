//! A server in front of other servers: its callers and its servers in all pairs of revisions.

mod callers;
mod calls;
mod hostile;
mod instructions;
mod lists;
mod principals;
mod questions;
mod sessions;
mod tasks;
mod transcripts;
mod watched;

use core::future::{Future, poll_fn};
use core::pin::{Pin, pin};
use core::task::Poll;

use mcp_async::client::ClientBuilder;
use mcp_async::runtime::duplex;
use mcp_async::server::ServerBuilder;
use mcp_async::{Client, Revision, RevisionSet, Server, Streams, in_memory};
use mcp_compose::{Naming, Proxy, ProxyBuilder};

use crate::support::{entry, only, run, runtime};

/// Runs the script once in each pair of revisions: of the server behind, and of the caller.
fn in_each_pair<F: Future<Output = ()>>(script: impl Fn(Revision, Revision) -> F) {
    for upstream in RevisionSet::all().iter() {
        for caller in RevisionSet::all().iter() {
            run(script(upstream, caller));
        }
    }
}

/// A proxy for one server that speaks this revision; items have the names that they have there.
fn before(server: &ServerBuilder, revision: Revision) -> ProxyBuilder {
    let server = server.clone().revisions(RevisionSet::of(&[revision]));
    Proxy::builder()
        .entry(entry("back", &server))
        .naming(Naming::bare())
}

/// The server in front.
fn front(proxy: &Proxy) -> Server {
    proxy
        .server(Server::builder("front", "1.0"))
        .expect("it is well formed")
}

/// A caller of the server in front.
async fn caller(server: &Server, client: ClientBuilder) -> Client {
    client
        .connect(in_memory(runtime(), server))
        .await
        .expect("it connects")
}

/// A caller of the server in front, whose identity is verified.
async fn verified(server: &Server, client: ClientBuilder, name: &str) -> Client {
    let (ours, theirs) = duplex(1 << 20);
    let (connection, _peer) = server.connect(theirs.split(), runtime());
    let mut connection = connection.with_principal(name);
    runtime().spawn(Box::pin(poll_fn(move |cx| {
        Pin::new(&mut connection).poll(cx).map(drop)
    })));
    client
        .connect(Streams::new(runtime(), ours.split()))
        .await
        .expect("it connects")
}

/// A proxy for one server, and a caller that declares nothing, each of a revision.
async fn joined(server: &ServerBuilder, upstream: Revision, revision: Revision) -> (Proxy, Client) {
    let proxy = before(server, upstream).start(runtime()).await;
    let client = caller(&front(&proxy), only(revision)).await;
    (proxy, client)
}

/// The outputs of both futures, which run at the same time.
async fn both<A, B>(a: impl Future<Output = A>, b: impl Future<Output = B>) -> (A, B) {
    let (mut a, mut b) = (pin!(a), pin!(b));
    let (mut left, mut right) = (None, None);
    poll_fn(|cx| {
        if left.is_none()
            && let Poll::Ready(output) = a.as_mut().poll(cx)
        {
            left = Some(output);
        }
        if right.is_none()
            && let Poll::Ready(output) = b.as_mut().poll(cx)
        {
            right = Some(output);
        }
        match (left.take(), right.take()) {
            (Some(left), Some(right)) => Poll::Ready((left, right)),
            (a, b) => {
                (left, right) = (a, b);
                Poll::Pending
            }
        }
    })
    .await
}
