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
    match notes {
        Some(notes) if N::ARE_TAKEN => walk(rest, depth, notes),
        _ => walk(rest, depth, &mut NoPlaces),
    }
}

/// Passes a container.
///
/// Keys and values go through the same lines: each line that looks into a string keeps half a
/// dozen constants in registers, and two of them would have to share.
#[inline(never)]
fn walk<'b, N: Notes>(rest: &'b [u8], depth: u8, notes: &mut N) -> Result<(&'b [u8], Form), Halt> {
    let len = rest.len();
    // The members of so many containers, from the outermost on, are noted.
    let mut noted = notes.begin(rest);
    let mut rest = rest;
    let mut form = Form::Plain;
    // The lowest bit is the innermost container: 1 for an object.
    let mut kinds: u128 = 0;
    let mut open: u8 = 0;
    // True if the next token is a key.
    let mut key = false;
    loop {
        if let [b'"', content @ ..] = rest {
            let (behind, found) = pass_string(content)?;
            form = form.max(found);
            if key {
                if open <= noted {
                    let name = content.len() - behind.len() - 1;
                    noted = notes.note(open, len - rest.len(), content, name);
                }
                rest = colon(behind)?;
                key = false;
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
                _ if key => return Err(unexpected(rest)),
                [byte @ (b'{' | b'['), inside @ ..] => {
                    if open == depth {
                        return Err(too_deep(rest));
                    }
                    open += 1;
                    kinds <<= 1;
                    key = *byte == b'{';
                    let end = if key { b'}' } else { b']' };
                    kinds |= u128::from(key);
                    rest = inside;
                    if let [0..=b' ', ..] = rest {
                        rest = blank(rest)?;
                    }
                    // An end is right here if it comes at once, and is passed below.
                    if rest.first() != Some(&end) {
                        continue;
                    }
                }
                _ => rest = scalar::pass(rest)?,
            }
        }
        // A value is complete: the next one follows, or its containers end.
        loop {
            if let [b',', behind @ ..] = rest {
                rest = behind;
                key = kinds & 1 == 1;
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
