//! One JSON-RPC message.

use core::convert::Infallible;

use super::members::Members;
use super::{Id, Invalid, Member, Method, Reason, Salvage, Shape, envelope};
use crate::action::BufferFull;
use crate::json::{Fault, Object, Raw, Scanner, Str, Writer};

/// What some bytes say: reading never fails, it yields [`Message::Invalid`].
///
/// ```
/// use mcp_proto::rpc::{Message, Method};
///
/// let text = br#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo"}}"#;
/// let Message::Request(request) = Message::parse(text, 128) else {
///     panic!("it is a request");
/// };
/// assert_eq!(request.method, Method::ToolsCall);
/// assert_eq!(request.id.to_string(), "7");
///
/// let Message::Invalid(invalid) = Message::parse(br#"{"method":oops,"id":7}"#, 128) else {
///     panic!("it is no JSON");
/// };
/// assert_eq!(invalid.reason.code(), -32700);
/// assert_eq!(invalid.id, Some(request.id));
/// ```
#[derive(Clone, Copy, Debug)]
pub enum Message<'b> {
    /// Wants an answer.
    Request(Request<'b>),
    /// Wants none.
    Notification(Notification<'b>),
    /// Is one.
    Response(Response<'b>),
    /// Is no message that we accept.
    Invalid(Invalid<'b>),
}

/// A message that wants an answer.
#[derive(Clone, Copy, Debug)]
pub struct Request<'b> {
    /// Repeated in the answer, exactly (JR-07).
    pub id: Id<'b>,
    /// What is asked for.
    pub method: Method<'b>,
    /// With which parameters.
    pub params: Option<Object<'b>>,
}

/// A message that wants no answer, and never gets one (JR-12).
#[derive(Clone, Copy, Debug)]
pub struct Notification<'b> {
    /// The method.
    pub method: Method<'b>,
    /// The details.
    pub params: Option<Object<'b>>,
}

/// The answer to a request.
#[derive(Clone, Copy, Debug)]
pub struct Response<'b> {
    /// Of the request. An error has none if the peer could not read it (JR-51).
    pub id: Option<Id<'b>>,
    /// The result, or the error in its place (JR-08).
    pub outcome: Result<Raw<'b>, ErrorObject<'b>>,
}

/// Why a request has no result.
#[derive(Clone, Copy, Debug)]
pub struct ErrorObject<'b> {
    /// What kind of error; [`code`](super::code) names those of MCP.
    pub code: i64,
    /// One short sentence (JR-13).
    pub message: Str<'b>,
    /// Anything else the peer wanted to tell (JR-14).
    pub data: Option<Raw<'b>>,
}

/// What an [`Inbox`](crate::Inbox) yields: a message, or a bracket of a batch.
///
/// A batch is [`BatchStart`](Self::BatchStart), its elements as messages, and
/// [`BatchEnd`](Self::BatchEnd); [`Messages`](super::Messages) has an example. The whole array was
/// validated before its first element is
/// handed out; whether the revision allows arrays is for the machine to say.
#[derive(Clone, Copy, Debug)]
pub enum Incoming<'b> {
    /// A message, of a batch if one is open.
    Message(Message<'b>),
    /// An array with at least one element begins.
    BatchStart,
    /// It is over.
    BatchEnd,
}

impl<'b> Message<'b> {
    /// Reads one message from a whole text, which may have white space around it.
    ///
    /// `depth` is how deep arrays and objects may nest, the message's own object included, at
    /// most [`MAX_DEPTH`](crate::json::MAX_DEPTH). The text is validated to its end. An array is
    /// no message: batches are taken apart by the [`Inbox`](crate::Inbox).
    pub fn parse(text: &'b [u8], depth: u8) -> Self {
        let mut scanner = Scanner::new(text, depth);
        let mut members = Members::default();
        match members.read(&mut scanner).and_then(|()| scanner.end()) {
            Ok(()) => members.judge(),
            Err(fault) => Self::no_object(text, depth, fault),
        }
    }

    /// Reads one message from a value that is JSON already: an element of a batch, say.
    pub fn from_raw(raw: Raw<'b>) -> Self {
        Self::parse(raw.as_bytes(), crate::json::MAX_DEPTH)
    }

    /// Reads one element of a batch, at the scanner's position.
    pub(crate) fn element(scanner: &mut Scanner<'b>) -> Result<Self, Fault> {
        scanner.skip_whitespace();
        if scanner.peek() == Some(b'{') {
            let mut members = Members::default();
            members.read_element(scanner)?;
            return Ok(members.judge());
        }
        scanner.value()?;
        Ok(Self::NOT_OBJECT)
    }

    /// What is said of a text in which reading an object met this fault.
    #[cold]
    fn no_object(text: &'b [u8], depth: u8, fault: Fault) -> Self {
        let mut scanner = Scanner::new(text, depth);
        scanner.skip_whitespace();
        let fault = match scanner.peek() {
            Some(b'{') => Err(fault),
            _ => scanner.value().and_then(|_| scanner.end()),
        };
        match fault {
            Ok(()) => Self::NOT_OBJECT,
            Err(fault) => Self::broken(text, Reason::Json(fault)),
        }
    }

    const NOT_OBJECT: Self = Self::Invalid(Invalid {
        reason: Reason::NotObject,
        id: None,
        shape: Shape::Unknown,
    });

    /// Reads what is readable of an invalid message.
    #[cold]
    pub(crate) fn broken(text: &'b [u8], reason: Reason) -> Self {
        let (id, shape) = Salvage::whole(text);
        Self::Invalid(Invalid { reason, id, shape })
    }

    /// Writes the message into `out`, in one line and without a newline behind it.
    ///
    /// Returns the bytes taken; an [`Invalid`] message takes none. Members that a message does
    /// not have, and ours do not know, are not written.
    ///
    /// # Errors
    ///
    /// If `out` is too small, with the bytes needed.
    pub fn encode(&self, out: &mut [u8]) -> Result<usize, BufferFull> {
        let mut w = Writer::new(out);
        match self {
            Self::Request(Request { id, method, params }) => {
                envelope::echo(&mut w, Some(*id), *method, params.map(Object::as_raw));
            }
            Self::Notification(Notification { method, params }) => {
                envelope::echo(&mut w, None, *method, params.map(Object::as_raw));
            }
            Self::Response(Response { id, outcome }) => match (outcome, *id) {
                (Ok(result), Some(id)) => {
                    let Ok(()) = envelope::result(&mut w, id, |w| {
                        w.raw(*result);
                        Ok::<(), Infallible>(())
                    });
                }
                // A result without an id cannot be read, so it is not written either.
                (Ok(_), None) => {}
                (Err(error), id) => envelope::error(&mut w, id, error),
            },
            Self::Invalid(_) => {}
        }
        w.finish()
    }
}

impl<'b> ErrorObject<'b> {
    /// An error without data.
    pub fn new(code: i64, message: &'b str) -> Self {
        Self {
            code,
            message: Str::from(message),
            data: None,
        }
    }

    pub(super) fn from_raw(raw: Raw<'b>) -> Result<Self, Reason> {
        let members = raw.object().ok_or(Reason::Error)?;
        let [code, message, data] =
            members
                .find(["code", "message", "data"])
                .map_err(|double| {
                    Reason::Doubled(match double.key {
                        0 => Member::Code,
                        1 => Member::Message,
                        _ => Member::Data,
                    })
                })?;
        Ok(Self {
            code: code
                .and_then(Raw::number)
                .and_then(|code| code.to_i64())
                .ok_or(Reason::Error)?,
            message: message.and_then(Raw::string).ok_or(Reason::Error)?,
            data,
        })
    }
}
