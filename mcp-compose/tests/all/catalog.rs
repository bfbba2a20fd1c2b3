//! The merged lists.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use mcp_async::client::{CallError, Client};
use mcp_async::model::CacheScope;
use mcp_async::server::{ServerBuilder, Tool};
use mcp_async::{ErrorReply, Revision, Server, code};
use mcp_compose::{Catalog, CatalogLimits, ListErrorKind, Lists, Naming};

use crate::support::{answering, in_each_revision, join, names, only, run, runtime, tools};

fn catalog() -> Catalog {
    Catalog::new(runtime(), Naming::default())
}

/// Reads all lists, which must succeed.
async fn fill(catalog: &Catalog, server: &str, client: &Client) {
    let errors = catalog.refresh(server, client, Lists::ALL).await;
    assert!(errors.is_empty(), "{errors:?}");
}

#[test]
fn items_have_their_server_and_both_names() {
    in_each_revision(|revision| async move {
        let catalog = catalog();
        catalog.declare("b");
        fill(&catalog, "a", &join(&tools(&["x", "y"]), revision).await).await;
        fill(&catalog, "b", &join(&tools(&["x"]), revision).await).await;
        assert_eq!(names(&catalog.view()), ["b__x", "a__x", "a__y"]);
        let view = catalog.view();
        let tool = view.tools().get("a__y").unwrap();
        assert_eq!((&*tool.server, &*tool.item.name), ("a", "y"));
        assert!(view.tools().get("y").is_none());
        catalog.remove("a");
        assert_eq!(names(&catalog.view()), ["b__x"]);
        assert_eq!(view.tools().as_slice().len(), 3, "a view does not change");
    });
}

#[test]
fn changes_tell_which_lists_differ() {
    in_each_revision(|revision| async move {
        let server = tools(&["x"]).change_notifications().build().unwrap();
        let client = only(revision).connect(mcp_async::in_memory(runtime(), &server));
        let client = client.await.unwrap();
        let catalog = catalog();
        let mut changes = catalog.changes();
        fill(&catalog, "a", &client).await;
        assert_eq!(changes.next().await, Lists::TOOLS);
        let mut updates = client.changes().await.unwrap();
        let registry = server.registry();
        let another = Tool::new("y").handler(|(): (), _| async { Ok("y") });
        registry.add(another).unwrap();
        let update = updates.next().await.unwrap();
        assert!(
            catalog
                .refresh("a", &client, Lists::from(&update))
                .await
                .is_empty()
        );
        assert_eq!(changes.next().await, Lists::TOOLS);
        assert_eq!(names(&catalog.view()), ["a__x", "a__y"]);
        // Nothing differs: there is no change, and the next one is another.
        let before = catalog.view();
        fill(&catalog, "a", &client).await;
        assert!(Arc::ptr_eq(&before, &catalog.view()));
        catalog.remove("a");
        assert_eq!(changes.next().await, Lists::TOOLS);
    });
}

fn files(root: &'static str, listed: &'static str) -> ServerBuilder {
    Server::builder("files", "1.0")
        .resource(listed, "Listed", move |_| async move { Ok(root) })
        .template(
            format!("{root}{{name}}"),
            "One",
            move |_: BTreeMap<String, String>, _| async move { Ok(root) },
        )
}

#[test]
fn uris_are_routed_by_lists_and_then_by_templates() {
    in_each_revision(|revision| async move {
        let catalog = catalog();
        fill(
            &catalog,
            "a",
            &join(&files("a://", "b://both"), revision).await,
        )
        .await;
        fill(
            &catalog,
            "b",
            &join(&files("b://", "b://both"), revision).await,
        )
        .await;
        let view = catalog.view();
        let check = |uri: &str, server: Option<&str>| {
            assert_eq!(view.server_of(uri).as_deref(), server, "{uri}");
        };
        check("b://both", Some("a"));
        check("b://other", Some("b"));
        check("a://other", Some("a"));
        check("c://other", None);
        let servers: Vec<_> = view
            .resources()
            .all("b://both")
            .map(|it| &*it.server)
            .collect();
        assert_eq!(servers, ["a", "b"]);
        let [collision] = view.resources().collisions() else {
            panic!("{:?}", view.resources().collisions());
        };
        assert_eq!((&*collision.name, collision.items.len()), ("b://both", 2));
        assert!(view.resource_templates().collisions().is_empty());
    });
}

#[test]
fn searches_prefer_names_to_titles_to_descriptions() {
    let tool = |name: &str, title: &str, description: &str| {
        format!(
            r#"{{"name":"{name}","title":"{title}","description":"{description}","inputSchema":{{"type":"object"}}}}"#
        )
    };
    let list = [
        tool("one", "First", "Finds notes by Words"),
        tool("two", "Finds notes", "Slow"),
        tool("find_notes", "Third", ""),
        tool("four", "Fourth", "Counts"),
    ];
    run(async {
        let page = format!(r#"{{"tools":[{}]}}"#, list.join(","));
        let client = hostile(move |_| Ok(page.clone())).await;
        let catalog = catalog();
        fill(&catalog, "a", &client).await;
        let view = catalog.view();
        let check = |words: &str, limit, expected: &[&str]| {
            let found = view.search(words, limit);
            let found: Vec<_> = found.iter().map(mcp_compose::Found::exposed_name).collect();
            assert_eq!(found, expected, "{words}");
        };
        check("NOTES find", 9, &["a__find_notes", "a__two", "a__one"]);
        check("notes", 1, &["a__find_notes"]);
        check("a__f", 9, &["a__find_notes", "a__four"]);
        check("notes counts", 9, &[]);
        check(" ", 9, &[]);
    });
}

/// A client of a server that answers with these pages of tools by their cursors, and an empty list of everything else.
async fn hostile(page: impl Fn(&str) -> Result<String, ErrorReply> + Send + 'static) -> Client {
    let server = answering(move |method, cursor| match method {
        "tools/list" => page(cursor),
        "resources/list" => Ok(r#"{"resources":[]}"#.to_owned()),
        _ => Ok(r#"{"resourceTemplates":[]}"#.to_owned()),
    });
    only(Revision::V2026_07_28).connect(server).await.unwrap()
}

fn tool(name: &str) -> String {
    format!(r#"{{"name":{name:?},"inputSchema":{{"type":"object"}}}}"#)
}

#[test]
fn lists_that_do_not_end_are_errors_of_their_server() {
    let check = |page: fn(&str) -> String, expected: &str| {
        run(async {
            let mut limits = CatalogLimits::default();
            limits.items_per_list = 50;
            limits.bytes = 100_000;
            let catalog = Catalog::with_limits(runtime(), Naming::default(), limits);
            fill(
                &catalog,
                "good",
                &join(&tools(&["x"]), Revision::V2026_07_28).await,
            )
            .await;
            let client = hostile(move |cursor| Ok(page(cursor))).await;
            let errors = catalog.refresh("bad", &client, Lists::ALL).await;
            let errors: Vec<_> = errors.iter().map(ToString::to_string).collect();
            assert_eq!(
                errors,
                [format!("tools/list of the server \"bad\": {expected}")]
            );
            assert_eq!(names(&catalog.view()), ["good__x"]);
        });
    };
    let endless = "the pages of the server's list do not end";
    check(
        |_| r#"{"tools":[],"nextCursor":"same"}"#.to_owned(),
        endless,
    );
    check(
        |cursor| format!(r#"{{"tools":[],"nextCursor":"{}"}}"#, cursor.len() % 7 + 1),
        endless,
    );
    check(
        |cursor| format!(r#"{{"tools":[],"nextCursor":"{cursor}x"}}"#),
        endless,
    );
    check(
        |cursor| format!(r#"{{"tools":[{}],"nextCursor":"{cursor}x"}}"#, tool(cursor)),
        "there are more than 50 items",
    );
    check(
        |_| format!(r#"{{"tools":[{}]}}"#, tool(&"x".repeat(100_000))),
        "the items have more than 100000 bytes",
    );
    check(
        |_| r#"{"tools":[{"name":"x"}]}"#.to_owned(),
        "the server's result is of another type",
    );
}

#[test]
fn a_list_that_fails_stays_as_it_was() {
    run(async {
        let healthy = Arc::new(core::sync::atomic::AtomicBool::new(true));
        let is_healthy = Arc::clone(&healthy);
        let client = hostile(move |cursor| match cursor {
            "" if is_healthy.load(core::sync::atomic::Ordering::SeqCst) => {
                Ok(format!(r#"{{"tools":[{}],"nextCursor":"2"}}"#, tool("x")))
            }
            "2" => Ok(format!(r#"{{"tools":[{}]}}"#, tool("y"))),
            _ => Err(ErrorReply::internal()),
        })
        .await;
        let catalog = catalog();
        fill(&catalog, "a", &client).await;
        healthy.store(false, core::sync::atomic::Ordering::SeqCst);
        let errors = catalog.refresh("a", &client, Lists::TOOLS).await;
        let [error] = &*errors else {
            panic!("{errors:?}")
        };
        assert!(
            matches!(&error.kind, ListErrorKind::Call(CallError::Server(_))),
            "{error}"
        );
        assert_eq!(names(&catalog.view()), ["a__x", "a__y"]);
    });
}

#[test]
fn a_list_that_changed_while_it_was_read_is_read_again() {
    let read = |mut gone: u32| {
        let gone = std::sync::Mutex::new(move || {
            gone = gone.saturating_sub(1);
            gone > 0
        });
        hostile(move |cursor| match cursor {
            "" => Ok(format!(r#"{{"tools":[{}],"nextCursor":"2"}}"#, tool("x"))),
            _ if gone.lock().unwrap()() => Err(ErrorReply::invalid_params("no such cursor")),
            _ => Ok(format!(r#"{{"tools":[{}]}}"#, tool("y"))),
        })
    };
    run(async {
        let catalog = catalog();
        fill(&catalog, "a", &read(2).await).await;
        assert_eq!(names(&catalog.view()), ["a__x", "a__y"]);
        let errors = catalog.refresh("b", &read(9).await, Lists::TOOLS).await;
        let [error] = &*errors else {
            panic!("{errors:?}")
        };
        let ListErrorKind::Call(CallError::Server(reply)) = &error.kind else {
            panic!("{error}")
        };
        assert_eq!(reply.code, code::INVALID_PARAMS);
    });
}

#[test]
fn all_lists_together_are_bounded() {
    run(async {
        let mut limits = CatalogLimits::default();
        limits.items = 3;
        let catalog = Catalog::with_limits(runtime(), Naming::default(), limits);
        let revision = Revision::V2025_11_25;
        fill(&catalog, "a", &join(&tools(&["x", "y"]), revision).await).await;
        let errors = catalog
            .refresh("b", &join(&tools(&["x", "y"]), revision).await, Lists::ALL)
            .await;
        assert!(
            matches!(errors[0].kind, ListErrorKind::Items(3)),
            "{errors:?}"
        );
        // Its own items do not count twice.
        fill(
            &catalog,
            "a",
            &join(&tools(&["x", "y", "z"]), revision).await,
        )
        .await;
        assert_eq!(names(&catalog.view()), ["a__x", "a__y", "a__z"]);
    });
}

#[test]
fn a_template_counts_once_for_each_of_its_variables() {
    run(async {
        let server = |template: &str| {
            let handler = |_: HashMap<String, String>, _| async { Ok("a note") };
            Server::builder("s", "1.0").template(template, "Notes", handler)
        };
        let mut limits = CatalogLimits::default();
        limits.items_per_list = 3;
        let catalog = Catalog::with_limits(runtime(), Naming::default(), limits);
        let revision = Revision::V2025_11_25;
        for (template, is_listed) in [("x://{a}{b,c}", true), ("x://{a}{b,c}{d}", false)] {
            let client = join(&server(template), revision).await;
            let errors = catalog.refresh("a", &client, Lists::ALL).await;
            assert_eq!(errors.is_empty(), is_listed, "{errors:?}");
        }
        let view = catalog.view();
        assert_eq!(view.resource_templates().iter().count(), 1);
    });
}

#[test]
fn no_server_takes_the_room_of_the_others() {
    run(async {
        let listed = || Server::builder("s", "1.0");
        let two_and_two = ["x", "y"].into_iter().fold(listed(), |server, name| {
            let server = server.tool(name, "Says", |(): (), _| async { Ok("said") });
            server.resource(format!("note://{name}"), name, |_| async { Ok("a note") })
        });
        let large = listed().tool("x", "y".repeat(2_000), |(): (), _| async { Ok("said") });
        for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
            let mut limits = CatalogLimits::default();
            (limits.items_per_server, limits.bytes_per_server) = (3, 1_000);
            let catalog = Catalog::with_limits(runtime(), Naming::default(), limits);
            let client = join(&two_and_two, revision).await;
            let errors = catalog.refresh("many", &client, Lists::ALL).await;
            assert!(
                matches!(&errors[..], [error] if matches!(error.kind, ListErrorKind::Items(3))),
                "{errors:?}"
            );
            let client = join(&large, revision).await;
            let errors = catalog.refresh("large", &client, Lists::ALL).await;
            assert!(
                matches!(&errors[..], [error] if matches!(error.kind, ListErrorKind::Bytes(1_000))),
                "{errors:?}"
            );
            fill(&catalog, "good", &join(&tools(&["x"]), revision).await).await;
            assert_eq!(names(&catalog.view()), ["many__x", "many__y", "good__x"]);
        }
    });
}

#[test]
fn freshness_is_that_of_the_strictest_page() {
    run(async {
        let client = |first: &'static str, second: &'static str| {
            hostile(move |cursor| {
                Ok(match cursor {
                    "" => format!(r#"{{"tools":[{}],{first}"nextCursor":"2"}}"#, tool("x")),
                    _ => format!(r#"{{{second}"tools":[]}}"#),
                })
            })
        };
        let catalog = catalog();
        assert_eq!(catalog.view().tools().freshness(), None);
        let check = async |server: &str, first, second, ttl: u128, scope| {
            fill(&catalog, server, &client(first, second).await).await;
            let freshness = catalog.view().tools().freshness().unwrap();
            assert_eq!((freshness.ttl.as_millis(), freshness.scope), (ttl, scope));
        };
        let (public, private) = (CacheScope::Public, CacheScope::Private);
        let minute = r#""ttlMs":60000,"cacheScope":"public","#;
        check("a", minute, minute, 60_000, public).await;
        check(
            "b",
            r#""ttlMs":90000,"cacheScope":"public","#,
            minute,
            60_000,
            public,
        )
        .await;
        check(
            "c",
            minute,
            r#""ttlMs":500,"cacheScope":"private","#,
            500,
            private,
        )
        .await;
        catalog.remove("c");
        let legacy = join(&tools(&["x"]), Revision::V2025_06_18).await;
        fill(&catalog, "d", &legacy).await;
        let freshness = catalog.view().tools().freshness().unwrap();
        assert_eq!((freshness.ttl.as_millis(), freshness.scope), (0, private));
    });
}

#[test]
fn collisions_are_reported_and_schemas_stay() {
    run(async {
        let schema = r#"{"type":"object","x":9007199254740993, "b":1,"a":[1.0e+2]}"#;
        let page = format!(
            r#"{{"tools":[{{"name":"b__c","inputSchema":{schema}}},{}]}}"#,
            tool("b__c")
        );
        let catalog = catalog();
        fill(&catalog, "a", &hostile(move |_| Ok(page.clone())).await).await;
        fill(
            &catalog,
            "a__b",
            &join(&tools(&["c"]), Revision::V2024_11_05).await,
        )
        .await;
        let view = catalog.view();
        assert_eq!(view.tools().as_slice().len(), 2);
        assert_eq!(
            view.tools().collisions().len(),
            2,
            "{:?}",
            view.tools().collisions()
        );
        let first = &view.tools().as_slice()[0];
        assert!(
            first.exposed_name.starts_with("a__b__c_"),
            "{}",
            first.exposed_name
        );
        assert_eq!(first.item.input_schema.as_raw().as_str(), schema);
        assert_eq!(view.tools().get(&first.exposed_name), Some(first));
    });
}
