//! `call`: a tool at work.

use std::io::stdin;

use crate::content::{content, value};
use crate::exit::{Exit, Failure};
use crate::json::pretty;
use crate::out;
use crate::plain::line;
use crate::session::Session;
use crate::style::{DIM, RED, paint};
use crate::visits::visited;
use crate::{typed, words};
use mcp_tokio::client::CallError;
use mcp_tokio::mcp_async::model::CallToolResult;
use mcp_tokio::mcp_proto::json::{Raw, RawBuf};
use mcp_tokio::tasks::client::{TaskEvent, TaskHandle, ToolOutcome};

/// Calls a tool and shows what it answers.
pub(crate) async fn run(
    session: &Session<'_>,
    tool: &str,
    arguments: &[String],
) -> Result<Exit, Failure> {
    let words = words::parse(arguments, stdin()).map_err(Failure::usage)?;
    let schema = if typed::is_whole(&words) {
        RawBuf::from(Raw::TRUE)
    } else {
        schema(session, tool).await?
    };
    let arguments = typed::arguments(words, schema.as_raw());
    let arguments = arguments.map_err(|why| Failure::usage(format!("{tool}: {why}")))?;
    let outcome = loop {
        match session
            .wait_long(session.client.call_tool_task(tool, &arguments))
            .await
        {
            Err(failure) if visited(session, &failure).await? => {}
            other => break other?,
        }
    };
    let result = match outcome {
        ToolOutcome::Result(result) => result,
        ToolOutcome::Task(task) => followed(session, task).await?,
    };
    show(session, &result)?;
    Ok(if result.is_error {
        Exit::Tool
    } else {
        Exit::Success
    })
}

/// Shows how a task proceeds, and returns its result. Ctrl-C drops the handle, which cancels the
/// task.
async fn followed(session: &Session<'_>, mut task: TaskHandle) -> Result<CallToolResult, Failure> {
    while let Some(event) = session.interrupt.or(task.next()).await? {
        if let TaskEvent::State(state) = event
            && !session.common.quiet
        {
            let message = state.message.as_deref().unwrap_or_default();
            let text = format!("{} {}", state.status.as_str(), line(message));
            session.screen.say(paint(DIM, text.trim_end()));
        }
    }
    session.wait(task.result()).await
}

/// What the tool takes. A tool that is not listed accepts any arguments: the server reports
/// an unknown tool.
async fn schema(session: &Session<'_>, tool: &str) -> Result<RawBuf, Failure> {
    let search = async {
        let mut tools = session.client.tools();
        while let Some(listed) = tools.next().await {
            let listed = listed?;
            if listed.name == tool {
                return Ok(listed.input_schema);
            }
        }
        Ok::<_, CallError>(RawBuf::from(Raw::TRUE))
    };
    session.wait(search).await
}

fn show(session: &Session<'_>, result: &CallToolResult) -> Result<(), Failure> {
    if session.common.json {
        let document = RawBuf::encode(result);
        return out::document(&document.map_err(|error| Failure::new(Exit::Other, error))?);
    }
    let save = session.save();
    let mut blocks = Vec::new();
    for block in &result.content {
        blocks.push(content(block, save.as_ref())?);
    }
    if let Some(structured) = &result.structured_content
        && !is_told(result, structured)
    {
        blocks.push(value(structured));
    }
    let text = blocks.join("\n");
    if result.is_error {
        // What `$(client call ..)` catches is an answer only.
        session
            .screen
            .say(format!("{} {text}", paint(RED, "the tool failed:")));
        return Ok(());
    }
    out::text(&text)
}

/// Whether a text block says the structured content already, for clients that know text only.
fn is_told(result: &CallToolResult, structured: &RawBuf) -> bool {
    let structured = pretty(structured.as_raw());
    let texts = result.content.iter().filter_map(|block| block.as_text());
    let mut values = texts.filter_map(|text| RawBuf::parse(text).ok());
    values.any(|value| pretty(value.as_raw()) == structured)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structured_content_is_shown_once() {
        let check = |text: &str, expected: bool| {
            let structured = RawBuf::parse(r#"{"sum":3,"of":[1,2]}"#).unwrap();
            let result = CallToolResult::from(vec![text.into()]);
            assert_eq!(is_told(&result, &structured), expected, "{text}");
        };
        check("{ \"sum\": 3, \"of\": [1, 2] }", true);
        check("{\"sum\":4,\"of\":[1,2]}", false);
        check("the sum is 3", false);
    }
}
