//! Questions that a client of 2025-11-25 makes tasks of.

use core::task::{Context, Waker};
use core::time::Duration;
use std::sync::Arc;

use mcp_proto::json::{DecodeError, Raw, RawBuf};
use mcp_proto::model::ClientFeatures;
use mcp_proto::rpc::{Method, Reason, code};
use mcp_proto::server::AskOptions;
use mcp_proto::{Channel, Instant, Question, SendError};
use serde::Serialize;

use crate::connection::Shared;
use crate::model::{CreateTaskResult, Task, TaskStatus};
use crate::runtime::Sleep;
use crate::server::call::context::CallContext;
use crate::server::caller::Machine;
use crate::server::caller::ask::AskError;

/// A task of the client, until it is over. Dropping it earlier cancels the task.
struct ClientTask {
    shared: Arc<Shared<Machine>>,
    /// The parameters of all requests about it.
    params: RawBuf,
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

/// Follows a task of the client, and returns the answer to its question (TK-10, TK-11). Dropping the
/// future cancels the task.
pub(super) async fn follow(
    context: &CallContext,
    mut task: Task,
    deadline: Instant,
) -> Result<RawBuf, AskError> {
    let params = RawBuf::encode(&Params {
        task_id: &task.task_id,
    });
    let mut open = ClientTask {
        shared: context.peer().shared,
        params: params.map_err(|_| AskError::Refused(SendError::Encode))?,
        is_over: false,
    };
    loop {
        let is_ready = task.status.is_terminal() || task.status == TaskStatus::InputRequired;
        if !is_ready {
            let interval = task.poll_interval.map(Duration::from_millis);
            let interval = interval.unwrap_or(WITHOUT_INTERVAL).max(SHORTEST);
            let due = deadline.min(context.now() + interval);
            Sleep::until(&open.shared.runtime, due).await;
        }
        let now = context.now();
        if deadline <= now {
            return Err(AskError::Timeout);
        }
        let method = match is_ready {
            true => Method::TasksResult,
            false => Method::TasksGet,
        };
        let asked = context.ask::<RawBuf>(method, &open.params);
        let answer = asked.timeout(deadline.saturating_since(now)).await;
        open.is_over = match &answer {
            Ok(_) => is_ready,
            // Other errors of a poll say nothing about the task.
            Err(AskError::Client(error) | AskError::Rejected(error)) => {
                is_ready || error.code == code::INVALID_PARAMS
            }
            Err(error) => matches!(error, AskError::Closed),
        };
        let answer = answer?;
        if is_ready {
            return Ok(answer);
        }
        task = match answer.decode::<Task>() {
            Ok(newer) if newer.task_id == task.task_id => newer,
            Ok(_) => return Err(AskError::Unusable(Reason::Members)),
            Err(error) => return Err(AskError::Decode(error)),
        };
    }
}

impl Drop for ClientTask {
    fn drop(&mut self) {
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
