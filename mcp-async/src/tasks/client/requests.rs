//! The requests that a client makes about its tasks.

use core::time::Duration;

use mcp_proto::Instant;
use mcp_proto::client::Failure;
use mcp_proto::json::RawBuf;
use mcp_proto::rpc::code;
use serde::Serialize;

use crate::client::{CallError, Client, may_pass};

/// The parameters of `tasks/get` and `tasks/cancel`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Params<'a> {
    pub(super) task_id: &'a str,
}

/// The parameters of `tasks/update`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Update<'a> {
    task_id: &'a str,
    input_responses: &'a RawBuf,
}

/// The client, the id and the timeout of the requests about one task.
#[derive(Clone)]
pub(super) struct Requests {
    pub(super) client: Client,
    pub(super) id: String,
    /// For each answer of the server, if it differs from the settings of the client.
    pub(super) timeout: Option<Duration>,
}

impl Requests {
    pub(super) fn now(&self) -> Instant {
        self.client.runtime().now()
    }

    pub(super) async fn get(self) -> Result<RawBuf, CallError> {
        let params = Params { task_id: &self.id };
        self.send("tasks/get", &params).await
    }

    /// The result of a task of 2025-11-25, for which it waits so long.
    pub(super) async fn result(self, timeout: Duration) -> Result<RawBuf, CallError> {
        let params = Params { task_id: &self.id };
        let request = self.client.request("tasks/result", &params);
        request.timeout(timeout).max_duration(timeout).await
    }

    pub(super) async fn cancel(self) -> Result<(), CallError> {
        let params = Params { task_id: &self.id };
        self.send("tasks/cancel", &params).await.map(drop)
    }

    pub(super) async fn update(self, answers: RawBuf) -> Result<(), CallError> {
        let params = Update {
            task_id: &self.id,
            input_responses: &answers,
        };
        self.send("tasks/update", &params).await.map(drop)
    }

    async fn send(
        &self,
        method: &str,
        params: &(impl Serialize + Sync),
    ) -> Result<RawBuf, CallError> {
        let request = self.client.request(method, params);
        match self.timeout {
            Some(timeout) => request.timeout(timeout).await,
            None => request.await,
        }
    }

    /// Returns true if the request may succeed later: the failure is not about the task.
    pub(super) fn may_succeed(&self, error: &CallError) -> bool {
        match error {
            CallError::Timeout => true,
            CallError::Failed(Failure::Closed) | CallError::Closed | CallError::ExitedEarly(_) => {
                !self.client.is_closed()
            }
            CallError::Failed(failure) => may_pass(*failure),
            CallError::Server(error) => error.code == code::INTERNAL_ERROR,
            _ => false,
        }
    }
}
