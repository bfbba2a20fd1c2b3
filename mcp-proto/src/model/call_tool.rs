//! Calling a tool.

use core::fmt;

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use super::{ContentBlock, InputResponses, Meta, RequestState, TaskMetadata, lenient};
use crate::json::{Kind, List, Object, Raw, Str};

/// The parameters of `tools/call`.
#[derive(Clone, Copy, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:CallToolParams", rename_all = "camelCase")]
pub struct CallToolParams<'b> {
    /// The tool.
    #[serde(borrow)]
    pub name: Str<'b>,
    /// Its arguments; none are as good as `{}`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Object<'b>>,
    /// Asks for a task; 2025-11-25 only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskMetadata>,
    /// The answers to an `input_required`; since 2026-07-28.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input_responses: Option<InputResponses<'b>>,
    /// What came with it, unchanged (MR-11); since 2026-07-28.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_state: Option<RequestState<'b>>,
    /// Progress token and anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
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

/// The result of `tools/call`.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename = "mcp:CallToolResult", rename_all = "camelCase")]
pub struct CallToolResult<'b> {
    /// What the model reads. Missing is read as empty (TL-18).
    #[serde(default, borrow)]
    pub content: List<'b, ContentBlock<'b>>,
    /// The same for programs, since 2025-06-18: an object, and since 2026-07-28 any value. There
    /// `null` is a value too, and not the same as absent.
    #[serde(
        default,
        deserialize_with = "lenient::present",
        skip_serializing_if = "Option::is_none"
    )]
    pub structured_content: Option<Raw<'b>>,
    /// Whether the tool failed, which is for the model to know (TL-08).
    #[serde(
        default,
        deserialize_with = "lenient::flag",
        skip_serializing_if = "lenient::is_false"
    )]
    pub is_error: bool,
    /// Anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

impl Serialize for CallToolResult<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The kind of the value decides which revisions can carry it (TL-17).
        let name = match self.structured_content {
            Some(value) if value.kind() != Kind::Object => "mcp:CallToolResult:any",
            _ => "mcp:CallToolResult",
        };
        let mut result = serializer.serialize_struct(name, 4)?;
        result.serialize_field("content", &self.content)?;
        lenient::member(&mut result, "structuredContent", &self.structured_content)?;
        if self.is_error {
            result.serialize_field("isError", &true)?;
        }
        lenient::member(&mut result, "_meta", &self.meta)?;
        result.end()
    }
}
