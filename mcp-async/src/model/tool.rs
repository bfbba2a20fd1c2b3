//! Tools, and pages of them.

use mcp_proto::json::{Object, RawBuf};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use super::open::open_enum;
use super::{CacheScope, Cursor, Icon, Meta, lenient};

/// A function that a server offers to a model.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename = "mcp:Tool", rename_all = "camelCase")]
pub struct Tool {
    /// What it is called by: 1 to 128 of `[A-Za-z0-9_.-]`, case-sensitive (`TL-05`).
    pub name: String,
    /// What people call it; since 2025-06-18.
    pub title: Option<String>,
    /// What it does, for the model.
    pub description: Option<String>,
    /// The schema of its arguments, an object at its root (`TL-06`).
    #[serde(deserialize_with = "lenient::object")]
    pub input_schema: RawBuf,
    /// The schema of its structured content; since 2025-06-18, and until 2025-11-25 an object at
    /// its root.
    #[serde(default, deserialize_with = "lenient::optional_object")]
    pub output_schema: Option<RawBuf>,
    /// What it does to the world; since 2025-03-26.
    pub annotations: Option<ToolAnnotations>,
    /// Pictures of it; since 2025-11-25.
    #[serde(default, deserialize_with = "lenient::known")]
    pub icons: Vec<Icon>,
    /// Whether it runs as a task; 2025-11-25 only.
    pub execution: Option<ToolExecution>,
    /// Anything else; since 2025-06-18.
    #[serde(default, rename = "_meta", deserialize_with = "lenient::or_default")]
    pub meta: Meta,
}

impl Tool {
    /// A tool of which nothing more is known.
    pub fn new(name: impl Into<String>, input_schema: RawBuf) -> Self {
        Self {
            name: name.into(),
            title: None,
            description: None,
            input_schema,
            output_schema: None,
            annotations: None,
            icons: Vec::new(),
            execution: None,
            meta: Meta::new(),
        }
    }

    /// What to show to people: the title, that of the annotations, or else the name.
    pub fn display_name(&self) -> &str {
        let annotated = || self.annotations.as_ref()?.title.as_deref();
        let title = self.title.as_deref().or_else(annotated);
        title.unwrap_or(&self.name)
    }
}

impl Serialize for Tool {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // The root of the schema decides which revisions can carry it (TL-17).
        let name = match self
            .output_schema
            .as_ref()
            .map(|schema| schema.as_raw().object())
        {
            Some(schema) if !schema.is_some_and(describes_object) => "mcp:Tool:any",
            _ => "mcp:Tool",
        };
        let mut tool = serializer.serialize_struct(name, 9)?;
        tool.serialize_field("name", &self.name)?;
        lenient::member(&mut tool, "title", &self.title)?;
        lenient::member(&mut tool, "description", &self.description)?;
        tool.serialize_field("inputSchema", &self.input_schema)?;
        lenient::member(&mut tool, "outputSchema", &self.output_schema)?;
        lenient::member(&mut tool, "annotations", &self.annotations)?;
        if !self.icons.is_empty() {
            tool.serialize_field("icons", &self.icons)?;
        }
        lenient::member(&mut tool, "execution", &self.execution)?;
        lenient::meta(&mut tool, &self.meta)?;
        tool.end()
    }
}

/// What a tool says that it does to the world; untrusted unless its server is trusted (`TL-12`).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "mcp:ToolAnnotations", rename_all = "camelCase")]
pub struct ToolAnnotations {
    /// What people call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
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
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename = "mcp:ToolExecution", rename_all = "camelCase")]
pub struct ToolExecution {
    /// Whether calls are tasks; forbidden, if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_support: Option<TaskSupport>,
}

open_enum! {
    /// Whether the calls of a tool may be tasks (`TK-05`, `TK-06`).
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
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename = "mcp:ListToolsResult", rename_all = "camelCase")]
pub struct ListToolsResult {
    /// A page of tools.
    pub tools: Vec<Tool>,
    /// Where the next page begins; even an empty one is a cursor (`PN-04`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<Cursor>,
    /// How long it stays fresh, in milliseconds; since 2026-07-28. See
    /// [`freshness`](mcp_proto::model::freshness).
    #[serde(
        default,
        deserialize_with = "lenient::hint",
        skip_serializing_if = "Option::is_none"
    )]
    pub ttl_ms: Option<i64>,
    /// Who may share it; since 2026-07-28.
    #[serde(
        default,
        deserialize_with = "lenient::hint",
        skip_serializing_if = "Option::is_none"
    )]
    pub cache_scope: Option<CacheScope>,
    /// Anything else.
    #[serde(
        default,
        rename = "_meta",
        deserialize_with = "lenient::or_default",
        skip_serializing_if = "Meta::is_empty"
    )]
    pub meta: Meta,
}

fn describes_object(schema: Object<'_>) -> bool {
    schema
        .get("type")
        .and_then(|kind| kind.string())
        .is_some_and(|kind| kind == "object")
}
