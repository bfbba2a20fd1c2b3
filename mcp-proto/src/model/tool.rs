//! Tools, and pages of them.

use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use super::open::open_enum;
use super::{CacheScope, Icon, Meta, lenient};
use crate::json::{List, Object, Str};

/// A function that a server offers to a model.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename = "mcp:Tool", rename_all = "camelCase")]
pub struct Tool<'b> {
    /// What it is called by: 1 to 128 of `[A-Za-z0-9_.-]`, case-sensitive (TL-05).
    #[serde(borrow)]
    pub name: Str<'b>,
    /// What people call it; since 2025-06-18.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<Str<'b>>,
    /// What it does, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<Str<'b>>,
    /// The schema of its arguments, an object at its root (TL-06).
    pub input_schema: Object<'b>,
    /// The schema of its structured content; since 2025-06-18, and until 2025-11-25 an object at
    /// its root.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Object<'b>>,
    /// What it does to the world; since 2025-03-26.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub annotations: Option<ToolAnnotations<'b>>,
    /// Pictures of it; since 2025-11-25.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub icons: Option<List<'b, Icon<'b>>>,
    /// Whether it runs as a task; 2025-11-25 only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub execution: Option<ToolExecution<'b>>,
    /// Anything else; since 2025-06-18.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

impl<'b> Tool<'b> {
    /// A schema for a tool without arguments (TL-06).
    pub const NO_ARGUMENTS: &'static [u8] = br#"{"type":"object","additionalProperties":false}"#;

    /// A tool of which nothing more is known.
    pub fn new(name: &'b str, input_schema: Object<'b>) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            input_schema,
            output_schema: None,
            annotations: None,
            icons: None,
            execution: None,
            meta: None,
        }
    }

    /// What to show to people: the title, that of the annotations, or else the name.
    pub fn display_name(&self) -> Str<'b> {
        self.title
            .or(self.annotations.and_then(|annotations| annotations.title))
            .unwrap_or(self.name)
    }
}

impl Serialize for Tool<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The root of the schema decides which revisions can carry it (TL-17).
        let name = match self.output_schema {
            Some(schema) if !describes_object(schema) => "mcp:Tool:any",
            _ => "mcp:Tool",
        };
        let mut tool = serializer.serialize_struct(name, 9)?;
        tool.serialize_field("name", &self.name)?;
        lenient::member(&mut tool, "title", &self.title)?;
        lenient::member(&mut tool, "description", &self.description)?;
        tool.serialize_field("inputSchema", &self.input_schema)?;
        lenient::member(&mut tool, "outputSchema", &self.output_schema)?;
        lenient::member(&mut tool, "annotations", &self.annotations)?;
        lenient::member(&mut tool, "icons", &self.icons)?;
        lenient::member(&mut tool, "execution", &self.execution)?;
        lenient::member(&mut tool, "_meta", &self.meta)?;
        tool.end()
    }
}

/// What a tool says that it does to the world; untrusted unless its server is trusted (TL-12).
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ToolAnnotations", rename_all = "camelCase")]
pub struct ToolAnnotations<'b> {
    /// What people call it.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub title: Option<Str<'b>>,
    /// Whether it changes nothing; it may, if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only_hint: Option<bool>,
    /// Whether its changes may destroy; they may, if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive_hint: Option<bool>,
    /// Whether a second equal call changes nothing more; it may, if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent_hint: Option<bool>,
    /// Whether it meets things that the server does not control; it may, if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world_hint: Option<bool>,
}

/// How a tool runs; 2025-11-25 only.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ToolExecution", rename_all = "camelCase")]
pub struct ToolExecution<'b> {
    /// Whether calls are tasks; forbidden, if nothing is said.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub task_support: Option<TaskSupport<'b>>,
}

open_enum! {
    /// Whether the calls of a tool may be tasks (TK-05, TK-06).
    pub enum TaskSupport {
        /// Never.
        Forbidden = "forbidden",
        /// As the client likes.
        Optional = "optional",
        /// Always.
        Required = "required",
    }
}

/// The result of `tools/list`.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
#[serde(rename = "mcp:ListToolsResult", rename_all = "camelCase")]
pub struct ListToolsResult<'b> {
    /// A page of tools.
    #[serde(borrow)]
    pub tools: List<'b, Tool<'b>>,
    /// Where the next page begins; even an empty one is a cursor (PN-04).
    #[serde(
        skip_serializing_if = "Option::is_none",
        serialize_with = "lenient::echo"
    )]
    pub next_cursor: Option<Str<'b>>,
    /// How long it stays fresh, in milliseconds; since 2026-07-28.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ttl_ms: Option<i64>,
    /// Who may share it; since 2026-07-28.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_scope: Option<CacheScope>,
    /// Anything else.
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    pub meta: Option<Meta<'b>>,
}

fn describes_object(schema: Object<'_>) -> bool {
    schema
        .get("type")
        .and_then(|kind| kind.string())
        .is_some_and(|kind| kind == "object")
}
