//! Calls of tools with the parameter `task`.

use std::sync::Arc;

use mcp_proto::rpc::code;

use super::super::engine::{Engine, owner};
use super::super::policy::{TaskPolicy, ToolTasks};
use crate::connection::Job;
use crate::error::ErrorReply;
use crate::model::CreateTaskResult;
use crate::server::{Call, CallContext, Detach, DetachedCall, Service};
use crate::tasks::legacy::{created, requested};

impl Engine {
    /// TK-05, TK-06, TK-07
    pub(in super::super) fn call_tool_for_task(
        self: &Arc<Self>,
        call: Call<'_>,
        service: &dyn Service,
    ) -> Job {
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
        let asked = match requested(task) {
            Ok(task) => task.ttl,
            Err(refusal) => return call.refuse(refusal),
        };
        let (owner, origin) = (owner(call.context()), call.context().clone());
        let engine = Arc::clone(self);
        call.detach(service, Detach::Always, move |detached| {
            engine.create_core(owner, asked, origin, detached)
        })
    }

    async fn create_core(
        self: Arc<Self>,
        owner: Option<Arc<str>>,
        asked: Option<u64>,
        origin: CallContext,
        call: DetachedCall,
    ) -> Result<CreateTaskResult, ErrorReply> {
        // TK-09
        let ttl = match (asked, self.ttl()) {
            (Some(asked), Some(longest)) => Some(asked.min(longest)),
            (asked, longest) => asked.or(longest),
        };
        let begun = Arc::clone(&self).begin(owner, call, |mut record| {
            record.is_core = true;
            record.with_ttl(ttl)
        });
        let record = begun.await?;
        let shown = created(&record);
        let runtime = self.runtime().clone();
        runtime.spawn(Box::pin(self.accompany(record, origin)));
        Ok(shown)
    }
}

/// The tool does not run in this way.
fn misused(message: &'static str) -> ErrorReply {
    ErrorReply::new(code::METHOD_NOT_FOUND, message)
}
