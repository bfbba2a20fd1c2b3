//! A server on standard input and output with the untyped API: one tool, every revision.
//!
//! A client starts it. To try it by hand, paste `{"jsonrpc":"2.0","id":1,"method":"ping"}` into a
//! terminal. The server ends when its input ends.

use mcp_tokio::mcp_async::Job;
use mcp_tokio::mcp_proto::json::{EncodeError, Object, Raw, RawBuf, Writer};
use mcp_tokio::mcp_proto::model::{
    CallToolResult, Content, ListToolsResult, ServerFeatures, TextContent, Tool,
};
use mcp_tokio::mcp_proto::rpc::Method;
use mcp_tokio::mcp_proto::server::ServerConfig;
use mcp_tokio::mcp_proto::{Payload, Revision};
use mcp_tokio::server::{Call, serve_stdio, service_fn};
use mcp_tokio::{ErrorReply, Runtime};

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    serve_stdio(Runtime, config(), service_fn(answer)).await
}

fn config() -> ServerConfig<'static> {
    ServerConfig {
        capabilities: ServerFeatures::TOOLS.capabilities(),
        ..ServerConfig::new("echo", env!("CARGO_PKG_VERSION"))
    }
}

fn answer(call: Call<'_>) -> Job {
    match call.method {
        Method::ToolsList => call.ready(Ok(Tools)),
        Method::ToolsCall if call.request.subject.is_some_and(|name| name == "echo") => {
            let arguments = call.params.get("arguments").and_then(Raw::object);
            let text = arguments.and_then(|arguments| arguments.get("text"));
            let Some(text) = text.filter(|text| text.string().is_some()) else {
                return call.refuse(ErrorReply::invalid_params("text is missing, or no string"));
            };
            // The message is gone when the answer is written, so its text is copied, once.
            let text = RawBuf::from(text);
            call.ready(Ok(Echo { text }))
        }
        Method::ToolsCall => call.refuse(ErrorReply::invalid_params("Unknown tool")),
        _ => call.refuse(ErrorReply::method_not_found()),
    }
}

struct Tools;

impl Payload for Tools {
    fn write(&self, writer: &mut Writer<'_>, revision: Revision) -> Result<(), EncodeError> {
        let schema = Raw::parse(SCHEMA, 8).ok().and_then(Raw::object);
        let tool = Tool {
            description: Some("Answers with its argument".into()),
            ..Tool::new("echo", schema.unwrap_or(Object::EMPTY))
        };
        ListToolsResult {
            tools: (&[tool]).into(),
            ..ListToolsResult::default()
        }
        .write(writer, revision)
    }
}

struct Echo {
    text: RawBuf,
}

impl Payload for Echo {
    fn write(&self, writer: &mut Writer<'_>, revision: Revision) -> Result<(), EncodeError> {
        let block = Content::Text(TextContent {
            text: self.text.as_raw().string().unwrap_or_default(),
            ..TextContent::default()
        });
        CallToolResult {
            content: (&[block]).into(),
            ..CallToolResult::default()
        }
        .write(writer, revision)
    }
}

const SCHEMA: &[u8] =
    br#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#;
