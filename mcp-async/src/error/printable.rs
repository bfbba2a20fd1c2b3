//! Text of another party, as errors and logs show it.

use core::fmt::{self, Write as _};

/// A text, cut after a number of characters and with control characters escaped, so that it stays in
/// its line and does nothing to a terminal.
pub(crate) struct Printable<'a> {
    pub(crate) text: &'a str,
    pub(crate) longest: usize,
}

impl fmt::Display for Printable<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut chars = self.text.chars();
        for char in chars.by_ref().take(self.longest) {
            match char.is_control() {
                true => write!(f, "{}", char.escape_debug())?,
                false => f.write_char(char)?,
            }
        }
        match chars.next() {
            Some(_) => f.write_char('\u{2026}'),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_harmless() {
        let check = |text: &str, shown: &str| {
            assert_eq!(Printable { text, longest: 8 }.to_string(), shown);
        };
        check("", "");
        check("echo", "echo");
        check("12345678", "12345678");
        check("123456789", "12345678\u{2026}");
        check(
            "\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}\u{e9}",
            "éééééééé\u{2026}",
        );
        check("a\nb\u{1b}[2J", "a\\nb\\u{1b}[2J");
        check("\u{9b}\u{7f}", "\\u{9b}\\u{7f}");
    }
}
