//! The application of the server: a tool that returns its text, and a slow tool.

use core::time::Duration;

use mcp_proto::json::{Object, Raw};
use mcp_proto::model::{CallToolResult, Content, ListToolsResult, TextContent, Tool};
use mcp_proto::rpc::{ErrorObject, Method, code};
use mcp_proto::server::{Event, Server, Storage};
use mcp_proto::{Instant, Outbox, Outcome, SendError, Token, Verdict};

use crate::{ECHO, SIZE, SLOW, object};

#[derive(Default)]
pub(crate) struct Tools {
    /// Calls that are answered later, as many as the server has room for.
    slow: [Option<(Token, Instant)>; 4],
    /// Calls that ended without an answer.
    pub(crate) cancelled: u32,
}

impl Tools {
    pub(crate) fn on<S: Storage>(
        &mut self,
        now: Instant,
        server: &mut Server<'_, S>,
        event: Event<'_>,
        outbox: &mut Outbox<[u8; SIZE]>,
    ) -> Verdict {
        let (token, method, params, subject) = match event {
            Event::Request {
                token,
                method,
                params,
                context,
            } => (token, method, params, context.subject),
            // The client has cancelled it, or is gone.
            Event::Cancelled { token, .. } => {
                let ended = |slow: &&mut Option<_>| slow.is_some_and(|(other, _)| other == token);
                if let Some(place) = self.slow.iter_mut().find(ended) {
                    *place = None;
                    self.cancelled += 1;
                }
                return Verdict::Done;
            }
            _ => return Verdict::Done,
        };
        // If the answer does not fit, the client has to read first, and the request comes again.
        let mut respond = |outcome: Outcome<'_>| -> Verdict {
            let written = outbox.put(|out| server.respond(token, outcome, out));
            written.into()
        };
        match method {
            Method::ToolsList => respond(Outcome::Result(&ListToolsResult {
                tools: (&[
                    Tool::new(ECHO, object(SCHEMA)),
                    Tool::new(SLOW, Object::EMPTY),
                ])
                    .into(),
                ..ListToolsResult::default()
            })),
            Method::ToolsCall if subject.is_some_and(|name| name == ECHO) => {
                // The text goes back as it came, still escaped: nothing is decoded, nothing
                // copied.
                let arguments = params.get("arguments").and_then(Raw::object);
                let text = arguments
                    .and_then(|arguments| arguments.get("text"))
                    .and_then(Raw::string);
                let block = TextContent {
                    text: text.unwrap_or_default(),
                    ..TextContent::default()
                };
                respond(Outcome::Result(&CallToolResult {
                    content: (&[Content::Text(block)]).into(),
                    ..CallToolResult::default()
                }))
            }
            Method::ToolsCall if subject.is_some_and(|name| name == SLOW) => {
                match self.slow.iter_mut().find(|place| place.is_none()) {
                    Some(place) => {
                        *place = Some((token, now + WORK));
                        Verdict::Done
                    }
                    None => respond(Outcome::Error(ErrorObject::new(
                        code::INTERNAL_ERROR,
                        "too much to do",
                    ))),
                }
            }
            _ => respond(Outcome::Error(ErrorObject::new(
                code::INVALID_PARAMS,
                "no such tool",
            ))),
        }
    }

    /// Answers the slow calls whose time has come, as far as there is room.
    pub(crate) fn answer_late<S: Storage>(
        &mut self,
        now: Instant,
        server: &mut Server<'_, S>,
        outbox: &mut Outbox<[u8; SIZE]>,
    ) {
        for place in &mut self.slow {
            let Some((token, _)) = place.filter(|(_, due)| *due <= now) else {
                continue;
            };
            let result = CallToolResult::default();
            let outcome = Outcome::Result(&result);
            match outbox.put(|out| server.respond(token, outcome, out)) {
                // The client has to read first.
                Err(SendError::BufferFull { .. }) => {}
                Ok(_) | Err(_) => *place = None,
            }
        }
    }

    /// When a slow call is to be answered.
    pub(crate) fn next_timeout(&self) -> Option<Instant> {
        self.slow.iter().flatten().map(|(_, due)| *due).min()
    }
}

const SCHEMA: &[u8] =
    br#"{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}"#;
const WORK: Duration = Duration::from_millis(20);
