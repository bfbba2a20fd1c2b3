//! Tasks of servers of 2026-07-28, under ids that name the server and belong to one caller.

use core::time::Duration;
use std::borrow::Cow;
use std::sync::Arc;

use mcp_async::json::{EncodeError, Raw, RawBuf};
use mcp_async::server::{Call, CallContext, HandlerError, Principal};
use mcp_async::tasks::EXTENSION;
use mcp_async::{ErrorReply, Job, Method};
use serde::{Serialize, Serializer};

use super::asker::Asker;
use super::capabilities::relayed;
use super::replies::no_session;
use super::running::Running;
use super::sessions::Session;
use super::task_id::ServerTask;

impl Running {
    /// Returns the result of a tool, with the id of a task that is for this caller, if the server made a task of the call.
    pub(super) fn created(
        &self,
        server: &Arc<str>,
        result: RawBuf,
        cx: &CallContext,
    ) -> Result<RawBuf, HandlerError> {
        let object = result.as_raw().object().unwrap_or_default();
        let kind = object.get("resultType").and_then(Raw::string);
        if kind.is_none_or(|kind| kind != "task") {
            return Ok(result);
        }
        let id = object.get("taskId").and_then(Raw::string);
        let task = ServerTask {
            server: Arc::clone(server),
            features: relayed(cx.client()),
            id: id.map(|id| id.to_cow().into_owned()).unwrap_or_default(),
        };
        Ok(self.renamed(&task, result.as_raw(), cx.principal())?)
    }

    /// Replaces the id of a task that a server gave.
    fn renamed(
        &self,
        task: &ServerTask,
        told: Raw<'_>,
        owner: Option<&Principal>,
    ) -> Result<RawBuf, EncodeError> {
        let key = self.tasks.as_ref().ok_or(EncodeError::Custom)?;
        let id = RawBuf::encode(&key.seal(task, owner))?;
        RawBuf::encode(&WithId { told, id })
    }

    /// Returns the task of a server that a call is about, if it is one for this caller.
    pub(super) fn task_of(&self, call: &Call<'_>) -> Option<ServerTask> {
        let methods = [Method::TasksGet, Method::TasksUpdate, Method::TasksCancel];
        if !methods.contains(&call.method) || !call.context().has_client_extension(EXTENSION) {
            return None;
        }
        let id = call.params.get("taskId")?.string()?.to_cow();
        let key = self.tasks.as_ref()?;
        key.open(&id, call.context().principal())
    }

    /// Answers a call about this task of a server.
    pub(super) fn forward_task(self: &Arc<Self>, call: Call<'_>, task: ServerTask) -> Job {
        let owner = call.context().principal().cloned();
        let method = call.method.name().to_cow().into_owned();
        let params = call.keep(call.params.as_raw());
        let running = Arc::clone(self);
        call.answer(async move {
            let owner = owner.as_ref();
            running.ask_task(&task, &method, &params, owner).await
        })
    }

    /// Keeps a session for the time of the task that this result of its server states, if it states one.
    pub(super) fn keep_for_task(&self, session: &Session, result: Raw<'_>) {
        let task = result.object().unwrap_or_default();
        if task.get("taskId").is_some() {
            let ttl = task.get("ttlMs").and_then(|ttl| ttl.decode(&mut []).ok());
            let time = ttl.map_or(self.limits.call_time, Duration::from_millis);
            session.keep(self.runtime.now() + time.min(LONGEST));
        }
    }

    async fn ask_task(
        &self,
        task: &ServerTask,
        method: &str,
        params: &RawBuf,
        owner: Option<&Principal>,
    ) -> Result<RawBuf, ErrorReply> {
        let server = &task.server;
        let caller = Asker::beside_calls(owner);
        let opened = self.quiet_session(server, task.features, caller).await;
        let session = opened.map_err(|error| no_session(server, &error))?;
        let given = params.as_raw().object().unwrap_or_default();
        let asked = AboutTask {
            id: &task.id,
            responses: given.get("inputResponses"),
        };
        let request = session
            .client
            .extension_request::<RawBuf>(EXTENSION, method, &asked);
        let result = request.raw().await;
        let result = result.map_err(|error| self.failed(server, &session, error))?;
        self.keep_for_task(&session, result.as_raw());
        let renamed = self.renamed(task, result.as_raw(), owner);
        renamed.map_err(|_| ErrorReply::internal())
    }
}

/// The parameters of a request about a task.
#[derive(Serialize)]
struct AboutTask<'a> {
    #[serde(rename = "taskId")]
    id: &'a str,
    #[serde(rename = "inputResponses", skip_serializing_if = "Option::is_none")]
    responses: Option<Raw<'a>>,
}

/// A task with another id: its members as they came otherwise.
struct WithId<'a> {
    told: Raw<'a>,
    id: RawBuf,
}

impl Serialize for WithId<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let members = self.told.object().unwrap_or_default().members();
        serializer.collect_map(members.map(|(name, value)| {
            let name: Cow<'_, str> = name.to_cow();
            let value = if name == "taskId" {
                self.id.as_raw()
            } else {
                value
            };
            (name, value)
        }))
    }
}

/// The longest time for which a session is kept for a task that no caller asks for.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
