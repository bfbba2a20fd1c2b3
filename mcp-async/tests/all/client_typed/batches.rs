//! Several calls that leave together.

use core::pin::pin;
use core::task::Poll;

use mcp_async::client::CallError;
use mcp_async::{Client, Limits, Streams, Tap, duplex};
use mcp_proto::Revision;

use crate::client_typed::support::{Demo, each, only, poll_once, run, text};
use crate::seen::Seen;
use crate::server_typed::support::Offer as _;
use crate::sim::{Sim, end, settle};

/// A client of the server, and the lines that it has sent.
async fn watched(demo: &Demo, revision: Revision, limits: Limits) -> (Client, Seen) {
    let (ours, theirs) = duplex(1 << 20);
    let server = demo.server.server();
    crate::sim::spawn(async move {
        let _ = server.serve(Streams::new(Sim, theirs.split())).await;
    });
    let said = Seen::default();
    let seen = said.clone();
    let (reader, writer) = ours.split();
    let writer = Tap::new(writer, move |line: &str| seen.note(line));
    let builder = only(revision).limits(limits);
    let client = builder
        .connect(Streams::new(Sim, (reader, writer)))
        .await
        .unwrap();
    said.take();
    (client, said)
}

/// JR-15.
#[test]
fn calls_of_a_batch_are_one_array_where_there_are_arrays_and_in_flight_together_elsewhere() {
    each(|demo, revision| async move {
        let (client, said) = watched(&demo, revision, Limits::default()).await;
        let (hi, ho) = (text("hi"), text("ho"));
        let calls = [("echo", &hi), ("unknown", &hi), ("echo", &ho)];
        let calls = calls.map(|(tool, arguments)| client.call_tool(tool, arguments));
        let results = client.batch(calls).await;
        let [Ok(first), Err(CallError::Server(second)), Ok(third)] = &results[..] else {
            panic!("{revision}: {results:?}");
        };
        assert_eq!(
            (first.text(), second.code, third.text()),
            ("hi".to_owned(), -32602, "ho".to_owned())
        );
        let said = said.take();
        let arrays = said.iter().filter(|line| line.starts_with('[')).count();
        match revision {
            Revision::V2025_03_26 => assert_eq!((said.len(), arrays), (1, 1), "{said:?}"),
            _ => assert_eq!((said.len(), arrays), (3, 0), "{said:?}"),
        }
    });
}

#[test]
fn a_batch_beyond_what_an_array_holds_is_several() {
    each(|demo, revision| async move {
        let limits = Limits {
            batch: 2,
            ..Limits::default()
        };
        let (client, said) = watched(&demo, revision, limits).await;
        let hi = text("hi");
        let results = client
            .batch((0..5).map(|_| client.call_tool("echo", &hi)))
            .await;
        assert_eq!(results.iter().filter(|result| result.is_ok()).count(), 5);
        let lines = if revision == Revision::V2025_03_26 {
            3
        } else {
            5
        };
        assert_eq!(said.take().len(), lines, "{revision}");
    });
}

#[test]
fn dropping_a_batch_cancels_its_calls() {
    each(|demo, revision| async move {
        let (client, said) = watched(&demo, revision, Limits::default()).await;
        {
            let mut batch = pin!(client.batch([(); 2].map(|()| client.call_tool("never", &()))));
            assert!(poll_once(batch.as_mut()).is_pending());
            client.ping().await.unwrap();
        }
        client.ping().await.unwrap();
        assert_eq!(demo.seen.take(), ["dropped"; 2], "{revision}");
        let cancelled = said
            .take()
            .join("\n")
            .matches("notifications/cancelled")
            .count();
        assert_eq!(cancelled, 2, "{revision}");
    });
}

/// The array of a batch that is dropped before there is room for it leaves all the same, and other calls go on.
#[test]
fn a_batch_that_is_dropped_before_it_leaves_does_not_hold_up_others() {
    let revision = Revision::V2025_03_26;
    run(async {
        let demo = Demo::new();
        let limits = Limits {
            output: 4096,
            batch_bytes: 4096,
            ..Limits::default()
        };
        let (client, _) = watched(&demo, revision, limits).await;
        let long = "x".repeat(3000);
        let long = text(&long);
        let mut calls: Vec<_> = (0..4)
            .map(|_| Box::pin(async { client.call_tool("echo", &long).await }))
            .collect();
        calls
            .iter_mut()
            .for_each(|call| assert!(poll_once(call.as_mut()).is_pending()));
        {
            let mut batch = pin!(client.batch([client.call_tool("echo", &long)]));
            assert!(poll_once(batch.as_mut()).is_pending());
        }
        for call in calls {
            assert!(call.await.is_ok());
        }
        let hi = text("hi");
        assert_eq!(client.call_tool("echo", &hi).await.unwrap().text(), "hi");
        let again = client.batch([client.call_tool("echo", &hi)]).await;
        assert!(matches!(&again[..], [Ok(result)] if result.text() == "hi"));
    });
    settle();
    end();
}

#[test]
fn a_batch_without_calls_and_one_without_a_connection_end_at_once() {
    each(|demo, revision| async move {
        let (client, said) = watched(&demo, revision, Limits::default()).await;
        let none = client
            .batch(Vec::<mcp_async::client::Request<'_, ()>>::new())
            .await;
        assert!(none.is_empty() && said.take().is_empty(), "{revision}");
        client.clone().close().await.unwrap();
        let closed = client.batch([client.ping()]);
        let Poll::Ready(results) = poll_once(pin!(closed)) else {
            panic!("it waits");
        };
        assert!(
            matches!(&results[..], [Err(CallError::Closed)]),
            "{revision}"
        );
    });
}
