//! What processes know of each other: leases, and the owners of sessions.

use core::sync::atomic::Ordering;
use core::time::Duration;

use http::header::{FROM, HeaderName};
use mcp_async::ErrorChain;
use mcp_async::http::{Http, LocalForward, MemoryStore, Readiness};

use crate::http_server::far::Fault;
use crate::http_server::legacy::server;
use crate::http_server::nodes::{
    at, epoch, keys, pass, ping, processes, processes_with, session_of_two, set_level,
};
use crate::scripted::{HttpClient, INITIALIZED, call, last_id, post, send};
use crate::sim::Sim;
use crate::texts::has;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn the_lease_of_a_process_is_set() {
    let [default] = processes();
    assert_eq!(*default.node.lease.lock().unwrap(), 15 * SECOND);
    let [first, second] = processes_with(|http| http.lease(3 * SECOND));
    assert_eq!(*first.node.lease.lock().unwrap(), 3 * SECOND);
    let here = first.open();
    let there = at(&second, &here);
    let mut reply = there.post(&call(1, "slow"));
    let seen = reply.text();
    first.kill();
    assert!(reply.has_ended());
    assert_eq!(there.post(ping()).status, 503, "the lease is not over");
    pass(4);
    assert_eq!(there.get(Some(&last_id(&seen))).status, 200);
    assert_eq!(epoch(&second, &here), 1);
}

#[test]
fn a_lease_that_is_too_short_is_a_mistake() {
    let short = server().http().lease(Duration::from_millis(999));
    let error = short.into_service(Sim).unwrap_err();
    has(&error.to_string(), ["setting `lease`: it is shorter"]);
    assert!(server().http().lease(SECOND).into_service(Sim).is_ok());
}

#[test]
fn what_a_shared_endpoint_lacks_is_a_mistake() {
    let shared = |http: Http| http.share_with(MemoryStore::default(), LocalForward::default());
    let check = |http: Http, expected: &str| {
        let error = http.into_service(Sim).unwrap_err();
        has(&ErrorChain(&error).to_string(), [expected]);
    };
    let with_keys = || server().state_keys(keys()).http();
    let url = "https://10.0.0.5:8000/mcp";
    check(shared(server().http().reached_at(url)), "state_keys");
    check(shared(with_keys()), "reached_at");
    for url in [
        "10.0.0.5:8000",
        "/mcp",
        "ftp://10.0.0.5/mcp",
        "https://",
        "",
    ] {
        check(
            shared(with_keys().reached_at(url)),
            "`reached_at` is no URL",
        );
    }
    for name in ["cookie", "proxy-authorization", "dpop", "authorization"] {
        let names = [FROM, HeaderName::from_static(name)];
        check(with_keys().forward_headers(names), name);
    }
    let names = [HeaderName::from_static("x-request-id")];
    let whole = shared(with_keys().reached_at(url)).forward_headers(names);
    assert!(whole.into_service(Sim).is_ok());
    let again = shared(with_keys().reached_at(url)).share_claims::<String>("tenant");
    check(again.share_claims::<u32>("tenant"), "shared already");
    check(server().http().reached_at(url), "without a store");
}

/// LG-03
#[test]
fn the_log_level_of_a_session_is_set_through_any_process() {
    let ([first, second], here, there) = session_of_two();
    let logged = |session: &HttpClient| session.post(&call(1, "log")).whole().contains("written");
    let set = |session: &HttpClient, level: &str| {
        assert_eq!(session.post(&set_level(level)).status, 200);
    };
    for (at, level, expected) in [
        (&there, "warning", false),
        (&there, "info", true),
        (&here, "error", false),
        (&there, "debug", true),
    ] {
        set(at, level);
        assert_eq!([logged(&here), logged(&there)], [expected; 2], "{level}");
    }
    // It is kept when another process follows.
    set(&there, "error");
    first.kill();
    pass(16);
    assert!(!logged(&there));
    set(&there, "info");
    assert!(logged(&there));
    assert_eq!(epoch(&second, &here), 1, "taken over once");
}

#[test]
fn the_owner_of_a_session_is_looked_up_once() {
    let ([_first, second], _here, there) = session_of_two();
    let claims = || second.node.claims.load(Ordering::SeqCst);
    for _ in 0..5 {
        assert_eq!(there.post(ping()).status, 200);
    }
    assert_eq!(claims(), 1);
    pass(20);
    assert_eq!(there.post(ping()).status, 200);
    assert_eq!(claims(), 1, "the owner lives");
    assert_eq!(there.delete().status, 204);
    assert_eq!(claims(), 1);
    assert_eq!(there.post(ping()).status, 404);
    assert_eq!(
        claims(),
        2,
        "the store is asked whether there is one of this id"
    );
}

#[test]
fn an_owner_that_has_changed_is_looked_up_again() {
    let [first, second, third] = processes();
    let here = first.open();
    let [there, elsewhere] = [&second, &third].map(|process| at(process, &here));
    assert_eq!(elsewhere.post(ping()).status, 200);
    // The first process is away for longer than its lease, and lives again.
    first.node.set(Fault::Fails);
    pass(16);
    assert!(there.post(&call(1, "echo")).whole().contains("done"));
    first.node.set(Fault::None);
    pass(6);
    let claims = || third.node.claims.load(Ordering::SeqCst);
    let before = claims();
    assert_eq!(elsewhere.post(ping()).status, 200);
    assert_eq!(claims(), before + 1);
    assert_eq!(elsewhere.post(ping()).status, 200);
    assert_eq!((claims(), epoch(&second, &there)), (before + 1, 1));
}

#[test]
fn what_the_client_declared_is_known_where_its_session_continues() {
    let [first, second, third] = processes();
    let body = r#"0 initialize {"protocolVersion":"2025-11-25","capabilities":{"extensions":{"com.example/colours":{"red":1}}},"clientInfo":{"name":"ada","version":"1"}}"#;
    let opened = send(&first.service, post(body));
    let client = HttpClient::new(&first.service, "2025-11-25");
    let here = client.in_session(opened.header("mcp-session-id"));
    here.post(INITIALIZED);
    let [there, elsewhere] = [&second, &third].map(|process| at(process, &here));
    let mut owner = &first;
    for (session, next) in [(&here, &second), (&there, &third), (&elsewhere, &third)] {
        has(&session.post(&call(1, "who")).whole(), ["ada {red:1} ada"]);
        owner.kill();
        pass(16);
        owner = next;
    }
}

#[test]
fn operators_see_what_a_process_does() {
    let [first, second] = processes();
    let there = at(&second, &first.open());
    assert_eq!(there.post(ping()).status, 200);
    let [owner, other] = [&first, &second].map(|process| process.service.status());
    assert_eq!((owner.sessions, owner.received, owner.forwarded), (1, 1, 0));
    assert_eq!((other.sessions, other.received, other.forwarded), (0, 0, 1));
    assert_eq!([owner, other].map(|it| it.readiness), [Readiness::Ready; 2]);
    assert!(owner.store_latency.is_some());
    first.kill();
    pass(16);
    assert_eq!(there.post(ping()).status, 200);
    let other = second.service.status();
    assert_eq!((other.sessions, other.takeovers), (1, 1));
    second.node.set(Fault::Fails);
    pass(16);
    let readiness = || second.service.status().readiness;
    assert_eq!(readiness(), Readiness::StoreUnreachable);
    second.node.set(Fault::None);
    pass(6);
    assert_eq!(readiness(), Readiness::Ready);
    second.service.shutdown();
    assert_eq!(readiness(), Readiness::Draining);
}
