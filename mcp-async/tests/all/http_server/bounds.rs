//! What bounds legacy sessions: their number, their streams, their time.

use core::future::{Future, pending};
use core::task::{Context as Task, Poll, Waker};
use core::time::Duration;
use std::sync::Arc;

use bytes::Bytes;
use http::{Request, StatusCode};
use http_body_util::Full;
use mcp_async::http::HttpService;
use mcp_async::server::Context;
use mcp_proto::Limits;
use tower_service::Service as _;

use crate::http_server::busy::{CALL, busy, while_called, with_busy};
use crate::http_server::legacy::server;
use crate::scripted::{
    HttpClient, Reply, RequestExt, Serve, SseClient, Waiting, array, call, cancelled, get,
    initialize, modern, post, request_id, send,
};
use crate::settings::limits;
use crate::sim::{Sim, advance, meanwhile, now, settle, sleep};
use crate::texts::{SHUTTING_DOWN, internal};

/// SH-55.
#[test]
fn sessions_are_bounded() {
    let service = server().http().max_sessions(2).served();
    let one = HttpClient::open(&service, "2025-11-25");
    let _two = HttpClient::open(&service, "2025-11-25");
    let refused = send(&service, post(&initialize("2025-11-25")));
    refused.has_head(503, [("retry-after", "5")]);
    assert_eq!(one.delete().status, 204);
    settle();
    HttpClient::open(&service, "2025-11-25");
}

#[test]
fn sessions_of_both_transports_share_one_bound() {
    let service = server()
        .http()
        .max_sessions(1)
        .legacy_sse("/sse", "/messages")
        .served();
    let open = || send(&service, get(None).to("/sse"));
    let session = HttpClient::open(&service, "2025-11-25");
    let refused = open();
    refused.has_head(503, [("retry-after", "5")]);
    assert_eq!(session.delete().status, 204);
    let stream = open();
    assert_eq!(stream.status, 200);
    drop(stream);
    settle();
    HttpClient::open(&service, "2025-11-25");
}

/// Sends a body, and lets no task run meanwhile: the status, if there is one at once, and the response.
fn hand_in(
    service: &HttpService,
    request: Request<String>,
) -> (Option<StatusCode>, impl Future<Output = Reply> + use<>) {
    let request = request.map(Full::<Bytes>::from);
    let mut answer = service.clone().call(request);
    let status = match answer.as_mut().poll(&mut Task::from_waker(Waker::noop())) {
        Poll::Ready(Ok(response)) => {
            assert_eq!(
                response.status() == 503,
                response.headers().contains_key("retry-after")
            );
            Some(response.status())
        }
        Poll::Pending => None,
    };
    let later = async move {
        let Ok(response) = answer.await;
        Reply::new(response)
    };
    (status, later)
}

#[test]
fn bodies_that_wait_for_their_session_are_bounded() {
    let service = with_busy(server()).http().max_body_bytes(3000).served();
    let session = HttpClient::open(&service, "2025-11-25");
    for _ in 0..2 {
        let client = session.clone();
        let [one, two, three] = busy(&session, move || {
            [1, 2, 3].map(|id| {
                hand_in(
                    &client.service,
                    client.completed(post(&format!("{id} ping"))),
                )
            })
        });
        assert_eq!((one.0, two.0), (None, None));
        assert_eq!(three.0, Some(StatusCode::SERVICE_UNAVAILABLE));
        // Nothing of what was taken is lost.
        for taken in [now(one.1), now(two.1)] {
            assert_eq!(taken.status, 200);
        }
    }
    // One body is always taken, whatever its head weighs.
    let service = server().http().max_body_bytes(1000).served();
    let session = HttpClient::open(&service, "2025-11-25");
    assert_eq!(session.post(&call(1, "echo")).status, 200);
}

#[test]
fn bodies_that_wait_for_their_session_are_bounded_in_2024_11_05() {
    let service = with_busy(server())
        .http()
        .max_body_bytes(3000)
        .legacy_sse("/sse", "/messages")
        .served();
    let mut client = SseClient::open(&service);
    let (served, uri) = (service.clone(), client.uri.clone());
    let hand_in = move |text: &str| {
        let request = post(text).to(&uri);
        hand_in(&served, request).0.unwrap().as_u16()
    };
    assert_eq!(hand_in(&initialize("2024-11-05")), 202);
    settle();
    let hand_in_call = hand_in.clone();
    let statuses = while_called(
        || assert_eq!(hand_in(CALL), 202),
        move || [1, 2, 3].map(|id| hand_in_call(&call(id, "echo"))),
    );
    assert_eq!(statuses, [202, 202, 503]);
    settle();
    assert_eq!(hand_in(&call(4, "echo")), 202);
    let text = client.stream.text();
    let has = |id: u32| text.contains(&format!(r#""id":{id},"result""#));
    assert_eq!([0, 1, 2, 3, 4].map(has), [true, true, true, false, true]);
}

/// A session whose client never says that it is ready makes room for another one.
#[test]
fn a_session_of_2024_11_05_that_has_made_room_takes_no_messages() {
    let service = server()
        .http()
        .max_sessions(1)
        .legacy_sse("/sse", "/messages")
        .served();
    let mut client = SseClient::open(&service);
    advance(Duration::from_secs(60));
    // Its task has not run since.
    let opened = Waiting::new(&service, get(None).to("/sse")).poll();
    assert_eq!(opened.expect("it is open").status, 200);
    let request = post(&initialize("2024-11-05")).to(&client.uri);
    assert_eq!(hand_in(&service, request).0, Some(StatusCode::NOT_FOUND));
    assert!(client.stream.has_ended());
}

/// The first array is never answered, so those after it are answered one by one.
#[test]
fn arrays_that_are_answered_at_once_end_whatever_waits_to_be_read() {
    let server = with_busy(server()).tool("big", "", |(): (), _: Context| async {
        Ok("x".repeat(300_000))
    });
    let service = server.http().max_streams(4).served();
    let session = HttpClient::open(&service, "2025-03-26");
    let array = |id, tool| array(&[&call(id, tool)]);
    let _gathers = session.post(&array(1, "never"));
    for round in 1..3 {
        // The session handles both in one turn.
        let bodies =
            [10 * round, 10 * round + 1].map(|id| session.completed(post(&array(id, "big"))));
        let served = service.clone();
        let replies = busy(&session, move || {
            bodies.map(|body| hand_in(&served, body).1)
        });
        for reply in replies {
            let whole = now(reply).whole();
            assert_eq!(whole.matches(r#""result""#).count(), 1);
        }
    }
}

#[test]
fn streams_are_bounded() {
    let service = server().http().max_streams(2).served();
    let session = HttpClient::open(&service, "2025-11-25");
    let _one = session.post(&call(1, "never"));
    let _two = session.post(&call(2, "never"));
    let refused = session.post(&call(3, "echo"));
    refused.has_head(503, [("retry-after", "5")]);
}

/// Fills the table of a session with calls, and frees a place of it.
fn check_brief_ones_of_a_full_session(service: &HttpService, calls: u32) {
    let session = HttpClient::open(service, "2025-11-25");
    let mut asking = session.post(&call(1, "ask"));
    let asked = asking.text();
    let question = request_id(&asked);
    let running: Vec<_> = (2..=calls)
        .map(|id| session.post(&call(id, "never")))
        .collect();
    assert!(running.iter().all(|reply| reply.status == 200));
    assert_eq!(session.post(&call(9999, "echo")).status, 503);

    session.post("9998 ping").says(200, [r#""result":{}"#]);
    let roots = format!(r#"{question} = {{"roots":[]}}"#);
    assert_eq!(session.post(&roots).status, 202);
    assert!(asking.whole().contains(r#""id":1,"result""#));
    let mut again = session.post(&call(1, "never"));
    assert_eq!(again.status, 200);
    assert_eq!(session.post(&call(9999, "echo")).status, 503);
    assert_eq!(session.post(&cancelled(1)).status, 202);
    assert!(again.has_ended());
    assert_eq!(session.post(&call(9999, "echo")).status, 200);
}

#[test]
fn a_full_session_does_not_keep_out_what_ends_at_once() {
    let service = server().http().max_streams(3).served();
    check_brief_ones_of_a_full_session(&service, 3);
    let service = server().http().max_exchanges(3).served();
    check_brief_ones_of_a_full_session(&service, 3);
    let limits = limits(|it| it.in_flight = 3);
    let service = server().limits(limits).http().served();
    check_brief_ones_of_a_full_session(&service, 3);
}

#[test]
fn each_call_of_an_array_takes_a_place() {
    let service = server().http().max_exchanges(12).served();
    let session = HttpClient::open(&service, "2025-03-26");
    let calls = |ids: core::ops::Range<u32>| {
        let calls: Vec<_> = ids.map(|id| call(id, "never")).collect();
        let calls: Vec<_> = calls.iter().map(String::as_str).collect();
        array(&calls)
    };
    assert_eq!(session.post(&calls(1..14)).status, 503);
    let first = session.post(&calls(1..13));
    assert_eq!(first.status, 200);
    assert_eq!(session.post(&calls(20..21)).status, 503);
    assert_eq!(session.post("2 ping").status, 200);
}

/// A call by itself has a place, however short arrays have to be.
#[test]
fn a_call_takes_a_place_where_arrays_are_not_served() {
    let limits = limits(|it| it.batch = 0);
    let service = server().limits(limits).http().max_exchanges(1).served();
    let session = HttpClient::open(&service, "2025-11-25");
    let first = session.post(&call(1, "never"));
    assert_eq!(first.status, 200);
    assert_eq!(session.post(&call(2, "echo")).status, 503);
}

/// With the default settings, too.
#[test]
fn a_session_with_as_many_calls_as_there_may_be_can_cancel_one() {
    let service = server().http().served();
    let limit = u32::try_from(Limits::default().in_flight).unwrap();
    check_brief_ones_of_a_full_session(&service, limit);
}

#[test]
fn idle_sessions_end() {
    let service = server()
        .http()
        .idle_timeout(Duration::from_secs(60))
        .served();
    let session = HttpClient::open(&service, "2025-11-25");
    advance(Duration::from_secs(40));
    assert_eq!(session.post("2 ping").status, 200);
    advance(Duration::from_secs(40));
    assert_eq!(session.post("2 ping").status, 200);
    // An open stream and a running request are use.
    let mut stream = session.get(None);
    advance(Duration::from_secs(100));
    assert_eq!(session.post("2 ping").status, 200);
    stream.text();
    drop(stream);
    let running = session.post(&call(5, "never"));
    drop(running);
    advance(Duration::from_secs(100));
    assert_eq!(session.post("2 ping").status, 200);
    assert_eq!(session.post(&cancelled(5)).status, 202);
    advance(Duration::from_secs(61));
    assert_eq!(session.post("2 ping").status, 404);
}

#[test]
fn a_session_whose_stream_is_left_was_in_use() {
    let server = server().change_notifications().build().unwrap();
    let registry = server.registry();
    let idle = Duration::from_secs(60);
    let service = server.http().idle_timeout(idle).served();
    let session = HttpClient::open(&service, "2025-11-25");
    let stream = session.get(None);
    advance(Duration::from_secs(100));
    // The task of the session looks at it while the stream is being left.
    registry.remove_tool("slow");
    meanwhile(|| {
        settle();
    });
    drop(stream);
    assert_eq!(session.post("2 ping").status, 200);
}

#[test]
fn sessions_leave_nothing_behind() {
    let idle = Duration::from_secs(60);
    let service = server().http().idle_timeout(idle).served();
    let round = |count: u32| {
        for _ in 0..count {
            let session = HttpClient::open(&service, "2025-11-25");
            let mut stream = session.get(None);
            stream.text();
            drop(session.post(&call(1, "slow")));
            drop(stream);
            drop(session.post(&call(2, "echo")));
        }
        for _ in 0..count {
            let session = HttpClient::open(&service, "2025-11-25");
            let mut running = session.post(&call(1, "never"));
            running.text();
            assert_eq!(session.delete().status, 204);
            assert!(running.has_ended());
        }
        advance(Duration::from_secs(1));
        advance(idle);
    };
    round(20);
    let used = allocation_counter::measure(|| round(100));
    // What the clock of the tests keeps of a timer, and room in tables. A session is thousands.
    assert!(
        used.bytes_current < 200 * 300,
        "{} bytes",
        used.bytes_current
    );
}

/// The fields of a head share the storage that a connection reads into, which is many times what
/// a session takes.
#[test]
fn an_idle_session_keeps_no_head() {
    let service = server().http().served();
    let storage = Arc::new(());
    let opening = post(&initialize("2025-11-25")).extend(Arc::clone(&storage));
    let opened = send(&service, opening);
    let client = HttpClient::new(&service, "2025-11-25");
    let session = client.in_session(opened.header("mcp-session-id"));
    assert_eq!(Arc::strong_count(&storage), 1, "{}", opened.whole());

    // The handler of `never` waits without its context.
    for tool in ["echo", "never"] {
        let request = post(&call(1, tool)).extend(Arc::clone(&storage));
        let mut reply = session.send(request);
        reply.text();
        assert_eq!(Arc::strong_count(&storage), 1, "{tool}");
    }
    session.delete();
    assert_eq!(Arc::strong_count(&storage), 1);
}

#[test]
fn the_end_of_the_service_lets_sessions_finish() {
    let service = server()
        .http()
        .shutdown_timeout(Duration::from_secs(5))
        .served();
    let session = HttpClient::open(&service, "2025-11-25");
    let mut stream = session.get(None);
    let mut running = session.post(&call(1, "slow"));
    let mut never = session.post(&call(2, "never"));
    service.shutdown();
    assert_eq!(session.post(&call(3, "echo")).status, 503);
    advance(Duration::from_secs(1));
    assert!(running.text().contains("at last"));
    assert!(running.has_ended());
    assert!(!never.has_ended());
    advance(Duration::from_secs(5));
    assert!(never.has_ended() && stream.has_ended());
}

/// A service that waits for its end is gone with its last clone.
#[test]
fn a_dropped_service_is_freed_before_its_end() {
    let storage = Arc::new(());
    let kept = Arc::clone(&storage);
    let server = server().tool("keeps", "", move |(): (), _: Context| {
        let kept = Arc::clone(&kept);
        async move {
            drop(kept);
            Ok("")
        }
    });
    let service = server.http().with_graceful_shutdown(pending()).served();
    settle();
    assert_eq!(Arc::strong_count(&storage), 2);
    drop(service.clone());
    assert_eq!(Arc::strong_count(&storage), 2);
    drop(service);
    assert_eq!(Arc::strong_count(&storage), 1);
}

/// What ends a mounted service: a future of its own, or the end of the whole server.
#[test]
fn every_end_of_a_mounted_service_is_one_in_good_order() {
    for by_future in [true, false] {
        let server = server().change_notifications().build().unwrap();
        let registry = server.registry();
        let end = sleep(Duration::from_millis(500));
        let http = server.http().shutdown_timeout(Duration::from_secs(5));
        let service = match by_future {
            true => http.with_graceful_shutdown(end).served(),
            false => http.served(),
        };
        let body = r#"9 subscriptions/listen {"notifications":{"toolsListChanged":true}}"#;
        let mut listen = send(&service, modern(body));
        let mut running = send(&service, modern(&call(1, "slow")));
        let session = HttpClient::open(&service, "2025-11-25");
        let mut stream = session.get(None);
        let mut legacy = session.post(&call(2, "slow"));
        for reply in [&mut listen, &mut running, &mut stream, &mut legacy] {
            reply.text();
            assert!(!reply.has_ended());
        }
        match by_future {
            true => advance(Duration::from_millis(500)),
            false => registry.shutdown(),
        }
        assert_eq!(send(&service, modern(&call(1, "slow"))).status, 503);
        let told = listen.text();
        assert!(told.contains(r#""id":9,"result""#), "{by_future} {told}");
        assert!(listen.has_ended());
        assert!(!running.has_ended() && !legacy.has_ended());
        advance(Duration::from_secs(1));
        for reply in [&mut running, &mut legacy] {
            let told = reply.text();
            assert!(told.contains("at last"), "{by_future} {told}");
            assert!(reply.has_ended());
        }
        assert!(stream.has_ended());
    }
}

/// ST-23
#[test]
fn what_runs_when_the_grace_is_over_is_answered() {
    let server = server()
        .tool("begins", "", |(): (), cx: Context| async move {
            cx.progress(1.0).await;
            pending::<()>().await;
            Ok("")
        })
        .http()
        .shutdown_timeout(Duration::from_secs(5));
    let service = server.served();
    let session = HttpClient::open(&service, "2025-11-25");
    let mut calls = vec![session.post(&call(1, "never"))];
    let older = HttpClient::open(&service, "2025-03-26");
    calls.push(older.post(&array(&[&call(2, "never"), &call(1, "echo")])));
    calls.push(send(&service, modern(&call(1, "begins"))));
    service.shutdown();
    for call in &mut calls {
        assert!(!call.has_ended());
    }
    advance(Duration::from_secs(5));
    for call in &mut calls {
        let text = call.text();
        let error = internal(SHUTTING_DOWN);
        assert_eq!(text.matches(&error).count(), 1, "{text}");
        assert!(call.has_ended());
    }
}

#[test]
fn settings_that_are_zero_are_not_built() {
    let built = server().build().unwrap();
    let zero = built.http().max_streams(0).max_unread_bytes(0);
    let error = zero
        .keep_alive(Duration::ZERO)
        .into_service(Sim)
        .unwrap_err();
    let names: Vec<_> = error.mistakes().iter().map(|it| it.name()).collect();
    assert_eq!(names, ["max_streams", "max_unread_bytes", "keep_alive"]);
}
