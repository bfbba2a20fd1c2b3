//! The handle of a client.

use core::fmt;
use core::future::{Future, poll_fn};
use std::io;
use std::process::ExitStatus;
use std::sync::Arc;

use mcp_proto::json::{Raw, Str};
use mcp_proto::model::LoggingLevel;
use mcp_proto::rpc::Method;
use mcp_proto::{Payload, SendError};
use serde::de::DeserializeOwned;

use super::callbacks::roots::is_file;
use super::request::Request;
use crate::client::request::batch::Batch;
use crate::client::request::decode::{structured, suggestions, whole};
use crate::client::request::logs::Logs;
use crate::client::request::page::Listed;
use crate::client::request::pages::Pages;
use crate::client::request::subscription::Subscription;
use crate::client::session::info::ServerInfo;
use crate::client::state::ask::{Arguments, Ask};
use crate::client::state::connection_state::ConnectionState;
use crate::client::state::inner::Inner;
use crate::client::state::listen_filter::ListenFilter;
use crate::connection::Progress;
use crate::error::{CallError, ConnectError};
use crate::model::{
    CallToolResult, Completion, GetPromptResult, Prompt, ReadResourceResult, Reference, Resource,
    ResourceTemplate, Root, SubscriptionFilter, Tool,
};

/// A client of one server: cheap to clone, usable from any task.
///
/// Its methods are the same whatever revision the server speaks; what it did not declare is refused
/// here, by the name of the capability ([`CallError::MissingCapability`]). The connection ends with
/// the last clone, or when it is [closed](Self::close).
///
/// ```
/// use mcp_async::Client;
/// use mcp_async::client::child;
/// use mcp_async::process::Command;
/// use mcp_async::runtime::RuntimeHandle;
///
/// #[derive(serde::Serialize)]
/// struct Forecast<'a> {
///     city: &'a str,
/// }
///
/// async fn run(runtime: RuntimeHandle) -> Result<(), Box<dyn std::error::Error>> {
///     let client = Client::connect(child(runtime, Command::new("uvx").args(["weather-server"]))).await?;
///     for tool in client.tools().all().await? {
///         println!("{}: {}", tool.name, tool.description.unwrap_or_default());
///     }
///     let answer = client.call_tool("forecast", &Forecast { city: "Kyoto" }).await?;
///     println!("{}", answer.text());
///     client.close().await?;
///     Ok(())
/// }
/// ```
pub struct Client {
    pub(crate) inner: Arc<Inner>,
}

impl Client {
    pub(crate) const fn of(inner: Arc<Inner>) -> Self {
        Self { inner }
    }

    /// Returns the identity and capabilities of the server; those of the last connection, if there
    /// were several.
    pub fn info(&self) -> Arc<ServerInfo> {
        self.inner.server()
    }

    /// Calls a tool with these arguments, a value that is an object in JSON, or `&()` for none.
    ///
    /// A tool that ran and failed is a result too, with `is_error` set, for a model to read. With feature `schema`, structured content is checked against the output schema
    /// of a tool that was [listed](Self::tools) before.
    pub fn call_tool<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a (dyn Payload + Sync),
    ) -> Request<'a, CallToolResult> {
        self.request_tool(name, arguments, whole)
    }

    /// Calls a tool and returns its structured content, decoded. A tool that failed is
    /// [`CallError::Tool`], one without structured content [`CallError::Output`].
    ///
    /// ```
    /// use mcp_async::Client;
    /// use mcp_async::client::CallError;
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Sum {
    ///     sum: f64,
    /// }
    ///
    /// async fn add(client: &Client) -> Result<f64, CallError> {
    ///     let arguments = std::collections::HashMap::from([("a", 1), ("b", 2)]);
    ///     let sum: Sum = client.call_tool_as("add", &arguments).await?;
    ///     Ok(sum.sum)
    /// }
    /// ```
    pub fn call_tool_as<'a, T: DeserializeOwned>(
        &'a self,
        name: &'a str,
        arguments: &'a (dyn Payload + Sync),
    ) -> Request<'a, T> {
        self.request_tool(name, arguments, structured)
    }

    /// The server's tools.
    pub fn tools(&self) -> Pages<'_, Tool> {
        self.pages(&())
    }

    /// The server's resources.
    pub fn resources(&self) -> Pages<'_, Resource> {
        self.pages(&())
    }

    /// The server's templates of resources.
    pub fn resource_templates(&self) -> Pages<'_, ResourceTemplate> {
        self.pages(&())
    }

    /// The server's prompts.
    pub fn prompts(&self) -> Pages<'_, Prompt> {
        self.pages(&())
    }

    /// A list of an extension, page after page. The parameters are an object, or `&()` for none; a
    /// cursor is added to them.
    ///
    /// ```
    /// use mcp_async::client::{CallError, Client, Listed, Page};
    /// use mcp_async::json::{Raw, Str};
    /// use mcp_async::model::Cursor;
    /// use mcp_async::Method;
    ///
    /// /// A build of a branch.
    /// #[derive(serde::Deserialize)]
    /// struct Build {
    ///     id: String,
    /// }
    ///
    /// #[derive(serde::Deserialize)]
    /// #[serde(rename_all = "camelCase")]
    /// struct Builds {
    ///     builds: Vec<Build>,
    ///     next_cursor: Option<Cursor>,
    /// }
    ///
    /// impl Listed for Build {
    ///     const METHOD: Method<'static> = Method::Other(Str::new("builds/list"));
    ///
    ///     fn page(result: Raw<'_>) -> Result<Page<Self>, CallError> {
    ///         let page: Builds = result.decode(&mut []).map_err(CallError::Decode)?;
    ///         Ok(Page { items: page.builds, next: page.next_cursor })
    ///     }
    /// }
    ///
    /// async fn of_branch(client: &Client, branch: &str) -> Result<Vec<Build>, CallError> {
    ///     let params = std::collections::HashMap::from([("branch", branch)]);
    ///     client.pages(&params).all().await
    /// }
    /// ```
    pub fn pages<'a, T: Listed>(&'a self, params: &'a (dyn Payload + Sync)) -> Pages<'a, T> {
        Pages::new(&self.inner, params)
    }

    /// Reads a resource. It may have several contents.
    ///
    /// One that is not there is [`CallError::Server`] with code -32602, in legacy sessions
    /// -32002.
    pub fn read_resource<'a>(&'a self, uri: &'a str) -> Request<'a, ReadResourceResult> {
        Request::new(&self.inner, Ask::ReadResource { uri }, whole)
    }

    /// Sends several requests together, as one array in 2025-03-26 and each by itself elsewhere. Each has a result of its
    /// own, in their order; see [`Batch`].
    ///
    /// ```
    /// use mcp_async::Client;
    ///
    /// async fn read_all(client: &Client, uris: &[String]) -> Vec<String> {
    ///     let reads = uris.iter().map(|uri| client.read_resource(uri));
    ///     let results = client.batch(reads).await;
    ///     let failed = uris.iter().zip(results).filter(|(_, result)| result.is_err());
    ///     failed.map(|(uri, _)| uri.clone()).collect()
    /// }
    /// # let _ = read_all;
    /// ```
    pub fn batch<'a, T, H: FnMut(Progress<'_>)>(
        &'a self,
        requests: impl IntoIterator<Item = Request<'a, T, H>>,
    ) -> Batch<'a, T, H> {
        Batch::new(&self.inner, requests)
    }

    /// Fills in a prompt. The arguments are an object of strings, or `&()` for none.
    pub fn get_prompt<'a>(
        &'a self,
        name: &'a str,
        arguments: &'a (dyn Payload + Sync),
    ) -> Request<'a, GetPromptResult> {
        let arguments = Arguments(arguments);
        Request::new(&self.inner, Ask::GetPrompt { name, arguments }, whole)
    }

    /// Suggests values for an argument of a prompt, or for a variable of a template, of which
    /// this much is typed; [`Request::context`] tells of the arguments before it.
    pub fn complete<'a>(
        &'a self,
        reference: &'a Reference,
        argument: &'a str,
        value: &'a str,
    ) -> Request<'a, Completion> {
        let ask = Ask::Complete {
            reference,
            argument,
            value,
            context: &[],
        };
        Request::new(&self.inner, ask, suggestions)
    }

    /// Asks if the server is alive: by `ping` in a legacy session, and in 2026-07-28, which has
    /// none, by `server/discover`.
    pub fn ping(&self) -> Request<'_, ()> {
        Request::new(&self.inner, Ask::Ping { modern: false }, whole)
    }

    /// Asks for log messages from this severity on. A legacy session is notified immediately; in 2026-07-28 each request from now on names the level. A new
    /// connection gets the same level. Of several calls at once, each waits for the end of the one before.
    ///
    /// # Errors
    /// Those of a call; [`CallError::MissingCapability`] from a legacy server that does not log.
    pub async fn set_log_level(&self, level: LoggingLevel) -> Result<(), CallError> {
        let client_state = &self.inner.client_state;
        let _guard = client_state.level_lock.lock().await;
        if !self.info().revision.has_log_level_of_request() {
            Request::new(&self.inner, Ask::SetLevel(level), whole::<()>).await?;
        }
        client_state.set_level(level);
        Ok(())
    }

    /// The server's log messages from now on, as a stream.
    pub fn logs(&self) -> Logs {
        Logs::new(&self.inner)
    }

    /// Listens to changes of one resource, and of its parts.
    ///
    /// # Errors
    /// Those of a call; [`CallError::MissingCapability`] if the server does not tell of resources, in
    /// which case nothing is sent, or not of this one.
    pub async fn subscribe(&self, uri: &str) -> Result<Subscription, CallError> {
        let filter = SubscriptionFilter {
            resource_subscriptions: vec![uri.to_owned()],
            ..SubscriptionFilter::default()
        };
        let subscription = self.listen(filter).await?;
        let honoured = &subscription.honoured().resource_subscriptions;
        if honoured.iter().any(|honoured| honoured == uri) {
            Ok(subscription)
        } else {
            Err(CallError::MissingCapability("resources.subscribe"))
        }
    }

    /// Listens to changes of the lists of tools, prompts and resources, as far as the server
    /// tells of them: [`Subscription::honoured`] says which. Of a server that declares none of them
    /// nothing is requested, and the stream stays silent until the connection ends.
    ///
    /// A legacy server may report a change before this is called. Such a list is the first update of
    /// the first subscription that wants it.
    ///
    /// # Errors
    /// Those of a call.
    pub async fn changes(&self) -> Result<Subscription, CallError> {
        self.listen(SubscriptionFilter {
            tools_list_changed: true,
            prompts_list_changed: true,
            resources_list_changed: true,
            ..SubscriptionFilter::default()
        })
        .await
    }

    /// Listens to changes of several kinds; [`Subscription::honoured`] says what of it the
    /// server tells. A [`ListenFilter`] has members of extensions, too.
    ///
    /// # Errors
    /// Those of a call; [`CallError::MissingCapability`] if there are resources in the filter and the
    /// server does not tell of them, unless a server of 2026-07-28 tells of something else in it.
    pub fn listen<F: Into<ListenFilter>>(
        &self,
        filter: F,
    ) -> impl Future<Output = Result<Subscription, CallError>> + Send + use<F> {
        Subscription::begin(Arc::clone(&self.inner), filter.into())
    }

    /// Calls any method, with parameters that are an object, or `&()` for none. The result is decoded
    /// into any type that owns what it holds: [`RawBuf`](mcp_proto::json::RawBuf) for the JSON as it
    /// came, `()` where its members do not matter.
    ///
    /// ```
    /// use mcp_async::Client;
    /// use mcp_async::client::CallError;
    /// use mcp_async::json::RawBuf;
    ///
    /// async fn search(client: &Client) -> Result<RawBuf, CallError> {
    ///     let params = std::collections::HashMap::from([("query", "tea")]);
    ///     client.request("com.example/search", &params).await
    /// }
    /// ```
    pub fn request<'a, T: DeserializeOwned>(
        &'a self,
        method: &'a str,
        params: &'a (dyn Payload + Sync),
    ) -> Request<'a, T> {
        let ask = Ask::Other {
            method: Method::from(Str::from(method)),
            params: Some(params),
        };
        Request::new(&self.inner, ask, whole)
    }

    /// Shows the server other directories from now on, and tells a legacy server so. It
    /// needs [`ClientBuilder::roots`](super::ClientBuilder::roots), be it with none.
    ///
    /// # Errors
    /// [`ConnectError::Root`] with the first of them that is no `file://` URI with an absolute
    /// path; nothing changed then.
    pub async fn set_roots(
        &self,
        roots: impl IntoIterator<Item = Root>,
    ) -> Result<(), ConnectError> {
        let roots: Vec<Root> = roots.into_iter().collect();
        if let Some(wrong) = roots.iter().find(|root| !is_file(&root.uri)) {
            return Err(ConnectError::Root(wrong.uri.clone()));
        }
        self.inner.client_state.set_roots(roots);
        // A server that cannot be notified requests the roots whenever it needs them.
        let _ = self.notify_roots_changed().await;
        Ok(())
    }

    /// Tells a legacy server that its directories have changed; 2026-07-28 has no such
    /// notification, and a server asks each time.
    ///
    /// # Errors
    /// [`CallError::MissingCapability`] if this client shows no roots; [`CallError::Closed`].
    pub async fn notify_roots_changed(&self) -> Result<(), CallError> {
        let Some(peer) = self.inner.peer() else {
            return Err(CallError::Closed);
        };
        match peer.notify(Method::RootsListChanged, None).await {
            Ok(()) | Err(SendError::NotInRevision) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// Forgets every result that is kept, so that all of it is asked for anew.
    pub fn forget_cached(&self) {
        self.inner.client_state.forget();
    }

    /// Ends the connection, for all clones: cancellations of tasks are sent, calls in flight end
    /// with [`CallError::Closed`], earlier messages are written, and a child process is shut down
    /// in order. Resolves when that is done, with the child's status if there was one.
    ///
    /// # Errors
    /// Errors of the end that the transport or the operating system reports.
    pub async fn close(&self) -> io::Result<Option<ExitStatus>> {
        let owed = &self.inner.client_state.owed;
        poll_fn(|cx| owed.poll_settled(cx)).await;
        self.inner.begin_close();
        self.inner.ended().await
    }

    /// Resolves when the connection is over for good, whichever side ended it;
    /// with a [`RestartPolicy`](super::RestartPolicy), when that has given up.
    ///
    /// # Errors
    /// As for [`close`](Self::close). Only one of several waiting tasks receives it, and the
    /// status.
    pub async fn closed(&self) -> io::Result<Option<ExitStatus>> {
        self.inner.ended().await
    }

    /// Returns the state of the connection.
    pub fn connection(&self) -> ConnectionState {
        self.inner.connection()
    }

    /// Returns the state of the connection as soon as it is not `seen`; at once if it is another already.
    ///
    /// ```
    /// use mcp_async::Client;
    /// use mcp_async::client::ConnectionState;
    ///
    /// async fn watch(client: &Client) {
    ///     let mut state = client.connection();
    ///     while state != ConnectionState::Closed {
    ///         state = client.connection_change(state).await;
    ///         eprintln!("{state:?}");
    ///     }
    /// }
    /// # let _ = watch;
    /// ```
    pub async fn connection_change(&self, seen: ConnectionState) -> ConnectionState {
        self.inner.connection_change(seen).await
    }

    /// Returns whether the connection is over for good, or about to be.
    pub fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }

    fn request_tool<'a, T>(
        &'a self,
        name: &'a str,
        arguments: &'a (dyn Payload + Sync),
        decode: fn(Raw<'_>) -> Result<T, CallError>,
    ) -> Request<'a, T> {
        Request::new(&self.inner, Ask::call_tool(name, arguments), decode)
    }
}

impl Clone for Client {
    fn clone(&self) -> Self {
        Self::of(Arc::clone(&self.inner))
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client")
            .field("server", &self.info())
            .finish_non_exhaustive()
    }
}
