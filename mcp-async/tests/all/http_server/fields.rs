//! Every header field, missing, doubled and wrong.

use http::header::{HeaderName, HeaderValue};
use http::{HeaderMap, Request};
use mcp_async::Server;
use mcp_async::http::HttpService;
use mcp_async::server::{Context, Tool, ToolCall};
use mcp_proto::json::RawBuf;

use crate::scripted::{HttpClient, RequestExt, call, delete, get, modern, post, send};
use crate::sim::Sim;

/// A head, with the one header `Mcp-Param-*` that its body asks for.
type Head = fn(&HttpClient) -> Request<String>;

/// What becomes of the fields.
type Change<'c> = &'c dyn Fn(&mut HeaderMap);

fn service() -> HttpService {
    let schema =
        r#"{"type":"object","properties":{"zone":{"type":"string","x-mcp-header":"Zone"}}}"#;
    let tool = Tool::new("echo")
        .input_schema(RawBuf::parse(schema).unwrap())
        .raw(|_: ToolCall, _: Context| async { Ok("done") });
    Server::builder("demo", "1.0")
        .with(tool)
        .http()
        .into_service(Sim)
        .unwrap()
}

fn modern_call(_: &HttpClient) -> Request<String> {
    let call = modern(r#"1 tools/call {"name":"echo","arguments":{"zone":"b"}}"#);
    call.with("mcp-param-zone", "b")
}

fn legacy_call(session: &HttpClient) -> Request<String> {
    session.completed(post(&call(1, "echo")))
}

fn legacy_get(session: &HttpClient) -> Request<String> {
    session.completed(get(None))
}

fn legacy_delete(session: &HttpClient) -> Request<String> {
    session.completed(delete())
}

/// What the field is answered with where it is missing, where it occurs twice, and where it has
/// this value.
#[track_caller]
fn check(
    head: Head,
    name: &'static str,
    missing: &str,
    doubled: &str,
    (wrong, refused): (&'static str, &str),
) {
    let name = HeaderName::from_static(name);
    let wrong = HeaderValue::from_static(wrong);
    let remove = |fields: &mut HeaderMap| drop(fields.remove(&name));
    let double = |fields: &mut HeaderMap| {
        let value = fields.get(&name).unwrap_or(&wrong).clone();
        fields.insert(&name, value.clone());
        fields.append(&name, value);
    };
    let spoil = |fields: &mut HeaderMap| drop(fields.insert(&name, wrong.clone()));
    let changes: [(&str, Change<'_>, &str); 3] = [
        ("missing", &remove, missing),
        ("doubled", &double, doubled),
        ("wrong", &spoil, refused),
    ];
    for (what, change, expected) in changes {
        let service = service();
        let session = HttpClient::open(&service, "2025-11-25");
        let mut request = head(&session);
        change(request.headers_mut());
        let mut reply = send(&service, request);
        let status = reply.status;
        let text = reply.text();
        let code = text.split_once(r#""code":"#).map_or("", |(_, rest)| {
            rest.split_once(',').map_or(rest, |(code, _)| code)
        });
        let found = format!("{} {code}", status.as_u16());
        assert_eq!(found.trim_end(), expected, "{name} {what}: {text}");
    }
}

const MISMATCH: &str = "400 -32020";

/// In the revisions before 2026-07-28, which have no such code.
const DOUBLED: &str = "400 -32600";

#[test]
fn of_modern_requests() {
    let check = |name, missing: &str, doubled: &str, wrong| {
        check(modern_call, name, missing, doubled, wrong);
    };
    check(
        "host",
        "400 -32600",
        "400 -32600",
        ("evil.example", "403 -32600"),
    );
    check(
        "origin",
        "200",
        "403 -32600",
        ("https://evil.example", "403 -32600"),
    );
    check(
        "content-type",
        "415 -32600",
        "415 -32600",
        ("text/plain", "415 -32600"),
    );
    // A list may come in several lines.
    check("accept", "200", "200", ("application/json", "406 -32600"));
    check(
        "mcp-protocol-version",
        MISMATCH,
        MISMATCH,
        ("2025-11-25", MISMATCH),
    );
    check(
        "mcp-protocol-version",
        MISMATCH,
        MISMATCH,
        ("2099-01-01", MISMATCH),
    );
    check("mcp-method", MISMATCH, MISMATCH, ("tools/list", MISMATCH));
    check("mcp-method", MISMATCH, MISMATCH, ("TOOLS/CALL", MISMATCH));
    check("mcp-name", MISMATCH, MISMATCH, ("other", MISMATCH));
    check(
        "mcp-name",
        MISMATCH,
        MISMATCH,
        ("=?base64?ZWNobw=?=", MISMATCH),
    );
    check("mcp-param-zone", MISMATCH, MISMATCH, ("c", MISMATCH));
    // There are no sessions, and nothing is resumed.
    check("mcp-session-id", "200", MISMATCH, ("nobody", "200"));
    check("last-event-id", "200", "200", ("7-7", "200"));
}

#[test]
fn of_requests_in_a_session() {
    let check = |name, missing: &str, doubled: &str, wrong| {
        check(legacy_call, name, missing, doubled, wrong);
    };
    check(
        "host",
        "400 -32600",
        "400 -32600",
        ("evil.example", "403 -32600"),
    );
    check(
        "origin",
        "200",
        "403 -32600",
        ("https://evil.example", "403 -32600"),
    );
    check(
        "content-type",
        "415 -32600",
        "415 -32600",
        ("text/plain", "415 -32600"),
    );
    check("accept", "200", "200", ("text/event-stream", "406 -32600"));
    check(
        "mcp-session-id",
        "400 -32600",
        DOUBLED,
        ("nobody", "404 -32600"),
    );
    // A known revision is served in the one that was agreed on.
    check(
        "mcp-protocol-version",
        "200",
        DOUBLED,
        ("2025-06-18", "200"),
    );
    check(
        "mcp-protocol-version",
        "200",
        DOUBLED,
        ("2099-01-01", "400 -32600"),
    );
    // Nothing is mirrored in these revisions.
    check("mcp-method", "200", DOUBLED, ("tools/list", "200"));
    check("mcp-param-zone", "200", "200", ("c", "200"));
}

#[test]
fn of_streams_and_endings() {
    for (head, done) in [(legacy_get as Head, "200"), (legacy_delete, "204")] {
        let check = |name, missing: &str, doubled: &str, wrong| {
            check(head, name, missing, doubled, wrong);
        };
        check(
            "host",
            "400 -32600",
            "400 -32600",
            ("evil.example", "403 -32600"),
        );
        check(
            "origin",
            done,
            "403 -32600",
            ("https://evil.example", "403 -32600"),
        );
        check(
            "mcp-session-id",
            "400 -32600",
            DOUBLED,
            ("nobody", "404 -32600"),
        );
        check("mcp-protocol-version", done, DOUBLED, ("2025-06-18", done));
        check(
            "mcp-protocol-version",
            done,
            DOUBLED,
            ("2026-07-28", "405 -32600"),
        );
    }
    check(
        legacy_get,
        "accept",
        "200",
        "200",
        ("application/json", "406 -32600"),
    );
    check(
        legacy_get,
        "last-event-id",
        "200",
        DOUBLED,
        ("77-1", "400 -32600"),
    );
    check(legacy_delete, "accept", "204", "204", ("text/html", "204"));
}
