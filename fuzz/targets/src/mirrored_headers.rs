//! Values of a message's body, repeated in its head.

use mcp_proto::http::mirror::{self, MirrorError};
use mcp_proto::json::Raw;

/// A text from a header is decoded as a naive decoder does it, and compared with a text of a body
/// by what it stands for. Whatever text or number a body has, its header can be sent, and says
/// the same to whoever reads it.
///
/// The input is two texts with an LF between them.
pub fn mirrored_headers(input: &[u8]) {
    let middle = input.iter().position(|byte| *byte == b'\n');
    let (header, body) = match middle {
        Some(at) => (&input[..at], &input[at + 1..]),
        None => (input, input),
    };
    let meant = naive(header);
    let mut out = vec![0; header.len()];
    let decoded = mirror::decode(header, &mut out);
    assert_eq!(decoded.ok(), meant.as_deref());
    if let Ok(body) = core::str::from_utf8(body) {
        text(header, meant.as_deref(), body);
        number(body);
    }
}

fn text(header: &[u8], meant: Option<&str>, body: &str) {
    let json = serde_json::to_string(body).expect("JSON");
    let value = Raw::parse(json.as_bytes(), 1).expect("JSON");
    assert_eq!(mirror::matches(header, value), meant == Some(body));

    let written = write(value).expect("a text has a header");
    let fits = |byte: &u8| (0x20..=0x7e).contains(byte);
    assert!(written.iter().all(fits), "{written:?}");
    assert_eq!(written.trim_ascii(), written);
    assert_eq!(naive(&written).as_deref(), Some(body));
    assert!(mirror::matches(&written, value));
}

/// An integer, where the text is one.
fn number(body: &str) {
    let Ok(number) = body.parse::<i64>() else {
        return;
    };
    let json = number.to_string();
    let value = Raw::parse(json.as_bytes(), 1).expect("JSON");
    if number.unsigned_abs() >= 1 << 53 {
        assert_eq!(write(value), Err(MirrorError::Range));
        return;
    }
    assert_eq!(write(value).as_deref(), Ok(json.as_bytes()));
    for spelled in [
        format!("{json}.0"),
        format!("{json}e0"),
        format!("{}e-1", number * 10),
    ] {
        assert!(mirror::matches(spelled.as_bytes(), value), "{spelled}");
    }
    assert!(!mirror::matches((number + 1).to_string().as_bytes(), value));
    assert!(!mirror::matches(format!("{json}.5").as_bytes(), value));
}

/// Writes a header after every buffer that is too short for it.
fn write(value: Raw<'_>) -> Result<Vec<u8>, MirrorError> {
    let needed = match mirror::write(value, &mut []) {
        Ok(len) => return Ok(vec![0; len.expect("no null")]),
        Err(MirrorError::BufferFull { needed }) => needed,
        Err(error) => return Err(error),
    };
    let mut out = vec![0; needed];
    let short = mirror::write(value, &mut out[..needed - 1]);
    assert_eq!(short, Err(MirrorError::BufferFull { needed }));
    assert_eq!(mirror::write(value, &mut out), Ok(Some(needed)));
    Ok(out)
}

/// What a header stands for: itself, or the Base64 between its sentinels. There is one way only
/// to write a text in Base64, so what is read has to come out of it again.
fn naive(header: &[u8]) -> Option<String> {
    let header = header.trim_ascii();
    let sealed = header.len() >= 11 && header.starts_with(b"=?base64?") && header.ends_with(b"?=");
    if !sealed {
        return String::from_utf8(header.to_vec()).ok();
    }
    let sealed = &header[9..header.len() - 2];
    let mut bits = Vec::new();
    for digit in sealed.iter().take_while(|digit| **digit != b'=') {
        let value = ALPHABET.iter().position(|letter| letter == digit)?;
        bits.extend((0..6).rev().map(|bit| value >> bit & 1 == 1));
    }
    let text: Vec<u8> = bits
        .chunks_exact(8)
        .map(|byte| byte.iter().fold(0, |byte, bit| byte << 1 | u8::from(*bit)))
        .collect();
    if base64(&text) != sealed {
        return None;
    }
    String::from_utf8(text).ok()
}

fn base64(text: &[u8]) -> Vec<u8> {
    let mut bits: Vec<bool> = text
        .iter()
        .flat_map(|byte| (0..8).rev().map(move |bit| byte >> bit & 1 == 1))
        .collect();
    bits.resize(bits.len().next_multiple_of(6), false);
    let mut digits: Vec<u8> = bits
        .chunks_exact(6)
        .map(|digit| {
            let value = digit
                .iter()
                .fold(0, |value, bit| value << 1 | usize::from(*bit));
            ALPHABET[value]
        })
        .collect();
    digits.resize(digits.len().next_multiple_of(4), b'=');
    digits
}

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
