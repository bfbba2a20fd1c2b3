//! Lists in pages.

use mcp_async::Streams;
use mcp_async::client::CallError;
use mcp_async::server::{self, service_fn};
use mcp_async::{ErrorChain, duplex};
use mcp_proto::Revision;
use mcp_proto::json::RawBuf;
use mcp_proto::model::ServerFeatures;
use mcp_proto::server::ServerConfig;

use crate::client_typed::support::{Seen, each, join, only, run};
use crate::sim::{Sim, spawn};

const NAMES: [&str; 6] = ["add", "echo", "fails", "logs", "never", "steps"];

/// PN-01, PN-03.
#[test]
fn all_pages_are_read() {
    each(|demo, revision| async move {
        let client = join(&demo.server, revision).await;
        let tools = client.tools().all().await.unwrap();
        let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, NAMES, "{revision}");

        let mut tools = client.tools();
        let mut names = Vec::new();
        while let Some(tool) = tools.next().await {
            names.push(tool.unwrap().name);
        }
        assert_eq!(names, NAMES);
        assert!(tools.next().await.is_none());

        let first = client.list_tools(None).await.unwrap();
        assert_eq!(first.items.len(), 2);
        let second = client.list_tools(first.next).await.unwrap();
        assert_eq!(second.items[0].name, "fails");

        let limited = client.tools().limit(2).all().await;
        assert!(
            matches!(limited, Err(CallError::PaginationLimit)),
            "{limited:?}"
        );
        assert_eq!(client.prompts().all().await.unwrap().len(), 1);
        assert_eq!(client.resource_templates().all().await.unwrap().len(), 1);
        assert!(client.resources().all().await.unwrap().is_empty());
    });
}

/// What the client asks for, when a server gives these pages one after the other.
fn check(pages: &'static [&'static str], expected: &[&str], names: Result<&[&str], &str>) {
    let seen = Seen::default();
    let asked = seen.clone();
    let (left, right) = duplex(4096);
    let config = ServerConfig {
        capabilities: ServerFeatures::TOOLS.capabilities(),
        ..ServerConfig::new("pages", "1.0")
    };
    let next = core::sync::atomic::AtomicUsize::new(0);
    let service = service_fn(move |call| {
        let cursor = call.params.get("cursor");
        asked.note(cursor.map_or_else(String::new, |cursor| cursor.as_str().to_owned()));
        let index = next.fetch_add(1, core::sync::atomic::Ordering::SeqCst);
        call.ready(match pages.get(index) {
            Some(&"gone") => Err(mcp_async::ErrorReply::invalid_params("no such cursor")),
            Some(page) => Ok(RawBuf::parse(*page).unwrap()),
            None => Err(mcp_async::ErrorReply::new(7, "no more pages")),
        })
    });
    let service: server::BoxService = Box::new(service);
    let (served, _peer) = server::connect(right.split(), Sim, config, service);
    spawn(async move { served.await.unwrap() });
    run(async {
        let client = only(Revision::V2025_11_25)
            .connect(Streams::new(Sim, left.split()))
            .await
            .unwrap();
        let tools = client.tools().all().await;
        match (&tools, names) {
            (Ok(tools), Ok(names)) => {
                assert!(
                    tools
                        .iter()
                        .map(|tool| &*tool.name)
                        .eq(names.iter().copied())
                );
            }
            (Err(error), Err(text)) => {
                let chain = ErrorChain(error).to_string();
                assert!(chain.contains(text), "{chain}");
            }
            (other, _) => panic!("{other:?}"),
        }
        assert_eq!(seen.take(), expected);
    });
}

#[test]
fn cursors_are_opaque_and_do_not_loop() {
    macro_rules! page {
        ($tools:expr, $next:literal) => {
            concat!(r#"{"tools":["#, $tools, "]", $next, "}")
        };
    }
    const TOOL: &str = r#"{"tools":[{"name":"a","inputSchema":{}}],"nextCursor":"x"}"#;
    const LAST: &str = r#"{"tools":[{"name":"b","inputSchema":{}}]}"#;
    // PN-07: null is missing.
    check(&[page!("", r#","nextCursor":null"#)], &[""], Ok(&[]));
    // PN-04: an empty cursor is one; an empty page is not the last.
    check(
        &[page!("", r#","nextCursor":"""#), LAST],
        &["", r#""""#],
        Ok(&["b"]),
    );
    // PN-02: it goes back as it came, escapes and all.
    check(
        &[page!("", r#","nextCursor":"\u0061\ud800\/""#), LAST],
        &["", r#""\u0061\ud800\/""#],
        Ok(&["b"]),
    );
    // PN-07: the same cursor again.
    check(&[TOOL, TOOL], &["", r#""x""#], Err("do not end"));
    // CH-11: a cursor that is gone begins the list anew, once.
    check(
        &[TOOL, "gone", TOOL, LAST],
        &["", r#""x""#, "", r#""x""#],
        Ok(&["a", "b"]),
    );
    check(
        &[TOOL, "gone", TOOL, "gone"],
        &["", r#""x""#, "", r#""x""#],
        Err("no such cursor"),
    );
    check(&["gone"], &[""], Err("no such cursor"));
}
