//! URI templates of RFC 6570: expansion and matching, both to level 4.
//!
//! A server offers resources by template, a client fills a template in:
//!
//! ```
//! use mcp_async::uri_template::UriTemplate;
//!
//! let template = UriTemplate::parse("repo://{owner}/{name}/files/{+path}{?line}")?;
//! let captures = template.matches("repo://ada/engine/files/src/main.rs?line=7").ok_or("no match")?;
//! assert_eq!(captures.string("owner"), Some("ada"));
//! assert_eq!(captures.string("path"), Some("src/main.rs"));
//! assert_eq!(captures.string("line"), Some("7"));
//! assert_eq!(template.expand(&captures), "repo://ada/engine/files/src/main.rs?line=7");
//! # Ok::<(), Box<dyn core::error::Error>>(())
//! ```
//!
//! # What matches
//!
//! A URI matches if some values expand to it, up to what needless encoding it has (`%41` for `A`)
//! and to the order of named variables. In particular:
//!
//! - Values are decoded. A value with `/` or `\`, encoded or not, and one that is `.` or `..`
//!   matches only `{+var}` and `{#var}`: those take anything, so check what they took before
//!   it becomes a path. In a query (`{?var}`, `{&var}`) encoded separators stand for themselves,
//!   or no URL could be a value, but no `.` or `..` between them. Broken encoding, encoded
//!   bytes that are not UTF-8 and an encoded NUL match nothing.
//! - Only `*` gives lists and maps: members that all have a `=` make a map, members without one
//!   a list, a mixture or a repeated name nothing. Other variables give texts.
//! - `{var}` and `{+var}` take at least one character. With any other operator an empty value is
//!   one that is there, and the whole expression may be missing, as may its last variables.
//! - Named variables (`;`, `?`, `&`) match in any order and may be missing. A name that the
//!   template does not know, or one that comes twice, does not match; `{?rest*}` takes every name
//!   that no other variable of its expression has. Their values end only at what cannot be part
//!   of one: in `{?q}!end` at the `!`, but `{?q}end` matches nothing with a `q`.
//! - Where several ways are possible each variable takes as little as lets the rest match, from
//!   left to right, and a present variable is preferred over an absent one: `{name}{.extension}`
//!   takes `a.tar.gz` as `a` and `tar.gz`. If that way breaks a rule on values (a dot segment, a
//!   repeated name), no other is tried.
//! - A variable that the template names twice has to have the same value in both places.
//!
//! # Cost
//!
//! Matching never backtracks: it takes time proportional to the number of variables and literals of
//! the template times the length of the URI (and the bytes of literals that repeat in it), and
//! one bit of memory for each such pair, or two. Both are bounded, by [`MAX_TEMPLATE_LENGTH`],
//! [`MAX_VARIABLES`] and [`MAX_URI_LENGTH`].

mod atom;
mod captures;
mod expand;
mod matching;
mod operator;
mod parse;
pub(crate) mod percent;
mod text;
mod value;

use core::fmt;
use core::str::FromStr;

pub use captures::Captures;
pub use matching::MAX_URI_LENGTH;
pub use parse::{MAX_TEMPLATE_LENGTH, MAX_VARIABLES, ParseError, ParseErrorKind};
pub use value::{Value, Variables};

use atom::Atom;
use parse::Part;

/// A URI template of RFC 6570, parsed once and used many times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UriTemplate {
    source: String,
    parts: Vec<Part>,
    atoms: Vec<Atom>,
}

impl UriTemplate {
    /// Reads a template.
    ///
    /// # Errors
    ///
    /// [`ParseError`] with the position where the text is no template (RFC 6570, section 2), or
    /// is a longer one than [`MAX_TEMPLATE_LENGTH`] and [`MAX_VARIABLES`] allow.
    pub fn parse(source: &str) -> Result<Self, ParseError> {
        let parts = parse::parse(source)?;
        let atoms = atom::compile(&parts);
        Ok(Self {
            source: source.to_owned(),
            parts,
            atoms,
        })
    }

    /// Writes the URI for these values (RFC 6570, section 3).
    ///
    /// A prefix counts characters and, for `{+var:n}`, encoded bytes that stay as they are. On a list
    /// or map a prefix has no meaning, which leaves the variable out. The names of an exploded map
    /// are encoded like values, so that a name with `&` cannot pass for two.
    #[must_use]
    pub fn expand(&self, variables: &(impl Variables + ?Sized)) -> String {
        expand::expand(&self.parts, variables)
    }

    /// Reads the values out of a URI, `None` where it is not one of this template.
    ///
    /// The [module](self) says what matches and what it costs. A prefix captures what it shows
    /// of the value.
    #[must_use]
    pub fn matches(&self, uri: &str) -> Option<Captures> {
        matching::matches(&self.atoms, uri)
    }

    /// The names of the variables in the order of the template, as often as it mentions them.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        let expressions = self.parts.iter().filter_map(|part| match part {
            Part::Expression(_, variables) => Some(variables),
            Part::Literal(_) => None,
        });
        expressions.flatten().map(|variable| variable.name.as_str())
    }
}

impl FromStr for UriTemplate {
    type Err = ParseError;

    fn from_str(source: &str) -> Result<Self, ParseError> {
        Self::parse(source)
    }
}

impl fmt::Display for UriTemplate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.source)
    }
}
