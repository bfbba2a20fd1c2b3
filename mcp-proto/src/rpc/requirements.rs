//! The capabilities that methods need of the peer.

use super::Method;
use crate::features::{ClientFeatures, ServerFeatures};
use crate::json::{Duplicate, Object, Raw};
use crate::revision::Revision;

/// Reasons for which no client can be asked a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unanswerable {
    /// No revision has its mode of elicitation.
    Mode,
    /// A member that decides about it stands twice.
    Duplicate,
}

impl ServerFeatures {
    /// Returns whether a client may send this method to the server (LC-17, JR-28). A method that
    /// needs no capability, such as completion in 2024-11-05 (CP-08), is always allowed.
    pub fn allow(self, method: Method<'_>, revision: Revision) -> bool {
        let facts = method.facts();
        let one_of = facts.server_declares.known_in(revision);
        if one_of.is_empty() {
            // The revision has no capability for it, or does not have the method.
            return facts.server_declares.is_empty() || facts.client.contains(revision);
        }
        self.intersects(one_of)
    }
}

impl ClientFeatures {
    /// Returns whether a server may ask this of the client (LC-17, VR-06), as request or as
    /// question of an `input_required`. The parameters tell which mode of elicitation it needs, and
    /// whether sampling needs tools.
    pub fn allow(self, method: Method<'_>, revision: Revision) -> bool {
        let facts = method.facts();
        let one_of = facts.client_declares;
        let asked = facts.server.contains(revision)
            || (facts.answer().is_input && revision.has_input_required());
        one_of.is_empty() || (asked && self.known_in(revision).intersects(one_of))
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    use super::{ClientFeatures as Client, ServerFeatures as Server};

    #[test]
    fn requests_need_capabilities_of_the_server() {
        let check = |features: Server, method, revision, expected| {
            assert_eq!(features.allow(method, revision), expected, "{method:?}");
        };
        check(Server::NONE, Method::Ping, Revision::V2025_11_25, true);
        check(
            Server::NONE,
            Method::ToolsCall,
            Revision::V2025_11_25,
            false,
        );
        check(
            Server::TOOLS,
            Method::ToolsCall,
            Revision::V2025_11_25,
            true,
        );
        check(
            Server::RESOURCES,
            Method::ResourcesSubscribe,
            Revision::V2025_11_25,
            false,
        );
        check(
            Server::RESOURCES_SUBSCRIBE,
            Method::ResourcesSubscribe,
            Revision::V2025_11_25,
            true,
        );
        check(
            Server::NONE,
            Method::CompletionComplete,
            Revision::V2024_11_05,
            true,
        );
        check(
            Server::NONE,
            Method::CompletionComplete,
            Revision::V2025_03_26,
            false,
        );
        check(Server::TASKS, Method::TasksGet, Revision::V2025_11_25, true);
        check(
            Server::TASKS,
            Method::TasksGet,
            Revision::V2026_07_28,
            false,
        );
        check(
            Server::TASKS_EXTENSION,
            Method::TasksGet,
            Revision::V2026_07_28,
            true,
        );
        check(
            Server::TASKS_EXTENSION,
            Method::TasksUpdate,
            Revision::V2026_07_28,
            true,
        );
    }

    #[test]
    fn questions_need_capabilities_of_the_client() {
        let check = |features: Client, method, revision, expected| {
            assert_eq!(features.allow(method, revision), expected, "{method:?}");
        };
        check(Client::NONE, Method::Ping, Revision::V2025_11_25, true);
        check(
            Client::NONE,
            Method::RootsList,
            Revision::V2024_11_05,
            false,
        );
        check(
            Client::ROOTS,
            Method::RootsList,
            Revision::V2024_11_05,
            true,
        );
        check(
            Client::SAMPLING,
            Method::SamplingCreateMessage,
            Revision::V2026_07_28,
            true,
        );
        check(
            Client::ROOTS,
            Method::ElicitationCreate,
            Revision::V2025_11_25,
            false,
        );
        check(
            Client::ELICITATION_URL,
            Method::ElicitationCreate,
            Revision::V2025_11_25,
            true,
        );
        check(
            Client::ELICITATION_URL,
            Method::ElicitationCreate,
            Revision::V2025_06_18,
            false,
        );
        check(Client::TASKS, Method::TasksGet, Revision::V2025_11_25, true);
        check(
            Client::TASKS,
            Method::TasksList,
            Revision::V2025_11_25,
            false,
        );
    }
}
