//! Dispatches requests to their handlers.

mod completion;
mod lists;
mod method;
mod resources;

use core::sync::atomic::{AtomicBool, Ordering};
use std::borrow::Cow;
use std::sync::Arc;

use mcp_proto::rpc::{self, code};

use self::lists::list;
use super::Peer;
use super::cursor::Listing;
use super::handler_context::Host;
use super::inner::{Inner, Settings};
use super::rate::{Buckets, RateLimit};
use super::runner::Runner;
use super::service::{Call, Service};
use super::tool::Tool;
use super::visibility::Visibility;
use crate::connection::Job;
use crate::error::ErrorReply;

pub(super) use self::method::Method;

/// One connection's view of a server.
pub(super) struct Router {
    host: Host,
    /// As they were when the connection began.
    settings: Arc<Settings>,
    /// What is left of the limits, by the name of the tool; completions have the empty name.
    buckets: Arc<Buckets>,
    /// The server knows the connection.
    known: AtomicBool,
}

impl Router {
    pub(super) fn new(
        inner: &Arc<Inner>,
        settings: Arc<Settings>,
        runner: Option<Runner>,
        buckets: Arc<Buckets>,
    ) -> Self {
        let inner = Arc::clone(inner);
        Self {
            host: Host { inner, runner },
            settings,
            buckets,
            known: AtomicBool::new(false),
        }
    }

    fn call_tool(&self, call: Call<'_>) -> Job {
        let name = subject(&call);
        let view = self.host.inner.view();
        let found = view.catalog.tools.find(&name);
        let shown = |tool: &&Arc<Tool>| is_shown(&tool.visibility, &call) && is_served(tool, &call);
        let Some(tool) = found.filter(shown) else {
            return call.refuse(unknown("tool", &name));
        };
        let limit = tool.rate.or(self.settings.rates.calls);
        if !self.takes(&call, &name, limit) {
            return call.refuse(too_often("calls of this tool"));
        }
        tool.call(call, &self.host)
    }

    fn fill_prompt(&self, call: Call<'_>) -> Job {
        let name = subject(&call);
        let view = self.host.inner.view();
        let found = view.catalog.prompts.find(&name);
        match found.filter(|prompt| is_shown(&prompt.visibility, &call)) {
            Some(prompt) => prompt.call(call, &self.host),
            None => call.refuse(unknown("prompt", &name)),
        }
    }

    fn call_method(&self, call: Call<'_>) -> Job {
        let name = call.method.name();
        match self
            .settings
            .methods
            .iter()
            .find(|method| name == *method.name)
        {
            Some(method) => method.call(call, &self.host),
            None => call.refuse(ErrorReply::method_not_found()),
        }
    }

    /// Takes one out of the bucket, if there is a limit.
    fn takes(&self, call: &Call<'_>, bucket: &str, limit: Option<RateLimit>) -> bool {
        let Some(limit) = limit else {
            return true;
        };
        let context = call.context();
        self.buckets
            .take(context.principal_name(), bucket, limit, context.now())
    }
}

impl Service for Router {
    fn call(&self, call: Call<'_>) -> Job {
        let (size, hint) = (self.settings.page_size, self.settings.hint);
        match call.method {
            rpc::Method::ToolsCall => self.call_tool(call),
            rpc::Method::ToolsList => {
                let catalog = &self.host.inner.view().catalog;
                list(call, &catalog.tools, Listing::Tools, size, hint)
            }
            rpc::Method::ResourcesRead => self.read(call),
            rpc::Method::ResourcesList => self.list_resources(call),
            rpc::Method::ResourcesTemplatesList => {
                let catalog = &self.host.inner.view().catalog;
                list(call, &catalog.templates, Listing::Templates, size, hint)
            }
            rpc::Method::ResourcesSubscribe => self.subscribe(call),
            rpc::Method::ResourcesUnsubscribe => call.ready(Ok(Empty {})),
            rpc::Method::PromptsGet => self.fill_prompt(call),
            rpc::Method::PromptsList => {
                let catalog = &self.host.inner.view().catalog;
                list(call, &catalog.prompts, Listing::Prompts, size, hint)
            }
            rpc::Method::CompletionComplete => self.complete(call),
            _ => self.call_method(call),
        }
    }

    fn listening(&self, peer: &Peer) {
        if !self.known.swap(true, Ordering::Relaxed) {
            self.host.inner.connected(peer);
        }
    }
}

/// Whether an item is shown to the caller.
fn is_shown(visibility: &Visibility, call: &Call<'_>) -> bool {
    visibility.shows(call.context().principal())
}

/// Whether the revision of the call has such tools (XH-04).
fn is_served(tool: &Tool, call: &Call<'_>) -> bool {
    !tool.drafted || is_draft(call)
}

/// Whether the call is one of the transports draft, which HTTP alone has.
fn is_draft(call: &Call<'_>) -> bool {
    #[cfg(feature = "http-server")]
    let draft = super::mirrored::is_draft(call);
    #[cfg(not(feature = "http-server"))]
    let draft = {
        let _ = call;
        false
    };
    draft
}

/// A result that says nothing.
#[derive(serde::Serialize)]
struct Empty {}

/// What the request is about; the core has seen to it that it is sound text.
fn subject<'b>(call: &Call<'b>) -> Cow<'b, str> {
    call.request.subject.unwrap_or_default().to_cow()
}

/// TL-07, PR-03
fn unknown(kind: &str, name: &str) -> ErrorReply {
    // At most the length of a name (TL-05): the text is untrusted.
    let name: String = name.chars().take(128).collect();
    ErrorReply::invalid_params(format!("Unknown {kind}: {name}"))
}

fn too_often(what: &str) -> ErrorReply {
    ErrorReply::new(code::INTERNAL_ERROR, format!("limit reached: {what}"))
}
