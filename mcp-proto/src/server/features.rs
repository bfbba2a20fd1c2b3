//! What a question needs of its client.

use crate::action::SendError;
use crate::json::{Duplicate, Object, Raw};
use crate::model::ClientFeatures;
use crate::revision::Revision;
use crate::rpc::Method;

/// Checks that a client with these features may be asked this (LC-17, MR-05), before any of it
/// is written. [`Server::ask`](super::Server::ask) and the questions of an
/// [`Outcome::Input`](crate::Outcome::Input) are checked by it.
///
/// # Errors
///
/// - [`SendError::Undeclared`]: the first capability that the question needs and the client did
///   not declare, as its revision names it: `elicitation` in 2025-06-18, later
///   `elicitation.form`.
/// - [`SendError::NotInRevision`]: it needs a capability that the revision does not have, such as
///   `elicitation.url` before 2025-11-25, or it is an elicitation in a mode that no revision has.
/// - [`SendError::Encode`]: a member of the parameters that decides about it stands twice.
///
/// ```
/// use mcp_proto::json::Object;
/// use mcp_proto::model::ClientFeatures;
/// use mcp_proto::rpc::Method;
/// use mcp_proto::server::check_question;
/// use mcp_proto::{Revision, SendError};
///
/// let checked = check_question(
///     Method::ElicitationCreate,
///     Object::EMPTY,
///     ClientFeatures::ROOTS,
///     Revision::V2026_07_28,
/// );
/// assert_eq!(checked, Err(SendError::Undeclared("elicitation.form")));
/// ```
pub fn check_question(
    method: Method<'_>,
    params: Object<'_>,
    features: ClientFeatures,
    revision: Revision,
) -> Result<(), SendError> {
    match undeclared(method, params, features, revision) {
        Err(Unanswerable::Mode) => Err(SendError::NotInRevision),
        Ok(None) => Ok(()),
        Ok(Some(feature)) if feature.known_in(revision) != feature => Err(SendError::NotInRevision),
        Ok(Some(feature)) => {
            let path = feature.paths(revision).next();
            Err(SendError::Undeclared(path.unwrap_or("tasks")))
        }
        Err(Unanswerable::Duplicate) => Err(SendError::Encode),
    }
}

/// Why no client can be asked a question.
enum Unanswerable {
    /// No revision has its mode of elicitation.
    Mode,
    /// A member that decides about it stands twice.
    Duplicate,
}

impl From<Duplicate> for Unanswerable {
    fn from(_: Duplicate) -> Self {
        Self::Duplicate
    }
}

/// The feature that a question needs and its client did not declare.
fn undeclared(
    method: Method<'_>,
    params: Object<'_>,
    features: ClientFeatures,
    revision: Revision,
) -> Result<Option<ClientFeatures>, Unanswerable> {
    let needed = match method {
        Method::RootsList => ClientFeatures::ROOTS,
        Method::ElicitationCreate => {
            let [mode] = params.find(["mode"])?;
            match mode.map(Raw::string) {
                // EL-04
                None => ClientFeatures::ELICITATION_FORM,
                Some(Some(mode)) if mode == "form" => ClientFeatures::ELICITATION_FORM,
                Some(Some(mode)) if mode == "url" => ClientFeatures::ELICITATION_URL,
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
            if tools.is_some() || choice.is_some() {
                // SP-03
                ClientFeatures::SAMPLING.with(ClientFeatures::SAMPLING_TOOLS)
            } else if asks && revision.has_sampling_tools() {
                // SP-04; before 2025-11-25 the context has no capability of its own.
                ClientFeatures::SAMPLING.with(ClientFeatures::SAMPLING_CONTEXT)
            } else {
                ClientFeatures::SAMPLING
            }
        }
        Method::TasksGet | Method::TasksResult => ClientFeatures::TASKS,
        Method::TasksList => ClientFeatures::TASKS_LIST,
        Method::TasksCancel => ClientFeatures::TASKS_CANCEL,
        _ => ClientFeatures::NONE,
    };
    Ok((!features.contains(needed)).then_some(needed.without(features)))
}
