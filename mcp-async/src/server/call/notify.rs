//! Notifications on behalf of a request.

use core::future::poll_fn;

use mcp_proto::rpc::Method;
use mcp_proto::{Payload, SendError};

use super::context::CallContext;
use crate::server::caller::Machine;

impl CallContext {
    /// Sends a notification of the application's own on behalf of the call, before its answer: over
    /// HTTP on the stream of the response. It waits until there is room. The method is one of
    /// [`ServerConfig::methods`](mcp_proto::server::ServerConfig::methods), such as the
    /// [`sends`](crate::server::Extension::sends) of an extension; `params` is written as an object.
    ///
    /// # Errors
    /// [`SendError::Stale`] or [`SendError::Closed`] when the call is over,
    /// [`SendError::NotInRevision`] for a method that the server does not have, or whose extension is
    /// [off](crate::server::Extension::revisions) in the revision of the request, [`SendError::Encode`].
    ///
    /// ```
    /// use mcp_async::server::{Context, HandlerError};
    ///
    /// #[derive(serde::Serialize)]
    /// struct Event {
    ///     name: &'static str,
    /// }
    ///
    /// async fn stream(_: serde::de::IgnoredAny, cx: Context) -> Result<(), HandlerError> {
    ///     cx.notify("notifications/events/changed", &Event { name: "first" }).await?;
    ///     cx.cancelled().await;
    ///     Ok(())
    /// }
    /// # let _ = stream;
    /// ```
    pub async fn notify(
        &self,
        method: &str,
        params: &(dyn Payload + Sync),
    ) -> Result<(), SendError> {
        notify(self, method, params).await
    }
}

/// Sends a notification of a request or of a subscription.
pub(in crate::server) async fn notify(
    context: &CallContext,
    method: &str,
    params: &(dyn Payload + Sync),
) -> Result<(), SendError> {
    let shared = context.peer().shared;
    let (token, channel) = context.call();
    {
        let state = &shared.lock().role_state;
        if !state.may_send(Method::from(method), Some(context.revision())) {
            return Err(SendError::NotInRevision);
        }
    }
    let mut receipt = None;
    poll_fn(|cx| {
        let write = |machine: &mut Machine, _, out: &mut [u8]| {
            machine.notify_for(token, Method::from(method), Some(params), out)
        };
        shared.poll_tell(cx, &mut receipt, channel, write)
    })
    .await
}
