//! Spans of calls, with the names of OpenTelemetry's semantic conventions for MCP.
//!
//! Of those conventions, session ids, arguments and results are left out: they are not for logs.

use mcp_proto::rpc::{Method, code};
use tracing::field::{Empty, display};
use tracing::{Span, info_span};

use super::{Transport, public_uri};
use crate::call_outcome::CallOutcome;
use crate::error::Printable;

/// A request, for the side that answers it and for the side that asks.
macro_rules! call_span {
    ($name:literal, $kind:literal) => {
        info_span!(
            target: TARGET,
            $name,
            "otel.kind" = $kind,
            "otel.name" = Empty,
            "otel.status_code" = Empty,
            "mcp.method.name" = Empty,
            "mcp.protocol.version" = Empty,
            "mcp.resource.uri" = Empty,
            "gen_ai.operation.name" = Empty,
            "gen_ai.prompt.name" = Empty,
            "gen_ai.tool.name" = Empty,
            "jsonrpc.request.id" = Empty,
            "network.protocol.name" = Empty,
            "network.protocol.version" = Empty,
            "network.transport" = Empty,
            "error.type" = Empty,
            "rpc.response.status_code" = Empty,
        )
    };
}

/// The span of a call that this server answers.
pub(crate) fn server(method: Method<'_>, subject: Option<&str>, transport: Transport) -> Span {
    let span = call_span!("mcp.server", "server");
    described(span, method, subject, transport)
}

/// Records the version of HTTP that a request came by.
pub(crate) fn came_by(span: &Span, version: http::Version) {
    let version = match version {
        http::Version::HTTP_10 => "1.0",
        http::Version::HTTP_11 => "1.1",
        http::Version::HTTP_2 => "2",
        http::Version::HTTP_3 => "3",
        _ => return,
    };
    span.record("network.protocol.version", version);
}

/// The span that a handler began in, for the task that it moves to.
pub(crate) struct Here(Span);

impl Here {
    pub(crate) fn current() -> Self {
        Self(Span::current())
    }

    pub(crate) fn within<T>(&self, poll: impl FnOnce() -> T) -> T {
        self.0.in_scope(poll)
    }
}

/// The kind of failure of a call.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Failure {
    /// With an error of this code.
    Code(i64),
    /// With a result that is one (`isError`).
    Tool,
    /// Its handler panicked.
    Panic,
    /// It took too long here.
    Timeout,
    /// The peer took too long.
    PeerTimeout,
    /// With something else than an answer that can be used.
    Here,
    /// It was no longer awaited.
    Cancelled,
}

impl Failure {
    /// Returns the failure of an answered call, if it failed.
    pub(crate) const fn of(outcome: CallOutcome) -> Option<Self> {
        match outcome {
            CallOutcome::Error(code) => Some(Self::Code(code)),
            CallOutcome::ToolError => Some(Self::Tool),
            CallOutcome::Cancelled => Some(Self::Cancelled),
            CallOutcome::Result | CallOutcome::Input => None,
        }
    }
}

/// An error that a call of this client ends with.
pub(crate) trait CallFailure {
    /// Returns the failure that the span of the call records.
    fn failure(&self) -> Failure;
}

/// The span of a call that this client makes, from its first poll on.
#[derive(Default)]
pub(crate) struct CallSpan {
    span: Option<Span>,
    ended: bool,
}

impl CallSpan {
    pub(crate) const fn new() -> Self {
        Self {
            span: None,
            ended: false,
        }
    }

    /// Polls the call in its span; the closure receives whether it begins now.
    pub(crate) fn within<T>(
        &mut self,
        method: Method<'_>,
        subject: Option<&str>,
        transport: Transport,
        poll: impl FnOnce(bool) -> T,
    ) -> T {
        let begins = self.span.is_none();
        let span = self.span.get_or_insert_with(|| {
            let span = call_span!("mcp.client", "client");
            described(span, method, subject, transport)
        });
        span.in_scope(|| poll(begins))
    }

    /// The call has ended, and how.
    pub(crate) fn end<E: CallFailure>(&mut self, error: Option<&E>) {
        self.ended = true;
        if let (Some(error), Some(span)) = (error, &self.span) {
            failed(span, error.failure());
        }
    }
}

/// A call that is dropped before its end was taken back.
impl Drop for CallSpan {
    fn drop(&mut self) {
        if let (Some(span), false) = (&self.span, self.ended) {
            failed(span, Failure::Cancelled);
        }
    }
}

/// Records how a call failed, with the code that the client got, if it got any.
pub(crate) fn failed(span: &Span, failure: Failure) {
    let (kind, code) = match failure {
        Failure::Code(code) => (None, Some(code)),
        Failure::Tool => (Some("tool_error"), None),
        Failure::Panic => (Some("panic"), Some(code::INTERNAL_ERROR)),
        Failure::Timeout => (Some("timeout"), Some(code::INTERNAL_ERROR)),
        Failure::PeerTimeout => (Some("timeout"), None),
        // The name in the conventions of every failure without a name of its own.
        Failure::Here => (Some("_OTHER"), None),
        Failure::Cancelled => (Some("cancelled"), None),
    };
    if let Some(code) = code {
        span.record("rpc.response.status_code", display(code));
        span.record("error.type", display(code));
    }
    if let Some(kind) = kind {
        span.record("error.type", kind);
    }
    span.record("otel.status_code", "ERROR");
}

fn described(span: Span, method: Method<'_>, subject: Option<&str>, transport: Transport) -> Span {
    if span.is_disabled() {
        return span;
    }
    span.record("mcp.method.name", display(method));
    match transport {
        Transport::Pipe => {
            span.record("network.transport", "pipe");
        }
        #[cfg(any(feature = "http-server", feature = "http-client"))]
        Transport::Http => {
            span.record("network.transport", "tcp");
            span.record("network.protocol.name", "http");
        }
    }
    let Some(subject) = subject else {
        span.record("otel.name", display(method));
        return span;
    };
    match method {
        Method::ToolsCall => {
            span.record("gen_ai.operation.name", "execute_tool");
            span.record("gen_ai.tool.name", display(name(subject)));
        }
        Method::PromptsGet => {
            span.record("gen_ai.prompt.name", display(name(subject)));
        }
        Method::ResourcesRead | Method::ResourcesSubscribe | Method::ResourcesUnsubscribe => {
            span.record("mcp.resource.uri", display(name(public_uri(subject))));
            // A name that differs from call to call would be no name.
            span.record("otel.name", display(method));
            return span;
        }
        _ => {}
    }
    span.record(
        "otel.name",
        display(format_args!("{method} {}", name(subject))),
    );
    span
}

/// A name that a peer chose.
const fn name(text: &str) -> Printable<'_> {
    Printable {
        text,
        longest: LONGEST,
    }
}

/// The target of all spans and events of this crate, by which a subscriber can select them.
pub(super) const TARGET: &str = "mcp_async";

/// The characters of a name that are recorded at most.
const LONGEST: usize = 128;
