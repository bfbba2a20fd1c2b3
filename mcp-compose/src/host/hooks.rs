//! What a program decides for its host.

use std::sync::Arc;

use mcp_async::client::{CallbackError, ClientBuilder};
use mcp_async::model::{
    CreateMessageParams, CreateMessageResult, ElicitParams, ElicitResult, Root,
};
use mcp_async::runtime::BoxFuture;

use super::approval::{ServerApproval, ToolApproval, ToolConsent};
use super::audit::AuditHook;
use super::policy::ServerPolicy;
use super::question::QuestionContext;
use crate::config::Input;

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

/// The hooks that a program has set.
#[derive(Clone, Default)]
pub(super) struct Hooks {
    pub(super) elicitation: Option<Arc<Answerer<ElicitParams, ElicitResult>>>,
    pub(super) sampling: Option<Arc<Answerer<CreateMessageParams, CreateMessageResult>>>,
    pub(super) roots: Option<Arc<RootsHook>>,
    pub(super) approve_server: Option<Arc<Decision<ServerApproval, bool>>>,
    pub(super) approve_tool: Option<Arc<Decision<ToolApproval, ToolConsent>>>,
    pub(super) input: Option<Arc<Decision<Input, Option<String>>>>,
    pub(super) policy: Option<Arc<PolicyHook>>,
    pub(super) audit: Option<Arc<AuditHook>>,
    pub(super) stderr: Option<Arc<LineHook>>,
    pub(super) settings: Option<Arc<ClientHook>>,
}
