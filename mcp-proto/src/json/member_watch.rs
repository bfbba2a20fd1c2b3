//! Finds the names of members in an object that is written piece by piece and kept nowhere.

use super::words::next_escape;

/// Reads the bytes of an object in any pieces, and notes which of some names its members have, and
/// the members of its `_meta`.
///
/// The bytes have to be JSON; what it notes of others means nothing.
#[derive(Debug, Default)]
pub(crate) struct MemberWatch {
    /// In ASCII.
    names: [&'static str; Self::MOST],
    /// Containers that are open.
    depth: usize,
    is_in_string: bool,
    /// The next string is a name, or the one that is being read.
    is_name: bool,
    /// The member of the object that is being read is its `_meta`.
    is_in_meta: bool,
    /// Bytes of an escape that were read.
    escape: u8,
    /// The number of an escape.
    code: u16,
    /// Characters of the string that were read.
    at: usize,
    /// The names that the string may still be.
    alive: u8,
    /// Members of the object.
    members: u8,
    /// Members of its `_meta`.
    meta: u8,
}

impl MemberWatch {
    /// So many names can be looked for.
    pub(crate) const MOST: usize = 4;

    pub(crate) fn new(names: impl Iterator<Item = &'static str>) -> Self {
        let mut watch = Self::default();
        for (place, name) in watch.names.iter_mut().zip(names) {
            *place = name;
        }
        watch
    }

    /// Returns true if the object has a `_meta` without members, false if it has one with members,
    /// and `None` if it has no `_meta`.
    pub(crate) const fn own_meta(&self) -> Option<bool> {
        match self.members & META {
            0 => None,
            _ => Some(self.meta == 0),
        }
    }

    /// Returns true if the object, or its `_meta` if `in_meta`, has a member of the name at
    /// `index`.
    pub(crate) fn has(&self, index: usize, in_meta: bool) -> bool {
        let found = if in_meta { self.meta } else { self.members };
        found & bit(index) != 0
    }

    pub(super) fn read(&mut self, bytes: &[u8]) {
        let mut rest = bytes;
        while let Some((byte, behind)) = rest.split_first() {
            rest = behind;
            match (self.is_in_string, self.escape) {
                (false, _) => self.read_token(*byte),
                (true, 0) => match byte {
                    b'"' => self.end_string(),
                    b'\\' => self.escape = 1,
                    byte if self.is_name => self.read_char((*byte).into()),
                    _ => {
                        let run = next_escape(rest).unwrap_or(rest.len());
                        rest = rest.get(run..).unwrap_or_default();
                    }
                },
                (true, 1) if *byte == b'u' => (self.escape, self.code) = (2, 0),
                // No name has one of the other characters.
                (true, 1) => self.end_escape(if *byte == b'/' { b'/'.into() } else { 0 }),
                (true, digits) => {
                    let digit = char::from(*byte).to_digit(16).unwrap_or_default();
                    self.code = self.code << 4 | digit as u16;
                    match digits {
                        5 => self.end_escape(self.code),
                        _ => self.escape = digits.saturating_add(1),
                    }
                }
            }
        }
    }

    fn read_token(&mut self, byte: u8) {
        match byte {
            b'{' | b'[' => {
                self.depth = self.depth.saturating_add(1);
                self.is_name = byte == b'{' && self.is_watched();
            }
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                self.is_name = false;
            }
            b',' => self.is_name = self.is_watched(),
            b'"' => (self.is_in_string, self.at, self.alive) = (true, 0, u8::MAX),
            _ => {}
        }
    }

    /// Returns true if member names of this depth are compared with the names.
    const fn is_watched(&self) -> bool {
        self.depth == 1 || (self.depth == 2 && self.is_in_meta)
    }

    fn read_char(&mut self, code: u16) {
        for (index, name) in self.names.iter().chain([&"_meta"]).enumerate() {
            let byte = name.as_bytes().get(self.at);
            if byte.copied().map(u16::from) != Some(code) {
                self.alive &= !bit(index);
            }
        }
        self.at = self.at.saturating_add(1);
    }

    fn end_escape(&mut self, code: u16) {
        self.escape = 0;
        self.read_char(code);
    }

    fn end_string(&mut self) {
        self.is_in_string = false;
        if !self.is_name {
            return;
        }
        self.is_name = false;
        let mut found = OTHER;
        for (index, name) in self.names.iter().chain([&"_meta"]).enumerate() {
            if name.len() == self.at {
                found |= self.alive & bit(index);
            }
        }
        if self.depth == 1 {
            self.is_in_meta = found & META != 0;
            self.members |= found;
        } else {
            self.meta |= found;
        }
    }
}

const fn bit(index: usize) -> u8 {
    1 << (index & 7)
}

const META: u8 = bit(MemberWatch::MOST);

/// Each member has it.
const OTHER: u8 = bit(7);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Writer;

    const NAMES: [&str; 3] = ["a", "x/y", "resultType"];

    /// Checks the members that a watch notes of the object, those of its `_meta`, and `own_meta`,
    /// with pieces of each length.
    #[track_caller]
    fn check(json: &str, members: &[&str], of_meta: &[&str], own_meta: Option<bool>) {
        for size in 1..=json.len() {
            let mut watch = MemberWatch::new(NAMES.into_iter());
            let mut w = Writer::watching(&mut watch);
            json.as_bytes().chunks(size).for_each(|part| w.bytes(part));
            assert_eq!(w.len(), json.len());
            for (index, name) in NAMES.iter().enumerate() {
                assert_eq!(watch.has(index, false), members.contains(name), "{name}");
                assert_eq!(watch.has(index, true), of_meta.contains(name), "{name}");
            }
            assert_eq!(watch.own_meta(), own_meta, "{json} by {size}");
        }
    }

    #[test]
    fn members_of_the_object() {
        check("{}", &[], &[], None);
        check(r#"{"a":1}"#, &["a"], &[], None);
        check(r#" { "b" : "a" , "x/y" : [ "a" ] } "#, &["x/y"], &[], None);
        check(r#"{"aa":1,"":2,"A":3,"resultTyp":4}"#, &[], &[], None);
        check(r#"{"b":{"a":1,"_meta":{"a":1}}}"#, &[], &[], None);
        check(r#"{"b":["a",{"a":1}],"a":{}}"#, &["a"], &[], None);
        check(r#"{"b":"_meta","c":"\"a\":{","d":"\\"}"#, &[], &[], None);
        check(
            r#"{"b":"\\\",\"a\":1","x/y":"0123456789\u0022,"}"#,
            &["x/y"],
            &[],
            None,
        );
    }

    #[test]
    fn members_of_its_meta() {
        check(r#"{"_meta":{}}"#, &[], &[], Some(true));
        check(r#"{"_meta":{ },"a":{"b":1}}"#, &["a"], &[], Some(true));
        check(r#"{"_meta":{"b":{"a":1}}}"#, &[], &[], Some(false));
        check(
            r#"{"a":0,"_meta":{"b":[{"a":1}],"x/y":1}}"#,
            &["a"],
            &["x/y"],
            Some(false),
        );
        check(r#"{"_meta":{"b":1},"c":{"a":1}}"#, &[], &[], Some(false));
    }

    #[test]
    fn escapes_in_names() {
        check(
            r#"{"\u005fmet\u0061":{"x\/y":1,"\u0061":2}}"#,
            &[],
            &["a", "x/y"],
            Some(false),
        );
        check(r#"{"x\u002Fy":1,"a\n":2,"\u0161":3}"#, &["x/y"], &[], None);
        check(r#"{"\"a":1,"a\\":2,"é":3}"#, &[], &[], None);
    }
}
