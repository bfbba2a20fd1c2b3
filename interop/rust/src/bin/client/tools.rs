//! Calls of tools: what they answer and how they fail, what they tell meanwhile, and their end before their time.

use std::time::Duration;

use interop_rust::{decoded, of, value};
use serde_json::json;

use crate::Outcome;
use crate::driver::{Driver, refused};

impl Driver {
    pub(crate) async fn call(&self) -> Outcome {
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

    pub(crate) async fn content(&self) -> Outcome {
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

    pub(crate) async fn structured(&self) -> Outcome {
        let answer = self.tool("add", json!({"a": 1, "b": 2})).await?;
        check!(
            answer["structuredContent"]["sum"].as_f64() == Some(3.0),
            "{answer}"
        );
        Ok(())
    }

    pub(crate) async fn errors(&self) -> Outcome {
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

    pub(crate) async fn progress(&self) -> Outcome {
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

    pub(crate) async fn cancel(&self) -> Outcome {
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

    pub(crate) async fn logging(&self) -> Outcome {
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
}
