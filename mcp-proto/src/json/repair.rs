//! Replaces lone surrogates for decoders that accept Unicode text only.

/// Overwrites every half of a surrogate pair with an escaped U+FFFD, which is as long:
/// `"\ud83d"` becomes `"\ufffd"`, and the text stays what it is otherwise.
///
/// For decoders that refuse such text, which JavaScript writes when it cuts an emoji (RFC 8259,
/// section 8.2); [`Raw::has_lone_surrogate`](super::Raw::has_lone_surrogate) tells whether there
/// may be any. Returns how many there were. Bytes that are no JSON do no harm.
pub fn repair_surrogates(json: &mut [u8]) -> usize {
    let mut repaired = 0;
    let mut rest = json;
    while let Some(at) = memchr::memchr(b'\\', rest) {
        let Some((_, escape)) = rest.split_at_mut_checked(at) else {
            break;
        };
        let len = match escape {
            [b'\\', b'u', digits @ ..] => match (unit(digits), digits) {
                (Some(0xD800..=0xDBFF), [_, _, _, _, b'\\', b'u', second @ ..])
                    if matches!(unit(second), Some(0xDC00..=0xDFFF)) =>
                {
                    12
                }
                (Some(0xD800..=0xDFFF), [a, b, c, d, ..]) => {
                    [*a, *b, *c, *d] = *b"fffd";
                    repaired += 1;
                    6
                }
                _ => 2,
            },
            _ => 2,
        };
        rest = match escape.split_at_mut_checked(len) {
            Some((_, behind)) => behind,
            None => break,
        };
    }
    repaired
}

/// The value of the four digits at the start.
fn unit(text: &[u8]) -> Option<u32> {
    text.first_chunk::<4>()?.iter().try_fold(0, |value, digit| {
        Some(value << 4 | char::from(*digit).to_digit(16)?)
    })
}
