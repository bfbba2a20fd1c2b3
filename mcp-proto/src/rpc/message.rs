//! One JSON-RPC message.

use core::convert::Infallible;

use super::error_object::ErrorObject;
use super::{Id, Invalid, Method, envelope};
use crate::action::BufferFull;
use crate::json::{MemberPlaces, Members, Object, Raw, Writer};

/// A message as it was read from bytes: reading never fails, it yields [`Message::Invalid`].
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
    /// The method.
    pub method: Method<'b>,
    /// With which parameters.
    pub params: Option<Object<'b>>,
    /// The places of the members of the parameters.
    pub(crate) places: MemberPlaces,
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
    /// The places of the members of the result.
    pub(crate) places: MemberPlaces,
}

/// An item that an [`Inbox`](crate::Inbox) yields: a message, or a bracket of a batch.
///
/// A batch is [`BatchStart`](Self::BatchStart), its elements as messages, and
/// [`BatchEnd`](Self::BatchEnd); [`Messages`](super::Messages) has an example. The whole array was
/// validated before its first element is handed out; the machine decides whether the revision
/// allows arrays.
#[derive(Clone, Copy, Debug)]
pub enum Incoming<'b> {
    /// A message, of a batch if one is open.
    Message(Message<'b>),
    /// An array with at least one element begins.
    BatchStart,
    /// It is over.
    BatchEnd,
}

impl<'b> Request<'b> {
    /// The members of its `_meta`.
    pub(crate) fn members_of_meta(&self) -> Option<Members<'_, 'b>> {
        let params = self.params.filter(|_| self.places.may_have_meta())?;
        let mut members = self.places.members(params.as_raw());
        let (_, meta) = members.find(|(name, _)| *name == "_meta")?;
        let meta = meta.object()?.as_raw();
        Some(self.places.members_of_meta(params.as_raw(), meta))
    }
}

impl<'b> Response<'b> {
    /// Creates a response, to be [encoded](Message::encode).
    pub const fn new(id: Option<Id<'b>>, outcome: Result<Raw<'b>, ErrorObject<'b>>) -> Self {
        Self {
            id,
            outcome,
            places: MemberPlaces::UNKNOWN,
        }
    }
}

impl Message<'_> {
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
            Self::Request(Request {
                id, method, params, ..
            }) => {
                envelope::echo(&mut w, Some(*id), *method, params.map(Object::as_raw));
            }
            Self::Notification(Notification { method, params }) => {
                envelope::echo(&mut w, None, *method, params.map(Object::as_raw));
            }
            Self::Response(Response { id, outcome, .. }) => match (outcome, *id) {
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
