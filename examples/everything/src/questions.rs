//! One question to the client. The code is the same in every revision: until 2025-11-25 a question is
//! a request of the server, in 2026-07-28 it is a round of the call.

use schemars::JsonSchema;
use serde::Deserialize;

use mcp_async::json::RawBuf;
use mcp_async::model::{CreateMessageParams, ElicitResult, SamplingMessage};
use mcp_async::server::{Context, ServerBuilder};

#[derive(Deserialize, JsonSchema)]
struct Asked {
    /// What to ask the person.
    message: String,
}

#[derive(Deserialize, JsonSchema)]
struct Prompted {
    /// What to ask the model.
    prompt: String,
}

pub(super) fn register(server: ServerBuilder) -> ServerBuilder {
    server
        .tool(
            "test_sampling",
            "Asks the client's model",
            |args: Prompted, cx: Context| async move {
                let messages = vec![SamplingMessage::user(args.prompt)];
                let params = CreateMessageParams::new(messages, 100);
                let answer = cx.sample("completion", params).await?;
                Ok(format!("LLM response: {}", answer.content.text()))
            },
        )
        .tool(
            "test_elicitation",
            "Asks the person",
            |args: Asked, cx: Context| async move {
                let answer = cx.elicit_form("user", &args.message, form(USER)).await?;
                Ok(format!("User response: {}", told(&answer)))
            },
        )
        .tool(
            "test_elicitation_sep1034_defaults",
            "Asks the person, with something filled in",
            |(): (), cx: Context| async move {
                let message = "Please review and update the form fields with defaults";
                let answer = cx.elicit_form("defaults", message, form(DEFAULTS)).await?;
                Ok(format!("Elicitation completed: {}", told(&answer)))
            },
        )
        .tool(
            "test_elicitation_sep1330_enums",
            "Lets the person choose, in every way there is",
            |(): (), cx: Context| async move {
                let message = "Please select options from the enum fields";
                let answer = cx.elicit_form("choices", message, form(CHOICES)).await?;
                Ok(format!("Elicitation completed: {}", told(&answer)))
            },
        )
        .tool(
            "elicit_url",
            "Sends the person to a page",
            |(): (), cx: Context| async move {
                let url = "https://example.com/authorize";
                let action = cx.elicit_url("authorize", "Please authorize", url).await?;
                Ok(action.to_string())
            },
        )
        .tool(
            "list_roots",
            "Lists the client's roots",
            |(): (), cx: Context| async move {
                let roots = cx.roots().await?;
                let lines: Vec<&str> = roots.iter().map(|(root, _)| root.uri.as_str()).collect();
                Ok(lines.join("\n"))
            },
        )
}

/// What the person did, and the form as it came.
pub(super) fn told(answer: &ElicitResult) -> String {
    let content = answer.content.as_ref().map(RawBuf::as_raw);
    let content = content.map_or("{}", |content| content.as_str());
    format!("action={}, content={content}", answer.action)
}

/// A form by its schema. The library writes it in the way of the client's revision.
fn form(schema: &str) -> RawBuf {
    RawBuf::parse(schema).unwrap_or_default()
}

const USER: &str = r#"{
    "type": "object",
    "properties": {
        "username": {"type": "string", "description": "User's response"},
        "email": {"type": "string", "description": "User's email address"}
    },
    "required": ["username", "email"]
}"#;

const DEFAULTS: &str = r#"{
    "type": "object",
    "properties": {
        "name": {"type": "string", "description": "User name", "default": "John Doe"},
        "age": {"type": "integer", "description": "User age", "default": 30},
        "score": {"type": "number", "description": "User score", "default": 95.5},
        "status": {
            "type": "string",
            "description": "User status",
            "enum": ["active", "inactive", "pending"],
            "default": "active"
        },
        "verified": {"type": "boolean", "description": "Verification status", "default": true}
    },
    "required": []
}"#;

const CHOICES: &str = r#"{
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {
            "type": "string",
            "oneOf": [
                {"const": "value1", "title": "First Option"},
                {"const": "value2", "title": "Second Option"},
                {"const": "value3", "title": "Third Option"}
            ]
        },
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"]
        },
        "untitledMulti": {
            "type": "array",
            "minItems": 1,
            "maxItems": 3,
            "items": {"type": "string", "enum": ["option1", "option2", "option3"]}
        },
        "titledMulti": {
            "type": "array",
            "minItems": 1,
            "maxItems": 3,
            "items": {
                "anyOf": [
                    {"const": "value1", "title": "First Choice"},
                    {"const": "value2", "title": "Second Choice"},
                    {"const": "value3", "title": "Third Choice"}
                ]
            }
        }
    },
    "required": []
}"#;
