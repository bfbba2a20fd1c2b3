//! The scanner: one pass that checks everything.

use super::text::Form;
use super::{Fault, FaultKind, MAX_DEPTH, Raw, Str, words};

/// A position in a text, and the rules for moving on.
///
/// It checks grammar, UTF-8 and depth in the same pass, keeps its stack in a `u128` and stops
/// at the first fault. A reader that knows the shape of its text drives it token by token; what
/// it does not care about is one call of [`value`](Self::value).
#[derive(Clone, Debug)]
pub(crate) struct Scanner<'b> {
    bytes: &'b [u8],
    /// At most `bytes.len()`.
    at: usize,
    /// Containers that may still be opened.
    depth: u8,
}

impl<'b> Scanner<'b> {
    /// Begins at the first byte. A depth of 0 allows no container.
    #[inline]
    pub(crate) const fn new(bytes: &'b [u8], depth: u8) -> Self {
        Self {
            bytes,
            at: 0,
            depth: if depth < MAX_DEPTH { depth } else { MAX_DEPTH },
        }
    }

    /// The offset of the next byte.
    #[inline]
    pub(crate) const fn position(&self) -> usize {
        self.at
    }

    /// The next byte, whitespace included.
    #[inline(always)]
    pub(crate) fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Moves to the next byte that is no whitespace.
    #[inline(always)]
    pub(crate) fn skip_whitespace(&mut self) {
        // Most messages have none, or a single space.
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    /// Takes `byte`, with whitespace before it allowed.
    #[inline(always)]
    pub(crate) fn expect(&mut self, byte: u8) -> Result<(), Fault> {
        if self.peek() != Some(byte) {
            self.skip_whitespace();
            if self.peek() != Some(byte) {
                return Err(self.unexpected());
            }
        }
        self.at += 1;
        Ok(())
    }

    /// Takes the opening brace of an object, which counts for the depth of what is inside.
    ///
    /// The members follow: [`next_key`](Self::next_key), then one value, until there is no key.
    #[inline]
    pub(crate) fn open_object(&mut self) -> Result<(), Fault> {
        self.skip_whitespace();
        if self.peek() != Some(b'{') {
            return Err(self.unexpected());
        }
        self.open()
    }

    /// Takes the opening bracket of an array, which counts for the depth of what is inside.
    #[inline]
    pub(crate) fn open_array(&mut self) -> Result<(), Fault> {
        self.skip_whitespace();
        if self.peek() != Some(b'[') {
            return Err(self.unexpected());
        }
        self.open()
    }

    /// The key of the next member of an opened object, with its colon taken and the position at
    /// its value; `None` after the closing brace. `first` tells that no member was read yet.
    #[inline]
    pub(crate) fn next_key(&mut self, first: bool) -> Result<Option<Str<'b>>, Fault> {
        self.skip_whitespace();
        if first {
            if self.peek() == Some(b'}') {
                self.close();
                return Ok(None);
            }
        } else {
            match self.peek() {
                Some(b',') => {
                    self.at += 1;
                    self.skip_whitespace();
                }
                Some(b'}') => {
                    self.close();
                    return Ok(None);
                }
                _ => return Err(self.unexpected()),
            }
        }
        let key = self.string()?;
        self.expect(b':')?;
        self.skip_whitespace();
        Ok(Some(key))
    }

    /// Whether an opened array has another element, with the position at it; `first` tells that
    /// none was read yet.
    #[inline]
    pub(crate) fn next_element(&mut self, first: bool) -> Result<bool, Fault> {
        self.skip_whitespace();
        match self.peek() {
            Some(b']') => {
                self.close();
                Ok(false)
            }
            Some(_) if first => Ok(true),
            Some(b',') => {
                self.at += 1;
                self.skip_whitespace();
                Ok(true)
            }
            _ => Err(self.unexpected()),
        }
    }

    /// Takes one string; the position is at its quote.
    #[inline]
    pub(crate) fn string(&mut self) -> Result<Str<'b>, Fault> {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected());
        }
        let start = self.at + 1;
        let form = self.skip_string()?;
        let content = self.bytes.get(start..self.at - 1).unwrap_or_default();
        Ok(Str::scanned(content, form))
    }

    /// Takes one value of any kind, with whitespace before it allowed.
    #[inline]
    pub(crate) fn value(&mut self) -> Result<Raw<'b>, Fault> {
        self.skip_whitespace();
        let start = self.at;
        let form = match self.peek() {
            Some(b'"') => self.skip_string()?,
            Some(b'{' | b'[') => self.skip_container()?,
            _ => {
                self.skip_scalar()?;
                Form::Plain
            }
        };
        let bytes = self.bytes.get(start..self.at).unwrap_or_default();
        Ok(Raw::scanned(bytes, form))
    }

    /// Checks that nothing but whitespace is left.
    #[inline]
    pub(crate) fn end(&mut self) -> Result<(), Fault> {
        self.skip_whitespace();
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.fault(FaultKind::Trailing)),
        }
    }

    #[inline]
    fn open(&mut self) -> Result<(), Fault> {
        let Some(left) = self.depth.checked_sub(1) else {
            return Err(self.fault(FaultKind::Depth));
        };
        self.depth = left;
        self.at += 1;
        Ok(())
    }

    #[inline]
    fn close(&mut self) {
        self.depth = self.depth.saturating_add(1);
        self.at += 1;
    }

    /// Passes the container that opens here.
    fn skip_container(&mut self) -> Result<Form, Fault> {
        let mut form = Form::Plain;
        // The lowest bit is the innermost container: 1 for an object.
        let mut kinds: u128 = 0;
        let mut open: u8 = 0;
        let mut object = false;
        loop {
            // A value begins here.
            match self.peek() {
                Some(b'"') => form = form.max(self.skip_string()?),
                Some(byte @ (b'{' | b'[')) => {
                    if open == self.depth {
                        return Err(self.fault(FaultKind::Depth));
                    }
                    object = byte == b'{';
                    kinds = (kinds << 1) | u128::from(object);
                    open += 1;
                    self.at += 1;
                    self.skip_whitespace();
                    let end = if object { b'}' } else { b']' };
                    if self.peek() != Some(end) {
                        if object {
                            form = form.max(self.skip_key()?);
                        }
                        continue;
                    }
                }
                _ => self.skip_scalar()?,
            }
            // It is complete: the next one follows, or its containers end.
            loop {
                self.skip_whitespace();
                match self.peek() {
                    Some(b',') => {
                        self.at += 1;
                        self.skip_whitespace();
                        if object {
                            form = form.max(self.skip_key()?);
                        }
                        break;
                    }
                    Some(b'}') if object => {}
                    Some(b']') if !object => {}
                    _ => return Err(self.unexpected()),
                }
                self.at += 1;
                open = open.saturating_sub(1);
                if open == 0 {
                    return Ok(form);
                }
                kinds >>= 1;
                object = kinds & 1 == 1;
            }
        }
    }

    /// Passes a key and its colon, up to the value.
    #[inline]
    fn skip_key(&mut self) -> Result<Form, Fault> {
        if self.peek() != Some(b'"') {
            return Err(self.unexpected());
        }
        let form = self.skip_string()?;
        self.expect(b':')?;
        self.skip_whitespace();
        Ok(form)
    }

    /// Passes the string whose quote is here.
    #[inline]
    fn skip_string(&mut self) -> Result<Form, Fault> {
        let mut form = Form::Plain;
        self.at += 1;
        loop {
            while let Some(word) = words::word(self.bytes, self.at) {
                let stops = words::stops(word);
                if stops != 0 {
                    self.at += words::first(stops);
                    break;
                }
                self.at += 8;
            }
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(form);
                }
                Some(b'\\') => form = form.max(self.skip_escape()?),
                Some(0x80..) => self.skip_beyond_ascii()?,
                Some(0x20..) => self.at += 1,
                _ => return Err(self.unexpected()),
            }
        }
    }

    /// Passes the escape whose backslash is here; a surrogate pair counts as one.
    fn skip_escape(&mut self) -> Result<Form, Fault> {
        self.at += 1;
        match self.peek() {
            Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => {
                self.at += 1;
                Ok(Form::Escaped)
            }
            Some(b'u') => {
                let unit = self.skip_hex()?;
                match unit {
                    0xD800..=0xDBFF => {
                        // Half a pair is grammar too (RFC 8259, section 8.2), so a pair that
                        // does not come is no fault: what follows is read as what it is.
                        let mut second = self.clone();
                        if second.peek() == Some(b'\\') {
                            second.at += 1;
                            if second.peek() == Some(b'u')
                                && matches!(second.skip_hex()?, 0xDC00..=0xDFFF)
                            {
                                self.at = second.at;
                                return Ok(Form::Escaped);
                            }
                        }
                        Ok(Form::Lone)
                    }
                    0xDC00..=0xDFFF => Ok(Form::Lone),
                    _ => Ok(Form::Escaped),
                }
            }
            _ => Err(self.unexpected()),
        }
    }

    /// Passes a `u` and its four digits, and tells their value.
    fn skip_hex(&mut self) -> Result<u32, Fault> {
        self.at += 1;
        let mut unit = 0;
        for _ in 0..4 {
            let digit = match self.peek() {
                Some(byte @ b'0'..=b'9') => byte - b'0',
                Some(byte @ b'a'..=b'f') => byte - b'a' + 10,
                Some(byte @ b'A'..=b'F') => byte - b'A' + 10,
                _ => return Err(self.unexpected()),
            };
            unit = unit << 4 | u32::from(digit);
            self.at += 1;
        }
        Ok(unit)
    }

    /// Passes the characters beyond ASCII that begin here, by table 3-7 of the Unicode
    /// Standard: no overlong forms, no surrogates, nothing above U+10FFFF.
    fn skip_beyond_ascii(&mut self) -> Result<(), Fault> {
        while let Some(lead @ 0x80..) = self.peek() {
            let rest = self.bytes.get(self.at + 1..).unwrap_or_default();
            let passed = match (lead, rest) {
                (0xC2..=0xDF, [0x80..=0xBF, ..]) => 2,
                (0xE0, [0xA0..=0xBF, 0x80..=0xBF, ..])
                | (0xE1..=0xEC | 0xEE | 0xEF, [0x80..=0xBF, 0x80..=0xBF, ..])
                | (0xED, [0x80..=0x9F, 0x80..=0xBF, ..]) => 3,
                (0xF0, [0x90..=0xBF, 0x80..=0xBF, 0x80..=0xBF, ..])
                | (0xF1..=0xF3, [0x80..=0xBF, 0x80..=0xBF, 0x80..=0xBF, ..])
                | (0xF4, [0x80..=0x8F, 0x80..=0xBF, 0x80..=0xBF, ..]) => 4,
                _ => return Err(self.fault(FaultKind::Utf8)),
            };
            self.at += passed;
        }
        Ok(())
    }

    /// Passes a number, `true`, `false` or `null`.
    #[inline]
    fn skip_scalar(&mut self) -> Result<(), Fault> {
        match self.peek() {
            Some(b'-' | b'0'..=b'9') => self.skip_number(),
            Some(b't') => self.skip_literal(b"true"),
            Some(b'f') => self.skip_literal(b"false"),
            Some(b'n') => self.skip_literal(b"null"),
            _ => Err(self.unexpected()),
        }
    }

    fn skip_literal(&mut self, literal: &[u8]) -> Result<(), Fault> {
        for &byte in literal {
            if self.peek() != Some(byte) {
                return Err(self.unexpected());
            }
            self.at += 1;
        }
        Ok(())
    }

    fn skip_number(&mut self) -> Result<(), Fault> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.skip_digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.skip_digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.skip_digits()?;
        }
        Ok(())
    }

    /// Passes at least one digit.
    #[inline]
    fn skip_digits(&mut self) -> Result<(), Fault> {
        let Some(b'0'..=b'9') = self.peek() else {
            return Err(self.unexpected());
        };
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        Ok(())
    }

    /// The fault of a byte that cannot stand here, or of no byte at all.
    #[cold]
    fn unexpected(&self) -> Fault {
        self.fault(match self.peek() {
            Some(_) => FaultKind::Syntax,
            None => FaultKind::Incomplete,
        })
    }

    #[cold]
    const fn fault(&self, kind: FaultKind) -> Fault {
        Fault { kind, at: self.at }
    }
}
