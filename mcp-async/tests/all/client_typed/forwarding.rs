//! A server that forwards the calls of its clients to another server.

use mcp_async::client::{InputAnswers, RoundResult};
use mcp_async::json::RawBuf;
use mcp_async::model::{CallToolResult, Content, ElicitResult};
use mcp_async::server::{Context, Forwarded, HandlerError, Json, ServerBuilder, Tool, ToolCall};
use mcp_async::{Client, Method, Server};
use mcp_proto::Revision;
use mcp_proto::revision::{Elicitation, StructuredContent};

use super::support::{join, only, run};
use crate::server_typed::support::revisions;
use crate::sim::{Sim, end, settle};

/// Forwards all tools of the server at the other end of the client.
async fn forwarding(client: &Client) -> ServerBuilder {
    let mut server = Server::builder("front", "1");
    for listed in client.tools().all().await.expect("the tools") {
        let (client, name) = (client.clone(), listed.name.clone());
        let tool = Tool::of(listed).raw(move |call: ToolCall, cx: Context| {
            let (client, name) = (client.clone(), name.clone());
            async move { forward(&client, &name, &call, &cx).await }
        });
        server = server.with(tool);
    }
    server
}

/// Forwards one call; the questions of the other server go to the caller.
async fn forward(
    client: &Client,
    name: &str,
    call: &ToolCall,
    cx: &Context,
) -> Result<Forwarded, HandlerError> {
    let revision = client.info().revision;
    let (mut answers, mut asked): (InputAnswers, Option<(RawBuf, Option<RawBuf>)>) =
        (InputAnswers::default(), cx.request_state().value("round")?);
    loop {
        if let Some((requests, state)) = asked.take() {
            let mut responses = std::collections::BTreeMap::new();
            for (key, question) in requests.as_raw().object().unwrap_or_default().members() {
                let params = question
                    .object()
                    .and_then(|question| question.get("params"))
                    .unwrap_or_default();
                let key = key.to_cow().into_owned();
                let answer = cx
                    .forward_question(&key, Method::ElicitationCreate, params)
                    .await?;
                responses.insert(key, answer);
            }
            answers = InputAnswers {
                responses: Some(RawBuf::encode(&responses)?),
                state,
            };
        }
        match client
            .call_tool(name, &call.arguments)
            .one_round(answers)
            .await?
        {
            RoundResult::Result(result) => return Ok(Forwarded::new(result, revision)),
            RoundResult::Input(questions) => {
                let round = (questions.requests, questions.state);
                cx.request_state().set("round", &round)?;
                asked = Some(round);
                answers = InputAnswers::default();
            }
        }
    }
}

/// The result of a tool as this caller receives it.
async fn raw(server: &ServerBuilder, caller: Revision, tool: &str) -> String {
    let client = join(server, caller).await;
    let result = client.call_tool(tool, &()).raw().await.expect("a result");
    result.as_raw().as_str().to_owned()
}

/// A number that no float holds, members in no order, and whatever a client does not know.
const EXACT: &str = r#"{"zebra":9007199254740993,"ant":1.10}"#;

fn exact() -> ServerBuilder {
    Server::builder("back", "1").tool("exact", "Exact", |(): (), _| async {
        let content = Some(RawBuf::parse(EXACT)?);
        Ok(CallToolResult {
            structured_content: content,
            ..CallToolResult::default()
        })
    })
}

#[test]
fn results_are_forwarded_byte_for_byte_to_callers_of_every_revision() {
    for upstream in revisions() {
        for caller in revisions() {
            run(async {
                let client = join(&exact(), upstream).await;
                let front = forwarding(&client).await;
                let answer = raw(&front, caller, "exact").await;
                let has =
                    |revision: Revision| revision.structured_content() != StructuredContent::Absent;
                let has_structured = has(upstream) && has(caller);
                assert_eq!(
                    answer.contains(EXACT),
                    has_structured,
                    "{upstream} {caller}: {answer}"
                );
                assert!(!answer.contains("\"back\""), "{answer}");
                assert_eq!(answer.contains("\"front\""), caller.is_modern(), "{answer}");
                assert_eq!(
                    answer.contains("resultType"),
                    caller.is_modern(),
                    "{answer}"
                );
            });
            settle();
            end();
        }
    }
}

#[test]
fn an_older_caller_is_sent_what_its_revision_has() {
    run(async {
        let back = Server::builder("back", "1").tool("both", "Both", |(): (), _| async {
            Ok(vec![
                Content::text("seen"),
                Content::audio(b"beep", "audio/wav"),
            ])
        });
        let client = join(&back, Revision::V2026_07_28).await;
        let front = forwarding(&client).await;
        for caller in revisions() {
            let answer = raw(&front, caller, "both").await;
            assert!(answer.contains("seen"), "{answer}");
            assert_eq!(
                answer.contains("\"type\":\"audio\""),
                caller != Revision::V2024_11_05,
                "{caller}: {answer}"
            );
        }
    });
    settle();
    end();
}

/// The other server enforces its schema; the one in front only lists it.
#[test]
fn a_listed_schema_is_published_as_it_is_and_enforced_by_the_other_server() {
    const SCHEMA: &str =
        r#"{"type":"object","properties":{"n":{"type":"integer","not":{"const":3}}}}"#;
    run(async {
        let mut listed = mcp_async::model::Tool::new("count", RawBuf::parse(SCHEMA).unwrap());
        listed.description = Some("Counts".to_owned());
        let tool = Tool::of(listed).raw(|call: ToolCall, _| async move {
            Ok(call.arguments.as_raw().as_str().to_owned())
        });
        let client = join(
            &Server::builder("front", "1").with(tool),
            Revision::V2026_07_28,
        )
        .await;
        let tools = client.tools().all().await.unwrap();
        assert_eq!(tools[0].input_schema.as_raw().as_str(), SCHEMA);
        assert_eq!(tools[0].description.as_deref(), Some("Counts"));
        let told = client
            .call_tool("count", &serde_json::json!({"n": 3}))
            .await
            .unwrap();
        assert_eq!(told.text(), r#"{"n":3}"#);
    });
    settle();
    end();
}

#[derive(serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
struct Name {
    name: String,
}

fn curious() -> ServerBuilder {
    Server::builder("back", "1").tool("greet", "Greets", |(): (), cx: Context| async move {
        let first = cx.elicit::<Name>("first", "First name?").await?.accepted();
        let last = cx.elicit::<Name>("last", "Last name?").await?.accepted();
        let [first, last] =
            [first, last].map(|name| name.map_or("nobody".to_owned(), |name| name.name));
        Ok(Json(Name {
            name: format!("{first} {last}"),
        }))
    })
}

/// The state of the other server comes back to it as it was, whatever the era of the caller.
#[test]
fn questions_of_a_modern_server_reach_callers_of_every_revision() {
    for caller in revisions().filter(|revision| revision.elicitation() != Elicitation::Absent) {
        run(async {
            let asks = only(Revision::V2026_07_28)
                .on_elicitation(|_, _| async { Ok(ElicitResult::decline()) });
            let client = asks
                .connect(mcp_async::in_memory(
                    Sim.into(),
                    &curious().build().unwrap(),
                ))
                .await
                .unwrap();
            let front = forwarding(&client).await.build().unwrap();
            let person = only(caller).on_elicitation(|asked, _| async move {
                let name = asked.message().unwrap_or_default().replace(" name?", "");
                Ok(ElicitResult::accept(&Name { name })?)
            });
            let person = person
                .connect(mcp_async::in_memory(Sim.into(), &front))
                .await
                .unwrap();
            let greeted: CallToolResult = person.call_tool("greet", &()).await.unwrap();
            assert!(
                greeted.text().contains("First Last"),
                "{caller}: {}",
                greeted.text()
            );
        });
        settle();
        end();
    }
}

#[test]
fn a_round_is_continued_by_a_client_that_did_not_begin_it() {
    run(async {
        let server = curious();
        let asks = || {
            only(Revision::V2026_07_28).on_elicitation(|_, _| async {
                Ok(ElicitResult::accept(&Name {
                    name: "Ada".to_owned(),
                })?)
            })
        };
        let server = server.build().unwrap();
        let mut answers = InputAnswers::default();
        let mut rounds = 0;
        let result = loop {
            let client = asks()
                .connect(mcp_async::in_memory(Sim.into(), &server))
                .await
                .unwrap();
            match client
                .call_tool("greet", &())
                .one_round(answers)
                .await
                .unwrap()
            {
                RoundResult::Result(result) => break result,
                RoundResult::Input(questions) => {
                    rounds += 1;
                    let responses = client.answer_inputs(questions.requests).await.unwrap();
                    answers = InputAnswers {
                        responses: Some(responses),
                        state: questions.state,
                    };
                }
            }
        };
        assert_eq!(rounds, 2);
        assert!(
            result.as_raw().as_str().contains("Ada Ada"),
            "{}",
            result.as_raw().as_str()
        );
    });
    settle();
    end();
}
