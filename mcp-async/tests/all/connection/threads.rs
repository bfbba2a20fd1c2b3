//! Handles on other threads: no wake is lost, whoever is faster.

use core::task::Poll;
use std::thread;

use mcp_async::runtime::{ManualRuntime, duplex};
use mcp_async::{client, server};
use mcp_proto::client::ClientConfig;
use mcp_proto::model::ServerFeatures;
use mcp_proto::rpc::Method;
use mcp_proto::server::{ListKind, ServerConfig};
use serde::{Deserialize, Serialize};

use crate::block_on::block_on;

#[derive(Debug, Deserialize, PartialEq, Serialize)]
struct Number {
    n: u64,
}

#[derive(Serialize)]
struct Params {
    name: &'static str,
    arguments: Number,
}

#[test]
fn callers_on_many_threads_share_a_connection() {
    let clock = ManualRuntime::default();
    // Small pipes: the two connections wait for each other all the time.
    let (left, right) = duplex(300);
    let config = ServerConfig {
        capabilities: ServerFeatures::TOOLS
            .with(ServerFeatures::TOOLS_LIST_CHANGED)
            .capabilities(),
        ..ServerConfig::new("demo", "1")
    };
    let service = server::service_fn(|call| {
        let arguments = call
            .params
            .get("arguments")
            .map(|raw| raw.decode::<Number>(&mut []));
        let wakes = call.context().clone();
        call.answer(async move {
            // Every other answer comes from a thread of its own, so jobs are woken from there.
            let number = arguments.and_then(Result::ok).unwrap_or(Number { n: 0 });
            if number.n % 32 == 0 {
                let mut started = false;
                core::future::poll_fn(|cx| {
                    if core::mem::replace(&mut started, true) {
                        return Poll::Ready(());
                    }
                    let waker = cx.waker().clone();
                    thread::spawn(move || waker.wake());
                    Poll::Pending
                })
                .await;
                wakes.peer().list_changed(ListKind::Tools);
            }
            Ok(number)
        })
    });
    let service: server::BoxService = Box::new(service);
    let (served, _peer) = server::connect(right.split(), clock.clone(), config, service);
    let config = ClientConfig::new("test", "0");
    let (connection, client) = client::connect(left.split(), clock, config, ());
    thread::scope(|scope| {
        scope.spawn(|| block_on(served).unwrap());
        scope.spawn(|| block_on(connection).unwrap());
        for caller in 0..4 {
            let client = client.clone();
            scope.spawn(move || {
                for n in caller * 1000..caller * 1000 + 500 {
                    let params = Params {
                        name: "echo",
                        arguments: Number { n },
                    };
                    let call = client.call::<Number>(Method::ToolsCall, Some(&params));
                    assert_eq!(block_on(call).unwrap(), Number { n });
                }
            });
        }
        drop(client);
    });
}
