//! The texts of a configuration.

#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
use alloc::boxed::Box;

use crate::custom_method::CustomMethod;
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
use crate::json::{MAX_DEPTH, Raw, offset};
use crate::json::{Str, Writer};
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
use crate::model::WriteDirect as _;
use crate::model::{Implementation, Settings};
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
use crate::per_revision::PerRevision;
use crate::result_type::ResultType;
use crate::revision::{Revision, RevisionSet};

/// The capabilities of a role, and how its messages declare them.
pub(crate) trait Declare: Copy {
    /// The extensions among them.
    fn extensions(&self) -> Option<&Settings<'_>>;

    /// Writes the capabilities, as far as the revision knows them, with the extensions that are
    /// declared in it.
    fn write(&self, revision: Revision, extensions: &impl DeclaredExtensions, w: &mut Writer<'_>);
}

/// Texts of the caller.
#[expect(
    unnameable_types,
    reason = "only hidden methods of the sealed `Config` name it"
)]
#[derive(Clone, Copy, Debug)]
pub struct BorrowedTexts<'t, C> {
    pub(crate) info: &'t Implementation<'t>,
    pub(crate) capabilities: &'t C,
    /// Of a server.
    pub(crate) instructions: Option<&'t str>,
    /// The methods beyond the protocol.
    pub(crate) methods: &'t [CustomMethod<'t>],
    /// Of a server: the keys of the filter of a listen that the application judges.
    pub(crate) filters: &'t [&'t str],
    /// Of a client: the types of results that its extensions define.
    pub(crate) result_types: &'t [ResultType<'t>],
    /// The revisions in which an extension is declared.
    pub(crate) extension_revisions: &'t [(&'t str, RevisionSet)],
}

/// Texts with memory of their own, as they are written.
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
#[derive(Debug)]
pub(crate) struct SharedTexts {
    pub(crate) info: PerRevision,
    pub(crate) capabilities: PerRevision,
    pub(crate) instructions: Option<Box<str>>,
    pub(crate) methods: Box<[SharedMethod]>,
    pub(crate) filters: Box<[Box<str>]>,
    pub(crate) result_types: Box<[SharedResultType]>,
}

/// A [`ResultType`] with memory of its own.
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
#[derive(Debug)]
pub(crate) struct SharedResultType {
    pub(crate) name: Box<str>,
    pub(crate) extension: Box<str>,
    pub(crate) methods: Box<[Box<str>]>,
}

/// A [`CustomMethod`] with memory of its own.
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
#[derive(Debug)]
pub(crate) struct SharedMethod {
    pub(crate) name: Box<str>,
    subject: Option<Box<str>>,
    requires: Option<Box<str>>,
}

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

#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
impl SharedTexts {
    pub(crate) fn of<C: Declare>(texts: &BorrowedTexts<'_, C>) -> Self {
        Self {
            info: PerRevision::new(|revision, w| {
                texts.info.write(revision, w);
            }),
            capabilities: PerRevision::new(|revision, w| {
                let extensions = ExtensionRevisions(texts.extension_revisions);
                texts.capabilities.write(revision, &extensions, w);
            }),
            instructions: texts.instructions.map(Box::from),
            methods: texts.methods.iter().map(SharedMethod::new).collect(),
            filters: texts.filters.iter().map(|key| Box::from(*key)).collect(),
            result_types: texts
                .result_types
                .iter()
                .map(SharedResultType::new)
                .collect(),
        }
    }
}

#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
impl SharedResultType {
    fn new(own: &ResultType<'_>) -> Self {
        Self {
            name: own.name.into(),
            extension: own.extension.into(),
            methods: own
                .methods
                .iter()
                .map(|method| Box::from(*method))
                .collect(),
        }
    }
}

#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
impl SharedMethod {
    fn new(method: &CustomMethod<'_>) -> Self {
        Self {
            name: method.name.into(),
            subject: method.subject.map(Box::from),
            requires: method.requires.map(Box::from),
        }
    }

    pub(crate) fn get(&self) -> CustomMethod<'_> {
        CustomMethod {
            name: &self.name,
            subject: self.subject.as_deref(),
            requires: self.requires.as_deref(),
        }
    }
}
