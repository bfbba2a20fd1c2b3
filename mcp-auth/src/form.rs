//! Forms and query strings: `application/x-www-form-urlencoded`.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;

/// Appends one parameter; parameters before it are separated with `&`.
pub(crate) fn push(form: &mut String, name: &str, value: &str) {
    if !form.is_empty() && !form.ends_with(['&', '?']) {
        form.push('&');
    }
    encode_into(form, name);
    form.push('=');
    encode_into(form, value);
}

/// Encodes one name or value.
pub(crate) fn encode(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    encode_into(&mut out, text);
    out
}

fn encode_into(out: &mut String, text: &str) {
    const DIGITS: &[u8; 16] = b"0123456789ABCDEF";
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'*' => {
                out.push(char::from(byte));
            }
            b' ' => out.push('+'),
            _ => {
                let digit = |nibble: u8| {
                    let letter = DIGITS.get(usize::from(nibble)).copied();
                    char::from(letter.unwrap_or(b'0'))
                };
                out.push('%');
                out.push(digit(byte >> 4));
                out.push(digit(byte & 0xf));
            }
        }
    }
}

/// The decoded parameters of a query string or a form, in their order. `None` stands for one with
/// a broken escape or text that is no UTF-8.
pub(crate) fn pairs(query: &str) -> impl Iterator<Item = Option<(Cow<'_, str>, Cow<'_, str>)>> {
    let parts = query.split('&').filter(|part| !part.is_empty());
    parts.map(|part| {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        Some((decode(name)?, decode(value)?))
    })
}

/// A part of a query or a form without its escapes; `None` for a broken escape and for text that is no UTF-8.
pub(crate) fn decode(text: &str) -> Option<Cow<'_, str>> {
    if !text.contains(['+', '%']) {
        return Some(Cow::Borrowed(text));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let mut digit = || char::from(rest.next()?).to_digit(16);
                u8::try_from(digit()? << 4 | digit()?).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok().map(Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn whatever_is_encoded_is_decoded() {
        let text = "a b&c=d+e%f/\u{e9}\u{1f600}~*";
        let mut form = String::new();
        push(&mut form, "q", text);
        push(&mut form, "r", "");
        assert_eq!(form, "q=a+b%26c%3Dd%2Be%25f%2F%C3%A9%F0%9F%98%80%7E*&r=");
        let found: Vec<_> = pairs(&form).flatten().collect();
        assert_eq!(found, [("q".into(), text.into()), ("r".into(), "".into())]);
    }

    #[test]
    fn broken_escapes_are_found() {
        for query in ["a=%", "a=%2", "a=%zz", "a=%ff", "%=1"] {
            assert_eq!(pairs(query).collect::<Vec<_>>(), [None], "{query}");
        }
        assert_eq!(encode("a b").to_string(), "a+b");
    }
}
