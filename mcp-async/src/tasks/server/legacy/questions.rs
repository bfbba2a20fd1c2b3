//! Asks the client what a task asks.

use core::future::{Future, poll_fn};
use core::pin::{Pin, pin};
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;

use mcp_proto::json::{RawBuf, Str};
use mcp_proto::model::TaskStatus;
use mcp_proto::rpc::{Method, code};

use super::super::super::store::{TaskQuestion, TaskRecord};
use super::super::asked::AskedQuestion;
use super::super::engine::Engine;
use super::super::run::BYTES;
use super::watched::{Newest, Watched};
use crate::error::ErrorReply;
use crate::server::{AskError, CallContext, WeakPeer};
use crate::tasks::related::relate;

/// The questions of a task that are asked by one request, or by the session.
pub(super) struct Questions {
    client: Client,
    /// The questions that are being asked, by their keys.
    asking: Vec<(String, Asking)>,
}

/// Ready with the record that has the answer; with `None` if the question is to be asked again.
type Asking = Pin<Box<dyn Future<Output = Option<TaskRecord>> + Send>>;

/// The ways in which a client is asked.
#[derive(Clone)]
pub(super) enum Client {
    /// On behalf of the request that waits for the result.
    Call(CallContext),
    /// Apart from all requests, if none has asked for some time.
    Session(WeakPeer),
}

/// A question of a task.
struct Open {
    engine: Arc<Engine>,
    id: String,
    question: TaskQuestion,
}

impl Questions {
    pub(super) const fn new(client: Client) -> Self {
        Self {
            client,
            asking: Vec::new(),
        }
    }

    /// Asks what is new, and takes back what the task does not ask any more.
    pub(super) fn ask(&mut self, task: &Watched) {
        let questions = &task.record.questions;
        let is_open = |key: &String| questions.iter().any(|question| question.key == *key);
        self.asking.retain(|(key, _)| is_open(key));
        for question in questions {
            if self.asking.iter().any(|(key, _)| *key == question.key) {
                continue;
            }
            let open = Open {
                engine: Arc::clone(&task.engine),
                id: task.record.id.clone(),
                question: question.clone(),
            };
            let asking = Box::pin(open.ask(self.client.clone()));
            self.asking.push((question.key.clone(), asking));
        }
    }

    /// Ready when a question has ended, with the newest record that has an answer.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Option<TaskRecord>> {
        let mut ended = false;
        let mut newest: Option<TaskRecord> = None;
        self.asking.retain_mut(|(_, asking)| {
            let Poll::Ready(record) = asking.as_mut().poll(cx) else {
                return true;
            };
            ended = true;
            let known = newest.as_ref().map_or(0, |known| known.version);
            if let Some(record) = record.filter(|record| record.version > known) {
                newest = Some(record);
            }
            false
        });
        match ended {
            true => Poll::Ready(newest),
            false => Poll::Pending,
        }
    }
}

impl Open {
    /// Asks the client, and gives the task the answer.
    async fn ask(self, client: Client) -> Option<TaskRecord> {
        let engine = &self.engine;
        if let Client::Session(_) = client {
            let interval = engine.tasks.poll_interval.saturating_mul(2);
            engine.sleep(interval.max(ALONE)).await;
        }
        let (connection, is_session) = match &client {
            Client::Call(context) => (context.peer().downgrade().address(), false),
            Client::Session(peer) => (peer.address(), true),
        };
        let question = (&*self.id, &*self.question.key);
        let Some(asked) = engine.asked.begin(question, connection, is_session) else {
            // The call or session that asks it now may end before it has an answer.
            engine.sleep(RETRY).await;
            return None;
        };
        let answer = {
            let mut answer = pin!(self.answer(client));
            poll_fn(|cx| match asked.poll_wanted(cx) {
                Poll::Ready(()) => Poll::Ready(None),
                Poll::Pending => answer.as_mut().poll(cx),
            })
            .await
        };
        let Some(answer) = answer else {
            drop(asked);
            engine.sleep(RETRY).await;
            return None;
        };
        PendingAnswer::new(self, asked, answer).give().await
    }

    /// The answer of the client; `None` if it was not asked, or has not answered.
    async fn answer(&self, client: Client) -> Option<Result<RawBuf, ErrorReply>> {
        let params = match relate(self.question.params.as_raw(), Str::from(&*self.id)) {
            Ok(params) => params,
            Err(error) => return Some(Err(error)),
        };
        let method = Method::from(&*self.question.method);
        let is_session = matches!(client, Client::Session(_));
        let answer = match client {
            Client::Call(context) => {
                let asked = context.ask::<RawBuf>(method, &params);
                asked.timeout(LONGEST).await
            }
            Client::Session(peer) => {
                let peer = peer.upgrade().filter(|peer| peer.is_read())?;
                let asked = peer.ask::<RawBuf>(method, &params);
                asked.timeout(LONGEST).await
            }
        };
        match answer {
            Ok(result) => Some(Ok(result)),
            Err(AskError::Client(error) | AskError::Rejected(error)) => Some(Err(error)),
            Err(AskError::Timeout | AskError::Cancelled | AskError::Closed) => None,
            // The client of the call can be asked, but this one cannot: another request may still ask.
            Err(AskError::Refused(_) | AskError::NotInRevision { .. }) => None,
            Err(_) if is_session => None,
            Err(error) => Some(Err(error.as_reply())),
        }
    }

    /// Gives the task the client's answer. Returns the newest record, if there is one.
    async fn give(&self, answer: &Result<RawBuf, ErrorReply>) -> Newest {
        let engine = &self.engine;
        let Some(record) = engine.ask(|store| store.load(&self.id)).await? else {
            return Ok(None);
        };
        let (key, max) = (&*self.question.key, engine.tasks.max_bytes);
        let changed = engine.change(record, |record| Ok(answered(record, key, answer, max)));
        changed.await
    }
}

/// An answer that the task does not have yet. A task of the runtime gives it if this is dropped.
struct PendingAnswer(Option<Answer>);

/// An answer of a client, and the task that asked for it.
struct Answer {
    open: Open,
    answer: Result<RawBuf, ErrorReply>,
    /// Until the task has the answer, the question is not asked again.
    _asked: AskedQuestion,
}

impl PendingAnswer {
    fn new(open: Open, asked: AskedQuestion, mut answer: Result<RawBuf, ErrorReply>) -> Self {
        let bytes = match &answer {
            Ok(result) => result.as_raw().as_bytes().len(),
            Err(error) => {
                let data = error.data.as_ref();
                let data = data.map_or(0, |data| data.as_raw().as_bytes().len());
                error.message.len().saturating_add(data)
            }
        };
        if bytes > open.engine.tasks.max_bytes {
            answer = Err(ErrorReply::new(code::INTERNAL_ERROR, BYTES));
        }
        Self(Some(Answer {
            open,
            answer,
            _asked: asked,
        }))
    }

    /// Ready with the newest record when the task has the answer; with `None` if there is no task.
    async fn give(mut self) -> Option<TaskRecord> {
        let given = self.0.as_ref()?;
        let newest = given.give(u32::MAX).await;
        self.0 = None;
        newest
    }
}

impl Drop for PendingAnswer {
    fn drop(&mut self) {
        if let Some(given) = self.0.take() {
            let runtime = given.open.engine.runtime().clone();
            runtime.spawn(Box::pin(given.give_apart()));
        }
    }
}

impl Answer {
    async fn give(&self, attempts: u32) -> Option<TaskRecord> {
        for _ in 0..attempts {
            let given = self.open.give(&self.answer).await;
            if let Ok(Some(newest)) = given {
                return Some(newest);
            }
            self.open.engine.sleep(RETRY).await;
            // Otherwise the store has failed, and the task may still be there.
            if given.is_ok() {
                return None;
            }
        }
        None
    }

    /// Gives the answer after the end of the request, for a limited time and until the server ends at the
    /// latest.
    async fn give_apart(self) {
        let ending = self.open.engine.runs.ending();
        let mut give = pin!(self.give(ATTEMPTS));
        poll_fn(|cx| match give.as_mut().poll(cx) {
            Poll::Ready(_) => Poll::Ready(()),
            Poll::Pending => ending.poll_stopped(cx),
        })
        .await;
    }
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
        if next.len() > max_bytes || !next.is_shallow() {
            let error = ErrorReply::new(code::INTERNAL_ERROR, BYTES);
            next.refusals.insert(key.to_owned(), error.into());
        }
    }
    Some(next)
}

/// The pause before a question without an answer is asked again.
const RETRY: Duration = Duration::from_secs(1);
/// Attempts to give an answer after the end of the request that asked for it: ten minutes or more.
const ATTEMPTS: u32 = 600;
/// The shortest time that a question waits for a request that asks it, before the session does.
const ALONE: Duration = Duration::from_secs(2);
/// A question lasts as long as its task, or the request that waits for the result.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);
