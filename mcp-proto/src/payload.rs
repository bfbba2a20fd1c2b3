//! Content of messages that the application provides.

use serde::Serialize;

use crate::json::{EncodeError, Writer};
use crate::revision::Revision;
use crate::rpc::{ErrorObject, Method};

/// A value that can be written as JSON: parameters, a result, the data of a log message.
///
/// Every type that implements serde's `Serialize` is one, [`Raw`](crate::json::Raw) included,
/// which copies bytes that are JSON already. The trait is object safe, so commands take
/// `&dyn Payload` and are compiled once.
///
/// Parameters and results are objects. `()` is the one without members.
pub trait Payload {
    /// Writes the value as this revision spells it: a type of the model leaves out what the
    /// revision does not have.
    fn write(&self, writer: &mut Writer<'_>, revision: Revision) -> Result<(), EncodeError>;

    /// Returns true if the value is an object with members, but without those that the protocol adds to a result, such as
    /// `resultType` and `_meta`; false if that is not known.
    #[doc(hidden)]
    fn lacks_reserved_members(&self) -> bool {
        false
    }
}

impl<T: Serialize + ?Sized> Payload for T {
    fn write(&self, writer: &mut Writer<'_>, revision: Revision) -> Result<(), EncodeError> {
        writer.value(self, Some(revision))
    }
}

impl dyn Payload + '_ {
    /// Returns true if the value is written like `()`, which stands for an object without members.
    ///
    /// ```
    /// use mcp_proto::{Payload, Revision};
    ///
    /// let (unit, null): (&dyn Payload, &dyn Payload) = (&(), &None::<u8>);
    /// assert!(unit.is_unit(Revision::V2026_07_28));
    /// assert!(!null.is_unit(Revision::V2026_07_28));
    /// ```
    pub fn is_unit(&self, revision: Revision) -> bool {
        // All values of a type without a size are written alike.
        if size_of_val(self) > 0 {
            return false;
        }
        let mut text = *NULL;
        let mut w = Writer::new(&mut text);
        let is_written = self.write(&mut w, revision).is_ok();
        is_written && w.finish() == Ok(NULL.len()) && text == *NULL
    }
}

impl core::fmt::Debug for dyn Payload + '_ {
    /// Writes nothing of the value: arguments and results are not for logs.
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Payload")
    }
}

/// The result of a request: a result, an error or questions.
#[derive(Clone, Copy, Debug)]
pub enum Outcome<'a> {
    /// With a result, a JSON object.
    Result(&'a dyn Payload),
    /// With an error.
    Error(ErrorObject<'a>),
    /// With questions to the client, which asks again when it has the answers (MR-01). Only in
    /// 2026-07-28, and only for the three methods that allow it.
    Input(InputRequired<'a>),
}

/// The input that a request still needs before it can be answered.
///
/// At least one of the two members is present (MR-03).
#[derive(Clone, Copy, Default)]
pub struct InputRequired<'a> {
    /// Questions under keys of the application's choice, each key once (MR-04).
    pub requests: &'a [(&'a str, Question<'a>)],
    /// The request state, which the client has to send back as it is. A stranger may have changed
    /// it: protect it (MR-07).
    pub state: Option<&'a str>,
}

/// Without the state, which is not for logs.
impl core::fmt::Debug for InputRequired<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("InputRequired")
            .field("requests", &self.requests)
            .finish_non_exhaustive()
    }
}

/// A question that a server asks its client.
///
/// ```
/// use mcp_proto::json::Raw;
/// use mcp_proto::rpc::Method;
/// use mcp_proto::{InputRequired, Outcome, Question};
///
/// // In 2026-07-28 a question is an answer (MR-01).
/// let params = Raw::parse(b"{}", 1)?;
/// let question = Question { method: Method::RootsList, params: &params };
/// let requests = [("where", question)];
/// let outcome = Outcome::Input(InputRequired { requests: &requests, state: None });
/// # let _ = outcome;
/// # Ok::<(), mcp_proto::json::Fault>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// `elicitation/create`, `sampling/createMessage` or `roots/list`; in a legacy session any
    /// request that its revision lets a server send.
    pub method: Method<'a>,
    /// The parameters, a JSON object.
    pub params: &'a dyn Payload,
}

/// The JSON of `()`.
const NULL: &[u8; 4] = b"null";
