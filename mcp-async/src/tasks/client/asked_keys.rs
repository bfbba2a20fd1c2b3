//! The keys under which a task asks.

use std::collections::HashSet;

use mcp_proto::json::{Object, Raw, Str};

/// The keys of all questions of a task so far (TK-57), within bounds.
#[derive(Default)]
pub(super) struct AskedKeys {
    keys: HashSet<String>,
    bytes: usize,
}

impl AskedKeys {
    /// Forgets keys whose questions were taken back before they were answered.
    pub(super) fn forget(&mut self, keys: &[String]) {
        for key in keys {
            if self.keys.remove(key) {
                self.bytes -= key.len();
            }
        }
    }

    /// Notes the keys of these questions, and returns the questions that are new; `None` if there
    /// are too many keys.
    pub(super) fn select<'b>(&mut self, asked: Object<'b>) -> Option<Vec<(Str<'b>, Raw<'b>)>> {
        let mut new = Vec::new();
        for (count, (key, question)) in asked.members().enumerate() {
            let name = key.to_cow();
            if !self.keys.contains(&*name) {
                self.bytes += name.len();
                self.keys.insert(name.into_owned());
                new.push((key, question));
            }
            if count >= KEYS || self.keys.len() > KEYS || self.bytes > BYTES {
                return None;
            }
        }
        Some(new)
    }
}

/// The most keys of one task.
const KEYS: usize = 1024;
/// The most bytes of them all.
const BYTES: usize = 64 << 10;
