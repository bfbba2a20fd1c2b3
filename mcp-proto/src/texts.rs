//! The texts of a configuration.

#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
use alloc::{boxed::Box, sync::Arc};

use crate::custom_method::CustomMethod;
use crate::json::{Str, Writer};
use crate::model::{Implementation, Settings};
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
use crate::per_revision::PerRevision;
use crate::revision::{Revision, RevisionSet};

/// The capabilities of a role, and how its messages declare them.
pub(crate) trait Declare: Copy {
    /// Why a declaration is not written.
    type Error;

    /// Writes who the program is, as far as the revision has a place for it.
    fn write_info(
        info: &Implementation<'_>,
        revision: Revision,
        w: &mut Writer<'_>,
    ) -> Result<(), Self::Error>;

    /// Writes the capabilities, as far as the revision knows them, with the extensions that are
    /// declared in it.
    fn write(
        &self,
        revision: Revision,
        extensions: &ExtensionRevisions<'_>,
        w: &mut Writer<'_>,
    ) -> Result<(), Self::Error>;
}

/// What a program with the capabilities `C` says of itself: borrowed, or in shared memory.
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
    /// Of a client: the types of results that its extensions define, and the methods of each.
    pub(crate) result_types: &'c [(&'c str, &'c [&'c str])],
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
}

/// A type of results and its methods, with memory of their own.
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
type SharedResultType = (Box<str>, Box<[Box<str>]>);

/// A [`CustomMethod`] with memory of its own.
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
#[derive(Debug)]
struct SharedMethod {
    name: Box<str>,
    subject: Option<Box<str>>,
    requires: Option<Box<str>>,
}

impl<C: Declare> Texts<'_, C> {
    /// Writes who the program is, as far as the revision has a place for it.
    pub(crate) fn write_info(
        &self,
        revision: Revision,
        w: &mut Writer<'_>,
    ) -> Result<(), C::Error> {
        match self {
            Self::Borrowed(texts) => C::write_info(&texts.info, revision, w),
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            Self::Shared(texts) => {
                w.literal(texts.info.get(revision));
                Ok(())
            }
        }
    }

    /// Writes what the program can do, as far as the revision knows it.
    pub(crate) fn write_capabilities(
        &self,
        revision: Revision,
        w: &mut Writer<'_>,
    ) -> Result<(), C::Error> {
        match self {
            Self::Borrowed(texts) => {
                let extensions = ExtensionRevisions(texts.extension_revisions);
                texts.capabilities.write(revision, &extensions, w)
            }
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            Self::Shared(texts) => {
                w.literal(texts.capabilities.get(revision));
                Ok(())
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

    /// Returns the types of results that a method may return, as bits of their places in the list.
    pub(crate) fn result_types_of(&self, method: Str<'_>) -> u32 {
        let mut types = 0;
        match self {
            Self::Borrowed(texts) => {
                for (place, (_, methods)) in (0..).zip(texts.result_types) {
                    types |= bit(place, methods.iter().any(|own| method == **own));
                }
            }
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            Self::Shared(texts) => {
                for (place, (_, methods)) in (0..).zip(&texts.result_types) {
                    types |= bit(place, methods.iter().any(|own| method == **own));
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
                for (place, (own, _)) in (0..).zip(texts.result_types) {
                    types |= bit(place, name == **own);
                }
            }
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            Self::Shared(texts) => {
                for (place, (own, _)) in (0..).zip(&texts.result_types) {
                    types |= bit(place, name == **own);
                }
            }
        }
        types
    }
}

/// The revisions in which extensions are declared.
#[derive(Clone, Copy)]
pub(crate) struct ExtensionRevisions<'c>(pub(crate) &'c [(&'c str, RevisionSet)]);

impl ExtensionRevisions<'_> {
    /// Writes the member with the extensions that are declared in this revision. If there are
    /// none, and the revision need not have the member, the text ends with its first `before`
    /// bytes again.
    pub(crate) fn write(
        &self,
        extensions: &Settings<'_>,
        revision: Revision,
        before: usize,
        w: &mut Writer<'_>,
    ) {
        w.literal("\"extensions\":");
        let start = w.len();
        extensions.write_where(&|name| self.declare(name, revision), w);
        if revision.is_legacy() && w.len() == start.saturating_add("{}".len()) {
            w.truncate(before);
        }
    }

    fn declare(&self, extension: Str<'_>, revision: Revision) -> bool {
        let mut named = self.0.iter();
        named
            .find(|(name, _)| extension == **name)
            .map_or(RevisionSet::modern(), |(_, revisions)| *revisions)
            .contains(revision)
    }
}

/// The bit of a place, if it is set and the number has it.
fn bit(place: u32, is_set: bool) -> u32 {
    u32::from(is_set).checked_shl(place).unwrap_or_default()
}

#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
impl<C: Declare> Texts<'static, C> {
    /// Copies the texts into memory that is freed with the last clone.
    pub(crate) fn shared<T: Declare>(texts: &BorrowedTexts<'_, T>) -> Self {
        // The payloads are types of the model: their serialization cannot fail.
        Self::Shared(Arc::new(SharedTexts {
            info: PerRevision::new(|revision, w| {
                let _ = T::write_info(&texts.info, revision, w);
            }),
            capabilities: PerRevision::new(|revision, w| {
                let extensions = ExtensionRevisions(texts.extension_revisions);
                let _ = texts.capabilities.write(revision, &extensions, w);
            }),
            instructions: texts.instructions.map(Box::from),
            methods: texts.methods.iter().map(SharedMethod::new).collect(),
            filters: texts.filters.iter().map(|key| Box::from(*key)).collect(),
            result_types: texts
                .result_types
                .iter()
                .map(|(name, methods)| {
                    let methods = methods.iter().map(|method| Box::from(*method));
                    (Box::from(*name), methods.collect())
                })
                .collect(),
        }))
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
