//! One authorization at a time: callers wait for the one that runs.

use std::sync::{Arc, OnceLock};

use crate::connection::Signal;
use crate::error::AuthorizationError;

pub(in crate::http::client) type Landed = Result<Obtained, Arc<AuthorizationError>>;

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
pub(super) struct Flight {
    landed: OnceLock<Landed>,
    /// Set after the result is noted.
    end: Signal,
}

impl Flight {
    /// Waits for the end. Dropping the future does not end the authorization.
    pub(super) async fn wait(&self) -> Landed {
        self.end.wait().await;
        match self.landed.get() {
            Some(landed) => landed.clone(),
            None => Err(Arc::new(AuthorizationError::Interrupted)),
        }
    }

    /// Notes the result; the first one counts.
    pub(super) fn land(&self, result: Landed) {
        let _first = self.landed.set(result);
        self.end.set();
    }
}
