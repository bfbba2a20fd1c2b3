//! What is declared, what changes while clients are connected, and how a server ends.

use core::time::Duration;

use mcp_async::Server;
use mcp_async::model::PromptArgument;
use mcp_async::server::{
    CompletionRequest, Context, Extension, Prompt, Resource, ServerBuilder, Template, Tool,
};
use mcp_proto::Revision;
use mcp_proto::json::RawBuf;
use mcp_proto::model::CacheScope;
use mcp_proto::server::ListKind;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::scripted::{LineClient, member};
use crate::server_typed::support::{revisions, says};
use crate::settings::limits;

fn new() -> ServerBuilder {
    Server::builder("demo", "1")
}

/// A server whose only tool may change.
fn changing() -> Server {
    let server = new().with(tool("t")).change_notifications();
    server.build().unwrap()
}

fn tool(name: &str) -> Tool {
    Tool::new(name).handler(|(): (), _| async { Ok(()) })
}

/// TL-01, PR-01, RS-01, CP-01, LG-01.
#[test]
fn capabilities_follow_from_what_is_registered() {
    let prompt = || Prompt::new("p").handler(says("x"));
    let resource = || Resource::new("x://", "x").handler(|_| async { Ok("x") });
    let argument = || PromptArgument::optional("a");
    let complete = |_: CompletionRequest, _: Context| async { Ok(vec!["x"]) };
    let complete = || prompt().argument(argument()).complete("a", complete);
    let check = |server: ServerBuilder, expected: &str| {
        for revision in revisions() {
            // 2024-11-05 has no capability for completions.
            let expected = if revision.gates_completions() {
                expected.to_owned()
            } else {
                expected.replace(r#""completions":{},"#, "")
            };
            assert_eq!(
                LineClient::capabilities(&server, revision),
                expected,
                "{revision}"
            );
        }
    };
    check(new(), "{}");
    check(new().with(tool("t")), r#"{"tools":{}}"#);
    check(new().with(prompt()), r#"{"prompts":{}}"#);
    check(new().with(resource()), r#"{"resources":{}}"#);
    check(new().logging(), r#"{"logging":{}}"#);
    check(new().with(complete()), r#"{"completions":{},"prompts":{}}"#);
    check(
        new().list_changed(ListKind::Prompts),
        r#"{"prompts":{"listChanged":true}}"#,
    );
    check(
        new()
            .with(tool("t"))
            .with(resource())
            .change_notifications(),
        r#"{"resources":{"subscribe":true,"listChanged":true},"tools":{"listChanged":true}}"#,
    );
}

/// CP-04, LC-17.
#[test]
fn what_is_not_served_is_no_method() {
    for revision in revisions() {
        let mut wire = LineClient::new(&new().with(tool("t")), revision);
        for method in [
            "prompts/list",
            "resources/read",
            "completion/complete",
            "example.com/echo",
        ] {
            let (code, _) = wire.error(method, r#"{"name":"x","uri":"x:"}"#);
            assert_eq!(code, -32601, "{method} in {revision}");
        }
    }
}

#[test]
fn nothing_is_added_to_a_server_that_is_gone() {
    let server = changing();
    let registry = server.registry();
    let wire = LineClient::new(&server, Revision::V2025_11_25);
    drop(server);
    registry
        .add(tool("u"))
        .expect("a connection keeps the server");
    drop(wire);
    let error = registry.add(tool("v")).unwrap_err();
    assert_eq!((error.kind(), error.name()), ("tool", "v"));
    assert_eq!(error.to_string(), "tool `v`: the server is gone");
    assert!(!registry.remove_tool("t"));
}

/// TL-02.
#[test]
fn changes_reach_every_client_that_can_hear_them() {
    for revision in revisions() {
        let server = changing();
        let registry = server.registry();
        let mut wires: Vec<_> = (0..3).map(|_| LineClient::new(&server, revision)).collect();
        let ids: Vec<_> = wires
            .iter_mut()
            .map(|wire| {
                let id = revision.is_modern().then(|| {
                    let filter = r#"{"notifications":{"toolsListChanged":true}}"#;
                    wire.send("subscriptions/listen", filter)
                });
                wire.hear();
                id
            })
            .collect();
        let mut check = |expected: usize| {
            for (wire, id) in wires.iter_mut().zip(&ids) {
                let heard = wire.hear();
                assert_eq!(heard.len(), expected, "{heard:?} in {revision}");
                for line in heard {
                    assert!(line.contains("notifications/tools/list_changed"));
                    let subscribed = ["params", "_meta", SUBSCRIPTION];
                    let id = id.map_or_else(String::new, |id| id.to_string());
                    assert_eq!(member(&line, &subscribed), id);
                }
            }
        };
        registry.add(tool("u")).unwrap();
        check(1);
        assert!(registry.remove_tool("u"));
        check(1);
        assert!(!registry.remove_tool("u"));
        check(0);
        // What the clients were not told of, they hear nothing of.
        registry.add(Prompt::new("p").handler(says("x"))).unwrap();
        check(0);
    }
}

#[test]
fn a_shut_down_server_ends_every_connection() {
    for revision in revisions() {
        let server = changing();
        let registry = server.registry();
        let mut wires: Vec<_> = (0..2).map(|_| LineClient::new(&server, revision)).collect();
        assert_eq!(registry.peers().len(), 2);
        assert!(wires.iter_mut().all(|wire| !wire.has_ended()));
        registry.shutdown();
        for wire in &mut wires {
            assert!(wire.has_ended() && wire.peer.is_closed());
        }
        assert!(registry.peers().is_empty());
        assert!(LineClient::bare(&server, revision).has_ended());
    }
}

#[test]
fn a_registry_does_not_keep_its_server() {
    let server = new().tool("t", "T", |(): (), cx: Context| async move {
        Ok(cx.registry().peers().len().to_string())
    });
    let server = server.build().unwrap();
    let registry = server.registry();
    let mut wire = LineClient::new(&server, mcp_proto::Revision::V2026_07_28);
    drop(server);
    assert!(
        wire.result("tools/call", r#"{"name":"t"}"#)
            .contains(r#""text":"1""#)
    );
    drop(wire);
    assert!(registry.peers().is_empty());
    assert!(!registry.remove_tool("t"));
    assert!(registry.add(tool("t")).is_err());
}

/// Variables with a field that no template below fills.
#[derive(Deserialize)]
#[expect(dead_code, reason = "only its shape matters")]
struct Page {
    ident: u32,
    page: Option<u32>,
}

/// Arguments that no client can send.
#[derive(Deserialize, JsonSchema)]
#[expect(dead_code, reason = "only its shape matters")]
struct Lists {
    city: String,
    list: Option<Vec<String>>,
}

#[test]
fn what_cannot_be_served_is_not_built() {
    let check = |server: ServerBuilder, expected: &str| {
        let error = server.build().expect_err(expected);
        let [mistake] = error.mistakes() else {
            panic!("{error:?}");
        };
        assert!(mistake.to_string().starts_with(expected), "{mistake}");
    };
    check(new().with(Tool::new("t")), "tool `t`: no handler");
    check(new().with(Prompt::new("p")), "prompt `p`: no handler");
    check(
        new().with(Resource::new("x:", "x")),
        "resource `x:`: no handler",
    );
    check(
        new().with(Template::new("x:{a}", "x")),
        "template `x:{a}`: no handler",
    );
    check(new().template("x:{a", "x", says("")), "template `x:{a`: ");
    check(
        new().tool("t", "T", |_: Vec<String>, _: Context| async { Ok(()) }),
        "tool `t`: arguments have names",
    );
    check(
        new().experimental_capability("x", "no object"),
        "capability `x`: its settings are no JSON object",
    );
    check(new().with(tool("a b")), "tool `a b`: its name is not");
    check(new().with(tool("")), "tool ``: its name is not");
    // RS-14
    check(
        new().resource("x", "x", |_: Context| async { Ok("") }),
        "resource `x`: it is no URI",
    );
    check(
        new().prompt("", "", says("")),
        "prompt ``: its name is empty",
    );
    let template = || Template::new("x://{id}{?page}", "x");
    check(
        new().with(template().handler(|_: Page, _| async { Ok("") })),
        "template `x://{id}{?page}`: its handler needs a variable `ident`",
    );
    let nothing = |_: CompletionRequest, _: Context| async { Ok(Vec::<String>::new()) };
    let completed = template()
        .complete("page", nothing)
        .complete("idd", nothing);
    check(
        new().with(completed.raw(|_, _| async { Ok("") })),
        "template `x://{id}{?page}`: there is no variable `idd` to complete",
    );
    let prompt = || Prompt::new("p").argument(PromptArgument::optional("plain"));
    let completed = prompt()
        .complete("plain", nothing)
        .complete("nope", nothing);
    check(
        new().with(completed.handler(says(""))),
        "prompt `p`: there is no argument `nope` to complete",
    );
    check(
        new().with(prompt().handler(|_: Lists, _| async { Ok("") })),
        "prompt `p`: arguments are texts, and the handler's are not: list: expected a sequence",
    );
    let schema = RawBuf::parse(r#"{"type":"array"}"#).unwrap();
    check(
        new().with(tool("t").input_schema(schema)),
        "tool `t`: /inputSchema is not the schema of an object",
    );
    assert!(new().with(tool("t")).build().is_ok());
}

#[test]
fn tl_05_tools_have_names_of_the_specification() {
    let longest = "x".repeat(128);
    for name in ["a", "Get_it-2.b", &*longest] {
        assert!(new().with(tool(name)).build().is_ok(), "{name}");
    }
    let too_long = "x".repeat(129);
    for name in ["", "a b", "a/b", "a,b", "\u{e4}", &*too_long] {
        let error = new().with(tool(name)).build().unwrap_err();
        let mistakes: Vec<_> = error.mistakes().iter().map(ToString::to_string).collect();
        assert_eq!(mistakes.len(), 1, "{mistakes:?}");
        assert!(mistakes[0].contains("its name is not"), "{mistakes:?}");
    }
    // With case, and once.
    let both = new().with(tool("t")).with(tool("T"));
    assert!(both.clone().build().is_ok());
    assert!(both.with(tool("T")).build().is_err());
}

#[test]
fn settings_without_an_effect_are_not_built() {
    let limits = limits(|it| it.output = 1);
    let error = new().page_size(0).concurrency(0).limits(limits).build();
    let error = error.unwrap_err();
    let mut names: Vec<_> = error.mistakes().iter().map(|it| it.name()).collect();
    names.sort_unstable();
    assert_eq!(names, ["concurrency", "limits", "page_size"]);
    assert!(error.mistakes().iter().all(|it| it.kind() == "setting"));
}

#[test]
fn what_is_registered_twice_is_not_built() {
    let prompt = || Prompt::new("p").handler(says("x"));
    let resource = || Resource::new("x://", "x").handler(|_| async { Ok("x") });
    let template = || Template::new("x:{a}", "x").handler(says("x"));
    let method = |builder: ServerBuilder| {
        builder.method("vendor/m", |params: RawBuf, _: Context| async {
            Ok(params)
        })
    };
    let all = new().with(tool("t")).with(prompt()).with(resource());
    let all = method(all.with(template())).extension(Extension::new("a.b/c"));
    assert!(all.clone().build().is_ok());
    let twice = all.with(tool("t")).with(prompt()).with(resource());
    let twice = method(twice.with(template())).extension(Extension::new("a.b/c"));
    let error = twice.with(tool("u")).build().unwrap_err();
    assert_eq!(
        format!("{error:?}"),
        "BuildError: the server has 6 mistakes: tool `t`: it is registered twice; prompt `p`: it is registered twice; \
         resource `x://`: it is registered twice; template `x:{a}`: it is registered twice; \
         method `vendor/m`: it is registered twice; extension `a.b/c`: it is registered twice"
    );
}

#[test]
fn clones_of_a_builder_are_independent() {
    let original = new().with(tool("t"));
    let clone = original.clone().with(tool("u")).logging();
    for revision in revisions() {
        let tools = |builder: &ServerBuilder| {
            let list = LineClient::new(builder, revision).result("tools/list", "{}");
            list.matches(r#""name""#).count()
        };
        assert_eq!((tools(&original), tools(&clone)), (1, 2));
        assert_eq!(
            LineClient::capabilities(&original, revision),
            r#"{"tools":{}}"#
        );
    }
    let (one, other) = (original.clone().build().unwrap(), original.build().unwrap());
    one.registry().remove_tool("t");
    assert!(other.registry().remove_tool("t"), "two servers");
}

/// CH-10, PN-05.
#[test]
fn lists_and_discovery_carry_hints_where_there_are_any() {
    let server = new()
        .with(tool("a"))
        .with(tool("b"))
        .page_size(1)
        .cache(Duration::from_secs(60), CacheScope::Public);
    for revision in revisions() {
        let mut wire = LineClient::new(&server, revision);
        let first = wire.result("tools/list", "{}");
        let cursor = member(&first, &["nextCursor"]);
        let second = wire.result("tools/list", &format!(r#"{{"cursor":{cursor}}}"#));
        assert_eq!(member(&second, &["tools", "0", "name"]), r#""b""#);
        assert_eq!(member(&second, &["nextCursor"]), "");
        let modern = revision.is_modern();
        for list in [first, second] {
            let hints = ["ttlMs", "cacheScope"].map(|key| member(&list, &[key]));
            let expected = if modern {
                ["60000", "\"public\""]
            } else {
                [""; 2]
            };
            assert_eq!(hints, expected);
        }
        if modern {
            let found = wire.result("server/discover", "{}");
            assert_eq!(member(&found, &["ttlMs"]), "60000");
        }
        for bad in ["", "x", "MTA"] {
            let params = format!(r#"{{"cursor":"{bad}"}}"#);
            let error = wire.error("tools/list", &params);
            assert_eq!(error, (-32602, "Invalid cursor".into()), "{revision}");
        }
    }
}

/// TL-03, RS-12, PR-07: what is declared is listed, be it empty, and for every connection alike.
#[test]
fn lists_are_the_same_on_every_connection() {
    let lists = [
        "tools/list",
        "resources/list",
        "resources/templates/list",
        "prompts/list",
    ];
    let empty = [ListKind::Tools, ListKind::Resources, ListKind::Prompts]
        .into_iter()
        .fold(new(), ServerBuilder::list_changed)
        .build()
        .unwrap();
    let full = new()
        .with(tool("a"))
        .with(tool("b"))
        .with(Resource::new("x://", "x").handler(|_| async { Ok("x") }))
        .with(Prompt::new("p").handler(says("x")))
        .build()
        .unwrap();
    for revision in revisions() {
        for (server, is_empty) in [(&empty, true), (&full, false)] {
            let mut wires = [(); 2].map(|()| LineClient::new(server, revision));
            // What one client did before changes nothing.
            wires[0].ask("tools/call", r#"{"name":"a"}"#);
            for method in lists {
                let [one, other] = wires.each_mut().map(|wire| wire.result(method, "{}"));
                assert_eq!(one, other, "{method} in {revision}");
                let is_empty = is_empty || method == "resources/templates/list";
                assert_eq!(one.contains(":[]"), is_empty, "{one} in {revision}");
            }
        }
    }
}

const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";
