//! A record of what went between a host and its servers.

use core::time::Duration;
use std::sync::Arc;

use mcp_async::client::CallError;
use mcp_async::json::RawBuf;
use mcp_async::runtime::RuntimeHandle;
use mcp_async::{ErrorChain, Instant};

/// One call of a server, or one question of a server, when it is over.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HostRecord {
    /// The server.
    pub server: Arc<str>,
    /// The method of the protocol. `sampling/createMessage`, `elicitation/create` and `roots/list` are questions of the
    /// server.
    pub method: &'static str,
    /// The name of the tool or prompt at its server, or the URI of the resource; empty for questions.
    pub name: String,
    /// The arguments of a tool or prompt. They may have secrets, as results may, which are not recorded.
    pub arguments: Option<RawBuf>,
    /// The time that it took.
    pub duration: Duration,
    /// How it ended.
    pub outcome: HostOutcome,
}

/// How a call or a question ended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum HostOutcome {
    /// With a result.
    Result,
    /// With the result of a tool that failed.
    ToolError,
    /// With an error, of which this is the text.
    Error(String),
    /// It was not approved, or exceeded a limit of the policy.
    Refused,
    /// With nothing: what waited for it was dropped.
    Cancelled,
}

impl HostOutcome {
    pub(super) fn of_error(error: &CallError) -> Self {
        match error {
            CallError::Tool(_) => Self::ToolError,
            error => Self::Error(ErrorChain(error).to_string()),
        }
    }
}

/// Receives records.
pub(super) type AuditHook = dyn Fn(HostRecord) + Send + Sync;

/// A call or a question that is not over. When it is dropped before its [end](Self::end), it was cancelled.
pub(super) struct OpenRecord {
    hook: Option<Arc<AuditHook>>,
    runtime: RuntimeHandle,
    began: Instant,
    record: HostRecord,
}

impl OpenRecord {
    pub(super) fn new(
        hook: Option<Arc<AuditHook>>,
        runtime: &RuntimeHandle,
        server: &Arc<str>,
        method: &'static str,
    ) -> Self {
        Self {
            hook,
            runtime: runtime.clone(),
            began: runtime.now(),
            record: HostRecord {
                server: Arc::clone(server),
                method,
                name: String::new(),
                arguments: None,
                duration: Duration::ZERO,
                outcome: HostOutcome::Cancelled,
            },
        }
    }

    /// Sets the subject of a call.
    pub(super) fn about(mut self, name: &str, arguments: Option<RawBuf>) -> Self {
        name.clone_into(&mut self.record.name);
        self.record.arguments = arguments;
        self
    }

    pub(super) fn end(mut self, outcome: HostOutcome) {
        self.record.outcome = outcome;
    }
}

impl Drop for OpenRecord {
    fn drop(&mut self) {
        if let Some(hook) = self.hook.take() {
            self.record.duration = self.runtime.now().saturating_since(self.began);
            hook(self.record.clone());
        }
    }
}
