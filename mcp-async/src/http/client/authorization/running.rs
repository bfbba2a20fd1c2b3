//! One authorization at a time: callers wait for the one that runs.

use std::sync::{Arc, OnceLock};

use crate::connection::Signal;
use crate::error::AuthorizationError;

pub(in crate::http::client) type Outcome = Result<Obtained, Arc<AuthorizationError>>;

/// The origin of the credentials that an authorization led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http::client) enum Obtained {
    /// From an authorization for the goal of the caller.
    ForGoal,
    /// From another one: of another request, or of another process.
    Otherwise,
}

/// An authorization that runs in a task, or has ended.
#[derive(Default)]
pub(super) struct RunningAuthorization {
    outcome: OnceLock<Outcome>,
    /// Set after the result is noted.
    end: Signal,
}

impl RunningAuthorization {
    /// Waits for the end. Dropping the future does not end the authorization.
    pub(super) async fn wait(&self) -> Outcome {
        self.end.wait().await;
        match self.outcome.get() {
            Some(outcome) => outcome.clone(),
            None => Err(Arc::new(AuthorizationError::Interrupted)),
        }
    }

    /// Notes the result; the first one counts.
    pub(super) fn finish(&self, result: Outcome) {
        let _first = self.outcome.set(result);
        self.end.set();
    }
}
