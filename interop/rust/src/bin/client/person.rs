//! What the server asked and told, and what a person would answer.

use std::sync::{Arc, Mutex};

use interop_rust::{of, value};
use rmcp::model::{
    ClientConfig, CreateMessageRequestParams, CreateMessageResult, ElicitRequestParams,
    ElicitResult, ListRootsResult, LoggingMessageNotificationParam, ProgressNotificationParam,
    ResourceUpdatedNotificationParam,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::{Value, json};

#[derive(Clone, Default)]
pub(crate) struct Person {
    pub(crate) revision: String,
    pub(crate) seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) decline: bool,
    pub(crate) asked: Vec<Value>,
    pub(crate) logs: Vec<Value>,
    pub(crate) progress: Vec<Value>,
    pub(crate) updated: Vec<String>,
    pub(crate) changed: Vec<&'static str>,
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        of(json!({
            "protocolVersion": self.revision,
            "capabilities": {
                "elicitation": {"form": {}, "url": {}},
                "extensions": {"io.modelcontextprotocol/tasks": {}},
                "sampling": {},
                "roots": {"listChanged": true},
            },
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
pub(crate) fn fill(schema: &Value) -> Value {
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

pub(crate) const ROOT: &str = "file:///srv/interop";
