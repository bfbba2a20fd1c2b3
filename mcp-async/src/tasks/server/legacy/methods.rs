//! `tasks/get`, `tasks/cancel` and `tasks/result` of 2025-11-25.

use std::sync::Arc;

use mcp_proto::model::TaskStatus;

use super::super::super::store::TaskRecord;
use super::super::engine::owner;
use super::super::methods::{id, unknown};
use super::CoreTasks;
use super::shown::shown;
use crate::connection::Job;
use crate::error::ErrorReply;
use crate::server::Call;

impl CoreTasks {
    pub(super) fn get(self, call: Call<'_>) -> Job {
        let (id, owner) = (id(&call), owner(call.context()));
        #[cfg(feature = "http-server")]
        if let Some(refusal) = self.0.refuse_poll(call.context(), &owner, &id) {
            return call.refuse(refusal);
        }
        call.answer(async move { shown(&self.find(&id, owner).await?) })
    }

    /// TK-14, TK-15
    pub(super) fn cancel(self, call: Call<'_>) -> Job {
        let (id, owner) = (id(&call), owner(call.context()));
        call.answer(async move {
            let record = self.find(&id, owner).await?;
            let cancelled = self.0.change(record, |record| {
                if record.status.is_terminal() {
                    return Err(ErrorReply::invalid_params("the task has ended"));
                }
                let mut next = record.clone();
                next.end(TaskStatus::Cancelled);
                Ok(Some(next))
            });
            shown(&cancelled.await?.ok_or(unknown())?)
        })
    }

    pub(super) fn result(self, call: Call<'_>) -> Job {
        let (id, owner) = (id(&call), owner(call.context()));
        let context = call.context().clone();
        call.answer(async move {
            let record = self.find(&id, owner).await?;
            self.wait(record, context).await
        })
    }

    /// The record of a task that this owner may see, as it is now (TK-19).
    async fn find(&self, id: &str, owner: Option<Arc<str>>) -> Result<TaskRecord, ErrorReply> {
        self.0.find_of(id, owner, true).await
    }
}
