//! Scans strings.

use super::{Fault, FaultKind, utf8, words};

/// The form of a string's bytes, by which they are read; of two forms the greater covers both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
// As wide as a word: a byte with padding behind it is copied in two parts that overlap, and the next
// copy has to wait until both are in the cache.
#[repr(usize)]
pub(super) enum Form {
    /// Checked JSON without an escape: its own decoding.
    Plain,
    /// Checked JSON with escapes.
    Escaped,
    /// Checked JSON with half a surrogate pair.
    Lone,
    /// Text of ours, which may need escaping when it is written.
    Ours,
}

/// The end of a token, and the form of the strings in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct End {
    /// The offset after the token.
    pub(super) at: usize,
    pub(super) form: Form,
}

/// Passes the string whose content begins at `from`, up to and with its closing quote.
pub(super) fn pass(bytes: &[u8], from: usize) -> Result<End, Fault> {
    let mut at = from;
    let mut form = Form::Plain;
    let mut foreign = 0u32;
    loop {
        at = next_stop(bytes, at);
        // Escapes often stand side by side, and so do characters beyond ASCII.
        loop {
            match bytes.get(at) {
                Some(b'"') => return Ok(End { at: at + 1, form }),
                Some(b'\\') => {
                    let escape = pass_escape(bytes, at)?;
                    at = escape.at;
                    form = form.max(escape.form);
                }
                Some(0x80..) => {
                    // A word or two in another script: character by character.
                    foreign = foreign.saturating_add(1);
                    at = if foreign < OFTEN || !words::HAS_BLOCKS {
                        pass_beyond_ascii(bytes, at)?
                    } else {
                        pass_foreign(bytes, at)?
                    };
                }
                Some(0x20..) => break,
                _ => return Err(unexpected(bytes, at)),
            }
        }
    }
}

/// The words that are looked at before anything else is tried.
const LOOK: usize = 2;

/// The offset of the next byte that is not plain ASCII, at the latest the end.
#[inline]
fn next_stop(bytes: &[u8], from: usize) -> usize {
    let mut at = from;
    for _ in 0..LOOK {
        let stops = words::stops(words::word_or_end(bytes, at));
        if stops != 0 {
            return at + words::first(stops);
        }
        at += 8;
    }
    if words::HAS_BLOCKS && is_plain::<32>(bytes, at) {
        at += 32;
        while is_plain::<64>(bytes, at) {
            at += 64;
        }
        if is_plain::<32>(bytes, at) {
            at += 32;
        }
    }
    loop {
        let stops = words::stops(words::word_or_end(bytes, at));
        if stops != 0 {
            return at + words::first(stops);
        }
        at += 8;
    }
}

/// Returns true if the string continues through a whole block, in plain ASCII. A loop that asks for
/// nothing else becomes vector code.
#[inline(always)]
fn is_plain<const N: usize>(bytes: &[u8], at: usize) -> bool {
    let Some(block) = bytes.get(at..).and_then(<[u8]>::first_chunk::<N>) else {
        return false;
    };
    let mut stop = false;
    for byte in block {
        // As signed bytes, those beyond ASCII are below the control characters.
        stop |= (((byte ^ 2) as i8) < 0x21) | (*byte == b'\\');
    }
    !stop
}

/// Passes text that is mostly beyond ASCII; the character at `from` is.
#[inline(never)]
fn pass_beyond_ascii(bytes: &[u8], from: usize) -> Result<usize, Fault> {
    let mut at = from;
    let near = from.saturating_add(SINGLE);
    while let Some(0x80..) = bytes.get(at) {
        if words::HAS_BLOCKS && at > near {
            return pass_foreign(bytes, at);
        }
        let Some(end) = utf8::char_end(bytes, at) else {
            return Err(fault(FaultKind::Utf8, at));
        };
        at = end;
    }
    Ok(at)
}

/// The number of times that a string leaves ASCII before it is checked in blocks.
const OFTEN: u32 = 4;

/// The bytes beyond ASCII that are checked character by character.
const SINGLE: usize = 24;

/// Passes long text, mostly beyond ASCII, up to the quote, backslash, control character or end of the bytes.
fn pass_foreign(bytes: &[u8], from: usize) -> Result<usize, Fault> {
    let mut at = from;
    loop {
        at = utf8::boundary(bytes, utf8::pass(bytes, at));
        // There is less than a block left, or something rare or wrong in one: by character.
        let end = at.saturating_add(words::BLOCK);
        while at < end {
            at = match bytes.get(at) {
                Some(0x80..) => {
                    utf8::char_end(bytes, at).ok_or_else(|| fault(FaultKind::Utf8, at))?
                }
                None | Some(b'"' | b'\\' | ..0x20) => return Ok(at),
                Some(_) => at + 1,
            };
        }
    }
}

/// Passes the escape whose backslash is at `at`; a surrogate pair counts as one.
#[inline]
fn pass_escape(bytes: &[u8], at: usize) -> Result<End, Fault> {
    let escaped = |at| {
        Ok(End {
            at,
            form: Form::Escaped,
        })
    };
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => escaped(at + 2),
        Some(b'u') => match unit(bytes, at + 2)? {
            Unit::Other => escaped(at + 6),
            Unit::High => {
                // Half a pair is grammar too (RFC 8259, section 8.2), so a pair that does not
                // come is no fault: what follows is read as what it is.
                if let Some([b'\\', b'u', ..]) = bytes.get(at + 6..)
                    && let Unit::Low = unit(bytes, at + 8)?
                {
                    return escaped(at + 12);
                }
                Ok(End {
                    at: at + 6,
                    form: Form::Lone,
                })
            }
            Unit::Low => Ok(End {
                at: at + 6,
                form: Form::Lone,
            }),
        },
        _ => Err(unexpected(bytes, at + 1)),
    }
}

/// The kind of UTF-16 code unit that four digits stand for.
enum Unit {
    High,
    Low,
    Other,
}

/// Reads the four digits at `at`.
#[inline]
fn unit(bytes: &[u8], at: usize) -> Result<Unit, Fault> {
    let Some(digits) = bytes.get(at..).and_then(<[u8]>::first_chunk::<4>) else {
        return Err(not_hex(bytes, at));
    };
    let [first, second, third, fourth] = digits.map(|digit| HEX[usize::from(digit)]);
    if (first | second | third | fourth) > 0x0F {
        return Err(not_hex(bytes, at));
    }
    Ok(match (first, second) {
        (0xD, 0x8..=0xB) => Unit::High,
        (0xD, 0xC..) => Unit::Low,
        _ => Unit::Other,
    })
}

/// The values of digits; 0xFF for what is none.
static HEX: [u8; 256] = {
    let mut table = [0xFF; 256];
    let mut value = 0;
    while value < 16 {
        let digit = b"0123456789abcdef"[value];
        table[digit as usize] = value as u8;
        table[digit.to_ascii_uppercase() as usize] = value as u8;
        value += 1;
    }
    table
};

/// The fault of the first byte from `at` on that is no digit.
#[cold]
fn not_hex(bytes: &[u8], at: usize) -> Fault {
    let digits = bytes.get(at..).unwrap_or_default();
    let count = digits
        .iter()
        .take_while(|byte| byte.is_ascii_hexdigit())
        .count();
    unexpected(bytes, at + count)
}

/// The fault of a byte that cannot stand here, or of no byte at all.
#[cold]
fn unexpected(bytes: &[u8], at: usize) -> Fault {
    match bytes.get(at) {
        Some(_) => fault(FaultKind::Syntax, at),
        None => fault(FaultKind::Incomplete, bytes.len()),
    }
}

#[cold]
const fn fault(kind: FaultKind, at: usize) -> Fault {
    Fault { kind, at }
}
