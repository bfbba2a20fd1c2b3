//! Writes JSON into a slice of the caller.

use core::fmt;

use super::field_notes::{FieldNotes, Fields};
use super::float::{self, Parts};
use super::member_watch::MemberWatch;
use super::string::Form;
use super::{Raw, Str, utf8, words};
use crate::slice_writer::decimal_digits;
use crate::{BufferFull, store};

/// Writes JSON into a slice; past the end of the slice it continues to count.
///
/// So one run gives either the bytes or the number that they take. After a run over a slice that
/// was too short, the content of the slice means nothing.
///
/// ```
/// use mcp_proto::{BufferFull, json::Writer};
///
/// let mut out = [0; 16];
/// let mut writer = Writer::new(&mut out);
/// writer.literal("{\"text\":");
/// writer.string("a\nb");
/// writer.literal("}");
/// assert_eq!(writer.finish(), Ok(15));
/// assert_eq!(&out[..15], br#"{"text":"a\nb"}"#);
///
/// let mut writer = Writer::new(&mut out[..2]);
/// writer.unsigned(1000);
/// assert_eq!(writer.finish(), Err(BufferFull { needed: 4 }));
/// ```
#[derive(Debug)]
pub struct Writer<'o> {
    out: &'o mut [u8],
    /// The bytes that were asked for so far; beyond `out.len()` they were only counted.
    len: usize,
    /// The watch that reads the bytes which are only counted.
    watch: Option<&'o mut MemberWatch>,
    /// The members of the struct that was written last.
    notes: FieldNotes,
}

impl<'o> Writer<'o> {
    /// Writes from the start of `out`.
    #[inline]
    pub const fn new(out: &'o mut [u8]) -> Self {
        Self {
            out,
            len: 0,
            watch: None,
            notes: FieldNotes::new(&[]),
        }
    }

    /// Writes nothing and counts.
    #[inline]
    pub const fn counting() -> Writer<'static> {
        Writer::new(&mut [])
    }

    /// Writes nothing, counts, and lets `watch` read.
    pub(crate) const fn watching(watch: &'o mut MemberWatch) -> Self {
        Self {
            watch: Some(watch),
            ..Self::new(&mut [])
        }
    }

    /// The bytes written or counted so far.
    #[inline]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Returns true if nothing was written or counted yet.
    #[inline]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of bytes written.
    ///
    /// # Errors
    ///
    /// [`BufferFull`] with that number if the slice is shorter.
    #[inline]
    pub const fn finish(self) -> Result<usize, BufferFull> {
        if self.len <= self.out.len() {
            Ok(self.len)
        } else {
            Err(BufferFull { needed: self.len })
        }
    }

    /// Punctuation, keys and tokens, as they are. The caller sees to it that they are JSON.
    #[inline]
    pub fn literal(&mut self, json: &str) {
        self.bytes(json.as_bytes());
    }

    /// Takes back what was written after the first `len` bytes.
    pub(crate) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }

    /// Notes which of these members the next struct has that is serialized as a whole.
    #[inline]
    pub(crate) const fn note_fields(&mut self, names: &'static [&'static str]) {
        self.notes = FieldNotes::new(names);
    }

    /// The members that were noted of the value which lies there, if it is such a struct.
    #[inline]
    pub(crate) fn noted_fields(&self, start: usize, end: usize) -> Option<Fields> {
        self.notes.of(start, end)
    }

    /// A struct begins that is a value as a whole.
    #[inline]
    pub(super) fn begin_struct(&mut self) {
        self.notes.begin(self.len);
    }

    /// The struct has this member.
    #[inline]
    pub(super) fn note_field(&mut self, name: &str) {
        self.notes.note(name);
    }

    /// The struct ends.
    #[inline]
    pub(super) fn end_struct(&mut self) {
        self.notes.finish(self.len);
    }

    /// A value as it came, except that line breaks between its tokens become spaces: a message
    /// on a line-framed pipe holds none (ST-02).
    pub fn raw(&mut self, raw: Raw<'_>) {
        self.checked(raw.as_bytes());
    }

    /// The bytes of a value that was checked; see [`raw`](Self::raw).
    pub(super) fn checked(&mut self, json: &[u8]) {
        let start = self.len;
        self.bytes(json);
        let Some(written) = self.out.get_mut(start..self.len) else {
            return;
        };
        // Strings hold no control characters, so every line break is between tokens. Each byte is
        // written, so that the loop becomes vector code.
        for byte in written {
            *byte = match *byte {
                b'\n' | b'\r' => b' ',
                other => other,
            };
        }
    }

    /// A string with its quotes, escaped where it must be.
    pub fn string(&mut self, text: &str) {
        self.joined(&[text]);
    }

    /// Texts as one string.
    pub(crate) fn joined(&mut self, texts: &[&str]) {
        self.byte(b'"');
        for text in texts {
            self.escaped(text.as_bytes());
        }
        self.byte(b'"');
    }

    /// A string with its quotes. A peer's escapes are written as they came, except that half a
    /// surrogate pair becomes U+FFFD: we never write one.
    pub fn text(&mut self, text: Str<'_>) {
        match text.form() {
            Form::Ours | Form::Plain | Form::Escaped => self.text_exact(text),
            Form::Lone => self.chars(text.chars()),
        }
    }

    /// Characters as one string.
    pub(crate) fn chars(&mut self, chars: impl Iterator<Item = char>) {
        self.byte(b'"');
        for char in chars {
            self.escaped(utf8::encode(char, &mut [0; 4]));
        }
        self.byte(b'"');
    }

    /// A string with its quotes, a peer's exactly as it came: for what is echoed, such as ids
    /// and cursors.
    pub fn text_exact(&mut self, text: Str<'_>) {
        match text.form() {
            Form::Ours => {
                self.byte(b'"');
                self.escaped(text.content());
                self.byte(b'"');
            }
            Form::Plain | Form::Escaped | Form::Lone => self.quoted(text.content()),
        }
    }

    /// The content of a string that was checked, between quotes.
    pub(super) fn quoted(&mut self, content: &[u8]) {
        self.byte(b'"');
        self.bytes(content);
        self.byte(b'"');
    }

    /// The name of a member and its colon. The name is one of ours that needs no escape.
    pub(crate) fn name(&mut self, name: &str) {
        self.quoted(name.as_bytes());
        self.byte(b':');
    }

    /// A comma, unless this is the first of several.
    pub(crate) fn separate(&mut self, first: &mut bool) {
        if !core::mem::replace(first, false) {
            self.byte(b',');
        }
    }

    /// A number.
    pub fn unsigned(&mut self, value: u64) {
        self.bytes(decimal_digits(value, &mut [0; 20]));
    }

    /// A number.
    pub fn signed(&mut self, value: i64) {
        if value < 0 {
            self.byte(b'-');
        }
        self.unsigned(value.unsigned_abs());
    }

    /// A number: whole ones without a fraction, as JavaScript writes them; `null` for what JSON
    /// has no number for.
    pub fn float(&mut self, value: f64) {
        self.shortest(value, |other| other == value.abs());
    }

    /// A number of the shorter type, whose shortest text is shorter; see [`float`](Self::float).
    pub(super) fn float32(&mut self, value: f32) {
        self.shortest(value.into(), |other| other as f32 == value.abs());
    }

    fn shortest(&mut self, value: f64, same: impl Fn(f64) -> bool) {
        // 2^53: below it every whole number is exact.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if !value.is_finite() {
            self.literal("null");
        } else if value.abs() < EXACT && value == (value as i64) as f64 {
            self.signed(value as i64);
        } else {
            if value < 0.0 {
                self.byte(b'-');
            }
            self.decimal(float::shortest(value.abs(), same));
        }
    }

    fn decimal(&mut self, parts: Parts) {
        let mut buffer = [0; 20];
        let digits = decimal_digits(parts.digits as u64, &mut buffer);
        let len = digits.len() as i32;
        // The position of the point, counted from the first digit.
        let point = len.saturating_add(parts.exponent);
        match point {
            // As JavaScript does, long rows of zeros are written as an exponent.
            -5..=0 => {
                self.bytes(b"0.");
                (point..0).for_each(|_| self.byte(b'0'));
                self.bytes(digits);
            }
            1..=21 if point >= len => {
                self.bytes(digits);
                (len..point).for_each(|_| self.byte(b'0'));
            }
            _ => {
                let whole = if (1..=21).contains(&point) {
                    point.unsigned_abs() as usize
                } else {
                    1
                };
                if let Some((whole, fraction)) = digits.split_at_checked(whole) {
                    self.bytes(whole);
                    if !fraction.is_empty() {
                        self.byte(b'.');
                        self.bytes(fraction);
                    }
                }
                if whole == 1 && point != 1 {
                    self.byte(b'e');
                    self.signed(i64::from(point) - 1);
                }
            }
        }
    }

    /// A number beyond 64 bits.
    pub(super) fn wide(&mut self, negative: bool, magnitude: u128) {
        // u128::MAX is 3.4 times this to the power of two.
        const CHUNK: u128 = 10_000_000_000_000_000_000;
        if negative {
            self.byte(b'-');
        }
        let mut started = false;
        for divisor in [CHUNK * CHUNK, CHUNK, 1] {
            let chunk = (magnitude / divisor % CHUNK) as u64;
            let mut buffer = [0; 20];
            let digits = decimal_digits(chunk, &mut buffer);
            if started {
                (digits.len()..19).for_each(|_| self.byte(b'0'));
            }
            started |= chunk != 0;
            if started || divisor == 1 {
                self.bytes(digits);
            }
        }
    }

    #[cfg_attr(feature = "alloc", inline)]
    #[cfg_attr(not(feature = "alloc"), inline(never))]
    pub(crate) fn byte(&mut self, byte: u8) {
        match self.out.get_mut(self.len) {
            Some(slot) => {
                *slot = byte;
                self.len = self.len.saturating_add(1);
            }
            None => self.count_byte(byte),
        }
    }

    /// Bytes of JSON, as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) {
        let free = self.out.get_mut(self.len..);
        match free.and_then(|free| free.get_mut(..bytes.len())) {
            Some(place) => {
                store::copy(bytes, place);
                self.len = self.len.saturating_add(bytes.len());
            }
            None => self.count(bytes),
        }
    }

    #[cold]
    #[inline(never)]
    fn count_byte(&mut self, byte: u8) {
        self.count(&[byte]);
    }

    /// Counts what has no room.
    #[cold]
    #[inline(never)]
    fn count(&mut self, bytes: &[u8]) {
        self.len = self.len.saturating_add(bytes.len());
        if let Some(watch) = &mut self.watch {
            watch.read(bytes);
        }
    }

    /// The content of a string.
    pub(super) fn escaped(&mut self, text: &[u8]) {
        let mut rest = text;
        while let Some(at) = words::next_escape(rest) {
            let Some((run, [byte, behind @ ..])) = rest.split_at_checked(at) else {
                break;
            };
            self.bytes(run);
            match byte {
                b'"' => self.bytes(b"\\\""),
                b'\\' => self.bytes(b"\\\\"),
                0x08 => self.bytes(b"\\b"),
                0x0C => self.bytes(b"\\f"),
                b'\n' => self.bytes(b"\\n"),
                b'\r' => self.bytes(b"\\r"),
                b'\t' => self.bytes(b"\\t"),
                control => {
                    let digit = |value: u8| value + if value < 10 { b'0' } else { b'a' - 10 };
                    let (high, low) = (digit(control >> 4), digit(control & 0x0F));
                    self.bytes(&[b'\\', b'u', b'0', b'0', high, low]);
                }
            }
            rest = behind;
        }
        self.bytes(rest);
    }
}

/// Appends to `out` what `write` writes, which runs twice: to count and to write.
#[cfg(feature = "alloc")]
pub(crate) fn append(out: &mut alloc::vec::Vec<u8>, write: impl Fn(&mut Writer<'_>)) {
    let mut counter = Writer::counting();
    write(&mut counter);
    let start = out.len();
    out.resize(start.saturating_add(counter.len()), 0);
    write(&mut Writer::new(out.get_mut(start..).unwrap_or_default()));
}

/// Lets `core::fmt` write the content of strings; it never fails.
pub(super) struct Text<'w, 'o>(pub(super) &'w mut Writer<'o>);

impl fmt::Write for Text<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.escaped(text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expects the same bytes from every buffer that is long enough, and the same need from all
    /// others.
    fn check(expected: &str, write: impl Fn(&mut Writer<'_>)) {
        let mut counting = Writer::counting();
        write(&mut counting);
        assert_eq!(counting.len(), expected.len(), "{expected}");
        let mut buffer = [0xAA; 128];
        for len in 0..buffer.len() {
            buffer.fill(0xAA);
            let mut writer = Writer::new(&mut buffer[..len]);
            write(&mut writer);
            if len < expected.len() {
                let needed = expected.len();
                assert_eq!(writer.finish(), Err(BufferFull { needed }), "{expected}");
            } else {
                assert_eq!(writer.finish(), Ok(expected.len()), "{expected}");
                let (written, rest) = buffer.split_at(expected.len());
                assert_eq!(core::str::from_utf8(written), Ok(expected));
                assert!(rest.iter().all(|byte| *byte == 0xAA), "{expected}");
            }
        }
    }

    fn raw(json: &str) -> Raw<'_> {
        Raw::parse(json.as_bytes(), 8).unwrap()
    }

    #[test]
    fn strings() {
        check(r#""""#, |w| w.string(""));
        check(
            r#""plain, é, 好, 😀, \u007f""#.replace("\\u007f", "\x7F").as_str(),
            |w| {
                w.string("plain, é, 好, 😀, \x7F");
            },
        );
        check(r#""\"\\/\b\f\n\r\t\u0000\u0001\u001f""#, |w| {
            w.string("\"\\/\u{8}\u{C}\n\r\t\0\u{1}\u{1F}");
        });
        check(r#""0123456\n01234567\"0123456789\\""#, |w| {
            w.string("0123456\n01234567\"0123456789\\");
        });
    }

    #[test]
    fn texts() {
        let text = |json| raw(json).string().unwrap();
        check(r#""a\u0062\n""#, |w| w.text(text(r#""a\u0062\n""#)));
        check(r#""a\u0062\n""#, |w| w.text_exact(text(r#""a\u0062\n""#)));
        check(r#""x\"�\n""#, |w| w.text(text(r#""\u0078\"\ud83d\n""#)));
        check(r#""\u0078\ud83d\n""#, |w| {
            w.text_exact(text(r#""\u0078\ud83d\n""#));
        });
        check(r#""a\"b""#, |w| w.text(Str::new("a\"b")));
        check(r#""a\"b""#, |w| w.text_exact(Str::new("a\"b")));
    }

    #[test]
    fn values() {
        check("{\"a\":null}", |w| w.literal("{\"a\":null}"));
        check("[1,  [ ], \"\\n\"]", |w| {
            w.raw(raw("[1,\r\n[\n], \"\\n\"]"));
        });
        check(r#"["\ud83d"]"#, |w| w.raw(raw(r#"["\ud83d"]"#)));
    }

    #[test]
    fn numbers() {
        check("0", |w| w.unsigned(0));
        check("18446744073709551615", |w| w.unsigned(u64::MAX));
        check("-9223372036854775808", |w| w.signed(i64::MIN));
        check("9223372036854775807", |w| w.signed(i64::MAX));
        check("340282366920938463463374607431768211455", |w| {
            w.wide(false, u128::MAX);
        });
        check("-10000000000000000000", |w| {
            w.wide(true, 10_000_000_000_000_000_000);
        });
        check("9999999999999999999", |w| {
            w.wide(false, 9_999_999_999_999_999_999);
        });
        check("0", |w| w.wide(false, 0));
        check("0", |w| w.float(0.0));
        check("50", |w| w.float(50.0));
        check("-3", |w| w.float(-3.0));
        check("0.1", |w| w.float(0.1));
        check("-1.5e-7", |w| w.float(-1.5e-7));
        check("1e300", |w| w.float(1e300));
        check("-1.2345e300", |w| w.float(-1.2345e300));
        check("0.00001234", |w| w.float(0.00001234));
        check("0.000005", |w| w.float(0.000005));
        check("5e-7", |w| w.float(0.0000005));
        check("1234.5678", |w| w.float(1234.5678));
        check("100000000000000000000", |w| w.float(1e20));
        check("123450000000000000000", |w| {
            w.float(123450000000000000000.0);
        });
        check("1e21", |w| w.float(1e21));
        check("5e-324", |w| w.float(5e-324));
        check("1.7976931348623157e308", |w| w.float(f64::MAX));
        check("0.1", |w| w.float32(0.1));
        check("16777217.5", |w| w.float(16777217.5));
        check("null", |w| w.float(f64::NAN));
        check("null", |w| w.float(f64::NEG_INFINITY));
    }
}
