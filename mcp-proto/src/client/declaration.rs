//! How a client declares its capabilities.

use crate::json::{EncodeError, Writer};
use crate::model::{ClientCapabilities, ClientFeatures as F, Implementation};
use crate::revision::Revision;
use crate::texts::{Declare, DeclaredExtensions};

impl Declare for ClientCapabilities<'_> {
    type Error = EncodeError;

    fn write_info(
        info: &Implementation<'_>,
        revision: Revision,
        w: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        w.value(info, Some(revision))
    }

    fn write(
        &self,
        revision: Revision,
        extensions: &impl DeclaredExtensions,
        w: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        let mut capabilities = *self;
        if hides_elicitation(revision, self) {
            capabilities.elicitation = None;
        }
        let Some(declared) = capabilities.extensions.take() else {
            return w.value(&capabilities, Some(revision));
        };
        let start = w.len();
        w.value(&capabilities, Some(revision))?;
        // Reopens the object, for one member more.
        let before = w.len().saturating_sub("}".len());
        w.truncate(before);
        if before > start.saturating_add("{".len()) {
            w.literal(",");
        }
        extensions.write(&declared, revision, before, w);
        w.literal("}");
        Ok(())
    }
}

/// Returns whether a revision with a handshake knows none of the modes of elicitation that the
/// client has. Then elicitation is not declared: an empty declaration would mean the other mode.
fn hides_elicitation(revision: Revision, capabilities: &ClientCapabilities<'_>) -> bool {
    let modes = F::ELICITATION_FORM.with(F::ELICITATION_URL);
    revision.is_legacy() && !F::from(capabilities).known_in(revision).intersects(modes)
}
