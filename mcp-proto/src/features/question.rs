//! The features that a question needs of its client.

use super::ClientFeatures;
use crate::json::{Duplicate, Object, Raw};
use crate::revision::Revision;
use crate::rpc::Method;

/// Reasons for which no client can be asked a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unanswerable {
    /// No revision has its mode of elicitation.
    Mode,
    /// A member that decides about it stands twice.
    Duplicate,
}

impl ClientFeatures {
    /// The features that a client must have declared to be asked this, by a request or inside an
    /// `input_required` (LC-17, MR-05). The server checks them before it asks, the client when it
    /// is asked.
    ///
    /// `sampling.context` is needed by the rule for servers only (SP-04): a client may ignore the
    /// context that it is asked for (SP-10).
    pub(crate) fn needed_by(
        method: Method<'_>,
        params: Object<'_>,
        revision: Revision,
    ) -> Result<Self, Unanswerable> {
        let declares = method.facts().client_declares;
        Ok(match method {
            Method::ElicitationCreate => {
                let [mode] = params.find(["mode"])?;
                match mode.map(Raw::string) {
                    // EL-04
                    None => Self::ELICITATION_FORM,
                    Some(Some(mode)) if mode == "form" => Self::ELICITATION_FORM,
                    Some(Some(mode)) if mode == "url" => Self::ELICITATION_URL,
                    // EL-02: no client can have declared it.
                    Some(_) => return Err(Unanswerable::Mode),
                }
            }
            Method::SamplingCreateMessage => {
                let [tools, choice, context] =
                    params.find(["tools", "toolChoice", "includeContext"])?;
                let asks = context
                    .and_then(Raw::string)
                    .is_some_and(|which| which != "none");
                // SP-02, SP-03
                let tools = tools.is_some() || choice.is_some();
                // SP-04; before 2025-11-25 the context has no capability of its own.
                let context = asks && revision.has_sampling_tools();
                declares
                    .with(Self::SAMPLING_TOOLS.when(tools))
                    .with(Self::SAMPLING_CONTEXT.when(context))
            }
            // Clients have tasks of the core only.
            _ => declares.without(Self::TASKS_EXTENSION),
        })
    }
}

impl From<Duplicate> for Unanswerable {
    fn from(_: Duplicate) -> Self {
        Self::Duplicate
    }
}
