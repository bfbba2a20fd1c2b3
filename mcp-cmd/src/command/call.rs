//! `call`: a tool at work.

use std::borrow::Cow;
use std::io::stdin;

use super::list::all;
use crate::content::{content, value};
use crate::exit::{Exit, Failure};
use crate::json::canonical;
use crate::nearest::{unknown, wrong};
use crate::plain::line;
use crate::save::Save;
use crate::session::Session;
use crate::style::{DIM, RED, paint};
use crate::visits::visited;
use crate::{typed, words};
use mcp_tokio::json::{Raw, RawBuf};
use mcp_tokio::mcp_async::model::CallToolResult;
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
    let arguments = arguments.map_err(|why| wrong(tool, &why))?;
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

/// Returns the schema of the arguments from the list of the server.
async fn schema(session: &Session<'_>, tool: &str) -> Result<RawBuf, Failure> {
    let mut listed = all(session, session.client.tools()).await?;
    match listed.iter().position(|listed| listed.name == tool) {
        Some(index) => Ok(listed.swap_remove(index).input_schema),
        None => {
            let names = listed.iter().map(|listed| &*listed.name);
            Err(unknown("tool", tool, names))
        }
    }
}

fn show(session: &Session<'_>, result: &CallToolResult) -> Result<(), Failure> {
    let save = session.save();
    let mut blocks = Vec::new();
    for block in &result.content {
        blocks.push(content(block, save.as_ref()));
    }
    if let Some(structured) = &result.structured_content
        && !is_told(result, structured.as_raw())
    {
        blocks.push(value(structured));
    }
    let text = blocks.join("\n");
    if result.is_error && !session.common.json {
        // The standard output, which `$(client call ..)` captures, contains answers only.
        session
            .screen
            .say(format!("{} {text}", paint(RED, "the tool failed:")));
    } else {
        session.write(result, &text)?;
    }
    save.map_or(Ok(()), Save::finish)
}

/// Returns whether the text blocks say the structured content already, for clients that know text only: one
/// of them is its JSON, or they are its elements. An object of one member is as good as the member:
/// libraries of servers wrap values that are no objects. The order of members is of no importance.
fn is_told(result: &CallToolResult, structured: Raw<'_>) -> bool {
    // Each text and value is read a fixed number of times, however many there are.
    let texts = result.content.iter().filter_map(|it| it.as_text());
    let json = |text| RawBuf::parse(text).ok().map(|it| canonical(it.as_raw()));
    let texts: Vec<_> = texts.map(|text| (text, json(text))).collect();
    let says = |(text, json): &(&str, Option<String>),
                (string, value): &(Option<Cow<'_, str>>, String)| {
        string.as_deref() == Some(text) || json.as_ref() == Some(value)
    };
    let is_said = |value: Raw<'_>| {
        let whole = meaning(value);
        let elements = value.array().map(|array| array.elements());
        texts.iter().any(|text| says(text, &whole))
            || elements.is_some_and(|elements| {
                let mut pairs = elements.clone().zip(&texts);
                !texts.is_empty()
                    && elements.count() == texts.len()
                    && pairs.all(|(value, text)| says(text, &meaning(value)))
            })
    };
    let mut members = structured.object().unwrap_or_default().members();
    let only = members.next().filter(|_| members.next().is_none());
    is_said(structured) || only.is_some_and(|(_, value)| is_said(value))
}

/// Returns the texts that say a value: the value itself if it is one, and its JSON.
fn meaning(value: Raw<'_>) -> (Option<Cow<'_, str>>, String) {
    (value.string().map(|it| it.to_cow()), canonical(value))
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
        check(&["[{\"a\":1,\"b\":2}]"], r#"{"l":[{"b":2,"a":1}]}"#, true);
        check(&["{\"a\":1,\"a\":2}"], r#"{"a":1,"b":2}"#, false);
        // Two objects of so many members are not compared member by member.
        let many = |order: &mut dyn Iterator<Item = u32>| {
            let members: Vec<_> = order.map(|it| format!("\"k{it}\":{it}")).collect();
            format!("{{{}}}", members.join(","))
        };
        let (up, down) = (many(&mut (0..100_000)), many(&mut (0..100_000).rev()));
        check(&[&down], &up, true);
    }
}
