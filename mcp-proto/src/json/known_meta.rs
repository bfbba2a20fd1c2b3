//! The `_meta` that most requests or results of a connection repeat.

use core::fmt;

use super::Raw;
use super::places::{MemberPlaces, NotePlaces, Notes};
use super::string::Form;

/// The `_meta` of an earlier request or result, with the places of its members.
///
/// A client of 2026-07-28 describes itself with every request, often in more bytes than the rest of the request takes, and a server names
/// itself in every result. Where the same
/// bytes come again they are compared, and not scanned. An [`Inbox`](crate::Inbox) has one; a driver of exchanges keeps one for
/// [`OwnedMessages::parse_with_known_meta`](crate::rpc::OwnedMessages::parse_with_known_meta).
pub struct KnownMeta {
    /// Plain JSON, of which the first `len` bytes count; 0 if no `_meta` is known.
    text: [u8; LONGEST],
    len: usize,
    /// The depth within which it was scanned.
    depth: u8,
    /// The keys, by their offsets in the text.
    places: MemberPlaces,
}

/// Notes the places of members, and passes a `_meta` that is known.
pub(crate) struct KnownMetaNotes<'k> {
    places: MemberPlaces,
    known: &'k KnownMeta,
    depth: u8,
    /// True if a `_meta` was met that is not known.
    pub(crate) has_other: bool,
}

impl KnownMeta {
    /// An empty cache.
    pub const NONE: Self = Self {
        text: [0; LONGEST],
        len: 0,
        depth: 0,
        places: MemberPlaces::UNKNOWN,
    };

    /// Returns the `_meta`, which is not empty, where so deep a one is accepted.
    #[inline(always)]
    fn text(&self, depth: u8) -> Option<&[u8]> {
        let text = self.text.get(..self.len);
        text.filter(|text| !text.is_empty() && self.depth <= depth)
    }

    /// Begins to note the places of one message, which may nest so deep.
    pub(crate) const fn notes(&self, depth: u8) -> KnownMetaNotes<'_> {
        KnownMetaNotes {
            depth,
            places: MemberPlaces::UNKNOWN,
            known: self,
            has_other: false,
        }
    }

    /// Keeps the `_meta` of an object that was scanned within a depth, if it is short and its places were noted.
    pub(crate) fn learn(&mut self, object: Raw<'_>, depth: u8, places: &MemberPlaces) {
        if places.known().is_none() {
            return;
        }
        let mut members = places.members(object);
        let meta = members.find(|(name, _)| name.is(b"_meta"));
        let Some((_, meta)) = meta.filter(|(_, meta)| meta.form() == Form::Plain) else {
            return;
        };
        let text = meta.as_bytes();
        if self.text(depth) == Some(text) {
            return;
        }
        self.len = 0;
        self.places = places.within(object, meta);
        if let Some(place) = self.text.get_mut(..text.len())
            && self.places.known().is_some()
        {
            place.copy_from_slice(text);
            self.len = text.len();
            self.depth = depth;
        }
    }
}

impl fmt::Debug for KnownMeta {
    /// Without the text, which is not for logs.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KnownMeta")
            .field("bytes", &self.len)
            .finish_non_exhaustive()
    }
}

impl NotePlaces for KnownMetaNotes<'_> {
    fn places(&mut self) -> &mut MemberPlaces {
        &mut self.places
    }
}

impl Notes for KnownMetaNotes<'_> {
    const ARE_TAKEN: bool = MemberPlaces::ARE_TAKEN;

    #[inline(always)]
    fn begin(&mut self, container: &[u8]) -> u8 {
        self.places.begin(container)
    }

    #[inline(always)]
    fn note(&mut self, open: u8, at: usize, content: &[u8], len: usize) -> u8 {
        self.places.note(open, at, content, len)
    }

    #[inline(always)]
    fn pass_meta<'b>(&mut self, rest: &'b [u8], at: usize) -> Option<&'b [u8]> {
        let known = self.known;
        // An object has an end of its own: bytes after it do not belong to it.
        let after = known
            .text(self.depth)
            .and_then(|text| rest.strip_prefix(text));
        self.has_other |= after.is_none();
        after?;
        for key in known.places.known().unwrap_or_default() {
            self.places.add(true, at + key.at(), key.len());
        }
        after
    }
}

/// The longest `_meta` that is kept, in bytes: most clients say less of themselves.
const LONGEST: usize = 512;

#[cfg(test)]
mod tests {
    use std::format;

    use super::*;
    use crate::json::Scanner;
    use crate::rpc::{Message, OwnedMessages};

    const META: &str =
        r#"{"a/version":"2026-07-28","a/client":{"name":"x","tags":[1,{}]},"é":"ü"}"#;

    /// Parses one request after another, and one result after another, and checks that each reads as it does alone. Returns true if the `_meta` of the last was
    /// known.
    #[track_caller]
    fn check(params: &[&str]) -> bool {
        let of_requests = check_in(r#""method":"m","params""#, params);
        assert_eq!(check_in(r#""result""#, params), of_requests, "{params:?}");
        of_requests
    }

    #[track_caller]
    fn check_in(name: &str, objects: &[&str]) -> bool {
        let (mut known, mut known_of_bodies) = (KnownMeta::NONE, KnownMeta::NONE);
        let mut is_known = false;
        for params in objects {
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,{name}:{params}}}"#);
            let mut notes = known.notes(8);
            let mut scanner = Scanner::new(params.as_bytes(), 8);
            let passed = scanner
                .value_in_place(Some(&mut notes))
                .map(|_| scanner.position());
            is_known = passed.is_ok() && !notes.has_other && params.contains("_meta");

            let alone = Message::parse(text.as_bytes(), 8);
            let body = OwnedMessages::parse_with_known_meta(&text, 8, &mut known_of_bodies);
            let message = Message::parse_with_known_meta(text.as_bytes(), 8, &mut known);
            for message in [message, body.message()] {
                assert_eq!(format!("{message:?}"), format!("{alone:?}"), "{params}");
            }
            let places = |message| match message {
                Message::Request(request) => request.places,
                Message::Response(response) => response.places,
                _ => MemberPlaces::UNKNOWN,
            };
            assert_eq!(places(message).known(), places(alone).known(), "{params}");
        }
        is_known
    }

    fn with_meta(before: &str, after: &str) -> std::string::String {
        format!(r#"{{{before}"_meta":{META}{after}}}"#)
    }

    #[test]
    fn a_meta_that_comes_again_is_known_wherever_it_stands() {
        let first = with_meta("", "");
        for (before, after) in [
            ("", ""),
            (r#""name":"echo","#, ""),
            ("", r#","arguments":{"_meta":1,"text":"a\nb"}"#),
            (r#""b":[{"_meta":{}}],"#, r#","c":2"#),
            ("", " "),
        ] {
            assert!(
                check(&[&first, &with_meta(before, after)]),
                "{before} {after}"
            );
        }
    }

    #[test]
    fn another_meta_takes_its_place() {
        let (one, other) = (with_meta("", ""), r#"{"_meta":{"b":1}}"#);
        assert!(!check(&[&one]));
        assert!(!check(&[&one, other]));
        assert!(check(&[&one, other, other]));
        assert!(!check(&[&one, other, &one]));
        assert!(check(&[&one, "{}", r#"{"name":"n"}"#, &one]));
    }

    #[test]
    fn a_meta_with_a_known_beginning_is_not_known() {
        let one = r#"{"_meta":{"b":1}}"#;
        for other in [
            r#"{"_meta":{"b":12}}"#,
            r#"{"_meta":{"b":1,"c":2}}"#,
            r#"{"_meta": {"b":1}}"#,
            r#"{"_meta":{"b":1 }}"#,
            r#"{"_meta":{"b":1"#,
            r#"{"_meta":{"b":"#,
        ] {
            assert!(!check(&[one, other]), "{other}");
        }
        let (first, doubled) = (with_meta("", ""), with_meta("", r#","_meta":{"b":2}"#));
        assert!(check(&[&first, &doubled, &first]));
        for broken in [
            r#"{"_meta":{"b":1}"#,
            r#"{"_meta":{"b":1}]"#,
            r#"{"_meta":{"b":1}1}"#,
        ] {
            assert!(!check(&[one, broken]), "{broken}");
        }
    }

    #[test]
    fn long_escaped_and_unnoted_metas_are_not_kept() {
        let long = format!(r#"{{"_meta":{{"a":"{}"}}}}"#, "x".repeat(LONGEST));
        let many = (0..20)
            .map(|n| format!(r#""{n}":{n},"#))
            .collect::<std::string::String>();
        for params in [
            &*long,
            r#"{"_meta":{"a":"\n"}}"#,
            r#"{"_meta":{}}"#,
            r#"{"_meta":1}"#,
            r#"{"\u005fmeta":{"a":1}}"#,
            &format!(r#"{{"_meta":{{{many}"a":1}}}}"#),
        ] {
            assert!(!check(&[params, params]), "{params}");
        }
    }

    #[test]
    fn more_members_than_there_is_room_for_are_walked() {
        let many = (0..9)
            .map(|n| format!(r#""{n}":{n},"#))
            .collect::<std::string::String>();
        let one = with_meta("", "");
        assert!(check(&[&one, &with_meta(&many, "")]));
    }

    /// JR-33: the limit is that of the text, also where a text within a higher one came before.
    #[test]
    fn a_known_meta_is_no_deeper_than_the_text_may_be() {
        let text = |nested: &str| {
            format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{{"_meta":{{"a":{nested}}}}}}}"#
            )
        };
        let mut known = KnownMeta::NONE;
        for (depth, requests) in [(20, 1), (8, 0), (20, 1), (8, 0)] {
            let text = text("[[[[[[[[[[1]]]]]]]]]]");
            let body = OwnedMessages::parse_with_known_meta(text, depth, &mut known);
            assert_eq!(body.requests(), requests, "within {depth}");
        }
    }
}
