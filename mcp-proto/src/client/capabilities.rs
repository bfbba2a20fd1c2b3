//! Checks calls and notifications against the declared capabilities (LC-17).

use super::{Client, Storage};
use crate::action::SendError;
use crate::json::Object;
use crate::model::{ClientFeatures, Unanswerable};
use crate::revision::Revision;
use crate::rpc::{Method, code};

impl<S: Storage> Client<'_, S> {
    /// Checks that a call of `method` may be sent. A server that declared no capabilities decides
    /// for itself.
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
                Err(SendError::MissingCapability(needed.path()))
            }
            _ => Ok(()),
        }
    }

    /// Checks that a server may send this request, in a session of the negotiated revision or as
    /// the input of a call; otherwise returns the code and the message of an error.
    pub(super) fn admits(
        &self,
        method: Method<'_>,
        params: Option<Object<'_>>,
    ) -> Result<(), (i64, &'static str)> {
        let unknown = Err((code::METHOD_NOT_FOUND, "method not found"));
        let Some(revision) = self.revision else {
            return unknown;
        };
        let is_question = !method.facts().client_declares.is_empty();
        if !is_question || !self.config.declared.allow(method, revision) {
            return unknown;
        }
        let params = params.unwrap_or_default();
        // EL-03
        let mode = "this mode of elicitation was not declared";
        let message = match ClientFeatures::needed_by(method, params, revision) {
            Ok(needed) => {
                let missing = needed
                    .without(self.config.declared.known_in(revision))
                    .without(ClientFeatures::SAMPLING_CONTEXT);
                if missing.is_empty() {
                    return Ok(());
                }
                // SP-02
                match missing.contains(ClientFeatures::SAMPLING_TOOLS) {
                    true => "sampling.tools was not declared",
                    false => mode,
                }
            }
            Err(Unanswerable::Mode) => mode,
            Err(Unanswerable::Duplicate) if method == Method::ElicitationCreate => mode,
            Err(Unanswerable::Duplicate) => "a parameter occurs twice",
        };
        Err((code::INVALID_PARAMS, message))
    }

    /// Checks that this client may send this notification to a legacy server.
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
            Some(path) if !self.config.declared.intersects(needed) => {
                Err(SendError::MissingCapability(path))
            }
            _ => Ok(()),
        }
    }
}
