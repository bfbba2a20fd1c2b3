//! Our client and our server, joined without sockets.

use core::future::ready;
use core::sync::atomic::{AtomicU32, Ordering};
use core::time::Duration;
use mcp_async::http::HttpConnector;
use std::sync::Arc;

use bytes::Bytes;
use http::Request;
use http::header::HeaderValue;
use http::request::Parts;
use http_body_util::Full;
use mcp_async::client::{CallError, Update};
use mcp_async::http::AccessError;
use mcp_async::model::{self, ElicitParams, ElicitResult, ElicitUrlParams, LoggingLevel};
use mcp_async::runtime::Runtime;
use mcp_async::server::{Context, Elicited, Principal, Registry, ServerBuilder, Tool};
use mcp_async::{Client, ErrorChain, Server, in_memory, schemars};
use mcp_proto::model::CacheScope;
use mcp_proto::{Revision, RevisionSet};
use tower_service::Service;

use crate::scripted::Serve;
use crate::seen::Seen;
use crate::server_typed::support::says;
use crate::sim::{Sim, play, sleep};
use crate::texts::has;

/// Runs a script with a client of this revision and a server of all.
fn with<F: Future<Output = ()>>(revision: Revision, script: impl FnOnce(Client, Registry) -> F) {
    play(async {
        let server = server().change_notifications().build().unwrap();
        let registry = server.registry();
        let http = server.http().legacy_sse("/sse", "/messages");
        let path = match revision {
            Revision::V2024_11_05 => "sse",
            _ => "mcp",
        };
        let client = Client::builder("t", "1")
            .revisions(RevisionSet::of(&[revision]))
            .on_elicitation(|_: ElicitParams, _| async { Ok(ElicitResult::decline()) })
            .connect(
                HttpConnector::new(Sim, format!("http://localhost/{path}")).through(http.served()),
            )
            .await
            .unwrap();
        assert_eq!(client.info().revision, revision);
        script(client.clone(), registry).await;
        client.close().await.unwrap();
    });
}

fn server() -> ServerBuilder {
    Server::builder("s", "1")
        .revisions(RevisionSet::of(&Revision::ALL))
        .logging()
        .tool("hello", "Greets", says("Hello!"))
        .tool(
            "session",
            "Counts its calls",
            |(): (), cx: Context| async move {
                let calls = cx.session_state::<AtomicU32>();
                let calls = calls.map(|calls| calls.fetch_add(1, Ordering::Relaxed));
                Ok(format!("{calls:?} {}", cx.session_id().is_some()))
            },
        )
        .tool("steps", "Counts", |(): (), cx: Context| async move {
            for step in 1..=3 {
                let _ = cx.progress(f64::from(step)).await;
                sleep(Duration::from_millis(50)).await;
            }
            Ok("done")
        })
        .tool("asks", "Asks", |(): (), cx: Context| async move {
            Ok(match cx.elicit::<Name>("name", "Who are you?").await? {
                Elicited::Accepted(name) => name.name,
                _ => "nobody".to_owned(),
            })
        })
        .tool("polls", "Lets go", |(): (), cx: Context| async move {
            sleep(Duration::from_millis(50)).await;
            let closed = cx.close_stream(Duration::from_millis(500)).await;
            let before = Sim.now();
            sleep(Duration::from_millis(100)).await;
            let waited = Sim.now().saturating_since(before).as_millis();
            Ok(format!("{closed} {waited}"))
        })
        .tool("logs", "Logs", |(): (), cx: Context| async move {
            let _ = cx.log(LoggingLevel::Error, 1).await;
            Ok("logged")
        })
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Name {
    name: String,
}

fn each<F: Future<Output = ()>>(script: impl Fn(Client, Registry) -> F) {
    for revision in REVISIONS {
        with(*revision, &script);
    }
}

const REVISIONS: &[Revision] = &[
    Revision::V2024_11_05,
    Revision::V2025_03_26,
    Revision::V2025_06_18,
    Revision::V2025_11_25,
    Revision::V2026_07_28,
];

#[test]
fn calls() {
    each(|client, _| async move {
        assert_eq!(
            client.call_tool("hello", &()).await.unwrap().text(),
            "Hello!"
        );
        let tools = client.tools().all().await.unwrap();
        assert_eq!(tools.len(), 6);
        client.ping().await.unwrap();
        let error = client.call_tool("nothing", &()).await.unwrap_err();
        has(&ErrorChain(&error).to_string(), ["-32602"]);
    });
}

/// EL-11, over a pipe and over HTTP.
#[test]
fn the_end_of_a_page_is_reported_to_the_client_that_was_asked() {
    let check = |revision: Revision, is_http: bool, expected: &str, reported: &[&str]| {
        play(async {
            let pays = |(): (), cx: Context| async move {
                let page = ElicitUrlParams {
                    message: "Please pay.".into(),
                    url: "https://example.com/pay/7".into(),
                    elicitation_id: Some("7".into()),
                    ..ElicitUrlParams::default()
                };
                let action = cx.elicit_page("pay", page).await?;
                let complete = cx.peer().elicitation_complete("7").await;
                Ok(format!("{action} {complete:?}"))
            };
            let server = Server::builder("s", "1").tool("pays", "Asks", pays);
            let server = server.build().unwrap();
            let seen = Seen::default();
            let noted = seen.clone();
            let client = Client::builder("t", "1")
                .revisions(RevisionSet::of(&[revision]))
                .on_elicitation(|_, _| async { Ok(ElicitResult::agree()) })
                .on_notification(move |told| {
                    noted.note(told.params.map_or("", |params| params.as_raw().as_str()));
                });
            let http = HttpConnector::new(Sim, "http://localhost/mcp");
            let client = match is_http {
                true => client.connect(http.through(server.http().served())).await,
                false => client.connect(in_memory(Sim.into(), &server)).await,
            };
            let client = client.unwrap();
            let result = client.call_tool("pays", &()).await.unwrap();
            assert_eq!(result.text(), expected, "{revision}, HTTP: {is_http}");
            sleep(Duration::from_secs(1)).await;
            assert_eq!(seen.take(), reported, "{revision}, HTTP: {is_http}");
            client.close().await.unwrap();
        });
    };
    for is_http in [false, true] {
        let reported = [r#"{"elicitationId":"7"}"#];
        check(Revision::V2025_11_25, is_http, "accept Ok(())", &reported);
        let without_session = "accept Err(NotReady)";
        check(Revision::V2026_07_28, is_http, without_session, &[]);
    }
}

#[test]
fn calls_of_a_batch() {
    each(|client, _| async move {
        let calls = ["hello", "nothing", "steps"].map(|tool| client.call_tool(tool, &()));
        let results = client.batch(calls).await;
        let [Ok(hello), Err(CallError::Server(unknown)), Ok(steps)] = &results[..] else {
            panic!("{results:?}");
        };
        assert_eq!(
            (hello.text(), unknown.code, steps.text()),
            ("Hello!".to_owned(), -32602, "done".to_owned())
        );
    });
}

#[test]
fn spans_name_the_transport() {
    let notes = crate::connection::spans::Notes::default();
    notes.watch(|| {
        each(|client, _| {
            let notes = notes.clone();
            async move {
                notes.take();
                client.call_tool("hello", &()).await.unwrap();
                let spans = notes.take();
                let calls: Vec<&String> = spans
                    .iter()
                    .filter(|span| span.contains("mcp.method.name=tools/call"))
                    .collect();
                let [server, client] = &calls[..] else {
                    panic!("{spans:#?}");
                };
                let transport = "network.protocol.name=http network.protocol.version=1.1 network.transport=tcp otel.kind=server";
                assert!(server.contains(transport), "{server}");
                let transport = "network.protocol.name=http network.transport=tcp otel.kind=client";
                assert!(client.contains(transport), "{client}");
            }
        });
    });
}

#[test]
fn progress() {
    each(|client, _| async move {
        let mut steps = Vec::new();
        let done = client
            .call_tool("steps", &())
            .on_progress(|step| steps.push(step.progress.to_string()))
            .await
            .unwrap();
        assert_eq!(done.text(), "done");
        assert_eq!(steps, ["1", "2", "3"]);
    });
}

#[test]
fn many_calls_at_once() {
    each(|client, _| async move {
        let mut calls: Vec<_> = (0..20)
            .map(|_| {
                let client = client.clone();
                Box::pin(async move { client.call_tool("steps", &()).await.unwrap().text() })
            })
            .collect();
        for call in &mut calls {
            assert_eq!(call.as_mut().await, "done");
        }
    });
}

#[test]
fn a_closed_client_hears_no_changes() {
    each(|client, _| async move {
        let mut changes = client.changes().await.unwrap();
        client.close().await.unwrap();
        assert!(!matches!(changes.next().await, Some(Update::Tools)));
    });
}

#[test]
fn questions() {
    for revision in [
        Revision::V2025_06_18,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ] {
        with(revision, |client, _| async move {
            let answer = client.call_tool("asks", &()).await.unwrap();
            assert_eq!(answer.text(), "nobody");
        });
    }
}

/// SH-13, SC-12, SC-13
#[test]
fn a_server_that_lets_go_is_polled() {
    with(Revision::V2025_11_25, |client, _| async move {
        let before = Sim.now();
        let answer = client.call_tool("polls", &()).await.unwrap();
        assert_eq!(answer.text(), "true 100");
        let waited = Sim.now().saturating_since(before).as_millis();
        assert!((550..600).contains(&waited), "{waited}");
    });
}

/// SC-12, SH-20: the stream of a call that was cancelled is not asked for again and again.
#[test]
fn a_cancelled_call_leads_to_no_more_requests() {
    for revision in REVISIONS {
        play(async {
            let requests = Arc::new(AtomicU32::new(0));
            let count = Arc::clone(&requests);
            let mut service = server().http().legacy_sse("/sse", "/messages").served();
            let counted = tower::service_fn(move |request: Request<Full<Bytes>>| {
                count.fetch_add(1, Ordering::Relaxed);
                service.call(request)
            });
            let path = match revision {
                Revision::V2024_11_05 => "sse",
                _ => "mcp",
            };
            let client = Client::builder("t", "1")
                .revisions(RevisionSet::of(&[*revision]))
                .connect(
                    HttpConnector::new(Sim, format!("http://localhost/{path}")).through(counted),
                )
                .await
                .unwrap();
            for _ in 0..3 {
                let limit = Duration::from_millis(75);
                let call = client.call_tool("steps", &()).timeout(limit);
                assert!(matches!(call.await, Err(CallError::Timeout)));
            }
            sleep(Duration::from_secs(2)).await;
            let before = requests.load(Ordering::Relaxed);
            sleep(Duration::from_secs(600)).await;
            assert_eq!(requests.load(Ordering::Relaxed), before, "{revision}");
            client.close().await.unwrap();
        });
    }
}

#[test]
fn log_messages() {
    each(|client, _| async move {
        let mut logs = client.logs();
        client.set_log_level(LoggingLevel::Info).await.unwrap();
        client.call_tool("logs", &()).await.unwrap();
        assert_eq!(logs.next().await.unwrap().data.as_raw().as_str(), "1");
    });
}

#[test]
fn changes() {
    each(|client, registry| async move {
        let mut changes = client.changes().await.unwrap();
        let tool = Tool::new("new").handler(says("new"));
        registry.add(tool).unwrap();
        assert_eq!(changes.next().await, Some(Update::Tools));
        assert_eq!(client.call_tool("new", &()).await.unwrap().text(), "new");
    });
}

/// DF-01.
#[test]
fn the_draft_profile() {
    play(async {
        let http = server().draft_profile().http();
        let client = Client::builder("t", "1")
            .revisions(RevisionSet::of(&[Revision::DraftV1]))
            .connect(HttpConnector::new(Sim, "http://localhost/mcp").through(http.served()))
            .await
            .unwrap();
        assert_eq!(client.info().revision, Revision::DraftV1);
        let answer = client.call_tool("hello", &()).await.unwrap();
        assert_eq!(answer.text(), "Hello!");
        client.close().await.unwrap();
    });
}

/// DF-01: one head cannot repeat the methods of several calls.
#[test]
fn a_batch_in_the_draft_profile_is_answered() {
    play(async {
        let http = server().draft_profile().http();
        let client = Client::builder("t", "1")
            .revisions(RevisionSet::of(&[Revision::V2025_03_26]))
            .draft_profile()
            .connect(HttpConnector::new(Sim, "http://localhost/mcp").through(http.served()))
            .await
            .unwrap();
        let calls = ["hello", "steps", "hello"].map(|tool| client.call_tool(tool, &()));
        let results = client.batch(calls).await;
        let texts = results.into_iter().map(|result| result.unwrap().text());
        assert_eq!(Vec::from_iter(texts), ["Hello!", "done", "Hello!"]);
        client.close().await.unwrap();
    });
}

/// CH-05: a client that signs in as another user reads that user's lists, and each of them once.
#[test]
fn a_list_of_one_user_is_not_shown_to_another() {
    play(async {
        let asked = Arc::new(AtomicU32::new(0));
        let counted = Arc::clone(&asked);
        let server = Server::builder("s", "1")
            .cache(Duration::from_secs(60), CacheScope::Public)
            .list_resources(move |cx: Context| {
                counted.fetch_add(1, Ordering::Relaxed);
                async move {
                    let name = cx.principal().map_or("guest", Principal::name);
                    Ok(vec![model::Resource::new(format!("note://{name}"), name)])
                }
            });
        let http = server.http().authenticate(|head: &Parts| {
            let token = head.headers.get("authorization");
            let name = token.and_then(|token| token.to_str().ok()?.strip_prefix("Bearer "));
            let challenge = || AccessError::unauthorized(HeaderValue::from_static("Bearer"));
            ready(name.map(Principal::from).ok_or_else(challenge))
        });
        let client = Client::builder("t", "1")
            .bearer("ada")
            .connect(HttpConnector::new(Sim, "http://localhost/mcp").through(http.served()))
            .await
            .unwrap();
        for (nth, name) in (1..).zip(["ada", "bob", "ada"]) {
            client.set_bearer(name).unwrap();
            for _ in 0..2 {
                let listed = client.resources().all().await.unwrap();
                let uris: Vec<_> = listed.iter().map(|resource| &*resource.uri).collect();
                assert_eq!(uris, [format!("note://{name}")]);
                assert_eq!(asked.load(Ordering::Relaxed), nth);
            }
        }
        client.close().await.unwrap();
    });
}

/// SC-01: each request is a POST of its own.
#[test]
fn a_batch_is_answered() {
    for revision in Revision::ALL {
        with(revision, |client, _| async move {
            let calls = ["hello", "steps", "hello"].map(|tool| client.call_tool(tool, &()));
            let results = client.batch(calls).await;
            let texts = results.into_iter().map(|result| result.unwrap().text());
            assert_eq!(Vec::from_iter(texts), ["Hello!", "done", "Hello!"]);
        });
    }
}

#[test]
fn the_calls_of_a_session_share_a_value() {
    for revision in Revision::ALL {
        with(revision, |client, _| async move {
            let call = || async { client.call_tool("session", &()).await.unwrap().text() };
            let has_id = revision.is_legacy();
            let expected = match revision.is_legacy() {
                true => [0, 1].map(|calls| format!("Some({calls}) {has_id}")),
                false => [(); 2].map(|()| format!("None {has_id}")),
            };
            assert_eq!([call().await, call().await], expected);
        });
    }
}
