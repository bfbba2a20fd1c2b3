//! Sessions of the legacy revisions: how one is opened, whose it is, and what it answers.

use crate::http_server::legacy::{server, service};
use crate::scripted::{Session, call, initialize, post, send};
use crate::sim::{Sim, advance};
use core::time::Duration;
use std::sync::{Arc, Mutex};

use http::{HeaderMap, HeaderValue, Method, Request};
use mcp_async::Server;
use mcp_async::http::Principal;
use mcp_async::server::Context;

/// SH-01, SH-09, SH-46.
#[test]
fn a_session_answers_at_once_what_it_can() {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let session = Session::open(&service(), revision);
        let reply = session.post(&call(1, "echo"));
        assert_eq!(reply.status, 200);
        assert_eq!(reply.header("content-type"), "application/json");
        assert!(reply.whole().contains(r#""id":1,"result""#));
        let reply = session.post(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#);
        assert_eq!(reply.whole(), r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
        let reply = session.post(r#"{"jsonrpc":"2.0","id":3,"method":"nothing/known"}"#);
        assert_eq!(reply.status, 200);
        assert!(reply.whole().contains("-32601"));
    }
}

/// SH-27, SH-28.
#[test]
fn ids_of_sessions_differ() {
    let service = service();
    let one = Session::open(&service, "2025-11-25");
    let two = Session::open(&service, "2025-11-25");
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
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    let missing = send(&service, post(ping));
    assert_eq!(missing.status, 400);
    assert!(missing.whole().contains("Mcp-Session-Id is missing"));
    let session = Session::open(&service, "2025-11-25");
    let nobody = Session {
        id: "unknown".into(),
        service: service.clone(),
        revision: "2025-11-25",
        principal: None,
    };
    assert_eq!(nobody.post(ping).status, 404);
    assert_eq!(nobody.get(None).status, 404);
    assert_eq!(nobody.delete().status, 404);
    let without = Request::delete("/mcp")
        .header("host", "localhost")
        .body("")
        .unwrap();
    assert_eq!(send(&service, without).status, 400);

    let mut stream = session.get(None);
    assert_eq!(stream.status, 200);
    let mut running = session.post(&call(3, "never"));
    assert!(!stream.has_ended() && !running.has_ended());
    assert_eq!(session.delete().status, 204);
    assert!(stream.has_ended() && running.has_ended());
    assert_eq!(session.post(ping).status, 404);
    assert_eq!(session.delete().status, 404);
}

/// SH-43, SH-58.
#[test]
fn a_session_is_its_openers() {
    let service = service();
    let ada = Session::open_as(&service, "2025-11-25", Some(Principal::new("ada")));
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    assert_eq!(ada.post(ping).status, 200);
    for principal in [None, Some(Principal::new("bob"))] {
        let thief = Session {
            service: service.clone(),
            id: ada.id.clone(),
            revision: "2025-11-25",
            principal,
        };
        assert_eq!(thief.post(ping).status, 404);
        assert_eq!(thief.get(None).status, 404);
        assert_eq!(thief.delete().status, 404);
    }
    assert_eq!(ada.post(ping).status, 200);
}

/// SH-33.
#[test]
fn versions_of_sessions() {
    let session = Session::open(&service(), "2025-11-25");
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    for (version, status) in [("2025-06-18", 200), ("2099-01-01", 400), ("x", 400)] {
        let other = Session {
            id: session.id.clone(),
            service: session.service.clone(),
            revision: version,
            principal: None,
        };
        assert_eq!(other.post(ping).status, status, "{version}");
    }
}

/// SH-45.
#[test]
fn bad_bodies() {
    let session = Session::open(&service(), "2025-11-25");
    for (body, status, code) in [
        ("{", 400, "-32700"),
        ("7", 400, "-32600"),
        (
            r#"[{"jsonrpc":"2.0","id":2,"method":"ping"}]"#,
            400,
            "-32600",
        ),
        (r#"{"jsonrpc":"2.0","id":2}"#, 400, "-32600"),
    ] {
        let reply = session.post(body);
        assert_eq!(reply.status, status, "{body}");
        let text = reply.whole();
        assert!(text.contains(code), "{text}");
    }
    // An answer to nothing is accepted (SH-47).
    assert_eq!(
        session
            .post(r#"{"jsonrpc":"2.0","id":99,"result":{}}"#)
            .status,
        202
    );
}

#[test]
fn an_id_in_flight_is_refused_and_the_first_is_answered() {
    let session = Session::open(&service(), "2025-11-25");
    let mut first = session.post(&call(1, "slow"));
    let second = session.post(&call(1, "echo"));
    assert!(second.whole().contains("-32600"));
    advance(Duration::from_secs(1));
    assert!(first.text().contains("at last"));
    // Another session has ids of its own.
    let service = service();
    let (one, two) = (
        Session::open(&service, "2025-11-25"),
        Session::open(&service, "2025-11-25"),
    );
    let mut first = one.post(&call(1, "slow"));
    assert!(two.post(&call(1, "echo")).whole().contains("done"));
    advance(Duration::from_secs(1));
    assert!(first.text().contains("at last"));
}

/// SH-09, SSE-01.
#[test]
fn arrays_of_2025_03_26() {
    let session = Session::open(&service(), "2025-03-26");
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    let reply = session.post(&format!("[{ping},{}]", call(3, "echo")));
    assert_eq!(reply.status, 200);
    let text = reply.whole();
    assert!(text.starts_with('[') && text.ends_with(']'), "{text}");
    assert!(
        text.contains(r#""id":2"#) && text.contains(r#""id":3"#),
        "{text}"
    );
    let told = r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#;
    assert_eq!(session.post(&format!("[{told},{told}]")).status, 202);
    let mut reply = session.post(&format!("[{ping},{}]", call(4, "slow")));
    assert!(reply.text().contains("notifications/progress"));
    advance(Duration::from_secs(1));
    let text = reply.text();
    assert!(
        text.contains(r#"data: [{"jsonrpc""#) && text.contains("at last"),
        "{text}"
    );
    assert!(reply.has_ended());
}

#[test]
fn servers_without_sessions() {
    let service = server().http().stateless().into_service(Sim).unwrap();
    let body = initialize("2025-06-18");
    let reply = send(&service, post(&body));
    assert_eq!(reply.status, 200);
    assert_eq!(reply.header("mcp-session-id"), "");
    let body = call(1, "echo");
    let mut request = post(&body);
    let version = "2025-06-18".parse().unwrap();
    request
        .headers_mut()
        .insert("mcp-protocol-version", version);
    let reply = send(&service, request);
    assert_eq!(reply.status, 200);
    assert!(reply.whole().contains("done"));
    // There is no stream to open, and no session to end.
    for method in [Method::GET, Method::DELETE] {
        let request = Request::builder().method(method).uri("/mcp");
        let request = request
            .header("host", "localhost")
            .header("accept", "text/event-stream");
        let reply = send(&service, request.body("").unwrap());
        assert_eq!(reply.status, 405);
        assert_eq!(reply.header("allow"), "POST");
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
    let name = |mut request: Request<_>| {
        let headers: &mut HeaderMap = request.headers_mut();
        headers.insert("mcp-session-id", HeaderValue::from_static("of-another"));
        headers.insert(
            "mcp-protocol-version",
            HeaderValue::from_static("2025-06-18"),
        );
        request
    };
    let service = server().http().stateless().into_service(Sim).unwrap();
    let body = call(1, "id");
    assert!(
        send(&service, name(post(&body)))
            .whole()
            .contains("None false")
    );

    let service = server().http().into_service(Sim).unwrap();
    let session = Session::open(&service, "2025-06-18");
    let expected = format!("Some(\\\"{}\\\") true", session.id);
    let said = session.post(&call(1, "id")).whole();
    assert!(said.contains(&expected), "{said}");
    assert_eq!(send(&service, name(post(&body))).status, 404);
}

/// DF-01, DF-02, DF-03.
#[test]
fn the_draft_profile_wants_headers() {
    let service = server().draft_profile().http().into_service(Sim).unwrap();
    let body = initialize("2025-11-25");
    let opened = |method: Option<&str>| {
        let mut request = post(&body);
        if let Some(method) = method {
            request
                .headers_mut()
                .insert("mcp-method", method.parse().unwrap());
        }
        send(&service, request)
    };
    let session = Session {
        id: opened(Some("initialize"))
            .header("mcp-session-id")
            .to_owned(),
        service: service.clone(),
        revision: "2025-11-25",
        principal: None,
    };
    let body = call(1, "echo");
    let reply = session.post(&body);
    assert_eq!(reply.status, 400);
    assert!(reply.whole().contains("-32001"));
    let mut request = post(&body);
    request
        .headers_mut()
        .insert("mcp-method", "tools/call".parse().unwrap());
    request
        .headers_mut()
        .insert("mcp-name", "echo".parse().unwrap());
    let reply = session.send(request);
    assert_eq!(reply.status, 200);
    assert!(reply.whole().contains("done"));
    // Elsewhere nobody looks at them.
    let session = Session::open(&self::service(), "2025-11-25");
    let mut request = post(&body);
    request
        .headers_mut()
        .insert("mcp-method", "wrong".parse().unwrap());
    assert_eq!(session.send(request).status, 200);
}

/// VR-18, SH-54.
#[test]
fn the_other_era_is_served_beside() {
    let service = service();
    let session = Session::open(&service, "2025-11-25");
    let body = crate::scripted::request(1, "tools/list", "");
    let mut request = crate::scripted::modern(&body);
    // Ignored there (SH-41).
    request
        .headers_mut()
        .insert("mcp-session-id", session.id.parse().unwrap());
    let reply = send(&service, request);
    assert_eq!(reply.status, 200);
    assert!(reply.whole().contains(r#""resultType":"complete""#));
    let mut put = post("");
    *put.method_mut() = Method::PUT;
    let refused = send(&service, put);
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
        let service = server.http().into_service(Sim).unwrap();
        let session = Session::open(&service, "2025-06-18");
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
