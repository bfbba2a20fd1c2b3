//! The names of extensions.

use crate::model::Settings;

/// Returns whether a text can be the name of an extension (VR-10, EX-03): `com.example/notes`. Names
/// are compared exactly, and `io.modelcontextprotocol/` is for official extensions.
///
/// A prefix of labels between dots precedes a slash and the name. A label begins with a letter, the
/// name with a letter or a digit, both end with one of these, and between them hyphens may stand, in
/// the name also underscores and dots.
///
/// ```
/// use mcp_proto::is_extension_name;
///
/// assert!(is_extension_name("com.example/my_notes.v2"));
/// assert!(!is_extension_name("notes"));
/// assert!(!is_extension_name("com.example/"));
/// ```
pub fn is_extension_name(name: &str) -> bool {
    is_name(name.chars())
}

/// Returns whether the names of all declared extensions can be names.
pub(crate) fn are_extension_names(extensions: Option<&Settings<'_>>) -> bool {
    extensions.is_none_or(|extensions| extensions.iter().all(|(name, _)| is_name(name.chars())))
}

fn is_name(chars: impl Iterator<Item = char>) -> bool {
    // The character before, in the label or in the name.
    let mut last = None;
    let mut is_in_name = false;
    for char in chars {
        let continues = last.is_some();
        let ends = last.is_some_and(|last: char| last.is_ascii_alphanumeric());
        last = match char {
            'a'..='z' | 'A'..='Z' => Some(char),
            '0'..='9' if is_in_name || continues => Some(char),
            '-' if continues => Some(char),
            '_' | '.' if is_in_name && continues => Some(char),
            '.' | '/' if !is_in_name && ends => {
                is_in_name = char == '/';
                None
            }
            _ => return false,
        };
    }
    is_in_name && last.is_some_and(|last| last.is_ascii_alphanumeric())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names() {
        for name in [
            "io.modelcontextprotocol/tasks",
            "com.example/a",
            "a/1",
            "a-b.c1/d-e_f.g",
            "A.B/C",
        ] {
            assert!(is_extension_name(name), "{name}");
        }
    }

    #[test]
    fn texts_that_are_no_names() {
        for name in [
            "", "/", "a", "a/", "/a", "a.b", "a./b", ".a/b", "a..b/c", "1a/b", "a.1/b", "-a/b",
            "a-/b", "a_b/c", "a/-b", "a/b-", "a/_b", "a/b.", "a/b/c", "a b/c", "a/b c", "a/\u{e9}",
            "\u{e9}/a", " a/b",
        ] {
            assert!(!is_extension_name(name), "{name}");
        }
    }
}
