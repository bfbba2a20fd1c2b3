//! The methods `tasks/get` and `tasks/cancel` of both kinds, and `tasks/update` of the extension.

use std::collections::BTreeMap;
use std::sync::Arc;

use mcp_proto::json::RawBuf;
use mcp_proto::model::TaskStatus;
use mcp_proto::rpc::code;

use super::super::store::{TaskQuestion, TaskRecord};
use super::engine::{Engine, owner};
use super::run::{BYTES, EXPIRED};
use super::shown::DetailedTask;
use super::sweep::{KEPT, LOST};
use crate::connection::Job;
use crate::error::ErrorReply;
use crate::server::CallContext;
use crate::server::{Call, check_answer};
use crate::tasks::legacy::shown;

impl Engine {
    /// The state of a task: of 2025-11-25 if `is_core`, otherwise of the extension.
    pub(super) fn get(self: &Arc<Self>, call: Call<'_>, is_core: bool) -> Job {
        let (engine, id, owner) = (Arc::clone(self), id(&call), owner(call.context()));
        #[cfg(feature = "http-server")]
        if let Some(refusal) = self.refuse_poll(call.context(), &owner, &id) {
            return call.refuse(refusal);
        }
        match is_core {
            true => call.answer(async move {
                let found = engine.find(&id, owner, true).await;
                found.map(|record| shown(&record))
            }),
            false => call.answer(async move {
                let found = engine.find(&id, owner, false).await;
                found.map(DetailedTask)
            }),
        }
    }

    /// Counts a poll over HTTP. Returns the refusal of one too many (TK-58).
    pub(super) fn refuse_poll(
        &self,
        context: &CallContext,
        owner: &Option<Arc<str>>,
        id: &str,
    ) -> Option<ErrorReply> {
        let max = self.tasks.max_polls?;
        if context.http().is_none() || id.len() > LONGEST {
            return None;
        }
        let interval = super::time::millis(self.tasks.poll_interval);
        let is_counted = self.polls.count((owner, id), self.time(), interval, max);
        (!is_counted).then(|| {
            let message = "limit reached: polls of a task in its interval";
            ErrorReply::new(code::TOO_MANY_REQUESTS, message)
        })
    }

    /// TK-40, TK-41
    pub(super) fn update(self: &Arc<Self>, call: Call<'_>) -> Job {
        let (engine, id, owner) = (Arc::clone(self), id(&call), owner(call.context()));
        let Some(responses) = call.request.input_responses else {
            return call.refuse(ErrorReply::invalid_params(
                "inputResponses: expected an object",
            ));
        };
        let mut answers = BTreeMap::new();
        for (key, response) in responses.members() {
            let key = key.to_cow().into_owned();
            if answers.insert(key, RawBuf::from(response)).is_some() {
                return call.refuse(ErrorReply::invalid_params("inputResponses: a key twice"));
            }
        }
        call.answer(async move {
            let record = engine.find(&id, owner, false).await?;
            let max = engine.tasks.max_bytes;
            let changed = engine.change(record, |record| take(record, &answers, max));
            let changed = changed.await?;
            changed.map(drop).ok_or(unknown())
        })
    }

    /// TK-42; TK-14 and TK-15 if `is_core`
    pub(super) fn cancel(self: &Arc<Self>, call: Call<'_>, is_core: bool) -> Job {
        let (engine, id, owner) = (Arc::clone(self), id(&call), owner(call.context()));
        match is_core {
            true => call.answer(async move {
                let cancelled = engine.end(&id, owner, true).await;
                cancelled.map(|record| shown(&record))
            }),
            false => call.answer(async move { engine.end(&id, owner, false).await.map(drop) }),
        }
    }

    /// Cancels a task. Returns its record.
    async fn end(
        &self,
        id: &str,
        owner: Option<Arc<str>>,
        is_core: bool,
    ) -> Result<TaskRecord, ErrorReply> {
        let record = self.find(id, owner, is_core).await?;
        let cancel = |next: &mut TaskRecord| next.end(TaskStatus::Cancelled);
        let cancelled = self.change(record, |record| match record.ended_by(cancel) {
            None if is_core => Err(ErrorReply::invalid_params("the task has ended")),
            cancelled => Ok(cancelled),
        });
        cancelled.await?.ok_or(unknown())
    }

    /// The record of a task that this owner may see, as it is now: of 2025-11-25 if `is_core`,
    /// otherwise of the extension (TK-19, TK-59).
    pub(super) async fn find(
        &self,
        id: &str,
        owner: Option<Arc<str>>,
        is_core: bool,
    ) -> Result<TaskRecord, ErrorReply> {
        if id.is_empty() || id.len() > LONGEST {
            return Err(unknown());
        }
        let record = self.ask(|store| store.load(id)).await?;
        let record = record.filter(|record| {
            record.id() == id && record.owner() == owner.as_deref() && record.is_core == is_core
        });
        let record = record.ok_or(unknown())?;
        match self.is_current(&record) {
            true => Ok(record),
            // Boxed: it is rare, and its future is large.
            false => Box::pin(self.current(record)).await,
        }
    }

    /// Returns true if the time of a record is not over, and its process is not in doubt.
    fn is_current(&self, record: &TaskRecord) -> bool {
        let is_in_time = record.expires_at().is_none_or(|at| self.time() < at);
        is_in_time && !self.may_be_orphan(record)
    }

    /// The record as it is now; an error if its time is over.
    pub(super) async fn current(&self, record: TaskRecord) -> Result<TaskRecord, ErrorReply> {
        if let Some(at) = record.expires_at() {
            let now = self.time();
            if now >= at.saturating_add(super::time::millis(KEPT)) {
                return Err(unknown());
            }
            if now >= at && !record.status.is_terminal() {
                return self.fail(record, EXPIRED).await?.ok_or(unknown());
            }
        }
        if self.may_be_orphan(&record) && self.is_orphan(&record).await? {
            return self.fail(record, LOST).await?.ok_or(unknown());
        }
        Ok(record)
    }
}

/// The record with these answers, those to unknown keys left out; `None` if no key is open. A record
/// with more than `max_bytes` is refused.
fn take(
    record: &TaskRecord,
    answers: &BTreeMap<String, RawBuf>,
    max_bytes: usize,
) -> Result<Option<TaskRecord>, ErrorReply> {
    let mut next = record.clone();
    for (key, answer) in answers {
        let is_asked = |question: &TaskQuestion| question.key == *key;
        // The client may have seen a question before it was withdrawn (TK-39).
        let asked = [&mut next.questions, &mut next.withdrawn].into_iter();
        let mut asked = asked.filter_map(|questions| {
            let at = questions.iter().position(is_asked)?;
            Some(questions.remove(at))
        });
        let Some(question) = asked.next() else {
            continue;
        };
        let (params, answer) = (question.params.as_raw(), answer.as_raw());
        check_answer(&question.method, params, answer).map_err(|fault| {
            ErrorReply::invalid_params(format!("inputResponses: {}: {fault}", question.key))
        })?;
        next.answers.insert(question.key, RawBuf::from(answer));
    }
    if next.answers.len() == record.answers.len() {
        return Ok(None);
    }
    if next.len() > max_bytes {
        return Err(ErrorReply::new(code::INTERNAL_ERROR, BYTES));
    }
    if next.questions.is_empty() {
        next.status = TaskStatus::Working;
    }
    Ok(Some(next))
}

pub(super) fn id(call: &Call<'_>) -> String {
    let id = call.request.subject.unwrap_or_default().to_cow();
    id.into_owned()
}

/// TK-41
pub(super) fn unknown() -> ErrorReply {
    ErrorReply::invalid_params("Unknown task")
}

/// Longer texts are not ids of tasks.
const LONGEST: usize = 128;
