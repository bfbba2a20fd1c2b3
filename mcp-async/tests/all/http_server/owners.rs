//! What processes know of each other: leases, and the owners of sessions.

use core::sync::atomic::Ordering;
use core::time::Duration;

use mcp_async::http::Relay;

use crate::http_server::legacy::{Session, call, last_id, post, server};
use crate::http_server::nodes::{epoch, processes, processes_with};
use crate::http_server::stores::{at, ping};
use crate::http_server::support::{advance, now, send};

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn the_lease_of_a_process_is_set() {
    let [default] = processes();
    assert_eq!(*default.node.lease.lock().unwrap(), 15 * SECOND);
    let [first, second] = processes_with(|http| http.lease(3 * SECOND));
    assert_eq!(*first.node.lease.lock().unwrap(), 3 * SECOND);
    let here = Session::open(&first.service, "2025-11-25");
    let there = at(&second.service, &here);
    let mut reply = there.post(&call(1, "slow"));
    let seen = reply.text();
    first.node.kill();
    // It is renewed three times in its time, and so are those of others looked at.
    advance(SECOND);
    assert!(reply.has_ended());
    assert_eq!(there.get(Some(&last_id(&seen))).status, 200);
    assert_eq!(epoch(&second, &here), 1);
}

#[test]
fn a_lease_that_is_too_short_is_a_mistake() {
    let short = server().http().lease(Duration::from_millis(999));
    let error = short.into_service().unwrap_err();
    assert!(error.to_string().contains("in setting `lease`"), "{error}");
    assert!(server().http().lease(SECOND).into_service().is_ok());
}

/// LG-03
#[test]
fn the_log_level_of_a_session_is_set_through_any_process() {
    let [first, second] = processes();
    let here = Session::open(&first.service, "2025-11-25");
    let there = at(&second.service, &here);
    let logged = |session: &Session| session.post(&call(1, "log")).whole().contains("written");
    let set = |session: &Session, level: &str| {
        let params = format!(r#"{{"level":"{level}"}}"#);
        let body =
            format!(r#"{{"jsonrpc":"2.0","id":8,"method":"logging/setLevel","params":{params}}}"#);
        assert_eq!(session.post(&body).status, 200);
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
    first.node.kill();
    assert!(!logged(&there));
    set(&there, "info");
    assert!(logged(&there));
    assert_eq!(epoch(&second, &here), 1, "taken over once");
}

#[test]
fn the_owner_of_a_session_is_looked_up_once() {
    let [first, second] = processes();
    let here = Session::open(&first.service, "2025-11-25");
    let there = at(&second.service, &here);
    let claims = || second.node.claims.load(Ordering::SeqCst);
    for _ in 0..5 {
        assert_eq!(there.post(ping()).status, 200);
    }
    assert_eq!(claims(), 1);
    advance(20 * SECOND);
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
    let here = Session::open(&first.service, "2025-11-25");
    let [there, elsewhere] = [&second, &third].map(|process| at(&process.service, &here));
    assert_eq!(elsewhere.post(ping()).status, 200);
    // The lease of the first process ends, and it says later that it lives.
    let name = first.node.name.get().unwrap();
    now(first.node.far.store.withdraw(name)).unwrap();
    assert!(there.post(&call(1, "echo")).whole().contains("done"));
    now(first.node.far.store.announce(name, SECOND)).unwrap();
    let claims = || third.node.claims.load(Ordering::SeqCst);
    let before = claims();
    advance(SECOND);
    assert_eq!(elsewhere.post(ping()).status, 200);
    assert_eq!(claims(), before + 1);
    assert_eq!(elsewhere.post(ping()).status, 200);
    assert_eq!((claims(), epoch(&second, &there)), (before + 1, 1));
}

#[test]
fn what_the_client_declared_is_known_where_its_session_continues() {
    let [first, second, third] = processes();
    let body = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"extensions":{"com.example/colours":{"red":1}}},"clientInfo":{"name":"ada","version":"1"}}}"#;
    let opened = send(&first.service, post(body));
    let here = Session {
        service: first.service.clone(),
        id: opened.header("mcp-session-id").to_owned(),
        revision: "2025-11-25",
        principal: None,
    };
    here.post(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    let [there, elsewhere] = [&second, &third].map(|process| at(&process.service, &here));
    let mut owner = &first;
    for (session, next) in [(&here, &second), (&there, &third), (&elsewhere, &third)] {
        let answer = session.post(&call(1, "who")).whole();
        assert!(answer.contains("ada {red:1} ada"), "{answer}");
        owner.node.kill();
        owner = next;
    }
}
