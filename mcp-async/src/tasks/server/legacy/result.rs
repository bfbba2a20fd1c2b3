//! The wait for the result of a task, in which its questions are asked.

use core::future::{Future, poll_fn};
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;

use mcp_proto::json::RawBuf;
use mcp_proto::model::TaskStatus;
use mcp_proto::rpc::{Method, code};

use super::super::super::store::{TaskQuestion, TaskRecord};
use super::super::engine::Engine;
use super::super::methods::unknown;
use super::super::run::BYTES;
use super::CoreTasks;
use super::asked::AskedQuestion;
use super::related::related;
use crate::error::ErrorReply;
use crate::server::{AskError, CallContext};

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A request for the result of a task.
struct Wait {
    engine: Arc<Engine>,
    context: CallContext,
    /// The newest record that is known here.
    record: TaskRecord,
    newer: Option<Boxed<Newest>>,
    /// What is asked now, by the keys of the questions.
    asking: Vec<(String, Boxed<Option<TaskRecord>>)>,
}

type Newest = Result<Option<TaskRecord>, ErrorReply>;

impl CoreTasks {
    /// Waits for the end of a task, and returns what its call would have returned (TK-12). Until
    /// then the client is asked what the task asks (TK-11).
    pub(super) async fn wait(
        self,
        record: TaskRecord,
        context: CallContext,
    ) -> Result<RawBuf, ErrorReply> {
        let mut wait = Wait {
            engine: self.0,
            context,
            record,
            newer: None,
            asking: Vec::new(),
        };
        poll_fn(|cx| wait.poll(cx)).await?;
        outcome(wait.record)
    }
}

impl Wait {
    /// Ready when the task has ended.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), ErrorReply>> {
        loop {
            if let Poll::Ready(known) = self.poll_newer(cx)
                && !known
            {
                return Poll::Ready(Err(unknown()));
            }
            if self.record.status.is_terminal() {
                return Poll::Ready(Ok(()));
            }
            self.begin_questions();
            if self.poll_questions(cx).is_pending() {
                return Poll::Pending;
            }
        }
    }

    /// Takes newer records. Ready with `false` if there is none any more; otherwise it waits.
    fn poll_newer(&mut self, cx: &mut Context<'_>) -> Poll<bool> {
        loop {
            let engine = &self.engine;
            let newer = &mut self.newer;
            let newer = newer.get_or_insert_with(|| engine.watch(&self.record, Duration::ZERO));
            let Poll::Ready(newest) = newer.as_mut().poll(cx) else {
                return Poll::Pending;
            };
            self.newer = None;
            match newest {
                Ok(Some(record)) if record.version > self.record.version => {
                    self.record = record;
                    if self.record.status.is_terminal() {
                        return Poll::Ready(true);
                    }
                }
                Ok(None) => return Poll::Ready(false),
                // The store has failed, or its watch has ended without a reason.
                Ok(Some(_)) | Err(_) => self.newer = Some(engine.watch(&self.record, PAUSE)),
            }
        }
    }

    /// Asks what is new, and takes back what the task does not ask any more.
    fn begin_questions(&mut self) {
        let questions = &self.record.questions;
        let is_open = |key: &String| questions.iter().any(|question| question.key == *key);
        self.asking.retain(|(key, _)| is_open(key));
        for question in questions {
            if self.asking.iter().any(|(key, _)| *key == question.key) {
                continue;
            }
            let engine = Arc::clone(&self.engine);
            let place = engine.asked.begin(&self.record.id, &question.key);
            let asked: Boxed<_> = match place {
                Some(place) => Box::pin(ask(
                    engine,
                    self.context.clone(),
                    self.record.clone(),
                    (question.clone(), place),
                )),
                // Another request asks it, and may end before it has an answer.
                None => Box::pin(async move {
                    (engine.executor.sleep)(RETRY).await;
                    None
                }),
            };
            self.asking.push((question.key.clone(), asked));
        }
    }

    /// Ready when a question has ended.
    fn poll_questions(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut ended = Poll::Pending;
        let mut newest = None;
        self.asking.retain_mut(|(_, asked)| {
            let Poll::Ready(record) = asked.as_mut().poll(cx) else {
                return true;
            };
            ended = Poll::Ready(());
            newest = record.or(newest.take());
            false
        });
        if let Some(newest) = newest
            && newest.version > self.record.version
        {
            self.record = newest;
            self.newer = None;
        }
        ended
    }
}

/// Asks the client a question of a task, and gives the task the answer. Returns the record with the
/// answer; `None` if there is no answer, and the question is to be asked again.
async fn ask(
    engine: Arc<Engine>,
    context: CallContext,
    record: TaskRecord,
    (question, _place): (TaskQuestion, AskedQuestion),
) -> Option<TaskRecord> {
    let answer = match related(&question.params, &record.id) {
        Ok(params) => {
            let method = Method::from(&*question.method);
            let asked = context.ask::<RawBuf>(method, &params).timeout(LONGEST);
            asked.await
        }
        Err(error) => Err(AskError::Client(error)),
    };
    let answer = match answer {
        Ok(result) => Ok(result),
        Err(AskError::Client(error) | AskError::Rejected(error)) => Err(error),
        Err(AskError::Timeout | AskError::Cancelled | AskError::Closed) => {
            (engine.executor.sleep)(RETRY).await;
            return None;
        }
        Err(error) => Err(error.as_reply()),
    };
    loop {
        let given = give(&engine, &record.id, &question.key, &answer).await;
        if let Ok(Some(newest)) = given {
            return Some(newest);
        }
        (engine.executor.sleep)(RETRY).await;
        // Otherwise the store has failed, and the task may still be there.
        if given.is_ok() {
            return None;
        }
    }
}

/// Gives a task the client's answer to a question. Returns the newest record, if there is one.
async fn give(engine: &Engine, id: &str, key: &str, answer: &Result<RawBuf, ErrorReply>) -> Newest {
    let Some(record) = engine.ask(engine.store().load(id)).await? else {
        return Ok(None);
    };
    let max = engine.tasks.max_bytes;
    let changed = engine.change(record, |record| Ok(answered(record, key, answer, max)));
    changed.await
}

/// The record with the answer; `None` if the task does not ask this any more.
fn answered(
    record: &TaskRecord,
    key: &str,
    answer: &Result<RawBuf, ErrorReply>,
    max_bytes: usize,
) -> Option<TaskRecord> {
    let at = record.questions.iter().position(|asked| asked.key == key)?;
    let mut next = record.clone();
    next.questions.remove(at);
    if next.questions.is_empty() {
        next.status = TaskStatus::Working;
    }
    let answer = answer.clone().and_then(|result| {
        next.answers.insert(key.to_owned(), result);
        match next.len() > max_bytes || !next.is_shallow() {
            true => Err(ErrorReply::new(code::INTERNAL_ERROR, BYTES)),
            false => Ok(()),
        }
    });
    if let Err(error) = answer {
        next.answers.remove(key);
        next.refusals.insert(key.to_owned(), error.into());
    }
    Some(next)
}

/// What the call of an ended task has returned.
fn outcome(record: TaskRecord) -> Result<RawBuf, ErrorReply> {
    match (record.status, record.result, record.error) {
        (TaskStatus::Completed, Some(result), _) => related(&result, &record.id),
        (TaskStatus::Failed, _, Some(error)) => Err(error.into()),
        (TaskStatus::Cancelled, ..) => Err(ErrorReply::new(
            code::INTERNAL_ERROR,
            "the task was cancelled",
        )),
        _ => Err(ErrorReply::internal()),
    }
}

/// How long the store is left alone after a failure.
const PAUSE: Duration = Duration::from_millis(100);
/// When a question without an answer is asked again.
const RETRY: Duration = Duration::from_secs(1);
/// A question lasts as long as its task, or the request that waits for the result.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);
