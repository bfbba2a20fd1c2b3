//! Tools, pages of them, and their calls.

use core::fmt;

use super::{CallToolParams, Tool};
use crate::json::{EncodeError, Object, Str, Writer};
use crate::payload::Payload;
use crate::revision::Revision;

#[doc(hidden)]
#[macro_export]
macro_rules! declare_tools {
    ($form:ident) => {
        $form! {
            /// A function that a server offers to a model.
            #[derive(Debug, Default)]
            struct Tool {
                /// The name for calls: 1 to 128 of `[A-Za-z0-9_.-]`, case-sensitive.
                name: Text,
                /// The title for people; since 2025-06-18.
                title: Option<Text> [SINCE_2025_06],
                /// The description for the model.
                description: Option<Text>,
                /// The schema of the arguments, an object at its root.
                input_schema "inputSchema": Object,
                /// The schema of the structured content; since 2025-06-18, and until 2025-11-25 an
                /// object at its root.
                output_schema "outputSchema": Schema [SINCE_2025_06, any SINCE_2026_07],
                /// Hints about the effects; since 2025-03-26.
                annotations: Option<ToolAnnotations> [SINCE_2025_03],
                /// The icons; since 2025-11-25.
                icons: Hints<Icon> [SINCE_2025_11],
                /// The way of running, as a task or not; 2025-11-25 only.
                execution: Option<ToolExecution> [ONLY_2025_11],
                /// Further members; since 2025-06-18.
                meta "_meta": Meta [SINCE_2025_06],
            }

            /// Hints about the effects of a tool; untrusted unless the server is trusted.
            #[derive(Debug, Default)]
            struct ToolAnnotations {
                /// The title for people.
                title: Option<Text>,
                /// True if the tool changes nothing; absent means false.
                read_only_hint "readOnlyHint": Option<bool>,
                /// True if changes may destroy; absent means true.
                destructive_hint "destructiveHint": Option<bool>,
                /// True if a second equal call changes nothing more; absent means false.
                idempotent_hint "idempotentHint": Option<bool>,
                /// True if the tool interacts with what the server does not control; absent means
                /// true.
                open_world_hint "openWorldHint": Option<bool>,
            }

            /// The way in which a tool runs; 2025-11-25 only.
            #[derive(Debug, Default)]
            struct ToolExecution {
                /// The support for tasks; absent means forbidden.
                task_support "taskSupport": Option<TaskSupport>,
            }

            /// The result of `tools/list`.
            #[derive(Debug, Default)]
            struct ListToolsResult {
                /// A page of tools.
                tools: List<Tool>,
                /// The position of the next page; even an empty text is one.
                next_cursor "nextCursor": Cursor,
                /// The time for which the result stays fresh, in milliseconds; since 2026-07-28.
                /// See `freshness`.
                ttl_ms "ttlMs": Hint<i64> [SINCE_2026_07],
                /// The clients that may share it; since 2026-07-28.
                cache_scope "cacheScope": Hint<CacheScope> [SINCE_2026_07],
                /// Further members.
                meta "_meta": Meta,
            }

            /// The result of `tools/call`.
            #[derive(Debug, Default)]
            struct CallToolResult {
                /// The content for the model. A result without it is read as one with an empty
                /// list.
                content: Blocks<Content>,
                /// The content for programs; since 2025-06-18. An object, and since 2026-07-28 any
                /// value: there `null` is a value too, and differs from an absent member.
                structured_content "structuredContent": Structured [SINCE_2025_06, any SINCE_2026_07],
                /// True if the tool failed, which is for the model to know.
                is_error "isError": Flag,
                /// Further members.
                meta "_meta": Meta,
            }

            /// The parameters of `tools/call`. `Debug` shows neither arguments nor answers.
            #[derive(Default)]
            struct CallToolParams<'b> {
                /// The name of the tool.
                name: Text,
                /// The arguments; absent means `{}`.
                arguments: Option<Object>,
                /// The request for a task; 2025-11-25 only.
                task: Option<TaskMetadata> [ONLY_2025_11],
                /// The answers to an `input_required`; since 2026-07-28.
                input_responses "inputResponses": Option<InputResponses> [SINCE_2026_07],
                /// The state that came with the questions, unchanged; since 2026-07-28.
                request_state "requestState": Option<RequestState> [SINCE_2026_07],
                /// The progress token and further members.
                meta "_meta": Meta,
            }
            ;
            ;
            /// The support of a tool for tasks.
            names TaskSupport {
                /// Calls are never tasks.
                Forbidden = "forbidden",
                /// The client decides.
                Optional = "optional",
                /// Calls are always tasks.
                Required = "required",
            }
        }
    };
}

impl<'b> Tool<'b> {
    /// A schema for a tool without arguments (TL-06).
    pub const NO_ARGUMENTS: &'static [u8] = br#"{"type":"object","additionalProperties":false}"#;

    /// Creates a tool with a name and a schema alone.
    pub fn new(name: &'b str, input_schema: Object<'b>) -> Self {
        Self {
            name: name.into(),
            input_schema,
            ..Self::default()
        }
    }

    /// Returns the name to show to people: the title, that of the annotations, or else the name.
    pub fn display_name(&self) -> Str<'b> {
        self.title
            .or(self.annotations.and_then(|annotations| annotations.title))
            .unwrap_or(self.name)
    }
}

/// A result of `tools/call` that is one text.
///
/// It is written like a [`CallToolResult`](super::CallToolResult) with that text, but without serde: firmware
/// that answers only with text does not link the other blocks of content.
///
/// ```
/// use mcp_proto::model::TextResult;
/// use mcp_proto::{Payload, Revision, json::Writer};
///
/// let result = TextResult { text: "no such lamp".into(), is_error: true };
/// let mut out = [0; 128];
/// let mut writer = Writer::new(&mut out);
/// result.write(&mut writer, Revision::V2025_11_25)?;
/// let len = writer.finish()?;
/// assert_eq!(
///     &out[..len],
///     br#"{"content":[{"type":"text","text":"no such lamp"}],"isError":true}"#
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct TextResult<'b> {
    /// The text for the model.
    pub text: Str<'b>,
    /// True if the tool failed, which is for the model to know.
    pub is_error: bool,
}

impl<'b, T: Into<Str<'b>>> From<T> for TextResult<'b> {
    fn from(text: T) -> Self {
        Self {
            text: text.into(),
            is_error: false,
        }
    }
}

impl Payload for TextResult<'_> {
    fn write(&self, writer: &mut Writer<'_>, _: Revision) -> Result<(), EncodeError> {
        writer.literal(r#"{"content":[{"type":"text","text":"#);
        writer.text(self.text);
        writer.literal(if self.is_error {
            r#"}],"isError":true}"#
        } else {
            "}]}"
        });
        Ok(())
    }

    fn lacks_reserved_members(&self) -> bool {
        true
    }
}

/// Without arguments and answers, which are not for logs.
impl fmt::Debug for CallToolParams<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallToolParams")
            .field("name", &self.name)
            .field("task", &self.task)
            .finish_non_exhaustive()
    }
}
