//! What each side declared, and what follows from it (LC-17).

use super::{Client, Storage};
use crate::action::SendError;
use crate::json::Object;
use crate::model::ClientFeatures;
use crate::revision::Revision;
use crate::rpc::{Method, code};

impl<S: Storage> Client<'_, S> {
    /// Whether a call of `method` may leave. A server that told nothing of its capabilities
    /// decides for itself.
    pub(super) fn may_call(&self, method: Method<'_>, revision: Revision) -> Result<(), SendError> {
        if let Method::Other(_) = method {
            return Ok(());
        }
        let facts = method.facts();
        let refused = facts.is_notification() || facts.own_command.client;
        if refused || !facts.client.contains(revision) {
            return Err(SendError::NotInRevision);
        }
        match self.server {
            Some(features) if !features.allow(method, revision) => {
                let needed = facts.server_declares.known_in(revision);
                Err(SendError::Undeclared(needed.path()))
            }
            _ => Ok(()),
        }
    }

    /// Whether a server may ask this, in a session of the negotiated revision or as the input
    /// of a call; otherwise the error that says why not.
    pub(super) fn admits(
        &self,
        method: Method<'_>,
        params: Option<Object<'_>>,
    ) -> Result<(), (i64, &'static str)> {
        let unknown = Err((code::METHOD_NOT_FOUND, "method not found"));
        let Some(revision) = self.revision else {
            return unknown;
        };
        if !self.client.allow(method, revision) {
            return unknown;
        }
        let features = self.client.known_in(revision);
        match method {
            Method::RootsList
            | Method::TasksGet
            | Method::TasksResult
            | Method::TasksList
            | Method::TasksCancel => Ok(()),
            Method::SamplingCreateMessage => {
                let deciding = ["tools", "toolChoice", "includeContext"];
                match params.map(|params| params.find(deciding)) {
                    None | Some(Ok([None, None, _])) => Ok(()),
                    Some(Ok(_)) if features.contains(ClientFeatures::SAMPLING_TOOLS) => Ok(()),
                    // SP-02
                    Some(Ok(_)) => Err((code::INVALID_PARAMS, "sampling.tools was not declared")),
                    Some(Err(_)) => Err((code::INVALID_PARAMS, "a parameter occurs twice")),
                }
            }
            Method::ElicitationCreate => {
                let mode = match params.map(|params| params.find(["mode"])) {
                    // EL-04
                    None | Some(Ok([None])) => Some(ClientFeatures::ELICITATION_FORM),
                    Some(Ok([Some(mode)])) => match mode.string() {
                        Some(mode) if mode == "form" => Some(ClientFeatures::ELICITATION_FORM),
                        Some(mode) if mode == "url" => Some(ClientFeatures::ELICITATION_URL),
                        _ => None,
                    },
                    Some(Err(_)) => None,
                };
                // EL-03
                if mode.is_some_and(|mode| features.contains(mode)) {
                    Ok(())
                } else {
                    Err((
                        code::INVALID_PARAMS,
                        "this mode of elicitation was not declared",
                    ))
                }
            }
            _ => unknown,
        }
    }

    /// Whether this client may notify a legacy server of this.
    pub(super) fn may_notify(
        &self,
        method: Method<'_>,
        revision: Revision,
    ) -> Result<(), SendError> {
        if let Method::Other(_) = method {
            return Ok(());
        }
        let facts = method.facts();
        let refused = !facts.is_notification() || facts.own_command.client;
        if refused || !facts.client.contains(revision) {
            return Err(SendError::NotInRevision);
        }
        let needed = facts.client_declares;
        match needed.paths(revision).next() {
            Some(path) if !self.client.intersects(needed) => Err(SendError::Undeclared(path)),
            _ => Ok(()),
        }
    }
}
