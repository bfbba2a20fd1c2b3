//! Every header field, missing, doubled and wrong.

use http::header::{HeaderName, HeaderValue};
use http::{HeaderMap, Request};
use mcp_async::Server;
use mcp_async::http::HttpService;
use mcp_async::server::{Context, Tool, ToolCall};
use mcp_proto::json::RawBuf;

use crate::scripted::{HttpClient, RequestExt, Serve, call, delete, get, modern, post, send};
use crate::texts::rows;

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
    Server::builder("demo", "1.0").with(tool).http().served()
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

/// Checks each row: the field, what it is answered with where it is missing and where it occurs twice, a
/// value, and what that is answered with.
fn check(head: Head, table: &str) {
    for [name, missing, doubled, wrong, refused] in rows(table) {
        check_field(head, name, [missing, doubled, refused], wrong);
    }
}

fn check_field(head: Head, name: &str, [missing, doubled, refused]: [&str; 3], wrong: &str) {
    let name: HeaderName = name.parse().unwrap();
    let wrong: HeaderValue = wrong.parse().unwrap();
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

/// 400 -32020 is a header that differs from the body. The revisions before 2026-07-28 have no such code.
#[test]
fn of_modern_requests() {
    check(
        modern_call,
        "
        host                 | 400 -32600 | 400 -32600 | evil.example         | 403 -32600
        origin               | 200        | 403 -32600 | https://evil.example | 403 -32600
        content-type         | 415 -32600 | 415 -32600 | text/plain           | 415 -32600
        mcp-protocol-version | 400 -32020 | 400 -32020 | 2025-11-25           | 400 -32020
        mcp-protocol-version | 400 -32020 | 400 -32020 | 2099-01-01           | 400 -32020
        mcp-method           | 400 -32020 | 400 -32020 | tools/list           | 400 -32020
        mcp-method           | 400 -32020 | 400 -32020 | TOOLS/CALL           | 400 -32020
        mcp-name             | 400 -32020 | 400 -32020 | other                | 400 -32020
        mcp-name             | 400 -32020 | 400 -32020 | =?base64?ZWNobw=?=   | 400 -32020
        mcp-param-zone       | 400 -32020 | 400 -32020 | c                    | 400 -32020
        ",
    );
    // A list may come in several lines.
    check(
        modern_call,
        "accept | 200 | 200 | application/json | 406 -32600",
    );
    // There are no sessions, and nothing is resumed.
    check(
        modern_call,
        "mcp-session-id | 200 | 400 -32020 | nobody | 200",
    );
    check(modern_call, "last-event-id | 200 | 200 | 7-7 | 200");
}

#[test]
fn of_requests_in_a_session() {
    check(
        legacy_call,
        "
        host                 | 400 -32600 | 400 -32600 | evil.example         | 403 -32600
        origin               | 200        | 403 -32600 | https://evil.example | 403 -32600
        content-type         | 415 -32600 | 415 -32600 | text/plain           | 415 -32600
        accept               | 200        | 200        | text/event-stream    | 406 -32600
        mcp-session-id       | 400 -32600 | 400 -32600 | nobody               | 404 -32600
        ",
    );
    // A known revision is served in the one that was agreed on.
    check(
        legacy_call,
        "
        mcp-protocol-version | 200        | 400 -32600 | 2025-06-18           | 200
        mcp-protocol-version | 200        | 400 -32600 | 2099-01-01           | 400 -32600
        ",
    );
    // Nothing is mirrored in these revisions.
    check(
        legacy_call,
        "mcp-method | 200 | 400 -32600 | tools/list | 200",
    );
    check(legacy_call, "mcp-param-zone | 200 | 200 | c | 200");
}

#[test]
fn of_streams_and_endings() {
    for (head, done) in [(legacy_get as Head, "200"), (legacy_delete, "204")] {
        let table = "
        host                 | 400 -32600 | 400 -32600 | evil.example         | 403 -32600
        origin               | DONE       | 403 -32600 | https://evil.example | 403 -32600
        mcp-session-id       | 400 -32600 | 400 -32600 | nobody               | 404 -32600
        mcp-protocol-version | DONE       | 400 -32600 | 2025-06-18           | DONE
        mcp-protocol-version | DONE       | 400 -32600 | 2026-07-28           | 405 -32600
        ";
        check(head, &table.replace("DONE", done));
    }
    check(
        legacy_get,
        "accept | 200 | 200 | application/json | 406 -32600",
    );
    check(
        legacy_get,
        "last-event-id | 200 | 400 -32600 | 77-1 | 400 -32600",
    );
    check(legacy_delete, "accept | 204 | 204 | text/html | 204");
}
