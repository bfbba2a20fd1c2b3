//! Prompts: arguments and their completion, images, resources, and a prompt that asks a question.

use schemars::JsonSchema;
use serde::Deserialize;

use super::media;
use super::rounds::accepted;
use mcp_async::model::{Content, PromptMessage, ResourceContents};
use mcp_async::server::{CompletionRequest, Context, Prompt, ServerBuilder};

#[derive(Deserialize, JsonSchema)]
struct Pair {
    /// First test argument
    arg1: String,
    /// Second test argument
    arg2: String,
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Embedded {
    /// URI of the resource to embed
    resource_uri: String,
}

#[derive(Deserialize, JsonSchema)]
struct Wanted {
    context: String,
}

pub(super) fn register(server: ServerBuilder) -> ServerBuilder {
    server
        .prompt(
            "test_simple_prompt",
            "Has no arguments",
            |(): (), _: Context| async { Ok("This is a simple prompt for testing.") },
        )
        .with(
            Prompt::new("test_prompt_with_arguments")
                .title("Prompt With Arguments")
                .description("Has two arguments")
                .complete("arg1", |typed: CompletionRequest, _: Context| async move {
                    let suffix = typed.arguments.get("arg2").map(|text| format!("-{text}"));
                    let suffix = suffix.unwrap_or_default();
                    let known = ["paris", "park", "party"].into_iter();
                    let fitting = known.filter(|word| word.starts_with(&typed.value));
                    Ok(Vec::from_iter(
                        fitting.map(|word| format!("{word}{suffix}")),
                    ))
                })
                .handler(|args: Pair, _: Context| async move {
                    let Pair { arg1, arg2 } = args;
                    Ok(format!(
                        "Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"
                    ))
                }),
        )
        .prompt(
            "test_prompt_with_embedded_resource",
            "Shows a resource to the model",
            |args: Embedded, _: Context| async move {
                let text = "Embedded resource content for testing.";
                let contents = ResourceContents::text(args.resource_uri, text);
                let resource = Content::resource(contents.with_mime_type("text/plain"));
                Ok(vec![
                    PromptMessage::user(resource),
                    PromptMessage::user("Please process the embedded resource above."),
                ])
            },
        )
        .prompt(
            "test_prompt_with_image",
            "Shows an image to the model",
            |(): (), _: Context| async {
                Ok(vec![
                    PromptMessage::user(Content::image(media::PNG, "image/png")),
                    PromptMessage::user("Please analyze the image above."),
                ])
            },
        )
        .prompt(
            "test_input_required_result_prompt",
            "Asks the person what it is for",
            |(): (), cx: Context| async move {
                let message = "What context should the prompt use?";
                let wanted: Wanted = accepted(cx.elicit("user_context", message).await?)?;
                Ok(format!("Prompt with context: {}", wanted.context))
            },
        )
}
