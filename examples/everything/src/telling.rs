//! Progress and log messages of a tool before its result.

use core::time::Duration;

use mcp_async::model::LoggingLevel;
use mcp_async::server::{Context, ServerBuilder};
use smol::Timer;

pub(super) fn register(server: ServerBuilder) -> ServerBuilder {
    server
        .tool(
            "test_tool_with_progress",
            "Tells its progress in three steps",
            |(): (), cx: Context| async move {
                for step in [0.0, 50.0, 100.0] {
                    let message = format!("Completed step {step} of 100");
                    cx.progress(step).total(100.0).message(&message).await;
                    // Some clients lose what comes with the same read as the result.
                    Timer::after(Duration::from_millis(20)).await;
                }
                Ok("done")
            },
        )
        .tool(
            "test_tool_with_logging",
            "Logs three messages",
            |(): (), cx: Context| async move {
                for message in [
                    "Tool execution started",
                    "Tool processing data",
                    "Tool execution completed",
                ] {
                    cx.log(LoggingLevel::Info, message)
                        .logger("everything")
                        .await;
                    Timer::after(Duration::from_millis(20)).await;
                }
                Ok("logged")
            },
        )
        .tool(
            "test_logging_tool",
            "Logs a message, if the request wants any",
            |(): (), cx: Context| async move {
                cx.log(LoggingLevel::Info, "Diagnostic trace logging activated")
                    .await;
                Ok("Logging evaluated")
            },
        )
        .tool(
            "test_streaming_elicitation",
            "Tells its progress, and asks nothing beside its own answer",
            |(): (), cx: Context| async move {
                cx.progress(50.0).total(100.0).await;
                Ok("Streaming complete")
            },
        )
}
