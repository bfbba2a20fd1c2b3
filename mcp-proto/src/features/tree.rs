//! The tree of the capabilities of a role, as a table.

use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::{DeclaredExtensions, Settings};
use crate::json::{Object, Writer};
use crate::revision::{Revision, RevisionSet};

/// A member of the capabilities.
#[derive(Debug)]
pub(super) struct Row {
    /// The path of the object that has it; empty for the capabilities themselves.
    pub(super) parent: &'static str,
    pub(super) name: &'static str,
    pub(super) path: &'static str,
    /// The bit that it stands for.
    pub(super) bit: u16,
    /// It counts if it is true, not if it is an object.
    pub(super) is_flag: bool,
    pub(super) revisions: RevisionSet,
}

/// Reads the bits of the members that are there; none, if one of them is there twice.
pub(super) fn read(capabilities: Option<Object<'_>>, rows: &'static [Row]) -> u16 {
    let mut walk = Walk {
        rows,
        seen: 0,
        bits: 0,
    };
    match capabilities {
        Some(capabilities) if walk.object(capabilities, "") => walk.bits,
        _ => 0,
    }
}

struct Walk {
    rows: &'static [Row],
    /// A bit for each row of the table.
    seen: u32,
    bits: u16,
}

impl Walk {
    /// One pass over an object, and over those in it that the table has: as deep as the table
    /// is, however deep the text. False, if something stands twice.
    fn object(&mut self, object: Object<'_>, parent: &str) -> bool {
        for (name, value) in object.members() {
            let row = (0u8..)
                .zip(self.rows)
                .find(|(_, row)| row.parent == parent && name == *row.name);
            let Some((index, row)) = row else {
                continue;
            };
            let seen = 1u32.checked_shl(index.into()).unwrap_or_default();
            if self.seen & seen != 0 {
                return false;
            }
            self.seen |= seen;
            let child = value.object();
            if child.is_some() && !row.is_flag || row.is_flag && value.boolean() == Some(true) {
                self.bits |= row.bit;
            }
            if let Some(child) = child
                && !self.object(child, row.path)
            {
                return false;
            }
        }
        true
    }
}

/// Returns true if two texts are equal: `==` is not `const`.
const fn is_same(one: &str, other: &str) -> bool {
    let (mut one, mut other) = (one.as_bytes(), other.as_bytes());
    let mut is_same = one.len() == other.len();
    while let ([a, one_rest @ ..], [b, other_rest @ ..], true) = (one, other, is_same) {
        is_same = *a == *b;
        (one, other) = (one_rest, other_rest);
    }
    is_same
}

/// The capabilities of a role that are declared.
pub(super) struct Tree {
    pub(super) rows: &'static [Row],
    pub(super) bits: u16,
}

impl Tree {
    /// Returns the members of an object that are declared, or have a part that is.
    fn members<'t>(&'t self, parent: &'t str) -> impl Iterator<Item = &'static Row> + 't {
        let rows = self.rows.iter();
        rows.filter(move |row| row.parent == parent && self.has(row))
    }

    /// Returns true if the member is declared, or has a part that is.
    const fn has(&self, row: &Row) -> bool {
        let mut has = row.bit & self.bits != 0;
        let mut rows = self.rows;
        while let ([part, others @ ..], false) = (rows, has) {
            has = is_same(part.parent, row.path) && self.has(part);
            rows = others;
        }
        has
    }

    /// Returns the bits of all that is declared, with whatever it is a part of.
    pub(super) const fn with_parents(&self) -> u16 {
        let mut bits = 0;
        let mut rows = self.rows;
        while let [row, others @ ..] = rows {
            if self.has(row) {
                bits |= row.bit;
            }
            rows = others;
        }
        bits
    }

    /// Writes it for a revision, with the settings of those beyond the protocol.
    pub(super) fn write(
        &self,
        experimental: Option<&Settings<'_>>,
        extensions: Option<&Settings<'_>>,
        revision: Revision,
        declared: &impl DeclaredExtensions,
        w: &mut Writer<'_>,
    ) {
        w.literal("{");
        if let Some(experimental) = experimental {
            w.literal("\"experimental\":");
            experimental.write(w);
        }
        let is_first = self.write_members("", experimental.is_none(), revision, w);
        if let Some(extensions) = extensions {
            let before = w.len();
            w.literal(if is_first { "" } else { "," });
            declared.write(extensions, revision, before, w);
        }
        w.literal("}");
    }

    /// Writes the members of an object; returns whether the next member would be the first.
    fn write_members(
        &self,
        parent: &str,
        mut is_first: bool,
        revision: Revision,
        w: &mut Writer<'_>,
    ) -> bool {
        for row in self.members(parent) {
            if !row.revisions.contains(revision) {
                continue;
            }
            w.literal(if is_first { "" } else { "," });
            is_first = false;
            w.string(row.name);
            if row.is_flag {
                w.literal(":true");
            } else {
                w.literal(":{");
                self.write_members(row.path, true, revision, w);
                w.literal("}");
            }
        }
        is_first
    }

    /// Writes it through serde. The serializer omits members by their names, which no two rows
    /// share with other revisions.
    pub(super) fn serialize<S: Serializer>(
        &self,
        name: &'static str,
        experimental: Option<&Settings<'_>>,
        extensions: Option<&Settings<'_>>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let settings = |settings: Option<&Settings<'_>>| usize::from(settings.is_some());
        let count = self.members("").count() + settings(experimental) + settings(extensions);
        let mut members = serializer.serialize_struct(name, count)?;
        if let Some(experimental) = experimental {
            members.serialize_field("experimental", experimental)?;
        }
        Branch(self, "", name).fields(&mut members)?;
        if let Some(extensions) = extensions {
            members.serialize_field("extensions", extensions)?;
        }
        members.end()
    }
}

/// An object of the tree: its path, and the name of the type for the serializer.
struct Branch<'t>(&'t Tree, &'static str, &'static str);

impl Branch<'_> {
    fn fields<S: SerializeStruct>(&self, members: &mut S) -> Result<(), S::Error> {
        for row in self.0.members(self.1) {
            if row.is_flag {
                members.serialize_field(row.name, &true)?;
            } else {
                members.serialize_field(row.name, &Branch(self.0, row.path, self.2))?;
            }
        }
        Ok(())
    }
}

impl Serialize for Branch<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let count = self.0.members(self.1).count();
        let mut members = serializer.serialize_struct(self.2, count)?;
        self.fields(&mut members)?;
        members.end()
    }
}
