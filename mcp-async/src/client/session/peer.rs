//! The handle of a connection to a server.

use core::fmt;
use core::future::{Future, poll_fn};
use core::pin::pin;
use core::task::Context;
use core::task::Poll;
use std::sync::Arc;

use mcp_proto::rpc::Method;
use mcp_proto::{Channel, Payload, SendError};
use serde::de::DeserializeOwned;

use super::call::Call;
use super::info::ServerInfo;
use super::role::ConnectionInfo;
use crate::client::Machine;
use crate::connection::{PendingRequest, Shared};
use crate::error::ConnectError;

/// A handle of a connection to a server: cheap to clone, usable from any task.
pub struct Peer {
    pub(crate) shared: Arc<Shared<Machine>>,
    pub(in crate::client) info: Arc<ConnectionInfo>,
}

impl Peer {
    /// Resolves when it is known who the server is, or that there will be no connection.
    ///
    /// # Errors
    /// See [`ConnectError`].
    pub fn ready(&self) -> impl Future<Output = Result<&ServerInfo, ConnectError>> + Send + '_ {
        poll_fn(|cx| {
            let mut core = self.shared.lock();
            if let Some(server) = self.info.server.get() {
                return Poll::Ready(Ok(server));
            }
            if let Some(error) = self.info.failed.get() {
                return Poll::Ready(Err(error.clone()));
            }
            if core.ended {
                return Poll::Ready(Err(ConnectError::Closed));
            }
            core.watch(cx);
            Poll::Pending
        })
    }

    /// Polls the connection of this handle until [`ready`](Self::ready) resolves.
    pub(crate) async fn run_until_ready<T>(
        &self,
        mut connection: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Result<(), ConnectError> {
        let mut ready = pin!(self.ready());
        poll_fn(|cx| {
            let ended = connection(cx);
            match ready.as_mut().poll(cx) {
                Poll::Pending if ended.is_ready() => Poll::Ready(Err(ConnectError::Closed)),
                other => other.map_ok(|_| ()),
            }
        })
        .await
    }

    /// Returns the description of the server, if it is known.
    pub fn server(&self) -> Option<&ServerInfo> {
        self.info.server.get()
    }

    /// Calls a method; the parameters are an object. Both are borrowed, and the result is
    /// decoded into any type that owns what it holds,
    /// [`RawBuf`](mcp_proto::json::RawBuf) for the JSON as it came. A call made early waits
    /// until the server is known.
    ///
    /// ```
    /// use core::time::Duration;
    /// use mcp_async::client::{CallError, Peer};
    /// use mcp_async::json::RawBuf;
    /// use mcp_async::Method;
    ///
    /// #[derive(serde::Serialize)]
    /// struct Read<'a> {
    ///     uri: &'a str,
    /// }
    ///
    /// async fn read(client: &Peer, uri: &str) -> Result<RawBuf, CallError> {
    ///     let params = Read { uri };
    ///     let call = client.call(Method::ResourcesRead, Some(&params));
    ///     call.timeout(Duration::from_secs(10)).await
    /// }
    /// ```
    ///
    /// # Errors
    /// The future's are [`CallError`](crate::client::CallError).
    pub fn call<'a, T: DeserializeOwned>(
        &'a self,
        method: Method<'a>,
        params: Option<&'a (dyn Payload + Sync)>,
    ) -> Call<'a, T> {
        let pending = PendingRequest::new(&self.shared);
        Call::new(pending, &*self.info.handler, method, params)
    }

    /// Sends a notification of a legacy session, `notifications/roots/list_changed` for one,
    /// when there is room for it.
    ///
    /// # Errors
    /// [`SendError::NotInRevision`] for one that is the core's to send, or that the server's
    /// revision does not have; [`SendError::MissingCapability`], [`SendError::NotReady`],
    /// [`SendError::Closed`].
    pub async fn notify(
        &self,
        method: Method<'_>,
        params: Option<&(dyn Payload + Sync)>,
    ) -> Result<(), SendError> {
        notify(&self.shared, method, params).await
    }

    /// Ends the connection: calls in flight end with [`Failure::Closed`](mcp_proto::client::Failure::Closed), what was said is
    /// written, and then the output is closed, which tells the server.
    pub fn close(&self) {
        self.shared.close();
    }

    /// Returns true if the connection has ended.
    pub fn is_closed(&self) -> bool {
        self.shared.lock().ended
    }
}

/// Sends a notification of a legacy session, for what does not keep the connection open.
pub(in crate::client) async fn notify(
    shared: &Shared<Machine>,
    method: Method<'_>,
    params: Option<&(dyn Payload + Sync)>,
) -> Result<(), SendError> {
    let mut receipt = None;
    poll_fn(|cx| {
        shared.poll_tell(cx, &mut receipt, Channel::PIPE, |machine, _, out| {
            let params = params.map(|params| -> &dyn Payload { params });
            machine.notify(method, params, out)
        })
    })
    .await
}

impl Clone for Peer {
    fn clone(&self) -> Self {
        self.shared.lock().handles += 1;
        Self {
            shared: Arc::clone(&self.shared),
            info: Arc::clone(&self.info),
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        let last = {
            let mut core = self.shared.lock();
            core.handles -= 1;
            core.handles == 0
        };
        if last {
            self.close();
        }
    }
}

impl fmt::Debug for Peer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Peer")
            .field("server", &self.info.server.get())
            .finish_non_exhaustive()
    }
}
