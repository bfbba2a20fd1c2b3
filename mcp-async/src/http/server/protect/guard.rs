//! The check of the tokens of an endpoint.

use core::error::Error;
use core::fmt;
use core::future::{Future, poll_fn};
use core::task::Poll;
use core::time::Duration;
use std::collections::BTreeMap;
use std::sync::Arc;

use http::Method;
use http::request::Parts;
use mcp_auth::Secret;
use mcp_auth::resource::{
    Admission, CheckStep, Denial, IssuerIndex, ProtectedResource, RequiredScopes, ResourceRequest,
    TokenCheck, TokenClaims, VerifierState,
};

use super::key_source::{Answer, DynKeySource};
use super::questions::{Permission, Questions};
use super::token_verifier::{DynIntrospect, DynTokenVerifier};
use crate::crypto;
use crate::crypto::{FingerprintKey, unix_now};
use crate::http::server::messages::head::RequestHead;
use crate::observe;
use crate::random;
use crate::runtime::{self, RuntimeHandle};
use crate::shares::CallerId;
use crate::sync::{Lock, Waiters};

/// Checks the tokens of all requests of an endpoint.
pub(in crate::http::server) struct TokenGuard {
    pub(in crate::http::server) resource: Arc<ProtectedResource>,
    pub(in crate::http::server) verifier: Arc<Lock<Verifier>>,
    pub(in crate::http::server) fingerprints: FingerprintKey,
    /// Sources of keys that the application provides, by the URLs that the resource has for them.
    pub(in crate::http::server) keys: Vec<(String, Arc<dyn DynKeySource>)>,
    /// The client that fetches keys and metadata from other URLs.
    pub(in crate::http::server) documents: Option<Arc<dyn Documents>>,
    pub(in crate::http::server) opaque: Option<Opaque>,
    /// True if handlers receive the tokens.
    pub(in crate::http::server) keeps_tokens: bool,
    pub(in crate::http::server) questions: Questions,
    /// The time limit of a question or a fetch.
    pub(in crate::http::server) timeout: Duration,
    /// Scopes of methods.
    pub(in crate::http::server) methods: BTreeMap<String, RequiredScopes>,
    pub(in crate::http::server) runtime: RuntimeHandle,
}

/// The verifier of tokens that are not JSON Web Tokens.
#[derive(Clone)]
pub(in crate::http::server) enum Opaque {
    Introspect(Arc<dyn DynIntrospect>),
    Verify(Arc<dyn DynTokenVerifier>),
}

/// State of the verification that all requests share.
pub(in crate::http::server) struct Verifier {
    state: VerifierState,
    /// Number of fetches of keys that have ended.
    fetches: u64,
    /// Requests that wait for the end of one.
    waiting: Waiters,
}

impl Verifier {
    pub(in crate::http::server) fn new(state: VerifierState) -> Arc<Lock<Self>> {
        Arc::new(Lock::new(Self {
            state,
            fetches: 0,
            waiting: Waiters::new(),
        }))
    }
}

impl TokenGuard {
    /// Checks the token of a request. `url` is the published URL that it is for, if that is not the
    /// endpoint of the resource.
    pub(in crate::http::server) async fn check(
        &self,
        parts: &Parts,
        url: Option<&str>,
        asker: Option<CallerId>,
    ) -> Result<Option<Box<Admission>>, Denial> {
        let request = ResourceRequest {
            query: parts.uri.query(),
            url,
            // The body says what is needed in addition, and one challenge names it all.
            defer_scopes: parts.method == Method::POST,
            ..ResourceRequest::default()
        };
        let mut check = self.resource.begin(&RequestHead(parts), request);
        loop {
            let (fetches, step) = {
                let mut verifier = self.verifier.lock();
                let step = check.step(&self.resource, &mut verifier.state, unix_now());
                (verifier.fetches, step)
            };
            match step {
                CheckStep::MakeNonce => match random::id() {
                    Ok(nonce) => {
                        self.verifier.lock().state.set_nonce(&nonce, unix_now());
                    }
                    Err(error) => {
                        observe::unverified(&error);
                        check.set_unavailable();
                    }
                },
                CheckStep::Hash(bytes) => {
                    let digest = crypto::sha256(bytes);
                    check.set_digest(digest);
                }
                CheckStep::Fingerprint(bytes) => {
                    let fingerprint = self.fingerprints.fingerprint(bytes);
                    check.set_fingerprint(fingerprint);
                }
                CheckStep::VerifySignature(signature) => {
                    let is_valid = crypto::verify(&signature);
                    check.set_signature(is_valid);
                }
                CheckStep::FetchKeys { issuer, url } => {
                    self.fetch(issuer, url);
                    self.wait(fetches).await;
                }
                CheckStep::WaitForKeys { .. } => self.wait(fetches).await,
                CheckStep::Introspect { token, .. } => {
                    let token = token.clone();
                    let permit = self.permit(&check, asker.as_ref());
                    let answer = self.introspect(token, permit).await;
                    check.set_introspection(&self.resource, answer.as_deref());
                }
                CheckStep::VerifyToken(token) => {
                    let token = token.clone();
                    let permit = self.permit(&check, asker.as_ref());
                    match self.verify(token, permit).await {
                        Some(claims) => check.set_claims(claims),
                        None => check.set_unavailable(),
                    }
                }
                CheckStep::Done(outcome) => return outcome,
                // A step of a later version of the core: an answer that fits none refuses the
                // request.
                _ => check.set_unavailable(),
            }
        }
    }

    /// Fetches the keys of an issuer in a task of its own, so that no other request depends on the
    /// client of this one.
    fn fetch(&self, issuer: IssuerIndex, url: &str) {
        let source = self.keys.iter().find(|(known, _)| known == url);
        let source = match source {
            Some((_, source)) => Some(Source::Keys(Arc::clone(source))),
            None => {
                let documents = self.documents.as_ref().map(Arc::clone);
                documents.map(|documents| Source::Document(documents, url.into()))
            }
        };
        let fetch = Fetch {
            verifier: Arc::clone(&self.verifier),
            issuer,
            document: None,
        };
        let limits = (self.runtime.clone(), self.timeout);
        self.runtime.spawn(Box::pin(fetch.run(source, limits)));
    }

    /// Waits until one more fetch of keys has ended.
    async fn wait(&self, fetches: u64) {
        poll_fn(|cx| {
            let mut verifier = self.verifier.lock();
            if verifier.fetches != fetches {
                return Poll::Ready(());
            }
            verifier.waiting.register(cx);
            Poll::Pending
        })
        .await;
    }

    /// The permission to ask about a token; `None` if its sender asks about too many unknown ones.
    fn permit(
        &self,
        check: &TokenCheck,
        asker: Option<&CallerId>,
    ) -> Option<impl Future<Output = Permission> + use<>> {
        let user = {
            let verifier = self.verifier.lock();
            let user = check.last_identity(&verifier.state, unix_now());
            user.map(Arc::from)
        };
        self.questions.permit(user, asker)
    }

    async fn introspect(
        &self,
        token: Secret,
        permit: Option<impl Future<Output = Permission>>,
    ) -> Option<Vec<u8>> {
        let Some(Opaque::Introspect(endpoint)) = &self.opaque else {
            return None;
        };
        self.ask(permit?, || endpoint.introspect(token)).await
    }

    async fn verify(
        &self,
        token: Secret,
        permit: Option<impl Future<Output = Permission>>,
    ) -> Option<Option<TokenClaims>> {
        let Some(Opaque::Verify(verifier)) = &self.opaque else {
            return None;
        };
        self.ask(permit?, || verifier.verify(token)).await
    }

    /// Asks a question, when fewer are under way than there may be.
    async fn ask<T, F>(
        &self,
        permit: impl Future<Output = Permission>,
        question: impl FnOnce() -> F,
    ) -> Option<T>
    where
        F: Future<Output = Result<T, Box<dyn Error + Send + Sync>>>,
    {
        within((&self.runtime, self.timeout), async {
            let _permit = permit.await;
            question().await
        })
        .await
    }

    /// The scopes that a method needs.
    pub(in crate::http::server) fn scopes_of_method(
        &self,
        method: &str,
    ) -> Option<&RequiredScopes> {
        self.methods.get(method)
    }
}

/// Fetches documents by their URLs.
pub(in crate::http::server) trait Documents: Send + Sync {
    /// The endpoint begins to serve on this runtime.
    fn start(&self, runtime: &RuntimeHandle);

    fn fetch<'a>(&'a self, url: &'a str) -> Answer<'a, Vec<u8>>;
}

/// The source of keys or of metadata.
enum Source {
    Keys(Arc<dyn DynKeySource>),
    Document(Arc<dyn Documents>, String),
}

/// A fetch of keys. Dropping it ends the fetch, with what it has.
struct Fetch {
    verifier: Arc<Lock<Verifier>>,
    issuer: IssuerIndex,
    document: Option<Vec<u8>>,
}

impl Fetch {
    async fn run(mut self, source: Option<Source>, limits: (RuntimeHandle, Duration)) {
        let limits = (&limits.0, limits.1);
        self.document = match &source {
            Some(Source::Keys(keys)) => within(limits, keys.fetch()).await,
            Some(Source::Document(documents, url)) => within(limits, documents.fetch(url)).await,
            None => None,
        };
    }
}

impl Drop for Fetch {
    fn drop(&mut self) {
        let (error, waiting) = {
            let mut verifier = self.verifier.lock();
            verifier.fetches = verifier.fetches.wrapping_add(1);
            let document = self.document.as_deref();
            verifier.state.set_keys(self.issuer, document, unix_now());
            let error = verifier.state.keys_error(self.issuer).cloned();
            (error, verifier.waiting.take())
        };
        if let Some(error) = error {
            observe::unverified(&error);
        }
        waiting.wake();
    }
}

/// The question was not answered in time.
#[derive(Debug)]
struct TimedOut;

impl fmt::Display for TimedOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("keys or an answer about a token did not arrive in time")
    }
}

impl Error for TimedOut {}

/// Drives the work until it is done or the time is over. Errors are written to the log.
async fn within<T>(
    (runtime, limit): (&RuntimeHandle, Duration),
    work: impl Future<Output = Result<T, Box<dyn Error + Send + Sync>>>,
) -> Option<T> {
    let done = runtime::within(runtime, limit, work).await;
    match done.unwrap_or_else(|| Err(TimedOut.into())) {
        Ok(done) => Some(done),
        Err(error) => {
            observe::unverified(&*error);
            None
        }
    }
}

impl fmt::Debug for TokenGuard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenGuard")
            .field("resource", &self.resource)
            .finish_non_exhaustive()
    }
}
