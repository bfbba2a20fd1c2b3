//! Empty replacements without the feature `tracing`.

use core::time::Duration;

use mcp_proto::IgnoreReason;
use mcp_proto::rpc::Method;

use super::Transport;
#[cfg(any(feature = "server", feature = "client"))]
use super::unseen;

pub(crate) const fn ignored(_why: IgnoreReason) {}

#[cfg(feature = "server")]
pub(crate) const fn task_store_failed(_error: &dyn core::error::Error) {}

#[cfg(feature = "server")]
pub(crate) const fn task_store_late() {}

#[cfg(feature = "http-server")]
pub(crate) const fn store_failed(_error: &dyn core::fmt::Display) {}

#[cfg(feature = "http-server")]
pub(crate) fn unverified(error: &(dyn core::error::Error + 'static)) {
    unseen::print_first("the sender of a request could not be verified", error);
}

#[cfg(all(feature = "auth", feature = "http-server"))]
pub(crate) const fn refused(_reason: &mcp_auth::resource::Denial) {}

#[cfg(feature = "server")]
pub(crate) const fn kept_in_exchange(_limit: &'static str) {}

#[cfg(feature = "http-server")]
pub(crate) const fn listening(_url: &str) {}

#[cfg(feature = "http-server")]
pub(crate) const fn displaced() {}

#[cfg(feature = "http-server")]
pub(crate) const fn taken_over(_epoch: u32) {}

#[cfg(feature = "http-server")]
pub(crate) const fn forwarding(_process: &str) {}

#[cfg(feature = "http-server")]
pub(crate) const fn claims_not_shared() {}

#[cfg(feature = "http-server")]
pub(crate) fn forward_failed(_reason: &dyn core::fmt::Display) {}

#[cfg(feature = "http-server")]
pub(crate) fn forwarded_refused(_reason: &dyn core::fmt::Display) {}

#[cfg(feature = "server")]
pub(crate) const fn variable_missing(_template: &dyn core::fmt::Display, _variable: &str) {}

#[cfg(feature = "server")]
pub(crate) const fn variables_unfit(
    _template: &dyn core::fmt::Display,
    _variable: &str,
    _reason: mcp_proto::json::DecodeErrorKind,
) {
}

pub(crate) const fn panicked() {}

pub(crate) const fn expired(_limit: Duration) {}

pub(crate) const fn ping_missed(_misses: u32, _limit: u32) {}

#[cfg(feature = "http-client")]
pub(crate) const fn unsent(_cause: &str) {}

#[cfg(all(feature = "auth", feature = "http-client"))]
pub(crate) const fn issuer_spelling(_spelling: &mcp_auth::IssuerSpelling) {}

#[cfg(feature = "http-client")]
pub(crate) const fn oversized() {}

#[cfg(feature = "http-client")]
pub(crate) const fn tool_dropped(_name: &str, _why: &dyn core::fmt::Display) {}

#[cfg(feature = "client")]
pub(crate) fn callback_failed(error: &(dyn core::error::Error + 'static)) {
    unseen::print_first("a callback failed", error);
}

#[cfg(feature = "server")]
pub(crate) fn handler_failed(error: &(dyn core::error::Error + 'static)) {
    unseen::print_first("a handler failed", error);
}

/// No span, but it still knows whether the call has begun.
#[derive(Default)]
pub(crate) struct CallSpan {
    begun: bool,
}

impl CallSpan {
    pub(crate) const fn new() -> Self {
        Self { begun: false }
    }

    pub(crate) fn within<T>(
        &mut self,
        _method: Method<'_>,
        _subject: Option<&str>,
        _transport: Transport,
        poll: impl FnOnce(bool) -> T,
    ) -> T {
        poll(!core::mem::replace(&mut self.begun, true))
    }

    pub(crate) const fn end<E>(&mut self, _error: Option<&E>) {}
}

/// No span to go back to.
#[cfg(feature = "server")]
pub(crate) struct Here;

#[cfg(feature = "server")]
impl Here {
    pub(crate) const fn current() -> Self {
        Self
    }

    pub(crate) fn within<T>(&self, poll: impl FnOnce() -> T) -> T {
        poll()
    }
}
