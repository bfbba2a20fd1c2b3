//! Text of a peer, fit for a terminal.

use core::fmt::Write as _;
use core::iter::Peekable;
use std::borrow::Cow;

/// Returns the text without what a terminal would obey: escape sequences go whole, other control
/// characters alone, and so do separators of lines and paragraphs, the marks that turn the direction
/// of text around, and tags, which are invisible. Line breaks and tabs stay.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    match text.chars().all(is_harmless) {
        true => text.into(),
        false => stripped(text.chars()).into(),
    }
}

/// Returns a [`plain`] text on one line: for names, titles and log messages.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    match plain(text) {
        clean if clean.contains(['\n', '\t']) => {
            let words: Vec<&str> = clean.split_whitespace().collect();
            words.join(" ").into()
        }
        clean => clean,
    }
}

/// Returns JSON with escapes in the place of the characters that [`plain`] removes.
pub(crate) fn escaped(json: &str) -> Cow<'_, str> {
    if json.chars().all(is_harmless) {
        return json.into();
    }
    let mut clean = String::with_capacity(json.len());
    for character in json.chars() {
        if is_harmless(character) {
            clean.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                let _ = write!(clean, "\\u{unit:04x}");
            }
        }
    }
    clean.into()
}

fn is_harmless(character: char) -> bool {
    match character {
        '\n' | '\t' => true,
        // `Bidi_Control`.
        '\u{61c}' | '\u{200e}' | '\u{200f}' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => false,
        '\u{2028}' | '\u{2029}' => false,
        '\u{e0000}'..='\u{e007f}' => false,
        other => !other.is_control(),
    }
}

/// Reads each character once. A control string goes with its terminator (ECMA-48); without one its
/// text stays, or it could hide the rest.
fn stripped(text: impl Iterator<Item = char>) -> String {
    let mut text = text.peekable();
    let mut clean = String::new();
    // The length of `clean` before the first control string that has not ended.
    let mut string = None;
    while let Some(character) = text.next() {
        match kind(character, &mut text) {
            Kind::Text => clean.push(character),
            Kind::Sequence => {
                while text.next_if(|it| matches!(it, ' '..='?')).is_some() {}
                text.next_if(|it| matches!(it, '@'..='~'));
            }
            Kind::Escape => {
                while text.next_if(|it| matches!(it, ' '..='/')).is_some() {}
                text.next_if(|it| matches!(it, '0'..='~'));
            }
            Kind::String => {
                string.get_or_insert(clean.len());
            }
            Kind::Terminator => clean.truncate(string.take().unwrap_or(clean.len())),
            Kind::Control => {}
        }
    }
    clean
}

/// The beginnings of text and of sequences.
enum Kind {
    Text,
    /// A control sequence: parameters and a final character follow.
    Sequence,
    /// Another escape sequence: intermediate characters and a final one follow.
    Escape,
    /// A control string.
    String,
    /// The end of a control string.
    Terminator,
    Control,
}

/// Returns the kind of a character. It takes the second character of those that are written as two.
fn kind(character: char, rest: &mut Peekable<impl Iterator<Item = char>>) -> Kind {
    let second = match character {
        '\x1b' => rest.next_if(|it| "[]PX^_\\".contains(*it)),
        _ => None,
    };
    match (character, second) {
        ('\x1b', Some('[')) | ('\u{9b}', _) => Kind::Sequence,
        ('\x07' | '\u{9c}', _) | ('\x1b', Some('\\')) => Kind::Terminator,
        ('\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}', _) | ('\x1b', Some(_)) => Kind::String,
        ('\x1b', None) => Kind::Escape,
        (other, _) if is_harmless(other) => Kind::Text,
        _ => Kind::Control,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_go_and_text_stays() {
        let check = |text: &str, expected: &str| assert_eq!(plain(text), expected, "{text:?}");
        check("", "");
        check("Zoë\t🦀\nnext", "Zoë\t🦀\nnext");
        check("\x1b[31mred\x1b[0m", "red");
        check("\x1b[38;2;1;2;3mred\x1b[m", "red");
        check("a\x1b[2J\x1b[Hb", "ab");
        check("a\u{9b}31mb", "ab");
        check("\x1b]0;title\x07text", "text");
        check("\x1b]8;;http://evil\x1b\\link\x1b]8;;\x1b\\", "link");
        check("\u{9d}52;c;aGk=\u{9c}text", "text");
        check("\x1bPq#0\x1b\\text", "text");
        check("\x1b(Btext\x1bc\x1b7\x1b=", "text");
        check("one\rtwo\r\nthree\x08\x7f\0", "onetwo\nthree");
        check(
            "a\u{202e}fdp.exe\u{2066}\u{200e}\u{200f}\u{61c}",
            "afdp.exe",
        );
        check("one\u{2028}line\u{2029}", "oneline");
        check("a\u{e0001}\u{e0069}\u{e007f}b", "ab");
        // Cut off, or not what it began as: only the introducer goes, and nothing hides.
        check("a\x1b", "a");
        check("a\x1b[", "a");
        check("a\x1b[31", "a");
        check("a\x1b]0;the rest", "a0;the rest");
        check("a\x1b[3é", "aé");
        check("a\x1bé", "aé");
        check("a\x1b[\x1b[31mb", "ab");
        check("a\x1b]0;\x1b[31mred", "a0;red");
        check("a\x1b]0;\x1b]1;two\x07b\x1b\\", "ab");
        check("a\x1b]0;\x1b[3\u{9c}b", "ab");
    }

    /// A text of nothing but introducers is read once.
    #[test]
    fn each_character_is_read_once() {
        let text = "\x1b]\u{9b}\x1bP\x1b(".repeat(10_000);
        let mut count = 0;
        let clean = stripped(text.chars().inspect(|_| count += 1));
        assert_eq!((clean.as_str(), count), ("", text.chars().count()));
    }

    #[test]
    fn one_line() {
        assert_eq!(line("a name"), "a name");
        assert_eq!(line(" two\r\n\tlines \x1b[1m "), "two lines");
    }

    #[test]
    fn json_says_what_it_holds() {
        assert_eq!(
            escaped("\"a\u{9b}31m\u{7f}\u{202e}é\u{2028}\u{e0069}\""),
            "\"a\\u009b31m\\u007f\\u202eé\\u2028\\udb40\\udc69\""
        );
        assert_eq!(escaped("{}"), "{}");
    }
}
