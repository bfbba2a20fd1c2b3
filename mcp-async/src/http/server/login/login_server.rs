//! Drives the machines of the authorization server.

use core::fmt;
use core::sync::atomic::{AtomicUsize, Ordering};
use core::time::Duration;
use std::sync::Arc;

use mcp_auth::authorization_server::{
    AccessCheck, AuthorizationServer, LoginAction, LoginContext, LoginError, LoginInput,
    LoginMachine, LoginStep, ProviderToken, ProviderTokenRequest,
};
use mcp_auth::resource::TokenClaims;
use mcp_auth::{AuthError, Document, HttpRequest, HttpResponse, Problem, Secret, ServerMetadata};

use super::login_client::LoginClient;
use super::login_keys::LoginKeys;
use super::login_records::LoginRecords;
use super::provider_cache::ProviderCache;
use crate::connection::{Notify, oneshot};
use crate::crypto::unix_now;
use crate::http::StoreError;
use crate::observe;
use crate::runtime::{RuntimeHandle, Sleep};
use crate::server::{Buckets, RateLimit};
use crate::shares::CallerId;

/// The authorization server of an endpoint, with all that its machines ask for.
pub(in crate::http::server) struct LoginServer {
    pub(in crate::http::server) server: AuthorizationServer,
    pub(super) keys: LoginKeys,
    pub(super) records: LoginRecords,
    pub(super) client: LoginClient,
    pub(super) metadata: ProviderCache,
    /// The logins that each caller may still begin.
    pub(super) begun: Buckets<CallerId>,
    /// The logins that each user of the provider, by a hash, may still complete.
    pub(super) completed: Buckets<String>,
    pub(super) runtime: RuntimeHandle,
    pub(super) runs: Arc<Runs>,
}

/// Machines that run in tasks of their own.
#[derive(Default)]
pub(super) struct Runs {
    count: AtomicUsize,
    one_ended: Notify,
}

/// One of them, until it is dropped.
struct Run(Arc<Runs>);

impl Run {
    fn of(runs: &Arc<Runs>) -> Self {
        runs.count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(runs))
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::Release);
        self.0.one_ended.notify_waiters();
    }
}

impl LoginServer {
    /// Returns the claims of an access token of this server.
    pub(super) async fn check(&self, token: Secret) -> Result<Option<TokenClaims>, LoginError> {
        self.drive(AccessCheck::new(token), None, None).await
    }

    /// Notes the reason for which a login was not completed.
    pub(in crate::http::server) fn note(&self, cause: &AuthError) {
        observe::login_failed(cause);
        if cause.document == Document::ClientMetadata {
            self.client.forget_document(&cause.url);
        }
    }

    /// Returns the provider's token for a login.
    pub(super) async fn provider_token(
        self: &Arc<Self>,
        login: &str,
    ) -> Result<ProviderToken, LoginError> {
        let provider = self.provider(None).await;
        let ran = self.run(ProviderTokenRequest::new(login), provider, None);
        ran.await.unwrap_or(Err(LoginError::Unavailable(None)))
    }

    /// Runs a machine to its end in a task: what a provider has replaced is stored also if the client that has brought
    /// it about leaves. `None` if the runtime ends.
    pub(in crate::http::server) async fn run<M>(
        self: &Arc<Self>,
        machine: M,
        provider: Option<Arc<ServerMetadata>>,
        caller: Option<CallerId>,
    ) -> Option<M::Output>
    where
        M: LoginMachine + Send + 'static,
        M::Output: Send + 'static,
    {
        let (this, run) = (Arc::clone(self), Run::of(&self.runs));
        let (sender, receiver) = oneshot::channel();
        self.runtime.spawn(Box::pin(async move {
            let _run = run;
            sender.send(this.drive(machine, provider.as_deref(), caller).await);
        }));
        receiver.recv().await
    }

    /// Waits until no machine [runs](Self::run): a shutdown does so for as long as requests may take.
    pub(in crate::http::server) async fn drained(&self) {
        loop {
            let ended = self.runs.one_ended.notified();
            if self.runs.count.load(Ordering::Acquire) == 0 {
                return;
            }
            ended.await;
        }
    }

    async fn drive<M: LoginMachine>(
        &self,
        mut machine: M,
        provider: Option<&ServerMetadata>,
        caller: Option<CallerId>,
    ) -> M::Output {
        let mut advance = |input: LoginInput<'_>| machine.advance(&self.context(provider), input);
        let mut step = advance(LoginInput::Start);
        loop {
            let action = match step {
                LoginStep::Done(output) => return output,
                LoginStep::Do(action) => action,
            };
            step = match action {
                LoginAction::Load { key, to_change } => {
                    match self.records.load(&key, to_change).await {
                        Ok(found) => {
                            let found = found
                                .as_ref()
                                .map(|(version, record)| (*version, &**record));
                            advance(LoginInput::Record(found))
                        }
                        Err(error) => advance(failed(&error)),
                    }
                }
                LoginAction::Create {
                    key,
                    record,
                    keep,
                    user,
                } => match self.may_create(&key, user, caller.as_ref()) {
                    true => {
                        let created = self.records.create(&key, &record, keep).await;
                        advance(written(created.map(|()| true).as_ref()))
                    }
                    false => advance(LoginInput::Failed("too many logins of one party")),
                },
                LoginAction::Save {
                    key,
                    version,
                    record,
                    keep,
                } => {
                    let saved = self.records.save(&key, version, &record, keep).await;
                    advance(written(saved.as_ref()))
                }
                LoginAction::Remove { key, version } => {
                    let removed = self.records.remove(&key, version).await;
                    advance(written(removed.as_ref()))
                }
                LoginAction::Send(request) => {
                    match self.client.send(&request, caller.clone()).await {
                        Ok(response) => {
                            let content_type = response.content_type.as_ref();
                            let field = content_type.map(|it| ("content-type", it.as_bytes()));
                            advance(LoginInput::Response(HttpResponse {
                                status: response.status,
                                headers: field.as_slice(),
                                body: &response.body,
                            }))
                        }
                        Err(text) => advance(LoginInput::Failed(&text)),
                    }
                }
                LoginAction::Wait => {
                    let mut waited = Sleep::after(&self.runtime, WAIT);
                    core::future::poll_fn(|cx| waited.poll_done(cx)).await;
                    advance(LoginInput::Waited)
                }
                _ => advance(LoginInput::Failed("an unknown action of a login")),
            };
        }
    }

    /// Returns true if the record has room: one caller could fill the store with logins that are begun, which need no user of
    /// the provider, and one user with those that are complete.
    fn may_create(&self, key: &str, user: Option<String>, caller: Option<&CallerId>) -> bool {
        let now = self.runtime.now();
        let taken = match (user, caller) {
            (Some(user), _) => self.completed.take(user, COMPLETED, 1, now),
            (None, Some(caller)) if LoginRecords::is_pending(key) => {
                self.begun.take(caller.clone(), BEGUN, 1, now)
            }
            _ => Ok(()),
        };
        taken.is_ok()
    }

    pub(in crate::http::server) fn context<'c>(
        &'c self,
        provider: Option<&'c ServerMetadata>,
    ) -> LoginContext<'c> {
        LoginContext {
            server: &self.server,
            provider,
            crypto: &self.keys,
            now: unix_now(),
        }
    }

    /// Returns the metadata of the provider; `None` if it could not be fetched.
    pub(in crate::http::server) async fn provider(
        &self,
        caller: Option<CallerId>,
    ) -> Option<Arc<ServerMetadata>> {
        let fetch = self.fetch_metadata(caller);
        self.metadata.get(&self.runtime, fetch).await
    }

    async fn fetch_metadata(&self, caller: Option<CallerId>) -> Option<ServerMetadata> {
        let provider = &self.server.settings().provider;
        let url = provider.metadata_url()?;
        let request = HttpRequest::get(Document::ServerMetadata, url.clone());
        let read = match self.client.send(&request, caller).await {
            Ok(response) if response.status == 200 => {
                Ok(provider.read_metadata(&url, &response.body))
            }
            Ok(response) => Err(Problem::Status(response.status)),
            Err(text) => Err(Problem::Unreachable(text)),
        };
        let fail = |problem| Err(AuthError::new(Document::ServerMetadata, &url, problem));
        let metadata = read.unwrap_or_else(fail);
        metadata.inspect_err(observe::login_failed).ok()
    }
}

impl fmt::Debug for LoginServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LoginServer")
            .field("issuer", &self.server.issuer())
            .finish_non_exhaustive()
    }
}

fn written(written: Result<&bool, &StoreError>) -> LoginInput<'static> {
    match written {
        Ok(is_written) => LoginInput::Written(*is_written),
        Err(error) => failed(error),
    }
}

fn failed(error: &StoreError) -> LoginInput<'static> {
    observe::store_failed(error);
    LoginInput::Failed("the store failed")
}

/// The logins that one caller may begin: one a second, and a hundred at once.
const BEGUN: RateLimit = RateLimit::new(1, Duration::from_secs(1)).burst(100);

/// The logins that one user may complete: two an hour, and a hundred at once. Each is kept for as long as it is used.
const COMPLETED: RateLimit = RateLimit::new(2, Duration::from_secs(3_600)).burst(100);

/// The time after which a login that another process renews is looked at again.
const WAIT: Duration = Duration::from_millis(250);
