//! How a client declares its capabilities.

use crate::json::{EncodeError, Writer};
use crate::model::{ClientCapabilities, ClientFeatures as F, Implementation};
use crate::revision::Revision;
use crate::texts::Declare;

impl Declare for ClientCapabilities<'_> {
    type Error = EncodeError;

    fn write_info(
        info: &Implementation<'_>,
        revision: Revision,
        w: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        w.value(info, Some(revision))
    }

    fn write(&self, revision: Revision, w: &mut Writer<'_>) -> Result<(), EncodeError> {
        if hides_elicitation(revision, self) {
            let capabilities = Self {
                elicitation: None,
                ..*self
            };
            return w.value(&capabilities, Some(revision));
        }
        w.value(self, Some(revision))
    }
}

/// Returns whether a revision with a handshake knows none of the modes of elicitation that the
/// client has. Then elicitation is not declared: an empty declaration would mean the other mode.
fn hides_elicitation(revision: Revision, capabilities: &ClientCapabilities<'_>) -> bool {
    let modes = F::ELICITATION_FORM.with(F::ELICITATION_URL);
    revision.is_legacy() && !F::from(capabilities).known_in(revision).intersects(modes)
}
