/// The operator of an expression, which decides how its variables are expanded (RFC 6570, appendix
/// A's table).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// `{var}`
    Simple,
    /// `{+var}`
    Reserved,
    /// `{#var}`
    Fragment,
    /// `{.var}`
    Label,
    /// `{/var}`
    Path,
    /// `{;var}`
    Parameter,
    /// `{?var}`
    Query,
    /// `{&var}`
    Continuation,
}

impl Operator {
    pub(super) const fn from_char(sign: char) -> Option<Self> {
        Some(match sign {
            '+' => Self::Reserved,
            '#' => Self::Fragment,
            '.' => Self::Label,
            '/' => Self::Path,
            ';' => Self::Parameter,
            '?' => Self::Query,
            '&' => Self::Continuation,
            _ => return None,
        })
    }

    /// The byte before the first defined variable.
    pub(super) const fn first(self) -> Option<u8> {
        match self {
            Self::Simple | Self::Reserved => None,
            Self::Fragment => Some(b'#'),
            Self::Label => Some(b'.'),
            Self::Path => Some(b'/'),
            Self::Parameter => Some(b';'),
            Self::Query => Some(b'?'),
            Self::Continuation => Some(b'&'),
        }
    }

    /// The byte between two variables, and between the members of an exploded one.
    pub(super) const fn separator(self) -> u8 {
        match self {
            Self::Simple | Self::Reserved | Self::Fragment => b',',
            Self::Label => b'.',
            Self::Path => b'/',
            Self::Parameter => b';',
            Self::Query | Self::Continuation => b'&',
        }
    }

    /// Returns true if each value follows its name.
    pub(super) const fn named(self) -> bool {
        matches!(self, Self::Parameter | Self::Query | Self::Continuation)
    }

    /// Returns true if an empty value still has its `=`.
    pub(super) const fn equals_when_empty(self) -> bool {
        !matches!(self, Self::Parameter)
    }

    /// Returns true if reserved characters of a value stay as they are.
    pub(super) const fn reserved(self) -> bool {
        matches!(self, Self::Reserved | Self::Fragment)
    }
}
