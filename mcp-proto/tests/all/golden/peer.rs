//! The messages of a server's client.

use mcp_proto::Revision;

use super::script::fill;
use super::short::Short;

/// The client's messages, with the capabilities of the modern era.
pub(crate) struct Peer {
    revision: Revision,
    capabilities: String,
    /// The id of the last question of the server, for which `$question` stands once.
    pub(crate) question: Option<String>,
}

impl Peer {
    pub(crate) fn new(revision: Revision) -> Self {
        Self {
            revision,
            capabilities: "{}".into(),
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
                let messages = [
                    &*format!("0 initialize {params}"),
                    "- notifications/initialized",
                ];
                messages.map(|it| self.in_full(it)).into()
            }
            ">" => {
                let filled = fill(rest, |_| self.question.as_deref());
                if Self::answers(rest) {
                    self.question = None;
                }
                filled.iter().map(|it| self.in_full(it)).collect()
            }
            _ => return None,
        };
        Some(messages)
    }

    /// Returns true if a message is the answer to the last question.
    pub(crate) fn answers(message: &str) -> bool {
        message.contains("$question")
    }

    /// A message in full, with what every request of the modern era has.
    fn in_full(&self, message: &str) -> String {
        match Short::parse(message) {
            Some(short) if short.is_request() && self.revision.is_modern() => {
                let rest = &self.with_meta(short.rest);
                Short { rest, ..short }.in_full()
            }
            Some(short) => short.in_full(),
            None => message.to_owned(),
        }
    }

    /// The parameters with members of the modern era at the end of their `_meta`.
    fn with_meta(&self, params: &str) -> String {
        let modern = format!(
            r#""io.modelcontextprotocol/protocolVersion":"{}","io.modelcontextprotocol/clientCapabilities":{}"#,
            self.revision, self.capabilities
        );
        if params.contains(r#""_meta":{"#)
            && let Some(own) = params.strip_suffix("}}")
        {
            return format!("{own},{modern}}}}}");
        }
        let inner = params.strip_prefix('{').and_then(|it| it.strip_suffix('}'));
        let inner = inner.unwrap_or_default();
        let comma = if inner.is_empty() { "" } else { "," };
        format!(r#"{{{inner}{comma}"_meta":{{{modern}}}}}"#)
    }
}
