/// A character that never needs encoding (RFC 3986, section 2.3).
pub(super) const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// A character with a meaning of its own in a URI (RFC 3986, section 2.2).
pub(super) const fn is_reserved(byte: u8) -> bool {
    matches!(
        byte,
        b':' | b'/'
            | b'?'
            | b'#'
            | b'['
            | b']'
            | b'@'
            | b'!'
            | b'$'
            | b'&'
            | b'\''
            | b'('
            | b')'
            | b'*'
            | b'+'
            | b','
            | b';'
            | b'='
    )
}

/// The byte that `%XX` at the start of `bytes` stands for.
pub(super) fn triplet(bytes: &[u8]) -> Option<u8> {
    let (b'%', [high, low, ..]) = bytes.split_first()? else {
        return None;
    };
    let digit = |byte: u8| {
        char::from(byte)
            .to_digit(16)
            .and_then(|digit| u8::try_from(digit).ok())
    };
    Some((digit(*high)? << 4) | digit(*low)?)
}

/// Appends `text`, encoded; with `reserved`, reserved characters and whole triplets stay.
pub(crate) fn encode(out: &mut String, text: &str, reserved: bool) {
    const HEX: [char; 16] = [
        '0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'A', 'B', 'C', 'D', 'E', 'F',
    ];
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        let stays =
            is_unreserved(byte) || reserved && (is_reserved(byte) || triplet(rest).is_some());
        if stays {
            out.push(char::from(byte));
        } else {
            let digit = |nibble: u8| HEX.get(usize::from(nibble & 15)).copied().unwrap_or('0');
            out.extend(['%', digit(byte >> 4), digit(byte)]);
        }
        rest = tail;
    }
}

/// `text` with every triplet decoded; `None` where one is broken or the bytes are not UTF-8.
pub(crate) fn decode(text: &str) -> Option<String> {
    String::from_utf8(decode_bytes(text)?).ok()
}

/// The bytes of `text` with every triplet decoded; `None` where one is broken.
pub(crate) fn decode_bytes(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        if byte == b'%' {
            bytes.push(triplet(rest)?);
            rest = rest.get(3..)?;
        } else {
            bytes.push(byte);
            rest = tail;
        }
    }
    Some(bytes)
}

/// The start of `text` that holds `count` characters.
///
/// With `reserved` a triplet is one character, because it stays in the result as it is and RFC
/// 6570, section 2.4.1 never cuts within one.
pub(super) fn prefix(text: &str, count: usize, reserved: bool) -> &str {
    let mut rest = text;
    for _ in 0..count {
        let length = if reserved && triplet(rest.as_bytes()).is_some() {
            3
        } else {
            rest.chars().next().map_or(0, char::len_utf8)
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    text.get(..text.len() - rest.len()).unwrap_or(text)
}

/// One character of a URI as a variable would take it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    /// A character that every operator takes: unreserved, or encoded and no path separator.
    Plain(usize),
    /// A character that only `{+var}` and `{#var}` take: reserved, or an encoded path separator,
    /// which values in a query take as well.
    Reserved(usize),
    /// Nothing that an expansion writes: not a character of URIs, or broken encoding.
    Invalid,
}

impl Unit {
    /// The bytes that every operator takes.
    pub(super) const fn plain(self) -> Option<usize> {
        match self {
            Self::Plain(length) => Some(length),
            Self::Reserved(_) | Self::Invalid => None,
        }
    }

    /// The bytes that values in a query take: those that every operator takes, and encoded path
    /// separators.
    pub(super) const fn encoded(self) -> Option<usize> {
        match self {
            Self::Plain(length) | Self::Reserved(length @ 3) => Some(length),
            Self::Reserved(_) | Self::Invalid => None,
        }
    }

    /// The unit that starts `bytes`.
    pub(super) fn read(bytes: &[u8]) -> Self {
        let Some(&byte) = bytes.first() else {
            return Self::Invalid;
        };
        if is_unreserved(byte) {
            return Self::Plain(1);
        }
        if is_reserved(byte) {
            return Self::Reserved(1);
        }
        let Some(lead) = triplet(bytes) else {
            return Self::Invalid;
        };
        let length = match lead {
            b'/' | b'\\' => return Self::Reserved(3),
            0..0x80 => return Self::Plain(3),
            0xC2..0xE0 => 2,
            0xE0..0xF0 => 3,
            0xF0..0xF5 => 4,
            _ => return Self::Invalid,
        };
        let mut character = [0; 4];
        for (slot, at) in character.iter_mut().zip((0..length * 3).step_by(3)) {
            let Some(byte) = bytes.get(at..).and_then(triplet) else {
                return Self::Invalid;
            };
            *slot = byte;
        }
        match character.get(..length).map(core::str::from_utf8) {
            Some(Ok(_)) => Self::Plain(length * 3),
            _ => Self::Invalid,
        }
    }
}
