//! A client at work: calls of every kind in every revision, and every way in which one ends.

use core::future::Future;
use core::pin::pin;
use core::sync::atomic::Ordering;
use core::task::{Context, Waker};
use core::time::Duration;

use mcp_async::ErrorReply;
use mcp_async::client::{CallError, ConnectError};
use mcp_async::runtime::Runtime as _;
use mcp_proto::client::ClientConfig;
use mcp_proto::json::RawBuf;
use mcp_proto::rpc::Method;
use mcp_proto::server::{ListKind, ServerConfig};
use mcp_proto::{Revision, RevisionSet, SendError};
use serde::{Deserialize, Serialize};

use crate::connection::support::{Pair, Setup};
use crate::joined::Joined;
use crate::settings::limits;
use crate::sim::{advance, begin, clock, join_all, run, settle};
use crate::texts::SHUTTING_DOWN;

#[derive(Serialize)]
struct Params<'a> {
    name: &'a str,
    arguments: Arguments<'a>,
}

#[derive(Serialize)]
struct Arguments<'a> {
    text: &'a str,
    number: u64,
}

#[derive(Debug, Deserialize, PartialEq)]
struct Echoed {
    text: String,
    number: u64,
}

const fn tool(name: &str) -> Params<'_> {
    Params {
        name,
        arguments: Arguments {
            text: "zwei\n\"drei\"",
            number: 7,
        },
    }
}

fn call(pair: &mut Pair, name: &str) -> Result<RawBuf, CallError> {
    let params = tool(name);
    let client = pair.client.clone();
    run(client.call(Method::ToolsCall, Some(&params)))
}

#[test]
fn connections_and_handles_cross_threads() {
    fn crosses<T: Send>(_: &T) {}
    fn shared<T: Send + Sync>(_: &T) {}
    let (left, right) = mcp_async::runtime::duplex(1);
    let clock = mcp_async::runtime::ManualRuntime::default();
    let config = ClientConfig::new("", "");
    let (connection, client) = mcp_async::client::connect(left.split(), clock.clone(), config, ());
    let service = mcp_async::server::service_fn(|call| call.ready(Ok(())));
    let config = ServerConfig::new("", "");
    let service: mcp_async::server::BoxService = Box::new(service);
    let (served, peer) = mcp_async::server::connect(right.split(), clock, config, service);
    crosses(&connection);
    crosses(&served);
    shared(&client);
    shared(&peer);
    crosses(&client.call::<()>(Method::Ping, None));
    crosses(&client.ready());
}

/// CT-01, CT-02, ST-20.
#[test]
fn every_revision_connects_and_calls() {
    for revision in RevisionSet::all().iter() {
        let pair = Setup::only(revision).join();
        let client = pair.client.clone();
        let server = run(client.ready()).unwrap();
        assert_eq!(server.revision, revision);
        let params = tool("echo");
        let echoed: Echoed = run(client.call(Method::ToolsCall, Some(&params))).unwrap();
        assert_eq!(
            echoed,
            Echoed {
                text: "zwei\n\"drei\"".into(),
                number: 7
            }
        );
        let listed: RawBuf = run(client.call(Method::ToolsList, None)).unwrap();
        assert!(listed.as_raw().object().unwrap().get("tools").is_some());
    }
}

#[test]
fn a_call_waits_for_the_handshake() {
    let mut pair = Setup::default().join();
    assert!(call(&mut pair, "echo").is_ok());
    assert!(pair.client.server().is_some());
}

#[test]
fn chunks_of_every_size_are_the_same_conversation() {
    for revision in [
        Revision::V2025_06_18,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ] {
        for (capacity, chop) in [(1, 1), (5, 2), (97, 31), (4096, 1)] {
            let setup = Setup {
                capacity,
                chop,
                ..Setup::only(revision)
            };
            let mut pair = setup.join();
            assert!(call(&mut pair, "echo").is_ok());
            assert!(call(&mut pair, "asks").is_ok());
        }
    }
}

#[test]
fn an_error_of_the_server_is_the_servers() {
    let mut pair = Setup::default().join();
    match call(&mut pair, "fails") {
        Err(CallError::Server(error)) => assert_eq!((error.code, &*error.message), (7, "failed")),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_result_of_another_type_is_said_so() {
    let mut pair = Setup::default().join();
    let client = pair.client.clone();
    let params = tool("echo");
    #[derive(Debug, Deserialize)]
    struct Other {
        #[expect(dead_code, reason = "what is not there cannot be read")]
        elsewhere: u32,
    }
    let answer = run(client.call::<Other>(Method::ToolsCall, Some(&params)));
    assert!(matches!(answer, Err(CallError::Decode(_))), "{answer:?}");
    assert!(call(&mut pair, "echo").is_ok());
}

#[test]
fn many_calls_share_a_connection() {
    let pair = Setup::default().join();
    let client = pair.client.clone();
    let params = tool("later");
    let mut calls: Vec<_> = (0..200)
        .map(|_| Box::pin(client.call::<RawBuf>(Method::ToolsCall, Some(&params))))
        .collect();
    let cx = &mut Context::from_waker(Waker::noop());
    for _ in 0..3 {
        assert!(
            calls
                .iter_mut()
                .all(|call| call.as_mut().poll(cx).is_pending())
        );
        settle();
    }
    pair.watch.open();
    settle();
    assert!(
        calls
            .iter_mut()
            .all(|call| call.as_mut().poll(cx).is_ready())
    );
}

#[test]
fn a_dropped_call_is_cancelled() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let mut pair = Setup::only(revision).join();
        let client = pair.client.clone();
        run(client.ready()).unwrap();
        let params = tool("never");
        let never = begin(client.call::<RawBuf>(Method::ToolsCall, Some(&params)));
        settle();
        assert_eq!(pair.watch.calls(), 1);
        drop(never);
        settle();
        assert_eq!(pair.watch.dropped(), 1, "{revision:?}");
        assert!(call(&mut pair, "echo").is_ok());
    }
}

#[test]
fn a_call_that_is_not_answered_expires() {
    let pair = Setup::default().join();
    let client = pair.client.clone();
    run(client.ready()).unwrap();
    let before = clock().now();
    let params = tool("never");
    let waits = client
        .call::<RawBuf>(Method::ToolsCall, Some(&params))
        .timeout(Duration::from_secs(3));
    let answer = run(waits);
    assert!(matches!(answer, Err(CallError::Timeout)), "{answer:?}");
    assert_eq!(
        clock().now().saturating_since(before),
        Duration::from_secs(3)
    );
    settle();
    assert_eq!(pair.watch.dropped(), 1, "the server was told");
}

#[test]
fn progress_and_notifications_come_before_the_answer() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let pair = Setup::only(revision).join();
        let client = pair.client.clone();
        let params = tool("progress");
        let mut steps = Vec::new();
        let progressing = client
            .call::<RawBuf>(Method::ToolsCall, Some(&params))
            .on_progress(|step| steps.push(step.progress));
        run(progressing).unwrap();
        assert_eq!(steps, [1.0, 2.0, 3.0], "{revision:?}");
        let params = tool("logs");
        let logging = client
            .call::<RawBuf>(Method::ToolsCall, Some(&params))
            .with_logs("debug");
        run(logging).unwrap();
        assert_eq!(pair.person.heard.take().len(), 1, "{revision:?}");
    }
}

#[test]
fn list_changes_are_heard() {
    let pair = Setup::only(Revision::V2025_06_18).join();
    let client = pair.client.clone();
    run(client.ready()).unwrap();
    settle();
    pair.peer.list_changed(ListKind::Tools);
    settle();
    assert_eq!(
        pair.person.heard.take(),
        ["notifications/tools/list_changed"]
    );
}

#[test]
fn a_subscription_is_a_call_with_a_tag() {
    let pair = Setup::only(Revision::V2026_07_28).join();
    let client = pair.client.clone();
    let params = RawBuf::from(
        mcp_proto::json::Raw::parse(br#"{"notifications":{"toolsListChanged":true}}"#, 8).unwrap(),
    );
    let mut listen = Box::pin(
        client
            .call::<RawBuf>(Method::SubscriptionsListen, Some(&params))
            .tag(5),
    );
    let cx = &mut Context::from_waker(Waker::noop());
    run(client.ready()).unwrap();
    assert!(listen.as_mut().poll(cx).is_pending());
    settle();
    pair.peer.list_changed(ListKind::Tools);
    settle();
    assert_eq!(
        pair.person.heard.take(),
        ["notifications/tools/list_changed of 5"]
    );
    drop(listen);
    settle();
    pair.peer.list_changed(ListKind::Tools);
    settle();
    assert!(pair.person.heard.take().is_empty());
}

#[test]
fn questions_are_answered_in_both_eras() {
    let mut pair = Setup::only(Revision::V2025_11_25).join();
    let answer = call(&mut pair, "asks").unwrap();
    assert!(answer.as_raw().as_str().contains("Kyoto"));
    assert_eq!(pair.person.heard.take(), ["\"Name?\""]);
    assert!(pair.person.keys.take().is_empty());

    let mut pair = Setup::only(Revision::V2026_07_28).join();
    let answer = call(&mut pair, "asks").unwrap();
    let answer = answer.as_raw().object().unwrap();
    assert!(answer.get("name").unwrap().as_str().contains("Kyoto"));
    assert!(answer.get("again").is_some());
    assert_eq!(pair.person.heard.take(), ["\"Name?\""; 2]);
    assert_eq!(pair.person.keys.take(), ["name", "again"]);
    assert_eq!(pair.watch.calls(), 2, "one call, two rounds");
}

#[test]
fn a_refused_question_ends_the_round() {
    let mut pair = Setup::only(Revision::V2025_11_25).join();
    pair.person.refuse(ErrorReply::new(-1, "no"));
    assert!(matches!(call(&mut pair, "asks"), Err(CallError::Server(error)) if error.code == 8));

    let mut pair = Setup::only(Revision::V2026_07_28).join();
    pair.person.refuse(ErrorReply::new(-1, "no"));
    assert!(matches!(call(&mut pair, "asks"), Err(CallError::Input(error)) if error.code == -1));
    assert!(call(&mut pair, "echo").is_ok());
}

#[test]
fn a_panicking_callback_refuses() {
    std::panic::set_hook(Box::new(|_| {}));
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let mut pair = Setup::only(revision).join();
        pair.person.panics.store(true, Ordering::SeqCst);
        match call(&mut pair, "asks") {
            Err(CallError::Server(error)) => assert!(revision.is_legacy(), "{error}"),
            Err(CallError::Input(error)) => {
                assert!(revision.is_modern());
                assert_eq!(error.code, -32603);
            }
            other => panic!("{other:?}"),
        }
        pair.person.panics.store(false, Ordering::SeqCst);
        assert!(call(&mut pair, "echo").is_ok());
    }
    let _ = std::panic::take_hook();
}

#[test]
fn a_question_that_is_not_answered_dies_with_its_call() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let mut pair = Setup::only(revision).join();
        pair.person.silence();
        let client = pair.client.clone();
        let params = tool("asks");
        let asking = client
            .call::<RawBuf>(Method::ToolsCall, Some(&params))
            .timeout(Duration::from_secs(9))
            .max_duration(Duration::from_secs(9));
        let answer = run(asking);
        assert!(matches!(answer, Err(CallError::Timeout)), "{answer:?}");
        settle();
        assert!(call(&mut pair, "echo").is_ok());
    }
}

#[test]
fn closing_ends_calls_and_both_connections() {
    let mut pair = Setup::default().join();
    let client = pair.client.clone();
    run(client.ready()).unwrap();
    let params = tool("never");
    let waits = client.call::<RawBuf>(Method::ToolsCall, Some(&params));
    let closes = client.clone();
    let both = async move {
        let mut waits = pin!(waits);
        core::future::poll_fn(|cx| {
            let polled = waits.as_mut().poll(cx);
            closes.close();
            polled
        })
        .await
    };
    let answer = run(both);
    assert!(matches!(answer, Err(CallError::Closed)), "{answer:?}");
    advance(Duration::from_secs(1));
    assert_eq!(pair.ended.borrow().as_slice(), ["client", "server"]);
    assert!(matches!(call(&mut pair, "echo"), Err(CallError::Closed)));
}

#[test]
fn the_last_handle_ends_the_connection() {
    let mut pair = Setup::default().join();
    assert!(call(&mut pair, "echo").is_ok());
    let Joined { client, ended, .. } = &pair.joined;
    let other = client.clone();
    settle();
    assert!(ended.borrow().is_empty());
    drop(other);
    let Joined { client, ended, .. } = pair.joined;
    drop(client);
    settle();
    assert_eq!(ended.borrow().as_slice(), ["client", "server"]);
}

/// ST-11.
#[test]
fn a_server_that_leaves_ends_every_call() {
    let pair = Setup::default().join();
    let client = pair.client.clone();
    run(client.ready()).unwrap();
    let params = tool("never");
    let waits = begin(client.call::<RawBuf>(Method::ToolsCall, Some(&params)));
    settle();
    pair.peer.shutdown();
    advance(Duration::from_secs(1));
    let answer = run(waits);
    let Err(CallError::Server(error)) = answer else {
        panic!("{answer:?}");
    };
    assert_eq!(error.message, SHUTTING_DOWN);
    let late = client.call::<RawBuf>(Method::ToolsCall, Some(&params));
    let answer = run(late);
    assert!(matches!(answer, Err(CallError::Closed)), "{answer:?}");
}

#[test]
fn sides_without_a_common_revision_say_so() {
    for (asks, serves) in [
        (Revision::V2025_11_25, Revision::V2026_07_28),
        (Revision::V2026_07_28, Revision::V2025_11_25),
        (Revision::V2024_11_05, Revision::V2025_11_25),
    ] {
        let setup = Setup {
            served: RevisionSet::of(&[serves]),
            ..Setup::only(asks)
        };
        let mut pair = setup.join();
        let client = pair.client.clone();
        let error = run(client.ready()).unwrap_err();
        let told = matches!(
            error,
            ConnectError::Revision { .. } | ConnectError::Refused(_)
        );
        assert!(told, "{asks:?} {serves:?}: {error:?}");
        assert!(matches!(call(&mut pair, "echo"), Err(CallError::Closed)));
    }
}

#[test]
fn a_full_table_refuses() {
    let limits = limits(|it| it.in_flight = 4);
    let mut pair = Setup {
        limits,
        ..Setup::default()
    }
    .join();
    let client = pair.client.clone();
    run(client.ready()).unwrap();
    let params = tool("never");
    let cx = &mut Context::from_waker(Waker::noop());
    let mut calls: Vec<_> = (0..4)
        .map(|_| Box::pin(client.call::<RawBuf>(Method::ToolsCall, Some(&params))))
        .collect();
    assert!(
        calls
            .iter_mut()
            .all(|call| call.as_mut().poll(cx).is_pending())
    );
    let refused = call(&mut pair, "echo");
    assert!(
        matches!(refused, Err(CallError::Refused(SendError::TableFull))),
        "{refused:?}"
    );
    drop(calls);
    settle();
    assert!(call(&mut pair, "echo").is_ok());
}

#[test]
fn two_full_pipes_do_not_wait_for_each_other() {
    // Requests and answers are both larger than everything that lies between the two sides.
    let limits = limits(|it| it.output = 4_000);
    let pair = Setup {
        limits,
        capacity: 64,
        ..Setup::default()
    }
    .join();
    let client = pair.client.clone();
    run(client.ready()).unwrap();
    let text = "y".repeat(1_500);
    let params = Params {
        name: "echo",
        arguments: Arguments {
            text: &text,
            number: 1,
        },
    };
    let calls = (0..100)
        .map(|_| Box::pin(client.call::<Echoed>(Method::ToolsCall, Some(&params))))
        .collect();
    let answers = run(join_all(calls));
    assert!(
        answers
            .iter()
            .all(|answer| answer.as_ref().is_ok_and(|a| a.text == text))
    );
}
