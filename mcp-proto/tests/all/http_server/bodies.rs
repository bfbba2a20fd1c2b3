//! What a body may be, and the status of what becomes of it: SH-06 to SH-09, SH-36 and
//! SH-45 to SH-48.

use mcp_proto::server::ServerConfig;
use mcp_proto::{IgnoreReason, Limits};

use crate::http_server::site::*;

const LEGACY: [&str; 4] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"];
const V5: &str = "mcp-protocol-version: 2026-07-28";

/// SH-45.
#[test]
fn no_json_and_no_message() {
    for (body, expected) in [
        ("", "400 -32700"),
        ("nonsense", "400 -32700"),
        ("{}{}", "400 -32700"),
        ("\u{feff}{}", "400 -32700"),
        ("{", "400 -32700"),
        ("{}", "400 -32600"),
        ("1", "400 -32600"),
        ("[]", "400 -32600"),
        (r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#, "400 -32600"),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            "400 -32600",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
            "400 -32600",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"id":1,"method":"ping"}"#,
            "400 -32600",
        ),
        // On a pipe nobody would say anything; here something has to be said.
        (r#"{"method":"ping"}"#, "400 -32600"),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
            "400 -32600",
        ),
    ] {
        Site::new()
            .check(&[], body, expected)
            .check(&[V5], body, expected)
            .check(&["mcp-session-id: gone"], body, "404");
        for version in LEGACY {
            Site::open(config(), version, "{}").check(&["mcp-session-id: s0"], body, expected);
        }
    }
}

/// The id of an error is the one that could be read (JR-32).
#[test]
fn errors_carry_the_id_if_there_is_one() {
    let mut site = Site::new();
    let mut text = |body: &str| {
        site.post(&[], body);
        site.alone.as_ref().unwrap().sent[0].text.clone()
    };
    assert!(text(r#"{"id":7,"method":"ping"}"#).contains(r#""id":7,"#));
    assert!(text(r#"{"method":!,"id":"a"}"#).contains(r#""id":"a","#));
    assert!(!text(r#"{"method":"ping"}"#).contains(r#""id""#));
    assert!(!text("[").contains(r#""id""#));
}

/// JR-15, JR-19, SH-48.
#[test]
fn arrays_belong_to_one_revision() {
    let body = format!("[{}]", call("1", "x"));
    for version in LEGACY {
        let expected = match version {
            "2025-03-26" => "200 [result]",
            _ => "400 -32600",
        };
        Site::open(config(), version, "{}").check(&["mcp-session-id: s0"], &body, expected);
    }
    Site::new().check(&[V5], &body, "400 -32600");
}

/// SH-06, SH-08, SH-47.
#[test]
fn notifications_and_responses() {
    for version in LEGACY {
        let site = &mut Site::open(config(), version, "{}");
        let head = ["mcp-session-id: s0"];
        site.check(&head, INITIALIZED, "202")
            .check(&head, &notification("notifications/odd", ""), "202")
            .check(
                &head,
                &notification("notifications/cancelled", r#""requestId":9"#),
                "202",
            )
            .check(&head, &notification("notifications/cancelled", ""), "400")
            .check(&head, &notification("notifications/progress", ""), "400")
            .check(&head, &response("9"), "202")
            .check(&head, &response(r#""strange""#), "202");
    }
    // SH-07, SH-48
    Site::new()
        .check(
            &[V5],
            &notification("notifications/cancelled", r#""requestId":9"#),
            "202",
        )
        .check(&[V5], &notification("notifications/odd", ""), "202")
        .check(&[V5], &response("9"), "400 -32600");
}

/// SH-47.
#[test]
fn a_response_ends_the_question_of_its_session() {
    for (body, expected, event) in [
        (response("1"), "202", r#"answer 1 0 {"roots":[]}"#),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no"}}"#.into(),
            "202",
            "answer 1 0 error -1 no",
        ),
        // Whatever is wrong with it, nobody waits any longer (JR-32).
        (
            r#"{"jsonrpc":"2.0","id":1,"error":5}"#.into(),
            "400",
            "answer 1 0 Unusable(Error)",
        ),
    ] {
        let site = &mut Site::open(config(), "2025-11-25", r#"{"roots":{}}"#);
        let head = ["mcp-session-id: s0"];
        site.check(&head, &call("5", "wait"), "open");
        site.session(0).ask(Some(0)).unwrap();
        site.session(0).seen.clear();
        site.check(&head, &body, expected);
        site.session(0).sees(&[event]);
        site.check(
            &head,
            &body,
            if expected == "202" {
                "202"
            } else {
                "400 -32600"
            },
        );
    }
}

/// SH-36, SH-46.
#[test]
fn errors_of_requests() {
    let head = ["mcp-session-id: s0"];
    for version in LEGACY {
        let site = &mut Site::open(config(), version, "{}");
        site.check(&head, &request("1", "odd", ""), "200 -32601")
            .check(&head, &request("1", "tools/call", ""), "200 -32602")
            .check(&head, &request("1", "logging/setLevel", r#""level":"loud""#), "200 -32602")
            .check(&head, &request("1", "tools/call", r#""name":"a","name":"a""#), "400 -32602")
            .check(&head, &call("7", "wait"), "open")
            // The first caller still gets its answer.
            .check(&head, &call("7", "x"), "200 -32600");
        site.session(0).sent.clear();
        site.session(0).answer(0, "{}").says(&["7: result."]);
    }
    let modern = |method: &str, params: &str| request("1", method, &modern(params));
    Site::new()
        .check(&[V5, "mcp-method: odd"], &modern("odd", ""), "404 -32601")
        .check(&[V5, "mcp-method: ping"], &modern("ping", ""), "404 -32601")
        .check(
            &[V5, "mcp-method: logging/setLevel"],
            &modern("logging/setLevel", r#""level":"info""#),
            "404 -32601",
        )
        .check(
            &[V5, "mcp-method: tools/call"],
            &modern("tools/call", ""),
            "200 -32602",
        );
}

/// The application's own errors were accepted first, but for those of a fixed status. SH-46.
#[test]
fn errors_of_handlers() {
    for (code, legacy, modern) in [
        (-32603, 200, 200),
        (-32602, 200, 200),
        (-32601, 200, 404),
        (-32600, 200, 400),
        (-32020, 200, 400),
        (-32021, 200, 400),
        (-32022, 200, 400),
        (5, 200, 200),
    ] {
        let site = &mut Site::open(config(), "2025-11-25", "{}");
        site.check(&["mcp-session-id: s0"], &call("1", "wait"), "open");
        site.session(0).fail(0, code);
        let said = &site.session(0).sent[0];
        assert_eq!((said.status, said.end), (legacy, true), "{code}");
        let name = crate::http_server::site::modern(r#""name":"wait""#);
        let head = [V5, "mcp-method: tools/call", "mcp-name: wait"];
        site.check(&head, &request("1", "tools/call", &name), "open");
        let alone = site.alone.as_mut().unwrap();
        alone.fail(0, code);
        let said = &alone.sent[0];
        assert_eq!((said.status, said.end), (modern, true), "{code}");
    }
}

#[test]
fn limits_of_ours_pass() {
    let config = ServerConfig {
        limits: Limits {
            in_flight: 1,
            ..Limits::default()
        },
        ..config()
    };
    let site = &mut Site::open(config, "2025-11-25", "{}");
    let head = ["mcp-session-id: s0"];
    site.check(&head, &call("1", "wait"), "open")
        .check(&head, &call("2", "x"), "503 -32603")
        .check(&head, &request("3", "ping", ""), "200 result");
}

/// SH-06, SH-08.
#[test]
fn why_nothing_was_said() {
    for (why, status) in [
        (IgnoreReason::UnknownNotification, 202),
        (IgnoreReason::LateResponse, 202),
        (IgnoreReason::UnknownCancellation, 202),
        (IgnoreReason::Misplaced, 202),
        (IgnoreReason::StaleProgress, 202),
        (IgnoreReason::DuplicateQuestion, 202),
        (IgnoreReason::Malformed, 400),
        (IgnoreReason::Garbage, 400),
        (IgnoreReason::Closed, 404),
    ] {
        assert_eq!(why.http_status(), status, "{why:?}");
    }
}

/// Equal ids of different POSTs are different requests, and all are answered.
#[test]
fn without_a_session_ids_are_each_posts_own() {
    let site = &mut Site::new();
    let head = [V5, "mcp-method: tools/call", "mcp-name: wait"];
    let body = request("1", "tools/call", &modern(r#""name":"wait""#));
    site.check(&head, &body, "open");
    let mut first = site.alone.take().unwrap();
    site.check(&head, &body, "open");
    site.alone
        .as_mut()
        .unwrap()
        .answer(0, "{}")
        .says(&["2: result."]);
    first.answer(0, "{}").says(&["1: result."]);
}
