//! From a builder to a server.

use core::future::Future;
use core::time::Duration;
use std::sync::Arc;

use super::Server;
use super::build_error::BuildError;
use super::builder::ServerBuilder;
use super::parts::Parts;
use crate::model;
use crate::server::call::handler_context::Context;
use crate::server::call::handler_error::HandlerError;
use crate::server::items::lister::Lister;

impl Server {
    /// Begins a server of this name and version.
    pub fn builder(name: impl Into<String>, version: impl Into<String>) -> ServerBuilder {
        ServerBuilder::new(name.into(), version.into())
    }
}

impl Parts {
    /// Builds the server.
    pub(crate) fn build(self) -> Result<Server, BuildError> {
        self.build_inner().map(Server::of)
    }
}

impl<S: Send + Sync + 'static> ServerBuilder<S> {
    /// Lists further resources, which the handler chooses for each caller; templates read them.
    /// The handler runs for each page of `resources/list`. Its resources are merged with those that
    /// are registered, which win where URIs are equal. [`Template::list`](crate::server::Template::list)
    /// does the same for the resources of one template.
    ///
    /// ```
    /// use mcp_async::Server;
    /// use mcp_async::model::Resource;
    /// use mcp_async::server::{Context, Principal};
    ///
    /// let server = Server::builder("notes", "1.0").list_resources(|cx: Context| async move {
    ///     let user = cx.principal().map_or("guest", Principal::name);
    ///     Ok(vec![Resource::new(format!("notes://{user}/todo"), "todo")])
    /// });
    /// # let _ = server;
    /// ```
    pub fn list_resources<F, Fut>(mut self, handler: F) -> Self
    where
        F: Fn(Context<S>) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Vec<model::Resource>, HandlerError>> + Send + 'static,
    {
        let lister = Lister::new(handler).bind(&self.state);
        self.parts.settings.listers.push(Arc::new(lister));
        self
    }

    /// Builds the server.
    ///
    /// # Errors
    /// All mistakes: names, URIs and templates that are registered twice or malformed, items
    /// without a handler, schemas that are invalid or describe no object, settings that are no
    /// JSON object, or that can have no effect.
    ///
    /// ```
    /// use mcp_async::Server;
    /// use mcp_async::server::Tool;
    ///
    /// let error = Server::builder("demo", "1.0").with(Tool::new("forgotten")).build();
    /// assert_eq!(error.unwrap_err().mistakes()[0].to_string(), "tool `forgotten`: no handler");
    /// ```
    pub fn build(self) -> Result<Server<S>, BuildError> {
        let inner = self.parts.build_inner()?;
        Ok(Server::new(inner, self.state))
    }

    /// Sets how long handlers of a connection over a pipe may continue after the end of its input
    /// or a [shutdown](crate::server::Registry::shutdown); one second otherwise. Calls that still run then are
    /// answered with error -32603. [Tasks](crate::tasks) have the same time, and fail then.
    ///
    /// It also bounds how long a client that reads nothing delays the end. Clients that start a
    /// server wait a few seconds for its exit and then kill it, so a longer time helps only where
    /// the client is known. For HTTP see [`Http::shutdown_timeout`](crate::http::Http::shutdown_timeout).
    pub fn shutdown_timeout(self, timeout: Duration) -> Self {
        self.set(|settings| settings.shutdown_timeout = timeout)
    }
}
