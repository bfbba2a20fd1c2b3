//! The names under which the tools and prompts of several servers are listed together.

use core::fmt;
use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use crate::digest::Digest;

/// A rule for the exposed name of a tool or a prompt, from the name of its server and its own name there.
///
/// Exposed names are 1 to 128 of `[A-Za-z0-9_.-]`, and at most as long as [`max_length`](Self::max_length) says. A name
/// that would be longer, or has other characters, gets a digest of server and name as its end, which is the same each
/// time. Two items that would have one name are both told apart, by the prefix of [`bare`](Self::bare) names and by
/// digests otherwise, and reported as a [`Collision`].
///
/// ```
/// use mcp_compose::Naming;
///
/// let naming = Naming::default();
/// assert_eq!(naming.exposed_name("notes", "search"), "notes__search");
/// assert_eq!(naming.exposed_name("notes", "naïve"), "notes__na_ve_5d576a39");
/// assert_eq!(Naming::bare().exposed_name("notes", "search"), "search");
/// ```
#[derive(Clone)]
pub struct Naming {
    rule: Rule,
    max_length: usize,
    /// True if URIs that several servers list have aliases.
    has_aliases: bool,
}

#[derive(Clone)]
enum Rule {
    Prefix(Cow<'static, str>),
    Bare,
    Custom(Arc<CustomRule>),
}

/// Returns the name from those of the server and the item.
type CustomRule = dyn Fn(&str, &str) -> String + Send + Sync;

/// Items that would have one name, or one URI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collision {
    /// The name that each of them would have.
    pub name: String,
    /// Their servers, and their names there. Of two items of one server with one name, only the first is listed.
    pub items: Vec<(Arc<str>, String)>,
}

impl Naming {
    /// Names items `server`, separator, `name`. [`Default`] has the separator `__`.
    pub fn prefix(separator: impl Into<Cow<'static, str>>) -> Self {
        Self::new(Rule::Prefix(separator.into()))
    }

    /// Names items as their servers do. Those that collide get the prefix of the default.
    pub fn bare() -> Self {
        Self::new(Rule::Bare)
    }

    /// Names items by a function of server and name, which returns the same name each time.
    pub fn custom(name: impl Fn(&str, &str) -> String + Send + Sync + 'static) -> Self {
        Self::new(Rule::Custom(Arc::new(name)))
    }

    const fn new(rule: Rule) -> Self {
        Self {
            rule,
            max_length: MAX_LENGTH,
            has_aliases: false,
        }
    }

    /// Sets the greatest length of a name, between 16 and 128; 64 otherwise, which is the bound of some interfaces of
    /// models. Other values are moved to the nearest of these.
    #[must_use]
    pub fn max_length(mut self, max_length: usize) -> Self {
        self.max_length = max_length.clamp(16, 128);
        self
    }

    /// Gives aliases to URIs that several servers list.
    pub(crate) const fn with_aliases(mut self) -> Self {
        self.has_aliases = true;
        self
    }

    pub(crate) const fn has_aliases(&self) -> bool {
        self.has_aliases
    }

    pub(crate) const fn is_bare(&self) -> bool {
        matches!(self.rule, Rule::Bare)
    }

    /// Returns the name of an item that collides with no other.
    pub fn exposed_name(&self, server: &str, name: &str) -> String {
        self.at_level(server, name, 0)
    }

    /// Returns the name of each item, in their order, and the collisions. An item that cannot be told apart from one
    /// before it has no name.
    pub(crate) fn assign(
        &self,
        items: &[(&Arc<str>, &str)],
    ) -> (Vec<Option<String>>, Vec<Collision>) {
        let mut collisions = Vec::new();
        let mut levels = vec![0; items.len()];
        let mut names: Vec<Option<String>> = Vec::with_capacity(items.len());
        let mut known = HashMap::with_capacity(items.len());
        for (server, name) in items {
            let is_first = known.insert((*server, *name), ()).is_none();
            names.push(is_first.then(|| self.exposed_name(server, name)));
            if !is_first {
                collisions.push(Collision {
                    name: self.exposed_name(server, name),
                    items: vec![(Arc::clone(server), (*name).to_owned()); 2],
                });
            }
        }
        loop {
            let mut groups: HashMap<&str, Vec<usize>> = HashMap::with_capacity(names.len());
            for (index, name) in names.iter().enumerate() {
                if let Some(name) = name {
                    groups.entry(name).or_default().push(index);
                }
            }
            let mut shared: Vec<Vec<usize>> = groups
                .into_values()
                .filter(|group| group.len() > 1)
                .collect();
            if shared.is_empty() {
                return (names, collisions);
            }
            shared.sort_unstable();
            for group in shared {
                if group.iter().any(|&index| levels[index] == 0) {
                    collisions.push(Collision {
                        name: names[group[0]].clone().unwrap_or_default(),
                        items: Vec::from_iter(group.iter().map(|&index| {
                            let (server, name) = items[index];
                            (Arc::clone(server), name.to_owned())
                        })),
                    });
                }
                for (position, index) in group.into_iter().enumerate() {
                    let (server, name) = items[index];
                    names[index] = if levels[index] < LEVELS {
                        levels[index] += 1;
                        Some(self.at_level(server, name, levels[index]))
                    } else {
                        names[index].take().filter(|_| position == 0)
                    };
                }
            }
        }
    }

    /// Returns the name at a level: with each, it has more to tell it apart.
    fn at_level(&self, server: &str, name: &str, level: usize) -> String {
        let (wanted, level) = match &self.rule {
            Rule::Prefix(separator) => (format!("{server}{separator}{name}"), level),
            Rule::Bare if level == 0 => (name.to_owned(), 0),
            Rule::Bare => (format!("{server}{SEPARATOR}{name}"), level - 1),
            Rule::Custom(rule) => (rule(server, name), level),
        };
        let is_valid = !name.is_empty()
            && !wanted.is_empty()
            && wanted.len() <= self.max_length
            && wanted.bytes().all(is_allowed);
        if is_valid && level == 0 {
            return wanted;
        }
        let digits = (DIGITS << level.saturating_sub(1)).min(self.max_length - 1);
        let digest = Digest::of([server.as_bytes(), name.as_bytes()]);
        let replaced = wanted.chars().map(|c| match u8::try_from(c) {
            Ok(byte) if is_allowed(byte) => c,
            _ => '_',
        });
        let room = self.max_length - 1 - digits;
        format!(
            "{}_{digest:.digits$}",
            replaced.take(room).collect::<String>()
        )
    }
}

impl Default for Naming {
    fn default() -> Self {
        Self::prefix(SEPARATOR)
    }
}

impl fmt::Debug for Naming {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut naming = f.debug_struct("Naming");
        match &self.rule {
            Rule::Prefix(separator) => naming.field("prefix", separator),
            Rule::Bare => naming.field("bare", &true),
            Rule::Custom(_) => naming.field("custom", &true),
        };
        naming.field("max_length", &self.max_length).finish()
    }
}

/// TL-05
const fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

const SEPARATOR: &str = "__";
const MAX_LENGTH: usize = 64;
/// The digits of the shortest digest. They double with each level.
const DIGITS: usize = 8;
/// The last level has all that the length allows: a collision there has been searched for.
const LEVELS: usize = 5;

#[cfg(test)]
mod tests {
    use super::*;

    fn names(naming: &Naming, items: &[(&str, &str)]) -> (Vec<Option<String>>, Vec<String>) {
        let servers: Vec<Arc<str>> = items.iter().map(|(server, _)| (*server).into()).collect();
        let items: Vec<_> = items
            .iter()
            .zip(&servers)
            .map(|((_, name), server)| (server, *name))
            .collect();
        let (names, collisions) = naming.assign(&items);
        (
            names,
            collisions
                .into_iter()
                .map(|it| format!("{} {}", it.name, it.items.len()))
                .collect(),
        )
    }

    #[test]
    fn names_are_valid_and_stay() {
        let check = |naming: &Naming, server: &str, name: &str, expected: &str| {
            let exposed = naming.exposed_name(server, name);
            assert_eq!(exposed, naming.exposed_name(server, name));
            assert!(
                (1..=naming.max_length).contains(&exposed.len()),
                "{exposed}"
            );
            assert!(exposed.bytes().all(is_allowed), "{exposed}");
            let begin = expected.trim_end_matches('#');
            let digits = expected.len() - begin.len();
            assert_eq!(
                (&exposed[..begin.len()], exposed.len()),
                (begin, begin.len() + digits)
            );
        };
        let naming = Naming::default();
        check(&naming, "a", "b", "a__b");
        check(&naming, "a", "", "a___########");
        check(&naming, "a", "x y", "a__x_y_########");
        check(&naming, "a", "\u{1b}[2J\u{202e}\0\n", "a____2J____########");
        check(
            &naming,
            "a",
            &"x".repeat(61),
            &format!("a__{}", "x".repeat(61)),
        );
        check(
            &naming,
            "a",
            &"x".repeat(62),
            &format!("a__{}_########", "x".repeat(52)),
        );
        check(
            &naming,
            "日本",
            &"語".repeat(1000),
            &format!("{}########", "_".repeat(56)),
        );
        check(&Naming::prefix("."), "a", "b", "a.b");
        check(&Naming::prefix("/"), "a", "b", "a_b_########");
        check(&Naming::bare(), "a", "b", "b");
        check(
            &Naming::bare().max_length(0),
            "a",
            &"x".repeat(17),
            "xxxxxxx_########",
        );
        check(
            &Naming::bare().max_length(999),
            "a",
            &"x".repeat(128),
            &"x".repeat(128),
        );
        check(&Naming::custom(|_, _| String::new()), "a", "b", "_########");
        check(
            &Naming::custom(|server, name| format!("{name}.{server}")),
            "a",
            "b",
            "b.a",
        );
    }

    #[test]
    fn collisions_are_told_apart_and_reported() {
        let (found, collisions) = names(
            &Naming::default(),
            &[("a", "b__c"), ("a__b", "c"), ("a", "d"), ("a", "d")],
        );
        let digest = |server: &str, name: &str| {
            let digest = Digest::of([server.as_bytes(), name.as_bytes()]);
            Some(format!("a__b__c_{digest:.8}"))
        };
        assert_eq!(
            found,
            [
                digest("a", "b__c"),
                digest("a__b", "c"),
                Some("a__d".into()),
                None
            ]
        );
        assert_eq!(collisions, ["a__d 2", "a__b__c 2"]);

        let bare = [("a", "x"), ("b", "x"), ("c", "y"), ("c", "a__x")];
        let (found, collisions) = names(&Naming::bare(), &bare);
        let found: Vec<_> = found.into_iter().flatten().collect();
        assert_eq!((&*found[1], &*found[2]), ("b__x", "y"));
        // The prefix led to the name of another tool: both have digests.
        assert!(
            found[0].starts_with("a__x_") && found[3].starts_with("c__a__x"),
            "{found:?}"
        );
        assert_eq!(collisions, ["x 2", "a__x 2"]);

        let all = Naming::custom(|_, _| "same".into()).max_length(16);
        let (found, collisions) = names(&all, &[("a", "x"), ("b", "y"), ("c", "z")]);
        let mut found: Vec<_> = found.into_iter().flatten().collect();
        found.dedup();
        assert_eq!((found.len(), collisions), (3, vec!["same 3".to_owned()]));
    }
}
