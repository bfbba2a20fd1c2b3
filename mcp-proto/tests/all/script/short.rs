//! Messages in short, as scripts write them.
//!
//! ```text
//! 1 tools/call {"name":"x"}   a request; without params if there are none
//! - notifications/initialized a notification
//! 1 = {}                      a result
//! 1 ! -32602 no such tool     an error
//! 1 ! -32601                  an error with the text that its code always has
//! 1 ! {"code":1.5}            an error whose members are not the usual ones
//! ```

pub(crate) const METHOD_NOT_FOUND: &str = "method not found";
pub(crate) const REQUEST_CANCELLED: &str = "request cancelled";

/// A message that is written short.
pub(crate) struct Short<'t> {
    /// Empty for a notification.
    pub(crate) id: &'t str,
    /// The method, `=` for a result or `!` for an error.
    pub(crate) word: &'t str,
    pub(crate) rest: &'t str,
}

impl<'t> Short<'t> {
    /// Reads a message; `None` if it is written in full.
    pub(crate) fn parse(text: &'t str) -> Option<Self> {
        let (id, rest) = text.split_once(' ')?;
        let starts = |char: char| char == '-' || char == '"' || char.is_ascii_digit();
        if !id.starts_with(starts) {
            return None;
        }
        let (word, rest) = rest.split_once(' ').unwrap_or((rest, ""));
        let id = if id == "-" { "" } else { id };
        Some(Self { id, word, rest })
    }

    pub(crate) fn is_request(&self) -> bool {
        !self.id.is_empty() && !["=", "!"].contains(&self.word)
    }

    pub(crate) fn in_full(&self) -> String {
        let Self { id, word, rest } = self;
        let rest = match *word {
            "=" => format!(r#""result":{rest}"#),
            "!" if rest.starts_with('{') => format!(r#""error":{rest}"#),
            "!" => {
                let (code, message) = rest.split_once(' ').unwrap_or_else(|| match *rest {
                    "-32601" => (rest, METHOD_NOT_FOUND),
                    "-32800" => (rest, REQUEST_CANCELLED),
                    _ => panic!("no text in {rest}"),
                });
                format!(r#""error":{{"code":{code},"message":"{message}"}}"#)
            }
            method if rest.is_empty() => format!(r#""method":"{method}""#),
            method => format!(r#""method":"{method}","params":{rest}"#),
        };
        match *id {
            "" => format!(r#"{{"jsonrpc":"2.0",{rest}}}"#),
            id => format!(r#"{{"jsonrpc":"2.0","id":{id},{rest}}}"#),
        }
    }
}
