//! Several users of one server over HTTP: what each of them sees, and which changes each learns of.

use core::future::{Ready, ready};
use core::time::Duration;

use http::header::{AUTHORIZATION, HeaderValue};
use http::request::Parts;
use mcp_async::Server;
use mcp_async::http::{AccessError, HttpService, Principal};
use mcp_async::model;
use mcp_async::server::{Context, Registry, Resource, Tool};
use mcp_proto::model::CacheScope;
use mcp_proto::server::ListKind;

use crate::scripted::{HttpClient, Serve};
use crate::server_typed::support::says;

/// The claims of an administrator.
struct Admin;

fn is_admin(caller: Option<&Principal>) -> bool {
    caller.and_then(Principal::claims::<Admin>).is_some()
}

/// A token is the name of its user; `root` is an administrator.
fn by_token(head: &Parts) -> Ready<Result<Principal, AccessError>> {
    let sent = head.headers.get(AUTHORIZATION);
    let token = sent.and_then(|sent| sent.to_str().ok()?.strip_prefix("Bearer "));
    ready(match token {
        Some("root") => Ok(Principal::new("root").with_claims(Admin)),
        Some(name) => Ok(Principal::new(name)),
        None => Err(AccessError::unauthorized(HeaderValue::from_static(
            "Bearer",
        ))),
    })
}

fn service() -> (Registry, HttpService) {
    let tool = |name| Tool::new(name).handler(says("called"));
    let resource = |uri| Resource::new(uri, uri).handler(|_| async { Ok("read") });
    let server = Server::builder("demo", "1.0")
        .change_notifications()
        .cache(Duration::from_secs(60), CacheScope::Public)
        .with(tool("look"))
        .with(tool("purge").visible_to(is_admin))
        .with(resource("demo://open"))
        .with(resource("demo://vault").visible_to(is_admin))
        .list_resources(|cx: Context| async move {
            let name = cx.principal().map_or("guest", Principal::name);
            Ok(vec![model::Resource::new(format!("note://{name}"), name)])
        })
        .build()
        .unwrap();
    let http = server.http().authenticate(by_token);
    (server.registry(), http.served())
}

const REVISIONS: [&str; 4] = ["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];

/// CH-05: what is shown to one of them, a shared cache may not show to another.
#[test]
fn each_user_has_lists_of_its_own() {
    let (_, service) = service();
    for revision in REVISIONS {
        let [ada, bob, root] =
            ["ada", "bob", "root"].map(|name| HttpClient::signed(&service, revision, name));
        for (user, name) in [(&ada, "ada"), (&bob, "bob"), (&root, "root"), (&ada, "ada")] {
            let text = |method| user.ask(method, "").whole();
            let (tools, resources) = (text("tools/list"), text("resources/list"));
            assert!(tools.contains("look"), "{tools}");
            assert_eq!(tools.contains("purge"), name == "root", "{tools}");
            assert!(resources.contains("demo://open"), "{resources}");
            assert_eq!(resources.contains("vault"), name == "root", "{resources}");
            for other in ["ada", "bob", "root"] {
                let shown = resources.contains(&format!("note://{other}"));
                assert_eq!(shown, name == other, "{resources}");
            }
            for list in [tools, resources] {
                let is_private = list.contains(r#""cacheScope":"private""#);
                assert_eq!(is_private, revision == "2026-07-28", "{list}");
                assert!(!list.contains("public"), "{list}");
            }
        }
    }
}

/// TL-07, RS-03, RS-04: status, headers and body of a response do not tell what is hidden from what
/// does not exist.
#[test]
fn hidden_items_are_answered_as_those_that_do_not_exist() {
    let (_, service) = service();
    for revision in REVISIONS {
        let [ada, root] = ["ada", "root"].map(|name| HttpClient::signed(&service, revision, name));
        for (method, hidden, unknown) in [
            ("tools/call", r#""name":"purge""#, r#""name":"other""#),
            (
                "resources/read",
                r#""uri":"demo://vault""#,
                r#""uri":"demo://other""#,
            ),
        ] {
            let shown = root.ask(method, hidden);
            assert_eq!(shown.status, 200);
            let text = shown.whole();
            assert!(!text.contains(r#""error":"#), "{text}");
            let [hidden, unknown] =
                [hidden, unknown].map(|params| ada.post(&format!("1 {method} {{{params}}}")));
            assert_eq!(hidden.status, unknown.status);
            assert_eq!(hidden.headers, unknown.headers);
            let hidden = hidden.whole();
            assert!(hidden.contains(r#""error":"#), "{hidden}");
            let renamed = hidden.replace("purge", "other").replace("vault", "other");
            assert_eq!(renamed, unknown.whole(), "{method} in {revision}");
        }
    }
}

/// RS-10, RS-11, TL-02.
#[test]
fn changes_reach_one_user_or_all() {
    for revision in REVISIONS {
        let (registry, service) = service();
        let users = ["ada", "bob", "root"].map(|name| HttpClient::signed(&service, revision, name));
        let mut streams = users.each_ref().map(|user| user.listen(&["demo://open"]));
        let mut told = |what: &str| {
            streams.each_mut().map(|stream| {
                let text = stream.text();
                assert!(text.is_empty() || text.contains(what), "{text}");
                !text.is_empty()
            })
        };
        let updated = "notifications/resources/updated";
        registry.resource_updated("demo://open");
        assert_eq!(told(updated), [true, true, true], "{revision}");
        registry
            .for_principal("ada")
            .resource_updated("demo://open");
        assert_eq!(told(updated), [true, false, false], "{revision}");
        registry.for_principal("bob").list_changed(ListKind::Tools);
        let changed = "notifications/tools/list_changed";
        assert_eq!(told(changed), [false, true, false], "{revision}");
        // Only an administrator saw it.
        assert!(registry.remove_tool("purge"));
        assert_eq!(told(changed), [false, false, true], "{revision}");
        assert!(registry.remove_tool("look"));
        assert_eq!(told(changed), [true, true, true], "{revision}");
    }
}

#[test]
fn the_streams_of_one_user_can_be_ended() {
    for revision in REVISIONS {
        let (registry, service) = service();
        let users = ["ada", "bob"].map(|name| HttpClient::signed(&service, revision, name));
        let [mut ada, mut bob] = users.each_ref().map(|user| user.listen(&["demo://open"]));
        for peer in registry.for_principal("ada").peers() {
            peer.shutdown();
        }
        assert!(ada.has_ended(), "{revision}");
        assert!(!bob.has_ended(), "{revision}");
    }
}
