//! The settings of a server whose users log in at a provider.

use core::fmt;
use std::io;
#[cfg(feature = "disk")]
use std::path::PathBuf;
use std::sync::Arc;

use mcp_auth::Secret;
use mcp_auth::authorization_server::{AuthorizationServer, LoginSettings, Provider};

use super::login_client::LoginClient;
#[cfg(feature = "disk")]
use super::login_file::LoginFile;
use super::login_keys::LoginKeys;
use super::login_records::{LoginRecords, Records};
use super::login_server::LoginServer;
use super::provider_cache::ProviderCache;
use crate::http::SessionStore;
use crate::http::server::protect::Protection;
use crate::http::store::DynSessionStore;
use crate::net::HttpClient;
use crate::runtime::RuntimeHandle;
use crate::server::{Buckets, RegisterError, StateKeys};

/// Protects an endpoint by logins of its users at a provider: see
/// [`Http::delegate_login`](crate::http::Http::delegate_login).
///
/// ```
/// use mcp_async::Server;
/// use mcp_async::auth::{DelegatedLogin, Provider};
/// use mcp_async::net::HttpListener;
///
/// async fn run(server: Server, listen: HttpListener, secret: &str) -> std::io::Result<()> {
///     let github = Provider::github("Iv1.8a61f9b3a7aba766", secret);
///     let login = DelegatedLogin::new("https://mcp.example.com/mcp", github);
///     let http = server.http().allow_hosts(["mcp.example.com"]).delegate_login(login);
///     http.serve(listen).await
/// }
/// ```
#[must_use = "it has no effect before `Http::delegate_login`"]
pub struct DelegatedLogin {
    settings: LoginSettings,
    /// The changes of the protection, which is built from the settings.
    protection: Vec<Change>,
    place: Option<Place>,
    client: Option<HttpClient>,
}

/// The place of the logins that the application has chosen.
enum Place {
    Store(Arc<dyn DynSessionStore>),
    #[cfg(feature = "disk")]
    File(PathBuf),
}

type Change = Box<dyn FnOnce(Protection) -> Protection + Send>;

impl DelegatedLogin {
    /// Protects the resource at this URL, which clients are given, for users of this provider. The provider must know
    /// the URL that users come back to: `/callback` at the origin of the resource.
    pub fn new(resource: impl Into<String>, provider: Provider) -> Self {
        Self {
            settings: LoginSettings::new(resource, provider),
            protection: Vec::new(),
            place: None,
            client: None,
        }
    }

    /// Sets the scopes that every token needs. A client is granted them whichever scopes it asks for; those that it may
    /// ask for in addition are in the [settings](LoginSettings::scopes).
    pub fn scopes<T: AsRef<str>>(mut self, scopes: impl IntoIterator<Item = T>) -> Self {
        let scopes: Vec<T> = scopes.into_iter().collect();
        self.settings.required_scopes = scopes.iter().map(AsRef::as_ref).collect();
        self
    }

    /// Changes settings of the authorization server: further scopes, its name, lifetimes. The resource, the name and
    /// the required scopes are also those of the [`Protection`].
    ///
    /// ```
    /// use mcp_async::auth::{DelegatedLogin, Provider};
    ///
    /// let google = Provider::google("id", "secret");
    /// let login = DelegatedLogin::new("https://mcp.example.com/mcp", google).settings(|settings| {
    ///     settings.name = Some("Notes".into());
    ///     settings.login_lifetime = 7 * 86_400;
    /// });
    /// # let _ = login;
    /// ```
    pub fn settings(mut self, change: impl FnOnce(&mut LoginSettings)) -> Self {
        change(&mut self.settings);
        self
    }

    /// Changes the [`Protection`] of the endpoint: scopes of methods, or requests without a token. Later calls win.
    pub fn protection(
        mut self,
        change: impl FnOnce(Protection) -> Protection + Send + 'static,
    ) -> Self {
        self.protection.push(Box::new(change));
        self
    }

    /// Keeps the logins in this store. Otherwise they are in the store of an endpoint that is
    /// [shared](crate::http::Http::share), so that every process knows them, or in the memory of this process, and end
    /// with it.
    ///
    /// Records are sealed with keys that are derived from the
    /// [keys of the server](crate::server::ServerBuilder::state_keys), which a store needs. Of several calls of this
    /// method and of `file`, the last one counts.
    pub fn store(mut self, store: impl SessionStore + 'static) -> Self {
        self.place = Some(Place::Store(Arc::new(store)));
        self
    }

    /// Keeps the logins in this file, over restarts of the program. It is created if it is not there, for its owner
    /// alone, and belongs to one process at a time: an endpoint that processes [share](crate::http::Http::share) cannot
    /// have it.
    ///
    /// Records are sealed, as in a [store](Self::store); the [keys](crate::server::ServerBuilder::state_keys) of the
    /// server are needed. Of several calls of both methods, the last one counts.
    ///
    /// ```
    /// use mcp_async::Server;
    /// use mcp_async::auth::{DelegatedLogin, Provider};
    /// use mcp_async::server::StateKeys;
    ///
    /// # let key = [7; 32];
    /// let google = Provider::google("id", "secret");
    /// let login = DelegatedLogin::new("https://mcp.example.com/mcp", google).file("/var/lib/notes/logins");
    /// let http = Server::builder("notes", "1.0").state_keys(StateKeys::new(key)).http().delegate_login(login);
    /// # let _ = http;
    /// ```
    #[cfg(feature = "disk")]
    #[cfg_attr(docsrs, doc(cfg(feature = "disk")))]
    pub fn file(mut self, path: impl Into<PathBuf>) -> Self {
        self.place = Some(Place::File(path.into()));
        self
    }

    /// Sets the client that sends requests to the provider, also to hosts that its metadata names. The one that is used
    /// otherwise judges the addresses of these. No redirect is followed, whichever client it is.
    ///
    /// The metadata documents of clients, whose hosts anyone chooses, are not fetched with it, but with a client that
    /// connects to public addresses only.
    pub fn http_client(mut self, client: HttpClient) -> Self {
        self.client = Some(client);
        self
    }

    /// Checks the settings. `store` and `keys` are those of the endpoint.
    pub(in crate::http::server) fn build(
        self,
        store: Option<Arc<dyn DynSessionStore>>,
        keys: Option<StateKeys>,
        runtime: &RuntimeHandle,
    ) -> Result<(Protection, Arc<LoginServer>), RegisterError> {
        let mistake = |reason: &dyn fmt::Display| RegisterError::setting("delegate_login", reason);
        let server = AuthorizationServer::new(self.settings).map_err(|error| mistake(&error))?;
        #[cfg(feature = "disk")]
        if store.is_some() && matches!(self.place, Some(Place::File(_))) {
            return Err(mistake(
                &"a file belongs to one process, and processes share this endpoint: `store`",
            ));
        }
        let place = self.place.or_else(|| store.map(Place::Store));
        let keys = match keys {
            Some(keys) => keys,
            None if place.is_some() => {
                return Err(mistake(
                    &"logins that are kept need keys that last: `state_keys`",
                ));
            }
            None => StateKeys::random().map_err(|error| mistake(&error))?,
        };
        // It is opened last: a mistake leaves no file.
        let records = place.map(|place| place.open(runtime)).transpose();
        let records = records.map_err(|error| mistake(&error))?;
        let provider = &server.settings().provider;
        let login = Arc::new(LoginServer {
            client: LoginClient::new(provider, self.client, runtime),
            keys: LoginKeys::new(&keys),
            records: LoginRecords::new(records),
            metadata: ProviderCache::new(provider.endpoints.as_ref()),
            begun: Buckets::default(),
            completed: Buckets::default(),
            runtime: runtime.clone(),
            runs: Arc::default(),
            server,
        });
        let verifier = Arc::clone(&login);
        let verifier = move |token: Secret| {
            let login = Arc::clone(&verifier);
            async move { login.check(token).await }
        };
        let protection = protection(login.server.settings());
        let changes = self.protection.into_iter();
        let protection = changes.fold(protection, |protection, change| change(protection));
        Ok((protection.verifier(login.server.issuer(), verifier), login))
    }
}

impl Place {
    #[cfg_attr(not(feature = "disk"), expect(unused_variables))]
    fn open(self, runtime: &RuntimeHandle) -> io::Result<Records> {
        Ok(match self {
            Self::Store(store) => Records::Store(store),
            #[cfg(feature = "disk")]
            Self::File(path) => Records::File(Arc::new(LoginFile::open(&path, runtime)?)),
        })
    }
}

/// Returns the protection for tokens of an authorization server with these settings.
fn protection(settings: &LoginSettings) -> Protection {
    let name = settings.name.clone();
    let protection = Protection::new(settings.resource.clone());
    let protection = protection.scopes(settings.required_scopes.iter());
    protection.settings(|resource| {
        // A login is read from a store, and may be kept as long as an answer of an authorization server.
        let resource = resource.introspection_cache(30);
        match name {
            Some(name) => resource.name(name),
            None => resource,
        }
    })
}

impl fmt::Debug for DelegatedLogin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DelegatedLogin")
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}
