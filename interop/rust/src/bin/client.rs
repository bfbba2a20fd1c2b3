//! Drives a stdio server through every feature that rmcp knows.
//!
//! Usage: client REVISION COMMAND [ARGUMENT...]
//!
//! Prints one JSON line per feature: `{"feature": .., "ok": true}`, or false with a `detail`. Values are written and read as
//! JSON, through the SDK's types.

// What a revision deprecates is what this program is for.
#![allow(deprecated)]

use std::error::Error;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rmcp::model::{
    ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ListRootsResult, LoggingMessageNotificationParam, ProgressNotificationParam,
    ProtocolVersion, ResourceUpdatedNotificationParam,
};
use rmcp::service::{
    ClientLifecycleMode, ClientServiceExt, NotificationContext, RequestContext, RunningService,
};
use rmcp::transport::TokioChildProcess;
use rmcp::{ClientHandler, ErrorData, RoleClient, ServiceError};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// What the server asked and told, and what a person would answer.
#[derive(Clone, Default)]
struct Person {
    revision: String,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    decline: bool,
    asked: Vec<Value>,
    logs: Vec<Value>,
    progress: Vec<Value>,
    updated: Vec<String>,
    changed: Vec<&'static str>,
}

struct Driver {
    client: RunningService<RoleClient, Person>,
    person: Person,
    modern: bool,
}

macro_rules! check {
    ($condition:expr, $($detail:tt)*) => {
        if !$condition {
            return Err(format!("{}: {}", stringify!($condition), format_args!($($detail)*)).into());
        }
    };
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Outcome {
    let mut arguments = std::env::args().skip(1);
    let revision = arguments.next().ok_or("no revision")?;
    let command = arguments.next().ok_or("no command")?;
    let mut program = tokio::process::Command::new(command);
    program.args(arguments);
    let person = Person {
        revision: revision.clone(),
        ..Person::default()
    };
    let modern = revision == "2026-07-28";
    let lifecycle = if modern {
        ClientLifecycleMode::Auto {
            preferred_versions: vec![ProtocolVersion::V_2026_07_28],
            legacy_version: None,
        }
    } else {
        ClientLifecycleMode::Initialize
    };
    let client = person
        .clone()
        .serve_with_lifecycle(TokioChildProcess::new(program)?, lifecycle)
        .await?;
    let mut driver = Driver {
        client,
        person,
        modern,
    };
    for feature in FEATURES {
        if let Some((_, reason)) = LACKS
            .iter()
            .find(|(lacking, _)| modern && *lacking == feature)
        {
            report(feature, json!({"lacks": reason}));
            continue;
        }
        match tokio::time::timeout(Duration::from_secs(10), driver.drive(feature)).await {
            Ok(Ok(())) => report(feature, json!({"ok": true})),
            Ok(Err(error)) => report(feature, json!({"ok": false, "detail": error.to_string()})),
            Err(_) => report(feature, json!({"ok": false, "detail": "timed out"})),
        }
    }
    // The SDK waits three seconds for a server to end by itself before it ends it.
    let began = Instant::now();
    driver.client.close().await?;
    let took = began.elapsed().as_secs_f32();
    report(
        "close",
        json!({"ok": took < 2.0, "detail": format!("{took:.1} s")}),
    );
    Ok(())
}

impl Driver {
    async fn drive(&mut self, feature: &str) -> Outcome {
        match feature {
            "negotiate" => self.negotiate(),
            "ping" => self.raw("ping", Value::Null).await.map(drop),
            "list" => self.list().await,
            "call" => self.call().await,
            "content" => self.content().await,
            "structured" => self.structured().await,
            "errors" => self.errors().await,
            "progress" => self.progress().await,
            "cancel" => self.cancel().await,
            "logging" => self.logging().await,
            "elicit" => self.elicit().await,
            "elicit-url" => self.elicit_url().await,
            "sampling" => self.sampling().await,
            "roots" => self.roots().await,
            "rounds" => self.rounds().await,
            "resources" => self.resources().await,
            "templates" => self.templates().await,
            "subscribe" => self.subscribe().await,
            "changes" => self.changes().await,
            "prompts" => self.prompts().await,
            _ => self.complete().await,
        }
    }

    fn negotiate(&self) -> Outcome {
        let server = value(&*self.client.peer_info().ok_or("no server")?);
        check!(
            server["protocolVersion"] == json!(self.person.revision),
            "{server}"
        );
        check!(
            server["serverInfo"]["name"].is_string() && server["serverInfo"]["version"].is_string(),
            "{server}"
        );
        for capability in ["tools", "resources", "prompts"] {
            check!(server["capabilities"][capability].is_object(), "{server}");
        }
        check!(server["instructions"].is_string(), "{server}");
        Ok(())
    }

    async fn list(&self) -> Outcome {
        for (list, least, member, name) in [
            ("tools", 2, "name", "echo"),
            ("resources", 1, "uri", "test://static-text"),
            (
                "resourceTemplates",
                1,
                "uriTemplate",
                "test://template/{id}/data",
            ),
            ("prompts", 1, "name", "test_prompt_with_arguments"),
        ] {
            let (mut cursor, mut pages, mut found) = (None, 0, false);
            loop {
                let page = self.page(list, cursor).await?;
                found |= page[list]
                    .as_array()
                    .is_some_and(|items| items.iter().any(|item| item[member] == name));
                pages += 1;
                let Some(next) = page["nextCursor"].as_str() else {
                    break;
                };
                cursor = Some(next.to_owned());
            }
            check!(pages >= least && found, "{list}: {pages} pages");
        }
        refused(
            self.page("tools", Some("no such cursor".into())).await,
            -32602,
        )
    }

    async fn page(&self, list: &str, cursor: Option<String>) -> Outcome<Value> {
        let params = cursor.map(|cursor| of(json!({"cursor": cursor})));
        Ok(match list {
            "tools" => value(&self.client.list_tools(params).await?),
            "resources" => value(&self.client.list_resources(params).await?),
            "prompts" => value(&self.client.list_prompts(params).await?),
            _ => value(&self.client.list_resource_templates(params).await?),
        })
    }

    async fn call(&self) -> Outcome {
        // Everything that a line-framed pipe and an escaping writer can get wrong.
        let odd = "line\nbreak, \"quotes\", back\\slash, \u{e9}\u{4e2d}\u{1f980}, \u{2028}, \u{1}";
        let answer = self.text("echo", json!({"text": odd})).await?;
        check!(answer == odd, "{answer:?}");
        let answer = self.text("test_simple_text", json!({})).await?;
        check!(
            answer == "This is a simple text response for testing.",
            "{answer:?}"
        );
        let mut handles = Vec::new();
        for n in 0..50 {
            let request = of(
                json!({"method": "tools/call", "params": {"name": "echo", "arguments": {"text": n.to_string()}}}),
            );
            handles.push(
                self.client
                    .send_cancellable_request(request, Default::default())
                    .await?,
            );
        }
        for (n, handle) in handles.into_iter().enumerate() {
            let answer = value(&handle.await_response().await?);
            check!(
                answer["content"][0]["text"] == json!(n.to_string()),
                "{answer}"
            );
        }
        Ok(())
    }

    async fn content(&self) -> Outcome {
        let answer = self.tool("test_image_content", json!({})).await?;
        check!(
            decoded(&answer["content"][0]["data"]).starts_with(b"\x89PNG"),
            "{answer}"
        );
        check!(answer["content"][0]["mimeType"] == "image/png", "{answer}");
        if *self.person.revision >= *"2025-03-26" {
            let answer = self.tool("test_audio_content", json!({})).await?;
            check!(
                decoded(&answer["content"][0]["data"]).starts_with(b"RIFF"),
                "{answer}"
            );
        }
        let answer = self.tool("test_embedded_resource", json!({})).await?;
        check!(
            answer["content"][0]["resource"]["uri"] == "test://embedded-resource",
            "{answer}"
        );
        let answer = self.tool("test_multiple_content_types", json!({})).await?;
        let kinds: Vec<_> = (0..3).map(|n| &answer["content"][n]["type"]).collect();
        check!(kinds == ["text", "image", "resource"], "{answer}");
        Ok(())
    }

    async fn structured(&self) -> Outcome {
        let answer = self.tool("add", json!({"a": 1, "b": 2})).await?;
        check!(
            answer["structuredContent"]["sum"].as_f64() == Some(3.0),
            "{answer}"
        );
        Ok(())
    }

    async fn errors(&self) -> Outcome {
        let answer = self
            .call_tool(json!({"name": "test_error_handling", "arguments": {}}))
            .await?;
        check!(
            answer["isError"] == true && answer["content"][0]["text"].is_string(),
            "{answer}"
        );
        for params in [
            json!({"name": "add", "arguments": {"a": "one"}}),
            json!({"name": "no_such_tool", "arguments": {}}),
        ] {
            match self.call_tool(params).await {
                Ok(answer) => check!(answer["isError"] == true, "{answer}"),
                refusal => refused(refusal, -32602)?,
            }
        }
        let code = if self.modern { -32602 } else { -32002 };
        refused(self.read("test://no-such-resource").await, code)?;
        refused(self.prompt("no_such_prompt", json!({})).await, -32602)
    }

    async fn progress(&self) -> Outcome {
        self.seen(|seen| seen.progress.clear());
        self.tool("test_tool_with_progress", json!({})).await?;
        self.until(|seen| seen.progress.len() == 3).await?;
        // Each notification is handled in a task of its own.
        let mut steps = self.seen(|seen| std::mem::take(&mut seen.progress));
        steps.sort_by(|a, b| {
            a["progress"]
                .as_f64()
                .partial_cmp(&b["progress"].as_f64())
                .unwrap_or(std::cmp::Ordering::Equal)
        });
        let expected = [0.0, 50.0, 100.0];
        let correct = steps
            .iter()
            .zip(expected)
            .all(|(step, progress)| step["progress"] == progress && step["total"] == 100.0);
        check!(correct, "{steps:?}");
        Ok(())
    }

    async fn cancel(&self) -> Outcome {
        let sleeping = self.text("sleep", json!({"ms": 60_000}));
        check!(
            tokio::time::timeout(Duration::from_millis(200), sleeping)
                .await
                .is_err(),
            "did not sleep"
        );
        let answer = self.text("echo", json!({"text": "awake"})).await?;
        check!(answer == "awake", "{answer}");
        Ok(())
    }

    async fn logging(&self) -> Outcome {
        let least = if self.modern {
            self.tool("test_logging_tool", json!({})).await?;
            check!(
                self.seen(|seen| seen.logs.is_empty()),
                "logs without a level"
            );
            let meta = json!({"io.modelcontextprotocol/logLevel": "debug"});
            self.call_tool(json!({"name": "test_logging_tool", "arguments": {}, "_meta": meta}))
                .await?;
            1
        } else {
            self.client.set_level(of(json!({"level": "error"}))).await?;
            self.tool("test_tool_with_logging", json!({})).await?;
            check!(
                self.seen(|seen| seen.logs.is_empty()),
                "logs below the level"
            );
            self.client.set_level(of(json!({"level": "info"}))).await?;
            self.tool("test_tool_with_logging", json!({})).await?;
            3
        };
        self.until(|seen| seen.logs.len() >= least).await?;
        check!(
            self.seen(|seen| seen.logs[0]["level"] == "info" && !seen.logs[0]["data"].is_null()),
            "no level or data"
        );
        Ok(())
    }

    async fn elicit(&self) -> Outcome {
        let answer = self
            .text("test_elicitation", json!({"message": "Who?"}))
            .await?;
        check!(answer.contains("ada@example.com"), "{answer}");
        let asked = self.seen(|seen| seen.asked.pop()).unwrap_or_default();
        check!(asked["message"] == "Who?", "{asked}");
        self.seen(|seen| seen.decline = true);
        let declined = self
            .tool("test_elicitation", json!({"message": "Who?"}))
            .await;
        self.seen(|seen| seen.decline = false);
        declined?;
        if *self.person.revision >= *"2025-11-25" {
            let answer = self
                .text("test_elicitation_sep1034_defaults", json!({}))
                .await?;
            check!(answer.contains("John Doe"), "{answer}");
            self.tool("test_elicitation_sep1330_enums", json!({}))
                .await?;
        }
        Ok(())
    }

    async fn elicit_url(&self) -> Outcome {
        self.tool("elicit_url", json!({})).await?;
        let asked = self.seen(|seen| seen.asked.pop()).unwrap_or_default();
        check!(
            asked["mode"] == "url" && asked["url"] == "https://example.com/authorize",
            "{asked}"
        );
        Ok(())
    }

    async fn sampling(&self) -> Outcome {
        let answer = self
            .text("test_sampling", json!({"prompt": "a poem"}))
            .await?;
        check!(answer == "LLM response: heard a poem", "{answer}");
        Ok(())
    }

    async fn roots(&self) -> Outcome {
        let answer = self.text("list_roots", json!({})).await?;
        check!(answer.contains(ROOT), "{answer}");
        if !self.modern {
            self.client.notify_roots_list_changed().await?;
        }
        Ok(())
    }

    async fn rounds(&self) -> Outcome {
        self.seen(|seen| seen.asked.clear());
        self.tool("test_input_required_result_multi_round", json!({}))
            .await?;
        let asked = self.seen(|seen| seen.asked.len());
        check!(asked == 2, "{asked} questions");
        self.tool("test_input_required_result_multiple_inputs", json!({}))
            .await?;
        let answer = self
            .prompt("test_input_required_result_prompt", json!({}))
            .await?;
        check!(answer["messages"][0].is_object(), "{answer}");
        Ok(())
    }

    async fn resources(&self) -> Outcome {
        let answer = self.read("test://static-text").await?;
        check!(
            answer["contents"][0]["text"] == "This is the content of the static text resource.",
            "{answer}"
        );
        let answer = self.read("test://static-binary").await?;
        check!(
            decoded(&answer["contents"][0]["blob"]).starts_with(b"\x89PNG"),
            "{answer}"
        );
        Ok(())
    }

    async fn templates(&self) -> Outcome {
        let answer = self.read("test://template/123/data").await?;
        let data: Value =
            serde_json::from_str(answer["contents"][0]["text"].as_str().unwrap_or_default())?;
        check!(
            data == json!({"id": "123", "templateTest": true, "data": "Data for ID: 123"}),
            "{data}"
        );
        Ok(())
    }

    async fn subscribe(&self) -> Outcome {
        let uri = "test://watched-resource";
        if self.modern {
            let mut subscription = self
                .client
                .listen(of(json!({"resourceSubscriptions": [uri]})))
                .await?;
            self.tool("touch_resource", json!({"uri": uri})).await?;
            let event = value(&subscription.next().await?);
            check!(event["params"]["uri"] == uri, "{event}");
            subscription.cancel().await?;
            return Ok(());
        }
        self.client.subscribe(of(json!({"uri": uri}))).await?;
        self.tool("touch_resource", json!({"uri": uri})).await?;
        self.until(|seen| !seen.updated.is_empty()).await?;
        self.client.unsubscribe(of(json!({"uri": uri}))).await?;
        self.tool("touch_resource", json!({"uri": uri})).await?;
        self.text("echo", json!({"text": "after"})).await?;
        let updated = self.seen(|seen| std::mem::take(&mut seen.updated));
        check!(updated == [uri], "{updated:?}");
        Ok(())
    }

    async fn changes(&self) -> Outcome {
        let kinds = ["tool", "prompt"];
        if self.modern {
            let filter = of(json!({"toolsListChanged": true, "promptsListChanged": true}));
            let mut subscription = self.client.listen(filter).await?;
            for kind in kinds {
                self.tool(&format!("test_trigger_{kind}_change"), json!({}))
                    .await?;
                let event = value(&subscription.next().await?);
                check!(
                    event["method"] == format!("notifications/{kind}s/list_changed"),
                    "{event}"
                );
            }
            subscription.cancel().await?;
            return Ok(());
        }
        for kind in kinds {
            self.tool(&format!("test_trigger_{kind}_change"), json!({}))
                .await?;
            self.until(|seen| seen.changed.contains(&kind)).await?;
        }
        Ok(())
    }

    async fn prompts(&self) -> Outcome {
        let answer = self.prompt("test_simple_prompt", json!({})).await?;
        let message = &answer["messages"][0];
        check!(
            message["role"] == "user" && message["content"]["text"].is_string(),
            "{answer}"
        );
        let answer = self
            .prompt(
                "test_prompt_with_arguments",
                json!({"arg1": "hello", "arg2": "world"}),
            )
            .await?;
        let text = &answer["messages"][0]["content"]["text"];
        check!(
            text == "Prompt with arguments: arg1='hello', arg2='world'",
            "{answer}"
        );
        let answer = self
            .prompt(
                "test_prompt_with_embedded_resource",
                json!({"resourceUri": "test://a"}),
            )
            .await?;
        check!(
            answer["messages"][0]["content"]["resource"]["uri"] == "test://a",
            "{answer}"
        );
        let answer = self.prompt("test_prompt_with_image", json!({})).await?;
        check!(
            answer["messages"][0]["content"]["type"] == "image",
            "{answer}"
        );
        Ok(())
    }

    async fn complete(&self) -> Outcome {
        let prompt = json!({"type": "ref/prompt", "name": "test_prompt_with_arguments"});
        let params = json!({"ref": prompt, "argument": {"name": "arg1", "value": "par"}});
        let answer = value(&self.client.complete(of(params)).await?);
        check!(
            answer["completion"]["values"] == json!(["paris", "park", "party"]),
            "{answer}"
        );
        if *self.person.revision >= *"2025-06-18" {
            let argument = json!({"name": "arg1", "value": "pari"});
            let params = json!({"ref": prompt, "argument": argument, "context": {"arguments": {"arg2": "x"}}});
            let answer = value(&self.client.complete(of(params)).await?);
            check!(
                answer["completion"]["values"] == json!(["paris-x"]),
                "{answer}"
            );
        }
        let template = json!({"type": "ref/resource", "uri": "test://template/{id}/data"});
        let params = json!({"ref": template, "argument": {"name": "id", "value": ""}});
        let completion = value(&self.client.complete(of(params)).await?)["completion"].take();
        let values = completion["values"].as_array().map_or(0, Vec::len);
        check!(
            values == 100 && completion["hasMore"] == true,
            "{completion}"
        );
        Ok(())
    }

    async fn text(&self, name: &str, arguments: Value) -> Outcome<String> {
        let answer = self.tool(name, arguments).await?;
        let blocks = answer["content"].as_array().ok_or("no content")?;
        Ok(blocks
            .iter()
            .filter_map(|block| block["text"].as_str())
            .collect())
    }

    async fn tool(&self, name: &str, arguments: Value) -> Outcome<Value> {
        let answer = self
            .call_tool(json!({"name": name, "arguments": arguments}))
            .await?;
        check!(answer["isError"] != true, "{answer}");
        Ok(answer)
    }

    async fn call_tool(&self, params: Value) -> Outcome<Value> {
        Ok(value(&self.client.call_tool(of(params)).await?))
    }

    async fn read(&self, uri: &str) -> Outcome<Value> {
        Ok(value(
            &self.client.read_resource(of(json!({"uri": uri}))).await?,
        ))
    }

    async fn prompt(&self, name: &str, arguments: Value) -> Outcome<Value> {
        Ok(value(
            &self
                .client
                .get_prompt(of(json!({"name": name, "arguments": arguments})))
                .await?,
        ))
    }

    async fn raw(&self, method: &str, params: Value) -> Outcome<Value> {
        Ok(value(
            &self
                .client
                .send_request(of(json!({"method": method, "params": params})))
                .await?,
        ))
    }

    fn seen<T>(&self, look: impl FnOnce(&mut Seen) -> T) -> T {
        look(&mut self.person.seen.lock().unwrap())
    }

    async fn until(&self, condition: impl Fn(&Seen) -> bool) -> Outcome {
        let began = Instant::now();
        while !self.seen(|seen| condition(seen)) {
            check!(began.elapsed() < Duration::from_secs(5), "waited in vain");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Ok(())
    }
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        of(json!({
            "protocolVersion": self.revision,
            "capabilities": {"elicitation": {"form": {}, "url": {}}, "sampling": {}, "roots": {"listChanged": true}},
            "clientInfo": {"name": "rust-interop", "version": "1.0.0"},
        }))
    }

    async fn create_elicitation(
        &self,
        params: ElicitRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let asked = value(&params);
        let mut seen = self.seen.lock().unwrap();
        let answer = match (seen.decline, asked["mode"] == "url") {
            (true, _) => json!({"action": "decline"}),
            (false, true) => json!({"action": "accept"}),
            (false, false) => {
                json!({"action": "accept", "content": fill(&asked["requestedSchema"])})
            }
        };
        seen.asked.push(asked);
        Ok(of(answer))
    }

    async fn create_message(
        &self,
        params: CreateMessageRequestParams,
        _: RequestContext<RoleClient>,
    ) -> Result<CreateMessageResult, ErrorData> {
        let params = value(&params);
        let content = &params["messages"][0]["content"];
        let prompt = content["text"]
            .as_str()
            .or(content[0]["text"].as_str())
            .unwrap_or_default();
        let content = json!({"type": "text", "text": format!("heard {prompt}")});
        Ok(of(
            json!({"role": "assistant", "content": content, "model": "none"}),
        ))
    }

    async fn list_roots(
        &self,
        _: RequestContext<RoleClient>,
    ) -> Result<ListRootsResult, ErrorData> {
        Ok(of(json!({"roots": [{"uri": ROOT, "name": "interop"}]})))
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.seen.lock().unwrap().progress.push(value(&params));
    }

    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.seen.lock().unwrap().logs.push(value(&params));
    }

    async fn on_resource_updated(
        &self,
        params: ResourceUpdatedNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.seen.lock().unwrap().updated.push(params.uri);
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.seen.lock().unwrap().changed.push("tool");
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.seen.lock().unwrap().changed.push("prompt");
    }
}

/// What a person would answer who takes every default.
fn fill(schema: &Value) -> Value {
    fn option(field: &Value) -> Option<&Value> {
        let titled = [&field["oneOf"][0]["const"], &field["anyOf"][0]["const"]];
        [&field["enum"][0]]
            .into_iter()
            .chain(titled)
            .find(|option| !option.is_null())
    }
    let properties = schema["properties"].as_object().into_iter().flatten();
    let filled = properties.map(|(name, field)| {
        let answer = match (field.get("default"), option(field), field["type"].as_str()) {
            (Some(default), ..) => default.clone(),
            (None, Some(option), _) => option.clone(),
            (None, None, Some("array")) => json!([option(&field["items"])]),
            (None, None, Some("boolean")) => json!(true),
            (None, None, Some("string")) if field["format"] == "email" || name == "email" => {
                json!("ada@example.com")
            }
            (None, None, Some("string")) => json!("ada"),
            (None, None, _) => json!(1),
        };
        (name.clone(), answer)
    });
    Value::Object(filled.collect())
}

fn refused<T>(outcome: Outcome<T>, code: i32) -> Outcome {
    let error = outcome.err().ok_or("was not refused")?;
    let Some(ServiceError::McpError(refusal)) = error.downcast_ref() else {
        return Err(error);
    };
    check!(
        refusal.code.0 == code,
        "{} instead of {code}",
        refusal.code.0
    );
    Ok(())
}

fn decoded(text: &Value) -> Vec<u8> {
    STANDARD
        .decode(text.as_str().unwrap_or_default())
        .unwrap_or_default()
}

fn value(of: &impl Serialize) -> Value {
    serde_json::to_value(of).expect("the SDK's types are JSON")
}

fn of<T: DeserializeOwned>(json: Value) -> T {
    serde_json::from_value(json).expect("the SDK reads what the specification says")
}

fn report(feature: &str, mut facts: Value) {
    facts["feature"] = json!(feature);
    println!("{facts}");
}

const ROOT: &str = "file:///srv/interop";
const LACKS: [(&str, &str); 1] = [(
    "elicit-url",
    "rmcp 3.8.0 reads no URL question without elicitationId, which 2026-07-28 took away",
)];
const FEATURES: [&str; 21] = [
    "negotiate",
    "ping",
    "list",
    "call",
    "content",
    "structured",
    "errors",
    "progress",
    "cancel",
    "logging",
    "elicit",
    "elicit-url",
    "sampling",
    "roots",
    "rounds",
    "resources",
    "templates",
    "subscribe",
    "changes",
    "prompts",
    "complete",
];
