//! The lists of a server in front of others.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use mcp_async::client::Update;
use mcp_async::model::{CacheScope, CallToolResult, Content, Reference};
use mcp_async::server::{
    CompletionRequest, Context, ListKind, Principal, Prompt, ServerBuilder, Tool,
};
use mcp_async::{Client, Revision, RevisionSet, Server, in_memory};
use mcp_compose::{CatalogLimits, Naming, Proxy, ServerEntry, UpstreamState};

use super::{caller, entry, front};
use crate::support::{
    in_each_revision, legacy_lines, only, pause, run, runtime, said, serving, sleep, tools,
};

async fn names(client: &Client) -> Vec<String> {
    let tools = client.tools().all().await.expect("the tools");
    tools.into_iter().map(|tool| tool.name).collect()
}

#[test]
fn the_items_of_all_servers_stand_beside_those_of_the_builder() {
    in_each_revision(|revision| async move {
        let proxy = Proxy::builder()
            .entry(entry("a", &tools(&["echo", "say"])))
            .entry(entry("b", &tools(&["echo"])))
            .entry(entry("c", &tools(&["never"])).disabled(true))
            .start(runtime())
            .await;
        let server = proxy.server(tools(&["own"])).expect("it is well formed");
        let client = caller(&server, only(revision)).await;
        assert_eq!(
            names(&client).await,
            ["a__echo", "a__say", "b__echo", "own"]
        );
        assert_eq!(said(&client, "a__say").await, "say");
        assert_eq!(said(&client, "own").await, "own");
    });
}

#[test]
fn a_list_beyond_its_limit_is_left_out() {
    in_each_revision(|revision| async move {
        let mut limits = CatalogLimits::default();
        limits.items_per_list = 2;
        let proxy = Proxy::builder()
            .catalog_limits(limits)
            .entry(entry("many", &tools(&["x", "y", "z"])))
            .entry(entry("few", &tools(&["x", "y"])))
            .start(runtime())
            .await;
        let client = caller(&front(&proxy), only(revision)).await;
        assert_eq!(names(&client).await, ["few__x", "few__y"]);
    });
}

#[test]
fn changes_of_a_list_reach_the_callers() {
    in_each_revision(|revision| async move {
        let back = tools(&["one"])
            .change_notifications()
            .build()
            .expect("it is well formed");
        let registry = back.registry();
        let proxy = Proxy::builder()
            .entry(serving("back", back))
            .start(runtime())
            .await;
        let client = caller(&front(&proxy), only(revision)).await;
        let mut changes = client.changes().await.expect("a subscription");
        registry
            .add(Tool::new("two").handler(|(): (), _| async { Ok("two") }))
            .expect("it is well formed");
        while names(&client).await != ["back__one", "back__two"] {
            changes.next().await.expect("a change");
        }
        registry.remove_tool("one");
        while names(&client).await != ["back__two"] {
            changes.next().await.expect("a change");
        }
        registry.list_changed(ListKind::Tools);
        assert_eq!(said(&client, "back__two").await, "two");
    });
}

#[test]
fn lists_are_as_fresh_as_the_least_fresh_of_their_servers() {
    run(async {
        let back = |seconds, scope| {
            let time = Duration::from_secs(seconds);
            tools(&["echo"]).cache(time, scope)
        };
        let listed = async |client: &Client| {
            let page = client.tools().page(None).raw().await.expect("the tools");
            let page = page.as_raw().object().expect("an object");
            let member = |name| page.get(name).map(|member| member.as_str().to_owned());
            [member("ttlMs"), member("cacheScope")].map(Option::unwrap_or_default)
        };
        let proxy = Proxy::builder()
            .entry(entry("a", &back(60, CacheScope::Public)))
            .entry(entry("b", &back(20, CacheScope::Public)))
            .start(runtime())
            .await;
        let server = front(&proxy);
        let client = caller(&server, only(Revision::V2026_07_28)).await;
        assert_eq!(listed(&client).await, ["20000", "\"public\""]);
        proxy.add(entry("c", &back(40, CacheScope::Private))).await;
        let client = caller(&server, only(Revision::V2026_07_28)).await;
        assert_eq!(listed(&client).await, ["20000", "\"private\""]);
        let old = tools(&["old"]).revisions(RevisionSet::of(&[Revision::V2025_11_25]));
        proxy.add(entry("d", &old)).await;
        let client = caller(&server, only(Revision::V2026_07_28)).await;
        assert_eq!(listed(&client).await, ["0", "\"private\""]);
    });
}

#[test]
fn servers_are_added_and_removed_while_it_runs() {
    run(async {
        let proxy = Proxy::builder().start(runtime()).await;
        let client = caller(&front(&proxy), only(Revision::V2025_11_25)).await;
        assert!(names(&client).await.is_empty());
        proxy.add(entry("a", &tools(&["echo"]))).await;
        proxy.add(entry("b", &tools(&["echo"]))).await;
        while names(&client).await.len() < 2 {
            client.ping().await.expect("it is alive");
        }
        assert!(proxy.remove("a"));
        assert!(!proxy.remove("a"));
        while names(&client).await != ["b__echo"] {
            client.ping().await.expect("it is alive");
        }
        assert_eq!(proxy.states().len(), 1);
    });
}

#[test]
fn filters_decide_what_is_offered_and_to_whom() {
    run(async {
        let proxy = Proxy::builder()
            .entry(entry("a", &tools(&["read", "write", "drop"])))
            .expose(|server, name| server == "a" && name != "drop")
            .visible_to(|_, name, caller: Option<&Principal>| name != "write" || caller.is_some())
            .start(runtime())
            .await;
        let client = caller(&front(&proxy), only(Revision::V2026_07_28)).await;
        assert_eq!(names(&client).await, ["a__read"]);
        assert!(client.call_tool("a__write", &()).await.is_err());
        assert!(client.call_tool("a__drop", &()).await.is_err());
    });
}

#[test]
fn an_item_that_no_server_may_have_is_left_out_and_reported() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A"}}}"#;
    let listing = format!(
        r#"{{"tools":[{{"name":"bad","inputSchema":{schema}}},{{"name":"good","inputSchema":{{"type":"object"}}}}]}}"#
    );
    run(async {
        let entry = ServerEntry::connector("back", move || {
            let listing = listing.clone();
            crate::support::answering(move |method, _| {
                Ok(match method {
                    "tools/list" => listing.clone(),
                    _ => r#"{"resources":[],"resourceTemplates":[]}"#.to_owned(),
                })
            })
        });
        let proxy = Proxy::builder().entry(entry).start(runtime()).await;
        let client = caller(&front(&proxy), only(Revision::V2026_07_28)).await;
        assert_eq!(names(&client).await, ["back__good"]);
        let left_out = proxy.left_out();
        assert_eq!(left_out.len(), 1, "{left_out:?}");
        assert_eq!(left_out[0].name(), "back__bad");
    });
}

#[test]
fn a_server_that_ends_is_connected_again() {
    run(async {
        let back = tools(&["echo"])
            .revisions(RevisionSet::of(&[Revision::V2025_11_25]))
            .build()
            .expect("it is well formed");
        let current = Arc::new(Mutex::new(back));
        let connected = Arc::clone(&current);
        let entry = ServerEntry::connector("back", move || {
            in_memory(runtime(), &connected.lock().expect("no panic"))
        });
        let proxy = Proxy::builder().entry(entry).start(runtime()).await;
        let client = caller(&front(&proxy), only(Revision::V2026_07_28)).await;
        assert_eq!(said(&client, "back__echo").await, "echo");
        let next = tools(&["echo", "more"]).build().expect("it is well formed");
        let before = core::mem::replace(&mut *current.lock().expect("no panic"), next);
        before.registry().shutdown();
        drop(before);
        let moment = core::time::Duration::from_millis(100);
        sleep(moment).await;
        // Its items stay, and fail.
        let error = client
            .call_tool("back__echo", &())
            .await
            .expect_err("it is gone")
            .to_string();
        assert!(error.contains("the server `back`"), "{error}");
        while names(&client).await != ["back__echo", "back__more"] {
            sleep(moment).await;
        }
        assert_eq!(said(&client, "back__echo").await, "echo");
    });
}

/// The first of several servers of one URI answers for it, as long as it is there.
#[test]
fn equal_uris() {
    run(async {
        let server = |text: &'static str| {
            Server::builder("s", "1").resource("note://1", "note", move |_| async move { Ok(text) })
        };
        let proxy = Proxy::builder()
            .entry(entry("a", &server("of a")))
            .entry(entry("b", &server("of b")))
            .start(runtime())
            .await;
        let client = caller(&front(&proxy), only(Revision::V2026_07_28)).await;
        let read = async || {
            let read = client.read_resource("note://1").await;
            read.expect("the contents").text().expect("a text")
        };
        assert_eq!(read().await, "of a");
        assert_eq!(proxy.catalog().view().resources().collisions().len(), 1);
        assert!(proxy.remove("a"));
        pause(1).await;
        assert_eq!(read().await, "of b");
    });
}

#[test]
fn a_server_keeps_its_place_while_its_items_are_gone() {
    run(async {
        let server = |text: &'static str| {
            Server::builder("s", "1").resource("note://1", "note", move |_| async move { Ok(text) })
        };
        let one = server("of a").build().expect("it is well formed");
        let current = Arc::new(Mutex::new(one));
        let connected = Arc::clone(&current);
        let first = ServerEntry::connector("a", move || {
            in_memory(runtime(), &connected.lock().expect("no panic"))
        });
        let proxy = Proxy::builder()
            .entry(first)
            .entry(entry("b", &server("of b")));
        let proxy = proxy.keep_items(false).start(runtime()).await;
        let client = caller(&front(&proxy), only(Revision::V2026_07_28)).await;
        let read = async || {
            let read = client.read_resource("note://1").await;
            read.expect("the contents").text().expect("a text")
        };
        assert_eq!(read().await, "of a");
        let next = server("of a again").build().expect("it is well formed");
        let before = core::mem::replace(&mut *current.lock().expect("no panic"), next);
        before.registry().shutdown();
        drop(before);
        pause(10).await;
        assert_eq!(read().await, "of a again");
    });
}

/// Many servers of resources know no templates.
#[test]
fn a_list_that_a_server_does_not_know_is_empty() {
    run(async {
        let entry = legacy_lines("back", |method, _| match method {
            "resources/list" | "resources/templates/list" => {
                vec![r#"{"code":-32601,"message":"Method not found"}"#.into()]
            }
            _ => Vec::new(),
        });
        let proxy = Proxy::builder().entry(entry).start(runtime()).await;
        assert_eq!(proxy.states()[0].1, UpstreamState::Ready);
        let client = caller(&front(&proxy), only(Revision::V2026_07_28)).await;
        assert_eq!(names(&client).await, ["back__x"]);
    });
}

/// A tool that a server changes into one that cannot be served is not served as it was.
#[test]
fn an_item_that_becomes_wrong_is_taken_away() {
    let wrong = r#"{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"A"}}}"#;
    let has_changed = AtomicBool::new(false);
    let entry = legacy_lines("back", move |method, _| match method {
        "tools/list" if has_changed.swap(true, Ordering::SeqCst) => {
            vec![format!(r#"{{"tools":[{{"name":"x","inputSchema":{wrong}}}]}}"#).into()]
        }
        "tools/list" => vec![
            r#"{"tools":[{"name":"x","inputSchema":{"type":"object"}}]}"#.into(),
            r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#.into(),
        ],
        _ => Vec::new(),
    });
    run(async {
        let proxy = Proxy::builder().start(runtime()).await;
        let front = front(&proxy);
        proxy.add(entry).await;
        pause(5).await;
        let client = caller(&front, only(Revision::V2026_07_28)).await;
        assert!(names(&client).await.is_empty());
        assert_eq!(proxy.left_out().len(), 1);
    });
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Trip {
    city: String,
}

#[test]
fn a_server_that_is_added_later_suggests_values_too() {
    run(async {
        let server = tools(&["one"])
            .with(
                Prompt::new("trip")
                    .complete("city", |_: CompletionRequest, _: Context| async {
                        Ok(vec!["Oslo"])
                    })
                    .handler(|trip: Trip, _: Context| async move { Ok(trip.city) }),
            )
            .resource("note://1", "note", |_| async { Ok("one") });
        let proxy = Proxy::builder().start(runtime()).await;
        let front = front(&proxy);
        proxy.add(entry("back", &server)).await;
        pause(1).await;
        let client = caller(&front, only(Revision::V2026_07_28)).await;
        let reference = Reference::prompt("back__trip");
        let completed = client.complete(&reference, "city", "O").await;
        assert_eq!(completed.expect("values").values, ["Oslo"]);
    });
}

#[test]
fn the_builder_keeps_its_own_items() {
    run(async {
        let server = |word: &'static str| {
            Server::builder("s", "1.0")
                .tool("say", "Says a word", move |(): (), _: Context| async move {
                    Ok(word)
                })
                .resource("note://1", "note", move |_| async move { Ok(word) })
                .tool(word, "Says nothing", |(): (), _: Context| async { Ok("") })
        };
        let proxy = Proxy::builder().entry(entry("back", &server("theirs")));
        let proxy = proxy.naming(Naming::bare()).start(runtime()).await;
        let front = proxy.server(server("mine")).expect("it is well formed");
        let client = caller(&front, only(Revision::V2026_07_28)).await;
        assert_eq!(names(&client).await, ["mine", "say", "theirs"]);
        let said = async || said(&client, "say").await;
        assert_eq!(said().await, "mine");
        let note = client.read_resource("note://1").await;
        assert_eq!(note.expect("the contents").text().as_deref(), Some("mine"));
        let left_out = proxy.left_out();
        let names: Vec<_> = left_out
            .iter()
            .map(mcp_async::server::RegisterError::name)
            .collect();
        assert_eq!(names, ["say", "note://1"]);
        // Nor do they go with the server.
        assert!(proxy.remove("back"));
        pause(1).await;
        assert_eq!(said().await, "mine");
    });
}

/// Two servers whose templates match the same URIs.
#[test]
fn the_first_of_the_templates_that_match_answers() {
    run(async {
        let server = |word: &'static str, template: &str| {
            let read = move |_: HashMap<String, String>, _: Context| async move { Ok(word) };
            Server::builder("s", "1.0").template(template, "notes", read)
        };
        let mut proxy = Proxy::builder();
        for at in 0..20 {
            let template = format!("note://{{name{at}}}");
            let word = ["first", "other"][usize::from(at > 0)];
            proxy = proxy.entry(entry(&format!("s{at}"), &server(word, &template)));
        }
        let proxy = proxy.start(runtime()).await;
        let client = caller(&front(&proxy), only(Revision::V2026_07_28)).await;
        let read = client.read_resource("note://x").await;
        assert_eq!(read.expect("the contents").text().as_deref(), Some("first"));
    });
}

/// A server with a resource and a template, and a tool that links to the resource.
fn desk(text: &'static str) -> ServerBuilder {
    Server::builder("desk", "1.0")
        .change_notifications()
        .resource(
            "desk://note",
            "note",
            move |_: Context| async move { Ok(text) },
        )
        .resource(
            "https://a.example/note",
            "page",
            move |_: Context| async move { Ok(text) },
        )
        .template(
            "desk://{drawer}/pens",
            "pens",
            move |drawer: HashMap<String, String>, _: Context| async move {
                Ok(format!("{text} {}", drawer["drawer"]))
            },
        )
        .tool("link", "Links to the note", |(): (), _| async {
            Ok(CallToolResult {
                content: vec![Content::resource_link("desk://note", "desk://note")],
                ..CallToolResult::default()
            })
        })
}

#[test]
fn equal_uris_of_several_servers_are_told_apart() {
    for (upstream, revision) in [Revision::V2025_11_25, Revision::V2026_07_28]
        .into_iter()
        .flat_map(|it| [(it, Revision::V2025_11_25), (it, Revision::V2026_07_28)])
    {
        run(async {
            let of = |text| desk(text).revisions(RevisionSet::of(&[upstream]));
            let back = of("two").build().expect("it is well formed");
            let registry = back.registry();
            let proxy = Proxy::builder()
                .entry(entry("one", &of("one")))
                .entry(serving("other", back))
                .start(runtime())
                .await;
            let client = caller(&front(&proxy), only(revision)).await;
            let listed = client.resources().all().await.expect("the resources");
            let uris: Vec<String> = listed.into_iter().map(|it| it.uri).collect();
            let other = "mcp-compose:other:desk://note";
            assert_eq!(uris, ["desk://note", "https://a.example/note", other]);
            let templates = client
                .resource_templates()
                .all()
                .await
                .expect("the templates");
            let templates: Vec<String> = templates.into_iter().map(|it| it.uri_template).collect();
            let pens = "mcp-compose:other:desk://{drawer}/pens";
            assert_eq!(templates, ["desk://{drawer}/pens", pens]);
            for (uri, expected) in [
                ("desk://note", "one"),
                ("https://a.example/note", "one"),
                (other, "two"),
                ("desk://top/pens", "one top"),
                ("mcp-compose:other:desk://top/pens", "two top"),
            ] {
                let read = client.read_resource(uri).await.expect("the contents");
                assert_eq!(
                    (read.contents[0].uri(), read.text()),
                    (Some(uri), Some(expected.to_owned()))
                );
            }
            for (tool, expected) in [("one__link", "desk://note"), ("other__link", other)] {
                let result = client.call_tool(tool, &()).raw().await.expect("a link");
                let quoted = format!(r#""uri":"{expected}""#);
                assert!(result.as_raw().as_str().contains(&quoted), "{result:?}");
            }
            let mut changes = client.subscribe(other).await.expect("a subscription");
            pause(1).await;
            registry.resource_updated("desk://note");
            let update = changes.next().await;
            assert_eq!(update, Some(Update::Resource(other.to_owned())));
            assert_eq!(proxy.catalog().view().resources().collisions().len(), 2);
        });
    }
}

#[test]
fn a_server_in_front_that_is_gone_is_forgotten() {
    run(async {
        let proxy = Proxy::builder().start(runtime()).await;
        let (stays, goes) = (front(&proxy), front(&proxy));
        drop(goes);
        proxy.add(entry("a", &tools(&["echo"]))).await;
        pause(1).await;
        assert!(proxy.left_out().is_empty(), "{:?}", proxy.left_out());
        let client = caller(&stays, only(Revision::V2026_07_28)).await;
        assert_eq!(names(&client).await, ["a__echo"]);
        // A connection keeps its server.
        drop(stays);
        proxy.add(entry("b", &tools(&["echo"]))).await;
        pause(1).await;
        assert_eq!(names(&client).await, ["a__echo", "b__echo"]);
    });
}
