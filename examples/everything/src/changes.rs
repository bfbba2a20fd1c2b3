//! Changes while the server runs. Clients that subscribed are notified automatically.

use schemars::JsonSchema;
use serde::Deserialize;

use mcp_async::server::{Context, Prompt, ServerBuilder, Tool};

#[derive(Deserialize, JsonSchema)]
struct Touched {
    /// The resource.
    uri: String,
}

pub(super) fn register(server: ServerBuilder) -> ServerBuilder {
    server
        .tool(
            "touch_resource",
            "Tells all who subscribed to a resource that it changed",
            |args: Touched, cx| async move {
                cx.registry().resource_updated(&args.uri);
                Ok("touched")
            },
        )
        .tool(
            "test_trigger_tool_change",
            "Adds a tool, or takes it away",
            |(): (), cx| async move {
                let registry = cx.registry();
                if !registry.remove_tool(TRANSIENT) {
                    let handler = |(): (), _: Context| async { Ok("still here") };
                    let tool = Tool::new(TRANSIENT).description("Comes and goes");
                    registry.add(tool.handler(handler))?;
                }
                Ok("Mutation triggered")
            },
        )
        .tool(
            "test_trigger_prompt_change",
            "Adds a prompt, or takes it away",
            |(): (), cx| async move {
                let registry = cx.registry();
                if !registry.remove_prompt(TRANSIENT) {
                    let handler = |(): (), _: Context| async { Ok("Still here?") };
                    let prompt = Prompt::new(TRANSIENT).description("Comes and goes");
                    registry.add(prompt.handler(handler))?;
                }
                Ok("Mutation triggered")
            },
        )
}

const TRANSIENT: &str = "transient";
