//! One function for each feature, which says what a server has to do.

use serde::{Deserialize, Serialize};

use super::Driver;
use super::check::{Outcome, abandon, all, check, refused};
use super::person::ROOT;
use mcp_async::client::Update;
use mcp_async::model::{
    CallToolResult, Content, ElicitParams, LoggingLevel, Reference, ResourceContents, Role,
    SubscriptionFilter,
};
use mcp_proto::Payload;
use mcp_proto::json::RawBuf;
use mcp_proto::revision::Elicitation;
use mcp_proto::rpc::code::INVALID_PARAMS;

/// In the order in which they are tried.
pub(super) const ALL: [&str; 28] = [
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
    "skills",
    "directories",
    "tasks",
    "task-input",
    "task-errors",
    "task-cancel",
    "task-listen",
];

impl Driver {
    pub(super) async fn drive(&self, feature: &str) -> Outcome {
        match feature {
            "negotiate" => self.negotiate(),
            "ping" => Ok(self.client.ping().await?),
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
            "skills" => self.skills().await,
            "directories" => self.directories().await,
            // Other revisions do not have tasks; there the slow call would run for a minute.
            "tasks" | "task-input" | "task-cancel" if !self.has_tasks() => Ok(()),
            "task-errors" | "task-listen" if !self.revision().is_modern() => Ok(()),
            "tasks" => self.tasks().await,
            "task-input" => self.task_input().await,
            "task-errors" => self.task_errors().await,
            "task-cancel" => self.task_cancel().await,
            "task-listen" => self.task_listen().await,
            _ => self.complete().await,
        }
    }

    fn negotiate(&self) -> Outcome {
        let info = self.client.info();
        let expected = self.expected.unwrap_or(info.revision);
        check!(info.revision == expected, info);
        check!(info.server.is_some() && info.instructions.is_some(), info);
        let declared = info
            .capabilities
            .as_ref()
            .and_then(|all| all.as_raw().object());
        for capability in ["tools", "resources", "prompts"] {
            check!(
                declared.is_some_and(|all| all.get(capability).is_some()),
                capability
            );
        }
        Ok(())
    }

    async fn list(&self) -> Outcome {
        let tools = self.client.tools().all().await?;
        check!(
            tools.len() > 10 && tools.iter().any(|tool| tool.name == "echo"),
            tools
        );
        let page = self.client.tools().page(None).await?;
        check!(page.items.len() < tools.len() && page.next.is_some(), page);
        let resources = self.client.resources().all().await?;
        check!(
            resources.iter().any(|resource| resource.uri == STATIC),
            resources
        );
        let templates = self.client.resource_templates().all().await?;
        check!(
            templates
                .iter()
                .any(|template| template.uri_template == TEMPLATE),
            templates
        );
        let prompts = self.client.prompts().all().await?;
        check!(prompts.iter().any(|prompt| prompt.name == PROMPT), prompts);
        let wrong = "no such cursor".into();
        refused(
            self.client.tools().page(Some(wrong)).await,
            &[INVALID_PARAMS],
        )
    }

    async fn call(&self) -> Outcome {
        // Everything that a line-framed pipe and an escaping writer can get wrong.
        let odd = "line\nbreak, \"quotes\", back\\slash, é中🦀, \u{2028}, \u{1}";
        let answer = self.text("echo", &Echo { text: odd }).await?;
        check!(answer == odd, answer);
        let answer = self.text("test_simple_text", &()).await?;
        check!(
            answer == "This is a simple text response for testing.",
            answer
        );
        let numbers: Vec<String> = (0..50).map(|number| number.to_string()).collect();
        let calls = numbers
            .iter()
            .map(|text| async move { self.text("echo", &Echo { text }).await.unwrap_or_default() });
        let answers = all(calls).await;
        check!(answers == numbers, answers);
        Ok(())
    }

    async fn content(&self) -> Outcome {
        let answer = self.tool("test_image_content", &()).await?;
        check!(is_image(answer.content.first()), answer);
        if self.revision().has_audio() {
            let answer = self.tool("test_audio_content", &()).await?;
            let Some(Content::Audio(audio)) = answer.content.first() else {
                return Err(format!("{answer:?}").into());
            };
            check!(
                audio.data.decode()?.starts_with(b"RIFF") && audio.mime_type == "audio/wav",
                audio
            );
        }
        let answer = self.tool("test_embedded_resource", &()).await?;
        check!(
            embedded(answer.content.first()) == Some("test://embedded-resource"),
            answer
        );
        let answer = self.tool("test_multiple_content_types", &()).await?;
        let [Content::Text(_), image, resource] = answer.content.as_slice() else {
            return Err(format!("{answer:?}").into());
        };
        check!(
            is_image(Some(image)) && embedded(Some(resource)).is_some(),
            answer
        );
        Ok(())
    }

    async fn structured(&self) -> Outcome {
        let sum: Sum = self
            .client
            .call_tool_as("add", &Addends { a: 1.0, b: 2.0 })
            .await?;
        check!(sum.sum == 3.0, sum);
        Ok(())
    }

    async fn errors(&self) -> Outcome {
        let answer = self.client.call_tool("test_error_handling", &()).await?;
        check!(answer.is_error && !answer.text().is_empty(), answer);
        for (name, text) in [("add", "no number"), ("no_such_tool", "")] {
            match self.client.call_tool(name, &Echo { text }).await {
                Ok(answer) => check!(answer.is_error, answer),
                refusal => refused(refusal, &[INVALID_PARAMS])?,
            }
        }
        // One SDK has the code of 2026-07-28 in every revision.
        let codes = [INVALID_PARAMS, self.revision().resource_not_found_code()];
        refused(
            self.client.read_resource("test://no-such-resource").await,
            &codes,
        )?;
        refused(
            self.client.get_prompt("no_such_prompt", &()).await,
            &[INVALID_PARAMS],
        )
    }

    async fn progress(&self) -> Outcome {
        let mut steps = Vec::new();
        let answer = self
            .client
            .call_tool("test_tool_with_progress", &())
            .on_progress(|step| steps.push((step.progress, step.total)))
            .await?;
        check!(!answer.is_error, answer);
        check!(
            steps == [0.0, 50.0, 100.0].map(|step| (step, Some(100.0))),
            steps
        );
        Ok(())
    }

    async fn cancel(&self) -> Outcome {
        let sleep = self.client.call_tool("sleep", &Sleep { ms: 60_000 });
        let echo = self.text("echo", &Echo { text: "meanwhile" });
        check!(
            abandon(echo, sleep).await?? == "meanwhile",
            "another answer"
        );
        let answer = self.text("echo", &Echo { text: "awake" }).await?;
        check!(answer == "awake", answer);
        Ok(())
    }

    async fn logging(&self) -> Outcome {
        let mut logs = self.client.logs();
        if self.revision().is_modern() {
            self.tool("test_logging_tool", &()).await?;
            let call = self.client.call_tool("test_logging_tool", &());
            call.with_logs(LoggingLevel::Debug).await?;
        } else {
            self.client.set_log_level(LoggingLevel::Error).await?;
            self.tool("test_tool_with_logging", &()).await?;
            self.client.set_log_level(LoggingLevel::Info).await?;
            self.tool("test_tool_with_logging", &()).await?;
            logs.next().await;
            logs.next().await;
        }
        let log = logs.next().await;
        check!(
            log.as_ref()
                .is_some_and(|log| log.level == LoggingLevel::Info),
            log
        );
        Ok(())
    }

    async fn elicit(&self) -> Outcome {
        let answer = self
            .text("test_elicitation", &Message { message: "Who?" })
            .await?;
        check!(answer.contains("ada@example.com"), answer);
        let asked = self.person.memory().asked.pop();
        check!(
            asked.as_ref().and_then(ElicitParams::message) == Some("Who?"),
            asked
        );
        self.person.memory().declines = true;
        let declined = self
            .tool("test_elicitation", &Message { message: "Who?" })
            .await;
        self.person.memory().declines = false;
        declined?;
        if self.revision().elicitation() != Elicitation::Form {
            let answer = self.text("test_elicitation_sep1034_defaults", &()).await?;
            check!(answer.contains("John Doe"), answer);
            self.tool("test_elicitation_sep1330_enums", &()).await?;
        }
        Ok(())
    }

    async fn elicit_url(&self) -> Outcome {
        self.tool("elicit_url", &()).await?;
        let asked = self.person.memory().asked.pop();
        let Some(ElicitParams::Url(url)) = &asked else {
            return Err(format!("{asked:?}").into());
        };
        check!(url.url == "https://example.com/authorize", asked);
        Ok(())
    }

    async fn sampling(&self) -> Outcome {
        let answer = self
            .text("test_sampling", &Ask { prompt: "a poem" })
            .await?;
        check!(answer == "LLM response: heard a poem", answer);
        Ok(())
    }

    async fn roots(&self) -> Outcome {
        let answer = self.text("list_roots", &()).await?;
        check!(answer.contains(ROOT), answer);
        if !self.revision().is_modern() {
            self.client.notify_roots_changed().await?;
        }
        Ok(())
    }

    async fn rounds(&self) -> Outcome {
        self.person.memory().asked.clear();
        self.tool("test_input_required_result_multi_round", &())
            .await?;
        let asked = self.person.memory().asked.len();
        check!(asked == 2, asked);
        self.tool("test_input_required_result_multiple_inputs", &())
            .await?;
        let prompt = "test_input_required_result_prompt";
        let answer = self.client.get_prompt(prompt, &()).await?;
        check!(!answer.messages.is_empty(), answer);
        Ok(())
    }

    async fn resources(&self) -> Outcome {
        let answer = self.client.read_resource(STATIC).await?;
        let expected = "This is the content of the static text resource.";
        check!(answer.text().as_deref() == Some(expected), answer);
        let answer = self.client.read_resource("test://static-binary").await?;
        let Some(ResourceContents::Blob(blob)) = answer.contents.first() else {
            return Err(format!("{answer:?}").into());
        };
        check!(blob.blob.decode()?.starts_with(b"\x89PNG"), blob);
        Ok(())
    }

    async fn templates(&self) -> Outcome {
        let answer = self
            .client
            .read_resource("test://template/123/data")
            .await?;
        let data: Data = RawBuf::parse(answer.text().unwrap_or_default())?.decode()?;
        check!(
            data.id == "123" && data.template_test && data.data == "Data for ID: 123",
            data
        );
        Ok(())
    }

    async fn subscribe(&self) -> Outcome {
        let uri = "test://watched-resource";
        let mut updates = self.client.subscribe(uri).await?;
        self.text("touch_resource", &Touch { uri }).await?;
        let update = updates.next().await;
        check!(update == Some(Update::Resource(uri.into())), update);
        drop(updates);
        self.text("touch_resource", &Touch { uri }).await?;
        Ok(())
    }

    async fn changes(&self) -> Outcome {
        let filter = SubscriptionFilter {
            tools_list_changed: true,
            prompts_list_changed: true,
            ..SubscriptionFilter::default()
        };
        let mut changes = self.client.listen(filter).await?;
        for (tool, expected) in [
            ("test_trigger_tool_change", Update::Tools),
            ("test_trigger_prompt_change", Update::Prompts),
        ] {
            self.tool(tool, &()).await?;
            let change = changes.next().await;
            check!(change.as_ref() == Some(&expected), change);
        }
        Ok(())
    }

    async fn prompts(&self) -> Outcome {
        let answer = self.client.get_prompt("test_simple_prompt", &()).await?;
        check!(
            answer
                .messages
                .first()
                .is_some_and(|message| message.role == Role::User),
            answer
        );
        let arguments = PromptArguments {
            arg1: "hello",
            arg2: "world",
        };
        let answer = self.client.get_prompt(PROMPT, &arguments).await?;
        let text = answer
            .messages
            .first()
            .and_then(|message| message.content.as_text());
        check!(
            text == Some("Prompt with arguments: arg1='hello', arg2='world'"),
            answer
        );
        let arguments = Embed {
            resource_uri: "test://a",
        };
        let answer = self
            .client
            .get_prompt("test_prompt_with_embedded_resource", &arguments)
            .await?;
        let contents = answer.messages.iter().map(|message| &message.content);
        check!(
            contents
                .clone()
                .any(|content| embedded(Some(content)) == Some("test://a")),
            answer
        );
        let answer = self
            .client
            .get_prompt("test_prompt_with_image", &())
            .await?;
        check!(
            is_image(answer.messages.first().map(|message| &message.content)),
            answer
        );
        Ok(())
    }

    async fn complete(&self) -> Outcome {
        let prompt = Reference::prompt(PROMPT);
        let answer = self.client.complete(&prompt, "arg1", "par").await?;
        check!(answer.values == ["paris", "park", "party"], answer);
        // It came with links to resources.
        if self.revision().has_resource_links() {
            let asked = self.client.complete(&prompt, "arg1", "pari");
            let answer = asked.context(&[("arg2", "x")]).await?;
            check!(answer.values == ["paris-x"], answer);
        }
        let answer = self
            .client
            .complete(&Reference::resource(TEMPLATE), "id", "")
            .await?;
        check!(answer.values.len() == 100 && answer.has_more, answer);
        Ok(())
    }

    pub(super) async fn text(
        &self,
        name: &str,
        arguments: &(impl Payload + Sync),
    ) -> Outcome<String> {
        Ok(self.tool(name, arguments).await?.text())
    }

    pub(super) async fn tool(
        &self,
        name: &str,
        arguments: &(impl Payload + Sync),
    ) -> Outcome<CallToolResult> {
        let answer = self.client.call_tool(name, arguments).await?;
        check!(!answer.is_error, answer);
        Ok(answer)
    }
}

fn is_image(content: Option<&Content>) -> bool {
    let Some(Content::Image(image)) = content else {
        return false;
    };
    image.mime_type == "image/png"
        && image
            .data
            .decode()
            .is_ok_and(|bytes| bytes.starts_with(b"\x89PNG"))
}

fn embedded(content: Option<&Content>) -> Option<&str> {
    match content {
        Some(Content::Resource(resource)) => resource.resource.uri(),
        _ => None,
    }
}

#[derive(Serialize)]
struct Echo<'t> {
    text: &'t str,
}

#[derive(Serialize)]
struct Addends {
    a: f64,
    b: f64,
}

#[derive(Debug, Deserialize)]
struct Sum {
    sum: f64,
}

#[derive(Serialize)]
struct Sleep {
    ms: u64,
}

#[derive(Serialize)]
struct Message<'t> {
    message: &'t str,
}

#[derive(Serialize)]
struct Ask<'t> {
    prompt: &'t str,
}

#[derive(Serialize)]
struct Touch<'t> {
    uri: &'t str,
}

#[derive(Serialize)]
struct PromptArguments<'t> {
    arg1: &'t str,
    arg2: &'t str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Embed<'t> {
    resource_uri: &'t str,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data {
    id: String,
    template_test: bool,
    data: String,
}

const STATIC: &str = "test://static-text";
const TEMPLATE: &str = "test://template/{id}/data";
const PROMPT: &str = "test_prompt_with_arguments";
