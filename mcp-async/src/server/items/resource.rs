//! A resource with its handler.

use core::future::Future;
use core::time::Duration;
use std::sync::Arc;

use mcp_proto::json::RawBuf;
use mcp_proto::model::CacheScope;
use mcp_proto::server::ListKind;
use serde::Serialize;

use super::entry::{Entry, Registered, item};
use super::method::Answer;
use super::register_error::RegisterError;
use crate::connection::Job;
use crate::error::ErrorReply;
use crate::model::{self, Annotations, ReadResourceResult, ResourceContents};
use crate::server::Call;
use crate::server::call::handler_context::{Context, unit};
use crate::server::call::handler_error::HandlerError;
use crate::server::call::output::Json;

/// A resource: its public description and the handler that reads it.
///
/// [`ServerBuilder::resource`](crate::server::ServerBuilder::resource) makes one of a URI, a name and a closure; this
/// is for everything else that can be said. [`handler`](Self::handler) comes last, then
/// [`ServerBuilder::with`](crate::server::ServerBuilder::with) takes it.
///
/// ```
/// use mcp_async::Server;
/// use mcp_async::server::Resource;
///
/// let logo = Resource::new("brand://logo", "logo")
///     .title("The logo")
///     .mime_type("image/png")
///     .size(4)
///     .handler(|_| async { Ok(b"\x89PNG".to_vec()) });
/// let server = Server::builder("brand", "1.0").with(logo);
/// # let _ = server;
/// ```
#[must_use = "it must be registered to be served"]
pub struct Resource<S = ()> {
    pub(in crate::server) entry: Entry<model::Resource>,
    pub(in crate::server) cache: Option<CacheHint>,
    begin: Option<Begin<S>>,
}

type Begin<S> = Box<dyn for<'b> Fn(Call<'b>, CacheHint, &Arc<S>) -> Job + Send + Sync>;

/// The list of the cursors of `resources/list`.
pub(in crate::server) const RESOURCES: &str = "resources";

/// The time for which a result may be cached, and the caches that may share it (CH-01).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::server) struct CacheHint {
    pub(in crate::server) ttl_ms: i64,
    pub(in crate::server) scope: Option<CacheScope>,
}

impl CacheHint {
    pub(in crate::server) fn new(ttl: Duration, scope: CacheScope) -> Self {
        Self {
            ttl_ms: i64::try_from(ttl.as_millis()).unwrap_or(i64::MAX),
            scope: Some(scope),
        }
    }

    /// Limits the scope to one caller, for a result that depends on the caller.
    pub(in crate::server) fn private(self) -> Self {
        Self {
            scope: self.scope.map(|_| CacheScope::Private),
            ..self
        }
    }

    /// Limits the scope to one caller, for contents that not every caller may have (CH-05).
    pub(super) fn limited(self, is_restricted: bool) -> Self {
        match is_restricted {
            true => self.private(),
            false => self,
        }
    }
}

/// A type that the handler of a resource can return: text, bytes (Base64 on the wire),
/// [`Json`], which is text of the type `application/json` unless the resource names another, or
/// contents with URIs of their own, several for one read if need be.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the contents of a resource",
    note = "a resource returns text, `Vec<u8>`, `Json<T>`, `ResourceContents`, several of these or `ReadResourceResult`"
)]
pub trait ResourceOutput: Send + 'static {
    /// The contents of the resource at `uri`, which is registered with this type.
    ///
    /// # Errors
    /// The value cannot be encoded.
    fn into_result(
        self,
        uri: &str,
        mime_type: Option<&str>,
    ) -> Result<ReadResourceResult, HandlerError>;
}

impl ResourceOutput for String {
    fn into_result(self, uri: &str, mime_type: Option<&str>) -> Read {
        Ok(typed(ResourceContents::text(uri, self), mime_type))
    }
}

impl ResourceOutput for &'static str {
    fn into_result(self, uri: &str, mime_type: Option<&str>) -> Read {
        Ok(typed(ResourceContents::text(uri, self), mime_type))
    }
}

impl ResourceOutput for Vec<u8> {
    fn into_result(self, uri: &str, mime_type: Option<&str>) -> Read {
        Ok(typed(ResourceContents::blob(uri, &self), mime_type))
    }
}

impl<T: Serialize + Send + 'static> ResourceOutput for Json<T> {
    fn into_result(self, uri: &str, mime_type: Option<&str>) -> Read {
        let json = RawBuf::encode(&self.0)?;
        let contents = ResourceContents::text(uri, json.as_raw().as_str());
        Ok(typed(contents, mime_type.or(Some("application/json"))))
    }
}

impl ResourceOutput for ResourceContents {
    fn into_result(self, _: &str, _: Option<&str>) -> Read {
        Ok(self.into())
    }
}

impl ResourceOutput for Vec<ResourceContents> {
    fn into_result(self, _: &str, _: Option<&str>) -> Read {
        Ok(self.into())
    }
}

impl ResourceOutput for ReadResourceResult {
    fn into_result(self, _: &str, _: Option<&str>) -> Read {
        Ok(self)
    }
}

type Read = Result<ReadResourceResult, HandlerError>;

fn typed(contents: ResourceContents, mime_type: Option<&str>) -> ReadResourceResult {
    match mime_type {
        Some(mime_type) => contents.with_mime_type(mime_type).into(),
        None => contents.into(),
    }
}

item!(Resource, hidden: "it is not listed and not found, and they do not learn when it changes. Its contents are then private in caches (CH-05).");

impl<S: Send + Sync + 'static> Resource<S> {
    /// A resource at this URI, by this name.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self::of(model::Resource::new(uri, name))
    }

    /// A resource as another server lists it.
    pub fn of(listed: model::Resource) -> Self {
        Self {
            entry: Entry::new(listed),
            cache: None,
            begin: None,
        }
    }

    /// Its type, in the list and in contents that do not say theirs.
    pub fn mime_type(mut self, mime_type: impl Into<String>) -> Self {
        self.entry.listed.mime_type = Some(mime_type.into());
        self
    }

    /// Its bytes, before any encoding.
    pub fn size(mut self, bytes: u64) -> Self {
        self.entry.listed.size = Some(bytes);
        self
    }

    /// Sets the annotations: the audience, the priority and the time of the last change.
    pub fn annotations(mut self, annotations: Annotations) -> Self {
        self.entry.listed.annotations = Some(annotations);
        self
    }

    /// Sets the time for which its contents may be cached, and by whom, in place of the
    /// [hint](crate::server::ServerBuilder::cache) of the server for all; since 2026-07-28.
    pub fn cache(mut self, ttl: Duration, scope: CacheScope) -> Self {
        self.cache = Some(CacheHint::new(ttl, scope));
        self
    }

    /// Runs this for each read.
    pub fn handler<T, F, Fut>(mut self, handler: F) -> Self
    where
        F: Fn(Context<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static, // `?` converts errors
        T: ResourceOutput,
    {
        let (uri, mime_type) = (
            self.entry.listed.uri.clone(),
            self.entry.listed.mime_type.clone(),
        );
        self.begin = Some(Box::new(move |call, hint, state| {
            let future = handler(Context::new(call.context.for_handler(), state));
            answer(call, future, uri.clone(), mime_type.clone(), hint)
        }));
        self
    }

    /// Gives the handler its state.
    pub(in crate::server) fn bind(self, state: &Arc<S>) -> Resource {
        let begin = self.begin.map(|begin| -> Begin<()> {
            let state = Arc::clone(state);
            Box::new(move |call, hint, _| begin(call, hint, &state))
        });
        Resource {
            entry: self.entry,
            cache: self.cache,
            begin,
        }
    }
}

impl Resource {
    pub(in crate::server) fn check(&self) -> Result<(), RegisterError> {
        self.check_entry(self.begin.is_some())?;
        match has_scheme(self.key()) {
            true => Ok(()),
            false => Err(self.error(&"it is no URI: it does not begin with a scheme")),
        }
    }

    /// Answers `resources/read`, where `hint` is for all resources.
    pub(in crate::server) fn call(&self, call: Call<'_>, hint: CacheHint) -> Job {
        match &self.begin {
            Some(begin) => {
                let hint = self
                    .cache
                    .unwrap_or(hint)
                    .limited(self.entry.is_restricted());
                begin(call, hint, unit())
            }
            None => call.refuse(ErrorReply::internal()),
        }
    }
}

impl<S> Registered for Resource<S> {
    type Listed = model::Resource;

    const KIND: &'static str = "resource";
    const LIST: ListKind = ListKind::Resources;
    const RESULT: (&'static str, &'static str) = ("mcp:ListResourcesResult", RESOURCES);

    fn entry(&self) -> &Entry<model::Resource> {
        &self.entry
    }

    fn key(&self) -> &str {
        &self.entry.listed.uri
    }
}

/// Returns true if the text begins with a scheme, as every URI does (RS-14, RFC 3986).
fn has_scheme(uri: &str) -> bool {
    uri.split_once(':').is_some_and(|(scheme, _)| {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        scheme.starts_with(|first: char| first.is_ascii_alphabetic()) && scheme.bytes().all(allowed)
    })
}

/// Runs a read to its answer.
pub(in crate::server) fn answer<T: ResourceOutput>(
    call: Call<'_>,
    future: impl Future<Output = Result<T, HandlerError>> + Send + 'static,
    uri: String,
    mime_type: Option<String>,
    hint: CacheHint,
) -> Job {
    call.answer(async move {
        let result = future.await.and_then(|output| {
            let mut result = output.into_result(&uri, mime_type.as_deref())?;
            if result.contents.is_empty() {
                return Err(HandlerError::not_found()); // RS-06
            }
            if result.ttl_ms.is_none() && result.cache_scope.is_none() {
                result.ttl_ms = hint.scope.map(|_| hint.ttl_ms);
                result.cache_scope = hint.scope;
            }
            Ok(result)
        });
        Answer(result.map_err(|error| error.settle(Some(&uri))))
    })
}
