//! `call`: a tool at work.

use std::io::stdin;

use crate::content::{content, value};
use crate::exit::{Exit, Failure};
use crate::json::pretty;
use crate::nearest::unknown;
use crate::plain::line;
use crate::session::Session;
use crate::style::{DIM, RED, paint};
use crate::visits::visited;
use crate::{typed, words};
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

/// What the tool takes, as the list of the server says.
async fn schema(session: &Session<'_>, tool: &str) -> Result<RawBuf, Failure> {
    let mut tools = session.client.tools();
    let mut names = Vec::new();
    while let Some(listed) = session.interrupt.or(tools.next()).await? {
        let listed = listed?;
        if listed.name == tool {
            return Ok(listed.input_schema);
        }
        names.push(listed.name);
    }
    Err(unknown("tool", tool, names.iter().map(|name| &**name)))
}

fn show(session: &Session<'_>, result: &CallToolResult) -> Result<(), Failure> {
    let save = session.save();
    let mut blocks = Vec::new();
    for block in &result.content {
        blocks.push(content(block, save.as_ref())?);
    }
    if let Some(structured) = &result.structured_content
        && !is_told(result, structured.as_raw())
    {
        blocks.push(value(structured));
    }
    let text = blocks.join("\n");
    if result.is_error && !session.common.json {
        // What `$(client call ..)` catches is an answer only.
        session
            .screen
            .say(format!("{} {text}", paint(RED, "the tool failed:")));
        return Ok(());
    }
    session.write(result, &text)
}

/// Returns whether the text blocks say the structured content already, for clients that know text only: one
/// of them is its JSON, or they are its elements. An object of one member is as good as the member:
/// libraries of servers wrap values that are no objects.
fn is_told(result: &CallToolResult, structured: Raw<'_>) -> bool {
    let texts: Vec<&str> = result
        .content
        .iter()
        .filter_map(|it| it.as_text())
        .collect();
    let says = |text: &str, value: Raw<'_>| {
        let is_text = value.string().is_some_and(|string| string.to_cow() == text);
        is_text || RawBuf::parse(text).is_ok_and(|json| is_same(json.as_raw(), value))
    };
    let is_said = |value: Raw<'_>| {
        let elements = value.array().map(|array| array.elements());
        texts.iter().any(|text| says(text, value))
            || elements.is_some_and(|elements| {
                let mut pairs = elements.clone().zip(&texts);
                !texts.is_empty()
                    && elements.count() == texts.len()
                    && pairs.all(|(value, text)| says(text, value))
            })
    };
    let mut members = structured.object().unwrap_or_default().members();
    let only = members.next().filter(|_| members.next().is_none());
    is_said(structured) || only.is_some_and(|(_, value)| is_said(value))
}

/// Returns whether two values are the same, whatever the order of members.
fn is_same(one: Raw<'_>, other: Raw<'_>) -> bool {
    match (one.object(), other.object()) {
        (Some(one), Some(other)) => {
            one.members().count() == other.members().count()
                && one.members().all(|(name, value)| {
                    let other = other.get(&name.to_cow());
                    other.is_some_and(|other| is_same(value, other))
                })
        }
        _ => pretty(one) == pretty(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structured_content_is_shown_once() {
        let check = |texts: &[&str], structured: &str, expected: bool| {
            let structured = RawBuf::parse(structured).unwrap();
            let texts: Vec<_> = texts.iter().map(|&text| text.into()).collect();
            let result = CallToolResult::from(texts);
            assert_eq!(
                is_told(&result, structured.as_raw()),
                expected,
                "{result:?}"
            );
        };
        let sum = r#"{"sum":3,"of":[1,2]}"#;
        check(&["{ \"sum\": 3, \"of\": [1, 2] }"], sum, true);
        check(&["{\"of\":[1,2],\"sum\":3}"], sum, true);
        check(&["{\"sum\":4,\"of\":[1,2]}"], sum, false);
        check(&["the sum is 3"], sum, false);
        check(&[], sum, false);
        check(&["done"], r#"{"result":"done"}"#, true);
        check(&["a \"b\"\n"], r#"{"content":"a \"b\"\n"}"#, true);
        check(&["done"], r#"{"result":"done","by":"me"}"#, false);
        check(&["not done"], r#"{"result":"done"}"#, false);
        check(&["3"], r#"{"result":3}"#, true);
        check(&["{\"a\":1}"], r#"{"result":{"a":1}}"#, true);
        check(&["a", "b"], r#"{"result":["a","b"]}"#, true);
        check(&["a"], r#"{"result":["a","b"]}"#, false);
        check(&["done"], "\"done\"", true);
        check(&[], r#"{"result":[]}"#, false);
        check(&[], "{}", false);
    }
}
