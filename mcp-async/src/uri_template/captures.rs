use std::borrow::Cow;

use super::value::{Value, Variables};

/// The values of the variables of a template in a URI, decoded.
///
/// A variable is missing where the URI leaves it out. Captures are [`Variables`]: expanding their
/// template with them writes the URI again, see [`UriTemplate::matches`](super::UriTemplate::matches).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Captures {
    entries: Vec<Entry>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Entry {
    name: String,
    value: Value,
    /// The number of characters of the value that the URI contains, where the template has a
    /// prefix.
    limit: Option<usize>,
}

impl Captures {
    /// The value of a variable: a list or a map only where the template has `*`.
    #[must_use]
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.entries
            .iter()
            .find(|entry| entry.name == name)
            .map(|entry| &entry.value)
    }

    /// The text of a variable without `*`.
    #[must_use]
    pub fn string(&self, name: &str) -> Option<&str> {
        self.value(name)?.as_str()
    }

    /// Every variable that the URI holds, in the order of the URI.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.entries
            .iter()
            .map(|entry| (entry.name.as_str(), &entry.value))
    }

    /// Adds a value; `None` where the name has another one already.
    pub(super) fn add(&mut self, name: &str, value: Value, limit: Option<usize>) -> Option<()> {
        let Some(entry) = self.entries.iter_mut().find(|entry| entry.name == name) else {
            self.entries.push(Entry {
                name: name.to_owned(),
                value,
                limit,
            });
            return Some(());
        };
        let (seen, other) = (
            entry.limit.unwrap_or(usize::MAX),
            limit.unwrap_or(usize::MAX),
        );
        let common = seen.min(other);
        let agree = match (&entry.value, &value) {
            (Value::String(a), Value::String(b)) => {
                a.chars().take(common).eq(b.chars().take(common))
            }
            (a, b) => a == b,
        };
        if other > seen {
            (entry.value, entry.limit) = (value, limit);
        }
        agree.then_some(())
    }
}

impl Variables for Captures {
    fn value(&self, name: &str) -> Option<Cow<'_, Value>> {
        self.value(name).map(Cow::Borrowed)
    }
}
