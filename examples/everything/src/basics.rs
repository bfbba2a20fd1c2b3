//! Tools that take arguments and give results, or fail.

use core::time::Duration;
use std::io;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use mcp_async::json::RawBuf;
use mcp_async::model::ClientFeatures;
use mcp_async::server::{Context, HandlerError, Json, ServerBuilder, Tool, ToolCall};
use smol::Timer;

#[derive(Deserialize, JsonSchema)]
struct Echo {
    /// What to say.
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Terms {
    a: f64,
    b: f64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: f64,
}

#[derive(Deserialize, JsonSchema)]
struct Nap {
    /// How long to sleep, in milliseconds.
    ms: u64,
}

#[derive(Deserialize, JsonSchema)]
struct Length {
    /// How many characters to answer with.
    #[schemars(range(max = MOST))]
    n: usize,
}

#[derive(Deserialize, JsonSchema)]
struct Mirrored {
    /// Over HTTP it stands in a header too.
    #[schemars(extend("x-mcp-header" = "Value"))]
    value: String,
}

/// 16 MiB are more than most clients take at once.
const MOST: usize = 1 << 24;

pub(super) fn register(server: ServerBuilder) -> ServerBuilder {
    server
        .tool(
            "echo",
            "Says its text again",
            |args: Echo, _: Context| async move { Ok(args.text) },
        )
        .with(
            Tool::new("add")
                .title("Addition")
                .description("Adds two numbers")
                .read_only()
                .idempotent()
                .open_world(false)
                .handler(|args: Terms, _: Context| async move {
                    Ok(Json(Sum {
                        sum: args.a + args.b,
                    }))
                }),
        )
        .tool(
            "sleep",
            "Sleeps; cancel it to wake it",
            |args: Nap, _: Context| async move {
                Timer::after(Duration::from_millis(args.ms)).await;
                Ok("slept")
            },
        )
        .tool(
            "big",
            "Answers with so many characters",
            |args: Length, _: Context| async move {
                if args.n > MOST {
                    return Err(HandlerError::invalid_params("n: more than 16777216"));
                }
                Ok("x".repeat(args.n))
            },
        )
        .tool("fail", "Fails inside", |(): (), _: Context| async {
            read_nothing()?;
            Ok("cannot be")
        })
        .tool("panic", "Panics", |(): (), _: Context| async {
            Ok(panics())
        })
        .tool(
            "test_error_handling",
            "Answers with an error that the model gets to read",
            |(): (), _: Context| async {
                Err::<(), _>(HandlerError::visible(
                    "This tool intentionally returns an error for testing",
                ))
            },
        )
        .with(
            Tool::new("test_missing_capability")
                .description("Is refused unless the client declares sampling")
                .requires(ClientFeatures::SAMPLING)
                .handler(|(): (), _: Context| async { Ok("Success") }),
        )
        .tool(
            "test_custom_header",
            "Its argument is mirrored in a header",
            |args: Mirrored, _: Context| async move { Ok(args.value) },
        )
        .tool(
            "test_reconnection",
            "Ends its stream before it has its result; the client comes back for that",
            |(): (), cx: Context| async move {
                cx.close_stream(Duration::from_millis(100)).await;
                Timer::after(Duration::from_millis(100)).await;
                Ok("Reconnection test completed successfully")
            },
        )
        .with(
            Tool::new("json_schema_2020_12_tool")
                .description("Has a schema with much of JSON Schema 2020-12 in it")
                .input_schema(RawBuf::parse(SCHEMA_2020_12).unwrap_or_default())
                .raw(|call: ToolCall, _: Context| async move {
                    let arguments = call.arguments.as_raw().as_str();
                    Ok(format!("JSON Schema 2020-12 tool called with: {arguments}"))
                }),
        )
}

/// The client hears nothing of the reason.
fn read_nothing() -> io::Result<()> {
    Err(io::Error::other("a detail that stays inside"))
}

/// The client hears nothing of the message, and the server lives on.
fn panics() -> &'static str {
    panic!("on purpose")
}

const SCHEMA_2020_12: &str = r##"{
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"}
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": false
}"##;
