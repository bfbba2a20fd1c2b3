//! The tools.

use std::time::Duration;

use interop_rust::{of, value};
use rmcp::ErrorData;
use rmcp::model::{CallToolRequestParams, LoggingLevel};
use rmcp::service::SubscriptionSink;
use serde_json::{Map, Value, json};

use crate::ask::{Answer, again, ask, form, lost, modern, replied, sampling};
use crate::content::{WAV, embedded, image, plain, schema, text};
use crate::{Context, Everything};

impl Everything {
    pub(crate) async fn answer(
        &self,
        params: CallToolRequestParams,
        arguments: &Map<String, Value>,
        cx: &Context,
    ) -> Result<Answer, ErrorData> {
        let given = |name: &str| arguments.get(name).map(plain).unwrap_or_default();
        let number = |name: &str| {
            arguments
                .get(name)
                .and_then(Value::as_f64)
                .unwrap_or_default()
        };
        let answered = || {
            params
                .input_responses
                .as_ref()
                .and_then(|answers| answers.get("question").cloned())
        };
        let content = match &*params.name {
            "echo" => text(given("text")),
            "add" => {
                let sum = json!({"sum": number("a") + number("b")});
                return Ok(Answer::Complete(
                    json!({"content": [text(sum.to_string())], "structuredContent": sum}),
                ));
            }
            "sleep" => {
                tokio::select! {
                    _ = tokio::time::sleep(Duration::from_millis(number("ms") as u64)) => {}
                    _ = cx.ct.cancelled() => {}
                }
                text("slept")
            }
            "list_roots" => {
                return replied(
                    ask(cx, answered(), json!({"method": "roots/list"})).await?,
                    |reply| {
                        let roots = reply["roots"].as_array().into_iter().flatten();
                        roots
                            .map(|root| plain(&root["uri"]))
                            .collect::<Vec<_>>()
                            .join("\n")
                    },
                );
            }
            "elicit_url" => {
                // This SDK has no question with a URL and without this id, which 2026-07-28 no longer knows.
                let url = json!({"mode": "url", "message": "Authorize", "url": "https://example.com/authorize", "elicitationId": "1"});
                let question = json!({"method": "elicitation/create", "params": url});
                return replied(ask(cx, answered(), question).await?, |reply| {
                    plain(&reply["action"])
                });
            }
            "touch_resource" => {
                let uri = given("uri");
                for sink in self.listening(cx).await {
                    let _ = sink.notify_resource_updated(&uri).await;
                }
                if self.state.lock().unwrap().subscribed.contains(&uri) {
                    cx.peer
                        .notify_resource_updated(of(json!({"uri": uri})))
                        .await
                        .map_err(lost)?;
                }
                text("touched")
            }
            "test_simple_text" => text("This is a simple text response for testing."),
            "test_image_content" => image(),
            "test_audio_content" => json!({"type": "audio", "data": WAV, "mimeType": "audio/wav"}),
            "test_embedded_resource" => embedded("test://embedded-resource"),
            "test_multiple_content_types" => {
                let blocks = json!([
                    text("several"),
                    image(),
                    embedded("test://mixed-content-resource")
                ]);
                return Ok(Answer::Complete(json!({"content": blocks})));
            }
            "test_tool_with_logging" | "test_logging_tool" => {
                let wanted = match value(&cx.meta)["io.modelcontextprotocol/logLevel"].take() {
                    Value::Null if modern(cx) => None,
                    Value::Null => Some(self.state.lock().unwrap().level),
                    level => Some(of(level)),
                };
                for message in [
                    "Tool execution started",
                    "Tool processing data",
                    "Tool execution completed",
                ] {
                    if wanted.is_some_and(|wanted| severity(wanted) <= severity(LoggingLevel::Info))
                    {
                        let log = of(json!({"level": "info", "data": message}));
                        cx.peer.notify_logging_message(log).await.map_err(lost)?;
                    }
                }
                text("logged")
            }
            "test_error_handling" => {
                let content = json!([text("This tool intentionally returns an error")]);
                return Ok(Answer::Complete(
                    json!({"content": content, "isError": true}),
                ));
            }
            "test_tool_with_progress" => {
                if let Some(token) = cx.meta.get_progress_token() {
                    for progress in [0, 50, 100] {
                        let step =
                            of(json!({"progressToken": token, "progress": progress, "total": 100}));
                        cx.peer.notify_progress(step).await.map_err(lost)?;
                    }
                }
                text("done")
            }
            "test_sampling" => {
                let question = sampling(&given("prompt"));
                return replied(ask(cx, answered(), question).await?, |reply| {
                    let content = &reply["content"];
                    format!(
                        "LLM response: {}",
                        plain(if content.is_array() {
                            &content[0]["text"]
                        } else {
                            &content["text"]
                        })
                    )
                });
            }
            "test_elicitation" => {
                let question = form(
                    &given("message"),
                    schema(&[("username", "string"), ("email", "string")]),
                );
                return replied(ask(cx, answered(), question).await?, |reply| {
                    format!("User response: {reply}")
                });
            }
            "test_elicitation_sep1034_defaults" => {
                let properties = json!({
                    "name": {"type": "string", "default": "John Doe"},
                    "age": {"type": "integer", "default": 30},
                    "score": {"type": "number", "default": 95.5},
                    "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
                    "verified": {"type": "boolean", "default": true},
                });
                let question = form(
                    "Defaults",
                    json!({"type": "object", "properties": properties}),
                );
                return replied(ask(cx, answered(), question).await?, Value::to_string);
            }
            "test_elicitation_sep1330_enums" => {
                let choices = json!([{"const": "a", "title": "A"}, {"const": "b", "title": "B"}]);
                let properties = json!({
                    "untitledSingle": {"type": "string", "enum": ["a", "b"]},
                    "titledSingle": {"type": "string", "oneOf": choices},
                    "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
                    "titledMulti": {"type": "array", "items": {"anyOf": choices}},
                });
                let question = form("Enums", json!({"type": "object", "properties": properties}));
                return replied(ask(cx, answered(), question).await?, Value::to_string);
            }
            "test_input_required_result_multi_round" => match params.request_state.as_deref() {
                None => {
                    let questions = json!({"step1": form("Step 1", schema(&[("name", "string")]))});
                    return Ok(Answer::Ask(again(questions, Some("first"))));
                }
                Some("first") => {
                    let questions =
                        json!({"step2": form("Step 2", schema(&[("color", "string")]))});
                    return Ok(Answer::Ask(again(questions, Some("second"))));
                }
                Some(_) => text("both steps"),
            },
            "test_input_required_result_multiple_inputs" => {
                let questions = json!({
                    "user_name": form("Your name?", schema(&[("name", "string")])),
                    "greeting": sampling("Greet"),
                    "client_roots": {"method": "roots/list"},
                });
                match params.input_responses {
                    Some(answers) if answers.len() == 3 => text("all three"),
                    _ => return Ok(Answer::Ask(again(questions, None))),
                }
            }
            "test_trigger_tool_change" => {
                for sink in self.listening(cx).await {
                    let _ = sink.notify_tool_list_changed().await;
                }
                if !modern(cx) {
                    cx.peer.notify_tool_list_changed().await.map_err(lost)?;
                }
                text("changed")
            }
            _ => {
                for sink in self.listening(cx).await {
                    let _ = sink.notify_prompt_list_changed().await;
                }
                if !modern(cx) {
                    cx.peer.notify_prompt_list_changed().await.map_err(lost)?;
                }
                text("changed")
            }
        };
        Ok(Answer::Complete(json!({"content": [content]})))
    }

    /// The open subscriptions. The SDK acknowledges one before it calls `listen`: the first is waited for.
    async fn listening(&self, cx: &Context) -> Vec<SubscriptionSink> {
        let tries = if modern(cx) { 50 } else { 0 };
        for _ in 0..tries {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let listening = self.state.lock().unwrap().listening.clone();
            if !listening.is_empty() {
                return listening;
            }
        }
        Vec::new()
    }
}

fn severity(level: LoggingLevel) -> u8 {
    level as u8
}

pub(crate) const TOOLS: [(&str, &[(&str, &str)]); 23] = [
    ("echo", &[("text", "string")]),
    ("add", &[("a", "number"), ("b", "number")]),
    ("sleep", &[("ms", "number")]),
    ("list_roots", &[]),
    ("elicit_url", &[]),
    ("touch_resource", &[("uri", "string")]),
    ("test_simple_text", &[]),
    ("test_image_content", &[]),
    ("test_audio_content", &[]),
    ("test_embedded_resource", &[]),
    ("test_multiple_content_types", &[]),
    ("test_tool_with_logging", &[]),
    ("test_logging_tool", &[]),
    ("test_error_handling", &[]),
    ("test_tool_with_progress", &[]),
    ("test_sampling", &[("prompt", "string")]),
    ("test_elicitation", &[("message", "string")]),
    ("test_elicitation_sep1034_defaults", &[]),
    ("test_elicitation_sep1330_enums", &[]),
    ("test_input_required_result_multi_round", &[]),
    ("test_input_required_result_multiple_inputs", &[]),
    ("test_trigger_tool_change", &[]),
    ("test_trigger_prompt_change", &[]),
];
