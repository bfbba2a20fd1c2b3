//! A server of a composition: its name, and how to reach it.

use core::fmt;
use core::time::Duration;
use std::borrow::Cow;
use std::sync::Arc;

use mcp_async::Client;
use mcp_async::client::{ClientBuilder, ConnectError, Connector, child};
use mcp_async::http::HttpConnector;
use mcp_async::process::Command;
use mcp_async::runtime::{BoxFuture, RuntimeHandle, within};

/// A server under a name of the program's choice, and how to reach it.
///
/// The name tells servers apart, whatever they say of themselves. One entry can be connected any number of times: after
/// an end, or for a connection per caller.
///
/// ```
/// use mcp_async::process::Command;
/// use mcp_compose::ServerEntry;
///
/// let notes = ServerEntry::program("notes", Command::new("uvx").args(["notes-server"]));
/// let issues = ServerEntry::url("issues", "https://example.com/mcp").header("Authorization", "Bearer secret");
/// assert_eq!(notes.name(), "notes");
/// assert!(!format!("{issues:?}").contains("secret"));
/// ```
#[derive(Clone)]
pub struct ServerEntry {
    name: Arc<str>,
    title: Option<String>,
    disabled: bool,
    deadline: Duration,
    route: Route,
    settings: Option<Arc<Settings>>,
}

/// The way to a server.
#[derive(Clone)]
enum Route {
    Program {
        /// For messages.
        program: String,
        command: Command,
    },
    Url {
        url: String,
        headers: Vec<(String, String)>,
    },
    Connector(Arc<Connect>),
}

/// Connects a client by a connector that it makes.
type Connect =
    dyn Fn(ClientBuilder) -> BoxFuture<'static, Result<Client, ConnectError>> + Send + Sync;

/// Adds settings to a client.
type Settings = dyn Fn(ClientBuilder) -> ClientBuilder + Send + Sync;

impl ServerEntry {
    /// A program to start, which is a server on its standard streams. `program` of the command is named in errors;
    /// arguments and variables are not.
    pub fn program(name: &str, command: Command) -> Self {
        let program = command.program().to_string_lossy().into_owned();
        Self::new(name, Route::Program { program, command })
    }

    /// A server at a URL.
    pub fn url(name: &str, url: impl Into<String>) -> Self {
        let (url, headers) = (url.into(), Vec::new());
        Self::new(name, Route::Url { url, headers })
    }

    /// A server that is reached by a connector, which the function makes for each connection: one of this process, or a
    /// stream of the program's own.
    ///
    /// ```
    /// use mcp_async::runtime::RuntimeHandle;
    /// use mcp_async::{Server, in_memory};
    /// use mcp_compose::ServerEntry;
    ///
    /// fn clock(server: Server, runtime: RuntimeHandle) -> ServerEntry {
    ///     ServerEntry::connector("clock", move || in_memory(runtime.clone(), &server))
    /// }
    /// # let _ = clock;
    /// ```
    pub fn connector<C: Connector + 'static>(
        name: &str,
        connector: impl Fn() -> C + Send + Sync + 'static,
    ) -> Self {
        let connect = move |client: ClientBuilder| -> BoxFuture<'static, _> {
            let connector = connector();
            Box::pin(client.connect(connector))
        };
        Self::new(name, Route::Connector(Arc::new(connect)))
    }

    fn new(name: &str, route: Route) -> Self {
        Self {
            name: name.into(),
            title: None,
            disabled: false,
            deadline: DEADLINE,
            route,
            settings: None,
        }
    }

    /// Sends a header with each request to a server at a URL; other servers have none. One that the client itself sets
    /// is an error when the entry is connected.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Route::Url { headers, .. } = &mut self.route {
            headers.push((name.into(), value.into()));
        }
        self
    }

    /// Sets a name for people.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = Some(title.into());
        self
    }

    /// Sets whether a [host](crate::Host) leaves the entry out.
    #[must_use]
    pub const fn disabled(mut self, disabled: bool) -> Self {
        self.disabled = disabled;
        self
    }

    /// Adds settings to each client of the server: an authorization, timeouts, limits, extensions. They count before those of a host or
    /// proxy, whose callbacks must not be set here.
    #[must_use]
    pub fn client(
        mut self,
        settings: impl Fn(ClientBuilder) -> ClientBuilder + Send + Sync + 'static,
    ) -> Self {
        self.settings = Some(Arc::new(settings));
        self
    }

    /// Sets the time that connecting may take, the start of a program included; 30 s otherwise.
    #[must_use]
    pub const fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    /// Connects a client with these settings, to which those of the entry are added.
    ///
    /// # Errors
    /// See [`ConnectError`]; [`ConnectError::Timeout`] after the [deadline](Self::deadline).
    pub async fn connect<T: Send + Sync + 'static>(
        &self,
        runtime: impl Into<RuntimeHandle>,
        client: ClientBuilder<T>,
    ) -> Result<Client, ConnectError> {
        let runtime = runtime.into();
        let mut client = client.with_state(());
        if let Some(settings) = &self.settings {
            client = settings(client);
        }
        let connecting = async {
            match &self.route {
                Route::Program { command, .. } => {
                    client
                        .connect(child(runtime.clone(), command.clone()))
                        .await
                }
                Route::Url { url, headers } => {
                    let headers = headers.iter();
                    let client =
                        headers.fold(client, |client, (name, value)| client.header(name, value));
                    client.connect(HttpConnector::new(&runtime, url)).await
                }
                Route::Connector(connect) => connect(client).await,
            }
        };
        let connected = within(&runtime, self.deadline, connecting).await;
        connected.unwrap_or(Err(ConnectError::Timeout))
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the name for people: the title, or else the name.
    pub fn display_name(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }

    /// Returns whether a [host](crate::Host) leaves the entry out.
    pub const fn is_disabled(&self) -> bool {
        self.disabled
    }

    /// Returns the address for messages: the program, or the URL without user, password, query and fragment.
    pub fn address(&self) -> Cow<'_, str> {
        match &self.route {
            Route::Program { program, .. } => program.into(),
            Route::Url { url, .. } => public_url(url),
            Route::Connector(_) => "a connector".into(),
        }
    }
}

/// The values of headers and variables, and arguments, may be secrets.
impl fmt::Debug for ServerEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ServerEntry")
            .field("name", &self.name)
            .field("title", &self.title)
            .field("address", &self.address())
            .field("disabled", &self.disabled)
            .finish_non_exhaustive()
    }
}

/// Returns the URL without the parts that may be secrets.
pub(crate) fn public_url(url: &str) -> Cow<'_, str> {
    let end = url.find(['?', '#']).unwrap_or(url.len());
    let shown = &url[..end];
    let authority = shown.find("://").map_or(0, |at| at + 3);
    let path = shown[authority..]
        .find('/')
        .unwrap_or(shown.len() - authority);
    match shown[authority..authority + path].rfind('@') {
        Some(at) => {
            let (scheme, rest) = (&shown[..authority], &shown[authority + at + 1..]);
            format!("{scheme}{rest}").into()
        }
        None => shown.into(),
    }
}

/// Enough for a package manager that downloads the program first.
const DEADLINE: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_without_secrets() {
        let check = |url: &str, shown: &str| {
            let entry = ServerEntry::url("it", url).header("X-Key", "s3cret");
            assert_eq!(entry.address(), shown);
            let debug = format!("{entry:?}");
            assert!(!debug.contains("s3cret"), "{debug}");
        };
        check("https://a.example/mcp", "https://a.example/mcp");
        check(
            "https://me:s3cret@a.example/mcp?key=s3cret#s3cret",
            "https://a.example/mcp",
        );
        check("https://a@s3cret@b", "https://b");
        check("https://a/x@y", "https://a/x@y");
        check("me:s3cret@host", "host");
        check("", "");
        let command = Command::new("uvx")
            .args(["--key", "s3cret"])
            .env("KEY", "s3cret");
        let entry = ServerEntry::program("it", command);
        assert_eq!(entry.address(), "uvx");
        assert!(!format!("{entry:?}").contains("s3cret"));
    }
}
