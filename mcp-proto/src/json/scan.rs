//! The scanner: one pass that checks everything.

use super::string::{self, End, fault, unexpected};
use super::text::Form;
use super::{Fault, FaultKind, MAX_DEPTH, Raw, Str};

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
        self.at = whitespace(self.bytes, self.at);
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

    /// Takes exactly these bytes, if they come next.
    ///
    /// A reader that knows what most texts say at a place asks for that first.
    #[inline(always)]
    pub(crate) fn take<const N: usize>(&mut self, bytes: &[u8; N]) -> bool {
        let found = self.bytes.get(self.at..).and_then(<[u8]>::first_chunk::<N>) == Some(bytes);
        if found {
            self.at += N;
        }
        found
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
        let end = string::pass(self.bytes, self.at)?;
        self.at = end.at;
        let content = self.bytes.get(start..end.at - 1).unwrap_or_default();
        Ok(Str::scanned(content, end.form))
    }

    /// Takes one value of any kind, with whitespace before it allowed.
    #[inline]
    pub(crate) fn value(&mut self) -> Result<Raw<'b>, Fault> {
        self.skip_whitespace();
        let start = self.at;
        let end = match self.peek() {
            Some(b'"') => string::pass(self.bytes, start)?,
            Some(b'{' | b'[') => container(self.bytes, start, self.depth)?,
            _ => End {
                at: scalar(self.bytes, start)?,
                form: Form::Plain,
            },
        };
        self.at = end.at;
        let bytes = self.bytes.get(start..end.at).unwrap_or_default();
        Ok(Raw::scanned(bytes, end.form))
    }

    /// Checks that nothing but whitespace is left.
    #[inline]
    pub(crate) fn end(&mut self) -> Result<(), Fault> {
        self.skip_whitespace();
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(fault(FaultKind::Trailing, self.at)),
        }
    }

    #[inline]
    fn open(&mut self) -> Result<(), Fault> {
        let Some(left) = self.depth.checked_sub(1) else {
            return Err(fault(FaultKind::Depth, self.at));
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

    #[cold]
    fn unexpected(&self) -> Fault {
        unexpected(self.bytes, self.at)
    }
}

// The position is a value that goes in and comes out, not a field: so it stays in a register.

/// Passes whitespace.
#[inline(always)]
fn whitespace(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    // Most messages have none, or a single space.
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

/// Passes the container that opens at `start`, which with those in it may nest `depth` deep.
#[inline(never)]
fn container(bytes: &[u8], start: usize, depth: u8) -> Result<End, Fault> {
    let mut at = start;
    let mut form = Form::Plain;
    // The lowest bit is the innermost container: 1 for an object.
    let mut kinds: u128 = 0;
    let mut open: u8 = 0;
    let mut object = false;
    loop {
        // A value begins here.
        match bytes.get(at) {
            Some(b'"') => {
                let end = string::pass(bytes, at)?;
                at = end.at;
                form = form.max(end.form);
            }
            Some(byte @ (b'{' | b'[')) => {
                if open == depth {
                    return Err(fault(FaultKind::Depth, at));
                }
                object = *byte == b'{';
                kinds = (kinds << 1) | u128::from(object);
                open += 1;
                at = whitespace(bytes, at + 1);
                let end = if object { b'}' } else { b']' };
                if bytes.get(at) != Some(&end) {
                    if object {
                        let end = key(bytes, at)?;
                        at = end.at;
                        form = form.max(end.form);
                    }
                    continue;
                }
            }
            _ => at = scalar(bytes, at)?,
        }
        // It is complete: the next one follows, or its containers end.
        loop {
            at = whitespace(bytes, at);
            match bytes.get(at) {
                Some(b',') => {
                    at = whitespace(bytes, at + 1);
                    if object {
                        let end = key(bytes, at)?;
                        at = end.at;
                        form = form.max(end.form);
                    }
                    break;
                }
                Some(b'}') if object => {}
                Some(b']') if !object => {}
                _ => return Err(unexpected(bytes, at)),
            }
            at += 1;
            open = open.saturating_sub(1);
            if open == 0 {
                return Ok(End { at, form });
            }
            kinds >>= 1;
            object = kinds & 1 == 1;
        }
    }
}

/// Passes a key and its colon, up to the value.
#[inline(always)]
fn key(bytes: &[u8], from: usize) -> Result<End, Fault> {
    if bytes.get(from) != Some(&b'"') {
        return Err(unexpected(bytes, from));
    }
    let End { mut at, form } = string::pass(bytes, from)?;
    if bytes.get(at) != Some(&b':') {
        at = whitespace(bytes, at);
        if bytes.get(at) != Some(&b':') {
            return Err(unexpected(bytes, at));
        }
    }
    Ok(End {
        at: whitespace(bytes, at + 1),
        form,
    })
}

/// Passes a number, `true`, `false` or `null`.
#[inline]
fn scalar(bytes: &[u8], at: usize) -> Result<usize, Fault> {
    match bytes.get(at) {
        Some(b'-' | b'0'..=b'9') => number(bytes, at),
        Some(b't') => literal(bytes, at, b"true"),
        Some(b'f') => literal(bytes, at, b"false"),
        Some(b'n') => literal(bytes, at, b"null"),
        _ => Err(unexpected(bytes, at)),
    }
}

#[inline]
fn literal(bytes: &[u8], at: usize, literal: &[u8]) -> Result<usize, Fault> {
    let rest = bytes.get(at..).unwrap_or_default();
    if rest.starts_with(literal) {
        return Ok(at + literal.len());
    }
    let same = rest.iter().zip(literal).take_while(|(a, b)| a == b).count();
    Err(unexpected(bytes, at + same))
}

#[inline]
fn number(bytes: &[u8], start: usize) -> Result<usize, Fault> {
    let mut at = start;
    if bytes.get(at) == Some(&b'-') {
        at += 1;
    }
    if bytes.get(at) == Some(&b'0') {
        at += 1;
    } else {
        at = digits(bytes, at)?;
    }
    if bytes.get(at) == Some(&b'.') {
        at = digits(bytes, at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        at += 1;
        if let Some(b'+' | b'-') = bytes.get(at) {
            at += 1;
        }
        at = digits(bytes, at)?;
    }
    Ok(at)
}

/// Passes at least one digit.
#[inline(always)]
fn digits(bytes: &[u8], from: usize) -> Result<usize, Fault> {
    let mut at = from;
    while let Some(b'0'..=b'9') = bytes.get(at) {
        at += 1;
    }
    if at == from {
        return Err(unexpected(bytes, at));
    }
    Ok(at)
}
