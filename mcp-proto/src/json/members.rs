//! The members of objects, one after the other.

use core::fmt;

#[cfg(feature = "alloc")]
use super::places::Notes as _;
use super::places::{MemberPlaces, Place};
use super::walk::Walk;
use super::{Raw, Str, offset};

/// The members of an object.
#[derive(Clone)]
pub(crate) struct Members<'p, 'b> {
    walk: Walk<'b>,
    /// The keys that follow; `None` if they were not noted.
    keys: Option<&'p [Place]>,
}

impl<'p, 'b> Members<'p, 'b> {
    /// Those of the object with which this text ends.
    pub(super) fn new(text: Raw<'b>, keys: Option<&'p [Place]>) -> Self {
        let walk = Walk::inside(text.as_bytes(), text.form());
        Self { walk, keys }
    }
}

impl<'b> Members<'_, 'b> {
    /// The value of the next member, and the index of its name among these; for `are_plain` see [`collect`].
    fn next_among(&mut self, names: &[&str], are_plain: bool) -> Option<(Option<usize>, Raw<'b>)> {
        if !MemberPlaces::IS_NOTED
            && are_plain
            && let Some(index) = self.walk.name_among(names)
        {
            return Some((Some(index), self.walk.next()?));
        }
        let (name, value) = self.next()?;
        Some((names.iter().position(|own| name.is(own.as_bytes())), value))
    }
}

impl<'b> Iterator for Members<'_, 'b> {
    type Item = (Str<'b>, Raw<'b>);

    fn next(&mut self) -> Option<Self::Item> {
        match &mut self.keys {
            Some(keys) if MemberPlaces::IS_NOTED => {
                let (key, mut rest) = keys.split_first()?;
                while let [next, behind @ ..] = rest
                    && next.is_in_meta()
                    && !key.is_in_meta()
                {
                    rest = behind;
                }
                *keys = rest;
                self.walk.member(*key, rest.first().copied())
            }
            _ => Some((self.walk.string()?, self.walk.next()?)),
        }
    }
}

impl MemberPlaces {
    /// The members of the object that was scanned.
    pub(crate) fn members<'b>(&self, object: Raw<'b>) -> Members<'_, 'b> {
        Members::new(object, self.known())
    }

    /// The members of a `_meta` of the object that was scanned.
    pub(crate) fn members_of_meta<'b>(&self, object: Raw<'b>, meta: Raw<'b>) -> Members<'_, 'b> {
        self.noted_meta(object, meta)
            .unwrap_or_else(|| Members::new(meta, None))
    }

    /// Returns the places in the `_meta` of a scanned object, as offsets in that `_meta`.
    #[cfg(feature = "alloc")]
    pub(super) fn within(&self, whole: Raw<'_>, meta: Raw<'_>) -> Self {
        let mut places = Self::UNKNOWN;
        let noted = self.noted_meta(whole, meta).and_then(|noted| noted.keys);
        if let (Some(start), Some(keys)) = (offset(meta.as_bytes(), whole.as_bytes()), noted) {
            places.begin(meta.as_bytes());
            for key in keys {
                places.add(true, key.at() - start, key.len());
            }
        }
        places
    }

    fn noted_meta<'b>(&self, whole: Raw<'b>, meta: Raw<'b>) -> Option<Members<'_, 'b>> {
        let mut keys = self.known()?;
        let start = offset(meta.as_bytes(), whole.as_bytes())?;
        let end = start.checked_add(meta.as_bytes().len())?;
        // Names are spelled in many ways, and may come twice: the one that was noted may be another.
        while let [key, rest @ ..] = keys
            && key.at() < start
        {
            keys = rest;
        }
        while let [rest @ .., key] = keys
            && key.at() >= end
        {
            keys = rest;
        }
        let is_noted = keys.first()?.is_in_meta();
        let text = whole.as_bytes().get(..end).filter(|_| is_noted)?;
        Some(Members::new(Raw::scanned(text, whole.form()), Some(keys)))
    }
}

/// Like [`Object::find`](super::Object::find), for members that may have been noted and keys that are not known at compile
/// time; a key without a place in `found` is not looked for. `are_plain` states that the keys have no quotes and no backslashes.
/// Returns true if there are other members.
pub(crate) fn collect<'b>(
    mut members: Members<'_, 'b>,
    keys: &[&str],
    are_plain: bool,
    found: &mut [Option<Raw<'b>>],
) -> Result<bool, Duplicate> {
    let mut has_others = false;
    while let Some((index, value)) = members.next_among(keys, are_plain) {
        match index.and_then(|index| found.get_mut(index).zip(Some(index))) {
            Some((slot, _)) if slot.is_none() => *slot = Some(value),
            Some((_, index)) => return Err(Duplicate { key: index }),
            None => has_others = true,
        }
    }
    Ok(has_others)
}

/// A key that was asked for stands twice in an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Duplicate {
    /// The index of the key among those asked for.
    pub key: usize,
}

impl fmt::Display for Duplicate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "key number {} stands twice in the object", self.key)
    }
}

impl core::error::Error for Duplicate {}

#[cfg(test)]
mod tests {
    use std::format;
    use std::string::String;

    use super::*;
    use crate::json::{Raw, Scanner};

    /// Checks that the members are those that a walk finds, and whether they and those of the `_meta`
    /// are noted.
    #[track_caller]
    fn check(json: &str, is_noted: bool, is_meta_noted: bool) {
        for text in [json, &format!(" {json} ,"), &spaced(json)] {
            let mut places = MemberPlaces::UNKNOWN;
            let mut scanner = Scanner::new(text.as_bytes(), 8);
            let value = scanner.noted_value(Some(&mut places)).unwrap();
            assert_eq!(Raw::parse(value.as_bytes(), 8).unwrap(), value);
            let object = value.object().unwrap();
            assert!(places.members(value).eq(object.members()), "{text}");
            let is_noted = is_noted && MemberPlaces::IS_NOTED;
            assert_eq!(places.known().is_some(), is_noted, "{text}");
            let metas = object.members().filter(|(name, _)| *name == "_meta");
            for (index, (_, meta)) in metas.enumerate() {
                let Some(meta) = meta.object() else { continue };
                let members = places.members_of_meta(value, meta.as_raw());
                assert!(members.eq(meta.members()), "{text}");
                let noted = places.noted_meta(value, meta.as_raw());
                let is_noted = is_meta_noted && MemberPlaces::IS_NOTED && index == 0;
                assert!(noted.is_some() || !is_noted, "{text}");
            }
        }
    }

    /// The text with white space between all tokens.
    fn spaced(json: &str) -> String {
        let mut text = String::new();
        let (mut is_in_string, mut is_escaped) = (false, false);
        for char in json.chars() {
            let is_token = !is_in_string && "{}[],:".contains(char);
            text += if is_token { " \n" } else { "" };
            text.push(char);
            text += if is_token { "\t\r " } else { "" };
            is_in_string ^= char == '"' && !is_escaped;
            is_escaped = is_in_string && char == '\\' && !is_escaped;
        }
        text
    }

    #[test]
    fn members_are_where_they_are_noted() {
        check("{}", true, false);
        check(r#"{"name":"a","arguments":{"b":[1,{"c":2}]}}"#, true, false);
        check(r#"{"a":"x,}","b":"\",\"_meta\":{","c":1}"#, true, false);
        check(
            r#"{"":"","é":-1.5e3,"a\n":[[],{}],"\u0061":null}"#,
            true,
            false,
        );
        check(r#"{"a":1,"a":2}"#, true, false);
    }

    #[test]
    fn members_of_meta_are_noted() {
        check(r#"{"_meta":{}}"#, true, false);
        check(r#"{"_meta":{"a":{"b":1},"c":[{"d":1}]}}"#, true, true);
        check(
            r#"{"x":1,"_meta":{"a":"\"","b":2},"y":{"z":1}}"#,
            true,
            true,
        );
        check(r#"{"x":{"_meta":{"a":1}},"_meta":{"b":2}}"#, true, true);
        check(r#"{"_meta":1,"a":{"b":2}}"#, true, false);
        check(r#"{"_meta":[{"a":1}],"a":{"b":2}}"#, true, false);
        check(r#"{"_metas":{"a":1},"_met":{"b":2}}"#, true, false);
    }

    #[test]
    fn a_second_meta_and_other_spellings_are_distinguished() {
        check(r#"{"_meta":{"a":1},"_meta":{"b":2,"c":3}}"#, true, true);
        check(r#"{"_meta":{},"b":1,"_meta":{"c":3}}"#, true, false);
        check(r#"{"\u005fmeta":{"a":1},"_meta":{"b":2}}"#, true, false);
        check(r#"{"_meta":{"a":1},"\u005fmeta":{"b":2}}"#, true, true);
    }

    #[test]
    fn more_than_there_is_room_for_is_walked() {
        let members = |count: usize| {
            let members = (0..count).map(|n| format!("\"{n}\":{n},"));
            members.collect::<String>()
        };
        check(
            &format!("{{{}\"_meta\":{{\"a\":1}}}}", members(9)),
            true,
            true,
        );
        check(
            &format!("{{{}\"_meta\":{{\"a\":1}}}}", members(10)),
            false,
            false,
        );
        check(
            &format!("{{{}\"_meta\":{{\"a\":1}}}}", members(300)),
            false,
            false,
        );
        check(
            &format!("{{\"_meta\":{{{}\"a\":1}},\"b\":2}}", members(20)),
            false,
            false,
        );
        let name = "n".repeat(255);
        check(&format!(r#"{{"{name}":1}}"#), true, false);
        check(&format!(r#"{{"{name}n":1}}"#), false, false);
        assert!(Place::new(false, (1 << 23) - 1, 1).is_some());
        assert!(Place::new(false, 1 << 23, 1).is_none());
    }
}
