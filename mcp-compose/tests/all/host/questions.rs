//! What servers ask, and what they may.

use core::time::Duration;

use mcp_async::model::{
    CreateMessageParams, CreateMessageResult, ElicitResult, IncludeContext, Root, SamplingMessage,
};
use mcp_async::server::{AskError, HandlerError, ServerBuilder};
use mcp_async::{ErrorChain, Revision, RevisionSet, Server, schemars};
use mcp_compose::{HostOutcome, ServerPolicy};

use super::{Notes, builder, start};
use crate::support::{entry, in_each_revision, run};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Sure {
    sure: bool,
}

/// A server that asks a person, the model and for directories.
fn curious() -> ServerBuilder {
    let told = |error: AskError| Ok::<_, HandlerError>(format!("refused: {}", ErrorChain(&error)));
    Server::builder("curious", "1.0")
        .tool("ask", "Asks a person", move |(): (), cx| async move {
            match cx.elicit::<Sure>("sure", "Sure?").await {
                Ok(answer) => Ok(format!("{:?}", answer.accepted().map(|it| it.sure))),
                Err(error) => told(error),
            }
        })
        .tool("think", "Asks the model", move |(): (), cx| async move {
            let params = CreateMessageParams::new(vec![SamplingMessage::user("Hm?")], 10);
            match cx.sample("think", params).await {
                Ok(answer) => Ok(answer.content.text()),
                Err(error) => told(error),
            }
        })
        .tool(
            "look",
            "Asks for directories",
            move |(): (), cx| async move {
                match cx.roots().await {
                    Ok(roots) => Ok(roots.iter().map(|(root, _)| root.uri.clone()).collect()),
                    Err(error) => told(error),
                }
            },
        )
}

#[test]
fn a_question_has_its_server_and_its_call() {
    in_each_revision(|revision| async move {
        let has_forms = RevisionSet::at_least(Revision::V2025_06_18).contains(revision);
        let notes = Notes::default();
        let (asked, sampled, recorded) = (notes.clone(), notes.clone(), notes.clone());
        let host = builder(revision)
            .entry(entry("a", &curious()))
            .entry(entry("b", &curious()))
            .on_elicitation(move |question, cx| {
                let call = cx.call().map(|call| call.name.clone());
                asked.note(format!("{} {call:?} {:?}", cx.server(), question.message()));
                async {
                    Ok(ElicitResult::accept(&std::collections::HashMap::from([(
                        "sure", true,
                    )]))?)
                }
            })
            .on_sampling(move |_, cx| {
                sampled.note(format!(
                    "{} {:?}",
                    cx.server(),
                    cx.call().map(|call| call.method)
                ));
                async { Ok(CreateMessageResult::new("model", "Aha")) }
            })
            .on_roots(|cx| {
                let root = Root::new(format!("file:///of/{}", cx.server()));
                async { Ok(vec![root]) }
            })
            .audit(move |record| {
                if record.method != "tools/call" {
                    recorded.note(format!(
                        "{} {} {:?}",
                        record.server, record.method, record.outcome
                    ));
                }
            });
        let host = start(host).await;
        notes.take();
        if has_forms {
            assert_eq!(
                host.call_tool("b__ask", &()).await.unwrap().text(),
                "Some(true)"
            );
            let expected = [
                "b Some(\"b__ask\") Some(\"Sure?\")",
                "b elicitation/create Result",
            ];
            assert_eq!(notes.take(), expected, "{revision}");
        }
        assert_eq!(host.call_tool("a__think", &()).await.unwrap().text(), "Aha");
        let expected = ["a Some(\"tools/call\")", "a sampling/createMessage Result"];
        assert_eq!(notes.take(), expected, "{revision}");
        assert_eq!(
            host.call_tool("a__look", &()).await.unwrap().text(),
            "file:///of/a"
        );
        assert_eq!(
            host.call_tool("b__look", &()).await.unwrap().text(),
            "file:///of/b"
        );
        assert!(notes.take().contains(&"b roots/list Result".to_owned()));
    });
}

#[test]
fn a_policy_says_what_each_server_may_ask() {
    in_each_revision(|revision| async move {
        let notes = Notes::default();
        let noted = notes.clone();
        let host = builder(revision)
            .entry(entry("none", &curious()))
            .entry(entry("some", &curious()))
            .on_elicitation(|_, _| async { Ok(ElicitResult::decline()) })
            .on_sampling(|_, _| async { Ok(CreateMessageResult::new("model", "Aha")) })
            .policy(|server| match server {
                "none" => ServerPolicy::default()
                    .without_sampling()
                    .without_elicitation(),
                _ => ServerPolicy::default()
                    .sampling(2, Duration::from_secs(60))
                    .roots([Root::new("file:///notes")]),
            })
            .audit(move |record| {
                if record.outcome == HostOutcome::Refused {
                    noted.note(format!("{} {}", record.server, record.method));
                }
            });
        let host = start(host).await;
        let text = async |tool: &'static str| host.call_tool(tool, &()).await.unwrap().text();
        for tool in ["none__ask", "none__think", "none__look"] {
            let said = text(tool).await;
            assert!(said.starts_with("refused: "), "{tool}: {said}");
        }
        assert_eq!(text("some__look").await, "file:///notes");
        assert_eq!(text("some__think").await, "Aha");
        assert_eq!(text("some__think").await, "Aha");
        let third = host.call_tool("some__think", &()).await;
        let said = third.map_or_else(|error| error.to_string(), |result| result.text());
        let limit = "the limit of this host for sampling/createMessage is reached";
        assert!(said.contains(limit), "{said}");
        assert_eq!(notes.take(), ["some sampling/createMessage"]);
    });
}

/// The server asks for the context of all servers.
#[test]
fn no_server_gets_the_context_of_another() {
    run(async {
        let server =
            Server::builder("nosy", "1.0").tool("think", "Asks", |(): (), cx| async move {
                let params = CreateMessageParams {
                    include_context: Some(IncludeContext::AllServers),
                    ..CreateMessageParams::new(vec![SamplingMessage::user("Hm?")], 10)
                };
                Ok(cx.sample("think", params).await?.content.text())
            });
        let host = builder(Revision::V2025_06_18)
            .client(|_, client| client.sampling_context())
            .entry(entry("nosy", &server))
            .entry(entry("trusted", &server))
            .on_sampling(|asked, _| async move {
                let context = asked.include_context.map(|it| it.as_str().to_owned());
                Ok(CreateMessageResult::new(
                    "model",
                    context.unwrap_or_default(),
                ))
            })
            .policy(|server| match server {
                "trusted" => ServerPolicy::default().context_of_others(),
                _ => ServerPolicy::default(),
            });
        let host = start(host).await;
        assert_eq!(
            host.call_tool("nosy__think", &()).await.unwrap().text(),
            "thisServer"
        );
        assert_eq!(
            host.call_tool("trusted__think", &()).await.unwrap().text(),
            "allServers"
        );
    });
}
