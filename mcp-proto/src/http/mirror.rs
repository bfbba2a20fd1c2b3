//! Values of a message's body that are repeated in headers, so that intermediaries can route by
//! them: `Mcp-Name` and `Mcp-Param-*`.
//!
//! Text that a header could not carry unchanged travels as Base64 (RFC 4648, section 4) between
//! `=?base64?` and `?=` (XH-11 to XH-13).
//!
//! ```
//! use mcp_proto::http::mirror;
//! use mcp_proto::json::Raw;
//!
//! let zone = Raw::parse("\"ок\"".as_bytes(), 0)?;
//! let mut out = [0; 32];
//! let len = mirror::write(zone, &mut out)?.unwrap();
//! assert_eq!(&out[..len], b"=?base64?0L7Qug==?=");
//! assert!(mirror::matches(&out[..len], zone));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use core::fmt;

use base64::engine::general_purpose::STANDARD;
use base64::{DecodeSliceError, Engine as _};

use crate::BufferFull;
use crate::json::{Kind, Number, Raw, Str};
use crate::slice_writer::SliceWriter;

/// Reasons for which a value has no header text, or a header text no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MirrorError {
    /// The buffer was too small; nothing counts as written.
    BufferFull {
        /// The bytes that the text takes.
        needed: usize,
    },
    /// Only strings, integers and booleans are mirrored (XH-04).
    Kind,
    /// An integer beyond ±(2^53 − 1), which not every peer can read (XH-05).
    Range,
    /// A string with half a surrogate pair, which is no text.
    LoneSurrogate,
    /// Between the sentinels is no padded Base64 of UTF-8 text (XH-22).
    Base64,
}

impl From<BufferFull> for MirrorError {
    fn from(full: BufferFull) -> Self {
        Self::BufferFull {
            needed: full.needed,
        }
    }
}

impl fmt::Display for MirrorError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BufferFull { needed } => {
                write!(f, "the buffer is too small: {needed} bytes needed")
            }
            Self::Kind => f.write_str("only strings, integers and booleans can be mirrored"),
            Self::Range => f.write_str("the integer is not within the safe range"),
            Self::LoneSurrogate => f.write_str("the string holds half a surrogate pair"),
            Self::Base64 => f.write_str("the header value is not valid Base64 text"),
        }
    }
}

impl core::error::Error for MirrorError {}

/// Writes the header text of a value and returns its length; `None` for null, which has no
/// header (XH-09).
///
/// # Errors
///
/// [`MirrorError`] if the value cannot be mirrored, or `out` is too short.
pub fn write(value: Raw<'_>, out: &mut [u8]) -> Result<Option<usize>, MirrorError> {
    if value.is_null() {
        return Ok(None);
    }
    if let Some(string) = value.string() {
        return write_text(string, out).map(Some);
    }
    let mut text = SliceWriter::new(out);
    match (value.kind(), value.number()) {
        (Kind::Bool, _) => text.bytes(value.as_bytes()),
        (_, Some(number)) => text.bytes(safe(number)?.as_bytes()),
        _ => return Err(MirrorError::Kind),
    }
    Ok(Some(text.finish()?))
}

/// Writes the header text of a string and returns its length.
pub(crate) fn write_text(string: Str<'_>, out: &mut [u8]) -> Result<usize, MirrorError> {
    if !string.is_exact() {
        return Err(MirrorError::LoneSurrogate);
    }
    let mut text = SliceWriter::new(out);
    if is_plain(string) {
        match string.plain_bytes() {
            Some(plain) => text.bytes(plain),
            None => text.extend(bytes(string)),
        }
    } else {
        text.bytes(PREFIX);
        text.extend(digits(bytes(string)));
        text.bytes(SUFFIX);
    }
    Ok(text.finish()?)
}

/// Writes the header text of a number as the transports draft of spring 2026 has it: in decimal,
/// without an exponent (`1.5e3` is `1500`), whatever its size and its fraction; null has none.
///
/// # Errors
///
/// [`MirrorError::Kind`] for anything but numbers, [`MirrorError::Range`] for an exponent that no
/// double has, and [`MirrorError::BufferFull`].
pub fn write_number(value: Raw<'_>, out: &mut [u8]) -> Result<Option<usize>, MirrorError> {
    if value.is_null() {
        return Ok(None);
    }
    let number = value.number().ok_or(MirrorError::Kind)?;
    let mut text = SliceWriter::new(out);
    write_decimal(&mut text, number)?;
    Ok(Some(text.finish()?))
}

/// Returns true if the header text stands for the value of the body (XH-14): text is compared as
/// text, integers as numbers (`42` is `42.0`). White space around the text is not part of it (RFC
/// 9110, section 5.5).
///
/// `false` also for text that cannot be [decoded](decode), and for values without header.
pub fn matches(text: &[u8], value: Raw<'_>) -> bool {
    let text = text.trim_ascii();
    match (value.kind(), value.string(), value.number()) {
        (Kind::Bool, ..) => text == value.as_bytes(),
        (_, _, Some(number)) => Raw::parse(text, 0)
            .ok()
            .and_then(Raw::number)
            .is_some_and(|header| header.decimal() == number.decimal()),
        (_, Some(string), _) if string.is_exact() => match sealed(text) {
            // A text has one spelling in Base64.
            Some(sealed) => sealed.iter().copied().eq(digits(bytes(string))),
            None => string.is(text),
        },
        _ => false,
    }
}

/// Returns true if the header text is this text as it stands, without Base64.
pub(crate) fn is_text(text: &[u8], value: Str<'_>) -> bool {
    value.is_exact() && value.is(text)
}

/// The text that a header stands for, decoded into `out` if it is Base64.
///
/// # Errors
///
/// [`MirrorError::Base64`] for text that is neither plain nor valid Base64 of UTF-8, and
/// [`MirrorError::BufferFull`].
pub fn decode<'t>(text: &'t [u8], out: &'t mut [u8]) -> Result<&'t str, MirrorError> {
    let text = text.trim_ascii();
    let Some(sealed) = sealed(text) else {
        return core::str::from_utf8(text).map_err(|_| MirrorError::Base64);
    };
    let len = STANDARD
        .decode_slice(sealed, out)
        .map_err(|error| match error {
            DecodeSliceError::DecodeError(_) => MirrorError::Base64,
            DecodeSliceError::OutputSliceTooSmall => {
                let padding = sealed.iter().rev().take_while(|digit| **digit == b'=');
                let needed = (sealed.len() / 4 * 3).saturating_sub(padding.count());
                MirrorError::BufferFull { needed }
            }
        })?;
    let bytes = out.get(..len).unwrap_or_default();
    core::str::from_utf8(bytes).map_err(|_| MirrorError::Base64)
}

/// Returns the text between the sentinels, which are exact and in lower case; `None` for literal
/// text.
fn sealed(text: &[u8]) -> Option<&[u8]> {
    text.strip_prefix(PREFIX)?.strip_suffix(SUFFIX)
}

/// Returns true if a header carries the text unchanged, and it cannot be mistaken for Base64.
pub(crate) fn is_plain(text: Str<'_>) -> bool {
    if let Some(plain) = text.plain_bytes() {
        return is_plain_text(plain);
    }
    let edge = |byte: Option<u8>| byte == Some(b' ');
    let visible = |byte| matches!(byte, 0x20..=0x7e);
    let looks_sealed = bytes(text).take(PREFIX.len()).eq(PREFIX.iter().copied())
        && bytes(text)
            .skip(text.decoded_len().saturating_sub(SUFFIX.len()))
            .eq(SUFFIX.iter().copied());
    bytes(text).all(visible)
        && !edge(bytes(text).next())
        && !edge(bytes(text).last())
        && !looks_sealed
}

/// [`is_plain`] for text without escapes.
fn is_plain_text(text: &[u8]) -> bool {
    let looks_sealed = text.starts_with(PREFIX) && text.ends_with(SUFFIX);
    let has_edge = text.first() == Some(&b' ') || text.last() == Some(&b' ');
    text.iter().all(|byte| matches!(byte, 0x20..=0x7e)) && !has_edge && !looks_sealed
}

/// An integer as it is mirrored: what every peer reads as the same number.
fn safe(number: Number<'_>) -> Result<Number<'_>, MirrorError> {
    if !number.is_integer() {
        return Err(MirrorError::Kind);
    }
    match number.to_i64() {
        Some(value) if value.unsigned_abs() < 1 << 53 => Ok(number),
        _ => Err(MirrorError::Range),
    }
}

/// The decoded text of an exact string as UTF-8.
fn bytes(text: Str<'_>) -> impl Iterator<Item = u8> {
    text.chars().flat_map(|char| {
        let mut utf8 = [0; 4];
        let len = char.encode_utf8(&mut utf8).len();
        utf8.into_iter().take(len)
    })
}

/// The digits of bytes in Base64.
fn digits(mut bytes: impl Iterator<Item = u8>) -> impl Iterator<Item = u8> {
    let groups = core::iter::from_fn(move || {
        let (mut group, mut len) = ([0; 3], 0);
        for (place, byte) in group.iter_mut().zip(&mut bytes) {
            *place = byte;
            len += 1;
        }
        let mut digits = [0; 4];
        let written = STANDARD.encode_slice(group.get(..len)?, &mut digits);
        written.is_ok_and(|len| len > 0).then_some(digits)
    });
    groups.flatten()
}

/// Writes a number without its exponent: moves the point to where the exponent says.
fn write_decimal(out: &mut SliceWriter<'_>, number: Number<'_>) -> Result<(), MirrorError> {
    let text = number.as_str();
    let Some((mantissa, exponent)) = text.split_once(['e', 'E']) else {
        out.bytes(text.as_bytes());
        return Ok(());
    };
    let exponent: isize = exponent.parse().map_err(|_| MirrorError::Range)?;
    if exponent.unsigned_abs() > EXPONENT {
        return Err(MirrorError::Range);
    }
    let unsigned = mantissa.strip_prefix('-');
    out.extend(unsigned.map(|_| b'-'));
    let unsigned = unsigned.unwrap_or(mantissa);
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let (zero, digits) = (b'0', whole.bytes().chain(fraction.bytes()));
    let count = whole.len().saturating_add(fraction.len());
    match whole.len().checked_add_signed(exponent).unwrap_or(0) {
        0 => {
            let gap = exponent.unsigned_abs().saturating_sub(whole.len());
            out.bytes(b"0.");
            out.extend(core::iter::repeat_n(zero, gap));
            out.extend(digits);
        }
        point => {
            let filled = digits.chain(core::iter::repeat_n(zero, point.saturating_sub(count)));
            // Those before the last are no text of a number.
            let zeros = filled.clone().take(point.saturating_sub(1));
            let zeros = zeros.take_while(|digit| *digit == zero);
            let zeros = zeros.count();
            out.extend(filled.clone().take(point).skip(zeros));
            if point < count {
                out.bytes(b".");
                out.extend(filled.skip(point));
            }
        }
    }
    Ok(())
}

/// More than any double has, and as many bytes of a header.
const EXPONENT: usize = 400;
const PREFIX: &[u8] = b"=?base64?";
const SUFFIX: &[u8] = b"?=";

#[cfg(test)]
mod tests {
    use std::vec;

    use super::*;

    fn raw(json: &str) -> Raw<'_> {
        Raw::parse(json.as_bytes(), 8).unwrap()
    }

    /// A value, its header, and back; every buffer that is too small leaves with the exact need.
    #[track_caller]
    fn check(json: &str, header: &str) {
        let value = raw(json);
        for len in 0..header.len() {
            let needed = header.len();
            let short = write(value, &mut vec![0; len]);
            assert_eq!(short, Err(MirrorError::BufferFull { needed }));
        }
        let mut out = vec![0; header.len()];
        assert_eq!(write(value, &mut out), Ok(Some(header.len())));
        assert_eq!(core::str::from_utf8(&out), Ok(header));
        assert!(matches(&out, value));
        assert!(matches(std::format!(" {header}\t").as_bytes(), value));
        assert!(!matches(std::format!("{header}x").as_bytes(), value));
        if let Some(text) = value.string() {
            let mut scratch = vec![0; 64];
            let decoded = decode(header.as_bytes(), &mut scratch).unwrap();
            assert_eq!(text, decoded);
        }
    }

    /// XH-10, XH-11, XH-12, XH-23.
    #[test]
    fn values_and_their_headers() {
        check(r#""us-west1""#, "us-west1");
        check(r#""us west 1""#, "us west 1");
        check(r#"" us-west1""#, "=?base64?IHVzLXdlc3Qx?=");
        check(r#""us-west1 ""#, "=?base64?dXMtd2VzdDEg?=");
        check(r#"" padded ""#, "=?base64?IHBhZGRlZCA=?=");
        check(r#""\tindented""#, "=?base64?CWluZGVudGVk?=");
        check(r#""line1\nline2""#, "=?base64?bGluZTEKbGluZTI=?=");
        check(r#""line1\r\nline2""#, "=?base64?bGluZTENCmxpbmUy?=");
        check("\"Hello, 世界\"", "=?base64?SGVsbG8sIOS4lueVjA==?=");
        check("\"日本語\"", "=?base64?5pel5pys6Kqe?=");
        check(r#""\u65e5\u672c\u8a9e""#, "=?base64?5pel5pys6Kqe?=");
        check(
            r#""=?base64?literal?=""#,
            "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=",
        );
        check(r#""""#, "");
        check("42", "42");
        check("-7", "-7");
        check("true", "true");
        check("false", "false");
        check(r#""file:///a/b%20c.txt""#, "file:///a/b%20c.txt");
    }

    /// XH-05.
    #[test]
    fn what_is_not_mirrored() {
        let write = |json| write(raw(json), &mut [0; 64]);
        assert_eq!(write("null"), Ok(None));
        assert_eq!(write("1.5"), Err(MirrorError::Kind));
        assert_eq!(write("[]"), Err(MirrorError::Kind));
        assert_eq!(write("9007199254740991"), Ok(Some(16)));
        assert_eq!(write("9007199254740992"), Err(MirrorError::Range));
        assert_eq!(write("-9007199254740992"), Err(MirrorError::Range));
        assert_eq!(write(r#""\ud83d""#), Err(MirrorError::LoneSurrogate));
    }

    /// Every buffer that is too small leaves with the exact need here, too.
    #[test]
    fn numbers_in_decimal() {
        let check = |json: &str, header: &str| {
            let value = raw(json);
            for len in 0..header.len() {
                let needed = header.len();
                let short = write_number(value, &mut vec![0; len]);
                assert_eq!(short, Err(MirrorError::BufferFull { needed }), "{json}");
            }
            let mut out = vec![0; header.len()];
            assert_eq!(write_number(value, &mut out), Ok(Some(header.len())));
            assert_eq!(core::str::from_utf8(&out).unwrap(), header);
            assert!(matches(&out, value), "{json}");
        };
        check("42", "42");
        check("-7", "-7");
        check("1.5", "1.5");
        check("-0.25", "-0.25");
        check("9007199254740993", "9007199254740993");
        check("1e3", "1000");
        check("1.5e3", "1500");
        check("-1.25E+1", "-12.5");
        check("1.50e1", "15.0");
        check("0.5e1", "5");
        check("0.05e1", "0.5");
        check("0e5", "0");
        check("-0e-2", "-0.00");
        check("5e-1", "0.5");
        check("12e-2", "0.12");
        check("12e-5", "0.00012");
        check("1e-3", "0.001");
        check("1e21", "1000000000000000000000");
        check("3e0", "3");
        assert_eq!(write_number(raw("1e400"), &mut [0; 500]), Ok(Some(401)));
        for far in ["1e401", "1e-401", "1e99999999999999999999"] {
            assert_eq!(
                write_number(raw(far), &mut [0; 500]),
                Err(MirrorError::Range)
            );
        }
        for other in ["true", r#""1""#, "[]"] {
            assert_eq!(
                write_number(raw(other), &mut [0; 8]),
                Err(MirrorError::Kind)
            );
        }
        assert_eq!(write_number(raw("null"), &mut []), Ok(None));
    }

    /// XH-13, XH-22.
    #[test]
    fn headers_and_what_they_say() {
        let decode =
            |text: &str| decode(text.as_bytes(), &mut [0; 64]).map(std::string::String::from);
        assert_eq!(decode("=?base64?SGVsbG8=?=").as_deref(), Ok("Hello"));
        assert_eq!(decode("=?base64??=").as_deref(), Ok(""));
        for (text, needed) in [("SGVsbG8=", 5), ("SGVsbA==", 4), ("SGVsbG8h", 6)] {
            let text = std::format!("=?base64?{text}?=");
            for len in 0..needed {
                let short = super::decode(text.as_bytes(), &mut vec![0; len]).map(drop);
                assert_eq!(short, Err(MirrorError::BufferFull { needed }));
            }
            assert!(super::decode(text.as_bytes(), &mut vec![0; needed]).is_ok());
        }
        // Padding that is missing, foreign characters, padding in the middle, spare bits.
        for broken in [
            "SGVsbG8",
            "SGVs!!!bG8=",
            "SGU=SGU=",
            "SGVsbG9=",
            "====",
            "/w==",
        ] {
            let text = std::format!("=?base64?{broken}?=");
            assert_eq!(decode(&text), Err(MirrorError::Base64), "{broken}");
        }
        // Neither sentinel nor prefix alone, nor another case.
        for literal in ["SGVsbG8=", "=?base64?SGVsbG8=", "=?BASE64?SGVsbG8=?="] {
            assert_eq!(decode(literal).as_deref(), Ok(literal));
        }
    }

    #[test]
    fn numbers_are_compared_as_numbers_and_names_as_they_are() {
        assert!(matches(b"42", raw("42.0")));
        assert!(matches(b"42.0", raw("42")));
        assert!(!matches(b"43", raw("42")));
        assert!(!matches(b"42", raw("\"43\"")));
        assert!(!matches(b"TRUE", raw("true")));
        assert!(!matches(b"", raw("null")));
        assert!(!matches(b"TOOLS/CALL", raw("\"tools/call\"")));
        assert!(matches(b"=?base64??=", raw("\"\"")));
    }
}
