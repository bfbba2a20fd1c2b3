//! The texts of a server's configuration.

#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
use alloc::{boxed::Box, sync::Arc};

use super::config::ServerConfig;
use super::declaration::{write_capabilities, write_implementation};
use crate::json::{Str, Writer};
use crate::model::{Implementation, ServerCapabilities};
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
use crate::per_revision::PerRevision;
use crate::revision::Revision;

/// What a server says of itself, and the methods of its own.
#[derive(Clone, Debug)]
#[cfg_attr(
    all(feature = "alloc", target_has_atomic = "ptr"),
    expect(
        clippy::large_enum_variant,
        reason = "a machine without an allocator has the large variant only"
    )
)]
pub(super) enum Texts<'c> {
    Borrowed {
        info: Implementation<'c>,
        instructions: Option<&'c str>,
        capabilities: ServerCapabilities<'c>,
        methods: &'c [&'c str],
    },
    #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
    Shared(Arc<SharedTexts>),
}

/// Texts with memory of their own, as they are written.
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
#[derive(Debug)]
pub(super) struct SharedTexts {
    info: PerRevision,
    capabilities: PerRevision,
    instructions: Option<Box<str>>,
    methods: Box<[Box<str>]>,
}

impl<'c> Texts<'c> {
    pub(super) const fn borrowed(config: &ServerConfig<'c>) -> Self {
        Self::Borrowed {
            info: config.info,
            instructions: config.instructions,
            capabilities: config.capabilities,
            methods: config.methods,
        }
    }

    /// Writes who the server is, as far as the revision has a place for it.
    pub(super) fn write_info(&self, revision: Revision, w: &mut Writer<'_>) {
        match self {
            Self::Borrowed { info, .. } => write_implementation(info, revision, w),
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            Self::Shared(texts) => w.literal(texts.info.get(revision)),
        }
    }

    /// Writes what the server can do, as far as the revision knows it.
    pub(super) fn write_capabilities(&self, revision: Revision, w: &mut Writer<'_>) {
        match self {
            Self::Borrowed { capabilities, .. } => write_capabilities(capabilities, revision, w),
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            Self::Shared(texts) => w.literal(texts.capabilities.get(revision)),
        }
    }

    pub(super) fn instructions(&self) -> Option<&str> {
        match self {
            Self::Borrowed { instructions, .. } => *instructions,
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            Self::Shared(texts) => texts.instructions.as_deref(),
        }
    }

    /// Returns whether the application handles this method beyond the protocol.
    pub(super) fn has_method(&self, name: Str<'_>) -> bool {
        match self {
            Self::Borrowed { methods, .. } => methods.iter().any(|own| name == **own),
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            Self::Shared(texts) => texts.methods.iter().any(|own| name == **own),
        }
    }
}

#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
impl Texts<'static> {
    pub(super) fn shared(config: &ServerConfig<'_>) -> Self {
        let texts = Texts::borrowed(config);
        Self::Shared(Arc::new(SharedTexts {
            info: PerRevision::new(|revision, w| texts.write_info(revision, w)),
            capabilities: PerRevision::new(|revision, w| texts.write_capabilities(revision, w)),
            instructions: config.instructions.map(Box::from),
            methods: config.methods.iter().map(|name| Box::from(*name)).collect(),
        }))
    }
}
