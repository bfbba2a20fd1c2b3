//! Several calls that leave together.

use core::future::Future;
use core::pin::pin;
use core::task::Poll;

use mcp_async::client::CallError;
use mcp_async::runtime::duplex;
use mcp_async::{Client, Limits, Streams, Tap};
use mcp_proto::Revision;

use crate::client_typed::support::{Demo, each, only, poll_once, run, text};
use crate::seen::Seen;
use crate::server_typed::support::Offer as _;
use crate::settings::limits;
use crate::sim::{Sim, begin, end, settle};

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

/// Little room, so that one long message fills it.
fn small() -> Limits {
    Limits {
        output: 4096,
        batch_bytes: 4096,
        ..Limits::default()
    }
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
        let limits = limits(|it| it.batch = 2);
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
        let (client, _) = watched(&demo, revision, small()).await;
        let long = "x".repeat(3000);
        let long = text(&long);
        let calls: Vec<_> = (0..4)
            .map(|_| begin(client.call_tool("echo", &long)))
            .collect();
        drop(begin(client.batch([client.call_tool("echo", &long)])));
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

/// A call that finds the open array of another task's batch full is sent when that array has left.
#[test]
fn a_call_that_finds_the_array_of_a_batch_full_is_sent_after_it() {
    run(async {
        let demo = Demo::new();
        let limits = Limits {
            batch: 1,
            ..small()
        };
        let (client, said) = watched(&demo, Revision::V2025_03_26, limits).await;
        let ended = Seen::default();
        let (long, notes) = ("x".repeat(3000), ended.clone());
        // They are polled in this order, before the connection writes anything.
        let (filler, argument, seen) = (client.clone(), long.clone(), notes.clone());
        crate::sim::spawn(async move {
            let argument = text(&argument);
            filler.call_tool("echo", &argument).await.unwrap();
            seen.note("the call that fills the output");
        });
        let (batcher, seen) = (client.clone(), notes.clone());
        crate::sim::spawn(async move {
            let argument = text(&long);
            let results = batcher.batch([batcher.call_tool("echo", &argument)]).await;
            assert!(results[0].is_ok());
            seen.note("the batch");
        });
        let (other, seen) = (client.clone(), notes.clone());
        crate::sim::spawn(async move {
            other.ping().await.unwrap();
            seen.note("the ping");
        });
        crate::sim::sleep(core::time::Duration::from_secs(3600)).await;
        let (ended, said) = (ended.take(), said.take());
        assert_eq!(ended.len(), 3, "{ended:?} of {} lines", said.len());
    });
    settle();
    end();
}

/// A batch that has no room yet and is not polled for a while does not keep the calls of others.
#[test]
fn a_batch_that_is_not_polled_does_not_hold_up_others() {
    run(async {
        let demo = Demo::new();
        let (client, _) = watched(&demo, Revision::V2025_03_26, small()).await;
        let long = "x".repeat(3000);
        let long = text(&long);
        let mut calls: Vec<_> = (0..4)
            .map(|_| begin(client.call_tool("echo", &long)))
            .collect();
        let batch = begin(client.batch([client.call_tool("echo", &long)]));
        // One of the calls has left already; the others join the array.
        let first = calls.remove(0).await;
        assert!(first.is_ok());
        let pinged = client.ping().await;
        assert!(pinged.is_ok(), "{pinged:?}");
        drop(batch);
    });
    settle();
    end();
}

/// A call that is longer than an array may be, and not longer than a message, is answered in a batch as it is alone.
#[test]
fn a_call_that_no_array_holds_is_sent_alone() {
    each(|demo, revision| async move {
        let limits = limits(|it| it.batch_bytes = 1000);
        let (client, _) = watched(&demo, revision, limits).await;
        let long = "x".repeat(3000);
        let (hi, long) = (text("hi"), text(&long));
        assert!(client.call_tool("echo", &long).await.is_ok());
        let calls = [&hi, &long].map(|text| client.call_tool("echo", text));
        let results = client.batch(calls).await;
        assert!(results.iter().all(Result::is_ok), "{revision}: {results:?}");
    });
}

/// A server answers an array when all of it is done, so a call of another task is not in it.
#[test]
fn a_call_of_another_task_does_not_wait_for_the_calls_of_a_batch() {
    run(async {
        let demo = Demo::new();
        let (client, said) = watched(&demo, Revision::V2025_03_26, small()).await;
        let pinged = Seen::default();
        let seen = pinged.clone();
        // They are polled in this order, before the connection writes anything.
        let filler = client.clone();
        crate::sim::spawn(async move {
            let long = "x".repeat(3980);
            filler.call_tool("echo", &text(&long)).await.unwrap();
        });
        let batcher = client.clone();
        crate::sim::spawn(async move {
            let _ = batcher.batch([batcher.call_tool("never", &())]).await;
        });
        let other = client.clone();
        crate::sim::spawn(async move { seen.note(format!("{:?}", other.ping().await)) });
        crate::sim::sleep(core::time::Duration::from_secs(3600)).await;
        assert_eq!(pinged.take(), ["Ok(())"], "{:?}", said.take().last());
    });
    settle();
    end();
}

/// A call that is dropped before it leaves is not carried out.
#[test]
fn calls_of_a_batch_that_is_dropped_before_it_leaves_are_not_sent() {
    run(async {
        let demo = Demo::new();
        let (client, said) = watched(&demo, Revision::V2025_03_26, small()).await;
        let long = "x".repeat(3980);
        let (long, hi) = (text(&long), text("dropped"));
        let fills = begin(client.call_tool("echo", &long));
        drop(begin(client.call_tool("echo", &hi)));
        drop(begin(client.batch([client.call_tool("echo", &hi)])));
        fills.await.unwrap();
        client.ping().await.unwrap();
        let sent = said
            .take()
            .iter()
            .filter(|line| line.contains("dropped"))
            .count();
        assert_eq!(sent, 0);
    });
    settle();
    end();
}

type Pinging = core::pin::Pin<Box<dyn Future<Output = Result<(), CallError>>>>;

thread_local! {
    static PINGS: core::cell::RefCell<(Option<Client>, Option<Pinging>)> = const { core::cell::RefCell::new((None, None)) };
}

/// Another thread calls while a batch is put together, with room for all of it: its call leaves by itself.
#[test]
fn a_call_of_another_thread_is_not_in_the_array_of_a_batch() {
    run(async {
        let demo = Demo::new();
        let (client, said) = watched(&demo, Revision::V2025_03_26, Limits::default()).await;
        PINGS.with_borrow_mut(|pings| pings.0 = Some(client.clone()));
        crate::sim::meanwhile(|| {
            PINGS.with_borrow_mut(|(client, pinging)| {
                let client = client.take().unwrap();
                let mut ping: Pinging = Box::pin(async move { client.ping().await });
                let cx = &mut core::task::Context::from_waker(core::task::Waker::noop());
                assert!(ping.as_mut().poll(cx).is_pending());
                *pinging = Some(ping);
            });
        });
        let mut batch = Box::pin(client.batch([(); 2].map(|()| client.call_tool("never", &()))));
        assert!(poll_once(batch.as_mut()).is_pending());
        let ping = PINGS
            .with_borrow_mut(|pings| pings.1.take())
            .expect("it was sent meanwhile");
        let pinged = ping.await;
        let said = said.take();
        assert!(pinged.is_ok(), "{pinged:?} after {}", said[0]);
    });
    settle();
    end();
}

#[test]
fn calls_of_a_batch_beyond_those_that_may_be_in_flight_are_refused_as_they_are_alone() {
    each(|demo, revision| async move {
        let limits = limits(|it| it.in_flight = 4);
        let (client, _) = watched(&demo, revision, limits).await;
        let hi = text("hi");
        let calls = (0..9).map(|_| client.call_tool("echo", &hi));
        let results = client.batch(calls).await;
        let (answered, refused) = results.split_at(4);
        assert!(answered.iter().all(Result::is_ok), "{revision}");
        let is_refused = |it: &Result<_, _>| {
            matches!(it, Err(CallError::Refused(mcp_async::SendError::TableFull)))
        };
        assert!(refused.iter().all(is_refused), "{revision}: {refused:?}");
    });
}

#[test]
fn batches_at_the_same_time_leave_one_after_the_other() {
    each(|demo, revision| async move {
        let (client, said) = watched(&demo, revision, small()).await;
        let hi = text("hi");
        let batch = || client.batch([(); 2].map(|()| client.call_tool("echo", &hi)));
        let (mut one, mut other) = (pin!(batch()), pin!(batch()));
        assert!(poll_once(one.as_mut()).is_pending());
        assert!(poll_once(other.as_mut()).is_pending());
        for results in [other.await, one.await] {
            assert!(results.iter().all(Result::is_ok), "{revision}: {results:?}");
        }
        let lines = match revision {
            Revision::V2025_03_26 => 2,
            _ => 4,
        };
        assert_eq!(said.take().len(), lines, "{revision}");
    });
}
