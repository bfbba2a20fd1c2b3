//! Calls, one by one, in every revision.

use core::future::IntoFuture as _;
use core::time::Duration;

use mcp_async::client::CallError;
use mcp_async::model::{Icon, LoggingLevel, Reference};
use mcp_async::server::Context;
use mcp_async::{Server, in_memory};
use mcp_proto::json::RawBuf;
use mcp_proto::revision::StructuredContent;
use mcp_proto::{Revision, RevisionSet};

use crate::client_typed::support::{
    Add, Sum, advance, each, join, join_service, name, only, poll_once, run, text,
};
use crate::scripted::line_server;
use crate::server_typed::support::Offer as _;
use crate::settings::limits;
use crate::sim::{Sim, begin, settle};

#[test]
fn a_tool_is_called() {
    each(|demo, revision| async move {
        let client = join(&demo.server, revision).await;
        assert_eq!(client.info().revision, revision);
        let server = client.info().implementation();
        assert_eq!(server.unwrap().name, "demo", "{revision}");

        let result = client.call_tool("echo", &text("hi")).await.unwrap();
        assert_eq!((result.text().as_str(), result.is_error), ("hi", false));
        // Failing is a result, for a model to read.
        let result = client.call_tool("fails", &()).await.unwrap();
        assert_eq!((result.text().as_str(), result.is_error), ("no luck", true));
        // What the server does not know is an error.
        let error = client.call_tool("unknown", &()).await.unwrap_err();
        assert!(matches!(error, CallError::Server(error) if error.code == -32602));
    });
}

/// The members that a revision lacks are left out.
#[test]
fn a_server_sees_the_description_of_a_client() {
    each(|_, revision| async move {
        let who = |(): (), cx: Context| async move {
            let info = cx.raw_client_info().map(|info| info.as_raw().as_str());
            Ok(info.unwrap_or_default().to_owned())
        };
        let server = Server::builder("s", "1")
            .revisions(RevisionSet::of(&[revision]))
            .tool("who", "Returns the client", who)
            .build()
            .unwrap();
        let client = only(revision)
            .title("Desk")
            .description("A \"desk\"")
            .website("https://example.com/")
            .icon(Icon::new("data:,"))
            .connect(in_memory(Sim.into(), &server));
        let client = client.await.unwrap();
        let seen = client.call_tool("who", &()).await.unwrap();
        let described = match revision {
            Revision::V2024_11_05 | Revision::V2025_03_26 => "",
            Revision::V2025_06_18 => r#","title":"Desk""#,
            _ => {
                r#","title":"Desk","description":"A \"desk\"","websiteUrl":"https://example.com/","icons":[{"src":"data:,"}]"#
            }
        };
        let expected = format!(r#"{{"name":"test","version":"0"{described}}}"#);
        assert_eq!(seen.text(), expected, "{revision}");
    });
}

#[test]
fn structured_content_is_decoded() {
    each(|demo, revision| async move {
        let client = join(&demo.server, revision).await;
        let sum = client.call_tool_as("add", &Add { a: 1, b: 2 }).await;
        match (revision.structured_content(), sum) {
            (StructuredContent::Absent, Err(CallError::Output(_))) => {}
            (_, Ok(Sum { sum })) => assert_eq!(sum, 3),
            (_, other) => panic!("{revision}: {other:?}"),
        }
        let failed = client.call_tool_as::<Sum>("fails", &()).await;
        assert!(matches!(failed, Err(CallError::Tool(result)) if result.text() == "no luck"));
        let other = client.call_tool_as::<String>("add", &Add { a: 1, b: 2 });
        let other = other.await.unwrap_err();
        assert!(matches!(other, CallError::Decode(_) | CallError::Output(_)));
    });
}

#[test]
fn progress_reaches_the_closure_in_order() {
    each(|demo, revision| async move {
        let client = join(&demo.server, revision).await;
        let mut steps = Vec::new();
        let result = client
            .call_tool("steps", &())
            .on_progress(|step| {
                steps.push((step.fraction(), step.message.map(str::to_owned)));
            })
            .await;
        assert_eq!(result.unwrap().text(), "done");
        let message = revision.has_progress_message().then(|| "almost".to_owned());
        let expected = [(Some(0.25), None), (Some(0.5), message)];
        assert_eq!(steps, expected, "{revision}");
    });
}

#[test]
fn a_dropped_call_is_cancelled() {
    each(|demo, revision| async move {
        let client = join(&demo.server, revision).await;
        let never = begin(client.call_tool("never", &()));
        client.ping().await.unwrap();
        assert_eq!(demo.seen.take(), [""; 0]);
        drop(never);
        client.ping().await.unwrap();
        assert_eq!(demo.seen.take(), ["dropped"], "{revision}");
    });
}

/// TL-14.
#[test]
fn a_call_that_takes_too_long_expires() {
    each(|demo, revision| async move {
        let client = join(&demo.server, revision).await;
        let never = client
            .call_tool("never", &())
            .timeout(Duration::from_secs(5));
        assert!(matches!(never.await, Err(CallError::Timeout)));
        client.ping().await.unwrap();
        assert_eq!(demo.seen.take(), ["dropped"], "{revision}");
    });
}

/// CP-05.
#[test]
fn resources_prompts_and_completions_are_asked_for() {
    each(|demo, revision| async move {
        let client = join(&demo.server, revision).await;
        let read = client.read_resource("note://7").await.unwrap();
        assert_eq!(read.text().as_deref(), Some("note 7"));
        let missing = client.read_resource("note://10").await.unwrap_err();
        let code = revision.resource_not_found_code();
        assert!(matches!(missing, CallError::Server(error) if error.code == code));

        let prompt = client.get_prompt("greet", &name("Ada")).await.unwrap();
        assert_eq!(prompt.messages.len(), 1);
        let error = client.get_prompt("greet", &()).await.unwrap_err();
        assert!(matches!(error, CallError::Server(error) if error.code == -32602));

        let greet = Reference::prompt("greet");
        let names = client.complete(&greet, "name", "Ad").await.unwrap();
        assert_eq!(names.values, ["Ada", "Adele"]);
        let names = client.complete(&greet, "name", "B");
        let names = names.context(&[("title", "Sir \"B\"")]).await.unwrap();
        assert_eq!(names.values, ["Bob", "Sir \"B\""], "{revision}");

        let raw: RawBuf = client.request("tools/list", &1).await.unwrap_or_default();
        assert!(raw.as_raw().is_null(), "parameters are an object");
        let raw: RawBuf = client.request("tools/list", &()).await.unwrap();
        assert!(raw.as_raw().object().unwrap().get("tools").is_some());
        let nothing: Result<(), _> = client.request("tools/list", &()).await;
        nothing.expect("of an object nothing may matter");
    });
}

/// LC-17.
#[test]
fn what_is_not_declared_is_refused_here() {
    for revision in Revision::ALL {
        run(async {
            let server = mcp_async::Server::builder("empty", "1.0")
                .revisions(RevisionSet::of(&Revision::ALL));
            let client = join(&server, revision).await;
            let check = |error: CallError, name| {
                assert!(
                    matches!(error, CallError::MissingCapability(it) if it == name),
                    "{error:?}"
                );
            };
            check(client.call_tool("a", &()).await.unwrap_err(), "tools");
            check(client.tools().all().await.unwrap_err(), "tools");
            check(client.read_resource("a").await.unwrap_err(), "resources");
            check(client.get_prompt("a", &()).await.unwrap_err(), "prompts");
            client.ping().await.unwrap();
            if revision.is_legacy() {
                let error = client.set_log_level(LoggingLevel::Info).await.unwrap_err();
                check(error, "logging");
                let error = client.subscribe("a").await.unwrap_err();
                check(error, "resources.subscribe");
            } else {
                client.set_log_level(LoggingLevel::Info).await.unwrap();
            }
        });
    }
}

/// LC-20.
#[test]
fn the_end_of_a_client_ends_its_calls() {
    each(|demo, revision| async move {
        let client = only(revision)
            .connect(in_memory(Sim.into(), &demo.server.server()))
            .await
            .unwrap();
        let other = client.clone();
        let never = begin(other.call_tool("never", &()));
        settle();
        assert_eq!(client.close().await.unwrap(), None);
        assert!(client.is_closed() && other.is_closed());
        assert!(matches!(never.await, Err(CallError::Closed)));
        assert!(matches!(other.ping().await, Err(CallError::Closed)));
        assert!(other.logs().next().await.is_none());
        // The server gives its handlers some time to finish.
        advance(Duration::from_secs(60));
        assert_eq!(demo.seen.take(), ["dropped"]);
    });
}

/// TL-10: what a listed tool promises is checked, what an unlisted one does is not.
#[test]
fn structured_content_is_checked_against_the_listed_schema() {
    let service = mcp_async::server::service_fn(|call| {
        let list = concat!(
            r#"{"tools":[{"name":"sum","inputSchema":{"type":"object"},"outputSchema":"#,
            r#"{"type":"object","properties":{"sum":{"type":"integer"}}}}]}"#
        );
        let lists = call.method == mcp_proto::rpc::Method::ToolsList;
        let lie = r#"{"content":[],"structuredContent":{"sum":"three"}}"#;
        call.ready(Ok(RawBuf::parse(if lists { list } else { lie }).unwrap()))
    });
    run(async {
        let client = join_service(service, Revision::V2025_11_25).await;
        client.call_tool("sum", &()).await.unwrap();
        client.tools().all().await.unwrap();
        let lie = client.call_tool("sum", &()).await;
        let Err(CallError::Output(why)) = lie else {
            panic!("{lie:?}");
        };
        assert!(why.starts_with("sum: "), "{why}");
        client.call_tool("unlisted", &()).await.unwrap();
    });
}

/// Those that were sent, and those that wait for room.
#[test]
fn calls_to_a_server_that_reads_nothing_end_in_time() {
    for revision in [
        Revision::V2025_03_26,
        Revision::V2025_11_25,
        Revision::V2026_07_28,
    ] {
        for timeout in [None, Some(Duration::from_secs(5))] {
            let builder = only(revision).limits(limits(|it| it.output = 4096));
            let (client, _server) = line_server::connect(builder, revision, r#"{"tools":{}}"#);
            let long = "x".repeat(1500);
            let long = text(&long);
            // The pipe takes a megabyte.
            let mut calls: Vec<_> = (0..1000)
                .map(|_| {
                    let call = client.call_tool("echo", &long);
                    Box::pin(match timeout {
                        Some(timeout) => call.timeout(timeout).into_future(),
                        None => call.into_future(),
                    })
                })
                .collect();
            for call in &mut calls {
                assert!(poll_once(call.as_mut()).is_pending());
            }
            advance(timeout.unwrap_or(Duration::from_secs(60)));
            let batched = client.call_tool("echo", &long);
            let batch = client.batch([match timeout {
                Some(timeout) => batched.timeout(timeout),
                None => batched,
            }]);
            let results = run(batch);
            assert!(
                matches!(results[0], Err(CallError::Timeout)),
                "{revision} {results:?}"
            );
            for call in calls {
                let ended = run(call);
                assert!(
                    matches!(ended, Err(CallError::Timeout)),
                    "{revision} {ended:?}"
                );
            }
        }
    }
}
