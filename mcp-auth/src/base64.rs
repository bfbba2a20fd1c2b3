//! Base64 for header fields and JSON Web Tokens (RFC 4648).

use alloc::string::String;
use alloc::vec::Vec;

const STANDARD: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const URL: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Encodes with the alphabet for URLs and without padding (section 5).
pub(crate) fn encode_url(bytes: &[u8]) -> String {
    encode(bytes, URL, false)
}

/// Encodes with the standard alphabet and padding (section 4), as `Basic` credentials are.
pub(crate) fn encode_standard(bytes: &[u8]) -> String {
    encode(bytes, STANDARD, true)
}

/// Decodes what [`encode_url`] writes. `None` for padding, other characters, an impossible length
/// or bits that do not fit, so that no two texts stand for the same bytes.
pub(crate) fn decode_url(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for group in text.as_bytes().chunks(4) {
        let mut bits = 0_u32;
        for digit in group {
            let value = URL.iter().position(|letter| letter == digit)?;
            bits = bits << 6 | u32::try_from(value).ok()?;
        }
        let (count, spare) = match group.len() {
            4 => (3, 0),
            3 => (2, 2),
            2 => (1, 4),
            _ => return None,
        };
        if bits & ((1 << spare) - 1) != 0 {
            return None;
        }
        let [_, decoded @ ..] = (bits >> spare << (8 * (3 - count))).to_be_bytes();
        bytes.extend(decoded.iter().take(count));
    }
    Some(bytes)
}

fn encode(bytes: &[u8], alphabet: &[u8; 64], pad: bool) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let mut octets = group.iter().copied().map(u32::from);
        let bits = octets.next().unwrap_or(0) << 16
            | octets.next().unwrap_or(0) << 8
            | octets.next().unwrap_or(0);
        for index in 0..4_usize {
            if index <= group.len() {
                let digit = bits >> (18 - 6 * index) & 0x3f;
                let letter = alphabet.get(digit as usize).copied();
                text.push(char::from(letter.unwrap_or(b'=')));
            } else if pad {
                text.push('=');
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_length_both_ways() {
        // RFC 4648, section 10.
        for (bytes, text) in [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
            ("foobar", "Zm9vYmFy"),
        ] {
            assert_eq!(encode_standard(bytes.as_bytes()), text);
            let bare = text.trim_end_matches('=');
            assert_eq!(encode_url(bytes.as_bytes()), bare);
            assert_eq!(decode_url(bare).unwrap(), bytes.as_bytes());
        }
        assert_eq!(encode_url(&[0xfb, 0xff]), "-_8");
        assert_eq!(encode_standard(&[0xfb, 0xff]), "+/8=");
        assert_eq!(decode_url("-_8").unwrap(), [0xfb, 0xff]);
    }

    #[test]
    fn one_text_for_each_value() {
        for text in [
            "Z",
            "Zg==",
            "Zh",
            "Zm9",
            "Zm9vZ",
            "Zm 9",
            "+/8",
            "Zm8\u{e9}",
        ] {
            assert_eq!(decode_url(text), None, "{text}");
        }
    }
}
