//! What a program decides for its host.

use std::sync::Arc;

use mcp_async::client::{CallbackError, ClientBuilder};
use mcp_async::model::{
    CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, LoggingMessageParams,
    Root,
};
use mcp_async::runtime::BoxFuture;

use super::approval::{ToolApproval, ToolConsent};
use super::audit::AuditHook;
use super::context::QuestionContext;
use super::policy::ServerPolicy;
use crate::catalog::ListError;
use crate::config::{ConfigEntry, Input};

/// The answer to a question of a server.
pub(super) type Answer<T> = BoxFuture<'static, Result<T, CallbackError>>;

/// Answers questions of servers.
type Answerer<P, T> = dyn Fn(P, QuestionContext) -> Answer<T> + Send + Sync;

/// Names the directories that a server is shown.
type RootsHook = dyn Fn(QuestionContext) -> Answer<Vec<Root>> + Send + Sync;

/// Asks a person.
pub(super) type Decision<P, T> = dyn Fn(P) -> BoxFuture<'static, T> + Send + Sync;

/// Changes the settings of the client of a server.
type ClientHook = dyn Fn(&str, ClientBuilder) -> ClientBuilder + Send + Sync;

/// Decides what a server may ask.
type PolicyHook = dyn Fn(&str) -> ServerPolicy + Send + Sync;

/// Receives a line of a server.
type LineHook = dyn Fn(&str, &str) + Send + Sync;

/// Receives a log message of a server.
type LogHook = dyn Fn(&str, LoggingMessageParams) + Send + Sync;

/// The hooks that a program has set.
#[derive(Clone, Default)]
pub(super) struct Hooks {
    pub(super) elicitation: Option<Arc<Answerer<ElicitParams, ElicitResult>>>,
    pub(super) sampling: Option<Arc<Answerer<CreateMessageParams, CreateMessageResult>>>,
    pub(super) roots: Option<Arc<RootsHook>>,
    pub(super) approve_server: Option<Arc<Decision<Arc<ConfigEntry>, bool>>>,
    pub(super) approve_tool: Option<Arc<Decision<ToolApproval, ToolConsent>>>,
    pub(super) input: Option<Arc<Decision<Input, Option<String>>>>,
    pub(super) policy: Option<Arc<PolicyHook>>,
    pub(super) audit: Option<Arc<AuditHook>>,
    pub(super) stderr: Option<Arc<LineHook>>,
    pub(super) log: Option<Arc<LogHook>>,
    pub(super) list_error: Option<Arc<dyn Fn(ListError) + Send + Sync>>,
    pub(super) settings: Option<Arc<ClientHook>>,
}
