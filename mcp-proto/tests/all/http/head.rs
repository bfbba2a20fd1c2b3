//! The head of a request.

use mcp_proto::http::Head;

/// A head with its fields in the order in which they were sent.
#[derive(Clone, Debug)]
pub(crate) struct Sent {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) fields: Vec<(String, Vec<u8>)>,
}

impl Sent {
    /// A head without fields.
    pub(crate) fn new(method: &str) -> Self {
        Self {
            method: method.into(),
            path: "/mcp".into(),
            fields: Vec::new(),
        }
    }

    pub(crate) fn add(&mut self, name: &str, value: &str) {
        self.fields.push((name.into(), value.into()));
    }

    pub(crate) fn remove(&mut self, name: &str) {
        self.fields
            .retain(|(key, _)| !key.eq_ignore_ascii_case(name));
    }
}

impl Head for Sent {
    fn method(&self) -> &str {
        &self.method
    }

    fn path(&self) -> &str {
        &self.path
    }

    fn fields<'h>(&'h self, each: &mut dyn FnMut(&'h str, &'h [u8])) {
        for (name, value) in &self.fields {
            each(name, value);
        }
    }
}
