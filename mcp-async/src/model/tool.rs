//! Tools.

use mcp_proto::json::RawBuf;

use super::Tool;

impl Tool {
    /// A tool of which nothing more is known.
    pub fn new(name: impl Into<String>, input_schema: RawBuf) -> Self {
        Self {
            name: name.into(),
            input_schema,
            ..Self::default()
        }
    }

    /// The name to show to users: the title, that of the annotations, or else the name.
    pub fn display_name(&self) -> &str {
        let annotated = || self.annotations.as_ref()?.title.as_deref();
        let title = self.title.as_deref().or_else(annotated);
        title.unwrap_or(&self.name)
    }
}
