//! A request to whichever server has the item.

use core::fmt;
use core::future::IntoFuture;
use core::time::Duration;
use std::sync::Arc;

use mcp_async::client::{Progress, Request};
use mcp_async::json::RawBuf;
use mcp_async::runtime::BoxFuture;
use mcp_async::{Client, Payload};
use mcp_proto::json::{MAX_DEPTH, Raw, Writer};

use super::audit::HostOutcome;
use super::context::{CallInfo, Polled};
use super::shared::{Route, Shared, Subject};
use super::state::HostError;

/// A request of a [`Host`](super::Host) and its result, as [`Request`] is that of a client: it is sent when it is awaited,
/// and cancelled when that is dropped.
#[must_use = "a request is sent when it is awaited"]
pub struct HostRequest<'a, T, H = fn(Progress<'_>)> {
    shared: &'a Arc<Shared>,
    kind: RequestKind<T>,
    name: &'a str,
    arguments: &'a (dyn Payload + Sync),
    settings: Vec<Box<Settings<'a, T>>>,
    on_progress: Option<H>,
}

/// Changes the settings of the request to the server.
type Settings<'a, T> = dyn for<'c> FnOnce(Request<'c, T>) -> Request<'c, T> + Send + 'a;

/// A request, and how it is made of the client of its server.
pub(super) struct RequestKind<T> {
    pub(super) subject: Subject,
    pub(super) method: &'static str,
    pub(super) make: Make<T>,
    pub(super) outcome: fn(&T) -> HostOutcome,
}

/// Makes the request of a client from the name of the item at its server and the arguments.
type Make<T> = for<'c> fn(&'c Client, &'c str, &'c (dyn Payload + Sync)) -> Request<'c, T>;

impl<'a, T> HostRequest<'a, T> {
    pub(super) fn new(
        shared: &'a Arc<Shared>,
        kind: RequestKind<T>,
        name: &'a str,
        arguments: &'a (dyn Payload + Sync),
    ) -> Self {
        Self {
            shared,
            kind,
            name,
            arguments,
            settings: Vec::new(),
            on_progress: None,
        }
    }
}

impl<'a, T, H> HostRequest<'a, T, H> {
    /// Changes the settings of the request to the server, as those of [`Request`]: its logs, its `_meta`, its extensions.
    ///
    /// ```
    /// use mcp_async::model::LoggingLevel;
    /// use mcp_compose::{Host, HostError};
    ///
    /// async fn convert(host: &Host) -> Result<String, HostError> {
    ///     let call = host.call_tool("files__convert", &());
    ///     Ok(call.with(|request| request.with_logs(LoggingLevel::Info)).await?.text())
    /// }
    /// # let _ = convert;
    /// ```
    pub fn with(
        mut self,
        settings: impl for<'c> FnOnce(Request<'c, T>) -> Request<'c, T> + Send + 'a,
    ) -> Self {
        self.settings.push(Box::new(settings));
        self
    }

    /// Waits so long for the result, instead of the configured time; see [`Request::timeout`].
    pub fn timeout(self, timeout: Duration) -> Self {
        self.with(move |request| request.timeout(timeout))
    }

    /// Asks for progress, and hands it to the closure; see [`Request::on_progress`].
    pub fn on_progress<P: FnMut(Progress<'_>)>(self, on_progress: P) -> HostRequest<'a, T, P> {
        HostRequest {
            shared: self.shared,
            kind: self.kind,
            name: self.name,
            arguments: self.arguments,
            settings: self.settings,
            on_progress: Some(on_progress),
        }
    }
}

impl<'a, T, H> IntoFuture for HostRequest<'a, T, H>
where
    T: Send + 'a,
    H: FnMut(Progress<'_>) + Send + 'a,
{
    type Output = Result<T, HostError>;
    type IntoFuture = BoxFuture<'a, Self::Output>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.send())
    }
}

impl<T: Send, H: FnMut(Progress<'_>) + Send> HostRequest<'_, T, H> {
    async fn send(self) -> Result<T, HostError> {
        let Self {
            shared,
            kind,
            name,
            arguments,
            settings,
            on_progress,
        } = self;
        let Route {
            server,
            name: original,
            tool,
        } = shared.route(kind.subject, name).await?;
        let client = server.client()?;
        let tool = tool.filter(|_| shared.hooks.approve_tool.is_some());
        let encoded = (shared.hooks.audit.is_some() || tool.is_some())
            .then(|| encode(arguments, client.info().revision));
        let record = shared.record(&server.name, kind.method);
        let record = record.about(&original, encoded.clone());
        if let Some(tool) = tool
            && !shared
                .approve(&server, name, tool, encoded.unwrap_or_default())
                .await
        {
            record.end(HostOutcome::Refused);
            return Err(HostError::ToolNotApproved {
                server: Arc::clone(&server.name),
                tool: name.to_owned(),
            });
        }
        let running = server.begin_call(CallInfo {
            id: shared.number(),
            method: kind.method,
            name: name.to_owned(),
        });
        let request = (kind.make)(&client, &original, arguments);
        let request = settings
            .into_iter()
            .fold(request, |request, set| set(request));
        let call = Arc::clone(&running.call);
        let result = match on_progress {
            Some(on_progress) => {
                let future = request.on_progress(on_progress);
                Polled { call, future }.await
            }
            None => {
                Polled {
                    call,
                    future: request,
                }
                .await
            }
        };
        record.end(
            result
                .as_ref()
                .map_or_else(HostOutcome::of_error, kind.outcome),
        );
        result.map_err(|error| HostError::call(&server.name, error))
    }
}

/// Returns the arguments as they are sent; those that cannot be are an error when they are.
fn encode(arguments: &(dyn Payload + Sync), revision: mcp_async::Revision) -> RawBuf {
    let mut buffer = vec![0; 1024];
    loop {
        let mut writer = Writer::new(&mut buffer);
        if arguments.write(&mut writer, revision).is_err() {
            return RawBuf::default();
        }
        match writer.finish() {
            Ok(len) => {
                return Raw::parse(&buffer[..len], MAX_DEPTH)
                    .map_or_else(|_| RawBuf::default(), RawBuf::from);
            }
            Err(full) => buffer.resize(full.needed, 0),
        }
    }
}

/// Without what it says, which is the user's.
impl<T, H> fmt::Debug for HostRequest<'_, T, H> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostRequest")
            .field("method", &self.kind.method)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
