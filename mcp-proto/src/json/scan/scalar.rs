//! Scans numbers, `true`, `false` and `null`.

use super::{Halt, unexpected};

/// Passes the scalar that the rest begins with and that is no string.
#[inline(always)]
pub(super) fn pass(rest: &[u8]) -> Result<&[u8], Halt> {
    match rest {
        // Most numbers are digits and nothing else.
        [b'1'..=b'9', behind @ ..] => match digits(behind) {
            rest @ [b'.' | b'e' | b'E', ..] => Ok(fraction(rest)?),
            rest => Ok(rest),
        },
        [b'-' | b'0', ..] => Ok(number(rest)?),
        [b't', behind @ ..] => literal(behind, b"rue"),
        [b'f', behind @ ..] => literal(behind, b"alse"),
        [b'n', behind @ ..] => literal(behind, b"ull"),
        _ => Err(unexpected(rest)),
    }
}

/// A number that begins with a sign or a zero.
fn number(rest: &[u8]) -> Result<&[u8], Halt> {
    let unsigned = match rest {
        [b'-', behind @ ..] => behind,
        _ => rest,
    };
    match unsigned {
        [b'0', behind @ ..] => fraction(behind),
        _ => fraction(some_digits(unsigned)?),
    }
}

/// Passes a fraction and an exponent, where they follow the integer part.
fn fraction(rest: &[u8]) -> Result<&[u8], Halt> {
    let rest = match rest {
        [b'.', behind @ ..] => some_digits(behind)?,
        _ => rest,
    };
    match rest {
        [b'e' | b'E', b'+' | b'-', behind @ ..] | [b'e' | b'E', behind @ ..] => some_digits(behind),
        _ => Ok(rest),
    }
}

fn some_digits(rest: &[u8]) -> Result<&[u8], Halt> {
    match rest {
        [b'0'..=b'9', behind @ ..] => Ok(digits(behind)),
        _ => Err(unexpected(rest)),
    }
}

#[inline(always)]
fn digits(rest: &[u8]) -> &[u8] {
    let mut rest = rest;
    while let [b'0'..=b'9', behind @ ..] = rest {
        rest = behind;
    }
    rest
}

/// Passes the letters of a literal after the first one.
#[inline(always)]
fn literal<'b, const N: usize>(rest: &'b [u8], letters: &[u8; N]) -> Result<&'b [u8], Halt> {
    match rest.split_first_chunk::<N>() {
        Some((found, behind)) if found == letters => Ok(behind),
        _ => Err(broken_literal(rest, letters)),
    }
}

#[cold]
fn broken_literal(rest: &[u8], letters: &[u8]) -> Halt {
    let common = rest.iter().zip(letters).take_while(|(a, b)| a == b);
    unexpected(rest.get(common.count()..).unwrap_or_default())
}
