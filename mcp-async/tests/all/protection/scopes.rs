//! Scopes of operations: what a token needs in addition to what every token needs.

use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use mcp_async::in_memory;
use std::sync::Arc;

use mcp_async::Server;
use mcp_async::http::HttpService;
use mcp_async::server::MissingScopes;
use mcp_async::server::{
    CompletionRequest, Context, HandlerError, Prompt, Resource, ServerBuilder, Template, Tool,
};
use mcp_proto::model::CacheScope;

use crate::protection::support::{METADATA, REVISIONS, protection};
use crate::scripted::{
    HttpClient, Reply, Serve, array, call, cancelled, initialize, modern, plain_call, post, send,
};
use crate::server_typed::support::says;
use crate::sim::{Sim, advance, sleep};
use crate::texts::has;

/// How often a handler ran.
type Runs = Arc<AtomicUsize>;

fn server(runs: &Runs) -> ServerBuilder {
    let counted = |name: &'static str| {
        let runs = Arc::clone(runs);
        move || {
            runs.fetch_add(1, Ordering::Relaxed);
            Ok::<_, HandlerError>(name)
        }
    };
    let [open, purge, secret, note, ask] = ["open", "purge", "secret", "note", "ask"].map(counted);
    Server::builder("demo", "1.0")
        .change_notifications()
        .with(Tool::new("open").handler(move |(): (), _| {
            let result = open();
            async { result }
        }))
        .with(
            Tool::new("purge")
                .scopes(["notes:delete"])
                .handler(move |(): (), _| {
                    let result = purge();
                    async { result }
                }),
        )
        .with(
            Tool::new("later").handler(|(): (), cx: Context| async move {
                cx.require_scopes(["notes:late", "notes:share"])?;
                Ok("shared")
            }),
        )
        .with(
            Tool::new("too-late").handler(|(): (), cx: Context| async move {
                cx.progress(1.0).await;
                sleep(Duration::from_secs(20)).await;
                cx.require_scopes(["notes:late"])?;
                Ok("shared")
            }),
        )
        .with(
            Tool::new("forgives").handler(|(): (), cx: Context| async move {
                let error = cx.require_scopes(["notes:late"]).unwrap_err();
                let missing = error
                    .cause()
                    .and_then(|it| it.downcast_ref::<MissingScopes>());
                Ok(missing.unwrap().to_string())
            }),
        )
        .with(Resource::new("demo://open", "open").handler(|_| async { Ok("read") }))
        .with(
            Resource::new("demo://secret", "secret")
                .scopes(["vault:read"])
                .handler(move |_| {
                    let result = secret();
                    async { result }
                }),
        )
        .with(
            Template::new("note://{user}", "notes")
                .scopes(["notes:read", "notes:list"])
                .complete("user", |_: CompletionRequest, _| async { Ok(vec!["ada"]) })
                .raw(move |_, _| {
                    let result = note();
                    async { result }
                }),
        )
        .with(
            Prompt::new("ask")
                .scopes(["prompts:ask"])
                .handler(move |(): (), _| {
                    let result = ask();
                    async { result }
                }),
        )
}

fn service(runs: &Runs) -> HttpService {
    let http = server(runs).http().protect(protection());
    http.served()
}

/// The scopes of the only challenge, after a check of the rest of it.
fn challenged(reply: &Reply) -> String {
    assert_eq!(reply.status, 403);
    assert_eq!(reply.headers.get_all("www-authenticate").iter().count(), 1);
    let challenge = reply.header("www-authenticate");
    let rest = challenge.strip_prefix(r#"Bearer error="insufficient_scope", "#);
    let rest = rest.unwrap_or_else(|| panic!("{challenge}"));
    assert!(
        rest.contains(&format!(r#"resource_metadata="{METADATA}""#)),
        "{challenge}"
    );
    let (_, scopes) = rest.split_once("scope=\"").unwrap();
    scopes.split_once('"').unwrap().0.to_owned()
}

/// AU-09: a user is asked once, for the scopes of the endpoint, of the method, of the item and of its handler.
#[test]
fn one_challenge_names_the_scopes_of_endpoint_method_and_item() {
    let runs = Runs::default();
    let tool = Tool::new("share").scopes(["notes:share"]);
    let server = server(&runs).with(tool.handler(|(): (), cx: Context| async move {
        cx.require_scopes(["notes:late"])?;
        Ok("shared")
    }));
    let protection = protection().method_scopes("tools/call", ["call"]);
    let service = server.http().protect(protection).served();
    for revision in REVISIONS {
        let client = HttpClient::signed(&service, revision, "ada/mcp/60");
        for (token, tool, needed) in [
            ("ada/none/60", "share", "mcp call notes:share"),
            ("ada/none/60", "open", "mcp call"),
            ("ada/mcp/60", "share", "mcp call notes:share"),
            ("ada/call+notes~share/60", "share", "mcp call notes:share"),
            (
                "ada/mcp+call+notes~share/60",
                "share",
                "mcp call notes:share notes:late",
            ),
        ] {
            let refused = client.with_token(token).ask(
                "tools/call",
                &format!(r#""name":"{tool}","arguments":{{}}"#),
            );
            assert_eq!(challenged(&refused), needed, "{revision} {token}");
            has(&refused.whole(), [&format!("needed: {needed}\"")]);
        }
        // Without an operation it is what every token needs.
        let none = client.with_token("ada/none/60");
        let reply = none.post(&cancelled(1));
        assert_eq!(challenged(&reply), "mcp", "{revision}");
        if revision != "2026-07-28" {
            assert_eq!(challenged(&none.get(None)), "mcp", "{revision}");
            assert_eq!(challenged(&none.delete()), "mcp", "{revision}");
        }
    }
}

/// AU-09, AU-19, RS-09, TL-13: the handler does not run, and one challenge names all scopes of the
/// operation.
#[test]
fn items_need_their_scopes() {
    let runs = Runs::default();
    let service = service(&runs);
    for revision in REVISIONS {
        let poor = HttpClient::signed(&service, revision, "ada/mcp/60");
        let rich = "ada/mcp+notes~delete+vault~read+notes~read+notes~list+prompts~ask/60";
        let rich = poor.with_token(rich);
        for (method, params, needed) in [
            (
                "tools/call",
                r#""name":"purge","arguments":{}"#,
                "mcp notes:delete",
            ),
            (
                "resources/read",
                r#""uri":"demo://secret""#,
                "mcp vault:read",
            ),
            (
                "resources/read",
                r#""uri":"note://ada""#,
                "mcp notes:read notes:list",
            ),
            ("prompts/get", r#""name":"ask""#, "mcp prompts:ask"),
        ] {
            runs.store(0, Ordering::Relaxed);
            assert_eq!(challenged(&poor.ask(method, params)), needed, "{revision}");
            assert_eq!(runs.load(Ordering::Relaxed), 0);
            let reply = rich.ask(method, params);
            assert_eq!(reply.status, 200);
            let text = reply.whole();
            assert!(!text.contains("error"), "{text}");
            assert_eq!(runs.load(Ordering::Relaxed), 1);
        }
        assert_eq!(poor.call("open").status, 200);
        has(
            &poor.ask("tools/call", r#""name":"other""#).whole(),
            ["Unknown tool"],
        );
    }
}

/// AU-17, AU-19: what tells of an item needs its scopes, too.
#[test]
fn completions_and_subscriptions_need_the_scopes_of_their_item() {
    let service = service(&Runs::default());
    for revision in REVISIONS {
        let client = HttpClient::signed(&service, revision, "ada/mcp/60");
        let complete = r#""ref":{"type":"ref/resource","uri":"note://{user}"},"argument":{"name":"user","value":""}"#;
        let refused = client.ask("completion/complete", complete);
        assert_eq!(challenged(&refused), "mcp notes:read notes:list");
        let refused = match revision {
            "2026-07-28" => client.ask(
                "subscriptions/listen",
                r#""notifications":{"resourceSubscriptions":["demo://open","demo://secret"]}"#,
            ),
            _ => client.ask("resources/subscribe", r#""uri":"demo://secret""#),
        };
        assert_eq!(challenged(&refused), "mcp vault:read", "{revision}");
    }
}

/// AU-19, RS-10: a subscription covers what lies below its URI. An update is told only to those whose
/// token has the scopes of the resource at the time of the update.
#[test]
fn updates_are_told_to_tokens_with_the_scopes_of_the_resource() {
    for revision in REVISIONS {
        let note = |uri| Template::new(uri, uri).raw(|_, _| async { Ok("read") });
        let private = note("note://{user}/private").scopes(["vault:read"]);
        let server = Server::builder("demo", "1.0")
            .change_notifications()
            .with(note("note://{user}"))
            .with(private);
        let server = server.build().unwrap();
        let registry = server.registry();
        let http = server.http().protect(protection());
        let service = http.served();
        let poor = HttpClient::signed(&service, revision, "ada/mcp/60");
        let rich = HttpClient::signed(&service, revision, "bob/mcp+vault~read/60");
        let mut streams =
            [&poor, &rich].map(|client| client.listen(&["note://ada", "demo://later"]));
        let mut told = |uri: &str| {
            registry.resource_updated(uri);
            streams
                .each_mut()
                .map(|stream| stream.text().contains("notifications/resources/updated"))
        };
        assert_eq!(told("note://ada"), [true, true], "{revision}");
        assert_eq!(told("note://ada/private"), [false, true], "{revision}");
        assert_eq!(told("note://ada/other"), [true, true], "{revision}");
        if revision == "2026-07-28" {
            // It is not known yet.
            assert_eq!(told("demo://later"), [true, true]);
            let later = Resource::new("demo://later", "later").scopes(["vault:read"]);
            let later = later.handler(|_| async { Ok("read") });
            registry.add(later).unwrap();
            assert_eq!(told("demo://later"), [false, true]);
        } else {
            // The newest token of a session counts.
            let richer = poor.with_token("ada/mcp+vault~read/60");
            richer.ask("ping", "").whole();
            assert_eq!(told("note://ada/private"), [true, true], "{revision}");
        }
    }
}

/// AU-09: nothing of a batch runs, and the challenge names the scopes of all of its requests.
#[test]
fn a_batch_is_refused_as_a_whole() {
    let runs = Runs::default();
    let client = HttpClient::signed(&service(&runs), "2025-03-26", "ada/mcp/60");
    let read = r#"3 resources/read {"uri":"demo://secret"}"#;
    let batch = array(&[&*call(1, "open"), &call(2, "purge"), read]);
    assert_eq!(
        challenged(&client.post(&batch)),
        "mcp notes:delete vault:read"
    );
    assert_eq!(runs.load(Ordering::Relaxed), 0);
    // Each of the tokens lacks one.
    let other = client.with_token("ada/mcp+vault~read/60");
    assert_eq!(
        challenged(&other.post(&batch)),
        "mcp notes:delete vault:read"
    );
    let rich = client.with_token("ada/mcp+vault~read+notes~delete/60");
    assert_eq!(rich.post(&batch).status, 200);
    assert_eq!(runs.load(Ordering::Relaxed), 3);
}

/// AU-10: what includes what is the application's choice.
#[test]
fn broader_scopes_include_others() {
    let protection = protection().settings(|resource| {
        resource.hierarchy(|granted: &str, needed: &str| {
            granted == "admin"
                || needed
                    .strip_prefix(granted)
                    .is_some_and(|it| it.starts_with(':'))
        })
    });
    let http = server(&Runs::default()).http().protect(protection);
    let service = http.served();
    for token in [
        "ada/mcp+notes/60",
        "ada/admin/60",
        "ada/mcp+notes~delete/60",
    ] {
        assert_eq!(
            HttpClient::signed(&service, "2026-07-28", token)
                .call("purge")
                .status,
            200,
            "{token}"
        );
    }
    let refused = HttpClient::signed(&service, "2026-07-28", "ada/mcp+note/60").call("purge");
    assert_eq!(challenged(&refused), "mcp notes:delete");
}

/// AU-09: an operation needs the scopes of its method and of its item.
#[test]
fn methods_need_scopes() {
    let protection = protection()
        .method_scopes("tools/call", ["tools:call"])
        .method_scopes("resources/read", ["resources:read"])
        .method_scopes("prompts/get", ["prompts:get"]);
    let http = server(&Runs::default()).http().protect(protection);
    let service = http.served();
    let low = HttpClient::signed(&service, "2026-07-28", "ada/mcp/60");
    let full =
        "ada/mcp+tools~call+notes~delete+resources~read+vault~read+prompts~get+prompts~ask/60";
    let full = low.with_token(full);
    for (method, params, needed) in [
        (
            "tools/call",
            r#""name":"purge","arguments":{}"#,
            "mcp tools:call notes:delete",
        ),
        (
            "resources/read",
            r#""uri":"demo://secret""#,
            "mcp resources:read vault:read",
        ),
        (
            "prompts/get",
            r#""name":"ask""#,
            "mcp prompts:get prompts:ask",
        ),
    ] {
        assert_eq!(challenged(&low.ask(method, params)), needed);
        assert_eq!(full.ask(method, params).status, 200);
    }
    assert_eq!(challenged(&low.call("open")), "mcp tools:call");
    assert_eq!(low.ask("tools/list", "").status, 200);
}

/// AU-09: no call takes scopes of another back.
#[test]
fn scopes_of_one_method_add_up() {
    let protection = protection()
        .method_scopes("tools/call", ["a"])
        .method_scopes("tools/call", ["b"]);
    let http = server(&Runs::default()).http().protect(protection);
    let service = http.served();
    for (token, needed) in [("mcp+a", "mcp a b"), ("mcp+b", "mcp a b"), ("mcp+a+b", "")] {
        let reply =
            HttpClient::signed(&service, "2026-07-28", &format!("ada/{token}/60")).call("open");
        match needed {
            "" => assert_eq!(reply.status, 200),
            needed => assert_eq!(challenged(&reply), needed, "{token}"),
        }
    }
}

/// AU-09: a handler learns late what it needs, and the response has not begun.
#[test]
fn a_handler_challenges_for_scopes() {
    let service = service(&Runs::default());
    for revision in REVISIONS {
        let client = HttpClient::signed(&service, revision, "ada/mcp+notes~late/60");
        let refused = client.call("later");
        if refused.status == 403 {
            assert_eq!(challenged(&refused), "mcp notes:late notes:share");
        } else {
            // In a session the answer comes on a stream, unless it is there at once.
            assert_ne!(revision, "2026-07-28");
        }
        has(&refused.whole(), ["needed: mcp notes:late notes:share"]);
        let client = client.with_token("ada/mcp+notes~late+notes~share/60");
        assert!(client.call("later").whole().contains("shared"));
        // An error that a handler does not return changes nothing.
        let reply = client.with_token("ada/mcp/60").call("forgives");
        reply.has_head(200, [("www-authenticate", "")]);
    }
}

#[test]
fn after_the_response_has_begun_an_error_names_the_scopes() {
    let service = service(&Runs::default());
    for revision in REVISIONS {
        let client = HttpClient::signed(&service, revision, "ada/mcp/600");
        let mut reply = match revision {
            "2026-07-28" => {
                let mut waiting = client.begin(&plain_call(1, "too-late"));
                assert!(waiting.reply().is_none());
                advance(Duration::from_secs(15));
                waiting.reply().expect("a stream begins")
            }
            _ => client.call("too-late"),
        };
        assert_eq!(reply.status, 200);
        reply.text();
        advance(Duration::from_secs(20));
        let text = reply.text();
        assert!(
            text.contains("needed: mcp notes:late"),
            "{revision}: {text}"
        );
        assert!(text.contains("-32600"), "{revision}: {text}");
    }
}

/// An answer among those of a batch has no status of its own.
#[test]
fn a_challenge_of_a_handler_does_not_hide_the_other_answers_of_a_batch() {
    let client = HttpClient::signed(&service(&Runs::default()), "2025-03-26", "ada/mcp/60");
    let reply = client.post(&array(&[call(1, "open"), call(2, "later")]));
    reply.has_head(200, [("www-authenticate", "")]);
    has(&reply.whole(), ["open", "needed: mcp notes:late"]);
}

/// A server with such items is not served without tokens by mistake.
#[test]
fn an_endpoint_without_protection_refuses_what_needs_scopes() {
    let runs = Runs::default();
    let service = server(&runs).http().served();
    for tool in ["purge", "later"] {
        let reply = send(&service, modern(&plain_call(1, tool)));
        has(&reply.whole(), ["the endpoint is not protected"]);
    }
    assert_eq!(runs.load(Ordering::Relaxed), 0);
    assert_eq!(send(&service, post(&initialize("2025-11-25"))).status, 200);
}

/// Guests may do what needs no scopes.
#[test]
fn guests_are_asked_to_log_in_for_what_needs_scopes() {
    let protection = protection().allow_anonymous();
    let http = server(&Runs::default()).http().protect(protection);
    let service = http.served();
    let call = |tool| send(&service, modern(&plain_call(1, tool)));
    assert_eq!(call("open").status, 200);
    for (tool, scope) in [
        ("purge", "mcp notes:delete"),
        ("later", "mcp notes:late notes:share"),
    ] {
        let refused = call(tool);
        assert_eq!(refused.status, 401, "{tool}");
        let challenge = refused.header("www-authenticate");
        assert!(
            challenge.starts_with(&format!("Bearer scope=\"{scope}\"")),
            "{challenge}"
        );
    }
}

/// CH-05: what only some tokens may read, a shared cache may not keep for others.
#[test]
fn what_needs_scopes_is_private_in_caches() {
    let server = server(&Runs::default()).cache(Duration::from_secs(60), CacheScope::Public);
    let service = server.http().protect(protection()).served();
    let token = "ada/mcp+vault~read+notes~read+notes~list/60";
    let client = HttpClient::signed(&service, "2026-07-28", token);
    for (uri, scope) in [
        ("demo://secret", "private"),
        ("note://ada", "private"),
        ("demo://open", "public"),
    ] {
        has(
            &client
                .ask("resources/read", &format!(r#""uri":"{uri}""#))
                .whole(),
            [&format!(r#""cacheScope":"{scope}""#)],
        );
    }
}

/// On a pipe there are no tokens.
#[test]
fn nothing_is_needed_on_a_pipe() {
    let server = server(&Runs::default()).build().unwrap();
    crate::sim::now(async {
        let client = mcp_async::Client::builder("test", "0")
            .connect(in_memory(Sim.into(), &server))
            .await
            .unwrap();
        for (tool, text) in [("purge", "purge"), ("later", "shared")] {
            let result = client.call_tool(tool, &()).await.unwrap();
            assert_eq!(result.text(), text);
        }
    });
    crate::sim::end();
}

#[test]
fn requirements_that_are_no_scopes_are_mistakes() {
    let check = |builder: ServerBuilder| {
        let error = builder.build().unwrap_err();
        has(
            &format!("{error:?}"),
            ["a required scope is printable ASCII"],
        );
    };
    let server = || Server::builder("demo", "1.0");
    let tool = Tool::new("a").scopes(["two words"]);
    check(server().with(tool.handler(says(""))));
    let resource = Resource::new("a://b", "a").scopes([""]);
    check(server().with(resource.handler(|_| async { Ok("") })));
    let template = Template::new("a://{b}", "a").scopes(["offline_access"]);
    check(server().with(template.raw(|_, _| async { Ok("") })));
    let prompt = Prompt::new("a").scopes(["\""]);
    check(server().with(prompt.handler(says(""))));
}
