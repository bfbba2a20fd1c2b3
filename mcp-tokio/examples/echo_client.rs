//! A client that starts the server of its command line and calls the tool `echo`.
//!
//! Usage: echo_client MODE COMMAND [ARGUMENT...]    MODE: legacy, auto or a modern revision
//!
//! Prints a JSON line for each step that succeeds: initialised, listed, called, closed.

use core::error::Error;

use mcp_tokio::mcp_proto::RevisionSet;
use mcp_tokio::mcp_proto::client::ClientConfig;
use mcp_tokio::mcp_proto::json::{Object, Raw, RawBuf};
use mcp_tokio::mcp_proto::model::{CallToolParams, CallToolResult, Content, ListToolsResult};
use mcp_tokio::mcp_proto::rpc::Method;
use mcp_tokio::{Command, Runtime};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mode = arguments.next().ok_or(USAGE)?;
    let command = Command::new(arguments.next().ok_or(USAGE)?).args(arguments);
    let config = ClientConfig {
        revisions: match mode.as_str() {
            "auto" => RevisionSet::all(),
            "legacy" => RevisionSet::legacy(),
            revision => RevisionSet::of(&[revision.parse()?]),
        },
        ..ClientConfig::new("echo_client", env!("CARGO_PKG_VERSION"))
    };

    let command = command.on_stderr(|line| eprintln!("{line}"));
    let (client, ending) = command.connect_in_task(Runtime, config, ()).await?;
    let revision = client.ready().await?.revision;
    println!(r#"{{"step":"initialised","revision":"{revision}"}}"#);

    let page: RawBuf = client.call(Method::ToolsList, None).await?;
    let page: ListToolsResult<'_> = page.as_raw().decode(&mut [])?;
    if !page.tools.iter().flatten().any(|tool| tool.name == "echo") {
        return Err("there is no tool echo".into());
    }
    println!(r#"{{"step":"listed"}}"#);

    let arguments = Raw::parse(ARGUMENTS, 8)
        .ok()
        .and_then(Raw::object)
        .unwrap_or(Object::EMPTY);
    let params = CallToolParams {
        name: "echo".into(),
        arguments: Some(arguments),
        ..CallToolParams::default()
    };
    let answer: RawBuf = client.call(Method::ToolsCall, Some(&params)).await?;
    let answer: CallToolResult<'_> = answer.as_raw().decode(&mut [])?;
    match answer.content.iter().next() {
        Some(Ok(Content::Text(block))) if !answer.is_error && block.text == TEXT => {}
        other => return Err(format!("not what was said: {other:?}").into()),
    }
    println!(r#"{{"step":"called"}}"#);

    client.close();
    let status = ending.await?;
    if !status.success() {
        return Err(format!("the server ended with {status}").into());
    }
    println!(r#"{{"step":"closed"}}"#);
    Ok(())
}

const USAGE: &str = "usage: echo_client MODE COMMAND [ARGUMENT...]";

/// Everything that a line-framed pipe and an escaping writer can get wrong.
const TEXT: &str = "line\nbreak, \"quotes\", back\\slash, \u{e9}\u{4e2d}\u{1f980}, \u{2028}, \u{1}";
const ARGUMENTS: &[u8] =
    br#"{"text":"line\nbreak, \"quotes\", back\\slash, \u00e9\u4e2d\ud83e\udd80, \u2028, \u0001"}"#;
