//! Recovers the id and the kind of a message that is not valid JSON.

use core::ops::Range;

use super::{Id, Shape};
use crate::json::{Raw, next_quote};

/// The longest id, in bytes of JSON text, that is remembered of a line over the limit. The length
/// of an id that an error repeats is limited by the constant `ID_ECHO` of a machine's storage.
pub(crate) const ID_ECHO: usize = if IS_ON { 128 } else { 0 };

/// True if broken messages are searched for their id and kind. If not, which saves flash on firmware, each is of an unknown kind and has
/// no id.
const IS_ON: bool = cfg!(any(feature = "diagnostics", feature = "alloc"));

/// Reads the top-level member names of bytes that need not be JSON, at constant memory.
///
/// Only strings and depth are tracked, which every fault but one in the string syntax itself
/// leaves intact. So the id is found behind a fault and as the last member too (JR-32), where
/// the TypeScript SDK writes it. Pieces may be cut anywhere.
#[derive(Clone, Debug)]
pub(crate) struct Salvage {
    /// Bytes seen.
    at: usize,
    /// Open arrays and objects; only the outermost is looked into, and only if it is an object.
    depth: usize,
    string: StringState,
    /// The last string at depth one, as far as it can be one of the names that are looked for.
    name: Name,
    /// Between a name and its colon, or between the colon and the end of the value.
    place: Place,
    array: bool,
    blank: bool,
    seen: Seen,
    id: Range<usize>,
}

impl Salvage {
    /// True if runs of bytes without meaning are skipped at once; firmware has no flash for that code.
    pub(super) const IS_FAST: bool = cfg!(feature = "alloc");

    pub(crate) const fn new() -> Self {
        Self {
            at: 0,
            depth: 0,
            string: StringState::Outside,
            name: Name::new(),
            place: Place::Name,
            array: false,
            blank: true,
            seen: Seen {
                ids: 0,
                method: false,
                named: false,
                outcome: false,
            },
            id: 0..0,
        }
    }

    /// Looks at a whole text.
    pub(crate) fn whole(text: &[u8]) -> (Option<Id<'_>>, Shape) {
        Self::new().rest(text)
    }

    /// Creates a search that continues in an object after members that were read: `at` is the end of the last one, `id` the place of
    /// the id, `is_named` true if the method is a string, and `outcome` true if there is a result or an error.
    pub(super) fn after(
        at: usize,
        id: Option<Range<usize>>,
        is_named: Option<bool>,
        outcome: bool,
    ) -> Self {
        let is_last = id.as_ref().is_some_and(|id| id.end == at);
        Self {
            at,
            depth: 1,
            // Bytes after an id without a comma are a part of it.
            place: if is_last { Place::Id } else { Place::Value },
            blank: false,
            seen: Seen {
                ids: u8::from(id.is_some()),
                method: is_named.is_some(),
                named: is_named == Some(true),
                outcome,
            },
            id: id.unwrap_or_default(),
            ..Self::new()
        }
    }

    /// Searches the part of a text that was not searched yet.
    pub(super) fn rest(mut self, text: &[u8]) -> (Option<Id<'_>>, Shape) {
        self.feed(text.get(self.at..).unwrap_or_default(), |_| {});
        let id = match text.get(self.id.clone()) {
            Some(id) if self.has_one_id() => readable(id),
            _ => None,
        };
        (id, self.shape())
    }

    /// Looks at the next piece; every byte of a value named `id` is handed to `keep`.
    pub(crate) fn feed(&mut self, piece: &[u8], mut keep: impl FnMut(u8)) {
        if !IS_ON {
            self.blank &= piece
                .iter()
                .all(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
            return;
        }
        let mut rest = piece;
        while let Some((&byte, behind)) = rest.split_first() {
            rest = behind;
            match self.string {
                StringState::Outside if byte == b'"' => {
                    self.open_string(&mut keep);
                    rest = self.whole_string(rest);
                }
                StringState::Outside => {
                    self.token(byte, &mut keep);
                    rest = self.pass_plain(rest);
                }
                StringState::Escaped => {
                    self.string = StringState::Inside;
                    self.text(byte, &mut keep);
                }
                StringState::Inside => {
                    match byte {
                        b'"' => self.string = StringState::Outside,
                        b'\\' => self.string = StringState::Escaped,
                        _ => {}
                    }
                    if self.is_read() {
                        self.text(byte, &mut keep);
                    } else if Self::IS_FAST && self.string == StringState::Inside {
                        rest = self.skip(rest, plain_len(rest));
                    }
                }
            }
            self.at = self.at.saturating_add(1);
        }
    }

    /// Passes bytes outside of strings that mean nothing, up to a bracket, a string, or a separator of the object that is looked into.
    #[inline]
    fn pass_plain<'b>(&mut self, rest: &'b [u8]) -> &'b [u8] {
        let is_read = matches!(self.place, Place::Id | Place::Method);
        if !Self::IS_FAST || is_read || self.blank {
            return rest;
        }
        let is_looked_into = self.depth == 1;
        let len = rest.iter().take_while(|byte| match byte {
            b'"' | b'{' | b'}' | b'[' | b']' => false,
            b',' | b':' => !is_looked_into,
            _ => true,
        });
        self.skip(rest, len.count())
    }

    fn skip<'b>(&mut self, rest: &'b [u8], len: usize) -> &'b [u8] {
        self.at = self.at.saturating_add(len);
        rest.get(len..).unwrap_or_default()
    }

    /// Passes the string that was begun, if it ends in `rest`, has no escapes and is no id; after a name its colon too. Returns what follows.
    #[inline]
    fn whole_string<'b>(&mut self, rest: &'b [u8]) -> &'b [u8] {
        if !Self::IS_FAST || self.place == Place::Id {
            return rest;
        }
        let len = plain_len(rest);
        if rest.get(len) != Some(&b'"') {
            return rest;
        }
        self.string = StringState::Outside;
        let behind = self.skip(rest, len.saturating_add(1));
        if self.is_read() {
            let name = rest.get(..len).unwrap_or_default();
            if let [b':', value @ ..] = behind
                && !self.array
            {
                self.at = self.at.saturating_add(1);
                self.begin_value(Member::named(name));
                return value;
            }
            self.name.set(name);
        }
        behind
    }

    /// Returns true if the bytes of a string here are the id, or a name of interest.
    fn is_read(&self) -> bool {
        match self.place {
            Place::Name => self.depth == 1,
            Place::Id => true,
            Place::Method | Place::Value => false,
        }
    }

    /// Returns true if only white space was seen.
    pub(crate) const fn is_blank(&self) -> bool {
        self.blank
    }

    /// Returns true if exactly one member is named `id`.
    pub(crate) const fn has_one_id(&self) -> bool {
        IS_ON && self.seen.ids == 1
    }

    /// Returns true if the message is known already to be a response, and its id is complete.
    #[cfg(feature = "alloc")]
    pub(crate) const fn is_identified_response(&self) -> bool {
        let Seen {
            ids,
            method,
            outcome,
            ..
        } = self.seen;
        ids == 1 && outcome && !method && !matches!(self.place, Place::Id)
    }

    /// The kind of message that was meant.
    pub(crate) const fn shape(&self) -> Shape {
        if !IS_ON {
            return Shape::Unknown;
        }
        let Seen {
            ids,
            method,
            named,
            outcome,
        } = self.seen;
        Shape::of(ids > 0, method, named, outcome)
    }

    /// A byte of a string, its closing quote included.
    fn text(&mut self, byte: u8, keep: &mut impl FnMut(u8)) {
        match self.place {
            Place::Name if self.depth == 1 && self.string != StringState::Outside => {
                self.name.push(byte);
            }
            Place::Id => self.keep(byte, keep),
            _ => {}
        }
    }

    fn open_string(&mut self, keep: &mut impl FnMut(u8)) {
        self.blank = false;
        self.string = StringState::Inside;
        match self.place {
            Place::Name if self.depth == 1 => self.name = Name::new(),
            Place::Id => self.keep(b'"', keep),
            Place::Method => {
                self.seen.named = true;
                self.place = Place::Value;
            }
            Place::Name | Place::Value => {}
        }
    }

    /// Handles a byte outside of strings that is no quote.
    fn token(&mut self, byte: u8, keep: &mut impl FnMut(u8)) {
        if matches!(byte, b' ' | b'\t' | b'\r' | b'\n') {
            // Kept inside an id, or `1 2` would read as twelve.
            if self.place == Place::Id && !self.id.is_empty() {
                self.keep(byte, keep);
            }
            return;
        }
        self.blank = false;
        match byte {
            b'{' | b'[' => {
                self.depth = self.depth.saturating_add(1);
                if self.depth == 1 {
                    self.array = byte == b'[';
                    self.place = Place::Name;
                    self.name = Name::new();
                }
            }
            b'}' | b']' => {
                if self.depth == 1 {
                    self.place = Place::Name;
                }
                self.depth = self.depth.saturating_sub(1);
            }
            b',' if self.depth == 1 => {
                self.place = Place::Name;
                self.name = Name::new();
            }
            b':' if self.depth == 1 && self.place == Place::Name && !self.array => {
                self.begin_value(self.name.known());
                return;
            }
            _ => {}
        }
        match self.place {
            Place::Id => self.keep(byte, keep),
            // `method` is a name only if the value begins with a quote.
            Place::Method => self.place = Place::Value,
            _ => {}
        }
    }

    /// Handles the colon after a name.
    #[cfg_attr(not(feature = "alloc"), inline(never))]
    fn begin_value(&mut self, member: Option<Member>) {
        self.place = Place::Value;
        match member {
            Some(Member::Id) => {
                self.seen.ids = self.seen.ids.saturating_add(1);
                self.place = Place::Id;
                self.id = self.at..self.at;
            }
            Some(Member::Method) => {
                self.seen.method = true;
                self.place = Place::Method;
            }
            Some(Member::Outcome) => self.seen.outcome = true,
            None => {}
        }
    }

    fn keep(&mut self, byte: u8, keep: &mut impl FnMut(u8)) {
        if self.id.is_empty() {
            self.id.start = self.at;
        }
        self.id.end = self.at.saturating_add(1);
        keep(byte);
    }
}

/// The id that this text is, if it is one.
pub(crate) fn readable(text: &[u8]) -> Option<Id<'_>> {
    Raw::parse(text, 1).ok().and_then(Id::from_raw)
}

/// Returns the number of bytes before the first quote or backslash.
fn plain_len(text: &[u8]) -> usize {
    next_quote(text, 0).unwrap_or(text.len())
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum StringState {
    Outside,
    Inside,
    Escaped,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Place {
    Name,
    Id,
    Method,
    Value,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    ids: u8,
    method: bool,
    /// `method` is a string.
    named: bool,
    outcome: bool,
}

enum Member {
    Id,
    Method,
    Outcome,
}

impl Member {
    /// Returns the member of this name, if it is looked for.
    fn named(name: &[u8]) -> Option<Self> {
        match name {
            b"id" => Some(Self::Id),
            b"method" => Some(Self::Method),
            b"result" | b"error" => Some(Self::Outcome),
            _ => None,
        }
    }
}

/// A member name, unescaped as it is read; one longer than `method` is none that matters.
#[derive(Clone, Copy, Debug)]
struct Name {
    bytes: [u8; 6],
    len: u8,
    escape: Escape,
}

/// The part of an escape sequence that was read.
#[derive(Clone, Copy, Debug)]
enum Escape {
    None,
    Begun,
    /// Hexadecimal digits read, and their value.
    Unicode(u8, u16),
}

impl Name {
    const fn new() -> Self {
        Self {
            bytes: [0; 6],
            len: 0,
            escape: Escape::None,
        }
    }

    fn push(&mut self, byte: u8) {
        match self.escape {
            Escape::None if byte == b'\\' => self.escape = Escape::Begun,
            Escape::None => self.put(byte),
            Escape::Begun if byte == b'u' => self.escape = Escape::Unicode(0, 0),
            Escape::Begun => {
                self.escape = Escape::None;
                // No other escape spells a letter.
                self.put(b'\\');
            }
            Escape::Unicode(digits, value) => {
                let digit = char::from(byte).to_digit(16).unwrap_or(0);
                let value = (value << 4) | (digit as u16 & 0xF);
                self.escape = if digits < 3 {
                    Escape::Unicode(digits + 1, value)
                } else {
                    self.put(u8::try_from(value).unwrap_or(b'\\'));
                    Escape::None
                };
            }
        }
    }

    /// Sets the name to bytes without escapes.
    fn set(&mut self, name: &[u8]) {
        *self = Self::new();
        for (place, byte) in self.bytes.iter_mut().zip(name) {
            *place = *byte;
        }
        self.len = u8::try_from(name.len()).unwrap_or(u8::MAX);
    }

    fn put(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(usize::from(self.len)) {
            *place = byte;
        }
        self.len = self.len.saturating_add(1);
    }

    fn known(&self) -> Option<Member> {
        Member::named(self.bytes.get(..usize::from(self.len))?)
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString as _;

    use super::*;
    use crate::rpc::{Message, Reason};
    use Shape::{Notification, Request, Response, Unknown};

    fn check(text: &str, id: Option<&str>, shape: Shape) {
        let text = text.as_bytes();
        let (found, kind) = Salvage::whole(text);
        let found = found.map(|id| id.to_string());
        assert_eq!(found.as_deref(), id, "{}", text.escape_ascii());
        assert_eq!(kind, shape, "{}", text.escape_ascii());
        // A parser looks only at what follows the members that it has read.
        if let Message::Invalid(invalid) = Message::parse(text, 8)
            && let Reason::Json(_) = invalid.reason
        {
            let found = invalid.id.map(|id| id.to_string());
            assert_eq!(found.as_deref(), id, "{}", text.escape_ascii());
            assert_eq!(invalid.shape, shape, "{}", text.escape_ascii());
        }

        for size in [1, 2, 3, 7] {
            let mut salvage = Salvage::new();
            let mut kept = std::vec::Vec::new();
            for piece in text.chunks(size) {
                salvage.feed(piece, |byte| kept.push(byte));
            }
            assert_eq!(salvage.shape(), shape);
            let found = Some(kept).filter(|_| salvage.has_one_id());
            let found = found.and_then(|kept| readable(&kept).map(|id| id.to_string()));
            assert_eq!(found.as_deref(), id, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn the_id_is_found_before_and_behind_the_fault() {
        check(
            r#"{"jsonrpc":"2.0","id":7,"method":"a","params":{x}}"#,
            Some("7"),
            Request,
        );
        check(
            r#"{"jsonrpc":"2.0","method":"a","params":{x},"id":7}"#,
            Some("7"),
            Request,
        );
        check(
            r#"{"method":"a","params":{"b":tru},"id" : "x,y}" }"#,
            Some(r#""x,y}""#),
            Request,
        );
        check(
            r#"{"method":"a",,"id":9007199254740993"#,
            Some("9007199254740993"),
            Request,
        );
        check(
            r#"{"method":"a","params":{"id":1,"q":[{"id":2}]},"id":3"#,
            Some("3"),
            Request,
        );
        check(
            r#"{"id":5,"method":"a","params":{"text":"cut"#,
            Some("5"),
            Request,
        );
        check(r#"{"id":5,"method":"a"} tail"#, Some("5"), Request);
        check(r#"{"jsonrpc":"2.0","id":5,tail"#, Some("5"), Unknown);
        // Names of objects inside do not count, wherever these stand.
        check(r#"{"a"{"id"}:5,"method":"x"}"#, None, Notification);
        check(r#"{"id"{"x"}:5}"#, Some("5"), Unknown);
        check(r#"{"a"{"result"}:1,"id":3}"#, Some("3"), Unknown);
        check(
            r#"{"a":{"id":1,"b":[{"id":2}]},"id" :3,}"#,
            Some("3"),
            Unknown,
        );
        check(r#"{"a":"b":"id":1,"id":3,}"#, Some("3"), Unknown);
        check(r#"{"id":[1,"method":2,}"#, None, Unknown);
        check(
            "{\"method\":\"a\",\"params\":\"\u{1}\",\"id\":-0}",
            Some("-0"),
            Request,
        );
    }

    #[test]
    fn names_are_unescaped() {
        check(r#"{"\u0069d":1,"\u006dethod":"a",}"#, Some("1"), Request);
        check(r#"{"i\u0064":1,"id":2,}"#, None, Unknown);
        check(r#"{"i\d":1,"i\u01d4":2,"idd":3,"ID":4,}"#, None, Unknown);
    }

    #[test]
    fn what_is_no_id_is_none() {
        for id in [
            "null", "1.5", "1e3", "{}", "[1]", "true", "\"x", "01", "1 2", "\"\\q\"",
        ] {
            let text = std::format!(r#"{{"method":"a","id":{id},"#);
            check(&text, None, Request);
        }
        check(r#"{"jsonrpc":"2.0","id":1 2,"method":"a"}"#, None, Request);
        check(r#"{"id":1,"id":1,"method":"a",}"#, None, Request);
        check(r#"{"id":1,"method":"a",,"id":1}"#, None, Request);
        check(r#"{"id":1}{"id":2}"#, None, Unknown);
        check(r#"[{"id":1,"method":"a"},]"#, None, Unknown);
        check(r#"["id":1,"method":"a"}"#, None, Unknown);
    }

    #[test]
    fn the_shape_is_told_by_what_is_there() {
        check(r#"{"method":"a","params":}"#, None, Notification);
        check(r#"{"method":5,"params":}"#, None, Unknown);
        check(r#"{"id":1,"result":}"#, Some("1"), Response);
        check(r#"{"error":{},"#, None, Response);
        check(r#"{"method":"a","result":}"#, None, Notification);
        check(r#"{"id":1,"method":"a","result":}"#, Some("1"), Request);
        check("hello", None, Unknown);
        check("", None, Unknown);
        check("\"method\":\"a\"", None, Unknown);
    }

    #[test]
    fn depth_has_no_end() {
        let mut text = std::string::String::from(r#"{"method":"a","params":"#);
        text.push_str(&"[".repeat(200_000));
        check(&text, None, Notification);
        text.push_str(&"]".repeat(200_000));
        text.push_str(r#","id":4}"#);
        check(&text, Some("4"), Request);
    }
}
