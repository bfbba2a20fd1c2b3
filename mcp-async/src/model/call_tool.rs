//! The result of a tool.

use mcp_proto::json::{DecodeError, EncodeError, Raw, RawBuf};
use serde::{Deserialize, Serialize};

use super::{CallToolResult, Content};

/// ```
/// use mcp_async::model::{CallToolResult, Content};
///
/// let mut result = CallToolResult::from(vec![Content::text("sunny in Kyoto")]);
/// result.structured_content = Some(mcp_proto::json::RawBuf::encode(&[21.5])?);
/// assert_eq!(result.text(), "sunny in Kyoto");
/// assert_eq!(result.structured::<[f32; 1]>()?, [21.5]);
/// assert!(!result.is_error);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl CallToolResult {
    /// A failure that the model gets to read, and may do something about.
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::from(vec![Content::text(text)])
        }
    }

    /// Structured content, and the same JSON as text for clients that cannot read it.
    ///
    /// # Errors
    ///
    /// [`EncodeError`], if the value does not serialize to JSON.
    pub fn from_structured<T: Serialize + ?Sized>(value: &T) -> Result<Self, EncodeError> {
        let value = RawBuf::encode(value)?;
        let text = Content::text(value.as_raw().as_str());
        Ok(Self {
            structured_content: Some(value),
            ..Self::from(vec![text])
        })
    }

    /// The structured content as a type; nothing is `null`.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] tells what does not fit and where.
    pub fn structured<'b, T: Deserialize<'b>>(&'b self) -> Result<T, DecodeError> {
        let value = self.structured_content.as_ref();
        value.map_or(Raw::NULL, RawBuf::as_raw).decode(&mut [])
    }

    /// All blocks of text, joined by line breaks.
    pub fn text(&self) -> String {
        let mut texts = self.content.iter().filter_map(Content::as_text);
        let first = texts.next().unwrap_or_default();
        texts.fold(first.to_owned(), |text, next| text + "\n" + next)
    }
}

impl From<Vec<Content>> for CallToolResult {
    fn from(content: Vec<Content>) -> Self {
        Self {
            content,
            ..Self::default()
        }
    }
}
