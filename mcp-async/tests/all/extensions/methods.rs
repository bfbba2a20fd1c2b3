//! Calls of methods of an extension, and its notifications.

use crate::scripted::{LineClient, member};
use crate::server_typed::support::{revisions, says};
use crate::sim::Sim;
use core::sync::atomic::{AtomicU32, Ordering};

use mcp_async::ErrorReply;
use mcp_async::Server;
use mcp_async::server::layers::around;
use mcp_async::server::{
    Context, Extension, ExtensionMethod, HandlerError, NotificationContext, Principal,
    ServerBuilder, Tool,
};
use mcp_proto::json::RawBuf;
use mcp_proto::{Revision, RevisionSet, SendError};

const NOTES: &str = "com.example/notes";

#[derive(serde::Deserialize)]
#[serde(rename_all = "camelCase")]
struct Get {
    note_id: String,
    #[serde(default)]
    lines: Vec<u32>,
}

#[derive(serde::Serialize)]
struct Note {
    text: String,
    by: String,
}

async fn get(get: Get, cx: Context<AtomicU32>) -> Result<Note, HandlerError> {
    if get.note_id == "none" {
        return Err(HandlerError::not_found());
    }
    let calls = cx.state().fetch_add(1, Ordering::Relaxed) + 1;
    Ok(Note {
        text: format!("{} {calls} {:?}", get.note_id, get.lines),
        by: cx.principal().map_or("", Principal::name).to_owned(),
    })
}

#[derive(serde::Deserialize)]
struct Seen {
    count: u32,
}

fn notes(revisions: RevisionSet) -> Extension<AtomicU32> {
    Extension::new(NOTES)
        .revisions(revisions)
        .with_method(
            ExtensionMethod::new("notes/get")
                .subject("noteId")
                .handler(get),
        )
        .notification(
            "notifications/notes/seen",
            |seen: Seen, cx: NotificationContext<AtomicU32>| {
                cx.state().fetch_add(seen.count, Ordering::Relaxed);
            },
        )
}

fn server(extension: Extension<AtomicU32>) -> ServerBuilder<AtomicU32> {
    Server::builder("demo", "1")
        .with_state(AtomicU32::new(0))
        .extension(extension)
}

/// EX-07, EX-11.
#[test]
fn typed_methods_are_served_where_the_extension_is_on() {
    let since = RevisionSet::at_least(Revision::V2025_11_25);
    for revision in revisions() {
        let server = server(notes(since)).build().unwrap();
        let begin = |streams| {
            let (connection, peer) = server.connect(streams, Sim);
            (connection.with_principal("ann"), peer)
        };
        let mut wire = LineClient::of(begin, revision, "{}");
        if !since.contains(revision) {
            assert_eq!(wire.error("notes/get", r#"{"noteId":"a"}"#).0, -32601);
            continue;
        }
        let given = r#"{"noteId":"a","lines":[1,2],"of":{"a later":"version"}}"#;
        let result = wire.result("notes/get", given);
        assert_eq!(result, r#"{"text":"a 1 [1, 2]","by":"ann"}"#, "{revision}");
        assert_eq!(
            wire.error("notes/get", r#"{"noteId":"none"}"#),
            (-32602, "Not found".into())
        );
        let (code, text) = wire.error("notes/get", r#"{"noteId":"a","lines":[1,"x"]}"#);
        assert_eq!(code, -32602);
        assert!(
            text.starts_with("Invalid params: ") && text.contains("lines"),
            "{text}"
        );
        assert_eq!(wire.error("notes/other", "{}").0, -32601);
        // What does not decode is dropped, and since 2026-07-28 clients send none.
        for seen in ["{}", r#"{"count":40}"#] {
            wire.notify("notifications/notes/seen", seen);
        }
        let result = wire.result("notes/get", r#"{"noteId":"b"}"#);
        let calls = if revision.is_legacy() { 42 } else { 2 };
        let expected = format!("\"b {calls} []\"");
        assert_eq!(member(&result, &["text"]), expected, "{revision}");
    }
}

#[test]
fn a_method_that_takes_and_returns_nothing_has_an_empty_result() {
    for revision in revisions() {
        let clear = notes(RevisionSet::all())
            .method("notes/clear", |(): (), _| async { Ok(()) })
            .raw_method("notes/forget", |_, _| async { Ok(()) });
        let server = server(clear).method("demo/reset", |_, _| async { Ok(()) });
        let mut wire = LineClient::new(&server.build().unwrap(), revision);
        let added = match revision.is_legacy() {
            true => "",
            false => {
                r#""resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"demo","version":"1"}}"#
            }
        };
        for method in ["notes/clear", "notes/forget", "demo/reset"] {
            for given in ["{}", r#"{"of":"a later version"}"#] {
                assert_eq!(wire.result(method, given), format!("{{{added}}}"));
            }
        }
    }
}

/// EX-03, EX-05, EX-06.
#[test]
fn a_client_without_the_extension_is_refused() {
    let server = server(notes(RevisionSet::all()).requires_client());
    let server = server.tool("ask", "", |(): (), cx: Context<AtomicU32>| async move {
        cx.require_extension(NOTES)?;
        Ok("asked")
    });
    for revision in revisions() {
        for declared in ["{}", r#"{"extensions":{"com.example/note":{}}}"#] {
            let mut wire = LineClient::declaring(&server, revision, declared);
            for (method, params) in [
                ("notes/get", r#"{"noteId":"a"}"#),
                ("tools/call", r#"{"name":"ask"}"#),
            ] {
                let answer = wire.ask(method, params);
                let required = ["error", "data", "requiredCapabilities", "extensions"];
                assert_eq!(member(&answer, &required), r#"{"com.example/notes":{}}"#);
                if revision.is_modern() {
                    assert_eq!(member(&answer, &["error", "code"]), "-32021");
                }
            }
        }
        let declared = r#"{"extensions":{"com.example/notes":{}}}"#;
        let mut wire = LineClient::declaring(&server, revision, declared);
        wire.result("notes/get", r#"{"noteId":"a"}"#);
        let asked = wire.result("tools/call", r#"{"name":"ask"}"#);
        assert_eq!(member(&asked, &["content", "0", "text"]), r#""asked""#);
    }
}

/// EX-02, EX-14: in every revision, and none that the server does not name.
#[test]
fn a_method_sends_notifications_before_its_result() {
    #[derive(serde::Serialize)]
    struct Count {
        count: u32,
    }

    let count = Extension::<()>::new("com.example/count")
        .revisions(RevisionSet::all())
        .sends("notifications/count")
        .raw_method("count/up", |params: RawBuf, cx: Context| async move {
            for count in 1..=2 {
                cx.notify("notifications/count", &Count { count }).await?;
            }
            let unknown = cx.notify("notifications/other", &params).await;
            assert_eq!(unknown, Err(SendError::NotInRevision));
            Ok(Count { count: 2 })
        });
    let server = Server::builder("demo", "1").extension(count);
    for revision in revisions() {
        let mut wire = LineClient::new(&server, revision);
        assert_eq!(wire.result("count/up", "{}"), r#"{"count":2}"#);
        let sent = wire.hear();
        let params: Vec<_> = sent.iter().map(|line| member(line, &["params"])).collect();
        assert_eq!(params, [r#"{"count":1}"#, r#"{"count":2}"#], "{revision}");
    }
}

/// What a layer of an extension learns of a tool.
struct Price(u32);

#[test]
fn a_layer_finds_the_data_of_a_tool() {
    let prices = Extension::new("com.example/prices").layer(around(|call, service| {
        match call.tool_data::<Price>() {
            Some(price) => call.refuse(ErrorReply::new(7, format!("it costs {}", price.0))),
            None => service.call(call),
        }
    }));
    let tool = |name: &str| Tool::new(name).handler(says("done"));
    let server = Server::builder("demo", "1")
        .extension(prices)
        .with(tool("free").extension_data("another type"))
        .with(tool("dear").extension_data(Price(3)))
        .with(
            tool("secret")
                .extension_data(Price(4))
                .visible_to(|_| false),
        );
    for revision in revisions() {
        let mut wire = LineClient::new(&server, revision);
        let free = wire.result("tools/call", r#"{"name":"free"}"#);
        assert_eq!(member(&free, &["content", "0", "text"]), r#""done""#);
        let dear = wire.error("tools/call", r#"{"name":"dear"}"#);
        assert_eq!(dear, (7, "it costs 3".into()));
        let secret = wire.error("tools/call", r#"{"name":"secret"}"#);
        assert_eq!(secret, (-32602, "Unknown tool: secret".into()));
    }
}

mod over_http {
    use mcp_proto::RevisionSet;

    use super::{notes, server};
    use crate::scripted::{Reply, RequestExt, Serve, modern, send};

    fn post(body: &str, name: Option<&str>, required: bool) -> Reply {
        let extension = notes(RevisionSet::all());
        let extension = match required {
            true => extension.requires_client(),
            false => extension,
        };
        let service = server(extension).http().served();
        let mut request = modern(body);
        if let Some(name) = name {
            request = request.with("mcp-name", name);
        }
        send(&service, request)
    }

    /// EX-06, EX-07, EX-15.
    #[test]
    fn faults_have_their_status() {
        let get = r#"1 notes/get {"noteId":"a"}"#;
        let reply = post(get, Some("a"), false);
        reply.says(200, [r#""text":"a 1 []""#]);
        for wrong in [None, Some("b")] {
            let reply = post(get, wrong, false);
            assert_eq!(reply.status, 400);
            assert!(reply.whole().contains("-32020"), "{wrong:?}");
        }
        let reply = post(get, Some("a"), true);
        reply.says(400, ["-32021", r#"{"com.example/notes":{}}"#]);
        let reply = post("1 notes/other", None, false);
        reply.says(404, ["-32601"]);
    }
}
