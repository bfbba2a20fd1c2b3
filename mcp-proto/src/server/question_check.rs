//! Checks that a client declared the features that a question needs.

use crate::action::SendError;
use crate::json::Object;
use crate::model::ClientFeatures;
use crate::revision::Revision;
use crate::rpc::{Method, Unanswerable};

/// Checks that a client with these features may be asked this (LC-17, MR-05), before any of it
/// is written. [`Server::ask`](super::Server::ask) and the questions of an
/// [`Outcome::Input`](crate::Outcome::Input) are checked by it.
///
/// # Errors
///
/// - [`SendError::MissingCapability`]: the first capability that the question needs and the client did
///   not declare, as its revision names it: `elicitation` in 2025-06-18, later
///   `elicitation.form`.
/// - [`SendError::NotInRevision`]: it needs a capability that the revision does not have, such as
///   `elicitation.url` before 2025-11-25, or it is an elicitation in a mode that no revision has.
/// - [`SendError::Encode`]: a member of the parameters that decides about it stands twice.
pub fn check_question(
    method: Method<'_>,
    params: Object<'_>,
    features: ClientFeatures,
    revision: Revision,
) -> Result<(), SendError> {
    let needed = match ClientFeatures::needed_by(method, params, revision) {
        Ok(needed) => needed,
        Err(Unanswerable::Mode) => return Err(SendError::NotInRevision),
        Err(Unanswerable::Duplicate) => return Err(SendError::Encode),
    };
    let missing = needed.without(features);
    if missing.is_empty() {
        Ok(())
    } else if missing.known_in(revision) != missing {
        Err(SendError::NotInRevision)
    } else {
        let path = missing.paths(revision).next();
        Err(SendError::MissingCapability(path.unwrap_or("tasks")))
    }
}
