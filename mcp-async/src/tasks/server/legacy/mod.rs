//! Tasks of 2025-11-25, by the engine and the store of the extension.
//!
//! A record of such a task is marked, and the methods of the one kind do not find the tasks of the
//! other. The differences on the wire are here: the methods and shapes, the wait for a result,
//! during which the client is asked the questions of the task, and the messages that the session
//! receives apart from requests.

mod call;
mod list;
mod methods;
mod questions;
mod result;
mod shown;
mod status;
mod watched;

use std::sync::Arc;

use mcp_proto::rpc::Method;

use super::engine::Engine;
use crate::connection::Job;
use crate::server::{Call, Service};

/// Serves the calls of sessions of 2025-11-25.
#[derive(Clone)]
pub(super) struct CoreTasks(Arc<Engine>);

impl CoreTasks {
    pub(super) fn new(engine: &Arc<Engine>) -> Self {
        Self(Arc::clone(engine))
    }

    pub(super) fn serve(self, call: Call<'_>, service: &dyn Service) -> Job {
        match call.method {
            Method::ToolsCall => self.call_tool(call, service),
            Method::TasksGet => self.get(call),
            Method::TasksResult => self.result(call),
            Method::TasksList => self.list(call),
            Method::TasksCancel => self.cancel(call),
            _ => service.call(call),
        }
    }
}
