//! Iterates over validated text without checking it again.

use super::places::Place;
use super::string::Form;
use super::text::content_len;
use super::{Raw, Str, words};

/// A position in checked text. On text that no scanner has seen it ends early, which no view
/// over checked text can observe.
#[derive(Clone, Debug)]
pub(super) struct Walk<'b> {
    bytes: &'b [u8],
    at: usize,
    form: Form,
}

impl<'b> Walk<'b> {
    /// Begins before a value.
    #[inline]
    pub(super) const fn before(raw: Raw<'b>) -> Self {
        Self {
            bytes: raw.as_bytes(),
            at: 0,
            form: raw.form(),
        }
    }

    /// Begins behind the opening bracket of a container.
    #[inline]
    pub(super) const fn inside(container: &'b [u8], form: Form) -> Self {
        Self {
            bytes: container,
            at: 1,
            form,
        }
    }

    /// The first byte of the next token; separators are passed like whitespace, because the
    /// grammar was checked.
    #[inline]
    pub(super) fn peek(&mut self) -> Option<u8> {
        loop {
            match *self.bytes.get(self.at)? {
                b' ' | b'\n' | b'\r' | b'\t' | b',' | b':' => self.at += 1,
                byte => return Some(byte),
            }
        }
    }

    /// Passes one byte that was peeked at.
    #[inline]
    pub(super) fn pass(&mut self) {
        self.at = self.at.saturating_add(1).min(self.bytes.len());
    }

    /// The next string, if a string is next.
    #[inline]
    pub(super) fn string(&mut self) -> Option<Str<'b>> {
        if self.peek()? != b'"' {
            return None;
        }
        let content = self.bytes.get(self.at + 1..)?;
        let (len, escaped) = content_len(content)?;
        self.at += len + 2;
        Some(Str::walked(content.get(..len)?, escaped, self.form))
    }

    /// Passes the next string, if it is one of these names and is written without escapes. Returns the index of the name. The
    /// names have no quotes and no backslashes.
    ///
    /// A string that ends where a name would is compared with it, so its end is not searched for.
    pub(super) fn name_among(&mut self, names: &[&str]) -> Option<usize> {
        if self.peek()? != b'"' {
            return None;
        }
        let content = self.bytes.get(self.at + 1..)?;
        let is_next = |name: &&str| match content.split_at_checked(name.len()) {
            Some((found, [b'"', ..])) => words::equal(found, name.as_bytes()),
            _ => false,
        };
        let index = names.iter().position(is_next)?;
        self.at += names.get(index)?.len() + 2;
        Some(index)
    }

    /// The member of this key, which was noted; `next` is the key of the member after it. The last
    /// member ends with the text.
    #[inline]
    pub(super) fn member(&self, key: Place, next: Option<Place>) -> Option<(Str<'b>, Raw<'b>)> {
        let end = next.map_or(self.bytes.len().saturating_sub(1), Place::at);
        let member = self.bytes.get(key.at().saturating_add(1)..end)?;
        let (name, behind) = member.split_at_checked(key.len())?;
        // Between a name and its value stand a quote, a colon and whitespace, and after the value a
        // comma and whitespace: no value begins or ends with them.
        let (_, mut value) = behind.split_first()?;
        while let [b':' | ..=b' ', rest @ ..] = value {
            value = rest;
        }
        while let [rest @ .., b',' | ..=b' '] = value {
            value = rest;
        }
        let name = Str::at_most(name, self.form);
        Some((name, Raw::scanned(value, self.form)))
    }

    #[inline]
    fn scalar_end(&self, start: usize) -> usize {
        let mut at = start;
        while let Some(b'+' | b'-' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'E') = self.bytes.get(at) {
            at += 1;
        }
        at
    }

    /// The offset behind the container that opens at `start`. Brackets match in checked text,
    /// so counting them is enough.
    fn container_end(&self, start: usize) -> Option<usize> {
        let mut open: u32 = 0;
        let mut at = start;
        loop {
            match self.bytes.get(at)? {
                b'"' => at += content_len(self.bytes.get(at + 1..)?)?.0 + 1,
                b'{' | b'[' => open = open.saturating_add(1),
                b'}' | b']' => {
                    open = open.saturating_sub(1);
                    if open == 0 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
            at += 1;
        }
    }
}

/// The values that follow, up to the end of a container.
impl<'b> Iterator for Walk<'b> {
    type Item = Raw<'b>;

    fn next(&mut self) -> Option<Raw<'b>> {
        let first = self.peek()?;
        let start = self.at;
        self.at = match first {
            b'"' => start + content_len(self.bytes.get(start + 1..)?)?.0 + 2,
            b'{' | b'[' => self.container_end(start)?,
            b'}' | b']' => return None,
            _ => self.scalar_end(start),
        };
        Some(Raw::scanned(self.bytes.get(start..self.at)?, self.form))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks the index among the names of the first one of an object, and what follows it.
    #[track_caller]
    fn check(json: &str, expected: Option<usize>, next: &str) {
        let raw = Raw::parse(json.as_bytes(), 8).unwrap();
        let mut walk = Walk::inside(raw.as_bytes(), raw.form());
        assert_eq!(walk.name_among(&["a", "ab", "_meta", ""]), expected);
        assert_eq!(
            walk.next().map(Raw::as_str),
            Some(next).filter(|next| !next.is_empty())
        );
    }

    #[test]
    fn a_name_is_compared_to_its_end() {
        check(r#"{"a":1}"#, Some(0), "1");
        check(r#"{ "ab" : "a" }"#, Some(1), r#""a""#);
        check(r#"{"_meta":{"a":1}}"#, Some(2), r#"{"a":1}"#);
        check(r#"{"":null}"#, Some(3), "null");
    }

    /// The walk stays in front of them.
    #[test]
    fn other_names_are_not_passed() {
        check("{}", None, "");
        check(r#"{"abc":1}"#, None, r#""abc""#);
        check(r#"{"b":"a"}"#, None, r#""b""#);
        check(r#"{"\u0061":1}"#, None, r#""\u0061""#);
        check(r#"{"a\"":1}"#, None, r#""a\"""#);
        check(r#"{"_metas":1}"#, None, r#""_metas""#);
    }
}
