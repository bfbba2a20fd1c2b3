//! The requests that the SDK dispatches.

use interop_rust::{of, value};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
    CompleteResult, GetPromptRequestParams, GetPromptResponse, GetSkillRequestParams,
    GetSkillResult, GetTaskParams, GetTaskResult, ListPromptsResult, ListResourceTemplatesResult,
    ListResourcesResult, ListSkillsResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceDirectoryRequestParams, ReadResourceDirectoryResult, ReadResourceRequestParams,
    ReadResourceResponse, ServerConfig, SetLevelRequestParams, SubscribeRequestParams,
    SubscriptionFilter, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::SubscriptionContext;
use rmcp::{ErrorData, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::ask::{Answer, ask, form};
use crate::content::{PNG, complete, embedded, image, plain, schema, text};
use crate::skills::{File, children, file, skills};
use crate::tools::TOOLS;
use crate::{Context, Everything, tasks};

impl ServerHandler for Everything {
    fn get_info(&self) -> ServerConfig {
        of(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {
                "completions": {},
                "extensions": {
                    "io.modelcontextprotocol/skills": {"directoryRead": true},
                    "io.modelcontextprotocol/tasks": {},
                },
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
        let tools = TOOLS.iter().chain(&tasks::TOOLS).map(|(name, arguments)| {
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
        let tests = names.map(|name| json!({"name": name, "uri": format!("test://{name}")}));
        let skills = skills().map(|skill| json!({"name": skill.name(), "uri": skill.uri}));
        page(
            "resources",
            tests.into_iter().chain(skills).collect(),
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
            (None, uri) if let Some(file) = file(uri) => match file {
                File::Text(text) => json!({"uri": uri, "text": text}),
                File::Blob(blob) => json!({"uri": uri, "mimeType": "image/png", "blob": blob}),
            },
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
        let mut tools = TOOLS.iter().chain(&tasks::TOOLS);
        let Some((_, expected)) = tools.find(|(name, _)| **name == *params.name) else {
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
        if let Some(task) = self.begin(&params.name, &arguments, &cx)? {
            return Ok(CallToolResponse::Task(task));
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

    async fn get_task(
        &self,
        params: GetTaskParams,
        _: Context,
    ) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(self.tasks.get_task(&params.task_id)?))
    }

    async fn update_task(&self, params: UpdateTaskParams, _: Context) -> Result<(), ErrorData> {
        self.tasks
            .update_task(&params.task_id, params.input_responses)
    }

    async fn cancel_task(&self, params: CancelTaskParams, _: Context) -> Result<(), ErrorData> {
        self.tasks.cancel_task(&params.task_id)
    }

    async fn list_skills(
        &self,
        params: Option<PaginatedRequestParams>,
        _: Context,
    ) -> Result<ListSkillsResult, ErrorData> {
        let skills = skills().iter().map(value).collect();
        page("skills", skills, params)
    }

    async fn get_skill(
        &self,
        params: GetSkillRequestParams,
        _: Context,
    ) -> Result<GetSkillResult, ErrorData> {
        let found = skills().into_iter().find(|skill| skill.uri == params.uri);
        let found = found.ok_or_else(|| ErrorData::invalid_params("unknown skill", None))?;
        Ok(GetSkillResult::new(found))
    }

    async fn read_resource_directory(
        &self,
        params: ReadResourceDirectoryRequestParams,
        _: Context,
    ) -> Result<ReadResourceDirectoryResult, ErrorData> {
        match children(&params.uri) {
            children if children.is_empty() => Err(ErrorData::invalid_params("no folder", None)),
            children => Ok(ReadResourceDirectoryResult::with_all_items(children)),
        }
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

const PROMPTS: [(&str, &[&str]); 5] = [
    ("test_simple_prompt", &[]),
    ("test_prompt_with_arguments", &["arg1", "arg2"]),
    ("test_prompt_with_embedded_resource", &["resourceUri"]),
    ("test_prompt_with_image", &[]),
    ("test_input_required_result_prompt", &[]),
];
