//! The credentials of a client, which its application may replace.

use core::task::{Context, Poll};

use http::HeaderValue;

use super::link::Link;
use crate::sync::{Lock, Waiters};

/// The credentials that were set since the client was connected.
#[derive(Default)]
pub(super) struct Credentials(Lock<State>);

#[derive(Default)]
struct State {
    authorization: Option<HeaderValue>,
    /// Number of times that the credentials were set.
    version: u64,
    waiting: Waiters,
}

impl Credentials {
    /// Counts new credentials, and wakes what waits for them. A value replaces that of
    /// `Authorization` in all requests from now on; without one they were obtained in another way.
    pub(super) fn renew(&self, value: Option<HeaderValue>) {
        let waiting = {
            let mut state = self.0.lock();
            if value.is_some() {
                state.authorization = value;
            }
            state.version += 1;
            state.waiting.take()
        };
        waiting.wake();
    }

    /// The value of `Authorization`, if it is another than at the beginning.
    pub(super) fn authorization(&self) -> Option<HeaderValue> {
        self.0.lock().authorization.clone()
    }

    /// Counts the credentials.
    pub(super) fn version(&self) -> u64 {
        self.0.lock().version
    }

    /// Ready when the credentials are no longer those of this version.
    pub(super) fn poll_changed(&self, version: u64, cx: &Context<'_>) -> Poll<()> {
        let mut state = self.0.lock();
        if state.version != version {
            return Poll::Ready(());
        }
        state.waiting.register(cx);
        Poll::Pending
    }
}

impl Link {
    pub(super) fn credentials(&self) -> Option<&Credentials> {
        self.client_state.transport_data.get()
    }

    /// Counts the credentials that the application has set.
    pub(super) fn credentials_version(&self) -> u64 {
        self.credentials().map_or(0, Credentials::version)
    }

    /// Ready when the credentials are no longer those of this version.
    pub(super) fn poll_credentials(&self, version: u64, cx: &Context<'_>) -> Poll<()> {
        let credentials = self.credentials();
        credentials.map_or(Poll::Pending, |them| them.poll_changed(version, cx))
    }
}
