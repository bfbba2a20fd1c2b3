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

    fn values<'h>(&'h self, name: &str, each: &mut dyn FnMut(&'h [u8])) {
        for (key, value) in &self.fields {
            if key.eq_ignore_ascii_case(name) {
                each(value);
            }
        }
    }
}
