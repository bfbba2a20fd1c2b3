//! The cost of patterns.

use std::collections::HashMap;

use regex::RegexBuilder;

use super::limits::SchemaLimits;
use crate::schema::error::SchemaError;
use crate::schema::expected::cut;

/// The cost of matching a text against one pattern.
///
/// The engine takes time linear in the text, but each byte may take as long as the compiled
/// pattern is large: `[ab]*a[ab]{20000}c` on a megabyte is a matter of hours. So the cost is
/// size times length, in classes of sizes. A small pattern is hardly ever noticed; with the
/// limits as they are, one of 64 KiB may see 96 KiB of text, and one of a megabyte 7 KiB.
#[derive(Clone, Copy, Debug)]
pub(super) struct Matching {
    /// In eighths of an evaluation for each byte.
    rate: u64,
}

impl Matching {
    pub(super) const fn cost(self, text: &str) -> u64 {
        let eighths = self.rate.saturating_mul(text.len() as u64);
        1u64.saturating_add(eighths / 8)
    }
}

/// The patterns of one schema.
#[derive(Debug)]
pub(super) struct Patterns<'s> {
    known: HashMap<&'s str, Matching>,
    longest: usize,
    left: usize,
}

impl<'s> Patterns<'s> {
    pub(super) fn new(limits: &SchemaLimits) -> Self {
        Self {
            known: HashMap::new(),
            longest: limits.pattern,
            left: limits.patterns,
        }
    }

    /// Sizes a pattern up, once.
    pub(super) fn add(&mut self, pattern: &'s str) -> Result<Matching, SchemaError> {
        if let Some(matching) = self.known.get(pattern) {
            return Ok(*matching);
        }
        if pattern.len() > self.longest {
            return Err(SchemaError::Limit("pattern"));
        }
        let refused = || SchemaError::Pattern(cut(pattern));
        // As the validator reads it: the dialect of patterns is that of ECMAScript.
        let translated = jsonschema_regex::to_rust_regex(pattern).map_err(|()| refused())?;
        let (size, matching) = CLASSES
            .into_iter()
            .find(|(size, _)| {
                RegexBuilder::new(&translated)
                    .size_limit(*size)
                    .build()
                    .is_ok()
            })
            .map(|(size, rate)| (size, Matching { rate }))
            .ok_or_else(refused)?;
        self.left = self
            .left
            .checked_sub(size)
            .ok_or(SchemaError::Limit("patterns"))?;
        self.known.insert(pattern, matching);
        Ok(matching)
    }
}

/// The largest pattern that is compiled.
pub(super) const LARGEST: usize = 1 << 20;

/// Sizes of compiled patterns, and what a byte of text then costs at the worst. Measured for
/// patterns that defeat every shortcut of the engine: 5 microseconds a byte at 64 KiB, 70 at a
/// megabyte.
const CLASSES: [(usize, u64); 5] = [
    (1 << 12, 4),
    (1 << 14, 20),
    (1 << 16, 80),
    (1 << 18, 320),
    (LARGEST, 1120),
];
