//! The credentials of one client, and the one authorization that may run for it.

use core::future::{Future as _, poll_fn};
use core::pin::pin;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::Poll;
use core::time::Duration;
use std::sync::Arc;

use http::{HeaderMap, HeaderValue};
use mcp_auth::{
    AuthError, Challenge, Credentials, DpopNonces, Refusals, RefusedResponse, Remedy, Scheme,
    Secret,
};

use super::consents::{Consents, Reason};
use super::documents::{DocumentCarrier, Documents};
use super::held::{Held, LocalFault, ProofKey, present};
use super::running::{Obtained, Outcome, RunningAuthorization};
use super::settings::Authorization;
use super::store::DynCredentialStore;
use super::user_agent::DynUserAgent;
use crate::client::state::ClientState;
use crate::connection::Signal;
use crate::crypto::unix_now;
use crate::error::AuthorizationError;
use crate::http::client::credentials::Credentials as Replaced;
use crate::runtime::{Either, RuntimeHandle, Sleep, race};
use crate::sync::Lock;

/// Authorizes the requests of one client, whatever its connections. The authorization that runs
/// ends when the client is dropped, unless it has requested tokens: these are saved before.
pub(in crate::http::client) struct Authorizer(Arc<Shared>);

/// State that the client and the task of its authorization share.
pub(super) struct Shared {
    pub(super) settings: Authorization,
    pub(super) user_agent: Option<Arc<dyn DynUserAgent>>,
    pub(super) documents: Documents,
    pub(super) runtime: RuntimeHandle,
    /// The canonical URL of the MCP server.
    pub(super) server: String,
    client_state: Arc<ClientState>,
    state: Lock<State>,
    /// Set when the client is dropped.
    abandoned: Signal,
    /// True if a request was sent whose response must not be lost.
    is_committed: AtomicBool,
}

#[derive(Default)]
struct State {
    is_loaded: bool,
    held: Option<Arc<Held>>,
    /// The newest record, also if its token is of no use any more: it has the registration.
    record: Option<Credentials>,
    /// The access token of the record that unsaved credentials take the place of.
    replaced: Option<Secret>,
    /// Counts the changes of `held`.
    version: u64,
    /// Those of the MCP server.
    nonces: DpopNonces,
    /// Those of authorization servers.
    issuer_nonces: DpopNonces,
    /// The URL of the metadata, from the newest challenge that states one.
    metadata_url: Option<String>,
    consents: Consents,
    running: Option<Running>,
}

/// The authorization that runs.
struct Running {
    goal: Goal,
    authorization: Arc<RunningAuthorization>,
}

/// The goal of an authorization.
#[derive(Clone, Debug)]
pub(in crate::http::client) enum Goal {
    /// Read the store.
    Load,
    /// Write what could not be written before.
    Save,
    Refresh,
    Authorize(Option<Challenge>),
}

impl Goal {
    /// Returns whether an authorization for this goal does for the other one too: any new token does for a
    /// request that lacks no scopes.
    fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Authorize(own), Self::Authorize(other)) => {
                let other = Reason::of(other.as_ref());
                other == Reason::of(None) || other == Reason::of(own.as_ref())
            }
            _ => false,
        }
    }
}

/// Credentials at one moment.
pub(in crate::http::client) struct View {
    pub(in crate::http::client) held: Option<Arc<Held>>,
    pub(in crate::http::client) version: u64,
    /// True if a consent of the user has led to no success yet.
    pub(in crate::http::client) awaits_success: bool,
}

impl Authorizer {
    pub(in crate::http::client) fn new(
        settings: Authorization,
        user_agent: Option<Arc<dyn DynUserAgent>>,
        carrier: Box<dyn DocumentCarrier>,
        client_state: Arc<ClientState>,
    ) -> Result<Self, AuthorizationError> {
        if let Some(wrong) = settings.wrong {
            return Err(wrong.into());
        }
        let server = settings.config.record_name().unwrap_or_default();
        Ok(Self(Arc::new(Shared {
            documents: Documents::new(carrier, &settings.config),
            settings,
            user_agent,
            runtime: client_state.runtime.clone(),
            server,
            client_state,
            state: Lock::default(),
            abandoned: Signal::default(),
            is_committed: AtomicBool::new(false),
        })))
    }

    /// Begins to count the refusals of one request.
    pub(in crate::http::client) fn refusals(&self) -> Refusals {
        Refusals::new(match self.0.settings.config.dpop {
            Some(_) => Scheme::Dpop,
            None => Scheme::Bearer,
        })
    }

    /// The credentials for the next request, read from the store and refreshed where that is due.
    /// `is_new`: the token was obtained for this request, so it is used even if it expires within
    /// seconds.
    pub(in crate::http::client) async fn view(
        &self,
        mut is_new: bool,
    ) -> Result<View, Arc<AuthorizationError>> {
        loop {
            let (goal, version) = {
                let state = self.0.state.lock();
                let goal = match &state.held {
                    None if !state.is_loaded => Goal::Load,
                    Some(held) if !held.is_saved => Goal::Save,
                    Some(held) if held.is_refresh_due(unix_now()) && !is_new => Goal::Refresh,
                    held => {
                        return Ok(View {
                            held: held.clone(),
                            version: state.version,
                            awaits_success: state.consents.awaits_success(),
                        });
                    }
                };
                (goal, state.version)
            };
            is_new |= matches!(goal, Goal::Refresh);
            self.authorize(goal, version).await?;
        }
    }

    /// Waits for an authorization: the one that runs, or a new one. Returns at once if the
    /// credentials are no longer those of this version.
    pub(in crate::http::client) async fn authorize(&self, goal: Goal, version: u64) -> Outcome {
        match self.begin(goal, version) {
            Some((running, covers)) => match running.wait().await? {
                Obtained::ForGoal if !covers => Ok(Obtained::Otherwise),
                obtained => Ok(obtained),
            },
            None => Ok(Obtained::Otherwise),
        }
    }

    /// Returns the authorization to wait for, and whether it does for this goal.
    fn begin(&self, goal: Goal, version: u64) -> Option<(Arc<RunningAuthorization>, bool)> {
        let running = {
            let mut state = self.0.state.lock();
            if state.version != version || matches!(goal, Goal::Load) && state.is_loaded {
                return None;
            }
            if let Some(running) = &state.running {
                let covers = running.goal.covers(&goal);
                return Some((Arc::clone(&running.authorization), covers));
            }
            let running = Arc::new(RunningAuthorization::default());
            state.running = Some(Running {
                goal: goal.clone(),
                authorization: Arc::clone(&running),
            });
            running
        };
        let finishing = Finishing {
            shared: Arc::clone(&self.0),
            authorization: Arc::clone(&running),
        };
        // A call that is dropped does not end it: a refresh token that is replaced at each use
        // would be lost.
        self.0.runtime.spawn(Box::pin(async move {
            let result = finishing.shared.run(goal).await;
            finishing.finish(result.map_err(Arc::new));
        }));
        Some((running, true))
    }

    /// Judges a response with status 401 or 403.
    pub(in crate::http::client) fn judge(
        &self,
        refusals: &mut Refusals,
        refusal: &RefusedResponse<'_>,
        held: Option<&Held>,
    ) -> Result<Remedy, AuthError> {
        let mut state = self.0.state.lock();
        let credentials = held.map(|held| &held.credentials);
        let remedy = refusals.judge(refusal, credentials, &mut state.nonces)?;
        Ok(match remedy {
            Remedy::Authorize(challenge) => Remedy::Authorize(state.complete(challenge)),
            remedy => remedy,
        })
    }

    /// Notes that the server accepted a request, whose token was obtained for this reason.
    pub(in crate::http::client) fn note_success(&self, reason: Option<Reason>) {
        self.0.state.lock().consents.succeeded(reason);
    }

    /// Returns true if the credentials are still those of this version.
    pub(in crate::http::client) fn is_current(&self, version: u64) -> bool {
        self.0.state.lock().version == version
    }

    /// Writes the credentials into the head of a request to the MCP server.
    pub(in crate::http::client) fn present(
        &self,
        refusals: &mut Refusals,
        held: &Held,
        (method, url): (&str, &str),
        fields: &mut HeaderMap,
    ) -> Result<(), LocalFault> {
        let nonce = self.0.state.lock().nonces.get(url).map(str::to_owned);
        refusals.set_sent_nonce(nonce.as_deref());
        let key = self.0.proof_key();
        present(held, key, nonce.as_deref(), (method, url), fields)
    }

    /// Notes the nonce of a response of the MCP server.
    pub(in crate::http::client) fn note_nonce(&self, url: &str, fields: &HeaderMap) {
        if let Some(nonce) = dpop_nonce(fields) {
            self.0.state.lock().nonces.set(url, nonce);
        }
    }

    /// The longest that one authorization takes.
    pub(in crate::http::client) fn timeout(&self) -> core::time::Duration {
        self.0.settings.timeout
    }

    pub(in crate::http::client) fn runtime(&self) -> &RuntimeHandle {
        &self.0.runtime
    }
}

impl Drop for Authorizer {
    fn drop(&mut self) {
        self.0.abandoned.set();
    }
}

impl Shared {
    /// Reaches a goal, unless the time is over or the client is dropped. After either, a response
    /// with tokens that is due has [`GRACE`] to arrive and to be saved (AU-116).
    async fn run(&self, goal: Goal) -> Result<Obtained, AuthorizationError> {
        self.set_committed(false);
        let limit = Sleep::after(&self.runtime, self.settings.timeout);
        let mut work = pin!(self.reach(goal));
        let mut over = pin!(race(limit, self.abandoned.wait()));
        let mut ended = None;
        poll_fn(|cx| {
            if let Poll::Ready(result) = work.as_mut().poll(cx) {
                return Poll::Ready(result);
            }
            let (is_timeout, grace) = match &mut ended {
                Some(ended) => ended,
                None => match over.as_mut().poll(cx) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(first) => {
                        let is_timeout = matches!(first, Either::Left(()));
                        ended.insert((is_timeout, Sleep::after(&self.runtime, GRACE)))
                    }
                },
            };
            let is_committed = self.is_committed.load(Ordering::Relaxed);
            if is_committed && grace.poll_done(cx).is_pending() {
                return Poll::Pending;
            }
            Poll::Ready(Err(match is_timeout {
                true => AuthorizationError::Timeout,
                false => AuthorizationError::Interrupted,
            }))
        })
        .await
    }

    /// Sets whether dropping the authorization would lose a response that the authorization server
    /// gives once.
    pub(super) fn set_committed(&self, is_committed: bool) {
        self.is_committed.store(is_committed, Ordering::Relaxed);
    }

    /// Notes that the user is asked for a consent.
    pub(super) fn begin_consent(&self, reason: Reason) -> Result<(), AuthorizationError> {
        match self.state.lock().consents.begin(reason, unix_now()) {
            true => Ok(()),
            false => Err(AuthorizationError::TooManyConsents),
        }
    }

    pub(super) fn store(&self) -> &dyn DynCredentialStore {
        &*self.settings.store
    }

    pub(super) fn proof_key(&self) -> Option<ProofKey<'_>> {
        let public = self.settings.config.dpop.as_ref()?;
        let private = self.settings.dpop_key.as_ref()?;
        Some(ProofKey { public, private })
    }

    pub(super) fn held(&self) -> Option<Arc<Held>> {
        self.state.lock().held.clone()
    }

    /// The credentials that could not be saved, and the access token of the record that they take the place of.
    pub(super) fn unsaved(&self) -> Option<(Arc<Held>, Option<Secret>)> {
        let state = self.state.lock();
        let held = state.held.as_ref().filter(|held| !held.is_saved)?;
        Some((Arc::clone(held), state.replaced.clone()))
    }

    pub(super) fn set_replaced(&self, replaced: Option<Secret>) {
        self.state.lock().replaced = replaced;
    }

    /// The newest record, for its registration.
    pub(super) fn record(&self) -> Option<Credentials> {
        self.state.lock().record.clone()
    }

    /// A challenge that says where the metadata is, and nothing else.
    pub(super) fn challenge(&self) -> Option<Challenge> {
        self.state.lock().complete(None)
    }

    /// The nonces of authorization servers, for the next flow.
    pub(super) fn issuer_nonces(&self) -> DpopNonces {
        self.state.lock().issuer_nonces.clone()
    }

    pub(super) fn set_issuer_nonces(&self, nonces: DpopNonces) {
        self.state.lock().issuer_nonces = nonces;
    }

    /// The store was read; it may have had nothing.
    pub(super) fn loaded(&self, record: Option<Credentials>) {
        let mut state = self.state.lock();
        state.is_loaded = true;
        state.record = record;
    }

    /// Uses these credentials from now on. `is_new`: they may be another user's.
    pub(super) fn adopt(&self, credentials: Credentials, is_saved: bool, is_new: bool) {
        {
            let mut state = self.state.lock();
            state.is_loaded = true;
            state.record = Some(credentials.clone());
            state.held = Some(Arc::new(Held::new(credentials, is_saved)));
            state.version += 1;
        }
        if is_new {
            // CH-05: results that are kept may be another principal's.
            self.client_state.forget();
        }
        // Streams that the server refused are asked for again.
        if let Some(replaced) = self.client_state.transport_data.get::<Replaced>() {
            replaced.renew(None);
        }
    }

    /// The credentials are of no use any more.
    pub(super) fn discard(&self) {
        let mut state = self.state.lock();
        state.held = None;
        state.version += 1;
    }
}

impl State {
    /// Adds the place of the metadata to a challenge that does not say it, from one before. Nothing
    /// else of that one is used: its scopes were for another request (AU-59).
    fn complete(&mut self, challenge: Option<Challenge>) -> Option<Challenge> {
        let named = challenge.as_ref().and_then(|it| it.parameter(METADATA));
        if let Some(url) = named {
            self.metadata_url = Some(url.to_owned());
            return challenge;
        }
        let Some(url) = &self.metadata_url else {
            return challenge;
        };
        let quoted = |text: &str| text.replace('\\', "\\\\").replace('"', "\\\"");
        let scheme = challenge.as_ref().map_or("Bearer", Challenge::scheme);
        let mut text = format!("{scheme} {METADATA}=\"{}\"", quoted(url));
        for (name, value) in challenge.iter().flat_map(Challenge::parameters) {
            text.push_str(&format!(", {name}=\"{}\"", quoted(value)));
        }
        let completed = Challenge::parse_all([text.as_bytes()]).into_iter().next();
        completed.or(challenge)
    }
}

/// The parameter with the place of the metadata.
const METADATA: &str = "resource_metadata";

/// The time that a response with tokens still has after the time limit is over, or the client is
/// dropped.
const GRACE: Duration = Duration::from_secs(30);

/// The end of an authorization, also if its task panics or is dropped.
struct Finishing {
    shared: Arc<Shared>,
    authorization: Arc<RunningAuthorization>,
}

impl Finishing {
    fn finish(&self, result: Outcome) {
        let mut state = self.shared.state.lock();
        let running = &mut state.running;
        let _ended = running.take_if(|it| Arc::ptr_eq(&it.authorization, &self.authorization));
        drop(state);
        self.authorization.finish(result);
    }
}

impl Drop for Finishing {
    fn drop(&mut self) {
        self.finish(Err(Arc::new(AuthorizationError::Interrupted)));
    }
}

/// The field `DPoP-Nonce`.
pub(in crate::http::client) fn dpop_nonce(fields: &HeaderMap) -> Option<&str> {
    fields.get("dpop-nonce").map(HeaderValue::to_str)?.ok()
}
