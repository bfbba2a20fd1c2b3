//! Other decoders, for users' own types. They agree with ours on every text.
//!
//! Only here do foreign types show in the interface, each behind the feature of its crate.

#[cfg(any(feature = "serde-json", feature = "simd-json"))]
use alloc::vec::Vec;

use serde::Deserialize;

use super::Raw;
#[cfg(any(feature = "serde-json", feature = "simd-json"))]
use super::repair_surrogates;
#[cfg(feature = "serde-json-core")]
use super::utf8;
#[cfg(feature = "serde-json-core")]
use crate::store;

#[cfg(feature = "serde-json")]
impl<'b> Raw<'b> {
    /// Decodes into a type with `serde_json`, for types that need what only it has.
    ///
    /// `copy` is used where the text holds half a surrogate pair, which `serde_json` refuses: a
    /// repaired copy goes there (see [`repair_surrogates`](super::repair_surrogates)).
    ///
    /// # Errors
    ///
    /// The error of `serde_json` for a text that does not fit the type.
    ///
    /// ```
    /// use mcp_proto::json::Raw;
    ///
    /// let raw = Raw::parse(br#"{"cut": "\ud83d"}"#, 8)?;
    /// let value: serde_json::Value = raw.decode_serde_json(&mut Vec::new())?;
    /// assert_eq!(value["cut"], "\u{FFFD}");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decode_serde_json<'s, T: Deserialize<'s>>(
        self,
        copy: &'s mut Vec<u8>,
    ) -> Result<T, serde_json::Error>
    where
        'b: 's,
    {
        if !self.has_lone_surrogate() {
            return serde_json::from_slice(self.as_bytes());
        }
        copy.clear();
        copy.extend_from_slice(self.as_bytes());
        repair_surrogates(copy);
        serde_json::from_slice(copy)
    }
}

#[cfg(feature = "simd-json")]
impl Raw<'_> {
    /// Decodes into a type with `simd-json`, which decodes strings in place and therefore works
    /// on a copy in `scratch`.
    ///
    /// # Errors
    ///
    /// The error of `simd-json` for a text that does not fit the type.
    pub fn decode_simd_json<'s, T: Deserialize<'s>>(
        self,
        scratch: &'s mut Vec<u8>,
    ) -> Result<T, simd_json::Error> {
        scratch.clear();
        scratch.extend_from_slice(self.as_bytes());
        if self.has_lone_surrogate() {
            repair_surrogates(scratch);
        }
        simd_json::serde::from_slice(scratch)
    }
}

/// Decodes a whole text that the caller owns with `simd-json`, in place and without a copy. The
/// text is validated on the way; afterwards its bytes mean nothing.
///
/// # Errors
///
/// The error of `simd-json` for a text that is no JSON or does not fit the type.
///
/// ```
/// let mut frame = br#"{"text": "a\nb \ud83d"}"#.to_vec();
/// let map: std::collections::BTreeMap<&str, &str> =
///     mcp_proto::json::decode_simd_json_in_place(&mut frame)?;
/// assert_eq!(map["text"], "a\nb \u{FFFD}");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[cfg(feature = "simd-json")]
pub fn decode_simd_json_in_place<'f, T: Deserialize<'f>>(
    text: &'f mut [u8],
) -> Result<T, simd_json::Error> {
    repair_surrogates(text);
    simd_json::serde::from_slice(text)
}

#[cfg(feature = "serde-json-core")]
impl<'b> Raw<'b> {
    /// Decodes into a type with `serde-json-core`, without a heap.
    ///
    /// It would refuse every surrogate pair, whole or not. So where the text holds escapes it
    /// is copied to `copy`, which has to be as long as the text, with pairs decoded and halves
    /// repaired. `unescaped` holds one string at a time while the type takes it; a type that
    /// borrows its text as `&str` gets none with escapes.
    ///
    /// Prefer [`decode`](Raw::decode): this crate has panics where ours has none.
    ///
    /// # Errors
    ///
    /// The error of `serde-json-core` for a text that does not fit the type, and its
    /// `EscapedStringIsTooLong` for a buffer that is too short.
    ///
    /// ```
    /// use mcp_proto::json::Raw;
    ///
    /// let raw = Raw::parse(br#"["a\nb", "\ud83d\ude00"]"#, 8)?;
    /// let texts: (String, String) = raw.decode_serde_json_core(&mut [0; 64], &mut [0; 16])?;
    /// assert_eq!(texts, ("a\nb".to_owned(), "😀".to_owned()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn decode_serde_json_core<'s, T: Deserialize<'s>>(
        self,
        copy: &'s mut [u8],
        unescaped: &mut [u8],
    ) -> Result<T, serde_json_core::de::Error>
    where
        'b: 's,
    {
        let text = if memchr::memchr(b'\\', self.as_bytes()).is_none() {
            self.as_bytes()
        } else {
            pair_free(self.as_bytes(), copy)
                .ok_or(serde_json_core::de::Error::EscapedStringIsTooLong)?
        };
        serde_json_core::from_slice_escaped(text, unescaped).map(|(value, _)| value)
    }
}

/// Copies checked text with its surrogate pairs decoded, halves becoming U+FFFD; `None` if `out`
/// is too short.
#[cfg(feature = "serde-json-core")]
fn pair_free<'s>(json: &[u8], out: &'s mut [u8]) -> Option<&'s [u8]> {
    use super::escape::{Piece, Pieces, lossy};

    let mut len = 0;
    let mut append = |bytes: &[u8]| {
        let place = out.get_mut(len..)?.get_mut(..bytes.len())?;
        store::copy(bytes, place);
        len += bytes.len();
        Some(())
    };
    let mut rest = json;
    // Backslashes stand only in strings, so the text between them can be walked like one.
    let mut pieces = Pieces::new(json);
    while let Some(piece) = pieces.next() {
        let (now, behind) = rest.split_at_checked(rest.len() - pieces.rest().len())?;
        rest = behind;
        match piece {
            Piece::Escape(value @ (0xD800..=0xDFFF | 0x1_0000..)) => {
                append(utf8::encode(lossy(value), &mut [0; 4]))?;
            }
            Piece::Run(_) | Piece::Escape(_) => append(now)?,
        }
    }
    out.get(..len)
}
