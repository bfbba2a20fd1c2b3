//! Strings that remain escaped until they are decoded.

use core::{fmt, iter};

use super::escape::{self, Piece, Pieces};
use super::string::Form;
use super::{DecodeError, utf8, words};
use crate::revision::Revision;
use crate::store;

/// A string: either a peer's, as it stood between its quotes, or our own plain text.
///
/// Comparing never needs a buffer: `"\u0061"` equals `"a"`. Half a surrogate pair, which JSON
/// allows and Unicode text does not (RFC 8259, section 8.2), equals only itself; decoding makes
/// U+FFFD of it.
///
/// ```
/// use mcp_proto::json::{Raw, Str};
///
/// let raw = Raw::parse(br#""caf\u00e9 \ud83d\ude00""#, 0)?;
/// let text = raw.string().unwrap();
/// assert_eq!(text, "café 😀");
/// assert_eq!(text.as_plain(), None);
///
/// let mut scratch = [0; 16];
/// assert_eq!(text.decode(&mut scratch)?, "café 😀");
/// assert_eq!(Str::from("plain").as_plain(), Some("plain"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Str<'b> {
    content: &'b [u8],
    form: Form,
}

impl<'b> Str<'b> {
    /// Plain text of our own.
    pub const fn new(text: &'b str) -> Self {
        Self {
            content: text.as_bytes(),
            form: Form::Ours,
        }
    }

    /// Creates a string of a text that needs no escape in JSON.
    pub(crate) const fn from_plain(text: &'static str) -> Self {
        Self {
            content: text.as_bytes(),
            form: Form::Plain,
        }
    }

    /// The content of a string that a scanner has accepted in exactly this form.
    #[inline]
    pub(super) const fn scanned(content: &'b [u8], form: Form) -> Self {
        Self { content, form }
    }

    /// The content of a string that a scanner has accepted, in this form or a lesser one.
    #[inline]
    pub(super) fn at_most(content: &'b [u8], form: Form) -> Self {
        match form {
            Form::Plain => Self { content, form },
            _ => Self::at_most_escaped(content, form),
        }
    }

    #[inline(never)]
    fn at_most_escaped(content: &'b [u8], form: Form) -> Self {
        Self::walked(content, memchr::memchr(b'\\', content).is_some(), form)
    }

    /// As [`at_most`](Self::at_most), for a content of which the caller knows whether it holds a
    /// backslash.
    #[inline]
    pub(super) fn walked(content: &'b [u8], escaped: bool, form: Form) -> Self {
        let form = match form {
            _ if !escaped => Form::Plain,
            Form::Lone if Pieces::new(content).any(is_lone) => Form::Lone,
            _ => Form::Escaped,
        };
        Self { content, form }
    }

    /// The content of a string that was accepted before and that the caller kept.
    pub(crate) fn received(content: &'b [u8]) -> Self {
        Self::at_most(content, Form::Lone)
    }

    /// The bytes that name this string: a peer's still escaped.
    pub(crate) const fn content(self) -> &'b [u8] {
        self.content
    }

    /// Returns whether this is text of ours, which is not escaped.
    pub(crate) const fn is_ours(self) -> bool {
        matches!(self.form, Form::Ours)
    }

    pub(super) const fn form(self) -> Form {
        self.form
    }

    /// The text, if it can be borrowed as it stands because it holds no escape.
    pub fn as_plain(self) -> Option<&'b str> {
        match self.form {
            Form::Plain | Form::Ours => Some(utf8::text(self.content)),
            Form::Escaped | Form::Lone => None,
        }
    }

    /// The bytes of [`as_plain`](Self::as_plain), which are not checked again.
    #[inline]
    pub(crate) const fn plain_bytes(self) -> Option<&'b [u8]> {
        match self.form {
            Form::Plain | Form::Ours => Some(self.content),
            Form::Escaped | Form::Lone => None,
        }
    }

    /// The text, decoded into `scratch` if it holds escapes. Half a surrogate pair becomes
    /// U+FFFD.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] if `scratch` is shorter than [`decoded_len`](Self::decoded_len).
    pub fn decode<'s>(self, scratch: &'s mut [u8]) -> Result<&'s str, DecodeError>
    where
        'b: 's,
    {
        if let Some(plain) = self.as_plain() {
            return Ok(plain);
        }
        let mut len = 0;
        for piece in Pieces::new(self.content) {
            let mut encoded = [0; 4];
            let bytes = match piece {
                Piece::Run(run) => run,
                Piece::Escape(value) => utf8::encode(escape::lossy(value), &mut encoded),
            };
            let place = scratch
                .get_mut(len..)
                .and_then(|free| free.get_mut(..bytes.len()));
            let Some(place) = place else {
                return Err(DecodeError::scratch(self.decoded_len()));
            };
            store::copy(bytes, place);
            len += bytes.len();
        }
        Ok(utf8::text(scratch.get(..len).unwrap_or_default()))
    }

    /// Like [`decode`](Self::decode), for names and addresses: text that would lose something
    /// is refused.
    ///
    /// # Errors
    ///
    /// [`DecodeError`] if the string holds half a surrogate pair, or `scratch` is too short.
    pub fn decode_exact<'s>(self, scratch: &'s mut [u8]) -> Result<&'s str, DecodeError>
    where
        'b: 's,
    {
        if self.is_exact() {
            self.decode(scratch)
        } else {
            Err(DecodeError::lone_surrogate())
        }
    }

    /// The text as an owned string where it cannot be borrowed. Half a surrogate pair becomes
    /// U+FFFD.
    #[cfg(feature = "alloc")]
    pub fn to_cow(self) -> alloc::borrow::Cow<'b, str> {
        match self.as_plain() {
            Some(plain) => plain.into(),
            None => self.decoded().into(),
        }
    }

    /// Decodes a text with escapes, which takes more room than what they stand for.
    #[cfg(feature = "alloc")]
    fn decoded(self) -> alloc::string::String {
        let mut text = alloc::vec::Vec::with_capacity(self.content.len());
        for piece in Pieces::new(self.content) {
            match piece {
                Piece::Run(run) => text.extend_from_slice(run),
                Piece::Escape(value) => {
                    let char = escape::lossy(value);
                    text.extend_from_slice(char.encode_utf8(&mut [0; 4]).as_bytes());
                }
            }
        }
        alloc::string::String::from_utf8(text).unwrap_or_default()
    }

    /// The revision that this names as a version string.
    pub(crate) fn revision(self) -> Option<Revision> {
        Revision::newest_first().find(|revision| self == revision.as_str())
    }

    /// Returns true if decoding loses nothing: the string holds no half of a surrogate pair.
    pub const fn is_exact(self) -> bool {
        !matches!(self.form, Form::Lone)
    }

    /// Returns true if the text is empty.
    pub const fn is_empty(self) -> bool {
        self.content.is_empty()
    }

    /// The characters; half a surrogate pair is U+FFFD.
    pub fn chars(self) -> impl Iterator<Item = char> + Clone {
        let (plain, content) = match self.as_plain() {
            Some(plain) => (plain, &[][..]),
            None => ("", self.content),
        };
        let (mut run, mut pieces) = (plain.chars(), Pieces::new(content));
        iter::from_fn(move || {
            loop {
                if let Some(char) = run.next() {
                    return Some(char);
                }
                match pieces.next()? {
                    Piece::Run(text) => run = utf8::text(text).chars(),
                    Piece::Escape(value) => return Some(escape::lossy(value)),
                }
            }
        })
    }

    /// The bytes that the decoded text takes.
    pub fn decoded_len(self) -> usize {
        match self.form {
            Form::Plain | Form::Ours => self.content.len(),
            // Half a pair takes as much as the U+FFFD that it becomes: three bytes.
            Form::Escaped | Form::Lone => self
                .pieces()
                .fold(0, |len: usize, piece| len.saturating_add(piece.len())),
        }
    }

    /// A hash of the text, equal for equal strings however they are escaped.
    ///
    /// It is not keyed: who fears collisions bounds the table.
    pub fn hash32(self) -> u32 {
        let mut hash = Fnv::default();
        for piece in self.pieces() {
            hash.update(piece.as_bytes());
        }
        hash.0
    }

    /// The decoded bytes in generalized UTF-8, piece by piece.
    fn pieces(self) -> impl Iterator<Item = Decoded<'b>> {
        let (whole, escaped) = match self.form {
            Form::Plain | Form::Ours => (self.content, &[][..]),
            Form::Escaped | Form::Lone => (&[][..], self.content),
        };
        let whole = (!whole.is_empty()).then_some(Decoded::Run(whole));
        whole
            .into_iter()
            .chain(Pieces::new(escaped).map(|piece| match piece {
                Piece::Run(run) => Decoded::Run(run),
                Piece::Escape(value) => {
                    let (bytes, len) = escape::generalized(value);
                    Decoded::Escape(bytes, len)
                }
            }))
    }

    /// Returns true if the decoded text equals `expected`, which is UTF-8.
    #[inline]
    pub(crate) fn is(self, expected: &[u8]) -> bool {
        match self.form {
            Form::Plain | Form::Ours => words::equal(self.content, expected),
            Form::Escaped | Form::Lone => self.decodes_to(expected),
        }
    }

    #[inline(never)]
    fn decodes_to(self, expected: &[u8]) -> bool {
        let mut rest = expected;
        self.pieces()
            .all(|piece| match rest.strip_prefix(piece.as_bytes()) {
                Some(behind) => {
                    rest = behind;
                    true
                }
                None => false,
            })
            && rest.is_empty()
    }
}

/// The empty text.
impl Default for Str<'_> {
    fn default() -> Self {
        Self::new("")
    }
}

impl<'b> From<&'b str> for Str<'b> {
    fn from(text: &'b str) -> Self {
        Self::new(text)
    }
}

impl PartialEq for Str<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self.form, other.form) {
            (_, Form::Plain | Form::Ours) => self.is(other.content),
            (Form::Plain | Form::Ours, _) => other.is(self.content),
            _ => {
                let bytes = |text: &Self| text.pieces().flat_map(Decoded::into_bytes);
                bytes(self).eq(bytes(other))
            }
        }
    }
}

impl Eq for Str<'_> {}

impl PartialEq<str> for Str<'_> {
    fn eq(&self, other: &str) -> bool {
        self.is(other.as_bytes())
    }
}

impl PartialEq<&str> for Str<'_> {
    fn eq(&self, other: &&str) -> bool {
        self.is(other.as_bytes())
    }
}

impl PartialEq<Str<'_>> for str {
    fn eq(&self, other: &Str<'_>) -> bool {
        other.is(self.as_bytes())
    }
}

impl PartialEq<Str<'_>> for &str {
    fn eq(&self, other: &Str<'_>) -> bool {
        other.is(self.as_bytes())
    }
}

/// The decoded text; half a surrogate pair is U+FFFD.
impl fmt::Display for Str<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;

        match self.as_plain() {
            Some(plain) => f.pad(plain),
            None => self.chars().try_for_each(|char| f.write_char(char)),
        }
    }
}

impl fmt::Debug for Str<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use fmt::Write as _;

        f.write_char('"')?;
        for char in self.chars() {
            char.escape_debug()
                .try_for_each(|char| f.write_char(char))?;
        }
        f.write_char('"')
    }
}

/// Decoded bytes.
#[derive(Clone, Copy)]
enum Decoded<'b> {
    Run(&'b [u8]),
    Escape([u8; 4], usize),
}

impl<'b> Decoded<'b> {
    const fn len(&self) -> usize {
        match self {
            Self::Run(run) => run.len(),
            Self::Escape(_, len) => *len,
        }
    }

    fn as_bytes(&self) -> &[u8] {
        match self {
            Self::Run(run) => run,
            Self::Escape(bytes, len) => bytes.get(..*len).unwrap_or_default(),
        }
    }

    fn into_bytes(self) -> impl Iterator<Item = u8> + use<'b> {
        let (run, (bytes, len)) = match self {
            Self::Run(run) => (run, ([0; 4], 0)),
            Self::Escape(bytes, len) => (&[][..], (bytes, len)),
        };
        run.iter().copied().chain(bytes.into_iter().take(len))
    }
}

/// FNV-1a: short, and good enough for keys of a few bytes in a bounded table.
struct Fnv(u32);

impl Default for Fnv {
    fn default() -> Self {
        Self(0x811C_9DC5)
    }
}

impl Fnv {
    fn update(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u32::from(byte)).wrapping_mul(0x0100_0193);
        }
    }
}

fn is_lone(piece: Piece<'_>) -> bool {
    matches!(piece, Piece::Escape(0xD800..=0xDFFF))
}

/// Returns the length of the content of a checked string, whose opening quote is before `bytes`, and true if the content has a backslash;
/// `None` without a closing quote.
///
/// Names and most values of small messages are plain and end within two words, which are searched in the place of the call.
#[inline]
pub(super) fn content_len(bytes: &[u8]) -> Option<(usize, bool)> {
    // Firmware has no words of eight bytes.
    if !words::HAS_BLOCKS {
        return content_len_from(bytes, 0);
    }
    let mut rest = bytes;
    for _ in 0..2 {
        let Some((word, behind)) = words::split(rest) else {
            break;
        };
        let quotes = words::quotes(word);
        if quotes != 0 {
            rest = rest.get(words::first(quotes)..)?;
            break;
        }
        rest = behind;
    }
    let at = bytes.len() - rest.len();
    match rest {
        [b'"', ..] => Some((at, false)),
        _ => content_len_from(bytes, at),
    }
}

/// Continues [`content_len`] at `at`, before which there is no quote and no backslash.
#[cfg_attr(feature = "alloc", inline(never))]
fn content_len_from(bytes: &[u8], at: usize) -> Option<(usize, bool)> {
    let mut at = at;
    let mut escaped = false;
    loop {
        at = words::next_quote(bytes, at)?;
        if bytes.get(at) == Some(&b'"') {
            return Some((at, escaped));
        }
        escaped = true;
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Raw;

    fn received(json: &str) -> Str<'_> {
        let text = Raw::parse(json.as_bytes(), 0).unwrap().string().unwrap();
        assert_eq!(Str::received(text.content()), text);
        text
    }

    /// The text decodes to `plain`, piece by piece and whole, with every buffer too small and
    /// then exactly enough.
    fn check(json: &str, plain: &str, exact: bool) {
        let text = received(json);
        assert!(text.chars().eq(plain.chars()), "{json}");
        assert_eq!(text.decoded_len(), plain.len(), "{json}");
        assert_eq!(text.is_exact(), exact, "{json}");
        let mut buffer = [0; 64];
        if text.as_plain().is_none() {
            for short in 0..plain.len() {
                let error = text.decode(&mut buffer[..short]).unwrap_err();
                assert_eq!(error, DecodeError::scratch(plain.len()), "{json}");
            }
        }
        assert_eq!(text.decode(&mut buffer[..plain.len()]), Ok(plain), "{json}");
        assert_eq!(text.decode_exact(&mut buffer).is_ok(), exact, "{json}");
        assert_eq!(text == plain, exact, "{json}");
        assert_eq!(text.hash32() == Str::new(plain).hash32(), exact, "{json}");
        #[cfg(feature = "alloc")]
        assert_eq!(text.to_cow(), plain, "{json}");
    }

    #[test]
    fn decoding() {
        check(r#""""#, "", true);
        check(r#""plain""#, "plain", true);
        check(r#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t", true);
        check(r#""\u0061\u00e9\u00E9\uFFFF\u0000""#, "aéé\u{FFFF}\0", true);
        check(r#""x\ud83d\ude00y""#, "x😀y", true);
        check(r#""\uD800\uDC00\uDBFF\uDFFF""#, "\u{10000}\u{10FFFF}", true);
        check(r#""cut \ud83d""#, "cut \u{FFFD}", false);
        check(r#""\ude00\ud83d""#, "\u{FFFD}\u{FFFD}", false);
        check(r#""\ud83d\ud83d\ude00""#, "\u{FFFD}😀", false);
        check(r#""\ud83d\n\ude00""#, "\u{FFFD}\n\u{FFFD}", false);
        check(r#""好\u597d😀""#, "好好😀", true);
    }

    #[test]
    fn lengths_of_contents() {
        for len in 0..200 {
            let text = "x".repeat(len) + "\"behind";
            assert_eq!(content_len(text.as_bytes()), Some((len, false)));
            assert_eq!(content_len(&text.as_bytes()[..len]), None);
            for escape in (0..len).step_by(7) {
                let text = text.replacen("x", r#"\\"#, 1 + escape);
                let end = len + 1 + escape;
                assert_eq!(content_len(text.as_bytes()), Some((end, true)));
                let text = text.replace(r#"\\"#, r#"\""#);
                assert_eq!(content_len(text.as_bytes()), Some((end, true)));
            }
        }
    }

    #[test]
    fn identity() {
        let same = |a: &str, b: &str, equal: bool| {
            let (a, b) = (received(a), received(b));
            assert_eq!(a == b, equal, "{a:?} {b:?}");
            assert_eq!(b == a, equal, "{a:?} {b:?}");
            assert_eq!(a.hash32() == b.hash32(), equal, "{a:?} {b:?}");
        };
        same(r#""1""#, r#""\u0031""#, true);
        same(r#""\u0031\u0032""#, r#""1\u0032""#, true);
        same(r#""\ud83d\ude00""#, r#""😀""#, true);
        same(r#""\ud83d\ude00x\n""#, r#""😀\u0078\u000a""#, true);
        same(r#""\ud83d""#, r#""\uD83D""#, true);
        same(r#""\ud83d""#, r#""\ufffd""#, false);
        same(r#""\ud83d""#, r#""\ud83e""#, false);
        same(r#""\ud83d""#, r#""�""#, false);
        same(r#""ab""#, r#""a\u0062c""#, false);
        same(r#""a\u0062c""#, r#""ab""#, false);
        same(r#""\n""#, r#""\\n""#, false);
        assert_eq!(Str::new("a\"b"), received(r#""a\"b""#));
        assert_ne!(Str::new("a\\u0031"), received(r#""a\u0031""#));
    }

    #[test]
    fn printing() {
        extern crate alloc;
        use alloc::format;

        let text = received(r#""a\n\ud83d\"é""#);
        assert_eq!(format!("{text}"), "a\n\u{FFFD}\"é");
        assert_eq!(format!("{text:?}"), r#""a\n�\"é""#);
        assert_eq!(format!("[{:>4}]", received(r#""ab""#)), "[  ab]");
    }
}
