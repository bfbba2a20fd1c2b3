//! Dispatches requests to their handlers.

mod completion;
mod filters;
pub(super) mod find_tools;
mod lists;
mod resources;
#[cfg(all(feature = "auth", feature = "http-server"))]
mod scopes;

use core::any::Any;
use core::sync::atomic::{AtomicBool, Ordering};
use std::borrow::Cow;
use std::sync::{Arc, Weak};

use mcp_proto::json::Object;
use mcp_proto::rpc::{self, code};
use mcp_proto::server::ListKind;

use self::lists::list;
use super::Peer;
use super::background::Lifetime;
use crate::connection::Job;
use crate::error::ErrorReply;
use crate::server::call::handler_error::missing_extension;
use crate::server::call::listen::Listen;
use crate::server::call::service::{Call, Service};
use crate::server::caller::buckets::Buckets;
use crate::server::caller::principal::Principal;
use crate::server::caller::rate::RateLimit;
use crate::server::items::catalog::Catalog;
use crate::server::items::entry::Registered;
use crate::server::registry::inner::Inner;
use crate::server::registry::settings::Settings;
use crate::shares::CallerId;

/// The remaining uses of the limits of calls, by the caller and by the name of the tool; completions have the empty name.
pub(crate) type CallBuckets = Buckets<(Option<CallerId>, String)>;

/// One connection's view of a server.
pub(super) struct Router {
    inner: Arc<Inner>,
    /// The server, as contexts have it.
    server: Weak<dyn Any + Send + Sync>,
    /// As they were when the connection began.
    settings: Arc<Settings>,
    buckets: Arc<CallBuckets>,
    /// The caller of an exchange that stands for itself, which shares its limits with its other exchanges.
    caller: Option<CallerId>,
    /// The server knows the connection.
    known: AtomicBool,
    _lifetime: Option<Arc<Lifetime>>,
}

impl Router {
    pub(super) fn new(
        inner: &Arc<Inner>,
        settings: Arc<Settings>,
        (buckets, caller): (Arc<CallBuckets>, Option<CallerId>),
        lifetime: Option<Arc<Lifetime>>,
    ) -> Self {
        Self {
            inner: Arc::clone(inner),
            server: Arc::downgrade(inner) as _,
            settings,
            buckets,
            caller,
            known: AtomicBool::new(false),
            _lifetime: lifetime,
        }
    }

    fn call_tool(&self, catalog: &Catalog, call: Call<'_>) -> Job {
        let name = subject(&call);
        let found = catalog.tools.shown(&name, caller(&call));
        let Some(tool) = found.filter(|tool| is_served(&***tool, &call)) else {
            return call.refuse(unknown("tool", &name));
        };
        let limit = tool.settings.rate.or(self.settings.rates.calls);
        if !self.takes(&call, &name, limit) {
            return call.refuse(too_often("calls of this tool"));
        }
        tool.call(call)
    }

    fn fill_prompt(catalog: &Catalog, call: Call<'_>) -> Job {
        let name = subject(&call);
        match catalog.prompts.shown(&name, caller(&call)) {
            Some(prompt) => prompt.call(call),
            None => call.refuse(unknown("prompt", &name)),
        }
    }

    fn call_method(&self, call: Call<'_>) -> Job {
        let revision = call.request.revision;
        let method = self.settings.method(call.method.name());
        let Some(method) = method.filter(|method| method.revisions.contains(revision)) else {
            return call.refuse(ErrorReply::method_not_found());
        };
        if let Some(name) = &method.requires
            && !call.context().has_client_extension(name)
        {
            return call.refuse(missing_extension(name));
        }
        method.call(call)
    }

    /// Takes one out of the bucket, if there is a limit.
    fn takes(&self, call: &Call<'_>, bucket: &str, limit: Option<RateLimit>) -> bool {
        let Some(limit) = limit else {
            return true;
        };
        let key = (self.caller.clone(), bucket.to_owned());
        self.buckets
            .take(key, limit, 1, call.context().now())
            .is_ok()
    }
}

impl Service for Router {
    fn call(&self, call: Call<'_>) -> Job {
        call.context.server = Some(Weak::clone(&self.server));
        let view = self.inner.view();
        #[cfg(all(feature = "auth", feature = "http-server"))]
        if let Err(refusal) = self.inner.check_scopes(&view, &call) {
            return call.refuse(refusal);
        }
        let catalog = &view.catalog;
        let hint = |kind| catalog.hint(kind, self.settings.hint);
        match call.method {
            rpc::Method::ToolsCall => self.call_tool(catalog, call),
            rpc::Method::ToolsList => {
                list(call, &catalog.tools, &self.settings, hint(ListKind::Tools))
            }
            rpc::Method::ResourcesRead => self.read(catalog, call),
            rpc::Method::ResourcesList => self.list_resources(catalog, call),
            rpc::Method::ResourcesTemplatesList => list(
                call,
                &catalog.templates,
                &self.settings,
                hint(ListKind::Resources),
            ),
            rpc::Method::ResourcesSubscribe => Self::subscribe(catalog, call),
            rpc::Method::ResourcesUnsubscribe => call.ready(Ok(())),
            rpc::Method::PromptsGet => Self::fill_prompt(catalog, call),
            rpc::Method::PromptsList => list(
                call,
                &catalog.prompts,
                &self.settings,
                hint(ListKind::Prompts),
            ),
            rpc::Method::CompletionComplete => self.complete(catalog, call),
            _ => self.call_method(call),
        }
    }

    fn listen(&self, listen: Listen<'_>) -> Job {
        self.judge(listen)
    }

    fn notified(&self, peer: &Peer, method: rpc::Method<'_>, params: Object<'_>) {
        if let (rpc::Method::RootsListChanged, Some(changed)) =
            (method, &self.settings.roots_changed)
        {
            return changed(peer);
        }
        let name = method.name();
        let mut notifications = self.settings.notifications.iter();
        if let Some(known) = notifications.find(|known| name == *known.name) {
            known.handle(peer, params);
        }
    }

    fn listening(&self, peer: &Peer) {
        if !self.known.swap(true, Ordering::Relaxed) {
            self.inner.connected(peer);
        }
    }
}

/// The name or URI that the request is about; the core has seen to it that it is sound text.
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
    ErrorReply::new(code::TOO_MANY_REQUESTS, format!("limit reached: {what}"))
}

/// Returns the principal who calls.
fn caller<'c>(call: &'c Call<'_>) -> Option<&'c Principal> {
    call.context().principal()
}

/// Returns true if the revision of the call has such items (XH-04).
fn is_served(item: &impl Registered, call: &Call<'_>) -> bool {
    !item.is_drafted() || crate::server::call::mirrored::is_draft(call)
}
