//! Tool result types.

use mcp_proto::Outcome;
use mcp_proto::json::List;
use mcp_proto::model::{CallToolResult as CoreResult, Content as CoreContent, TextResult};
use schemars::JsonSchema;
use serde::Serialize;

use super::encoded::with_encoded;
use crate::error::ErrorReply;
use crate::model::{CallToolResult, Content};
use crate::schema::{ToolSchema, TypeError};

/// A type that the handler of a tool can return.
///
/// | type | result |
/// |---|---|
/// | `String`, `&'static str` | one block of text |
/// | [`Content`], `Vec<Content>` | blocks of any kind |
/// | [`Json<T>`](Json) | structured content, its schema, and the same as text |
/// | `()` | no content |
/// | [`CallToolResult`] | everything by hand |
///
/// ```
/// use mcp_async::model::Content;
/// use mcp_async::server::Tool;
///
/// let camera: Tool = Tool::new("camera").handler(|(): (), _| async {
///     Ok(vec![Content::text("The yard:"), Content::image(b"\x89PNG", "image/png")])
/// });
/// # let _ = camera;
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a result of a tool",
    note = "a tool returns text, `Json<T>`, `Content`, `Vec<Content>`, `()` or `CallToolResult`"
)]
pub trait ToolOutput: Send + 'static {
    /// The schema of the structured content, where there is any.
    ///
    /// # Errors
    /// The type has none.
    fn output_schema() -> Result<Option<ToolSchema>, TypeError> {
        Ok(None)
    }

    /// Hands the outcome to `send`, exactly once.
    fn with_outcome(&self, send: &mut dyn FnMut(Outcome<'_>));

    /// Returns whether the tool failed (`isError`), which layers and spans report.
    fn is_error(&self) -> bool {
        false
    }
}

/// A result for programs: structured content, an output schema from the type, and the same value
/// as a block of text for clients that read only text. A handler of a resource returns it
/// for contents in JSON.
///
/// Before 2026-07-28 structured content is an object, so make `T` a struct or a map there: of
/// any other value the client of such a revision gets the text alone.
///
/// ```
/// use mcp_async::server::{Json, Tool};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Add {
///     a: f64,
///     b: f64,
/// }
///
/// #[derive(serde::Serialize, schemars::JsonSchema)]
/// struct Sum {
///     sum: f64,
/// }
///
/// let add: Tool = Tool::new("add").handler(|args: Add, _| async move {
///     Ok(Json(Sum { sum: args.a + args.b }))
/// });
/// # let _ = add;
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Json<T>(pub T);

impl ToolOutput for String {
    fn with_outcome(&self, send: &mut dyn FnMut(Outcome<'_>)) {
        text_result(self, false, send);
    }
}

impl ToolOutput for &'static str {
    fn with_outcome(&self, send: &mut dyn FnMut(Outcome<'_>)) {
        text_result(self, false, send);
    }
}

impl ToolOutput for () {
    fn with_outcome(&self, send: &mut dyn FnMut(Outcome<'_>)) {
        send(Outcome::Result(&CoreResult::default()));
    }
}

impl ToolOutput for Content {
    fn with_outcome(&self, send: &mut dyn FnMut(Outcome<'_>)) {
        send(Outcome::Result(&Blocks {
            content: core::slice::from_ref(self),
        }));
    }
}

impl ToolOutput for Vec<Content> {
    fn with_outcome(&self, send: &mut dyn FnMut(Outcome<'_>)) {
        send(Outcome::Result(&Blocks { content: self }));
    }
}

impl ToolOutput for CallToolResult {
    fn with_outcome(&self, send: &mut dyn FnMut(Outcome<'_>)) {
        send(Outcome::Result(self));
    }

    fn is_error(&self) -> bool {
        self.is_error
    }
}

impl<T: Serialize + JsonSchema + Send + 'static> ToolOutput for Json<T> {
    fn output_schema() -> Result<Option<ToolSchema>, TypeError> {
        ToolSchema::output::<T>().map(Some)
    }

    fn with_outcome(&self, send: &mut dyn FnMut(Outcome<'_>)) {
        with_encoded(&self.0, |raw| match raw {
            Some(raw) => {
                let content = [CoreContent::text(raw.as_str())];
                send(Outcome::Result(&CoreResult {
                    content: List::from(&content),
                    structured_content: Some(raw),
                    ..CoreResult::default()
                }));
            }
            None => send(Outcome::Error(ErrorReply::internal().as_object())),
        });
    }
}

/// One block of text, which is all that most results are.
pub(super) fn text_result(text: &str, is_error: bool, send: &mut dyn FnMut(Outcome<'_>)) {
    send(Outcome::Result(&TextResult {
        text: text.into(),
        is_error,
    }));
}

#[derive(Serialize)]
#[serde(rename = "mcp:CallToolResult")]
struct Blocks<'a> {
    content: &'a [Content],
}
