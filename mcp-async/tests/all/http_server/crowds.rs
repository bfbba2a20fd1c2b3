//! One caller does not take what all share: in sessions, with bodies on their way, and between processes.

use core::pin::Pin;
use core::task::{Context, Waker};

use mcp_async::http::Http;
use mcp_async::server::Principal;
use tower_service::Service as _;

use crate::http_server::doors::Pieces;
use crate::http_server::legacy::server;
use crate::http_server::nodes::{Process, at, ping, processes_with};
use crate::scripted::{
    HttpClient, INITIALIZED, Reply, RequestExt, Serve, call, cancelled, modern, modern_message,
    post, send,
};
use crate::sim::settle;

/// The owner tells the clients behind a proxy apart, as the process does that has forwarded their requests.
#[test]
fn an_owner_sees_who_is_behind_a_proxy() {
    let settings = |http: Http| {
        let http = http.trusted_proxies(["10.0.0.0/8"]);
        http.max_total_unread_bytes(10 << 20)
    };
    let [first, second] = processes_with(settings);
    let here = first.open();
    let ask = |field: &'static str, value: &'static str| {
        let request = post(&call(1, "much")).at_address("10.1.2.3");
        at(&second, &here).send(request.with(field, value))
    };
    for (field, one, other) in [
        ("x-forwarded-for", "192.0.2.1", "192.0.2.2"),
        ("forwarded", "for=192.0.2.1", "for=192.0.2.2"),
    ] {
        let kept = [(); 3].map(|()| ask(field, one));
        let statuses = kept.each_ref().map(|it| it.status.as_u16());
        assert_eq!(statuses, [200, 200, 503]);
        assert_eq!(ask(field, other).status, 200);
    }
}

#[test]
fn a_caller_leaves_room_for_the_bodies_of_others() {
    let http = server().http().max_total_body_bytes(400_000);
    let service = http.served();
    let text = "x".repeat(100_000);
    let whole = format!(r#"1 tools/call {{"name":"echo","arguments":{{"text":"{text}"}}}}"#);
    let whole = modern_message(&whole);
    let mut halves = Vec::new();
    for _ in 0..6 {
        let body = Pieces::new(&[&whole.as_bytes()[..90_000]], false);
        let request = modern(&whole).at_address("192.0.2.1").map(|_| body);
        let mut half = service.clone().call(request);
        let cx = &mut Context::from_waker(Waker::noop());
        let _ = Pin::new(&mut half).poll(cx);
        halves.push(half);
    }
    for (address, status) in [("192.0.2.1", 503), ("192.0.2.2", 200)] {
        let reply = send(&service, modern(&whole).at_address(address));
        assert_eq!(reply.status, status, "{address}");
    }
}

fn by(process: &Process, name: &str) -> HttpClient {
    let principal = Some(Principal::new(name));
    let open = || HttpClient::open_as(&process.service, "2025-11-25", principal);
    process.sim.run(open)
}

/// As many calls without an end as there may be, at most `most`.
fn long(session: &HttpClient, most: u32) -> Vec<Reply> {
    let replies = (0..most).map(|id| session.post(&call(id, "never")));
    replies.take_while(|reply| reply.status == 200).collect()
}

/// Each stream takes a connection between two processes.
#[test]
fn a_caller_leaves_room_for_the_forwarded_streams_of_others() {
    let [first, second] = processes_with(|http| http.max_exchanges(4));
    let listen = |name: &str, most: usize| {
        let streams = (0..most).map(|_| at(&second, &by(&first, name)).get(None));
        let streams = streams.take_while(|reply| reply.status == 200);
        streams.collect::<Vec<_>>()
    };
    let [one, other] = [listen("bob", 9), listen("eve", 9)];
    assert_eq!([one.len(), other.len()], [2, 1]);
    let [bob, ada] = ["bob", "ada"].map(|name| at(&second, &by(&first, name)));
    let refused = bob.post(&call(1, "echo"));
    refused.says(503, ["did not take"]);
    // What ends at once takes none.
    assert_eq!(bob.post(ping()).status, 200);
    assert_eq!(ada.post(&call(1, "echo")).status, 200);
    drop(one);
    settle();
    assert_eq!(bob.post(&call(1, "echo")).status, 200);
}

#[test]
fn a_caller_leaves_room_for_the_calls_of_others_in_sessions() {
    let http = server().http().max_exchanges(12);
    let service = http.served();
    let open = |name| HttpClient::open_as(&service, "2025-11-25", Some(Principal::new(name)));
    let [one, two, other] = ["bob", "bob", "eve"].map(open);
    // They run, whether their answers are read or not.
    drop(long(&one, 4));
    let calls = [&two, &other].map(|session| long(session, 20).len());
    assert_eq!(calls, [2, 3]);
    assert_eq!(one.post(&call(30, "echo")).status, 503);
    // What ends at once takes no place.
    assert_eq!(one.post(ping()).status, 200);
    assert_eq!(one.post(INITIALIZED).status, 202);
    for id in 0..2 {
        assert_eq!(one.post(&cancelled(id)).status, 202);
    }
    settle();
    for _ in 0..20 {
        assert_eq!(one.post(&call(30, "echo")).status, 200);
        assert_eq!(one.post("{}").status, 400);
    }
    assert_eq!(two.delete().status, 204);
    settle();
    assert_eq!(long(&open("bob"), 20).len(), 3);
}
