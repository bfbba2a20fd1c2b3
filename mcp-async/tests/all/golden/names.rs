//! Names for what is random.

/// Random values in the order in which they were seen.
#[derive(Default)]
pub(crate) struct Names {
    known: Vec<(String, String)>,
}

/// What stands before a random value, and what it is called.
const MARKS: [(&str, &str); 3] = [
    ("mcp-session-id: ", "session"),
    ("messages?c=", "token"),
    (r#""elicitationId":""#, "page"),
];

impl Names {
    /// The text with names instead of random values.
    pub(crate) fn replace(&mut self, text: &str) -> String {
        for (mark, name) in MARKS {
            for (at, _) in text.match_indices(mark) {
                let rest = text.get(at + mark.len()..).unwrap_or_default();
                let end = rest.find(|char: char| !char.is_ascii_hexdigit());
                let value = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
                if value.len() == 32 && self.known.iter().all(|(known, _)| known != value) {
                    let count = self.known.iter().filter(|(_, it)| it.starts_with(name));
                    let name = format!("{name}-{}", count.count() + 1);
                    self.known.push((value.to_owned(), name));
                }
            }
        }
        let mut text = text.to_owned();
        for (value, name) in &self.known {
            text = text.replace(value, name);
        }
        text
    }

    /// The text with random values instead of names, for what the other side sends back.
    pub(crate) fn restore(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (value, name) in &self.known {
            text = text.replace(name, value);
        }
        text
    }
}
