//! Challenges: the field `WWW-Authenticate` (RFC 9110, section 11.6.1).

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::Scopes;

/// The most challenges that are read from one response.
const MOST_CHALLENGES: usize = 32;

/// The most parameters that are read of one challenge.
const MOST_PARAMETERS: usize = 64;

/// One challenge: a scheme and its parameters.
///
/// ```
/// use mcp_auth::{Challenge, Scheme};
///
/// let field = br#"Basic realm="a, b", Bearer scope = "files:read", resource_metadata="https://h/m""#;
/// let challenges = Challenge::parse_all([&field[..]]);
/// let bearer = Challenge::select(&challenges, Scheme::Bearer).unwrap();
/// assert_eq!(bearer.parameter("SCOPE"), Some("files:read"));
/// assert_eq!(bearer.parameter("resource_metadata"), Some("https://h/m"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Challenge {
    scheme: String,
    parameters: Vec<(String, String)>,
}

/// The schemes by which an access token is presented.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Scheme {
    /// A token without a proof of possession (RFC 6750).
    Bearer,
    /// The token is bound to a key, and each request proves its possession (RFC 9449).
    Dpop,
}

impl Scheme {
    /// The name as it is sent.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Bearer => "Bearer",
            Self::Dpop => "DPoP",
        }
    }

    /// Returns the scheme of this name, in any case of its letters.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Bearer, Self::Dpop]
            .into_iter()
            .find(|scheme| scheme.as_str().eq_ignore_ascii_case(name))
    }
}

impl Challenge {
    /// A challenge without parameters.
    pub(crate) fn new(scheme: Scheme) -> Self {
        Self {
            scheme: scheme.as_str().into(),
            parameters: Vec::new(),
        }
    }

    /// Adds a parameter; one of the same name that was sent goes before it.
    pub(crate) fn with_parameter(mut self, name: &str, value: &str) -> Self {
        self.parameters.push((name.into(), value.into()));
        self
    }

    /// Reads the challenges of all fields of a response, in their order.
    ///
    /// Names of schemes and parameters have any case, whitespace may stand around `=`, and values
    /// are tokens or quoted strings. Unquoted URLs and values in single quotes, which servers send,
    /// are read as well. A challenge with an unterminated quote is left out, with the rest of its
    /// field.
    pub fn parse_all<'f>(fields: impl IntoIterator<Item = &'f [u8]>) -> Vec<Self> {
        let mut challenges = Vec::new();
        for field in fields {
            let mut text = FieldText { rest: field };
            // A challenge is complete when the next one begins or the field ends.
            let mut open: Option<Self> = None;
            let complete = text.read(&mut open, &mut challenges);
            if complete.is_some() {
                keep(open, &mut challenges);
            }
        }
        challenges
    }

    /// Returns the first challenge of this scheme.
    pub fn select(challenges: &[Self], scheme: Scheme) -> Option<&Self> {
        challenges.iter().find(|challenge| challenge.is(scheme))
    }

    /// Returns whether the challenge is of this scheme.
    pub fn is(&self, scheme: Scheme) -> bool {
        self.scheme.eq_ignore_ascii_case(scheme.as_str())
    }

    /// The scheme as it was sent.
    pub fn scheme(&self) -> &str {
        &self.scheme
    }

    /// Returns the value of a parameter, the first if it was sent twice.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        let mut parameters = self.parameters.iter();
        parameters
            .find(|(other, _)| other.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.as_str())
    }

    /// The parameters with their names as they were sent, in their order.
    pub fn parameters(&self) -> impl Iterator<Item = (&str, &str)> {
        let parameters = self.parameters.iter();
        parameters.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Returns the scopes that the challenge asks for; `None` if it names none.
    pub fn scopes(&self) -> Option<Scopes> {
        let scopes = Scopes::parse(self.parameter("scope")?);
        (!scopes.is_empty()).then_some(scopes)
    }
}

fn keep(challenge: Option<Challenge>, challenges: &mut Vec<Challenge>) {
    if let Some(challenge) = challenge
        && challenges.len() < MOST_CHALLENGES
    {
        challenges.push(challenge);
    }
}

/// The rest of a field.
struct FieldText<'f> {
    rest: &'f [u8],
}

impl<'f> FieldText<'f> {
    /// Reads to the end of the field. `None` if `open` is unusable.
    fn read(&mut self, open: &mut Option<Challenge>, done: &mut Vec<Challenge>) -> Option<()> {
        loop {
            self.skip(|byte| is_space(byte) || byte == b',');
            if self.rest.is_empty() {
                return Some(());
            }
            let name = self.take(is_token);
            if name.is_empty() {
                // Neither a scheme nor a parameter: the list continues after the next comma.
                self.skip(|byte| byte != b',');
                continue;
            }
            let after_name = self.rest;
            self.skip(is_space);
            if let Some(challenge) = open.as_mut()
                && let Some(value) = self.rest.strip_prefix(b"=")
            {
                self.rest = value;
                self.skip(is_space);
                let value = self.value()?;
                if challenge.parameters.len() < MOST_PARAMETERS {
                    challenge.parameters.push((text(name), value));
                }
                continue;
            }
            self.rest = after_name;
            keep(open.take(), done);
            *open = Some(Challenge {
                scheme: text(name),
                parameters: Vec::new(),
            });
            self.skip(is_space);
            self.skip_token68();
        }
    }

    /// A value: quoted, in single quotes, or up to the next comma or space.
    fn value(&mut self) -> Option<String> {
        if let Some(mut quoted) = self.rest.strip_prefix(b"\"") {
            let mut value = Vec::new();
            loop {
                let (first, rest) = quoted.split_first()?;
                quoted = rest;
                match first {
                    b'"' => break,
                    b'\\' => {
                        let (escaped, rest) = quoted.split_first()?;
                        quoted = rest;
                        value.push(*escaped);
                    }
                    other => value.push(*other),
                }
            }
            self.rest = quoted;
            return Some(text(&value));
        }
        if let Some(quoted) = self.rest.strip_prefix(b"'")
            && let Some(end) = quoted.iter().position(|byte| *byte == b'\'')
            && let Some((value, [_, rest @ ..])) = quoted.split_at_checked(end)
            && rest
                .first()
                .is_none_or(|byte| is_space(*byte) || *byte == b',')
        {
            self.rest = rest;
            return Some(text(value));
        }
        Some(text(self.take(|byte| byte != b',' && !is_space(byte))))
    }

    /// Passes the one token that stands after a scheme in place of parameters.
    fn skip_token68(&mut self) {
        let before = self.rest;
        let name = self.take(|byte| is_token(byte) || byte == b'/');
        self.skip(|byte| byte == b'=');
        self.skip(is_space);
        let is_token68 = !name.is_empty() && self.rest.first().is_none_or(|byte| *byte == b',');
        // `Bearer` alone may also stand before the next challenge without a comma.
        if !is_token68 || before.starts_with(b",") {
            self.rest = before;
        }
    }

    fn skip(&mut self, of: impl Fn(u8) -> bool) {
        self.take(of);
    }

    fn take(&mut self, of: impl Fn(u8) -> bool) -> &'f [u8] {
        let end = self.rest.iter().position(|byte| !of(*byte));
        let at = end.unwrap_or(self.rest.len());
        let (taken, rest) = self.rest.split_at_checked(at).unwrap_or((self.rest, b""));
        self.rest = rest;
        taken
    }
}

const fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

/// A byte of `token` (RFC 9110, section 5.6.2).
const fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'!' | b'#'
                | b'$'
                | b'%'
                | b'&'
                | b'\''
                | b'*'
                | b'+'
                | b'-'
                | b'.'
                | b'^'
                | b'_'
                | b'`'
                | b'|'
                | b'~'
        )
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
