//! The messages of one text: one message, or the elements of a batch.

use core::iter;

use super::{Incoming, Invalid, Message, Reason};
use crate::json::{Fault, FaultKind, MemberPlaces, Scanner};

/// The messages of a whole text, such as the body of an HTTP request or the data of an event:
/// one, or those of an array between its brackets.
///
/// There is always a first one. Text that is no JSON is one [`Invalid`], and so is an array
/// without elements (JR-18); an array is validated to its end before its first element comes.
///
/// ```
/// use mcp_proto::rpc::{Incoming, Message, Messages};
///
/// let mut body = Messages::new(br#" [{"jsonrpc":"2.0","id":1,"method":"ping"}]"#, 16);
/// assert!(matches!(body.next(), Some(Incoming::BatchStart)));
/// assert!(matches!(body.next(), Some(Incoming::Message(Message::Request(_)))));
/// assert!(matches!(body.next(), Some(Incoming::BatchEnd)));
/// assert!(body.next().is_none());
/// ```
#[derive(Clone, Debug)]
pub struct Messages<'b>(Rest<'b>);

#[derive(Clone, Debug)]
enum Rest<'b> {
    /// All of the text, and how deep it may nest.
    Whole(&'b [u8], u8),
    /// One message that was read before.
    #[cfg(feature = "alloc")]
    One(Message<'b>),
    /// An array that was validated before, in front of its first element.
    #[cfg(feature = "alloc")]
    Array(Scanner<'b>),
    /// An array, in front of an element or of its end.
    Elements {
        scanner: Scanner<'b>,
        first: bool,
    },
    Nothing,
}

impl<'b> Messages<'b> {
    /// Those of this text, which nests no deeper than `depth`, brackets of an array included.
    pub const fn new(text: &'b [u8], depth: u8) -> Self {
        Self(Rest::Whole(text, depth))
    }

    /// One message that was read before.
    #[cfg(feature = "alloc")]
    pub(super) const fn one(message: Message<'b>) -> Self {
        Self(Rest::One(message))
    }

    /// Those of an array that was validated before, in front of its first element.
    #[cfg(feature = "alloc")]
    pub(super) const fn array(scanner: Scanner<'b>) -> Self {
        Self(Rest::Array(scanner))
    }

    fn open(&mut self, text: &'b [u8], depth: u8) -> Incoming<'b> {
        self.0 = Rest::Nothing;
        let mut scanner = Scanner::new(text, depth);
        scanner.skip_whitespace();
        if scanner.peek() != Some(b'[') {
            return Incoming::Message(Message::parse(text, depth));
        }
        match open_array(text, depth) {
            Ok(scanner) => {
                self.0 = Rest::Elements {
                    scanner,
                    first: true,
                };
                Incoming::BatchStart
            }
            Err(invalid) => Incoming::Message(Message::Invalid(invalid)),
        }
    }
}

/// Takes the bracket of an array that has elements and is valid to its end.
pub(crate) fn open_array<'b>(text: &'b [u8], depth: u8) -> Result<Scanner<'b>, Invalid<'b>> {
    match elements(text, depth) {
        Ok(Some(elements)) => Ok(elements),
        Ok(None) => Err(Invalid::nameless(Reason::EmptyBatch)),
        // No object follows an array that does not end.
        Err(fault) if fault.kind == FaultKind::Incomplete => {
            Err(Invalid::nameless(Reason::Json(fault)))
        }
        Err(fault) => Err(Invalid::broken(text, Reason::Json(fault))),
    }
}

/// Validates an array, which is the whole text. Returns the position of its first element, if it has one.
#[inline(always)]
fn elements(text: &[u8], depth: u8) -> Result<Option<Scanner<'_>>, Fault> {
    let mut scanner = Scanner::new(text, depth);
    scanner.open_array()?;
    let elements = scanner.clone();
    if !scanner.next_element(true)? {
        scanner.end()?;
        return Ok(None);
    }
    loop {
        scanner.value_in_place::<MemberPlaces>(None)?;
        if !scanner.next_element(false)? {
            scanner.end()?;
            return Ok(Some(elements));
        }
    }
}

impl<'b> Iterator for Messages<'b> {
    type Item = Incoming<'b>;

    fn next(&mut self) -> Option<Incoming<'b>> {
        match &mut self.0 {
            Rest::Whole(text, depth) => {
                let (text, depth) = (*text, *depth);
                Some(self.open(text, depth))
            }
            #[cfg(feature = "alloc")]
            Rest::One(message) => {
                let message = Incoming::Message(*message);
                self.0 = Rest::Nothing;
                Some(message)
            }
            #[cfg(feature = "alloc")]
            Rest::Array(scanner) => {
                self.0 = Rest::Elements {
                    scanner: scanner.clone(),
                    first: true,
                };
                Some(Incoming::BatchStart)
            }
            Rest::Elements { scanner, first } => {
                // The array was validated as a whole: there is an element, or its end.
                if let Ok(true) = scanner.next_element(*first)
                    && let Ok(element) = Message::element(scanner)
                {
                    *first = false;
                    return Some(Incoming::Message(element));
                }
                self.0 = Rest::Nothing;
                Some(Incoming::BatchEnd)
            }
            Rest::Nothing => None,
        }
    }
}

impl iter::FusedIterator for Messages<'_> {}

#[cfg(test)]
mod tests {
    use std::string::String;

    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let mut found = String::new();
        #[cfg(feature = "alloc")]
        let body = crate::rpc::OwnedMessages::parse(text.as_bytes(), 8);
        #[cfg(feature = "alloc")]
        let mut kept = body.messages();
        for incoming in Messages::new(text.as_bytes(), 8) {
            #[cfg(feature = "alloc")]
            assert_eq!(
                std::format!("{:?}", kept.next()),
                std::format!("{:?}", Some(&incoming))
            );
            found.push_str(match incoming {
                Incoming::BatchStart => "[",
                Incoming::BatchEnd => "]",
                Incoming::Message(Message::Request(_)) => "q",
                Incoming::Message(Message::Notification(_)) => "n",
                Incoming::Message(Message::Response(_)) => "r",
                Incoming::Message(Message::Invalid(invalid)) => match invalid.reason.code() {
                    -32700 => "!",
                    _ => "?",
                },
            });
        }
        #[cfg(feature = "alloc")]
        assert!(kept.next().is_none(), "{text}");
        assert_eq!(found, expected, "{text}");
    }

    const PING: &str = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;

    #[test]
    fn one_message_or_an_array_of_them() {
        check(PING, "q");
        check(&std::format!("\r\n\t {PING} \n"), "q");
        check(&std::format!("\n[\n{PING}\n,\n{PING}\n]\n"), "[qq]");
        check(&std::format!(r#"[{PING},1,[{PING}],{{}}]"#), "[q???]");
        check(r#"[{"jsonrpc":"2.0","method":"a"}]"#, "[n]");
        check(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "r");
    }

    #[test]
    fn what_is_none() {
        for broken in [
            "",
            " ",
            "nonsense",
            "[",
            "[1",
            "[1,]",
            "[1]x",
            "{}{}",
            "\u{feff}{}",
        ] {
            check(broken, "!");
        }
        check("[[[[[[[[[]]]]]]]]]", "!");
        for strange in ["[]", " [ ] ", "1", "null", "{}"] {
            check(strange, "?");
        }
    }
}
