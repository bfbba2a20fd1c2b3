//! Questions that a client of 2025-11-25 makes tasks of.

use core::task::{Context, Poll, Waker, ready};
use core::time::Duration;
use std::sync::Arc;

use mcp_proto::json::{DecodeError, Raw, RawBuf};
use mcp_proto::model::ClientFeatures;
use mcp_proto::rpc::{Method, Reason, code};
use mcp_proto::server::AskOptions;
use mcp_proto::{Channel, Instant, Question, Revision, Token};
use serde::Serialize;

use crate::connection::{PendingRequest, Shared};
use crate::model::{CreateTaskResult, Task, TaskStatus};
use crate::runtime::Sleep;
use crate::server::call::context::CallContext;
use crate::server::caller::ask::{AskError, poll_ask};
use crate::server::caller::machine::Machine;

/// A task of the client, until it is over. Dropping it earlier cancels the task.
///
/// ```text
///   Pausing --> tasks/get --> Pausing             while the client works on it
///                   `-------> tasks/result        when it is over
/// ```
pub(super) struct ClientTask {
    shared: Arc<Shared<Machine>>,
    channel: Channel,
    /// The call that asks.
    call: (Token, Revision),
    /// The parameters of all requests about it.
    params: RawBuf,
    id: String,
    interval: Duration,
    pause: Sleep,
    /// The time of the next poll.
    due: Instant,
    /// The time until which the answer is waited for.
    deadline: Instant,
    request: Option<(Method<'static>, PendingRequest<'static, Machine>)>,
    is_over: bool,
}

/// Parameters that name a task.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Params<'a> {
    task_id: &'a str,
}

/// Returns true if the client makes tasks of such questions (TK-02).
pub(super) fn makes_tasks(client: ClientFeatures, method: Method<'_>) -> bool {
    match method {
        Method::ElicitationCreate => client.contains(ClientFeatures::TASKS_ELICITATION),
        Method::SamplingCreateMessage => client.contains(ClientFeatures::TASKS_SAMPLING),
        _ => false,
    }
}

/// The parameters of a question with the member that asks for a task, which the client keeps for
/// this time.
pub(super) fn with_task(params: &RawBuf, ttl: Duration) -> Option<RawBuf> {
    // TK-65
    let ttl = ttl.as_millis().min((1 << 53) - 1);
    let object = params.as_raw().object()?;
    let before = params.as_raw().as_str().trim_end().strip_suffix('}')?;
    let comma = if object.is_empty() { "" } else { "," };
    RawBuf::parse(format!(r#"{before}{comma}"task":{{"ttl":{ttl}}}}}"#)).ok()
}

/// The task that answers a question; `None` for an answer to the question itself.
pub(super) fn created(answer: &RawBuf) -> Option<Result<Task, DecodeError>> {
    let object = answer.as_raw().object()?;
    object.get("task").and_then(Raw::object)?;
    let is_answer = object.get("action").or(object.get("model")).is_some();
    (!is_answer).then(|| {
        let created: CreateTaskResult = answer.decode()?;
        Ok(created.task)
    })
}

impl ClientTask {
    pub(super) fn new(context: &CallContext, task: Task, deadline: Instant) -> Option<Self> {
        let shared = context.peer().shared;
        let now = shared.now();
        let (token, channel) = context.call();
        let task_id = &*task.task_id;
        let mut created = Self {
            params: RawBuf::encode(&Params { task_id }).ok()?,
            pause: Sleep::until(&shared.runtime, now),
            shared,
            channel,
            call: (token, context.revision()),
            interval: SHORTEST,
            due: now,
            deadline,
            request: None,
            is_over: false,
            id: String::new(),
        };
        created.note(&task);
        created.id = task.task_id;
        Some(created)
    }

    /// Ready with the answer to the question.
    pub(super) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<Result<RawBuf, AskError>> {
        loop {
            let now = self.shared.now();
            if self.deadline <= now {
                return Poll::Ready(Err(AskError::Timeout));
            }
            let Some((method, pending)) = &mut self.request else {
                if self.due <= now {
                    self.begin(Method::TasksGet);
                    continue;
                }
                self.pause.reset(self.due.min(self.deadline));
                ready!(self.pause.poll_done(cx));
                continue;
            };
            let method = *method;
            let left = self.deadline.saturating_since(now);
            let options = AskOptions {
                timeout: left,
                max_duration: left,
                ..AskOptions::default()
            };
            let question = Question {
                method,
                params: &self.params,
            };
            let (token, revision) = self.call;
            let asking = (Some(token), question, options, 0);
            let answer = ready!(poll_ask(pending, cx, Some(revision), asking));
            self.request = None;
            let answer = match answer {
                Ok(answer) => answer,
                Err(error) => {
                    self.is_over = match &error {
                        // Other errors of a poll say nothing about the task.
                        AskError::Client(error) | AskError::Rejected(error) => {
                            method == Method::TasksResult || error.code == code::INVALID_PARAMS
                        }
                        AskError::Closed => true,
                        _ => false,
                    };
                    return Poll::Ready(Err(error));
                }
            };
            if method == Method::TasksResult {
                self.is_over = true;
                return Poll::Ready(Ok(answer));
            }
            match answer.decode::<Task>() {
                Ok(task) if task.task_id == self.id => self.note(&task),
                Ok(_) => return Poll::Ready(Err(AskError::Unusable(Reason::Members))),
                Err(error) => return Poll::Ready(Err(AskError::Decode(error))),
            }
        }
    }

    /// Takes the state of the task that the client has sent (TK-10, TK-11).
    fn note(&mut self, task: &Task) {
        if task.status.is_terminal() || task.status == TaskStatus::InputRequired {
            self.begin(Method::TasksResult);
            return;
        }
        let interval = task.poll_interval.map(Duration::from_millis);
        self.interval = interval.unwrap_or(WITHOUT_INTERVAL).max(SHORTEST);
        self.due = self.shared.now() + self.interval;
    }

    fn begin(&mut self, method: Method<'static>) {
        let request = PendingRequest::shared(Arc::clone(&self.shared));
        self.request = Some((method, request.on(self.channel)));
    }
}

impl Drop for ClientTask {
    fn drop(&mut self) {
        self.request = None;
        if self.is_over {
            return;
        }
        let question = Question {
            method: Method::TasksCancel,
            params: &self.params,
        };
        let options = AskOptions {
            // There is no place for the answer, which is of no interest.
            cookie: u64::MAX,
            ..AskOptions::default()
        };
        let now = self.shared.now();
        let cx = &mut Context::from_waker(Waker::noop());
        // Without room the client keeps the task until its time is over.
        let _ = self
            .shared
            .lock()
            .poll_send(now, cx, Channel::PIPE, |machine, now, out| {
                machine.ask(now, None, question, options, out)
            });
        self.shared.driver_waker.wake();
    }
}

/// No client is polled more often.
const SHORTEST: Duration = Duration::from_millis(20);
/// Of a client that states no interval.
const WITHOUT_INTERVAL: Duration = Duration::from_secs(1);
