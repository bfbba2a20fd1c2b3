//! The result of a tool.

use mcp_proto::json::{DecodeError, EncodeError, Kind, Raw, RawBuf};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use super::{Content, Meta, lenient};

/// The result of `tools/call`.
///
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
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(rename = "mcp:CallToolResult", rename_all = "camelCase")]
pub struct CallToolResult {
    /// What the model reads. Missing is read as empty (`TL-18`).
    #[serde(default, deserialize_with = "lenient::list")]
    pub content: Vec<Content>,
    /// The same for programs, since 2025-06-18: an object, and since 2026-07-28 any value. There
    /// `null` is a value too, and not the same as absent.
    #[serde(default, deserialize_with = "lenient::present")]
    pub structured_content: Option<RawBuf>,
    /// Whether the tool failed, which is for the model to know (`TL-08`).
    #[serde(default, deserialize_with = "lenient::or_default")]
    pub is_error: bool,
    /// Anything else.
    #[serde(default, rename = "_meta", deserialize_with = "lenient::or_default")]
    pub meta: Meta,
}

impl CallToolResult {
    /// A failure that the model gets to read, and may do something about (`TL-08`).
    pub fn error(text: impl Into<String>) -> Self {
        Self {
            is_error: true,
            ..Self::from(vec![Content::text(text)])
        }
    }

    /// Structured content, and the same JSON as text for clients that cannot read it (`TL-11`).
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
        let texts: Vec<&str> = self.content.iter().filter_map(Content::as_text).collect();
        texts.join("\n")
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

impl Serialize for CallToolResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The kind of the value decides which revisions can carry it (TL-17).
        let name = match &self.structured_content {
            Some(value) if value.as_raw().kind() != Kind::Object => "mcp:CallToolResult:any",
            _ => "mcp:CallToolResult",
        };
        let mut result = serializer.serialize_struct(name, 4)?;
        result.serialize_field("content", &self.content)?;
        lenient::member(&mut result, "structuredContent", &self.structured_content)?;
        if self.is_error {
            result.serialize_field("isError", &true)?;
        }
        lenient::meta(&mut result, &self.meta)?;
        result.end()
    }
}
