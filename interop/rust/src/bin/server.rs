//! The features of the `everything` example, as a stdio server of rmcp.
//!
//! Values are written and read as JSON, through the SDK's types.

// What a revision deprecates is what this program is for.
#![allow(deprecated)]

use std::collections::HashSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CompleteRequestParams, CompleteResult, ErrorCode,
    GetPromptRequestParams, GetPromptResponse, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListToolsResult, LoggingLevel, PaginatedRequestParams, ProtocolVersion,
    ReadResourceRequestParams, ReadResourceResponse, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, UnsubscribeRequestParams,
};
use rmcp::service::{RequestContext, SubscriptionContext, SubscriptionSink};
use rmcp::{ErrorData, RoleServer, ServerHandler, ServiceExt};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

type Context = RequestContext<RoleServer>;

#[derive(Clone)]
struct Everything {
    state: Arc<Mutex<State>>,
}

struct State {
    level: LoggingLevel,
    subscribed: HashSet<String>,
    listening: Vec<SubscriptionSink>,
}

/// What a handler answers, or what it has to ask first.
enum Answer {
    Complete(Value),
    Ask(Value),
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let state = State {
        level: LoggingLevel::Debug,
        subscribed: HashSet::new(),
        listening: Vec::new(),
    };
    let server = Everything {
        state: Arc::new(Mutex::new(state)),
    };
    server
        .serve(rmcp::transport::stdio())
        .await?
        .waiting()
        .await?;
    Ok(())
}

impl ServerHandler for Everything {
    fn get_info(&self) -> ServerConfig {
        of(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {
                "completions": {},
                "logging": {},
                "prompts": {"listChanged": true},
                "resources": {"listChanged": true, "subscribe": true},
                "tools": {"listChanged": true},
            },
            "serverInfo": {"name": "rust-everything", "version": "1.0.0"},
            "instructions": "Every feature once.",
        }))
    }

    async fn list_tools(
        &self,
        params: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = TOOLS.iter().map(|(name, arguments)| {
            let mut tool =
                json!({"name": name, "description": name, "inputSchema": schema(arguments)});
            if *name == "add" {
                tool["outputSchema"] = schema(&[("sum", "number")]);
            }
            tool
        });
        page("tools", tools.collect(), params)
    }

    async fn list_resources(
        &self,
        params: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourcesResult, ErrorData> {
        let names = ["static-text", "static-binary", "watched-resource"];
        page(
            "resources",
            names
                .map(|name| json!({"name": name, "uri": format!("test://{name}")}))
                .into(),
            params,
        )
    }

    async fn list_resource_templates(
        &self,
        params: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        page(
            "resourceTemplates",
            vec![json!({"name": "template", "uriTemplate": "test://template/{id}/data"})],
            params,
        )
    }

    async fn list_prompts(
        &self,
        params: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListPromptsResult, ErrorData> {
        let prompts = PROMPTS.iter().map(|(name, names)| {
            let arguments: Vec<_> = names
                .iter()
                .map(|name| json!({"name": name, "required": true}))
                .collect();
            json!({"name": name, "description": name, "arguments": arguments})
        });
        page("prompts", prompts.collect(), params)
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        _: Context,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = params.uri.as_str();
        let template = uri
            .strip_prefix("test://template/")
            .and_then(|rest| rest.strip_suffix("/data"));
        let contents = match (template, uri) {
            (Some(id), _) => {
                let data =
                    json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                json!({"uri": uri, "mimeType": "application/json", "text": data.to_string()})
            }
            (_, "test://static-text") => {
                json!({"uri": uri, "text": "This is the content of the static text resource."})
            }
            (_, "test://static-binary") => {
                json!({"uri": uri, "mimeType": "image/png", "blob": PNG})
            }
            (_, "test://watched-resource") => json!({"uri": uri, "text": "watched"}),
            _ => {
                return Err(ErrorData::resource_not_found(
                    "Resource not found",
                    Some(json!({"uri": uri})),
                ));
            }
        };
        Ok(ReadResourceResponse::Complete(complete(
            json!({"contents": [contents]}),
        )))
    }

    async fn get_prompt(
        &self,
        params: GetPromptRequestParams,
        cx: Context,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = params.arguments.unwrap_or_default();
        let content = match &*params.name {
            "test_simple_prompt" => text("This is a simple prompt for testing."),
            "test_prompt_with_arguments" => {
                let given = |name| arguments.get(name).map(plain).unwrap_or_default();
                text(format!(
                    "Prompt with arguments: arg1='{}', arg2='{}'",
                    given("arg1"),
                    given("arg2")
                ))
            }
            "test_prompt_with_embedded_resource" => {
                embedded(&arguments.get("resourceUri").map(plain).unwrap_or_default())
            }
            "test_prompt_with_image" => image(),
            "test_input_required_result_prompt" => {
                let answered = params
                    .input_responses
                    .and_then(|mut answers| answers.remove("question"));
                match ask(
                    &cx,
                    answered,
                    form("What for?", schema(&[("context", "string")])),
                )
                .await?
                {
                    Answer::Complete(reply) => text(format!("For {}", reply["content"])),
                    Answer::Ask(question) => {
                        return Ok(GetPromptResponse::InputRequired(of(question)));
                    }
                }
            }
            _ => return Err(ErrorData::invalid_params("unknown prompt", None)),
        };
        Ok(GetPromptResponse::Complete(complete(
            json!({"messages": [{"role": "user", "content": content}]}),
        )))
    }

    async fn call_tool(
        &self,
        params: CallToolRequestParams,
        cx: Context,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments = params.arguments.clone().unwrap_or_default();
        let Some((_, expected)) = TOOLS.iter().find(|(name, _)| **name == *params.name) else {
            return Err(ErrorData::invalid_params("unknown tool", None));
        };
        let fits = |(name, kind): &(&str, &str)| {
            arguments
                .get(*name)
                .is_some_and(|value| value.is_number() == (*kind == "number"))
        };
        if !expected.iter().all(fits) {
            return Ok(CallToolResponse::Complete(complete(
                json!({"content": [text("wrong argument")], "isError": true}),
            )));
        }
        Ok(match self.answer(params, &arguments, &cx).await? {
            Answer::Complete(result) => CallToolResponse::Complete(complete(result)),
            Answer::Ask(questions) => CallToolResponse::InputRequired(of(questions)),
        })
    }

    async fn complete(
        &self,
        params: CompleteRequestParams,
        _: Context,
    ) -> Result<CompleteResult, ErrorData> {
        let params = value(&params);
        let suffix = params["context"]["arguments"]["arg2"]
            .as_str()
            .map(|arg2| format!("-{arg2}"))
            .unwrap_or_default();
        let offered: Vec<String> = match params["ref"]["type"].as_str() {
            Some("ref/prompt") => ["paris", "park", "party"].map(String::from).into(),
            _ => (1..=150).map(|n| n.to_string()).collect(),
        };
        let typed = params["argument"]["value"].as_str().unwrap_or_default();
        let found = offered.into_iter().filter(|value| value.starts_with(typed));
        let mut values: Vec<_> = found.map(|value| value + &suffix).collect();
        let total = values.len();
        values.truncate(100);
        Ok(complete(
            json!({"completion": {"values": values, "total": total, "hasMore": total > 100}}),
        ))
    }

    async fn set_level(&self, params: SetLevelRequestParams, _: Context) -> Result<(), ErrorData> {
        self.state.lock().unwrap().level = params.level;
        Ok(())
    }

    async fn subscribe(&self, params: SubscribeRequestParams, _: Context) -> Result<(), ErrorData> {
        self.state.lock().unwrap().subscribed.insert(params.uri);
        Ok(())
    }

    async fn unsubscribe(
        &self,
        params: UnsubscribeRequestParams,
        _: Context,
    ) -> Result<(), ErrorData> {
        self.state.lock().unwrap().subscribed.remove(&params.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        Some(requested.clone())
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.state
            .lock()
            .unwrap()
            .listening
            .push(context.sink().clone());
        context.cancelled().await;
        self.state
            .lock()
            .unwrap()
            .listening
            .retain(|sink| sink.id() != context.sink().id());
        Ok(())
    }
}

impl Everything {
    async fn answer(
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
                for sink in self.listening().await {
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
                for sink in self.listening().await {
                    let _ = sink.notify_tool_list_changed().await;
                }
                if !modern(cx) {
                    cx.peer.notify_tool_list_changed().await.map_err(lost)?;
                }
                text("changed")
            }
            _ => {
                for sink in self.listening().await {
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

    /// The SDK acknowledges a subscription before it calls `listen`.
    async fn listening(&self) -> Vec<SubscriptionSink> {
        tokio::time::sleep(Duration::from_millis(50)).await;
        self.state.lock().unwrap().listening.clone()
    }
}

/// A request of its own in the era of the handshake; in the other the call ends with the question and comes again.
async fn ask(cx: &Context, answered: Option<Value>, question: Value) -> Result<Answer, ErrorData> {
    match answered {
        Some(answer) => Ok(Answer::Complete(answer)),
        None if modern(cx) => Ok(Answer::Ask(again(json!({"question": question}), None))),
        None => Ok(Answer::Complete(value(
            &cx.peer.send_request(of(question)).await.map_err(lost)?,
        ))),
    }
}

fn replied(answer: Answer, told: impl FnOnce(&Value) -> String) -> Result<Answer, ErrorData> {
    Ok(match answer {
        Answer::Complete(reply) => Answer::Complete(json!({"content": [text(told(&reply))]})),
        question => question,
    })
}

fn again(questions: Value, state: Option<&str>) -> Value {
    let mut result = json!({"resultType": "input_required", "inputRequests": questions});
    if let Some(state) = state {
        result["requestState"] = json!(state);
    }
    result
}

fn modern(cx: &Context) -> bool {
    cx.protocol_version() == Some(ProtocolVersion::V_2026_07_28)
}

fn severity(level: LoggingLevel) -> u8 {
    level as u8
}

fn page<T: DeserializeOwned>(
    list: &str,
    items: Vec<Value>,
    params: Option<PaginatedRequestParams>,
) -> Result<T, ErrorData> {
    let cursor = params
        .and_then(|params| params.cursor)
        .unwrap_or_else(|| "0".into());
    let start: usize = cursor
        .parse()
        .map_err(|_| ErrorData::invalid_params("unknown cursor", None))?;
    let end = start + 10;
    let more = end < items.len();
    let mut result = json!({list: items.into_iter().skip(start).take(10).collect::<Vec<_>>()});
    if more {
        result["nextCursor"] = json!(end.to_string());
    }
    Ok(complete(result))
}

fn schema(properties: &[(&str, &str)]) -> Value {
    let kinds: Map<_, _> = properties
        .iter()
        .map(|(name, kind)| (name.to_string(), json!({"type": kind})))
        .collect();
    let required: Vec<_> = properties.iter().map(|(name, _)| name).collect();
    json!({"type": "object", "properties": kinds, "required": required})
}

fn form(message: &str, requested: Value) -> Value {
    json!({"method": "elicitation/create", "params": {"mode": "form", "message": message, "requestedSchema": requested}})
}

fn sampling(prompt: &str) -> Value {
    let message = json!({"role": "user", "content": text(prompt)});
    json!({"method": "sampling/createMessage", "params": {"messages": [message], "maxTokens": 100}})
}

fn text(text: impl Into<String>) -> Value {
    json!({"type": "text", "text": text.into()})
}

fn image() -> Value {
    json!({"type": "image", "data": PNG, "mimeType": "image/png"})
}

fn embedded(uri: &str) -> Value {
    json!({"type": "resource", "resource": {"uri": uri, "mimeType": "text/plain", "text": "embedded"}})
}

fn plain(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), String::from)
}

fn value(of: &impl Serialize) -> Value {
    serde_json::to_value(of).expect("the SDK's types are JSON")
}

fn of<T: DeserializeOwned>(json: Value) -> T {
    serde_json::from_value(json).expect("the SDK reads what the specification says")
}

/// A result as the SDK's own constructors make it: it takes `resultType` away for the earlier revisions.
fn complete<T: DeserializeOwned>(mut result: Value) -> T {
    result["resultType"] = json!("complete");
    of(result)
}

fn lost(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::new(ErrorCode::INTERNAL_ERROR, error.to_string(), None)
}

const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";
const TOOLS: [(&str, &[(&str, &str)]); 23] = [
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
const PROMPTS: [(&str, &[&str]); 5] = [
    ("test_simple_prompt", &[]),
    ("test_prompt_with_arguments", &["arg1", "arg2"]),
    ("test_prompt_with_embedded_resource", &["resourceUri"]),
    ("test_prompt_with_image", &[]),
    ("test_input_required_result_prompt", &[]),
];
