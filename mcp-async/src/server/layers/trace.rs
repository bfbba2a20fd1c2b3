//! Creates a span for every call.

use core::fmt;
use core::time::Duration;
use std::sync::Arc;

use tower_layer::Layer;
use tracing::Span;

use super::observed::{CallEnd, Observer, observed};
use super::{Around, Layered};
use crate::connection::Job;
use crate::observe::{Failure, span};
use crate::server::call::service::BoxService;
use crate::server::{Call, Service};
use crate::trace_context::TraceContext;

/// Makes a span of `tracing` for every call, in which its handler runs.
///
/// Its level is `INFO`, its target `mcp_async`, its name `mcp.server`. The fields are those of
/// OpenTelemetry's semantic conventions for MCP, where they have a name:
///
/// | Field | Value |
/// |---|---|
/// | `otel.name`, `otel.kind` | `tools/call echo`, `server` |
/// | `mcp.method.name` | `tools/call` |
/// | `mcp.protocol.version` | the revision of the request |
/// | `gen_ai.operation.name`, `gen_ai.tool.name` | `execute_tool` and the name of the tool |
/// | `gen_ai.prompt.name` | the name of the prompt |
/// | `mcp.resource.uri` | without user, query and fragment |
/// | `jsonrpc.request.id` | as the client wrote it |
/// | `network.transport` | `tcp` over HTTP, `pipe` otherwise |
/// | `network.protocol.name`, `network.protocol.version` | over HTTP `http` and its version |
/// | `error.type` | the code of the error, `tool_error`, `timeout`, `panic` or `cancelled` |
/// | `rpc.response.status_code`, `otel.status_code` | the code of the error, and `ERROR` |
///
/// Arguments, results, states and session ids are never among them. While no subscriber wants
/// the span it costs a load; with one, an allocation more than the call takes otherwise.
#[derive(Clone, Default)]
pub struct Trace {
    link: Option<Arc<Link>>,
}

type Link = dyn Fn(&Span, &TraceContext) + Send + Sync;

impl Trace {
    /// Spans that begin traces of their own.
    pub fn new() -> Self {
        Self::default()
    }

    /// Lets spans continue the traces of clients: the closure gets each new span and the trace that
    /// its request belongs to. The exporter determines how the two are joined; with
    /// `tracing-opentelemetry` it is `set_parent`.
    pub fn linking(mut self, link: impl Fn(&Span, &TraceContext) + Send + Sync + 'static) -> Self {
        self.link = Some(Arc::new(link));
        self
    }
}

impl Trace {
    pub(in crate::server) fn wrap(&self, service: impl Service) -> BoxService {
        Box::new(self.layer(service))
    }
}

impl Around for Trace {
    fn call(&self, call: Call<'_>, service: &dyn Service) -> Job {
        let subject = call.request.subject.map(mcp_proto::json::Str::to_cow);
        let transport = call.context().host.transport();
        let span = span::server(call.method, subject.as_deref(), transport);
        if span.is_disabled() {
            return service.call(call);
        }
        let context = call.context().clone();
        span.record("mcp.protocol.version", call.request.revision.as_str());
        if let Some(head) = context.http() {
            span::came_by(&span, head.version);
        }
        if let Some(id) = context.request_id() {
            span.record("jsonrpc.request.id", id);
        }
        if let (Some(link), Some(trace)) = (&self.link, context.trace_context()) {
            link(&span, trace);
        }
        observed(call, service, span)
    }
}

impl<S> Layer<S> for Trace {
    type Service = Layered<Self, S>;

    fn layer(&self, inner: S) -> Self::Service {
        Layered::new(self.clone(), inner)
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Trace")
            .field("linking", &self.link.is_some())
            .finish()
    }
}

impl Observer for Span {
    fn run<T>(&self, part: impl FnOnce() -> T) -> T {
        self.in_scope(part)
    }

    fn ended(&mut self, end: CallEnd, _: Duration) {
        let failure = match end {
            CallEnd::Answered(outcome) => Failure::of(outcome),
            CallEnd::Panicked => Some(Failure::Panic),
            CallEnd::TimedOut => Some(Failure::Timeout),
            CallEnd::Cancelled => Some(Failure::Cancelled),
        };
        if let Some(failure) = failure {
            span::failed(self, failure);
        }
    }
}
