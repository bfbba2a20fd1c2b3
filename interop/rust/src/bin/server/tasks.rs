//! Tools whose calls become tasks.

use std::time::Duration;

use interop_rust::of;
use rmcp::ErrorData;
use rmcp::model::{CallToolResult, CreateTaskResult};
use rmcp::task_manager::{TaskContext, TaskExit, TaskOptions};
use serde_json::{Map, Value, json};

use crate::ask::form;
use crate::content::{complete, plain, schema, text};
use crate::{Context, Everything};

impl Everything {
    /// The task of a call, if its tool makes one and its client declares that it follows tasks.
    pub(crate) fn begin(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
        cx: &Context,
    ) -> Result<Option<CreateTaskResult>, ErrorData> {
        if !TOOLS.iter().any(|(name, _)| *name == tool) {
            return Ok(None);
        }
        let client = cx.client_capabilities();
        if !client.is_some_and(|client| client.supports_tasks()) {
            return Err(ErrorData::invalid_request("it is always a task", None));
        }
        let (tool, arguments) = (tool.to_owned(), arguments.clone());
        let options = TaskOptions::new()
            .with_poll_interval_ms(50)
            .with_status_message("begun");
        let task = self.tasks.spawn(options, |cx| {
            Box::pin(async move { work(&tool, &arguments, &cx).await })
        });
        Ok(Some(CreateTaskResult::new(task)))
    }
}

async fn work(
    tool: &str,
    arguments: &Map<String, Value>,
    cx: &TaskContext,
) -> Result<CallToolResult, TaskExit> {
    let given = |name: &str| arguments.get(name).map(plain).unwrap_or_default();
    let answer = match tool {
        "slow_compute" => {
            let seconds = arguments["seconds"].as_f64().unwrap_or_default();
            cx.set_status_message("computing");
            tokio::select! {
                () = tokio::time::sleep(Duration::from_secs_f64(seconds)) => {}
                () = cx.cancelled() => return Err(TaskExit::Cancelled),
            }
            format!("computed {} in {seconds} s", given("label"))
        }
        "failing_job" => {
            let content = json!([text("the job has failed")]);
            return Ok(complete(json!({"content": content, "isError": true})));
        }
        "protocol_error_job" => {
            return Err(ErrorData::internal_error("the job has failed", None).into());
        }
        "confirm_delete" => {
            let name = given("filename");
            let question = form(
                &format!("Delete {name}?"),
                schema(&[("confirm", "boolean")]),
            );
            let answer = cx.request_input("confirm", of(question)).await?;
            let confirmed = answer["content"]["confirm"] == true;
            format!("{name} is {}", if confirmed { "deleted" } else { "kept" })
        }
        _ => {
            let ask = |key| {
                let question = form(&format!("Who is {key}?"), schema(&[("name", "string")]));
                cx.request_input(key, of(question))
            };
            let (first, second) = tokio::try_join!(ask("first"), ask("second"))?;
            [first, second]
                .map(|answer| plain(&answer["content"]["name"]))
                .join(", ")
        }
    };
    Ok(complete(json!({"content": [text(answer)]})))
}

pub(crate) const TOOLS: [(&str, &[(&str, &str)]); 5] = [
    (
        "slow_compute",
        &[("seconds", "number"), ("label", "string")],
    ),
    ("failing_job", &[]),
    ("protocol_error_job", &[]),
    ("confirm_delete", &[("filename", "string")]),
    ("multi_input", &[]),
];
