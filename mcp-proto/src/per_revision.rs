//! JSON that depends on the revision, written in advance.

use alloc::string::String;
use alloc::vec::Vec;
use core::ops::Range;

use crate::json::{Writer, append};
use crate::revision::Revision;

/// One JSON text for each revision. Equal texts of neighbouring revisions are stored once.
#[derive(Debug)]
pub(crate) struct PerRevision {
    text: String,
    parts: [Range<usize>; Revision::ALL.len()],
}

impl PerRevision {
    /// Writes the texts. `write` is called twice for each revision and must write the same.
    pub(crate) fn new(write: impl Fn(Revision, &mut Writer<'_>)) -> Self {
        let mut bytes = Vec::new();
        let mut last = 0..0;
        let parts = Revision::ALL.map(|revision| {
            let start = bytes.len();
            append(&mut bytes, |writer| write(revision, writer));
            let part = start..bytes.len();
            if bytes.get(part.clone()) == bytes.get(last.clone()) {
                bytes.truncate(start);
            } else {
                last = part;
            }
            last.clone()
        });
        bytes.shrink_to_fit();
        Self {
            // A writer writes UTF-8.
            text: String::from_utf8(bytes).unwrap_or_default(),
            parts,
        }
    }

    /// Returns the text of this revision.
    pub(crate) fn get(&self, revision: Revision) -> &str {
        let mut parts = Revision::ALL.iter().zip(&self.parts);
        parts
            .find(|(known, _)| **known == revision)
            .and_then(|(_, part)| self.text.get(part.clone()))
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_revision_has_its_text_and_equal_ones_are_stored_once() {
        let texts = PerRevision::new(|revision, w| {
            w.string(if revision.is_legacy() { "old" } else { "new" });
        });
        for revision in Revision::ALL {
            let expected = if revision.is_legacy() {
                r#""old""#
            } else {
                r#""new""#
            };
            assert_eq!(texts.get(revision), expected);
        }
        assert_eq!(texts.text, r#""old""new""#);
    }

    #[test]
    fn a_text_may_be_empty() {
        let texts = PerRevision::new(|revision, w| {
            if revision.is_modern() {
                w.literal("{}");
            }
        });
        assert_eq!(texts.get(Revision::V2024_11_05), "");
        assert_eq!(texts.get(Revision::V2026_07_28), "{}");
    }
}
