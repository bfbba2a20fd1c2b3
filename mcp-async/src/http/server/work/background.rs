//! The end of the tasks of a process, and their failures.

use core::time::Duration;
use std::sync::Weak;

use crate::http::StoreError;
use crate::http::server::endpoint::HttpEndpoint;
use crate::observe;

/// Returns whether an endpoint is there, and has not been shut down or has something left that runs.
pub(super) fn lives(endpoint: &Weak<HttpEndpoint>) -> bool {
    let endpoint = endpoint.upgrade();
    endpoint.is_some_and(|endpoint| !endpoint.is_closing() || endpoint.is_busy())
}

/// Of failures in a row only the first one is reported.
#[derive(Default)]
pub(super) struct Failures(bool);

impl Failures {
    pub(super) fn note(&mut self, outcome: Result<(), StoreError>) {
        let failed = core::mem::replace(&mut self.0, outcome.is_err());
        if let Err(error) = outcome
            && !failed
        {
            observe::store_failed(&error);
        }
    }
}

/// The pause after a failure of the store, before a process asks it again.
pub(super) const RETRY: Duration = Duration::from_millis(500);
