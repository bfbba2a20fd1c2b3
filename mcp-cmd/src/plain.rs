//! Text of a peer, fit for a terminal.

use core::fmt::Write as _;
use std::borrow::Cow;

/// The text without what a terminal would obey: escape sequences go whole, other control
/// characters alone, and so do the marks that turn the direction of text around. Line breaks
/// and tabs stay.
pub(crate) fn plain(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_harmless) {
        return text.into();
    }
    let mut clean = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        let behind = rest.get(character.len_utf8()..).unwrap_or_default();
        if is_harmless(character) {
            clean.push(character);
            rest = behind;
        } else {
            let skipped = sequence(character, behind);
            rest = behind.get(skipped..).unwrap_or_default();
        }
    }
    clean.into()
}

/// The same on one line: for names, titles and log messages.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    match plain(text) {
        clean if clean.contains(['\n', '\t']) => {
            let words: Vec<&str> = clean.split_whitespace().collect();
            words.join(" ").into()
        }
        clean => clean,
    }
}

/// JSON text, in which such characters can be said instead of left out.
pub(crate) fn escaped(json: &str) -> Cow<'_, str> {
    if json.chars().all(is_harmless) {
        return json.into();
    }
    let mut clean = String::with_capacity(json.len());
    for character in json.chars() {
        if is_harmless(character) {
            clean.push(character);
        } else {
            // All of them lie in the first plane, where four digits name a character.
            let _ = write!(clean, "\\u{:04x}", u32::from(character));
        }
    }
    clean.into()
}

fn is_harmless(character: char) -> bool {
    match character {
        '\n' | '\t' => true,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => false,
        other => !other.is_control(),
    }
}

/// The length of what belongs to the control character before `behind` (ECMA-48).
fn sequence(control: char, behind: &str) -> usize {
    match (control, behind.as_bytes().first()) {
        ('\x1b', Some(b'[')) => 1 + control_sequence(behind.get(1..).unwrap_or_default()),
        ('\x1b', Some(b']' | b'P' | b'X' | b'^' | b'_')) => {
            1 + control_string(behind.get(1..).unwrap_or_default())
        }
        ('\x1b', Some(b' '..=b'~')) => {
            let intermediate = behind
                .bytes()
                .take_while(|byte| matches!(byte, b' '..=b'/'));
            let len = intermediate.count();
            len + usize::from(matches!(behind.as_bytes().get(len), Some(b'0'..=b'~')))
        }
        ('\u{9b}', _) => control_sequence(behind),
        ('\u{90}' | '\u{98}' | '\u{9d}'..='\u{9f}', _) => control_string(behind),
        _ => 0,
    }
}

/// Parameters and a final byte.
fn control_sequence(behind: &str) -> usize {
    let len = behind
        .bytes()
        .take_while(|byte| matches!(byte, b' '..=b'?'))
        .count();
    len + usize::from(matches!(behind.as_bytes().get(len), Some(b'@'..=b'~')))
}

/// Everything up to the terminator; without one the text stays, or it could hide the rest.
fn control_string(behind: &str) -> usize {
    let ends = ["\x07", "\x1b\\", "\u{9c}"];
    let ends = ends
        .iter()
        .filter_map(|end| Some(behind.find(end)? + end.len()));
    ends.min().unwrap_or(0)
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
        check("a\u{202e}fdp.exe\u{2066}", "afdp.exe");
        // Cut off, or not what it began as: only the introducer goes, and nothing hides.
        check("a\x1b", "a");
        check("a\x1b[", "a");
        check("a\x1b[31", "a");
        check("a\x1b]0;the rest", "a0;the rest");
        check("a\x1b[3é", "aé");
        check("a\x1bé", "aé");
        check("a\x1b[\x1b[31mb", "ab");
    }

    #[test]
    fn one_line() {
        assert_eq!(line("a name"), "a name");
        assert_eq!(line(" two\r\n\tlines \x1b[1m "), "two lines");
    }

    #[test]
    fn json_says_what_it_holds() {
        assert_eq!(
            escaped("\"a\u{9b}31m\u{7f}\u{202e}é\""),
            "\"a\\u009b31m\\u007f\\u202eé\""
        );
        assert_eq!(escaped("{}"), "{}");
    }
}
