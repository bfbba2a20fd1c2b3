use std::borrow::Cow;

/// The value of a variable: a text, or several for `*`.
///
/// A [`List`](Self::List) or [`Map`](Self::Map) without members counts as undefined (RFC 6570,
/// section 2.3).
///
/// ```
/// use mcp_async::uri_template::{UriTemplate, Value};
///
/// let template = UriTemplate::parse("{/path*}{?page}")?;
/// let path = Value::list(["notes", "today"]);
/// assert_eq!(template.expand(&[("path", path), ("page", "2".into())]), "/notes/today?page=2");
/// # Ok::<(), mcp_async::uri_template::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Value {
    /// One text.
    String(String),
    /// Texts in their order.
    List(Vec<String>),
    /// Names with their texts, in their order.
    Map(Vec<(String, String)>),
}

impl Value {
    /// Makes a list of texts.
    pub fn list<T: Into<String>>(items: impl IntoIterator<Item = T>) -> Self {
        Self::List(items.into_iter().map(Into::into).collect())
    }

    /// Makes a map of names and texts.
    pub fn map<K: Into<String>, V: Into<String>>(pairs: impl IntoIterator<Item = (K, V)>) -> Self {
        Self::Map(
            pairs
                .into_iter()
                .map(|(key, value)| (key.into(), value.into()))
                .collect(),
        )
    }

    /// The text, unless this is a list or a map.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            Self::List(_) | Self::Map(_) => None,
        }
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

/// The source of the values for [`UriTemplate::expand`](super::UriTemplate::expand).
///
/// Slices, arrays and vectors of names with values are variables (the first of a name counts), as
/// are closures and [`Captures`](super::Captures).
///
/// ```
/// use std::borrow::Cow;
///
/// use mcp_async::uri_template::{UriTemplate, Value, Variables};
///
/// struct Same(Value);
///
/// impl Variables for Same {
///     fn value(&self, _: &str) -> Option<Cow<'_, Value>> {
///         Some(Cow::Borrowed(&self.0))
///     }
/// }
///
/// let template = UriTemplate::parse("{a}-{b}")?;
/// assert_eq!(template.expand(&Same("x".into())), "x-x");
/// assert_eq!(template.expand(&|name: &str| Some(Value::from(name))), "a-b");
/// # Ok::<(), mcp_async::uri_template::ParseError>(())
/// ```
pub trait Variables {
    /// The value of the variable, `None` where it is undefined.
    fn value(&self, name: &str) -> Option<Cow<'_, Value>>;
}

impl<K: AsRef<str>> Variables for [(K, Value)] {
    fn value(&self, name: &str) -> Option<Cow<'_, Value>> {
        let (_, value) = self.iter().find(|(key, _)| key.as_ref() == name)?;
        Some(Cow::Borrowed(value))
    }
}

impl<K: AsRef<str>, const N: usize> Variables for [(K, Value); N] {
    fn value(&self, name: &str) -> Option<Cow<'_, Value>> {
        self.as_slice().value(name)
    }
}

impl<K: AsRef<str>> Variables for Vec<(K, Value)> {
    fn value(&self, name: &str) -> Option<Cow<'_, Value>> {
        self.as_slice().value(name)
    }
}

impl<F: Fn(&str) -> Option<Value>> Variables for F {
    fn value(&self, name: &str) -> Option<Cow<'_, Value>> {
        self(name).map(Cow::Owned)
    }
}
