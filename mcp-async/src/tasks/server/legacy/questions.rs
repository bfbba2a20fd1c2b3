//! Asks the client what a task asks.

use core::future::pending;
use core::task::Context;
use core::time::Duration;
use std::sync::Arc;

use mcp_proto::json::{RawBuf, Str};
use mcp_proto::model::TaskStatus;
use mcp_proto::rpc::{Method, code};

use super::super::super::store::{TaskQuestion, TaskRecord};
use super::super::engine::Engine;
use super::super::run::BYTES;
use crate::error::ErrorReply;
use crate::runtime::{BoxFuture, Either, race};
use crate::server::{AskError, CallContext, WeakPeer};
use crate::tasks::related::relate;

/// The questions of a task that are asked by one request, or by the session.
pub(super) struct Questions {
    client: Client,
    /// The questions that are being asked, by their keys.
    asking: Vec<(String, BoxFuture<'static, ()>)>,
}

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
    id: Arc<str>,
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
    pub(super) fn ask(&mut self, engine: &Arc<Engine>, record: &TaskRecord) {
        let questions = &record.questions;
        let is_open = |key: &String| questions.iter().any(|question| question.key == *key);
        self.asking.retain(|(key, _)| is_open(key));
        for question in questions {
            if self.asking.iter().any(|(key, _)| *key == question.key) {
                continue;
            }
            let open = Open {
                engine: Arc::clone(engine),
                id: record.id.clone(),
                question: question.clone(),
            };
            let asking = Box::pin(open.ask(self.client.clone()));
            self.asking.push((question.key.clone(), asking));
        }
    }

    /// Continues to ask. The record of the task shows what came of it.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) {
        for (_, asking) in &mut self.asking {
            let _ = asking.as_mut().poll(cx);
        }
    }
}

impl Open {
    /// Asks the client until it has answered, and lets a task of the runtime give its answer to the
    /// task: it continues without the request that asked.
    async fn ask(self, client: Client) {
        let engine = &self.engine;
        let (connection, is_session) = match &client {
            Client::Call(context) => (context.peer().downgrade().address(), false),
            Client::Session(peer) => (peer.address(), true),
        };
        let question = (&*self.id, &*self.question.key);
        let (asked, answer) = loop {
            if is_session {
                let interval = engine.tasks.poll_interval.saturating_mul(2);
                engine.sleep(interval.max(ALONE)).await;
            }
            if let Some(asked) = engine.asked.begin(question, connection, is_session) {
                let answer = race(asked.wanted(), self.answer(&client)).await;
                if let Either::Right(Some(answer)) = answer {
                    break (asked, answer);
                }
            }
            // The call or session that asks it now may end before it has an answer.
            engine.sleep(RETRY).await;
        };
        let runtime = engine.runtime().clone();
        let stopped = engine.runs.stopped();
        let give = self.give(answer);
        runtime.spawn(Box::pin(async move {
            race(give, stopped).await;
            // Until then the question is not asked again.
            drop(asked);
        }));
        // The record shows when it is not open any more.
        pending::<()>().await;
    }

    /// The answer of the client; `None` if it was not asked, or has not answered.
    async fn answer(&self, client: &Client) -> Option<Result<RawBuf, ErrorReply>> {
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

    /// Gives the task the client's answer, for a limited time.
    async fn give(self, mut answer: Result<RawBuf, ErrorReply>) {
        let Self {
            engine,
            id,
            question,
        } = self;
        let max = engine.tasks.max_bytes;
        let bytes = |raw: &RawBuf| raw.as_raw().as_bytes().len();
        let size = match &answer {
            Ok(result) => bytes(result),
            Err(error) => {
                let data = error.data.as_ref().map_or(0, bytes);
                error.message.len().saturating_add(data)
            }
        };
        if size > max {
            answer = Err(ErrorReply::new(code::INTERNAL_ERROR, BYTES));
        }
        for _ in 0..ATTEMPTS {
            let given = match engine.ask(|store| store.load(&id)).await {
                Ok(Some(record)) => {
                    let change =
                        |record: &TaskRecord| Ok(answered(record, &question.key, &answer, max));
                    engine.change(record, change).await.map(drop)
                }
                found => found.map(drop),
            };
            // Otherwise the store has failed, and the task may still be there.
            if given.is_ok() {
                return;
            }
            engine.sleep(RETRY).await;
        }
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
/// Attempts to give an answer: ten minutes or more.
const ATTEMPTS: u32 = 600;
/// The shortest time that a question waits for a request that asks it, before the session does.
const ALONE: Duration = Duration::from_secs(2);
/// A question lasts as long as its task, or the request that waits for the result.
const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);
