//! The server that asks, and the call in which it asks.

use core::cell::RefCell;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;

/// The server that asks, and the call in which it asks.
#[derive(Clone, Debug)]
pub struct QuestionContext {
    pub(super) server: Arc<str>,
    pub(super) call: Option<Arc<CallInfo>>,
}

/// A call that runs.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallInfo {
    /// The number of the call at its host.
    pub id: u64,
    /// The method of the protocol.
    pub method: &'static str,
    /// The name of the tool or prompt as the host exposes it, or the URI of the resource.
    pub name: String,
}

impl QuestionContext {
    /// Returns the server that asks.
    pub const fn server(&self) -> &Arc<str> {
        &self.server
    }

    /// Returns the call in which the server asks, as far as it is known: always in 2026-07-28; in a legacy session, which
    /// does not say it, if exactly one call of the server runs.
    pub fn call(&self) -> Option<&CallInfo> {
        self.call.as_deref()
    }
}

thread_local! {
    /// The call that is polled on this thread. Clients ask their callbacks inside the poll of a call of 2026-07-28.
    static POLLED: RefCell<Option<Arc<CallInfo>>> = const { RefCell::new(None) };
}

/// Returns the call that is polled on this thread.
pub(super) fn polled() -> Option<Arc<CallInfo>> {
    POLLED.with_borrow(Clone::clone)
}

/// A future of a call, under whose poll callbacks find the call.
pub(super) struct Polled<F> {
    pub(super) call: Arc<CallInfo>,
    pub(super) future: F,
}

impl<F: Future + Unpin> Future for Polled<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let _restore = Restore(POLLED.replace(Some(Arc::clone(&self.call))));
        Pin::new(&mut self.future).poll(cx)
    }
}

/// Restores the call around this one, after a panic too.
struct Restore(Option<Arc<CallInfo>>);

impl Drop for Restore {
    fn drop(&mut self) {
        POLLED.set(self.0.take());
    }
}
