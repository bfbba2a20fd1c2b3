//! The wait for the result of a task.

use core::future::poll_fn;
use core::task::{Context, Poll};

use mcp_proto::json::{RawBuf, Str};
use mcp_proto::model::TaskStatus;
use mcp_proto::rpc::code;

use super::super::super::store::TaskRecord;
use super::super::methods::unknown;
use super::CoreTasks;
use super::questions::{Client, Questions};
use super::watched::Watched;
use crate::error::ErrorReply;
use crate::server::CallContext;
use crate::tasks::related::relate;

/// A request for the result of a task.
struct Wait {
    watched: Watched,
    questions: Questions,
}

impl CoreTasks {
    /// Waits for the end of a task, and returns what its call would have returned (TK-12). Until
    /// then the client is asked what the task asks (TK-11).
    pub(super) async fn wait(
        self,
        record: TaskRecord,
        context: CallContext,
    ) -> Result<RawBuf, ErrorReply> {
        let mut wait = Wait {
            watched: Watched::new(self.0, record),
            questions: Questions::new(Client::Call(context)),
        };
        poll_fn(|cx| wait.poll(cx)).await?;
        outcome(wait.watched.record)
    }
}

impl Wait {
    /// Ready when the task has ended.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ErrorReply>> {
        loop {
            if self.watched.record.status.is_terminal() {
                return Poll::Ready(Ok(()));
            }
            match self.watched.poll_newer(cx) {
                Poll::Ready(true) => continue,
                Poll::Ready(false) => return Poll::Ready(Err(unknown())),
                Poll::Pending => {}
            }
            self.questions.ask(&self.watched);
            match self.questions.poll(cx) {
                Poll::Ready(Some(newest)) => self.watched.take(newest),
                Poll::Ready(None) => {}
                Poll::Pending => return Poll::Pending,
            }
        }
    }
}

/// Returns the outcome of the call of an ended task.
fn outcome(record: TaskRecord) -> Result<RawBuf, ErrorReply> {
    match (record.status, record.result, record.error) {
        (TaskStatus::Completed, Some(result), _) => relate(result.as_raw(), Str::from(&*record.id)),
        (TaskStatus::Failed, _, Some(error)) => Err(error.into()),
        (TaskStatus::Cancelled, ..) => Err(ErrorReply::new(
            code::INTERNAL_ERROR,
            "the task was cancelled",
        )),
        _ => Err(ErrorReply::internal()),
    }
}
