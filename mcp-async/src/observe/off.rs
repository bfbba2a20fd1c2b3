//! Empty replacements of spans without the feature `tracing`.

use mcp_proto::rpc::Method;

use super::Transport;

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
pub(crate) struct Here;

impl Here {
    pub(crate) const fn current() -> Self {
        Self
    }

    pub(crate) fn within<T>(&self, poll: impl FnOnce() -> T) -> T {
        poll()
    }
}
