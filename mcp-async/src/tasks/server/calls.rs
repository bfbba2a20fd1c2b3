//! The calls of a server with tasks.

use std::sync::Arc;

use mcp_proto::json::RawBuf;
use mcp_proto::model::ClientFeatures;
use mcp_proto::revision;
use mcp_proto::rpc::Method;

use super::engine::{Engine, owner};
use super::policy::{TaskPolicy, ToolTasks, undeclared};
use crate::connection::Job;
use crate::error::ErrorReply;
use crate::server::{Call, Detach, MayLeave, Service};

impl Engine {
    /// Serves a call: methods of tasks by itself, tools as their policy says.
    pub(super) fn serve(self: &Arc<Self>, call: Call<'_>, service: &dyn Service) -> Job {
        self.begin_to_look();
        let revision = call.request.revision;
        let is_core = self.tasks.core && revision.tasks() == revision::Tasks::Core;
        // TK-48
        if !is_core && !revision.has_input_required() {
            return self.serve_legacy(call, service);
        }
        match call.method {
            Method::ToolsCall if is_core => self.call_tool_for_task(call, service),
            Method::ToolsCall => self.call_tool(call, service),
            Method::TasksGet => self.get(call, is_core),
            Method::TasksCancel => self.cancel(call, is_core),
            Method::TasksUpdate if !is_core => self.update(call),
            Method::TasksResult if is_core => self.result(call),
            Method::TasksList if is_core => self.list(call),
            _ => service.call(call),
        }
    }

    fn call_tool(self: &Arc<Self>, call: Call<'_>, service: &dyn Service) -> Job {
        let Some(tool) = call.tool_data::<ToolTasks>() else {
            return service.call(call);
        };
        // TK-30
        if !call
            .request
            .features
            .contains(ClientFeatures::TASKS_EXTENSION)
        {
            return match tool.policy {
                TaskPolicy::Optional => service.call(call),
                TaskPolicy::Required => call.refuse(undeclared()),
            };
        }
        let engine = Arc::clone(self);
        let owner = owner(call.context());
        let (policy, when) = (tool.policy, tool.when);
        if (policy, when) == (TaskPolicy::Optional, Detach::Now) && self.stays_in_exchange(&owner) {
            return service.call(call);
        }
        let may_leave: MayLeave = match (policy, when) {
            (TaskPolicy::Optional, Detach::OnRequest) => {
                let (asked, of) = (Arc::clone(self), owner.clone());
                Box::new(move || !asked.stays_in_exchange(&of))
            }
            _ => Box::new(|| true),
        };
        call.detach_where(service, (when, may_leave), |detached| {
            engine.create(owner, detached)
        })
    }

    /// Before 2026-07-28 there is no such extension, and the revision has no tasks that the server
    /// offers.
    fn serve_legacy(&self, call: Call<'_>, service: &dyn Service) -> Job {
        let tool = match call.method {
            Method::ToolsCall => call.tool_data::<ToolTasks>(),
            _ => None,
        };
        match tool.map(|tool| tool.policy) {
            Some(TaskPolicy::Required) => call.ready(tasks_only()),
            _ => service.call(call),
        }
    }
}

/// The result of a call of a tool that requires a task, in a revision without tasks.
fn tasks_only() -> Result<RawBuf, ErrorReply> {
    RawBuf::parse(r#"{"content":[{"type":"text","text":"tasks only"}],"isError":true}"#)
        .map_err(|_| ErrorReply::internal())
}
