//! The scanner: checks a text in one pass.

mod container;
mod scalar;

use super::places::NoPlaces;
use super::string::Form;
use super::{Fault, FaultKind, MAX_DEPTH, MemberPlaces, Notes, Raw, Str, string, words};

/// A position in a text, and the rules for moving on.
///
/// It checks grammar, UTF-8 and depth in the same pass, keeps its stack in a `u128` and stops
/// at the first fault. A reader that knows the shape of its text drives it token by token; what
/// it does not care about is one call of [`value`](Self::value).
///
/// Everything below works on the rest of the text, a slice that becomes shorter: its length is
/// the only bound that has to be checked, and once for a token.
#[derive(Clone, Debug)]
pub(crate) struct Scanner<'b> {
    rest: &'b [u8],
    /// The length of the whole text, at least that of the rest.
    len: usize,
    /// Containers that may still be opened.
    depth: u8,
}

impl<'b> Raw<'b> {
    /// Checks a whole text: grammar (RFC 8259), UTF-8, and that containers nest at most `depth`
    /// deep ([`MAX_DEPTH`](super::MAX_DEPTH) at the most). Whitespace may stand around the
    /// value.
    ///
    /// Duplicate keys are no fault here; [`Object::find`](super::Object::find) refuses them where they matter.
    ///
    /// # Errors
    ///
    /// The first [`Fault`]. A byte order mark is one.
    pub fn parse(text: &'b [u8], depth: u8) -> Result<Self, Fault> {
        let mut scanner = Scanner::new(text, depth);
        let raw = scanner.value()?;
        scanner.end()?;
        Ok(raw)
    }
}

impl<'b> Scanner<'b> {
    /// Begins at the first byte. A depth of 0 allows no container.
    #[inline]
    pub(crate) const fn new(bytes: &'b [u8], depth: u8) -> Self {
        Self {
            rest: bytes,
            len: bytes.len(),
            depth: if depth < MAX_DEPTH { depth } else { MAX_DEPTH },
        }
    }

    /// The offset of the next byte.
    #[inline]
    pub(crate) const fn position(&self) -> usize {
        self.len - self.rest.len()
    }

    /// The next byte, whitespace included.
    #[inline(always)]
    pub(crate) const fn peek(&self) -> Option<u8> {
        match self.rest {
            [byte, ..] => Some(*byte),
            [] => None,
        }
    }

    /// Moves to the next byte that is no whitespace.
    #[inline(always)]
    pub(crate) fn skip_whitespace(&mut self) {
        self.rest = whitespace(self.rest);
    }

    /// Takes the opening brace of an object, which counts for the depth of what is inside.
    ///
    /// The members follow: [`next_key`](Self::next_key), then one value, until there is no key.
    #[inline(always)]
    pub(crate) fn open_object(&mut self) -> Result<(), Fault> {
        self.open(b'{')
    }

    /// Takes an object's opening brace and first bytes, if they are exactly these.
    #[inline(always)]
    pub(crate) fn open_object_with<const N: usize>(&mut self, bytes: &[u8; N]) -> bool {
        debug_assert!(bytes.first() == Some(&b'{'));
        let open = self.depth > 0 && self.take(bytes);
        self.depth = self.depth.saturating_sub(u8::from(open));
        open
    }

    /// Takes the opening bracket of an array, which counts for the depth of what is inside.
    #[inline]
    pub(crate) fn open_array(&mut self) -> Result<(), Fault> {
        self.open(b'[')
    }

    /// Takes exactly these bytes, if they come next.
    ///
    /// A reader that knows what most texts say at a place asks for that first.
    #[inline(always)]
    pub(crate) fn take<const N: usize>(&mut self, bytes: &[u8; N]) -> bool {
        self.take_at(self.rest, bytes)
    }

    /// Takes the start of the next member, if it is exactly this one; with the comma before it,
    /// but for the first member.
    #[inline(always)]
    pub(crate) fn take_member<const N: usize>(&mut self, first: bool, bytes: &[u8; N]) -> bool {
        match self.rest {
            rest if first => self.take_at(rest, bytes),
            [b',', rest @ ..] => self.take_at(rest, bytes),
            _ => false,
        }
    }

    #[inline(always)]
    fn take_at<const N: usize>(&mut self, rest: &'b [u8], bytes: &[u8; N]) -> bool {
        match rest.split_first_chunk::<N>() {
            Some((found, rest)) if words::equal(found, bytes) => {
                self.rest = rest;
                true
            }
            _ => false,
        }
    }

    /// The key of the next member of an opened object, with its colon taken and the position at
    /// its value; `None` after the closing brace. `first` tells that no member was read yet.
    #[inline(always)]
    pub(crate) fn next_key(&mut self, first: bool) -> Result<Option<Str<'b>>, Fault> {
        self.skip_whitespace();
        match self.rest {
            [b'}', rest @ ..] => {
                self.close(rest);
                return Ok(None);
            }
            [b',', rest @ ..] if !first => self.rest = whitespace(rest),
            _ if first => {}
            _ => return Err(self.unexpected()),
        }
        let key = self.string()?;
        self.rest = container::colon(self.rest).map_err(|end| self.placed(end))?;
        Ok(Some(key))
    }

    /// Returns true, with the position at the element, if the opened array has another element;
    /// `first` states that none was read yet.
    #[inline]
    pub(crate) fn next_element(&mut self, first: bool) -> Result<bool, Fault> {
        self.skip_whitespace();
        match self.rest {
            [b']', rest @ ..] => {
                self.close(rest);
                Ok(false)
            }
            [_, ..] if first => Ok(true),
            [b',', rest @ ..] => {
                self.rest = whitespace(rest);
                Ok(true)
            }
            _ => Err(self.unexpected()),
        }
    }

    /// Takes one string; the position is at its quote.
    #[inline(always)]
    pub(crate) fn string(&mut self) -> Result<Str<'b>, Fault> {
        let [b'"', content @ ..] = self.rest else {
            return Err(self.unexpected());
        };
        let (rest, form) = pass_string(content).map_err(|end| self.placed(end))?;
        self.rest = rest;
        let len = (content.len() - rest.len()).saturating_sub(1);
        Ok(Str::scanned(content.get(..len).unwrap_or_default(), form))
    }

    /// Takes one value of any kind, with whitespace before it allowed.
    #[inline(never)]
    pub(crate) fn value(&mut self) -> Result<Raw<'b>, Fault> {
        self.value_in_place::<NoPlaces>(None)
    }

    /// As [`value`](Self::value); the members of an object are noted in `places`.
    #[inline]
    pub(crate) fn noted_value(
        &mut self,
        places: Option<&mut MemberPlaces>,
    ) -> Result<Raw<'b>, Fault> {
        match places {
            Some(places) if MemberPlaces::IS_NOTED => self.value_in_place(Some(places)),
            _ => self.value(),
        }
    }

    /// As [`value`](Self::value), inlined for the one caller that has to be fast, at the price of
    /// its size. The members of an object are noted.
    #[cfg_attr(feature = "alloc", inline(always))]
    #[cfg_attr(not(feature = "alloc"), inline(never))]
    pub(crate) fn value_in_place<N: Notes>(
        &mut self,
        notes: Option<&mut N>,
    ) -> Result<Raw<'b>, Fault> {
        if let [0..=b' ', ..] = self.rest {
            self.skip_whitespace();
        }
        let start = self.rest;
        // Taken apart and put together: what comes from out of line would otherwise keep its
        // place in memory for all of them.
        let passed = match start {
            [b'"', content @ ..] => pass_string(content),
            [b'{' | b'[', ..] => match container::pass(start, self.depth, notes) {
                Ok((rest, form)) => Ok((rest, form)),
                Err(halt) => Err(halt),
            },
            _ => match scalar::pass(start) {
                Ok(rest) => Ok((rest, Form::Plain)),
                Err(halt) => Err(halt),
            },
        };
        let (rest, form) = match passed {
            Ok((rest, form)) => (rest, form),
            Err(halt) => return Err(self.placed(halt)),
        };
        self.rest = rest;
        let len = start.len().saturating_sub(rest.len());
        Ok(Raw::scanned(start.get(..len).unwrap_or_default(), form))
    }

    /// Checks that nothing but whitespace is left.
    #[inline(always)]
    pub(crate) fn end(&mut self) -> Result<(), Fault> {
        self.skip_whitespace();
        match self.rest {
            [] => Ok(()),
            _ => Err(self.fault(FaultKind::Trailing)),
        }
    }

    #[inline(always)]
    fn open(&mut self, bracket: u8) -> Result<(), Fault> {
        self.skip_whitespace();
        let Some((_, rest)) = self
            .rest
            .split_first()
            .filter(|(byte, _)| **byte == bracket)
        else {
            return Err(self.unexpected());
        };
        let Some(left) = self.depth.checked_sub(1) else {
            return Err(self.fault(FaultKind::Depth));
        };
        self.depth = left;
        self.rest = rest;
        Ok(())
    }

    #[inline]
    const fn close(&mut self, rest: &'b [u8]) {
        self.depth = self.depth.saturating_add(1);
        self.rest = rest;
    }

    #[cold]
    fn unexpected(&self) -> Fault {
        self.placed(unexpected(self.rest))
    }

    #[cold]
    const fn fault(&self, kind: FaultKind) -> Fault {
        self.placed(Halt {
            kind,
            left: self.rest.len(),
        })
    }

    /// Counts from the start of the text what was counted from its end.
    #[cold]
    const fn placed(&self, halt: Halt) -> Fault {
        Fault {
            kind: halt.kind,
            at: self.len.saturating_sub(halt.left),
        }
    }
}

/// A fault, seen from the end of the text.
#[derive(Clone, Copy, Debug)]
struct Halt {
    kind: FaultKind,
    /// The bytes from the fault on.
    left: usize,
}

/// Passes the string whose content the rest begins with, and its closing quote.
///
/// Names and most values of small messages are plain and end within a few words: these are dealt
/// with in the place of the call, everything else out of line.
#[inline(always)]
fn pass_string(content: &[u8]) -> Result<(&[u8], Form), Halt> {
    let mut rest = content;
    for _ in 0..words::LOOK {
        let Some((word, behind)) = words::split(rest) else {
            break;
        };
        let stops = words::stops(word);
        if stops != 0 {
            match rest.get(words::first(stops)..) {
                Some([b'"', behind @ ..]) => return Ok((behind, Form::Plain)),
                _ => break,
            }
        }
        rest = behind;
    }
    let (rest, form) = pass_any_string(content)?;
    Ok((rest, form))
}

#[inline(never)]
fn pass_any_string(content: &[u8]) -> Result<(&[u8], Form), Halt> {
    match string::pass(content, 0) {
        Ok(end) => Ok((content.get(end.at..).unwrap_or_default(), end.form)),
        Err(fault) => Err(Halt {
            kind: fault.kind,
            left: content.len().saturating_sub(fault.at),
        }),
    }
}

/// The rest from the first byte on that is no whitespace.
#[inline(always)]
fn whitespace(rest: &[u8]) -> &[u8] {
    // Most messages have none, or a single space.
    let mut rest = rest;
    while let [b' ' | b'\n' | b'\r' | b'\t', behind @ ..] = rest {
        rest = behind;
    }
    rest
}

/// The fault of a byte that cannot stand here, or of no byte at all.
#[cold]
const fn unexpected(rest: &[u8]) -> Halt {
    Halt {
        kind: if rest.is_empty() {
            FaultKind::Incomplete
        } else {
            FaultKind::Syntax
        },
        left: rest.len(),
    }
}
