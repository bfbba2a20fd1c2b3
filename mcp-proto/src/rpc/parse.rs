//! Reads messages.

use super::members::Members;
use super::{Invalid, Message, Reason, Salvage, Shape};
use crate::json::{Fault, Raw, Scanner};

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

    /// The invalid message for a text in which reading an object met this fault.
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

    pub(super) const NOT_OBJECT: Self = Self::Invalid(Invalid {
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
}
