//! A method of an extension.

use core::fmt;
use core::future::Future;
use std::sync::Arc;

use mcp_proto::json::RawBuf;
use mcp_proto::{Payload, RevisionSet};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::names;
use crate::server::call::handler_context::Context;
use crate::server::call::handler_error::HandlerError;
use crate::server::items::item_scopes::ItemScopes;
use crate::server::items::method::{self, BeginMethod, Method};
use crate::server::items::register_error::{NO_HANDLER, RegisterError};

/// A method of an [`Extension`](super::Extension) with settings of its own.
///
/// [`Extension::method`](super::Extension::method) makes one of a name and a closure; this is for
/// everything else. [`handler`](Self::handler) or [`raw`](Self::raw) comes last, then
/// [`Extension::with_method`](super::Extension::with_method) takes it.
///
/// ```
/// use mcp_async::server::{Context, Extension, ExtensionMethod};
///
/// #[derive(serde::Deserialize)]
/// #[serde(rename_all = "camelCase")]
/// struct Get {
///     job_id: String,
/// }
///
/// #[derive(serde::Serialize)]
/// struct Job {
///     done: bool,
/// }
///
/// // Over HTTP the header `Mcp-Name` repeats `params.jobId`.
/// let get = ExtensionMethod::new("jobs/get")
///     .subject("jobId")
///     .handler(|get: Get, _: Context| async move { Ok(Job { done: get.job_id == "1" }) });
/// let jobs = Extension::new("com.example/jobs").with_method(get);
/// # let _ = mcp_async::Server::builder("demo", "1.0").extension(jobs);
/// ```
#[must_use = "it must be added to an extension to be served"]
pub struct ExtensionMethod<S = ()> {
    pub(super) name: String,
    subject: Option<String>,
    scopes: ItemScopes,
    long_running: bool,
    begin: Option<BeginMethod<S>>,
}

impl<S: Send + Sync + 'static> ExtensionMethod<S> {
    /// A method of this name, for instance `jobs/get`.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            subject: None,
            scopes: ItemScopes::default(),
            long_running: false,
            begin: None,
        }
    }

    /// Names the member of the parameters, a string, that the header `Mcp-Name` repeats over HTTP. A request whose header says something else is refused as a mismatch of headers.
    /// Without a subject the header is ignored.
    pub fn subject(mut self, member: impl Into<String>) -> Self {
        self.subject = Some(member.into());
        self
    }

    /// Sets the scopes that a token needs for it, in addition to those that every token needs: see
    /// [`Tool::scopes`](crate::server::Tool::scopes).
    #[cfg(all(feature = "auth", feature = "http-server"))]
    pub fn scopes<T: AsRef<str>>(mut self, scopes: impl IntoIterator<Item = T>) -> Self {
        self.scopes = ItemScopes::new(scopes);
        self
    }

    /// A call of it lasts until the client ends it, as a stream of events does.
    /// [`Timeout`](crate::server::layers::Timeout) and
    /// [`ConcurrencyLimit`](crate::server::layers::ConcurrencyLimit) do not count it; other layers
    /// learn it from [`Call::is_long_running`](crate::server::Call::is_long_running).
    pub fn long_running(mut self) -> Self {
        self.long_running = true;
        self
    }

    /// Runs this for each call. Parameters that do not decode to its type are refused with -32602
    /// and the path of the mistake. The result is an object, to which the protocol layer adds
    /// `resultType`; a [`Cached`](super::Cached) one also has `ttlMs` and `cacheScope`. `()` stands for
    /// parameters or a result without members.
    ///
    /// The type of the parameters should tolerate unknown members; `_meta` is one of them.
    pub fn handler<A, T, F, Fut>(mut self, handler: F) -> Self
    where
        F: Fn(A, Context<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static,
        A: DeserializeOwned + Send + 'static,
        T: Serialize + Send + 'static,
    {
        self.begin = Some(method::typed(handler));
        self
    }

    /// Runs this for each call, with the parameters as they came.
    pub fn raw<T, F, Fut>(mut self, handler: F) -> Self
    where
        F: Fn(RawBuf, Context<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<T, HandlerError>> + Send + 'static,
        T: Payload + Send + 'static,
    {
        self.begin = Some(method::raw(handler));
        self
    }

    /// Gives the handler its state.
    pub(in crate::server) fn bind(
        self,
        state: &Arc<S>,
        extension: &str,
        (revisions, required): (RevisionSet, bool),
    ) -> Result<Method, RegisterError> {
        let error = |reason: &dyn fmt::Display| RegisterError::new("method", &self.name, reason);
        names::check_method(Some(extension), &self.name).map_err(|reason| error(&reason))?;
        self.scopes.check().map_err(|fault| error(&fault))?;
        let begin = self.begin.ok_or_else(|| error(&NO_HANDLER))?;
        Ok(Method {
            subject: self.subject,
            requires: required.then(|| extension.to_owned()),
            revisions,
            scopes: self.scopes,
            long_running: self.long_running,
            ..Method::new(self.name, method::bind(begin, state))
        })
    }
}

impl<S> fmt::Debug for ExtensionMethod<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtensionMethod")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
