//! Lists in pages.

use std::collections::BTreeMap;

use mcp_async::ErrorChain;
use mcp_async::client::{CallError, Client};
use mcp_async::model::{Meta, Tool};
use mcp_async::server::service_fn;
use mcp_proto::json::RawBuf;
use mcp_proto::{Payload, Revision};

use crate::client_typed::support::{Seen, each, join, join_service, run};
use crate::texts::has;

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

        let first = client.tools().page(None).await.unwrap();
        assert_eq!(first.items.len(), 2);
        let second = client.tools().page(first.next).await.unwrap();
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
    run(async {
        let client = join_service(service, Revision::V2025_11_25).await;
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
                has(&ErrorChain(error).to_string(), [text]);
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
    check(
        &[TOOL, page!("", r#","nextCursor":"y""#), TOOL],
        &["", r#""x""#, r#""y""#],
        Err("do not end"),
    );
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

/// A client of a server whose list of tools has two empty pages, and the parameters that these are requested with.
async fn paged(revision: Revision) -> (Client, Seen) {
    let seen = Seen::default();
    let asked = seen.clone();
    let service = service_fn(move |call| {
        asked.note(call.params.as_raw().as_str().to_owned());
        let next = match call.params.get("cursor") {
            None => r#","nextCursor":"x""#,
            Some(_) => "",
        };
        let page = format!(r#"{{"tools":[],"ttlMs":60000,"cacheScope":"private"{next}}}"#);
        call.ready(Ok(RawBuf::parse(page).unwrap()))
    });
    (join_service(service, revision).await, seen)
}

#[test]
fn each_page_of_a_list_is_requested_with_its_parameters() {
    run(async {
        let (client, seen) = paged(Revision::V2025_11_25).await;
        let mut meta = Meta::new();
        meta.insert("x.y/z", &1).unwrap();
        let red = BTreeMap::from([("color", "red")]);
        let with_red = [
            r#"{"color":"red"}"#,
            r#"{"color":"red","cursor":"x"}"#,
            r#"{"color":"red","_meta":{"x.y/z":1}}"#,
        ];
        let none = BTreeMap::<&str, &str>::new();
        let with_none = ["{}", r#"{"cursor":"x"}"#, r#"{"_meta":{"x.y/z":1}}"#];
        let cases: [(&(dyn Payload + Sync), _); 3] =
            [(&red, with_red), (&none, with_none), (&(), with_none)];
        for (params, expected) in cases {
            assert_eq!(client.pages::<Tool>(params).all().await.unwrap(), []);
            let page = client.pages::<Tool>(params).page(None);
            page.meta(meta.clone()).refreshed().await.unwrap();
            assert_eq!(seen.take(), expected);
        }
        let wrong = client.pages::<Tool>(&1).all().await;
        assert!(wrong.is_err(), "parameters are an object");
    });
}

/// CH-04
#[test]
fn a_list_with_parameters_is_not_the_cached_list_without() {
    run(async {
        let (client, seen) = paged(Revision::V2026_07_28).await;
        let red = BTreeMap::from([("color", "red")]);
        for (requests, with_red) in [(2, false), (2, true), (2, true), (0, false)] {
            let list = match with_red {
                true => client.pages::<Tool>(&red),
                false => client.tools(),
            };
            list.all().await.unwrap();
            assert_eq!(seen.take().len(), requests);
        }
    });
}
