//! The texts of a client's configuration.

#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
use alloc::{boxed::Box, sync::Arc};

use super::config::ClientConfig;
use crate::json::{EncodeError, Str, Writer};
use crate::model::{ClientCapabilities, ClientFeatures as F, Implementation};
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
use crate::per_revision::PerRevision;
use crate::revision::Revision;

/// What a client says of itself, and the result types of its extensions.
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
        capabilities: ClientCapabilities<'c>,
        result_types: &'c [&'c str],
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
    result_types: Box<[Box<str>]>,
}

impl<'c> Texts<'c> {
    pub(super) const fn borrowed(config: &ClientConfig<'c>) -> Self {
        Self::Borrowed {
            info: config.info,
            capabilities: config.capabilities,
            result_types: config.result_types,
        }
    }

    /// Writes who the client is, as far as the revision has a place for it.
    pub(super) fn write_info(
        &self,
        revision: Revision,
        w: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        match self {
            Self::Borrowed { info, .. } => w.value(info, Some(revision)),
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            Self::Shared(texts) => {
                w.literal(texts.info.get(revision));
                Ok(())
            }
        }
    }

    /// Writes what servers may ask of the client, as far as the revision knows it.
    pub(super) fn write_capabilities(
        &self,
        revision: Revision,
        w: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        match self {
            Self::Borrowed { capabilities, .. } if hides_elicitation(revision, capabilities) => {
                let capabilities = ClientCapabilities {
                    elicitation: None,
                    ..*capabilities
                };
                w.value(&capabilities, Some(revision))
            }
            Self::Borrowed { capabilities, .. } => w.value(capabilities, Some(revision)),
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            Self::Shared(texts) => {
                w.literal(texts.capabilities.get(revision));
                Ok(())
            }
        }
    }

    /// Returns whether an extension of this client defines this `resultType`.
    pub(super) fn has_result_type(&self, name: Str<'_>) -> bool {
        match self {
            Self::Borrowed { result_types, .. } => result_types.iter().any(|own| name == **own),
            #[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
            Self::Shared(texts) => texts.result_types.iter().any(|own| name == **own),
        }
    }
}

#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
impl Texts<'static> {
    pub(super) fn shared(config: &ClientConfig<'_>) -> Self {
        let texts = Texts::borrowed(config);
        // The payloads are types of the model: their serialization cannot fail.
        Self::Shared(Arc::new(SharedTexts {
            info: PerRevision::new(|revision, w| {
                let _ = texts.write_info(revision, w);
            }),
            capabilities: PerRevision::new(|revision, w| {
                let _ = texts.write_capabilities(revision, w);
            }),
            result_types: config
                .result_types
                .iter()
                .map(|name| Box::from(*name))
                .collect(),
        }))
    }
}

/// Returns whether a revision with a handshake knows none of the modes of elicitation that the
/// client has. Then elicitation is not declared: an empty declaration would mean the other mode.
fn hides_elicitation(revision: Revision, capabilities: &ClientCapabilities<'_>) -> bool {
    let modes = F::ELICITATION_FORM.with(F::ELICITATION_URL);
    revision.is_legacy() && !F::from(capabilities).known_in(revision).intersects(modes)
}
