//! The heads of a client that does what its revision asks for, unless the script says otherwise.

use mcp_proto::Revision;
use mcp_proto::http::Head;

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

/// The head of a request.
pub(crate) struct Request {
    pub(crate) method: &'static str,
    pub(crate) fields: Vec<(String, String)>,
}

impl Head for Request {
    fn method(&self) -> &str {
        self.method
    }

    fn path(&self) -> &str {
        let path = self.fields.iter().find(|(name, _)| name == ":path");
        path.map_or("/mcp", |(_, path)| path)
    }

    fn values<'h>(&'h self, name: &str, each: &mut dyn FnMut(&'h [u8])) {
        for (key, value) in &self.fields {
            if key.eq_ignore_ascii_case(name) {
                each(value.as_bytes());
            }
        }
    }
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

    pub(crate) fn post(&mut self, body: &str) -> Vec<(String, String)> {
        let mut fields = vec![
            field("host", "localhost"),
            field("content-type", "application/json"),
            field("accept", BOTH),
        ];
        let method = member(body, "method");
        let method = method.as_deref().map(|it| it.trim_matches('"'));
        if method != Some("initialize") {
            self.session(&mut fields);
        }
        if self.draft
            && let Some(method) = method
        {
            fields.push(field("mcp-method", method));
            let params = member(body, "params").unwrap_or_default();
            let about = match method {
                "tools/call" | "prompts/get" => member(&params, "name"),
                "resources/read" => member(&params, "uri"),
                "tasks/get" | "tasks/update" | "tasks/cancel" => member(&params, "taskId"),
                _ => None,
            };
            if let Some(about) = about {
                fields.push(field("mcp-name", about.trim_matches('"')));
            }
        }
        self.finish(fields)
    }

    pub(crate) fn bodiless(
        &mut self,
        verb: &str,
        rest: &str,
    ) -> (&'static str, Vec<(String, String)>) {
        let mut fields = vec![field("host", "localhost")];
        let method = match verb {
            "get" => "GET",
            "delete" => "DELETE",
            _ => "OPTIONS",
        };
        if verb == "get" {
            fields.push(field("accept", "text/event-stream"));
        }
        if verb != "options" {
            self.session(&mut fields);
        }
        let (last, _) = word(rest);
        if !last.is_empty() {
            fields.push(field("last-event-id", last));
        }
        (method, self.finish(fields))
    }

    /// The fields that every request of a session has.
    fn session(&self, fields: &mut Vec<(String, String)>) {
        if self.revision.as_str() >= "2025-06-18" {
            fields.push(field("mcp-protocol-version", self.revision.as_str()));
        }
        if let Some(session) = &self.session {
            fields.push(field("mcp-session-id", session));
        }
    }

    fn finish(&mut self, mut fields: Vec<(String, String)>) -> Vec<(String, String)> {
        let own = core::mem::take(&mut self.own);
        fields.retain(|(name, _)| own.iter().all(|(other, _)| other != name));
        let own = own.into_iter();
        fields.extend(own.filter_map(|(name, value)| Some((name, value?))));
        fields
    }
}

fn field(name: &str, value: &str) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

/// What a POST accepts.
pub(crate) const BOTH: &str = "application/json, text/event-stream";
