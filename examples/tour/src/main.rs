//! Prints every message of a conversation in two revisions.
//!
//! The program starts itself as a server, a child process on pipes, and calls it twice: with the
//! handshake of 2025-11-25, and in 2026-07-28, where each request carries its own description. It uses
//! the untyped API and no HTTP.

use core::error::Error;
use core::time::Duration;
use std::io::{self, IsTerminal};

use mcp_tokio::client::connect_in_task;
use mcp_tokio::mcp_async::{Job, Tap};
use mcp_tokio::mcp_proto::client::ClientConfig;
use mcp_tokio::mcp_proto::json::{EncodeError, Object, Raw, RawBuf, Writer};
use mcp_tokio::mcp_proto::model::{
    CallToolParams, CallToolResult, Content, ListToolsResult, ServerFeatures, Tool,
};
use mcp_tokio::mcp_proto::rpc::Method;
use mcp_tokio::mcp_proto::server::ServerConfig;
use mcp_tokio::mcp_proto::{Payload, Revision, RevisionSet};
use mcp_tokio::server::{Call, serve_stdio, service_fn};
use mcp_tokio::{Command, ErrorReply, Runtime};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    if std::env::args().nth(1).as_deref() == Some("server") {
        return Ok(serve_stdio(Runtime, server(), service_fn(answer)).await?);
    }
    talk(Revision::V2025_11_25).await?;
    println!();
    talk(Revision::V2026_07_28).await
}

async fn talk(revision: Revision) -> Result<(), Box<dyn Error>> {
    println!(
        "{}",
        paint(BOLD, &format!("{revision}: a server as a child process"))
    );
    let server = Command::new(std::env::current_exe()?)
        .arg("server")
        .spawn(Runtime)?;
    let wire = (
        Tap::new(server.stdout, said_by(paint(GREEN, "server"))),
        Tap::new(server.stdin, said_by(paint(BLUE, "client"))),
    );
    let config = ClientConfig {
        revisions: RevisionSet::of(&[revision]),
        ..ClientConfig::new("tour", env!("CARGO_PKG_VERSION"))
    };
    let client = connect_in_task(wire, Runtime, config, ()).await?;

    let tools: RawBuf = client.call(Method::ToolsList, None).await?;
    let tools: ListToolsResult<'_> = tools.as_raw().decode(&mut [])?;
    for tool in tools.tools.iter() {
        println!(
            "        {}",
            paint(BOLD, &format!("there is a tool {}", tool?.name))
        );
    }
    let params = CallToolParams {
        name: "forecast".into(),
        arguments: Some(object(br#"{"city":"Kyoto"}"#)),
        ..CallToolParams::default()
    };
    let answer: RawBuf = client
        .call(Method::ToolsCall, Some(&params))
        .on_progress(|step| {
            println!(
                "        {}",
                paint(BOLD, &format!("so far {}", step.progress))
            );
        })
        .await?;
    let answer: CallToolResult<'_> = answer.as_raw().decode(&mut [])?;
    for block in answer.content.iter() {
        if let Content::Text(block) = block? {
            println!(
                "        {}",
                paint(BOLD, &format!("it says: {}", block.text))
            );
        }
    }

    client.close();
    let status = server.child.shutdown().await?;
    println!("{}", paint(BOLD, &format!("the server ended, {status}")));
    Ok(())
}

fn server() -> ServerConfig<'static> {
    ServerConfig {
        capabilities: ServerFeatures::TOOLS.capabilities(),
        ..ServerConfig::new("weather", env!("CARGO_PKG_VERSION"))
    }
}

/// The server's side: one function for every revision.
fn answer(call: Call<'_>) -> Job {
    match call.method {
        Method::ToolsList => call.ready(Ok(Tools)),
        Method::ToolsCall if call.request.subject.is_some_and(|name| name == "forecast") => {
            let arguments = call.params.get("arguments").and_then(Raw::object);
            let city = arguments.and_then(|arguments| arguments.get("city")?.string());
            let Some(city) = city.map(|city| city.to_cow().into_owned()) else {
                return call.refuse(ErrorReply::invalid_params("city is missing, or no string"));
            };
            let context = call.context().clone();
            call.answer(async move {
                let looking = context.progress(1.0).total(2.0);
                looking.message("looking at the sky").await;
                // Answered at once, both would cross the wire before the client's call is polled.
                tokio::time::sleep(LOOK).await;
                Ok(Forecast { city })
            })
        }
        Method::ToolsCall => call.refuse(ErrorReply::invalid_params("Unknown tool")),
        _ => call.refuse(ErrorReply::method_not_found()),
    }
}

struct Tools;

impl Payload for Tools {
    fn write(&self, writer: &mut Writer<'_>, revision: Revision) -> Result<(), EncodeError> {
        let tool = Tool {
            description: Some("Forecast for a city".into()),
            ..Tool::new("forecast", object(SCHEMA))
        };
        ListToolsResult {
            tools: (&[tool]).into(),
            ..ListToolsResult::default()
        }
        .write(writer, revision)
    }
}

struct Forecast {
    city: String,
}

impl Payload for Forecast {
    fn write(&self, writer: &mut Writer<'_>, revision: Revision) -> Result<(), EncodeError> {
        let text = format!("sunny in {}", self.city);
        CallToolResult {
            content: (&[Content::text(&text)]).into(),
            ..CallToolResult::default()
        }
        .write(writer, revision)
    }
}

/// Shows what this side of the conversation says.
fn said_by(speaker: String) -> impl Fn(&str) {
    move |line| println!("{speaker}  {line}")
}

/// JSON of our own, which is an object.
fn object(text: &[u8]) -> Object<'_> {
    Raw::parse(text, 8)
        .ok()
        .and_then(Raw::object)
        .unwrap_or(Object::EMPTY)
}

/// Colour for people, none for files and pipes.
fn paint(style: &str, text: &str) -> String {
    if io::stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none() {
        format!("\x1b[{style}m{text}\x1b[0m")
    } else {
        text.to_owned()
    }
}

/// How long a look at the sky takes.
const LOOK: Duration = Duration::from_millis(100);
const BOLD: &str = "1";
const GREEN: &str = "32";
const BLUE: &str = "34";
const SCHEMA: &[u8] =
    br#"{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}"#;
