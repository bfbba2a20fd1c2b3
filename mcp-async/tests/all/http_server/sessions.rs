//! Sessions of the legacy revisions: how one is opened, whose it is, and what it answers.

use crate::http_server::legacy::{server, service};
use crate::scripted::{
    HttpClient, RequestExt, Serve, array, call, delete, get, initialize, modern, post, send,
};
use crate::sim::advance;
use crate::texts::has;
use core::time::Duration;
use std::sync::{Arc, Mutex};

use http::Method;
use mcp_async::Server;
use mcp_async::server::{Context, Principal};

/// SH-01, SH-09, SH-46.
#[test]
fn a_session_answers_at_once_what_it_can() {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let session = HttpClient::open(&service(), revision);
        let reply = session.post(&call(1, "echo"));
        reply.has_head(200, [("content-type", "application/json")]);
        assert!(reply.whole().contains(r#""id":1,"result""#));
        let reply = session.post("2 ping");
        assert_eq!(reply.whole(), r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
        let reply = session.post("3 nothing/known");
        reply.says(200, ["-32601"]);
    }
}

/// SH-27, SH-28.
#[test]
fn ids_of_sessions_differ() {
    let service = service();
    let one = HttpClient::open(&service, "2025-11-25");
    let two = HttpClient::open(&service, "2025-11-25");
    assert_ne!(one.id, two.id);
    for id in [&one.id, &two.id] {
        let is_visible = id.bytes().all(|byte| byte.is_ascii_graphic());
        assert!(is_visible && id.len() >= 32, "{id}");
    }
}

/// SH-29, SH-30, SH-31, SH-49.
#[test]
fn a_session_is_named_and_ended() {
    let service = service();
    send(&service, post("2 ping")).says(400, ["Mcp-Session-Id is missing"]);
    let session = HttpClient::open(&service, "2025-11-25");
    let nobody = session.in_session("unknown");
    assert_eq!(nobody.post("2 ping").status, 404);
    assert_eq!(nobody.get(None).status, 404);
    assert_eq!(nobody.delete().status, 404);
    assert_eq!(send(&service, delete()).status, 400);

    let mut stream = session.get(None);
    assert_eq!(stream.status, 200);
    let mut running = session.post(&call(3, "never"));
    assert!(!stream.has_ended() && !running.has_ended());
    assert_eq!(session.delete().status, 204);
    assert!(stream.has_ended() && running.has_ended());
    assert_eq!(session.post("2 ping").status, 404);
    assert_eq!(session.delete().status, 404);
}

/// SH-43, SH-58.
#[test]
fn a_session_is_its_openers() {
    let service = service();
    let ada = HttpClient::open_as(&service, "2025-11-25", Some(Principal::new("ada")));
    assert_eq!(ada.post("2 ping").status, 200);
    for principal in [None, Some(Principal::new("bob"))] {
        let thief = ada.used_by(principal);
        assert_eq!(thief.post("2 ping").status, 404);
        assert_eq!(thief.get(None).status, 404);
        assert_eq!(thief.delete().status, 404);
    }
    assert_eq!(ada.post("2 ping").status, 200);
}

/// SH-33.
#[test]
fn versions_of_sessions() {
    let session = HttpClient::open(&service(), "2025-11-25");
    for (revision, status) in [("2025-06-18", 200), ("2099-01-01", 400), ("x", 400)] {
        let mut other = session.clone();
        other.revision = revision;
        assert_eq!(other.post("2 ping").status, status, "{revision}");
    }
}

/// SH-45.
#[test]
fn bad_bodies() {
    let session = HttpClient::open(&service(), "2025-11-25");
    for (body, code) in [
        ("{", "-32700"),
        ("7", "-32600"),
        (&array(&["2 ping"]), "-32600"),
        (r#"{"jsonrpc":"2.0","id":2}"#, "-32600"),
    ] {
        session.post(body).says(400, [code]);
    }
    // An answer to nothing is accepted (SH-47).
    assert_eq!(session.post("99 = {}").status, 202);
}

#[test]
fn an_id_in_flight_is_refused_and_the_first_is_answered() {
    let session = HttpClient::open(&service(), "2025-11-25");
    let mut first = session.post(&call(1, "slow"));
    let second = session.post(&call(1, "echo"));
    assert!(second.whole().contains("-32600"));
    advance(Duration::from_secs(1));
    assert!(first.text().contains("at last"));
    // Another session has ids of its own.
    let service = service();
    let (one, two) = (
        HttpClient::open(&service, "2025-11-25"),
        HttpClient::open(&service, "2025-11-25"),
    );
    let mut first = one.post(&call(1, "slow"));
    assert!(two.post(&call(1, "echo")).whole().contains("done"));
    advance(Duration::from_secs(1));
    assert!(first.text().contains("at last"));
}

/// SH-09, SSE-01.
#[test]
fn arrays_of_2025_03_26() {
    let session = HttpClient::open(&service(), "2025-03-26");
    let reply = session.post(&array(&["2 ping", &call(3, "echo")]));
    assert_eq!(reply.status, 200);
    let text = reply.whole();
    assert!(text.starts_with('[') && text.ends_with(']'), "{text}");
    has(&text, [r#""id":2"#, r#""id":3"#]);
    let told = "- notifications/roots/list_changed";
    assert_eq!(session.post(&array(&[told, told])).status, 202);
    let mut reply = session.post(&array(&["2 ping", &call(4, "slow")]));
    assert!(reply.text().contains("notifications/progress"));
    advance(Duration::from_secs(1));
    has(&reply.text(), [r#"data: [{"jsonrpc""#, "at last"]);
    assert!(reply.has_ended());
}

#[test]
fn servers_without_sessions() {
    let service = server().http().stateless().served();
    let reply = send(&service, post(&initialize("2025-06-18")));
    assert_eq!(reply.header("mcp-session-id"), "");
    reply.says(200, []);
    let request = post(&call(1, "echo")).with("mcp-protocol-version", "2025-06-18");
    send(&service, request).says(200, ["done"]);
    // There is no stream to open, and no session to end.
    for request in [get(None), delete()] {
        let reply = send(&service, request);
        reply.has_head(405, [("allow", "POST")]);
    }
}

/// A handler sees the id that the server made, never one that a client names.
#[test]
fn the_id_of_a_session_is_the_servers_word() {
    let server = || {
        Server::builder("demo", "1.0").tool(
            "id",
            "Says its session",
            |(): (), cx: Context| async move {
                let is_kept = cx.session_state::<()>().is_some();
                Ok(format!("{:?} {is_kept}", cx.session_id()))
            },
        )
    };
    let named = || {
        let request = post(&call(1, "id")).with("mcp-session-id", "of-another");
        request.with("mcp-protocol-version", "2025-06-18")
    };
    let service = server().http().stateless().served();
    send(&service, named()).says(200, ["None false"]);

    let service = server().http().served();
    let session = HttpClient::open(&service, "2025-06-18");
    let expected = format!("Some(\\\"{}\\\") true", session.id);
    session.post(&call(1, "id")).says(200, [&expected]);
    assert_eq!(send(&service, named()).status, 404);
}

/// DF-01, DF-02, DF-03.
#[test]
fn the_draft_profile_wants_headers() {
    let service = server().draft_profile().http().served();
    let opening = post(&initialize("2025-11-25")).with("mcp-method", "initialize");
    let opened = send(&service, opening);
    let client = HttpClient::new(&service, "2025-11-25");
    let session = client.in_session(opened.header("mcp-session-id"));
    let body = call(1, "echo");
    session.post(&body).says(400, ["-32001"]);
    let request = post(&body).with("mcp-method", "tools/call");
    let request = request.with("mcp-name", "echo");
    session.send(request).says(200, ["done"]);
    // Elsewhere nobody looks at them.
    let session = HttpClient::open(&self::service(), "2025-11-25");
    let request = post(&body).with("mcp-method", "wrong");
    assert_eq!(session.send(request).status, 200);
}

/// VR-18, SH-54.
#[test]
fn the_other_era_is_served_beside() {
    let service = service();
    let session = HttpClient::open(&service, "2025-11-25");
    // Ignored there (SH-41).
    let request = modern("1 tools/list").with("mcp-session-id", &session.id);
    send(&service, request).says(200, [r#""resultType":"complete""#]);
    let refused = send(&service, post("").with_method(Method::PUT));
    assert_eq!(refused.header("allow"), "GET, POST, DELETE");
}

#[test]
fn a_value_of_a_session_over_http_ends_with_it() {
    #[derive(Default)]
    struct Kept(Arc<()>);

    for way in ["delete", "idle", "service", "running"] {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let notes = Arc::clone(&seen);
        let server = server().tool("keep", "", move |(): (), cx: Context| {
            let kept = cx.session_state::<Kept>().unwrap();
            notes.lock().unwrap().push(Arc::downgrade(&kept.0));
            async move { Ok("kept") }
        });
        let service = server.http().served();
        let session = HttpClient::open(&service, "2025-06-18");
        assert!(session.post(&call(1, "keep")).whole().contains("kept"));
        let mut running = None;
        match way {
            "delete" => assert_eq!(session.delete().status, 204),
            "running" => {
                running = Some(session.post(&call(2, "never")));
                assert_eq!(session.delete().status, 204);
            }
            "idle" => advance(Duration::from_secs(48 * 3600)),
            _ => {}
        }
        drop(session);
        if way == "service" {
            drop(service);
            crate::sim::end();
        }
        crate::sim::settle();
        let left = seen
            .lock()
            .unwrap()
            .iter()
            .filter_map(|it: &std::sync::Weak<()>| it.upgrade())
            .count();
        assert_eq!(left, 0, "{way}");
        drop(running);
    }
}
