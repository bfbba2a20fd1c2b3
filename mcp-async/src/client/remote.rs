//! What the connections of a client over HTTP share.

use core::task::{Context, Poll, Waker};
use std::sync::Mutex;

use http::HeaderValue;
use mcp_proto::Instant;

use super::hub::lock;

/// The credentials that were set since the client was connected, and when the server wants to be
/// asked again.
#[derive(Default)]
pub(crate) struct Remote {
    credentials: Mutex<Credentials>,
    not_before: Mutex<Instant>,
}

#[derive(Default)]
struct Credentials {
    authorization: Option<HeaderValue>,
    /// How often they were set.
    version: u64,
    waiting: Vec<Waker>,
}

impl Remote {
    /// Replaces the value of `Authorization` in all requests from now on.
    pub(crate) fn authorize(&self, value: HeaderValue) {
        let waiting = {
            let mut credentials = lock(&self.credentials);
            credentials.authorization = Some(value);
            credentials.version += 1;
            core::mem::take(&mut credentials.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    /// The value of `Authorization`, if it is another than at the beginning.
    pub(crate) fn authorization(&self) -> Option<HeaderValue> {
        lock(&self.credentials).authorization.clone()
    }

    /// Counts the credentials.
    pub(crate) fn version(&self) -> u64 {
        lock(&self.credentials).version
    }

    /// Ready when the credentials are no longer those of this version.
    pub(crate) fn poll_changed(&self, version: u64, cx: &Context<'_>) -> Poll<()> {
        let mut credentials = lock(&self.credentials);
        if credentials.version != version {
            return Poll::Ready(());
        }
        let waker = cx.waker();
        if !credentials.waiting.iter().any(|it| it.will_wake(waker)) {
            credentials.waiting.push(waker.clone());
        }
        Poll::Pending
    }

    /// The server asked for a pause until this time: it concerns requests that no caller waits for.
    pub(crate) fn hold_until(&self, at: Instant) {
        *lock(&self.not_before) = at;
    }

    /// The server accepts requests again.
    pub(crate) fn accepted(&self) {
        self.hold_until(Instant::ZERO);
    }

    pub(crate) fn not_before(&self) -> Instant {
        *lock(&self.not_before)
    }
}
