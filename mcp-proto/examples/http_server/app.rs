//! The application: a tool that counts, one step every tenth of a second.

use core::time::Duration;

use mcp_proto::json::{Object, Raw};
use mcp_proto::model::{
    CallToolResult, Content, ListToolsResult, ServerFeatures, TextContent, Tool,
};
use mcp_proto::rpc::{ErrorObject, Method, code};
use mcp_proto::server::http::{HttpServer, ServerId};
use mcp_proto::server::{Event, ProgressReport, ServerConfig};
use mcp_proto::{Instant, Outcome, Token};

pub(crate) fn config() -> ServerConfig<'static> {
    ServerConfig {
        capabilities: ServerFeatures::TOOLS.capabilities(),
        ..ServerConfig::new("http_server", "1.0")
    }
}

#[derive(Default)]
pub(crate) struct App {
    /// Calls that count.
    counting: Vec<Counting>,
    /// How many were cancelled.
    pub(crate) cancelled: usize,
}

struct Counting {
    machine: ServerId,
    token: Token,
    count: u32,
    next: Instant,
}

impl App {
    pub(crate) fn on(
        &mut self,
        now: Instant,
        event: &Event<'_>,
        machine: ServerId,
        http: &mut HttpServer<'_>,
    ) {
        match event {
            Event::Request {
                token,
                method,
                context,
                ..
            } => {
                let tools = [Tool::new("count", object(br#"{"type":"object"}"#))];
                let list = ListToolsResult {
                    tools: (&tools).into(),
                    ..ListToolsResult::default()
                };
                let outcome = match method {
                    Method::ToolsList => Outcome::Result(&list),
                    Method::ToolsCall if context.subject.is_some_and(|name| name == "count") => {
                        self.counting.push(Counting {
                            machine,
                            token: *token,
                            count: 0,
                            next: now + STEP,
                        });
                        return;
                    }
                    _ => Outcome::Error(ErrorObject::new(code::INVALID_PARAMS, "no such tool")),
                };
                // A request that is over by now needs no answer.
                if let Some(mut commands) = http.commands(machine) {
                    let _ = commands.respond(now, *token, outcome);
                }
            }
            // The client gave up, hung up or deleted its session.
            Event::Cancelled { token, .. } => {
                self.counting
                    .retain(|it| (it.machine, it.token) != (machine, *token));
                self.cancelled += 1;
            }
            _ => {}
        }
    }

    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        self.counting.iter().map(|it| it.next).min()
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant, http: &mut HttpServer<'_>) {
        self.counting.retain_mut(|call| {
            if call.next > now {
                return true;
            }
            let Some(mut commands) = http.commands(call.machine) else {
                return false;
            };
            call.count += 1;
            call.next = now + STEP;
            if call.count < 3 {
                // A call without progress token has no progress.
                let progress = ProgressReport::new(f64::from(call.count));
                let _ = commands.send(Some(call.token), |server, out| {
                    server.progress(now, call.token, progress, out)
                });
                return true;
            }
            let text = TextContent {
                text: "3".into(),
                ..TextContent::default()
            };
            let content = [Content::Text(text)];
            let result = CallToolResult {
                content: (&content).into(),
                ..CallToolResult::default()
            };
            let _ = commands.respond(now, call.token, Outcome::Result(&result));
            false
        });
    }
}

fn object(text: &[u8]) -> Object<'_> {
    Raw::parse(text, 8)
        .ok()
        .and_then(Raw::object)
        .unwrap_or_default()
}

const STEP: Duration = Duration::from_millis(100);
