//! Typed requests and their parameters.

use mcp_proto::json::{EncodeError, Object, Raw, RawBuf, Writer};
use mcp_proto::model::{LoggingLevel, TaskMetadata};
use mcp_proto::rpc::Method;
use mcp_proto::{Payload, Revision};

use super::inputs::InputAnswers;
use super::listen_filter::ListenFilter;
use crate::model::{Cursor, Meta, Reference};
use crate::payload::encode;

/// A request of a typed call, written from the caller's own values in every round.
pub(in crate::client) enum Ask<'a> {
    CallTool {
        name: &'a str,
        arguments: Arguments<'a>,
        /// Asks a server of 2025-11-25 for a task.
        task: Option<TaskMetadata>,
    },
    ReadResource {
        uri: &'a str,
    },
    GetPrompt {
        name: &'a str,
        arguments: Arguments<'a>,
    },
    /// One of the lists, from its cursor on.
    List {
        method: Method<'static>,
        /// Further members of the parameters.
        params: Option<&'a (dyn Payload + Sync)>,
        cursor: Option<Cursor>,
    },
    Complete {
        reference: &'a Reference,
        argument: &'a str,
        value: &'a str,
        context: &'a [(&'a str, &'a str)],
    },
    SetLevel(LoggingLevel),
    Subscribe(String),
    Unsubscribe(String),
    Listen(ListenFilter),
    /// A check that the server is alive: `server/discover` if `modern`, otherwise `ping`.
    Ping {
        modern: bool,
    },
    Other {
        method: Method<'a>,
        params: Option<&'a (dyn Payload + Sync)>,
    },
    /// A request that owns its parameters.
    Own {
        method: Method<'static>,
        params: RawBuf,
    },
}

/// A request whose parameters have more members of `_meta` (JR-30), or continue a round (MR-09).
pub(in crate::client) struct Extended<'t, 'a> {
    pub(in crate::client) ask: &'t Ask<'a>,
    pub(in crate::client) meta: &'t Meta,
    pub(in crate::client) answers: Option<&'t InputAnswers>,
}

/// Arguments of a call, an object; nothing at all where they are `()`.
#[derive(Clone, Copy)]
pub(in crate::client) struct Arguments<'a>(pub(in crate::client) &'a (dyn Payload + Sync));

impl Arguments<'_> {
    fn write(&self, writer: &mut Writer<'_>, revision: Revision) -> Result<(), EncodeError> {
        let arguments: &dyn Payload = self.0;
        if arguments.is_unit(revision) {
            return Ok(());
        }
        writer.literal(",\"arguments\":");
        arguments.write(writer, revision)
    }
}

impl<'a> Ask<'a> {
    /// The call of a tool, which is no task.
    pub(in crate::client) fn call_tool(name: &'a str, arguments: &'a (dyn Payload + Sync)) -> Self {
        Self::CallTool {
            name,
            arguments: Arguments(arguments),
            task: None,
        }
    }
}

impl Ask<'_> {
    pub(in crate::client) const fn method(&self) -> Method<'_> {
        match self {
            Self::CallTool { .. } => Method::ToolsCall,
            Self::ReadResource { .. } => Method::ResourcesRead,
            Self::GetPrompt { .. } => Method::PromptsGet,
            Self::List { method, .. } => *method,
            Self::Complete { .. } => Method::CompletionComplete,
            Self::SetLevel(_) => Method::LoggingSetLevel,
            Self::Subscribe(_) => Method::ResourcesSubscribe,
            Self::Unsubscribe(_) => Method::ResourcesUnsubscribe,
            Self::Listen(_) => Method::SubscriptionsListen,
            Self::Ping { modern: true } => Method::ServerDiscover,
            Self::Ping { modern: false } => Method::Ping,
            Self::Other { method, .. } => *method,
            Self::Own { method, .. } => *method,
        }
    }

    /// Returns the name or the URI that the request is about, if it has one.
    pub(in crate::client) fn subject(&self) -> Option<&str> {
        match self {
            Self::CallTool { name, .. } | Self::GetPrompt { name, .. } => Some(name),
            Self::ReadResource { uri } => Some(uri),
            Self::Subscribe(uri) | Self::Unsubscribe(uri) => Some(uri),
            _ => None,
        }
    }

    /// Itself, where it has parameters.
    pub(in crate::client) fn params(&self) -> Option<&dyn Payload> {
        match self {
            Self::List {
                params: None,
                cursor: None,
                ..
            }
            | Self::Ping { .. } => None,
            Self::Other { params, .. } => params.map(|params| -> &dyn Payload { params }),
            _ => Some(self),
        }
    }
}

impl Payload for Ask<'_> {
    fn write(&self, writer: &mut Writer<'_>, revision: Revision) -> Result<(), EncodeError> {
        match self {
            Self::Other {
                params: Some(params),
                ..
            } => params.write(writer, revision),
            Self::Own { params, .. } => params.write(writer, revision),
            _ => {
                let before = self.write_members(writer, revision)?;
                writer.literal(if before == "{" { "{}" } else { "}" });
                Ok(())
            }
        }
    }
}

impl Payload for Extended<'_, '_> {
    fn write(&self, writer: &mut Writer<'_>, revision: Revision) -> Result<(), EncodeError> {
        let Self { ask, meta, answers } = self;
        let mut before = match ask {
            Ask::Other { .. } | Ask::Own { .. } => {
                let params = encode(*ask, revision)?;
                let params = params.as_raw();
                let object = params
                    .object()
                    .filter(|object| object.get("_meta").is_none());
                // The core refuses parameters that are no object.
                let Some(object) = object else {
                    writer.raw(params);
                    return Ok(());
                };
                write_open(writer, object)
            }
            _ => ask.write_members(writer, revision)?,
        };
        let mut member = |writer: &mut Writer<'_>, name: &str, value: Raw<'_>| {
            writer.literal(before);
            writer.literal(name);
            writer.raw(value);
            before = ",";
        };
        let responses = answers.and_then(|answers| answers.responses.as_ref());
        let state = answers.and_then(|answers| answers.state.as_ref());
        if let Some(responses) = responses {
            member(writer, "\"inputResponses\":", responses.as_raw());
        }
        if let Some(state) = state {
            member(writer, "\"requestState\":", state.as_raw());
        }
        if !meta.is_empty() {
            writer.literal(before);
            writer.literal("\"_meta\":");
            writer.value(meta, Some(revision))?;
            before = ",";
        }
        writer.literal(if before == "{" { "{}" } else { "}" });
        Ok(())
    }
}

impl Ask<'_> {
    /// Writes the members of the parameters, and returns the text before the next member: a comma, or the opening brace if there was none.
    fn write_members(
        &self,
        writer: &mut Writer<'_>,
        revision: Revision,
    ) -> Result<&'static str, EncodeError> {
        let member = |writer: &mut Writer<'_>, before: &str, text: &str| {
            writer.literal(before);
            writer.string(text);
        };
        match self {
            Self::CallTool {
                name, arguments, ..
            }
            | Self::GetPrompt { name, arguments } => {
                member(writer, "{\"name\":", name);
                arguments.write(writer, revision)?;
                if let Self::CallTool {
                    task: Some(task), ..
                } = self
                {
                    writer.literal(",\"task\":");
                    writer.value(task, Some(revision))?;
                }
            }
            Self::ReadResource { uri } => member(writer, "{\"uri\":", uri),
            Self::Subscribe(uri) | Self::Unsubscribe(uri) => member(writer, "{\"uri\":", uri),
            Self::List { params, cursor, .. } => {
                let mut before = "{";
                if let Some(params) = params {
                    let params = encode(*params, revision)?;
                    let object = params.as_raw().object().ok_or(EncodeError::Custom)?;
                    before = write_open(writer, object);
                }
                let Some(cursor) = cursor else {
                    return Ok(before);
                };
                writer.literal(before);
                writer.literal("\"cursor\":");
                writer.value(cursor, Some(revision))?;
            }
            Self::Complete {
                reference,
                argument,
                value,
                context,
            } => {
                writer.literal("{\"ref\":");
                writer.value(reference, Some(revision))?;
                member(writer, ",\"argument\":{\"name\":", argument);
                member(writer, ",\"value\":", value);
                writer.literal("}");
                // CP-05; a revision without it would not mind, but need not be told either.
                if !context.is_empty() {
                    let mut before = ",\"context\":{\"arguments\":{";
                    for (name, value) in *context {
                        member(writer, before, name);
                        member(writer, ":", value);
                        before = ",";
                    }
                    writer.literal("}}");
                }
            }
            Self::SetLevel(level) => member(writer, "{\"level\":", level.as_str()),
            Self::Listen(filter) => {
                writer.literal("{\"notifications\":");
                writer.value(filter, Some(revision))?;
            }
            Self::Ping { .. } | Self::Other { .. } | Self::Own { .. } => return Ok("{"),
        }
        Ok(",")
    }
}

/// Writes the members of an object, and returns the text before the next one.
fn write_open(writer: &mut Writer<'_>, object: Object<'_>) -> &'static str {
    let mut before = "{";
    for (name, value) in object.members() {
        writer.literal(before);
        writer.text_exact(name);
        writer.literal(":");
        writer.raw(value);
        before = ",";
    }
    before
}
