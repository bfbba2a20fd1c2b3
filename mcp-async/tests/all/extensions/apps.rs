//! MCP Apps (`io.modelcontextprotocol/ui`): pages of a server that a client shows. Nothing of it is
//! built in; what the extension adds to the protocol passes through.

use mcp_async::model::{Meta, ResourceContents};
use mcp_async::server::{CallContext, Context, Resource, ServerBuilder, Tool};
use mcp_async::{Server, model};
use mcp_proto::json::RawBuf;
use mcp_proto::{Revision, RevisionSet};

use crate::scripted::{LineClient, member};
use crate::server_typed::support::revisions;

const UI: &str = "io.modelcontextprotocol/ui";
const PAGE: &str = "ui://weather/view";
const HTML: &str = "text/html;profile=mcp-app";
const TOOL_UI: &str = r#"{"resourceUri":"ui://weather/view","visibility":["model","app"]}"#;
/// Of a draft of tasks.
const RELATED_TASKS: &str = "io.modelcontextprotocol/relatedTaskIds";
const PAGE_UI: &str = r#"{"csp":{"connectDomains":["https://example.com"]},"prefersBorder":true}"#;

fn meta(ui: &str) -> Meta {
    let mut meta = Meta::new();
    meta.insert("ui", &RawBuf::parse(ui).unwrap()).unwrap();
    meta
}

/// Whether the client shows pages of a server.
fn shows_pages(cx: &CallContext) -> bool {
    #[derive(serde::Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Settings {
        mime_types: Vec<String>,
    }

    let settings = cx.client_extension(UI);
    let settings = settings.and_then(|settings| settings.decode::<Settings>().ok());
    settings.is_some_and(|settings| settings.mime_types.iter().any(|it| it == HTML))
}

fn server() -> ServerBuilder {
    let forecast =
        Tool::new("forecast")
            .meta(meta(TOOL_UI))
            .handler(|(): (), cx: Context| async move {
                let text = if shows_pages(&cx) {
                    "shown"
                } else {
                    "sunny, 21 degrees"
                };
                let mut result = model::CallToolResult::from(vec![model::Content::text(text)]);
                if let Some(given) = cx.meta() {
                    let given = given.as_raw().object().unwrap();
                    for key in ["com.example/view", RELATED_TASKS] {
                        if let Some(value) = given.get(key) {
                            result.meta.insert(key, &value).unwrap();
                        }
                    }
                }
                Ok(result)
            });
    let page = Resource::new(PAGE, "view")
        .mime_type(HTML)
        .meta(meta(PAGE_UI))
        .handler(|_| async {
            let mut contents = ResourceContents::text(PAGE, "<!doctype html>").with_mime_type(HTML);
            if let ResourceContents::Text(text) = &mut contents {
                text.meta = meta(PAGE_UI);
            }
            Ok(contents)
        });
    Server::builder("weather", "1").with(forecast).with(page)
}

/// A client that shows pages.
fn declared() -> String {
    format!(r#"{{"extensions":{{"{UI}":{{"mimeTypes":["{HTML}"]}}}}}}"#)
}

/// EX-20, EX-21.
#[test]
fn what_an_app_says_of_itself_is_untouched() {
    for revision in revisions() {
        let mut wire = LineClient::declaring(&server(), revision, &declared());
        let tools = wire.result("tools/list", "{}");
        let resources = wire.result("resources/list", "{}");
        let page = wire.result("resources/read", &format!(r#"{{"uri":"{PAGE}"}}"#));
        assert_eq!(
            member(&resources, &["resources", "0", "uri"]),
            format!("\"{PAGE}\"")
        );
        assert_eq!(
            member(&page, &["contents", "0", "mimeType"]),
            format!("\"{HTML}\"")
        );
        // Earlier revisions have no such members.
        let has_meta = RevisionSet::at_least(Revision::V2025_06_18).contains(revision);
        let expected = |ui: &str| {
            if has_meta {
                ui.to_owned()
            } else {
                String::new()
            }
        };
        assert_eq!(
            member(&tools, &["tools", "0", "_meta", "ui"]),
            expected(TOOL_UI),
            "{revision}"
        );
        let ui = ["_meta", "ui"];
        for (list, at) in [(&resources, "resources"), (&page, "contents")] {
            let path = [at, "0", ui[0], ui[1]];
            assert_eq!(member(list, &path), expected(PAGE_UI), "{revision}");
        }
    }
}

/// EX-02, EX-05, EX-20: a client without the extension reads text.
#[test]
fn a_tool_answers_for_the_client_that_calls_it() {
    let answer = |wire: &mut LineClient| {
        let result = wire.result("tools/call", r#"{"name":"forecast"}"#);
        member(&result, &["content", "0", "text"])
    };
    for revision in revisions() {
        let mut wire = LineClient::declaring(&server(), revision, &declared());
        assert_eq!(answer(&mut wire), r#""shown""#, "{revision}");
        for other in [
            "{}".to_owned(),
            format!(r#"{{"extensions":{{"{UI}":{{"mimeTypes":[]}}}}}}"#),
            // EX-04: its settings are an object.
            format!(r#"{{"extensions":{{"{UI}":["{HTML}"]}}}}"#),
            format!(r#"{{"experimental":{{"{UI}":{{"mimeTypes":["{HTML}"]}}}}}}"#),
        ] {
            let mut wire = LineClient::declaring(&server(), revision, &other);
            assert_eq!(answer(&mut wire), r#""sunny, 21 degrees""#, "{revision}");
        }
    }
}

/// TK-66: also under a reserved key that no revision defines.
#[test]
fn metadata_of_a_request_reaches_the_tool() {
    for revision in revisions() {
        let mut wire = LineClient::new(&server(), revision);
        for (key, value) in [
            ("com.example/view", r#"{"zoom":2}"#),
            (RELATED_TASKS, r#"["a","b"]"#),
        ] {
            let given = format!(r#"{{"name":"forecast","_meta":{{"{key}":{value}}}}}"#);
            let result = wire.result("tools/call", &given);
            assert_eq!(member(&result, &["_meta", key]), value, "{revision}");
        }
    }
}
