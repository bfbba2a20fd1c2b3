//! Calls of tools with the parameter `task`.

use std::sync::Arc;

use mcp_proto::json::{Raw, RawBuf};
use mcp_proto::rpc::code;

use super::super::engine::owner;
use super::super::policy::{TaskPolicy, ToolTasks};
use super::CoreTasks;
use super::shown::created;
use crate::connection::Job;
use crate::error::ErrorReply;
use crate::server::{Call, CallContext, Detach, DetachedCall, Service};

impl CoreTasks {
    /// TK-05, TK-06, TK-07
    pub(super) fn call_tool(self, call: Call<'_>, service: &dyn Service) -> Job {
        let Ok([task]) = call.params.find(["task"]) else {
            return call.refuse(ErrorReply::invalid_params("task: a member twice"));
        };
        let policy = call.tool_data::<ToolTasks>().map(|tool| tool.policy);
        let task = match (task, policy) {
            (None, Some(TaskPolicy::Required)) => {
                return call.refuse(misused("the tool runs as a task only"));
            }
            (Some(_), None) if call.tool_name().is_some() => {
                return call.refuse(misused("the tool does not run as a task"));
            }
            (None, _) | (Some(_), None) => return service.call(call),
            (Some(task), Some(_)) => task,
        };
        let asked = match asked_ttl(task) {
            Ok(asked) => asked,
            Err(refusal) => return call.refuse(refusal),
        };
        let (owner, origin) = (owner(call.context()), call.context().clone());
        call.detach(service, Detach::Always, move |detached| {
            self.create(owner, asked, origin, detached)
        })
    }

    async fn create(
        self,
        owner: Option<Arc<str>>,
        asked: Option<u64>,
        origin: CallContext,
        call: DetachedCall,
    ) -> Result<RawBuf, ErrorReply> {
        // TK-09
        let ttl = match (asked, self.0.ttl()) {
            (Some(asked), Some(longest)) => Some(asked.min(longest)),
            (asked, longest) => asked.or(longest),
        };
        let begun = Arc::clone(&self.0).begin(owner, call, |mut record| {
            record.is_core = true;
            record.with_ttl(ttl)
        });
        let record = begun.await?;
        let shown = created(&record);
        let runtime = self.0.runtime().clone();
        runtime.spawn(Box::pin(self.report(record, origin)));
        shown
    }
}

/// The lifetime that the client asks for, in milliseconds.
fn asked_ttl(task: Raw<'_>) -> Result<Option<u64>, ErrorReply> {
    let task = task.object();
    let task = task.ok_or_else(|| ErrorReply::invalid_params("task: expected an object"))?;
    let ttl = task.find(["ttl"]);
    let [ttl] = ttl.map_err(|_| ErrorReply::invalid_params("task.ttl: a member twice"))?;
    let ttl = ttl.filter(|ttl| !ttl.is_null());
    let ttl = ttl.map(|ttl| ttl.decode::<u64>(&mut [])).transpose();
    ttl.map_err(|_| ErrorReply::invalid_params("task.ttl: expected milliseconds"))
}

/// The tool does not run in this way.
fn misused(message: &'static str) -> ErrorReply {
    ErrorReply::new(code::METHOD_NOT_FOUND, message)
}
