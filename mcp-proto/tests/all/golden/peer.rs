//! The messages of a server's client.

use mcp_proto::Revision;

use super::script::{notification, request, with_meta, word};

/// The client's messages: ids and the capabilities of the modern era.
pub(crate) struct Peer {
    revision: Revision,
    capabilities: String,
    /// Members for the `_meta` of the next request.
    meta: String,
    next: u64,
    /// The id of the last question of the server.
    pub(crate) question: Option<String>,
}

impl Peer {
    pub(crate) fn new(revision: Revision) -> Self {
        Self {
            revision,
            capabilities: "{}".into(),
            meta: String::new(),
            next: 1,
            question: None,
        }
    }

    /// The messages that a command stands for.
    pub(crate) fn say(&mut self, verb: &str, rest: &str) -> Option<Vec<String>> {
        let messages = match verb {
            "open" => {
                if !rest.is_empty() {
                    self.capabilities = rest.to_owned();
                }
                if self.revision.is_modern() {
                    return Some(Vec::new());
                }
                let params = format!(
                    r#"{{"protocolVersion":"{}","capabilities":{},"clientInfo":{{"name":"client","version":"2.0"}}}}"#,
                    self.revision, self.capabilities
                );
                let told = notification("notifications/initialized", "");
                vec![request("0", "initialize", &params), told]
            }
            "meta" => {
                self.meta = rest.to_owned();
                Vec::new()
            }
            "request" => {
                let (method, params) = word(rest);
                let id = self.next.to_string();
                self.next += 1;
                vec![self.request(&id, method, params)]
            }
            "request-as" => {
                let (id, rest) = word(rest);
                let (method, params) = word(rest);
                vec![self.request(id, method, params)]
            }
            "notify" => {
                let (method, params) = word(rest);
                vec![notification(method, params)]
            }
            "send" => vec![rest.to_owned()],
            // The peer's half of a question, if there is one.
            "reply" => match self.question.take() {
                Some(id) => vec![format!(r#"{{"jsonrpc":"2.0","id":{id},{rest}}}"#)],
                None => Vec::new(),
            },
            _ => return None,
        };
        Some(messages)
    }

    fn request(&mut self, id: &str, method: &str, params: &str) -> String {
        let mut meta = core::mem::take(&mut self.meta);
        if self.revision.is_modern() {
            let comma = if meta.is_empty() { "" } else { "," };
            meta = format!(
                r#"{meta}{comma}"io.modelcontextprotocol/protocolVersion":"{}","io.modelcontextprotocol/clientCapabilities":{}"#,
                self.revision, self.capabilities
            );
        }
        request(id, method, &with_meta(params, &meta))
    }
}
