//! A text of messages that was parsed, with the text.

use core::fmt;

use super::members::{MemberSpans, Members};
use super::{Incoming, Message, Messages, Method};
use crate::json::{KnownMeta, MAX_DEPTH, MemberPlaces, NotePlaces, Scanner};

/// The messages of one text that is kept, such as the body of an HTTP request: parsed once, and read as often as needed.
///
/// ```
/// use mcp_proto::rpc::{Incoming, Message, OwnedMessages};
///
/// let body = OwnedMessages::parse(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#.to_vec(), 16);
/// assert_eq!((body.count(), body.requests(), body.calls()), (1, 1, 0));
/// for _ in 0..2 {
///     let mut messages = body.messages();
///     assert!(matches!(messages.next(), Some(Incoming::Message(Message::Request(_)))));
///     assert!(messages.next().is_none());
/// }
/// ```
#[derive(Clone)]
pub struct OwnedMessages<T> {
    text: T,
    depth: u8,
    parsed: Parsed,
}

#[derive(Clone, Copy)]
enum Parsed {
    /// An object, with the places of its members.
    Object(MemberSpans),
    /// An array with elements, validated to its end; the offset behind its bracket.
    Array(usize),
    /// Neither: reading it again meets the same fault.
    Fault,
}

impl<T: AsRef<[u8]>> OwnedMessages<T> {
    /// Parses a text, which nests no deeper than `depth`, brackets of an array included.
    pub fn parse(text: T, depth: u8) -> Self {
        let mut places = MemberPlaces::UNKNOWN;
        let parsed = Parsed::read(text.as_ref(), depth, &mut places);
        Self {
            text,
            depth,
            parsed,
        }
    }

    /// Parses a text like [`parse`](Self::parse). A `_meta` of the same bytes as that in `known` is compared and not scanned; another
    /// one takes its place.
    ///
    /// ```
    /// use mcp_proto::json::KnownMeta;
    /// use mcp_proto::rpc::OwnedMessages;
    ///
    /// let mut known = KnownMeta::NONE;
    /// for id in 0..2 {
    ///     let text = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"m","params":{{"_meta":{{"a":1}}}}}}"#);
    ///     let body = OwnedMessages::parse_with_known_meta(text, 16, &mut known);
    ///     assert_eq!(body.requests(), 1);
    /// }
    /// ```
    pub fn parse_with_known_meta(text: T, depth: u8, known: &mut KnownMeta) -> Self {
        let mut notes = known.notes(depth);
        let parsed = Parsed::read(text.as_ref(), depth, &mut notes);
        let has_other = notes.has_other;
        let messages = Self {
            text,
            depth,
            parsed,
        };
        if has_other {
            messages.message().teach(depth, known);
        }
        messages
    }

    /// Takes a text that a machine wrote, without framing. Of a message only the envelope is read, so it may nest deeper than
    /// a text that is parsed.
    ///
    /// The text must be one of a machine of this crate: the parameters, the result or the error of a message are not
    /// validated.
    ///
    /// ```
    /// use mcp_proto::rpc::{Message, OwnedMessages};
    ///
    /// let text = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"a"}}"#;
    /// let written = OwnedMessages::written(text);
    /// assert!(matches!(written.message(), Message::Request(call) if call.id.to_u64() == Some(1)));
    /// ```
    pub fn written(text: T) -> Self {
        let bytes = text.as_ref();
        let spans = Members::written(bytes)
            .and_then(|members| members.spans(&MemberPlaces::UNKNOWN, bytes));
        let Some(spans) = spans else {
            return Self::parse(text, MAX_DEPTH);
        };
        Self {
            text,
            depth: MAX_DEPTH,
            parsed: Parsed::Object(spans),
        }
    }

    /// The messages, as [`Messages::new`] reads them.
    pub fn messages(&self) -> Messages<'_> {
        let text = self.text.as_ref();
        match &self.parsed {
            Parsed::Object(spans) => Messages::one(spans.message(text)),
            Parsed::Array(at) => {
                let elements = text.get(*at..).unwrap_or_default();
                Messages::array(Scanner::new(elements, self.depth))
            }
            Parsed::Fault => Messages::new(text, self.depth),
        }
    }

    /// Returns the first message.
    pub(crate) fn first(&self) -> Option<Incoming<'_>> {
        match &self.parsed {
            Parsed::Object(spans) => Some(Incoming::Message(spans.message(self.text.as_ref()))),
            Parsed::Array(_) | Parsed::Fault => self.messages().next(),
        }
    }

    /// The message, if the text is one message; otherwise an invalid one.
    pub fn message(&self) -> Message<'_> {
        match self.first() {
            Some(Incoming::Message(message)) => message,
            _ => Message::NOT_OBJECT,
        }
    }

    /// The number of messages, those that are invalid included.
    pub fn count(&self) -> usize {
        let is_message = |it: &Incoming<'_>| matches!(it, Incoming::Message(_));
        match self.parsed {
            Parsed::Array(_) => self.messages().filter(is_message).count(),
            Parsed::Object(_) | Parsed::Fault => 1,
        }
    }

    /// The number of requests among the messages.
    pub fn requests(&self) -> usize {
        self.methods().count()
    }

    /// The number of requests that may take time: all but `ping`, which is answered at once.
    pub fn calls(&self) -> usize {
        let is_call = |method: &Method<'_>| *method != Method::Ping;
        self.methods().filter(is_call).count()
    }

    fn methods(&self) -> impl Iterator<Item = Method<'_>> {
        self.messages().filter_map(|it| match it {
            Incoming::Message(Message::Request(request)) => Some(request.method),
            _ => None,
        })
    }

    /// The text.
    pub const fn text(&self) -> &T {
        &self.text
    }
}

impl Parsed {
    fn read(text: &[u8], depth: u8, notes: &mut impl NotePlaces) -> Self {
        let mut scanner = Scanner::new(text, depth);
        scanner.skip_whitespace();
        if scanner.peek() == Some(b'[') {
            return match Messages::new(text, depth).next() {
                Some(Incoming::BatchStart) => Self::Array(scanner.position() + 1),
                _ => Self::Fault,
            };
        }
        let mut members = Members::default();
        let read = members.read(&mut scanner, notes);
        match read.and_then(|()| scanner.end()) {
            Ok(()) => members
                .spans(notes.places(), text)
                .map_or(Self::Fault, Self::Object),
            Err(_) => Self::Fault,
        }
    }
}

impl<T: AsRef<[u8]>> fmt::Debug for OwnedMessages<T> {
    /// Without the text, which is not for logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedMessages")
            .field("bytes", &self.text.as_ref().len())
            .finish_non_exhaustive()
    }
}
