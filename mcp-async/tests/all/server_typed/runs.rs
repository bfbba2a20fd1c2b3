//! How handlers run: in tasks of their own, with what they require, behind layers, and as
//! methods of one's own.

use core::future::pending;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::Arc;

use mcp_async::server::layers::{Timeout, around};
use mcp_async::server::{Call, Context, Service, Tool, ToolCall, connect};
use mcp_async::{ErrorReply, Server};
use mcp_proto::Revision;
use mcp_proto::json::RawBuf;
use mcp_proto::model::ClientFeatures;
use mcp_proto::revision::Elicitation;
use mcp_proto::rpc::Method;
use serde::Deserialize;

use crate::scripted::{LineClient, member, text};
use crate::server_typed::support::{revisions, says};
use crate::sim::{Sim, end, settle};
use crate::texts::INTERNAL_ERROR;

#[test]
fn a_spawned_handler_lives_and_ends_with_its_call() {
    struct Guard(Arc<AtomicUsize>);
    impl Drop for Guard {
        fn drop(&mut self) {
            self.0.fetch_add(1, Ordering::SeqCst);
        }
    }
    let dropped = Arc::new(AtomicUsize::new(0));
    let watch = Arc::clone(&dropped);
    let server = Server::builder("demo", "1")
        .with(Tool::new("quick").spawned().handler(says("done")))
        .with(Tool::new("never").spawned().handler(move |(): (), _| {
            let guard = Guard(Arc::clone(&watch));
            async move {
                let _guard = guard;
                pending::<()>().await;
                Ok(())
            }
        }))
        .with(Tool::new("panics").spawned().handler(|(): (), _| async {
            if true {
                panic!("secret");
            }
            Ok(())
        }));
    let server = server.build().unwrap();
    for revision in revisions() {
        let begin = |streams| connect(streams, Sim, server.config(), server.service(Sim));
        let mut wire = LineClient::of(begin, revision, "{}");
        let call = |name: &str| format!(r#"{{"name":"{name}"}}"#);
        let id = wire.send("tools/call", &call("quick"));
        assert_eq!(wire.answer(id), None, "it waits for its task");
        assert_eq!(settle(), 0);
        assert!(wire.answer(id).unwrap().contains("done"));

        let id = wire.send("tools/call", &call("panics"));
        assert_eq!(settle(), 0);
        let answer = wire.answer(id).unwrap();
        assert_eq!(member(&answer, &["error", "code"]), "-32603");
        assert!(!answer.contains("secret"));

        let before = dropped.load(Ordering::SeqCst);
        let id = wire.send("tools/call", &call("never"));
        assert_eq!(settle(), 1);
        wire.cancel(id);
        assert_eq!(dropped.load(Ordering::SeqCst), before);
        assert_eq!(settle(), 0, "its task has ended");
        assert_eq!(dropped.load(Ordering::SeqCst), before + 1);
        assert_eq!(wire.answer(id), None);

        // A runtime that is over drops its tasks.
        let id = wire.send("tools/call", &call("never"));
        end();
        let answer = wire.answer(id).unwrap();
        assert_eq!(member(&answer, &["error", "code"]), "-32603");
    }
}

/// PG-06: many reports become a few, the last of them before the answer, and one that stays the
/// newest for a while is sent while the call still runs.
#[test]
fn progress_is_rate_limited() {
    let server = Server::builder("demo", "1")
        .tool("loops", "", |(): (), cx: Context| async move {
            for step in 0..10_000 {
                cx.progress(f64::from(step)).message("step").await;
            }
            Ok("done")
        })
        .tool("stays", "", |(): (), cx: Context| async move {
            for step in 0..50 {
                cx.progress(f64::from(step)).await;
            }
            pending::<()>().await;
            Ok("never")
        });
    let told = |wire: &mut LineClient| {
        let heard = wire.hear();
        let progress = heard
            .iter()
            .map(|line| member(line, &["params", "progress"]));
        progress.collect::<Vec<_>>()
    };
    let call = |name| format!(r#"{{"name":"{name}","_meta":{{"progressToken":1}}}}"#);
    for revision in revisions() {
        let mut wire = LineClient::new(&server, revision);
        let id = wire.send("tools/call", &call("loops"));
        let lines = wire.hear();
        assert_eq!(lines.len(), 34, "{revision}");
        assert_eq!(member(&lines[32], &["params", "progress"]), "9999");
        assert_eq!(member(&lines[33], &["id"]), id.to_string());

        wire.send("tools/call", &call("stays"));
        let first = told(&mut wire);
        assert_eq!(first.len(), 32, "{revision}");
        wire.advance(Duration::from_millis(99));
        assert_eq!(told(&mut wire), [] as [&str; 0]);
        wire.advance(Duration::from_millis(1));
        assert_eq!(told(&mut wire), ["49"], "{revision}");
    }
}

#[test]
fn what_a_tool_requires_is_asked_of_the_client_first() {
    let ran = Arc::new(AtomicUsize::new(0));
    let watch = Arc::clone(&ran);
    let server = Server::builder("demo", "1").with(
        Tool::new("survey")
            .requires(ClientFeatures::ELICITATION_FORM)
            .requires(ClientFeatures::ROOTS)
            .handler(move |(): (), _| {
                watch.fetch_add(1, Ordering::SeqCst);
                async { Ok(()) }
            }),
    );
    for revision in revisions() {
        let call = r#"{"name":"survey"}"#;
        let mut wire = LineClient::declaring(&server, revision, r#"{"roots":{}}"#);
        let answer = wire.ask("tools/call", call);
        let code = member(&answer, &["error", "code"]);
        let said = text(&answer, &["error", "message"]);
        // LC-12: the code of its own is of 2026-07-28.
        assert_eq!(code == "-32021", revision.is_modern(), "{revision}");
        assert!(revision.is_modern() || code == "-32603", "{code}");
        let expected = match revision.elicitation() {
            Elicitation::Absent => {
                format!("Revision {revision} has no client capability elicitation.form")
            }
            Elicitation::Form => "Missing required client capability: elicitation".into(),
            _ => "Missing required client capability: elicitation.form".into(),
        };
        assert_eq!(said, expected, "{revision}");
        let data = member(&answer, &["error", "data", "requiredCapabilities"]);
        assert!(data.is_empty() || data == r#"{"elicitation":{"form":{}}}"#);
        assert_eq!(ran.load(Ordering::SeqCst), 0);
    }
    let all = r#"{"roots":{},"elicitation":{}}"#;
    let mut wire = LineClient::declaring(&server, Revision::V2026_07_28, all);
    wire.result("tools/call", r#"{"name":"survey"}"#);
    assert_eq!(ran.load(Ordering::SeqCst), 1);
}

#[test]
fn a_raw_tool_borrows_from_its_call() {
    #[derive(Deserialize)]
    struct Search<'a> {
        word: &'a str,
        #[serde(borrow)]
        more: Option<std::borrow::Cow<'a, str>>,
    }
    let server = Server::builder("demo", "1").with(Tool::new("search").raw(
        |call: ToolCall, _| async move {
            let search: Search<'_> = call.decode()?;
            Ok(format!("{} {:?}", search.word, search.more))
        },
    ));
    for revision in revisions() {
        let mut wire = LineClient::new(&server, revision);
        let params = r#"{"name":"search","arguments":{"word":"a","more":"\u0062"}}"#;
        let result = wire.result("tools/call", params);
        assert_eq!(text(&result, &["content", "0", "text"]), "a Some(\"b\")");
        let params = r#"{"name":"search","arguments":{"word":1}}"#;
        if revision.reports_bad_arguments_as_result() {
            assert!(wire.result("tools/call", params).contains("word: "));
        } else {
            let (code, message) = wire.error("tools/call", params);
            assert!(code == -32602 && message.contains("word: "), "{message}");
        }
    }
}

#[test]
fn methods_of_ones_own_are_served_beside_the_others() {
    let server = Server::builder("demo", "1")
        .method(
            "example.com/echo",
            |params: RawBuf, _: Context| async move { Ok(params) },
        )
        .method("example.com/fail", |_: RawBuf, _: Context| async {
            let number: u8 = "secret".parse()?;
            Ok(vec![number])
        })
        .method("example.com/array", |_: RawBuf, _: Context| async {
            Ok([1, 2])
        });
    for revision in revisions() {
        let mut wire = LineClient::new(&server, revision);
        let result = wire.result("example.com/echo", r#"{"a":1}"#);
        assert_eq!(member(&result, &["a"]), "1");
        for method in ["example.com/fail", "example.com/array"] {
            let error = wire.error(method, "{}");
            assert_eq!(error, (-32603, INTERNAL_ERROR.into()), "{method}");
        }
        assert_eq!(wire.error("example.com/none", "{}").0, -32601);
    }
}

#[test]
fn layers_are_around_every_connection() {
    let seen = Arc::new(AtomicUsize::new(0));
    let watch = Arc::clone(&seen);
    let server = Server::builder("demo", "1")
        .tool("slow", "Takes its time", |(): (), _: Context| async {
            pending::<()>().await;
            Ok(())
        })
        .layer(Timeout::new(Duration::from_secs(5)))
        .layer(around(move |call: Call<'_>, service: &dyn Service| {
            watch.fetch_add(1, Ordering::SeqCst);
            if call.method == Method::ToolsList {
                return call.refuse(ErrorReply::new(7, "not here"));
            }
            service.call(call)
        }));
    for (round, revision) in revisions().enumerate() {
        let mut wire = LineClient::new(&server, revision);
        assert_eq!(wire.error("tools/list", "{}"), (7, "not here".into()));
        let id = wire.send("tools/call", r#"{"name":"slow"}"#);
        assert_eq!(wire.answer(id), None);
        wire.advance(Duration::from_secs(5));
        let answer = wire.answer(id).expect("its time is over");
        assert_eq!(member(&answer, &["error", "code"]), "-32603");
        assert_eq!(seen.load(Ordering::SeqCst), 2 * (round + 1));
    }
}

#[test]
fn a_cap_holds_over_all_connections() {
    let server = Server::builder("demo", "1")
        .tool("wait", "Waits", |(): (), _: Context| async {
            pending::<()>().await;
            Ok(())
        })
        .tool("quick", "Does not", |(): (), _: Context| async { Ok(()) })
        .concurrency(1);
    for revision in revisions() {
        let mut one = LineClient::new(&server, revision);
        let mut other = LineClient::new(&server, revision);
        let waiting = one.send("tools/call", r#"{"name":"wait"}"#);
        let id = other.send("tools/call", r#"{"name":"quick"}"#);
        assert_eq!(other.answer(id), None);
        one.cancel(waiting);
        assert!(other.answer(id).is_some());
    }
}
