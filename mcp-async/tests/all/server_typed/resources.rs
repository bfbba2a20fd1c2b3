//! Resources and templates: what is listed, read, not found, and subscribed to.

use core::time::Duration;
use std::collections::HashMap;

use mcp_async::Server;
use mcp_async::model::{Annotations, Icon, ResourceContents, Role};
use mcp_async::server::{
    Context, HandlerError, Json, MatchedUri, Resource, ServerBuilder, Template,
};
use mcp_proto::Revision;
use mcp_proto::model::CacheScope;
use serde::Deserialize;

use crate::scripted::{LineClient, member, text};
use crate::server_typed::support::revisions;
use crate::texts::INTERNAL_ERROR;

#[derive(Deserialize)]
struct Note {
    id: u8,
}

#[derive(Deserialize)]
struct File {
    path: String,
}

fn server() -> ServerBuilder {
    Server::builder("demo", "1")
        .resource("demo://text", "text", |_: Context| async { Ok("hello") })
        .with(
            Resource::new("demo://image", "image")
                .mime_type("image/png")
                .size(4)
                .title("An image")
                .icon(Icon::new("https://example.com/i.png"))
                .annotations(Annotations {
                    audience: vec![Role::User],
                    priority: Some(0.5),
                    last_modified: Some("2026-01-01T00:00:00Z".into()),
                })
                .handler(|_| async { Ok(b"\x89PNG".to_vec()) }),
        )
        .with(Resource::new("demo://folder", "folder").handler(|_| async {
            Ok(vec![
                ResourceContents::text("demo://folder/a", "a"),
                ResourceContents::blob("demo://folder/b", b"b"),
            ])
        }))
        .resource("demo://empty", "empty", |_: Context| async {
            Ok(Vec::<ResourceContents>::new())
        })
        .resource("demo://gone", "gone", |_: Context| async {
            Err::<String, _>(HandlerError::not_found())
        })
        .resource("demo://broken", "broken", |_: Context| async {
            Ok(std::fs::read_to_string("/nowhere/secret")?)
        })
        .template("note://{id}", "note", |note: Note, _: Context| async move {
            if note.id > 9 {
                return Err(HandlerError::not_found());
            }
            Ok(format!("note {}", note.id))
        })
        .template(
            "file:///{+path}",
            "file",
            |file: File, _: Context| async move { Ok(file.path) },
        )
        .with(
            Template::new("word://{word}", "word")
                .mime_type("text/plain")
                .raw(|found: MatchedUri, _| async move {
                    let word = found.captures.string("word").unwrap_or_default();
                    Ok(word.to_uppercase())
                }),
        )
}

fn read(wire: &mut LineClient, uri: &str) -> String {
    wire.result("resources/read", &format!(r#"{{"uri":"{uri}"}}"#))
}

/// RS-07, RS-08.
#[test]
fn reading_gives_text_bytes_or_several_contents() {
    for revision in revisions() {
        let mut wire = LineClient::new(&server(), revision);
        let mut check = |uri: &str, expected: &str| {
            let result = read(&mut wire, uri);
            let contents = member(&result, &["contents"]);
            assert_eq!(contents, expected, "{uri} in {revision}");
        };
        check("demo://text", r#"[{"uri":"demo://text","text":"hello"}]"#);
        check(
            "demo://image",
            r#"[{"uri":"demo://image","mimeType":"image/png","blob":"iVBORw=="}]"#,
        );
        check(
            "demo://folder",
            r#"[{"uri":"demo://folder/a","text":"a"},{"uri":"demo://folder/b","blob":"Yg=="}]"#,
        );
        check("note://7", r#"[{"uri":"note://7","text":"note 7"}]"#);
        check("file:///a/b", r#"[{"uri":"file:///a/b","text":"a/b"}]"#);
        check(
            "word://caf%C3%A9",
            r#"[{"uri":"word://caf%C3%A9","mimeType":"text/plain","text":"CAFÉ"}]"#,
        );
    }
}

#[test]
fn values_are_read_as_json() {
    let server = Server::builder("demo", "1")
        .resource("x://json", "json", |_: Context| async { Ok(Json([1, 2])) })
        .with(
            Resource::new("x://typed", "typed")
                .mime_type("application/geo+json")
                .handler(|_| async { Ok(Json("x")) }),
        )
        .resource("x://unwritable", "unwritable", |_: Context| async {
            Ok(Json(HashMap::from([([1, 2], 3)])))
        })
        .template("y://{id}", "y", |note: Note, _: Context| async move {
            Ok(Json([note.id]))
        });
    let mut wire = LineClient::new(&server, Revision::V2026_07_28);
    let mut check = |uri: &str, mime_type: &str, value: &str| {
        let contents = member(&read(&mut wire, uri), &["contents"]);
        let expected = format!(r#"[{{"uri":"{uri}","mimeType":"{mime_type}","text":"{value}"}}]"#);
        assert_eq!(contents, expected);
    };
    check("x://json", "application/json", "[1,2]");
    check("x://typed", "application/geo+json", r#"\"x\""#);
    check("y://7", "application/json", "[7]");
    let error = wire.error("resources/read", r#"{"uri":"x://unwritable"}"#);
    assert_eq!(error, (-32603, INTERNAL_ERROR.into()));
}

/// RS-03, RS-04, RS-06, RS-08.
#[test]
fn what_is_not_found_is_told_in_the_words_of_the_revision() {
    let code = |revision: Revision| if revision.is_modern() { -32602 } else { -32002 };
    for revision in revisions() {
        let mut wire = LineClient::new(&server(), revision);
        for uri in [
            "demo://none",
            "demo://gone",
            "demo://empty",
            "note://seven",
            "note://256",
            "note://10",
            "word://a%2Fb",
            "word://..",
            "word://a/b",
            "DEMO://text",
            "",
        ] {
            let answer = wire.ask("resources/read", &format!(r#"{{"uri":"{uri}"}}"#));
            let found = member(&answer, &["error", "code"]);
            assert_eq!(found, code(revision).to_string(), "{uri}: {answer}");
            assert_eq!(text(&answer, &["error", "data", "uri"]), uri);
        }
        let broken = wire.error("resources/read", r#"{"uri":"demo://broken"}"#);
        assert_eq!(broken, (-32603, INTERNAL_ERROR.into()));
    }
}

#[test]
fn lists_say_what_the_revision_has_words_for() {
    for revision in revisions() {
        let mut wire = LineClient::new(&server(), revision);
        let list = wire.result("resources/list", "{}");
        let uri = |at: &str| text(&list, &["resources", at, "uri"]);
        assert_eq!([uri("0"), uri("5")], ["demo://broken", "demo://text"]);
        let image = member(&list, &["resources", "4"]);
        assert_eq!(member(&image, &["size"]), "4");
        let has = |key| !member(&image, &[key]).is_empty();
        let [titles, icons] = match revision {
            Revision::V2024_11_05 | Revision::V2025_03_26 => [false, false],
            Revision::V2025_06_18 => [true, false],
            _ => [true, true],
        };
        assert_eq!([has("title"), has("icons")], [titles, icons], "{revision}");
        let modified = member(&image, &["annotations", "lastModified"]);
        assert_eq!(!modified.is_empty(), titles);
        let list = wire.result("resources/templates/list", "{}");
        let template = |at: &str| text(&list, &["resourceTemplates", at, "uriTemplate"]);
        assert_eq!(
            [template("0"), template("1"), template("2")],
            ["file:///{+path}", "note://{id}", "word://{word}"]
        );
    }
}

#[test]
fn the_template_registered_first_wins() {
    let server = Server::builder("demo", "1")
        .with(Template::new("x://{z}", "one").raw(|_, _| async { Ok("first") }))
        .with(Template::new("x://{a}", "two").raw(|_, _| async { Ok("second") }));
    let mut wire = LineClient::new(&server, Revision::V2026_07_28);
    let result = read(&mut wire, "x://1");
    assert_eq!(text(&result, &["contents", "0", "text"]), "first");
}

#[test]
fn contents_carry_hints_where_there_are_any() {
    let private = Resource::new("x://own", "own")
        .cache(Duration::from_secs(1), CacheScope::Private)
        .handler(|_| async { Ok("x") });
    let server = Server::builder("demo", "1")
        .resource("x://all", "all", |_: Context| async { Ok("x") })
        .with(private)
        .cache(Duration::from_secs(60), CacheScope::Public);
    for revision in revisions() {
        let mut wire = LineClient::new(&server, revision);
        let mut check = |uri: &str, expected: [&str; 2]| {
            let result = read(&mut wire, uri);
            let hints = ["ttlMs", "cacheScope"].map(|key| member(&result, &[key]));
            let expected = if revision.is_modern() {
                expected
            } else {
                [""; 2]
            };
            assert_eq!(hints, expected, "{uri} in {revision}");
        };
        check("x://all", ["60000", "\"public\""]);
        check("x://own", ["1000", "\"private\""]);
    }
}

/// RS-10, RS-11.
#[test]
fn subscribers_hear_of_updates() {
    for revision in revisions() {
        let server = server().change_notifications().build().unwrap();
        let registry = server.registry();
        let mut wire = LineClient::new(&server, revision);
        if revision.is_modern() {
            let filter = r#"{"notifications":{"resourceSubscriptions":["demo://text"]}}"#;
            wire.send("subscriptions/listen", filter);
        } else {
            wire.result("resources/subscribe", r#"{"uri":"demo://text"}"#);
            wire.result("resources/subscribe", r#"{"uri":"note://7"}"#);
            for uri in ["none://x", ""] {
                let params = format!(r#"{{"uri":"{uri}"}}"#);
                let (code, _) = wire.error("resources/subscribe", &params);
                assert_eq!(code, -32002, "{uri:?}");
            }
        }
        wire.hear();
        registry.resource_updated("demo://image");
        assert!(wire.hear().is_empty());
        registry.resource_updated("demo://text");
        let heard = wire.hear();
        assert!(
            heard.len() == 1 && heard[0].contains(r#""uri":"demo://text""#),
            "{heard:?}"
        );
        if revision.is_legacy() {
            wire.result("resources/unsubscribe", r#"{"uri":"demo://text"}"#);
            registry.resource_updated("demo://text");
            assert!(wire.hear().is_empty());
        }
    }
}

/// A mistake in the type of a handler is told to who runs the server, what a client sends is not.
#[test]
fn variables_that_do_not_fit_are_logged() {
    use crate::connection::spans::Notes;

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only its shape matters")]
    struct Address {
        // No text that the build can make up is one, so that it does not see what is missing.
        host: core::net::IpAddr,
        port: u16,
        name: String,
    }

    let server = Server::builder("demo", "1").template(
        "x://{host}/{port}",
        "x",
        |_: Address, _: Context| async { Ok("") },
    );
    let check = |uri: &str, expected: &str| {
        let notes = Notes::default();
        notes.watch(|| {
            let mut wire = LineClient::new(&server, Revision::V2026_07_28);
            let params = format!(r#"{{"uri":"{uri}"}}"#);
            assert!(wire.ask("resources/read", &params).contains("not found"));
        });
        let lines = notes.take();
        assert!(
            lines.iter().any(|line| line.contains(expected)),
            "{lines:?}"
        );
        // Spans have the URI, without its query.
        let mut events = lines.iter().filter(|line| !line.starts_with("span"));
        assert!(!events.any(|line| line.contains("s3cret")), "{lines:?}");
    };
    check(
        "x://127.0.0.1/80",
        "needs a variable that the template does not have",
    );
    check("x://127.0.0.1/s3cret", "variable=port");
}
