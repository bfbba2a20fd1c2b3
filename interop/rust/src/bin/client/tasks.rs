//! Calls that become tasks. The SDK has the requests; a program follows a task by them.

use std::time::Duration;

use interop_rust::{of, value};
use rmcp::model::{CallToolResponse, GetTaskParams};
use serde_json::{Value, json};

use crate::Outcome;
use crate::driver::{Driver, refused};
use crate::person::fill;

impl Driver {
    pub(crate) async fn tasks(&self) -> Outcome {
        let task = self.begin("slow_compute", slow(0.3)).await?;
        check!(
            task["resultType"] == "task" && task["status"] == "working",
            "{task}"
        );
        check!(
            task["createdAt"].is_string() && task["ttlMs"].is_number(),
            "{task}"
        );
        let task = self.ended(&task).await?;
        check!(task["status"] == "completed", "{task}");
        let answer = &task["result"]["content"][0]["text"];
        let answer = answer.as_str().unwrap_or_default();
        check!(answer.starts_with("computed sum"), "{task}");
        Ok(())
    }

    pub(crate) async fn task_input(&self) -> Outcome {
        let task = self
            .begin("confirm_delete", json!({"filename": "a.txt"}))
            .await?;
        let task = self.ended(&task).await?;
        let answer = &task["result"]["content"][0]["text"];
        check!(answer == "a.txt is deleted", "{task}");
        // Two questions, which are answered one by one.
        let task = self.begin("multi_input", json!({})).await?;
        let task = self.ended(&task).await?;
        let answer = &task["result"]["content"][0]["text"];
        check!(answer == "ada, ada", "{task}");
        Ok(())
    }

    pub(crate) async fn task_errors(&self) -> Outcome {
        let task = self.begin("failing_job", json!({})).await?;
        let task = self.ended(&task).await?;
        check!(
            task["status"] == "completed" && task["result"]["isError"] == true,
            "{task}"
        );
        let task = self.begin("protocol_error_job", json!({})).await?;
        let task = self.ended(&task).await?;
        check!(
            task["status"] == "failed" && task["error"]["code"] == -32603,
            "{task}"
        );
        let unknown = json!({"taskId": "no such task"});
        let answer = self.client.get_task(of(unknown.clone())).await;
        refused(answer.map_err(Into::into), -32602)?;
        let answer = self.client.cancel_task(of(unknown)).await;
        refused(answer.map_err(Into::into), -32602)?;
        let update = json!({"taskId": "no such task", "inputResponses": {}});
        let answer = self.client.update_task(of(update)).await;
        refused(answer.map_err(Into::into), -32602)
    }

    pub(crate) async fn task_cancel(&self) -> Outcome {
        for (tool, arguments) in [
            ("slow_compute", slow(60.0)),
            ("confirm_delete", json!({"filename": "a.txt"})),
        ] {
            let task = self.begin(tool, arguments).await?;
            let params = json!({"taskId": task["taskId"]});
            self.client.cancel_task(of(params.clone())).await?;
            let task = self.ended(&task).await?;
            check!(task["status"] == "cancelled", "{task}");
            // It is acknowledged, and changes nothing.
            self.client.cancel_task(of(params)).await?;
            let task = self.ended(&task).await?;
            check!(task["status"] == "cancelled", "{task}");
        }
        Ok(())
    }

    /// Calls a tool that makes a task, and returns the task.
    async fn begin(&self, name: &str, arguments: Value) -> Outcome<Value> {
        let params = json!({"name": name, "arguments": arguments});
        match self.client.call_tool_once(of(params)).await? {
            CallToolResponse::Task(task) => Ok(value(&task)),
            other => Err(format!("{name} is no task: {other:?}").into()),
        }
    }

    /// Polls a task until it has ended, and answers one of its questions after each poll.
    async fn ended(&self, task: &Value) -> Outcome<Value> {
        let id = task["taskId"].as_str().ok_or("no id")?;
        loop {
            let params = GetTaskParams::new(id);
            let task = value(&self.client.get_task(params).await?);
            match task["status"].as_str() {
                Some("working") => {}
                Some("input_required") => {
                    let questions = task["inputRequests"].as_object().ok_or("no questions")?;
                    let (key, question) = questions.iter().next().ok_or("no questions")?;
                    let content = fill(&question["params"]["requestedSchema"]);
                    let answers = json!({key: {"action": "accept", "content": content}});
                    let update = json!({"taskId": id, "inputResponses": answers});
                    self.client.update_task(of(update)).await?;
                }
                _ => return Ok(task),
            }
            let pause = task["pollIntervalMs"].as_u64().unwrap_or(100);
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
    }
}

fn slow(seconds: f64) -> Value {
    json!({"seconds": seconds, "label": "sum"})
}
