//! How a client declares its capabilities.

use crate::json::{EncodeError, Str, Writer};
use crate::model::{ClientCapabilities, ClientFeatures as F, Implementation};
use crate::revision::Revision;
use crate::texts::{Declare, ExtensionRevisions};

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
        extensions: &ExtensionRevisions<'_>,
        w: &mut Writer<'_>,
    ) -> Result<(), EncodeError> {
        let mut capabilities = *self;
        if hides_elicitation(revision, self) {
            capabilities.elicitation = None;
        }
        if extensions.is_default() {
            return w.value(&capabilities, Some(revision));
        }
        capabilities.extensions = None;
        let start = w.len();
        w.value(&capabilities, Some(revision))?;
        let is_declared = |name: Str<'_>| extensions.declare(name, revision);
        if let Some(declared) = self.extensions
            && declared.has_name(is_declared)
        {
            w.reopen();
            let is_first = w.len() == start.saturating_add("{".len());
            w.literal(if is_first { "" } else { "," });
            w.literal("\"extensions\":");
            declared.write_where(&is_declared, w);
            w.literal("}");
        }
        Ok(())
    }
}

/// Returns whether a revision with a handshake knows none of the modes of elicitation that the
/// client has. Then elicitation is not declared: an empty declaration would mean the other mode.
fn hides_elicitation(revision: Revision, capabilities: &ClientCapabilities<'_>) -> bool {
    let modes = F::ELICITATION_FORM.with(F::ELICITATION_URL);
    revision.is_legacy() && !F::from(capabilities).known_in(revision).intersects(modes)
}
