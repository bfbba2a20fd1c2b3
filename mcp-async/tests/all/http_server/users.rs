//! Several users of one server over HTTP: what each of them sees, and which changes each learns of.

use core::cell::{Cell, RefCell};
use core::future::{Ready, poll_fn, ready};
use core::time::Duration;
use std::rc::Rc;

use http::header::{AUTHORIZATION, HeaderValue};
use http::request::Parts;
use mcp_async::Server;
use mcp_async::http::{AccessError, HttpService};
use mcp_async::model;
use mcp_async::server::{Context, Principal, Registry, Resource, Tool};
use mcp_proto::model::CacheScope;
use mcp_proto::server::ListKind;

use crate::scripted::{HttpClient, Reply, Serve};
use crate::server_typed::support::says;
use crate::sim::{settle, spawn};

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

/// A change is not a burst of work for all subscribers that other clients have to wait for.
#[test]
fn a_request_is_answered_while_many_subscribers_are_notified() {
    const SUBSCRIBERS: usize = 200;
    let is_notified = |text: &String| text.contains("notifications/resources/updated");
    for revision in REVISIONS {
        let (registry, service) = service();
        let sign = |name: &str| HttpClient::signed(&service, revision, name);
        let users: Vec<_> = (0..SUBSCRIBERS)
            .map(|at| sign(&format!("user-{at}")))
            .collect();
        let streams = users.iter().map(|user| user.listen(&["demo://open"]));
        let streams = Rc::new(RefCell::new(streams.collect::<Vec<_>>()));
        let other = sign("other");
        let before = Rc::new(Cell::new(SUBSCRIBERS));
        registry.resource_updated("demo://open");
        let mut call = other.begin(r#"7 tools/call {"name":"look","arguments":{}}"#);
        let (read, counted) = (Rc::clone(&streams), Rc::clone(&before));
        spawn(async move {
            poll_fn(|cx| call.poll_with(cx)).await;
            let mut streams = read.borrow_mut();
            let frames = streams.iter_mut().filter_map(Reply::frame);
            counted.set(frames.filter(is_notified).count());
        });
        settle();
        let mut streams = streams.borrow_mut();
        let rest = streams.iter_mut().map(Reply::text).filter(is_notified);
        let (before, after) = (before.get(), rest.count());
        assert!(
            before > 0 && after > 0,
            "{before} before, {after} after the answer"
        );
        assert_eq!(before + after, SUBSCRIBERS, "{revision}");
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
