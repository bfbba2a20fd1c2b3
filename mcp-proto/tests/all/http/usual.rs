//! The head that most tests send.

use super::Sent;

impl Sent {
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
}
