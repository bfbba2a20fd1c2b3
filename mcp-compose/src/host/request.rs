//! A request to whichever server has the item.

use core::fmt;
use core::future::{Future, IntoFuture};
use core::time::Duration;
use std::sync::Arc;

use mcp_async::client::{CallError, Progress, Request};
use mcp_async::json::RawBuf;
use mcp_async::model::{LoggingLevel, Meta, Tool};
use mcp_async::runtime::BoxFuture;
use mcp_async::{Client, ErrorChain, Payload};
use mcp_proto::json::{MAX_DEPTH, Raw, Writer};

use super::audit::AuditOutcome;
use super::question::{CallInfo, Polled};
use super::server::Server;
use super::shared::{Route, Shared};
use super::state::HostError;
use crate::catalog::CatalogView;

/// A request of a [`Host`](super::Host) and its result, as [`Request`] is that of a client: it is sent when it is awaited,
/// and cancelled when that is dropped.
#[must_use = "a request is sent when it is awaited"]
pub struct HostRequest<'a, T, H = fn(Progress<'_>)> {
    shared: &'a Arc<Shared>,
    kind: RequestKind<T>,
    name: &'a str,
    arguments: &'a (dyn Payload + Sync),
    settings: Settings,
    on_progress: Option<H>,
}

/// The settings of the request to the server.
#[derive(Default)]
struct Settings {
    timeout: Option<Duration>,
    max_duration: Option<Duration>,
    log_level: Option<LoggingLevel>,
    meta: Meta,
}

/// A kind of item that requests are about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Subject {
    Tool,
    Prompt,
    Resource,
    /// A template that is completed.
    Template,
}

/// The server of an item, its name there, and the tool if it is one.
type Located = (Arc<str>, String, Option<Arc<Tool>>);

impl Subject {
    pub(super) const fn method(self) -> &'static str {
        match self {
            Self::Tool => "tools/call",
            Self::Prompt => "prompts/get",
            Self::Resource => "resources/read",
            Self::Template => "completion/complete",
        }
    }

    /// Finds the item.
    pub(super) fn find(self, view: &CatalogView, name: &str) -> Option<Located> {
        match self {
            Self::Tool => {
                let it = view.tools().get(name)?;
                let (server, tool) = (Arc::clone(&it.server), Arc::clone(&it.item));
                Some((server, tool.name.clone(), Some(tool)))
            }
            Self::Prompt => {
                let it = view.prompts().get(name)?;
                Some((Arc::clone(&it.server), it.item.name.clone(), None))
            }
            Self::Resource => Some((view.server_of(name)?, name.to_owned(), None)),
            Self::Template => {
                let it = view.resource_templates().get(name)?;
                Some((Arc::clone(&it.server), name.to_owned(), None))
            }
        }
    }
}

/// A request, and how it is made of the client of its server.
pub(super) struct RequestKind<T> {
    subject: Subject,
    make: Make<T>,
    outcome: fn(&T) -> AuditOutcome,
}

/// Makes the request of a client from the name of the item at its server and the arguments.
type Make<T> = for<'c> fn(&'c Client, &'c str, &'c (dyn Payload + Sync)) -> Request<'c, T>;

impl<T> RequestKind<T> {
    pub(super) const fn new(
        subject: Subject,
        make: Make<T>,
        outcome: fn(&T) -> AuditOutcome,
    ) -> Self {
        Self {
            subject,
            make,
            outcome,
        }
    }
}

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
            settings: Settings::default(),
            on_progress: None,
        }
    }
}

impl<'a, T, H> HostRequest<'a, T, H> {
    /// Waits so long for the result, instead of the configured time; see [`Request::timeout`].
    pub const fn timeout(mut self, timeout: Duration) -> Self {
        self.settings.timeout = Some(timeout);
        self
    }

    /// Waits so long at most; see [`Request::max_duration`].
    pub const fn max_duration(mut self, max_duration: Duration) -> Self {
        self.settings.max_duration = Some(max_duration);
        self
    }

    /// Asks for log messages from this severity on; see [`Request::with_logs`].
    pub const fn with_logs(mut self, level: LoggingLevel) -> Self {
        self.settings.log_level = Some(level);
        self
    }

    /// Adds these members to `_meta` of the parameters.
    pub fn meta(mut self, meta: Meta) -> Self {
        self.settings.meta = meta;
        self
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
        let client = server.connected()?;
        let tool = tool.filter(|_| shared.hooks.approve_tool.is_some());
        let encoded = (shared.hooks.audit.is_some() || tool.is_some())
            .then(|| encode(arguments, client.info().revision));
        let record = shared.record(&server.name, kind.subject.method());
        let record = record.about(&original, encoded.clone());
        if let Some(tool) = tool
            && !shared
                .approve(&server, name, tool, encoded.unwrap_or_default())
                .await
        {
            record.end(AuditOutcome::Refused);
            return Err(HostError::ToolNotApproved {
                server: Arc::clone(&server.name),
                tool: name.to_owned(),
            });
        }
        let call = RunningCall::new(&server, shared.call(kind.subject, name));
        let mut request = (kind.make)(&client, &original, arguments).meta(settings.meta);
        if let Some(timeout) = settings.timeout {
            request = request.timeout(timeout);
        }
        if let Some(max_duration) = settings.max_duration {
            request = request.max_duration(max_duration);
        }
        if let Some(level) = settings.log_level {
            request = request.with_logs(level);
        }
        let polled = Arc::clone(&call.call);
        let result = match on_progress {
            Some(on_progress) => poll(polled, request.on_progress(on_progress)).await,
            None => poll(polled, request).await,
        };
        record.end(match &result {
            Ok(result) => (kind.outcome)(result),
            Err(CallError::Tool(_)) => AuditOutcome::ToolError,
            Err(error) => AuditOutcome::Error(ErrorChain(error).to_string()),
        });
        result.map_err(|error| HostError::Call {
            server: Arc::clone(&server.name),
            error: error.into(),
        })
    }
}

fn poll<F: Future + Unpin>(call: Arc<CallInfo>, future: F) -> Polled<F> {
    Polled { call, future }
}

/// A call that is among those of its server until it is dropped.
struct RunningCall<'s> {
    server: &'s Server,
    call: Arc<CallInfo>,
}

impl<'s> RunningCall<'s> {
    fn new(server: &'s Server, call: CallInfo) -> Self {
        let call = Arc::new(call);
        server.begin_call(&call);
        Self { server, call }
    }
}

impl Drop for RunningCall<'_> {
    fn drop(&mut self) {
        self.server.end_call(&self.call);
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
            .field("method", &self.kind.subject.method())
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
