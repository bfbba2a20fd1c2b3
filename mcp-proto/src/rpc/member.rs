//! The members of a message.

use crate::json::Str;

/// A member that a message may have only once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Member {
    /// `jsonrpc`
    Version,
    /// `id`
    Id,
    /// `method`
    Method,
    /// `params`
    Params,
    /// `result`
    Result,
    /// `error`
    Error,
    /// `code` of the error
    Code,
    /// `message` of the error
    Message,
    /// `data` of the error
    Data,
}

impl Member {
    /// The member's name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Version => "jsonrpc",
            Self::Id => "id",
            Self::Method => "method",
            Self::Params => "params",
            Self::Result => "result",
            Self::Error => "error",
            Self::Code => "error.code",
            Self::Message => "error.message",
            Self::Data => "error.data",
        }
    }

    /// Returns true if the places of its members are noted.
    pub(super) const fn is_noted(self) -> bool {
        matches!(self, Self::Params | Self::Result)
    }

    /// Names are compared unescaped and case-sensitively (JR-52).
    pub(super) fn of(name: Str<'_>) -> Option<Self> {
        [
            Self::Version,
            Self::Id,
            Self::Method,
            Self::Params,
            Self::Result,
            Self::Error,
        ]
        .into_iter()
        .find(|member| name == *member.name())
    }
}
