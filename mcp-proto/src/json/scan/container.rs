//! Scans objects and arrays without recursion.

use super::super::places::NoPlaces;
use super::super::string::Form;
use super::super::{FaultKind, Notes};
use super::{Halt, pass_string, scalar, unexpected, whitespace};

/// Passes the container that the rest begins with; `depth` of them may be open at a time. Members of
/// an object are noted.
#[inline(always)]
pub(super) fn pass<'b, N: Notes>(
    rest: &'b [u8],
    depth: u8,
    notes: Option<&mut N>,
) -> Result<(&'b [u8], Form), Halt> {
    let passed = match notes {
        Some(notes) if N::ARE_TAKEN => pass_noting(rest, depth, notes),
        _ => pass_noting(rest, depth, &mut NoPlaces),
    };
    let left = passed.left;
    match passed.end {
        Ok(form) => {
            let at = rest.len().saturating_sub(left);
            Ok((rest.get(at..).unwrap_or_default(), form))
        }
        Err(kind) => Err(Halt { kind, left }),
    }
}

/// The end of the scan of a container.
// A number and no slice: the loop has no register to spare for a pointer that it does not need.
struct Passed {
    /// The number of bytes that are left.
    left: usize,
    end: Result<Form, FaultKind>,
}

/// Passes a container, in a function of its own for each kind of notes.
#[inline(never)]
fn pass_noting<N: Notes>(rest: &[u8], depth: u8, notes: &mut N) -> Passed {
    match walk(rest, depth, notes) {
        Ok((rest, form)) => Passed {
            left: rest.len(),
            end: Ok(form),
        },
        Err(Halt { kind, left }) => Passed {
            left,
            end: Err(kind),
        },
    }
}

/// The next token is a key.
const KEY: u8 = 1;
/// The next token is the first of its container, or the end of an empty one.
const FIRST: u8 = 2;

/// Passes a container.
///
/// Keys and values go through the same lines: each line that looks into a string keeps half a
/// dozen constants in registers, and two of them would have to share.
#[inline(always)]
fn walk<'b, N: Notes>(rest: &'b [u8], depth: u8, notes: &mut N) -> Result<(&'b [u8], Form), Halt> {
    let len = rest.len();
    // The members of so many containers, from the outermost on, are noted.
    let mut noted = notes.begin(rest);
    let mut rest = rest;
    let mut form = Form::Plain;
    // The lowest bit is the innermost container: 1 for an object.
    let mut kinds: u128 = 0;
    let mut open: u8 = 0;
    // Bits of `KEY` and `FIRST`.
    let mut next = 0;
    loop {
        if let [b'"', content @ ..] = rest {
            let (behind, found) = pass_string(content)?;
            form = form.max(found);
            if next & KEY != 0 {
                let at = len - rest.len();
                rest = colon(behind)?;
                next = 0;
                if open > noted {
                    continue;
                }
                let name = content.len() - behind.len() - 1;
                noted = notes.note(open, at, content, name);
                let is_meta = open == 1 && noted == 2;
                match is_meta.then(|| notes.pass_meta(rest, len - rest.len())) {
                    Some(Some(behind)) => rest = behind,
                    _ => continue,
                }
            } else {
                rest = behind;
            }
        } else {
            match rest {
                [0..=b' ', ..] => {
                    rest = blank(rest)?;
                    continue;
                }
                [byte @ (b'{' | b'['), inside @ ..] if next & KEY == 0 => {
                    if open == depth {
                        return Err(too_deep(rest));
                    }
                    open += 1;
                    let is_object = u8::from(*byte == b'{');
                    kinds = kinds << 1 | u128::from(is_object);
                    next = FIRST | is_object;
                    rest = inside;
                    continue;
                }
                // The end of an empty container is passed below.
                [b'}' | b']', ..] if next & FIRST != 0 => {}
                _ if next & KEY != 0 => return Err(unexpected(rest)),
                _ => rest = scalar::pass(rest)?,
            }
        }
        // A value is complete: the next one follows, or its containers end.
        loop {
            if let [b',', behind @ ..] = rest {
                rest = behind;
                next = kinds as u8 & KEY;
                break;
            }
            match rest {
                [b'}', behind @ ..] if kinds & 1 == 1 => rest = behind,
                [b']', behind @ ..] if kinds & 1 == 0 => rest = behind,
                [0..=b' ', ..] => {
                    rest = blank(rest)?;
                    continue;
                }
                _ => return Err(unexpected(rest)),
            }
            open = open.saturating_sub(1);
            if open == 0 {
                return Ok((rest, form));
            }
            kinds >>= 1;
        }
    }
}

/// Passes a colon, with whitespace before it allowed.
#[inline(always)]
pub(super) fn colon(rest: &[u8]) -> Result<&[u8], Halt> {
    match rest {
        [b':', rest @ ..] => Ok(rest),
        _ => match whitespace(rest) {
            [b':', rest @ ..] => Ok(rest),
            rest => Err(unexpected(rest)),
        },
    }
}

/// Passes whitespace; at least one byte of it has to be there.
// Kept out of the loops above: one comparison there tells that there is none.
#[inline(never)]
pub(super) fn blank(rest: &[u8]) -> Result<&[u8], Halt> {
    match rest {
        [b' ' | b'\n' | b'\r' | b'\t', behind @ ..] => Ok(whitespace(behind)),
        _ => Err(unexpected(rest)),
    }
}

#[cold]
const fn too_deep(rest: &[u8]) -> Halt {
    Halt {
        kind: FaultKind::Depth,
        left: rest.len(),
    }
}
