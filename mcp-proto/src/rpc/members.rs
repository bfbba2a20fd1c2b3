//! The members of an envelope, collected in one pass and then judged.

use super::{
    ErrorObject, Id, Invalid, Message, Method, Notification, Reason, Request, Response, Shape,
};
use crate::json::{Fault, Kind, Raw, Scanner, Str};

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

    /// Names are compared unescaped and case-sensitively (6.21).
    #[inline]
    fn of(name: Str<'_>) -> Option<Self> {
        match name.plain_bytes() {
            Some(plain) => Self::known(plain),
            None => Self::of_escaped(name),
        }
    }

    #[cold]
    fn of_escaped(name: Str<'_>) -> Option<Self> {
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

    #[inline]
    fn known(name: &[u8]) -> Option<Self> {
        Some(match name.len() {
            2 if name == b"id" => Self::Id,
            5 if name == b"error" => Self::Error,
            6 => match name {
                b"method" => Self::Method,
                b"params" => Self::Params,
                b"result" => Self::Result,
                _ => return None,
            },
            7 if name == b"jsonrpc" => Self::Version,
            _ => return None,
        })
    }
}

/// What the top level of a message says.
#[derive(Default)]
pub(super) struct Members<'b> {
    version: Option<Raw<'b>>,
    id: Option<Raw<'b>>,
    method: Option<Raw<'b>>,
    params: Option<Raw<'b>>,
    result: Option<Raw<'b>>,
    error: Option<Raw<'b>>,
    doubled: Option<Member>,
}

impl<'b> Members<'b> {
    /// Reads the object that begins at the scanner's position.
    #[inline]
    pub(super) fn scan(scanner: &mut Scanner<'b>) -> Result<Self, Fault> {
        let mut members = Self::default();
        let mut first = true;
        scanner.open_object()?;
        while let Some(name) = scanner.next_key(first)? {
            first = false;
            let member = Member::of(name);
            let value = scanner.value()?;
            if let Some(member) = member {
                members.note(member, value);
            }
        }
        Ok(members)
    }

    #[inline]
    fn note(&mut self, member: Member, value: Raw<'b>) {
        let place = match member {
            Member::Version => &mut self.version,
            Member::Id => &mut self.id,
            Member::Method => &mut self.method,
            Member::Params => &mut self.params,
            Member::Result => &mut self.result,
            Member::Error => &mut self.error,
            Member::Code | Member::Message | Member::Data => return,
        };
        if place.replace(value).is_some() {
            // A doubled id is worse than any other: it counts as none.
            self.doubled = match self.doubled {
                Some(Member::Id) => Some(Member::Id),
                _ => Some(member),
            };
        }
    }

    /// The message that these members make.
    #[inline]
    pub(super) fn judge(self) -> Message<'b> {
        match self.classify() {
            Ok(message) => message,
            Err(reason) => Message::Invalid(self.invalid(reason)),
        }
    }

    #[inline]
    fn classify(&self) -> Result<Message<'b>, Reason> {
        if let Some(member) = self.doubled {
            return Err(Reason::Doubled(member));
        }
        if !self.version.is_some_and(is_version) {
            return Err(Reason::Version);
        }
        match (self.method, self.result, self.error) {
            (Some(method), None, None) => {
                let method = method.string().map(Method::from).ok_or(Reason::Method)?;
                let params = match self.params {
                    Some(params) => Some(params.object().ok_or(Reason::Params)?),
                    None => None,
                };
                Ok(match self.id {
                    Some(id) => Message::Request(Request {
                        id: Id::from_raw(id).ok_or(Reason::Id)?,
                        method,
                        params,
                    }),
                    None => Message::Notification(Notification { method, params }),
                })
            }
            (None, Some(result), None) => Ok(Message::Response(Response {
                id: Some(self.id.and_then(Id::from_raw).ok_or(Reason::Id)?),
                outcome: Ok(result),
            })),
            (None, None, Some(error)) => Ok(Message::Response(Response {
                // Some peers write null, some nothing, where they could not read ours (6.1).
                id: match self.id.filter(|id| id.kind() != Kind::Null) {
                    Some(id) => Some(Id::from_raw(id).ok_or(Reason::Id)?),
                    None => None,
                },
                outcome: Err(ErrorObject::from_raw(error)?),
            })),
            _ => Err(Reason::Members),
        }
    }

    #[cold]
    fn invalid(&self, reason: Reason) -> Invalid<'b> {
        let named = self
            .method
            .is_some_and(|method| method.kind() == Kind::String);
        Invalid {
            reason,
            id: match self.doubled {
                Some(Member::Id) => None,
                _ => self.id.and_then(Id::from_raw),
            },
            shape: Shape::of(
                self.id.is_some(),
                self.method.is_some(),
                named,
                self.result.is_some() || self.error.is_some(),
            ),
        }
    }
}

/// Exactly `"2.0"` (JR-01), however it is escaped.
#[inline]
fn is_version(raw: Raw<'_>) -> bool {
    raw.as_bytes() == br#""2.0""# || raw.string().is_some_and(|text| text == *"2.0")
}
