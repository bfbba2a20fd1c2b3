//! The calls of a tool that become tasks.

use super::super::EXTENSION;
use crate::error::ErrorReply;
use crate::model::TaskSupport;
use crate::server::{Detach, Tool};
use mcp_proto::json::RawBuf;
use mcp_proto::rpc::code;

/// The rule by which calls of a tool become tasks: see [`Tool::task`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskPolicy {
    /// A call becomes a task if its client can follow one and the server can keep a further one, and
    /// runs in its exchange otherwise.
    Optional,
    /// A call becomes a task. The call of a client that cannot follow one is refused.
    Required,
}

impl TaskPolicy {
    /// The policy as 2025-11-25 has it.
    const fn support(self) -> TaskSupport {
        match self {
            Self::Optional => TaskSupport::Optional,
            Self::Required => TaskSupport::Required,
        }
    }
}

/// The data of the engine of tasks that a tool carries.
#[derive(Clone, Copy, Debug)]
pub(super) struct ToolTasks {
    pub(super) policy: TaskPolicy,
    pub(super) when: Detach,
}

impl<S: Send + Sync + 'static> Tool<S> {
    /// Lets calls of the tool become tasks, before their handler runs. It has an effect on a server
    /// with [`tasks`](crate::server::ServerBuilder::tasks).
    ///
    /// One handler serves tasks and ordinary calls. In a task the messages of its progress are the
    /// status message, questions wait for their answers while the handler is kept, and the end of
    /// the task drops the handler.
    ///
    /// ```
    /// use mcp_async::server::Tool;
    /// use mcp_async::tasks::server::TaskPolicy;
    ///
    /// let tool: Tool = Tool::new("render")
    ///     .task(TaskPolicy::Optional)
    ///     .handler(|(): (), cx| async move {
    ///         cx.progress(1.0).message("half of it is done").await;
    ///         Ok("done")
    ///     });
    /// # let _ = tool;
    /// ```
    pub fn task(self, policy: TaskPolicy) -> Self {
        let when = Detach::Now;
        self.task_support(policy.support())
            .extension_data(ToolTasks { policy, when })
    }

    /// Lets calls of the tool become tasks when their handler calls
    /// [`begin_task`](crate::server::CallContext::begin_task). Until then the handler may ask within
    /// the exchange, and may also end there.
    ///
    /// ```
    /// use mcp_async::server::{Context, HandlerError, Tool};
    /// use mcp_async::tasks::server::TaskPolicy;
    ///
    /// async fn publish((): (), cx: Context) -> Result<&'static str, HandlerError> {
    ///     let roots = cx.roots().await?;
    ///     if roots.iter().next().is_none() {
    ///         return Ok("nothing to publish");
    ///     }
    ///     cx.begin_task().await;
    ///     // What takes long follows here.
    ///     Ok("published")
    /// }
    ///
    /// let tool: Tool = Tool::new("publish")
    ///     .deferred_task(TaskPolicy::Optional)
    ///     .handler(publish);
    /// # let _ = tool;
    /// ```
    pub fn deferred_task(self, policy: TaskPolicy) -> Self {
        let when = Detach::OnRequest;
        self.task_support(policy.support())
            .extension_data(ToolTasks { policy, when })
    }
}

/// The client did not declare the extension on this request (TK-33, TK-44).
pub(super) fn undeclared() -> ErrorReply {
    let data = format!(r#"{{"requiredCapabilities":{{"extensions":{{"{EXTENSION}":{{}}}}}}}}"#);
    ErrorReply {
        data: RawBuf::parse(data).ok(),
        ..ErrorReply::new(
            code::MISSING_CLIENT_CAPABILITY,
            format!("the client must declare the extension {EXTENSION}"),
        )
    }
}
