//! The state that handlers share, and the work that blocks.

use core::error::Error;
use core::future::Ready;
use core::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};

use mcp_async::Server;
use mcp_async::model::LoggingLevel;
use mcp_async::server::{
    CompletionRequest, Context, HandlerError, Prompt, Registry, Template, Tool, connect, layers,
};
use mcp_proto::Revision;
use mcp_proto::json::RawBuf;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::scripted::{LineClient, text};
use crate::server_typed::support::revisions;
use crate::sim::{Sim, settle};
use crate::texts::{INTERNAL_ERROR, has};

/// Neither cloneable nor in an `Arc`.
#[derive(Default)]
struct Notes(Mutex<Vec<String>>);

/// Whatever there is, it is not needed.
#[derive(Deserialize, JsonSchema)]
struct Any {}

#[derive(Deserialize, JsonSchema)]
struct Note {
    text: String,
}

impl Notes {
    fn all(&self) -> String {
        self.0.lock().unwrap().join(",")
    }

    async fn add(note: Note, cx: Context<Self>) -> Result<(), HandlerError> {
        cx.state().0.lock().unwrap().push(note.text);
        Ok(())
    }

    async fn list(cx: Context<Self>) -> Result<String, HandlerError> {
        Ok(cx.state().all())
    }

    async fn read(_: Any, cx: Context<Self>) -> Result<String, HandlerError> {
        Self::list(cx).await
    }

    async fn complete(
        _: CompletionRequest,
        cx: Context<Self>,
    ) -> Result<Vec<String>, HandlerError> {
        Ok(vec![cx.state().all()])
    }
}

#[test]
fn every_kind_of_handler_reaches_the_state() {
    let builder = Server::builder("demo", "1")
        .tool("before", "", |(): (), cx| async move {
            let () = cx.state();
            Ok("no state")
        })
        .with_state(Notes::default())
        .tool("add", "", Notes::add)
        .resource("notes://all", "all", Notes::list)
        .template("notes://{x}", "one", Notes::read)
        .prompt("all", "", Notes::read)
        .with(
            Prompt::new("some")
                .complete("text", Notes::complete)
                .handler(|note: Note, _| async move { Ok(note.text) }),
        )
        .with(
            Template::new("note:{x}", "x")
                .complete("x", |_, cx: Context<Notes>| async move {
                    Ok(vec![cx.state().all()])
                })
                .raw(|found, cx| async move { Ok(format!("{} {}", found.uri, cx.state().all())) }),
        )
        .method("vendor/all", |_, cx| async move {
            let all = format!(r#"{{"all":"{}"}}"#, cx.state().all());
            Ok(RawBuf::parse(all)?)
        });
    // A clone shares the state.
    let mut other = LineClient::new(&builder.clone(), Revision::V2025_11_25);
    let server = builder.build().unwrap();
    let mut expected = String::new();
    for revision in revisions() {
        let mut wire = LineClient::new(&server, revision);
        let params = format!(r#"{{"name":"add","arguments":{{"text":"{revision}"}}}}"#);
        wire.result("tools/call", &params);
        expected += if expected.is_empty() { "" } else { "," };
        expected += &revision.to_string();
        let reference =
            r#"{"ref":{"type":"ref/prompt","name":"some"},"argument":{"name":"text","value":""}}"#;
        let template = r#"{"ref":{"type":"ref/resource","uri":"note:{x}"},"argument":{"name":"x","value":""}}"#;
        for (method, params) in [
            ("resources/read", r#"{"uri":"notes://all"}"#),
            ("resources/read", r#"{"uri":"notes://one"}"#),
            ("resources/read", r#"{"uri":"note:one"}"#),
            ("prompts/get", r#"{"name":"all"}"#),
            ("completion/complete", reference),
            ("completion/complete", template),
            ("vendor/all", "{}"),
        ] {
            let result = wire.result(method, params);
            assert!(
                result.contains(&expected),
                "{method}: {result} in {revision}"
            );
            assert!(other.result(method, params).contains(&expected));
        }
        has(
            &wire.result("tools/call", r#"{"name":"before"}"#),
            ["no state"],
        );
    }
}

#[test]
fn blocking_work_runs_apart_from_the_connection() {
    let begun = Arc::new(AtomicUsize::new(0));
    let server = Server::builder("demo", "1")
        .with_state(Arc::clone(&begun))
        .tool("counts", "", |(): (), cx| async move {
            let count = cx.blocking(|cx| cx.state().fetch_add(1, Ordering::SeqCst));
            Ok(count.await.to_string())
        })
        .tool("panics", "", |(): (), cx| async move {
            let lost = cx.blocking(|cx| assert!(cx.state().load(Ordering::SeqCst) == 99, "secret"));
            lost.await;
            Ok(())
        })
        .build()
        .unwrap();
    for revision in revisions() {
        begun.store(0, Ordering::SeqCst);
        let begin = |streams| connect(streams, Sim, server.config(), server.service(Sim));
        let mut wire = LineClient::of(begin, revision, "{}");
        let counts = r#"{"name":"counts"}"#;
        let id = wire.send("tools/call", counts);
        assert_eq!(wire.answer(id), None, "it waits for its thread");
        assert_eq!(settle(), 0);
        let answer = wire.answer(id).unwrap();
        assert_eq!(text(&answer, &["result", "content", "0", "text"]), "0");

        // What was cancelled before it began does not begin.
        let id = wire.send("tools/call", counts);
        wire.cancel(id);
        assert_eq!(settle(), 0);
        assert_eq!(begun.load(Ordering::SeqCst), 1);

        let id = wire.send("tools/call", r#"{"name":"panics"}"#);
        wire.settle();
        assert_eq!(settle(), 0);
        let answer = wire.answer(id).unwrap();
        assert!(
            answer.contains("-32603") && !answer.contains("secret"),
            "{answer}"
        );
    }
}

/// Gives what it counts to a tool that it adds while the server runs.
#[derive(Default)]
struct Counter {
    count: AtomicUsize,
    registry: OnceLock<Registry<Self>>,
    alive: Arc<()>,
}

impl Counter {
    /// A tool that counts its calls.
    fn tool(name: &str) -> Tool<Self> {
        Tool::new(name).handler(|(): (), cx: Context<Self>| async move {
            Ok(cx.state().count.fetch_add(1, Ordering::Relaxed).to_string())
        })
    }
}

/// TL-02
#[test]
fn what_is_added_later_reaches_the_state() {
    let server = Server::builder("demo", "1")
        .with_state(Counter::default())
        .change_notifications()
        .tool("grow", "", |(): (), cx| async move {
            cx.registry().add(Counter::tool("inner"))?;
            let registry = cx.state().registry.get_or_init(|| cx.registry());
            registry.add(Counter::tool("kept"))?;
            Ok("grown")
        })
        .build()
        .unwrap();
    server.registry().add(Counter::tool("outer")).unwrap();
    let mut wire = LineClient::new(&server, Revision::V2026_07_28);
    let mut call = |name: &str| {
        let result = wire.result("tools/call", &format!(r#"{{"name":"{name}"}}"#));
        text(&result, &["content", "0", "text"])
    };
    assert_eq!(call("grow"), "grown");
    assert_eq!(["outer", "inner", "kept"].map(call), ["0", "1", "2"]);
}

/// A registry keeps neither the server nor its state; the server keeps both for it.
#[test]
fn a_state_may_hold_the_registry_of_its_server() {
    let counter = Counter::default();
    let alive = Arc::clone(&counter.alive);
    let server = Server::builder("demo", "1")
        .with_state(counter)
        .change_notifications()
        .tool("hold", "", |(): (), cx| async move {
            cx.state().registry.get_or_init(|| cx.registry());
            Ok("held")
        })
        .build()
        .unwrap();
    let registry = server.registry();
    let mut wire = LineClient::new(&server, Revision::V2026_07_28);
    wire.result("tools/call", r#"{"name":"hold"}"#);
    drop(server);
    assert!(registry.remove_tool("hold"));
    registry.add(Counter::tool("count")).unwrap();
    drop(wire);
    let error = registry.add(Counter::tool("late")).unwrap_err();
    assert!(error.to_string().contains("the server is gone"), "{error}");
    assert_eq!(Arc::strong_count(&alive), 1);
}

/// LG-08: the client reads nothing of an error that `?` converts, in the answer or in a log message,
/// unless the handler makes it visible.
#[test]
fn every_error_converts_and_none_is_told() {
    type Boxed = Box<dyn Error + Send + Sync>;

    fn fails() -> Result<(), Boxed> {
        Err("SECRET".into())
    }

    let server = Server::builder("demo", "1")
        .logging()
        .tool("boxed", "", |(): (), _| async { Ok(fails()?) })
        .tool("text", "", |(): (), _| async {
            Err::<(), _>(String::from("SECRET"))?;
            Ok(())
        })
        .tool("typed", "", |(): (), _| async {
            Ok("SECRET".parse::<u8>()?.to_string())
        })
        .with(
            Tool::new("visible")
                .handler(|(): (), _| async { fails().map_err(HandlerError::visible) }),
        )
        .tool("logs", "", |(): (), cx: Context| async move {
            cx.log(LoggingLevel::Debug, &"begun").await;
            Ok(fails()?)
        });
    for revision in revisions() {
        let mut wire = LineClient::new(&server, revision);
        let meta = match revision.is_modern() {
            true => r#","_meta":{"io.modelcontextprotocol/logLevel":"debug"}"#,
            false => {
                wire.result("logging/setLevel", r#"{"level":"debug"}"#);
                ""
            }
        };
        for (tool, logged) in [("boxed", 0), ("text", 0), ("typed", 0), ("logs", 1)] {
            let error = wire.error("tools/call", &format!(r#"{{"name":"{tool}"{meta}}}"#));
            assert_eq!(error, (-32603, INTERNAL_ERROR.into()), "{tool}");
            let heard = wire.hear();
            assert_eq!(heard.len(), logged, "{heard:?}");
            assert!(heard.iter().all(|line| !line.contains("SECRET")));
        }
        has(
            &wire.result("tools/call", r#"{"name":"visible"}"#),
            ["SECRET", r#""isError":true"#],
        );
    }
}

/// A number that is dropped with its session.
#[derive(Default)]
struct Count(AtomicUsize, Arc<()>);

#[test]
fn the_calls_of_a_session_share_a_value_and_other_sessions_have_their_own() {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&kept);
    let server = Server::builder("demo", "1").tool("count", "", move |(): (), cx: Context| {
        let notes = Arc::clone(&notes);
        async move {
            let Some(count) = cx.session_state::<Count>() else {
                return Ok("none".to_owned());
            };
            notes.lock().unwrap().push(Arc::downgrade(&count.1));
            Ok(count.0.fetch_add(1, Ordering::Relaxed).to_string())
        }
    });
    for revision in revisions() {
        let count = |wire: &mut LineClient| {
            let answer = wire.ask("tools/call", r#"{"name":"count"}"#);
            text(&answer, &["result", "content", "0", "text"])
        };
        let (mut one, mut other) = (
            LineClient::new(&server, revision),
            LineClient::new(&server, revision),
        );
        let counted = [count(&mut one), count(&mut one), count(&mut other)];
        if revision.is_modern() {
            assert_eq!(counted, ["none"; 3]);
            continue;
        }
        assert_eq!(counted, ["0", "1", "0"], "{revision}");
        drop((one, other));
        settle();
        assert!(all_dropped(&kept), "{revision}");
    }
}

fn all_dropped(kept: &Mutex<Vec<Weak<()>>>) -> bool {
    let kept = kept.lock().unwrap();
    kept.iter().all(|value| value.strong_count() == 0)
}

/// A value of a session may hold the peer of the session, through which it reports. It is dropped all the same.
#[derive(Default)]
struct Reports(Mutex<Option<mcp_async::server::Peer>>, Arc<()>);

#[test]
fn a_value_of_a_session_that_has_the_peer_ends_with_the_session() {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let notes = Arc::clone(&kept);
    let server = Server::builder("demo", "1").tool("keep", "", move |(): (), cx: Context| {
        let notes = Arc::clone(&notes);
        async move {
            if let Some(reports) = cx.session_state::<Reports>() {
                *reports.0.lock().unwrap() = Some(cx.peer());
                notes.lock().unwrap().push(Arc::downgrade(&reports.1));
            }
            Ok("kept")
        }
    });
    for revision in revisions().filter(|it| it.is_legacy()) {
        let mut wire = LineClient::new(&server, revision);
        let _ = wire.ask("tools/call", r#"{"name":"keep"}"#);
        drop(wire);
        settle();
        assert!(all_dropped(&kept), "{revision}");
    }
}

/// A type that is described like `()` is decoded like it, or refused when the server is built.
#[test]
fn a_type_with_the_schema_of_no_arguments_takes_none() {
    let built = Server::builder("demo", "1")
        .tool("boxed", "", |_: Box<()>, _: Context| async { Ok("boxed") })
        .build();
    let Ok(server) = built else { return };
    let mut wire = LineClient::new(&server, mcp_proto::Revision::V2025_11_25);
    has(
        &wire.ask("tools/call", r#"{"name":"boxed","arguments":{}}"#),
        [r#""text":"boxed""#],
    );
}

/// Also before a client that may be notified of changes is known, and on a transport of the application.
#[test]
fn a_handler_has_the_registry_of_its_server() {
    let add = |(): (), cx: Context| async move {
        let tool = Tool::new("added").handler(|(): (), _| async { Ok(()) });
        cx.registry().add(tool)?;
        Ok("added")
    };
    for revision in revisions() {
        let server = Server::builder("demo", "1").tool("add", "Adds", add);
        let server = server.change_notifications().build().unwrap();
        let begin = |streams| connect(streams, Sim, server.config(), server.service(Sim));
        let mut wire = LineClient::of(begin, revision, "{}");
        for tool in ["add", "added"] {
            let id = wire.send("tools/call", &format!(r#"{{"name":"{tool}"}}"#));
            let answer = wire.answer(id).unwrap();
            assert!(
                answer.contains("result") && !answer.contains("isError"),
                "{answer} in {revision}"
            );
        }
    }
}

/// The values that a layer has added to a call do not stay with the connection.
#[test]
fn a_call_that_panics_leaves_nothing() {
    let added = Arc::new(());
    let kept = Arc::clone(&added);
    let adding = layers::around(move |mut call, service| {
        call.set_extension(Arc::clone(&kept));
        service.call(call)
    });
    let panics = |(): (), _: Context| -> Ready<Result<(), HandlerError>> { panic!("secret") };
    let server = Server::builder("demo", "1")
        .tool("panics", "Panics", panics)
        .layer(adding);
    let server = server.build().unwrap();
    for revision in revisions() {
        let mut wire = LineClient::new(&server, revision);
        let before = Arc::strong_count(&added);
        let id = wire.send("tools/call", r#"{"name":"panics"}"#);
        assert!(wire.answer(id).unwrap().contains("-32603"));
        assert_eq!(Arc::strong_count(&added), before, "{revision}");
    }
}
