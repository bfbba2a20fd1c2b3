//! Servers of many users: what each of them sees, and which changes each is notified of.

use crate::scripted::{LineClient, member};
use crate::server_typed::support::{Offer, revisions, says};
use crate::sim::Sim;
use core::time::Duration;

use mcp_async::Server;
use mcp_async::model;
use mcp_async::server::{
    Context, HandlerError, Principal, Prompt, Resource, ServerBuilder, Template, Tool,
};
use mcp_proto::Revision;
use mcp_proto::model::CacheScope;
use mcp_proto::server::ListKind;

/// The claims of an administrator.
struct Admin;

fn is_admin(caller: Option<&Principal>) -> bool {
    caller.and_then(Principal::claims::<Admin>).is_some()
}

/// `root` is an administrator, other names are users; the empty name is a caller without a principal.
fn wire(server: &impl Offer, revision: Revision, name: &str) -> LineClient {
    let begin = |streams| {
        let (connection, peer) = server.server().connect(streams, Sim);
        let connection = match name {
            "" => connection,
            "root" => connection.with_principal(Principal::new("root").with_claims(Admin)),
            name => connection.with_principal(name),
        };
        (connection, peer)
    };
    LineClient::of(begin, revision, "{}")
}

#[derive(serde::Deserialize)]
struct Part {
    part: String,
}

fn prompt(name: &str) -> Prompt {
    Prompt::new(name)
        .complete("a", |_, _| async { Ok(vec!["x"]) })
        .argument(model::PromptArgument::optional("a"))
        .handler(says("asked"))
}

fn tool(name: &str) -> Tool {
    Tool::new(name).handler(says("called"))
}

fn resource(uri: &str) -> Resource {
    Resource::new(uri, uri).handler(|_| async { Ok("read") })
}

fn template(uri: &str, text: &'static str) -> Template {
    Template::new(uri, uri)
        .handler(move |it: Part, _| async move { Ok(format!("{} {text}", it.part)) })
}

/// Of each kind an item for all, and one for administrators.
fn server() -> ServerBuilder {
    Server::builder("demo", "1")
        .change_notifications()
        .with(tool("look"))
        .with(tool("purge").visible_to(is_admin))
        .with(prompt("hello"))
        .with(prompt("secret").visible_to(is_admin))
        .with(resource("demo://open"))
        .with(resource("demo://vault").visible_to(is_admin))
        .with(template("box://{part}", "of the first").visible_to(is_admin))
        .with(template("box:{+part}", "of the second"))
}

const LISTS: [(&str, &str, &str); 4] = [
    ("tools/list", "look", "purge"),
    ("prompts/list", "hello", "secret"),
    ("resources/list", "demo://open", "demo://vault"),
    ("resources/templates/list", "box:{+part}", "box://{part}"),
];

#[test]
fn lists_show_what_the_caller_may_see() {
    for revision in revisions() {
        for name in ["", "ada", "root"] {
            let mut wire = wire(&server(), revision, name);
            for (method, open, hidden) in LISTS {
                let list = wire.result(method, "{}");
                assert!(list.contains(open), "{list}");
                assert_eq!(list.contains(hidden), name == "root", "{name}: {list}");
            }
        }
    }
}

/// TL-07, PR-03, RS-03, RS-04: what is hidden is not told from what does not exist.
#[test]
fn hidden_items_do_not_exist_for_others() {
    for revision in revisions() {
        let mut ada = wire(&server(), revision, "ada");
        let mut root = wire(&server(), revision, "root");
        let reference = r#"{"type":"ref/prompt","name":"secret"}"#;
        let typed = format!(r#"{{"ref":{reference},"argument":{{"name":"a","value":""}}}}"#);
        let requests = [
            ("tools/call", r#"{"name":"purge","arguments":{}}"#, "purge"),
            ("prompts/get", r#"{"name":"secret"}"#, "secret"),
            (
                "resources/read",
                r#"{"uri":"demo://vault"}"#,
                "demo://vault",
            ),
            ("completion/complete", typed.as_str(), "secret"),
        ];
        for (method, params, name) in requests {
            root.result(method, params);
            let hidden = ada.ask(method, params);
            let unknown = ada.ask(method, &params.replace(name, "x:none"));
            let error = |answer: &str| {
                let error = member(answer, &["error"]);
                assert!(!error.is_empty(), "{answer}");
                error
            };
            assert_eq!(
                error(&hidden).replace(name, "x:none"),
                error(&unknown),
                "{method} in {revision}"
            );
        }
        let read = r#"{"uri":"box://a"}"#;
        assert!(root.result("resources/read", read).contains("the first"));
        assert!(ada.result("resources/read", read).contains("the second"));
        if revision.is_legacy() {
            let subscribe = r#"{"uri":"demo://vault"}"#;
            root.result("resources/subscribe", subscribe);
            assert_eq!(ada.error("resources/subscribe", subscribe).0, -32002);
            assert_eq!(
                ada.error("resources/subscribe", r#"{"uri":"demo://v"}"#).0,
                -32002
            );
        }
    }
}

/// CH-05.
#[test]
fn what_depends_on_the_caller_is_private_in_caches() {
    let public = |server: ServerBuilder| server.cache(Duration::from_secs(60), CacheScope::Public);
    let scope = |server: &ServerBuilder, method: &str, params: &str| {
        let mut wire = wire(server, Revision::V2026_07_28, "root");
        member(&wire.result(method, params), &["cacheScope"])
    };
    let restricted = public(server());
    let open = public(
        Server::builder("demo", "1")
            .with(tool("look"))
            .with(resource("demo://open")),
    );
    assert_eq!(scope(&open, "tools/list", "{}"), "\"public\"");
    for (method, ..) in LISTS {
        assert_eq!(scope(&restricted, method, "{}"), "\"private\"", "{method}");
    }
    let read = |uri: &str| {
        scope(
            &restricted,
            "resources/read",
            &format!(r#"{{"uri":"{uri}"}}"#),
        )
    };
    assert_eq!(read("demo://open"), "\"public\"");
    assert_eq!(read("demo://vault"), "\"private\"");
    assert_eq!(read("box://a"), "\"private\"");
    let listed = public(Server::builder("demo", "1")).list_resources(|_| async { Ok(Vec::new()) });
    assert_eq!(scope(&listed, "resources/list", "{}"), "\"private\"");
}

/// Subscribes to resources, and to all lists.
fn listen(wire: &mut LineClient, revision: Revision, uris: &[&str]) {
    if revision.is_modern() {
        let uris = uris.join(r#"",""#);
        let filter = format!(
            r#"{{"notifications":{{"toolsListChanged":true,"resourcesListChanged":true,"resourceSubscriptions":["{uris}"]}}}}"#
        );
        wire.send("subscriptions/listen", &filter);
    } else {
        for uri in uris {
            wire.result("resources/subscribe", &format!(r#"{{"uri":"{uri}"}}"#));
        }
    }
    wire.hear();
}

/// How many messages came, each of which says this.
#[track_caller]
fn count(wire: &mut LineClient, part: &str) -> usize {
    let heard = wire.hear();
    assert!(heard.iter().all(|line| line.contains(part)), "{heard:?}");
    heard.len()
}

/// RS-10, RS-11, TL-02.
#[test]
fn changes_are_told_to_one_principal_or_to_all() {
    for revision in revisions() {
        let server = server().build().unwrap();
        let registry = server.registry();
        let mut all = ["ada", "ada", "bob", ""].map(|name| wire(&server, revision, name));
        for wire in &mut all {
            listen(wire, revision, &["demo://open"]);
        }
        let mut told = |part: &str| all.each_mut().map(|wire| count(wire, part));
        registry.resource_updated("demo://open");
        assert_eq!(told("demo://open"), [1, 1, 1, 1], "{revision}");
        registry
            .for_principal("ada")
            .resource_updated("demo://open");
        assert_eq!(told("demo://open"), [1, 1, 0, 0], "{revision}");
        registry.for_principal("bob").list_changed(ListKind::Tools);
        assert_eq!(told("tools/list_changed"), [0, 0, 1, 0], "{revision}");
        registry
            .for_principal("eve")
            .resource_updated("demo://open");
        assert_eq!(told(""), [0; 4], "{revision}");
        assert_eq!(registry.for_principal("ada").peers().len(), 2);
    }
}

/// One user does not learn of changes to what is hidden from them.
#[test]
fn changes_of_what_is_hidden_are_not_told() {
    for revision in revisions() {
        let server = server().build().unwrap();
        let registry = server.registry();
        let mut all = ["ada", "root"].map(|name| wire(&server, revision, name));
        for wire in &mut all {
            // A subscription to what lies above, which both may have.
            listen(wire, revision, &["demo://"]);
        }
        let mut told = |part: &str| all.each_mut().map(|wire| count(wire, part));
        let updated = "resources/updated";
        registry.resource_updated("demo://vault");
        assert_eq!(told(updated), [0, 1], "{revision}");
        registry
            .for_principal("ada")
            .resource_updated("demo://vault");
        assert_eq!(told(""), [0, 0], "{revision}");
        registry.resource_updated("demo://open");
        assert_eq!(told(updated), [1, 1], "{revision}");
        let changed = "tools/list_changed";
        registry.add(tool("wipe").visible_to(is_admin)).unwrap();
        assert_eq!(told(changed), [0, 1], "{revision}");
        // Who saw it before learns that it is gone.
        registry.add(tool("wipe")).unwrap();
        assert_eq!(told(changed), [1, 1], "{revision}");
        registry.add(tool("wipe").visible_to(is_admin)).unwrap();
        assert_eq!(told(changed), [1, 1], "{revision}");
        assert!(registry.remove_tool("wipe"));
        assert_eq!(told(changed), [0, 1], "{revision}");
        assert!(registry.remove_resource("demo://vault"));
        assert_eq!(told("resources/list_changed"), [0, 1], "{revision}");
    }
}

/// The notes of each user, and one for all.
fn notes() -> ServerBuilder<Vec<(&'static str, u32)>> {
    let of_user = Template::new("note://{part}", "note")
        .list(|cx: Context<Vec<(&'static str, u32)>>| async move {
            let user = cx
                .principal()
                .ok_or_else(|| HandlerError::visible("sign in"))?;
            let notes = cx.state().iter().filter(|(owner, _)| *owner == user.name());
            let listed = notes.map(|(_, id)| model::Resource::new(format!("note://{id}"), "own"));
            Ok(listed.collect())
        })
        .handler(|it: Part, _| async move { Ok(it.part) });
    Server::builder("notes", "1")
        .with_state(vec![("ada", 3), ("bob", 1), ("ada", 2), ("ada", 5)])
        .with(of_user)
        .resource("note://4", "shared", |_| async { Ok("a note") })
        .list_resources(|_| async {
            let uris = ["note://4", "note://9"];
            Ok(uris.map(|uri| model::Resource::new(uri, "listed")).into())
        })
        .page_size(2)
}

/// PN-04, PN-05.
#[test]
fn handlers_list_resources_for_their_caller() {
    for revision in revisions() {
        let pages = |name: &str| {
            let mut wire = wire(&notes(), revision, name);
            let mut params = String::from("{}");
            let mut pages = Vec::new();
            loop {
                let page = wire.result("resources/list", &params);
                let uris: Vec<String> = (0..)
                    .map(|at| member(&page, &["resources", &at.to_string(), "uri"]))
                    .take_while(|uri| !uri.is_empty())
                    .map(|uri| uri.trim_matches('"').replace("note://", ""))
                    .collect();
                if uris.contains(&"4".to_owned()) {
                    assert!(page.contains("shared"), "what is registered wins: {page}");
                }
                pages.push(uris.concat());
                match member(&page, &["nextCursor"]) {
                    next if next.is_empty() => break pages,
                    next => params = format!(r#"{{"cursor":{next}}}"#),
                }
            }
        };
        assert_eq!(pages("ada"), ["23", "45", "9"], "{revision}");
        assert_eq!(pages("bob"), ["14", "9"], "{revision}");
        let mut nobody = wire(&notes(), revision, "");
        let (code, text) = nobody.error("resources/list", "{}");
        assert_eq!((code, text.as_str()), (-32603, "sign in"));
        let (code, _) = nobody.error("resources/list", r#"{"cursor":"none"}"#);
        assert_eq!(code, -32602);
    }
}

#[test]
fn what_handlers_list_is_declared() {
    let server = Server::builder("demo", "1").list_resources(|_| async { Ok(Vec::new()) });
    for revision in revisions() {
        assert_eq!(
            LineClient::capabilities(&server, revision),
            r#"{"resources":{}}"#
        );
    }
}
