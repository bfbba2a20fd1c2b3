//! The texts of a configuration.

#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
use alloc::{boxed::Box, sync::Arc};

use crate::config_error::ConfigError;
use crate::custom_method::CustomMethod;
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
use crate::json::{MAX_DEPTH, Raw, offset};
use crate::json::{Str, Writer};
use crate::model::{Implementation, Settings, WriteDirect as _};
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

/// The texts by which a program with the capabilities `C` describes itself: borrowed, or in shared
/// memory.
#[derive(Clone, Debug)]
#[cfg_attr(
    all(feature = "alloc", target_has_atomic = "ptr"),
    expect(
        clippy::large_enum_variant,
        reason = "a setup has one of them, and the larger one is for programs without an allocator"
    )
)]
pub(crate) enum Texts<'c, C> {
    Borrowed(BorrowedTexts<'c, C>),
    #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
    Shared(Arc<SharedTexts>),
}

/// Texts of the caller.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BorrowedTexts<'c, C> {
    pub(crate) info: Implementation<'c>,
    pub(crate) capabilities: C,
    /// Of a server.
    pub(crate) instructions: Option<&'c str>,
    /// The methods beyond the protocol.
    pub(crate) methods: &'c [CustomMethod<'c>],
    /// Of a server: the keys of the filter of a listen that the application judges.
    pub(crate) filters: &'c [&'c str],
    /// Of a client: the types of results that its extensions define.
    pub(crate) result_types: &'c [ResultType<'c>],
    /// The revisions in which an extension is declared.
    pub(crate) extension_revisions: &'c [(&'c str, RevisionSet)],
}

/// Texts with memory of their own, as they are written.
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
#[derive(Debug)]
pub(crate) struct SharedTexts {
    info: PerRevision,
    capabilities: PerRevision,
    instructions: Option<Box<str>>,
    methods: Box<[SharedMethod]>,
    filters: Box<[Box<str>]>,
    result_types: Box<[SharedResultType]>,
    /// The first mistake in what they were copied from.
    mistake: Option<ConfigError>,
}

/// A [`ResultType`] with memory of its own.
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
#[derive(Debug)]
struct SharedResultType {
    name: Box<str>,
    extension: Box<str>,
    methods: Box<[Box<str>]>,
}

/// A [`CustomMethod`] with memory of its own.
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
#[derive(Debug)]
struct SharedMethod {
    name: Box<str>,
    subject: Option<Box<str>>,
    requires: Option<Box<str>>,
}

impl<C: Declare> Texts<'_, C> {
    /// The first mistake in them, which `check` finds in those that are not copied.
    pub(crate) fn mistake(
        &self,
        check: impl FnOnce(&BorrowedTexts<'_, C>) -> Option<ConfigError>,
    ) -> Option<ConfigError> {
        match self {
            Self::Borrowed(texts) => check(texts),
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            Self::Shared(texts) => texts.mistake,
        }
    }

    /// Writes who the program is, as far as the revision has a place for it.
    pub(crate) fn write_info(&self, revision: Revision, w: &mut Writer<'_>) {
        match self {
            Self::Borrowed(texts) => texts.info.write(revision, w),
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            Self::Shared(texts) => {
                w.literal(texts.info.get(revision));
            }
        }
    }

    /// Writes what the program can do, as far as the revision knows it.
    pub(crate) fn write_capabilities(&self, revision: Revision, w: &mut Writer<'_>) {
        match self {
            Self::Borrowed(texts) => {
                let extensions = ExtensionRevisions(texts.extension_revisions);
                texts.capabilities.write(revision, &extensions, w);
            }
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            Self::Shared(texts) => {
                w.literal(texts.capabilities.get(revision));
            }
        }
    }

    /// Writes the same without the extensions that are not among these.
    pub(crate) fn write_capabilities_with(
        &self,
        chosen: &[&str],
        revision: Revision,
        w: &mut Writer<'_>,
    ) {
        match self {
            Self::Borrowed(texts) => {
                let extensions = ChosenExtensions {
                    names: chosen,
                    revisions: ExtensionRevisions(texts.extension_revisions),
                };
                texts.capabilities.write(revision, &extensions, w);
            }
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            Self::Shared(texts) => {
                write_chosen(texts.capabilities.get(revision), chosen, w);
            }
        }
    }

    pub(crate) fn instructions(&self) -> Option<&str> {
        match self {
            Self::Borrowed(texts) => texts.instructions,
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            Self::Shared(texts) => texts.instructions.as_deref(),
        }
    }

    /// Returns the method of this name beyond the protocol.
    pub(crate) fn method(&self, name: Str<'_>) -> Option<CustomMethod<'_>> {
        self.method_at(self.place_of(name)?)
    }

    /// Returns the place of the method of this name in the list.
    pub(crate) fn place_of(&self, name: Str<'_>) -> Option<usize> {
        match self {
            Self::Borrowed(texts) => {
                let mut methods = texts.methods.iter();
                methods.position(|method| name == *method.name)
            }
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            Self::Shared(texts) => {
                let mut methods = texts.methods.iter();
                methods.position(|method| name == *method.name)
            }
        }
    }

    /// Returns the method at this place of the list.
    pub(crate) fn method_at(&self, place: usize) -> Option<CustomMethod<'_>> {
        match self {
            Self::Borrowed(texts) => texts.methods.get(place).copied(),
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            Self::Shared(texts) => texts.methods.get(place).map(SharedMethod::get),
        }
    }

    /// Calls `each` with every method beyond the protocol.
    pub(crate) fn each_method(&self, each: impl FnMut(CustomMethod<'_>)) {
        match self {
            Self::Borrowed(texts) => texts.methods.iter().copied().for_each(each),
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            Self::Shared(texts) => texts.methods.iter().map(SharedMethod::get).for_each(each),
        }
    }

    /// Calls `each` with every key of a filter that the application judges.
    pub(crate) fn each_filter(&self, mut each: impl FnMut(&str)) {
        match self {
            Self::Borrowed(texts) => texts.filters.iter().for_each(|key| each(key)),
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            Self::Shared(texts) => texts.filters.iter().for_each(|key| each(key)),
        }
    }

    /// Returns the types of results that a method may return on a request that declares these
    /// extensions, or all of them, as bits of their places in the list.
    pub(crate) fn result_types_of(&self, method: Str<'_>, extensions: Option<&[&str]>) -> u32 {
        let is_declared =
            |name: &str| extensions.is_none_or(|extensions| extensions.contains(&name));
        let mut types = 0;
        match self {
            Self::Borrowed(texts) => {
                for (place, own) in (0..).zip(texts.result_types) {
                    let is_own = own.methods.iter().any(|own| method == **own);
                    types |= bit(place, is_own && is_declared(own.extension));
                }
            }
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            Self::Shared(texts) => {
                for (place, own) in (0..).zip(&texts.result_types) {
                    let is_own = own.methods.iter().any(|own| method == **own);
                    types |= bit(place, is_own && is_declared(&own.extension));
                }
            }
        }
        types
    }

    /// Returns the bit of this type of results; 0 if no extension defines it.
    pub(crate) fn result_type(&self, name: Str<'_>) -> u32 {
        let mut types = 0;
        match self {
            Self::Borrowed(texts) => {
                for (place, own) in (0..).zip(texts.result_types) {
                    types |= bit(place, name == *own.name);
                }
            }
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            Self::Shared(texts) => {
                for (place, own) in (0..).zip(&texts.result_types) {
                    types |= bit(place, name == *own.name);
                }
            }
        }
        types
    }
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
struct ChosenExtensions<'c> {
    names: &'c [&'c str],
    revisions: ExtensionRevisions<'c>,
}

impl DeclaredExtensions for ChosenExtensions<'_> {
    fn declares(&self, extension: Str<'_>, revision: Revision) -> bool {
        let is_chosen = self.names.iter().any(|name| extension == **name);
        is_chosen && self.revisions.declares(extension, revision)
    }
}

/// Writes capabilities without the extensions that are not among these.
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
fn write_chosen(capabilities: &str, chosen: &[&str], w: &mut Writer<'_>) {
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

/// The bit of a place, if it is set and the number has it.
fn bit(place: u32, is_set: bool) -> u32 {
    u32::from(is_set).checked_shl(place).unwrap_or_default()
}

#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
impl<C: Declare> Texts<'static, C> {
    /// Copies the texts into memory that is freed with the last clone.
    pub(crate) fn shared<T: Declare>(
        texts: &BorrowedTexts<'_, T>,
        mistake: Option<ConfigError>,
    ) -> Self {
        Self::Shared(Arc::new(SharedTexts {
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
            mistake,
        }))
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

    fn get(&self) -> CustomMethod<'_> {
        CustomMethod {
            name: &self.name,
            subject: self.subject.as_deref(),
            requires: self.requires.as_deref(),
        }
    }
}
