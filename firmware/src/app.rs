//! What this server can do.

use mcp_proto::json::{Object, Raw, Str};
use mcp_proto::model::{ServerCapabilities, ServerFeatures, TextResult};
use mcp_proto::rpc::{ErrorObject, Method, code};
use mcp_proto::server::{Event, RequestContext, Server, ServerSettings, Storage};
use mcp_proto::{Outbox, Outcome, Store, Verdict};

/// Returns the capabilities of the server. The core refuses requests for others.
pub const fn capabilities() -> ServerCapabilities<'static> {
    ServerFeatures::TOOLS.capabilities()
}

/// A lamp, and calls that wait for nothing until they are cancelled.
#[derive(Default)]
pub struct App {
    lamp: bool,
}

impl App {
    /// Answers an event, or says that the answer did not fit.
    pub fn on<'c, S: Storage, C: ServerSettings<'c>, O: Store<u8>>(
        &mut self,
        server: &mut Server<'_, S, C>,
        event: Event<'_>,
        outbox: &mut Outbox<O>,
    ) -> Verdict {
        match event {
            Event::Request {
                token,
                method,
                context,
                ..
            } => self.request(method, context, |outcome| {
                // If the answer does not fit, the event comes again: state changes after the bytes fit.
                let written = outbox.put(|out| server.respond(token, outcome, out));
                written.into()
            }),
            _ => Verdict::Done,
        }
    }

    /// Answers a request by `respond`.
    pub fn request(
        &mut self,
        method: Method<'_>,
        context: RequestContext<'_>,
        mut respond: impl FnMut(Outcome<'_>) -> Verdict,
    ) -> Verdict {
        match method {
            Method::ToolsList => respond(Outcome::Result(
                &Raw::parse(TOOLS.as_bytes(), 8).unwrap_or_default(),
            )),
            // The core refuses all other methods: the capabilities do not declare them.
            _ => self.call(context, &mut respond),
        }
    }

    fn call(
        &mut self,
        context: RequestContext<'_>,
        respond: &mut dyn FnMut(Outcome<'_>) -> Verdict,
    ) -> Verdict {
        let name = context.subject.unwrap_or_default();
        let arguments = context.arguments.and_then(Raw::object);
        let arguments = arguments.unwrap_or_default();
        let mut say = |text: Str<'_>| respond(Outcome::Result(&TextResult::from(text)));
        if name == "echo" {
            say(arguments
                .get("text")
                .and_then(Raw::string)
                .unwrap_or_default())
        } else if name == "lamp" {
            self.lamp = on(arguments).unwrap_or(!self.lamp);
            say(Str::new(if self.lamp { "on" } else { "off" }))
        } else if name == "wait" {
            // Its answer never comes, but its cancellation does.
            Verdict::Done
        } else {
            respond(Outcome::Error(ErrorObject::new(
                code::INVALID_PARAMS,
                "no such tool",
            )))
        }
    }
}

/// The argument of `lamp`.
#[cfg(not(feature = "serde-json-core"))]
fn on(arguments: Object<'_>) -> Option<bool> {
    arguments.get("on").and_then(Raw::boolean)
}

/// The argument of `lamp`, by a type that the crate `serde-json-core` fills.
#[cfg(feature = "serde-json-core")]
fn on(arguments: Object<'_>) -> Option<bool> {
    #[derive(serde::Deserialize)]
    struct Arguments {
        on: Option<bool>,
    }

    let arguments = arguments.as_raw();
    let decoded = arguments.decode_serde_json_core::<Arguments>(&mut [0; 64], &mut [0; 16]);
    decoded.ok()?.on
}

/// The answer to `tools/list`. It never changes, so it is text rather than a value of the model.
const TOOLS: &str = concat!(
    r#"{"tools":[{"name":"echo","description":"Says it again","#,
    r#""inputSchema":{"type":"object","properties":{"text":{"type":"string"}}}},"#,
    r#"{"name":"lamp","description":"Switches the lamp","#,
    r#""inputSchema":{"type":"object","properties":{"on":{"type":"boolean"}}}},"#,
    r#"{"name":"wait","description":"Waits to be cancelled","inputSchema":{"type":"object"}}]}"#,
);
