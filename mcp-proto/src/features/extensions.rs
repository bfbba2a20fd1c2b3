//! The extensions that messages declare.

use super::Settings;
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
use crate::json::{MAX_DEPTH, Raw, offset};
use crate::json::{Str, Writer};
use crate::revision::{Revision, RevisionSet};

/// The extensions that are declared in each revision.
pub(crate) trait DeclaredExtensions {
    /// Returns true if this extension is declared in this revision.
    fn declares(&self, extension: Str<'_>, revision: Revision) -> bool;

    /// Writes the member with the extensions that are declared in this revision. If there are
    /// none, and the revision need not have the member, the text ends with its first `before`
    /// bytes again.
    fn write(
        &self,
        extensions: &Settings<'_>,
        revision: Revision,
        before: usize,
        w: &mut Writer<'_>,
    ) {
        w.literal("\"extensions\":");
        let start = w.len();
        extensions.write_where(&|name| self.declares(name, revision), w);
        if revision.is_legacy() && w.len() == start.saturating_add("{}".len()) {
            w.truncate(before);
        }
    }
}

/// The revisions in which extensions are declared.
#[derive(Clone, Copy)]
pub(crate) struct ExtensionRevisions<'c>(pub(crate) &'c [(&'c str, RevisionSet)]);

impl DeclaredExtensions for ExtensionRevisions<'_> {
    fn declares(&self, extension: Str<'_>, revision: Revision) -> bool {
        let mut named = self.0.iter();
        named
            .find(|(name, _)| extension == **name)
            .map_or(RevisionSet::modern(), |(_, revisions)| *revisions)
            .contains(revision)
    }
}

/// The extensions that one request declares, and their revisions.
pub(crate) struct ChosenExtensions<'c> {
    pub(crate) names: &'c [&'c str],
    pub(crate) revisions: ExtensionRevisions<'c>,
}

impl DeclaredExtensions for ChosenExtensions<'_> {
    fn declares(&self, extension: Str<'_>, revision: Revision) -> bool {
        let is_chosen = self.names.iter().any(|name| extension == **name);
        is_chosen && self.revisions.declares(extension, revision)
    }
}

/// Writes capabilities without the extensions that are not among these.
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
pub(crate) fn write_chosen(capabilities: &str, chosen: &[&str], w: &mut Writer<'_>) {
    let declared = Raw::parse(capabilities.as_bytes(), MAX_DEPTH).ok();
    let member = declared
        .and_then(Raw::object)
        .and_then(|members| members.get("extensions"));
    let Some((member, extensions)) = member.and_then(|member| Some((member, member.object()?)))
    else {
        w.literal(capabilities);
        return;
    };
    // The member is a part of the text.
    let begin = offset(member.as_bytes(), capabilities.as_bytes()).unwrap_or(0);
    let end = begin.saturating_add(member.as_bytes().len());
    w.literal(capabilities.get(..begin).unwrap_or_default());
    let is_chosen = |extension: Str<'_>| chosen.iter().any(|name| extension == **name);
    Settings::from(extensions).write_where(&is_chosen, w);
    w.literal(capabilities.get(end..).unwrap_or_default());
}
