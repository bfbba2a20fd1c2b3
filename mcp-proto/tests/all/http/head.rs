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

    /// The usual head of a method, [changed](Self::change).
    pub(crate) fn usual(method: &str, changes: &[&str]) -> Self {
        let mut head = Self::new(method);
        head.add("Host", "localhost:8000");
        head.add("Accept", "application/json, text/event-stream");
        match method {
            "POST" => head.add("Content-Type", "application/json"),
            _ => head.add("Mcp-Session-Id", "s1"),
        }
        for change in changes {
            head.change(change);
        }
        head
    }

    pub(crate) fn post(changes: &[&str]) -> Self {
        Self::usual("POST", changes)
    }

    pub(crate) fn at(self, path: &str) -> Self {
        let path = path.into();
        Self { path, ..self }
    }

    /// `name: value` sets a field, `+name: value` adds a line, `-name` takes it away.
    fn change(&mut self, change: &str) {
        if let Some(name) = change.strip_prefix('-') {
            return self.remove(name);
        }
        let (name, value) = change.split_once(':').unwrap();
        let added = name.strip_prefix('+');
        if added.is_none() {
            self.remove(name);
        }
        self.add(added.unwrap_or(name), value);
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
