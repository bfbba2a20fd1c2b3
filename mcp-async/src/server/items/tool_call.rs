//! A call of a tool with its arguments as they came.

use core::fmt;

use mcp_proto::json::RawBuf;
use serde::de::Deserialize;

use crate::server::call::handler_error::HandlerError;

/// A call of a tool with its raw, owned arguments: for handlers that borrow from them, or whose
/// arguments have no type.
///
/// ```
/// use mcp_async::server::{Tool, ToolCall};
///
/// #[derive(serde::Deserialize)]
/// struct Search<'a> {
///     #[serde(borrow)]
///     words: Vec<&'a str>,
/// }
///
/// let search: Tool = Tool::new("search").raw(|call: ToolCall, _| async move {
///     let search: Search<'_> = call.decode()?;
///     Ok(format!("{} words", search.words.len()))
/// });
/// # let _ = search;
/// ```
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// The arguments, an object.
    pub arguments: RawBuf,
    /// True if wrong arguments are a result of the tool, and not an error.
    pub(super) as_result: bool,
}

impl ToolCall {
    /// Decodes the arguments into a type that may borrow from them. A text with escapes does
    /// not decode to `&str`: take it as [`Str`](mcp_proto::json::Str) or `Cow<str>`.
    ///
    /// # Errors
    /// The arguments are of another type: returned from the handler, it becomes what the
    /// revision wants, with the path.
    pub fn decode<'a, T: Deserialize<'a>>(&'a self) -> Result<T, HandlerError> {
        self.arguments
            .as_raw()
            .decode(&mut [])
            .map_err(|error| bad_arguments(&error, self.as_result))
    }
}

/// The revision's error for arguments that the schema does not allow (TL-08).
pub(super) fn bad_arguments(error: &dyn fmt::Display, as_result: bool) -> HandlerError {
    let text = format!("Invalid arguments: {error}");
    if as_result {
        HandlerError::visible(text)
    } else {
        HandlerError::invalid_params(text)
    }
}
