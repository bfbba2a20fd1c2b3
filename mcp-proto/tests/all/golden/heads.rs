//! The heads of a client that does what its revision asks for, unless the script says otherwise.

use mcp_proto::Revision;

use super::Sent;
use super::script::{member, word};

/// What the head of the next request says.
pub(crate) struct Heads {
    revision: Revision,
    pub(crate) session: Option<String>,
    /// Whether requests repeat their method and what they are about.
    pub(crate) draft: bool,
    /// Fields of the script's own: instead of others of their names, or instead of none.
    own: Vec<(String, Option<String>)>,
}

impl Heads {
    pub(crate) fn new(revision: Revision) -> Self {
        Self {
            revision,
            session: None,
            draft: revision.is_modern() || revision == Revision::DraftV1,
            own: Vec::new(),
        }
    }

    /// `name: value`, or `-name` for none.
    pub(crate) fn next(&mut self, rest: &str) {
        self.own.push(match rest.strip_prefix('-') {
            Some(name) => (name.to_owned(), None),
            None => {
                let (name, value) = rest.split_once(": ").unwrap_or((rest, ""));
                (name.to_owned(), Some(value.to_owned()))
            }
        });
    }

    pub(crate) fn post(&mut self, body: &str) -> Sent {
        let mut head = Sent::new("POST");
        head.add("host", "localhost");
        head.add("content-type", "application/json");
        head.add("accept", BOTH);
        let method = member(body, "method");
        let method = method.as_deref().map(|it| it.trim_matches('"'));
        if method != Some("initialize") {
            self.session(&mut head);
        }
        if self.draft
            && let Some(method) = method
        {
            head.add("mcp-method", method);
            let params = member(body, "params").unwrap_or_default();
            let about = match method {
                "tools/call" | "prompts/get" => member(&params, "name"),
                "resources/read" => member(&params, "uri"),
                "tasks/get" | "tasks/update" | "tasks/cancel" => member(&params, "taskId"),
                _ => None,
            };
            if let Some(about) = about {
                head.add("mcp-name", about.trim_matches('"'));
            }
        }
        self.finish(head)
    }

    pub(crate) fn bodiless(&mut self, verb: &str, rest: &str) -> Sent {
        let mut head = Sent::new(&verb.to_ascii_uppercase());
        head.add("host", "localhost");
        if verb == "get" {
            head.add("accept", "text/event-stream");
        }
        if verb != "options" {
            self.session(&mut head);
        }
        let (last, _) = word(rest);
        if !last.is_empty() {
            head.add("last-event-id", last);
        }
        self.finish(head)
    }

    /// The fields that every request of a session has.
    fn session(&self, head: &mut Sent) {
        if self.revision.as_str() >= "2025-06-18" {
            head.add("mcp-protocol-version", self.revision.as_str());
        }
        if let Some(session) = &self.session {
            head.add("mcp-session-id", session);
        }
    }

    fn finish(&mut self, mut head: Sent) -> Sent {
        let own = core::mem::take(&mut self.own);
        for (name, _) in &own {
            head.remove(name);
        }
        for (name, value) in own {
            match value {
                Some(path) if name == ":path" => head.path = path,
                Some(value) => head.add(&name, &value),
                None => {}
            }
        }
        head
    }
}

/// What a POST accepts.
pub(crate) const BOTH: &str = "application/json, text/event-stream";
