//! Reaches the goal of one authorization: the store, the lock between processes, and the flows.

use std::io;
use std::sync::Arc;

use mcp_auth::{
    AuthConfig, AuthError, Challenge, Credentials, Flow, FlowStep, Grant, IdentitySource, Input,
    PreRegistered, Secret, SigningKey as KeyUse, UnixTime, WorkloadGrant,
};

use super::authorizer::{Goal, Shared};
use super::consents::Reason;
use super::running::Obtained;
use crate::crypto::{sha256, unix_now};
use crate::error::AuthorizationError;
use crate::observe;
use crate::random;

impl Shared {
    pub(super) async fn reach(&self, goal: Goal) -> Result<Obtained, AuthorizationError> {
        match goal {
            Goal::Load => {
                let stored = self.load().await?;
                match stored {
                    Some(stored) if self.is_usable(&stored) => self.adopt(stored, true, false),
                    stored => self.loaded(stored),
                }
                Ok(Obtained::ForGoal)
            }
            Goal::Save => self.save().await,
            Goal::Refresh => self.replace(None, true).await,
            Goal::Authorize(challenge) => self.replace(challenge, false).await,
        }
    }

    /// Saves the unsaved credentials, unless another process has written or removed the record since.
    async fn save(&self) -> Result<Obtained, AuthorizationError> {
        // They are lost with the client otherwise.
        self.set_committed(true);
        let lock = self.store().lock(&self.server).await;
        let _lock = lock.map_err(store_error)?;
        let Some((held, replaced)) = self.unsaved() else {
            return Ok(Obtained::ForGoal);
        };
        let stored = self.load().await?;
        let found = stored.as_ref().map(token);
        if found == replaced || found.as_ref() == Some(&held.credentials.access_token) {
            return self.keep(held.credentials.clone(), replaced, false).await;
        }
        match stored {
            Some(stored) if self.is_usable(&stored) => self.adopt(stored, true, true),
            stored => {
                self.discard();
                self.loaded(stored);
            }
        }
        Ok(Obtained::Otherwise)
    }

    /// Replaces the credentials while no other process does.
    async fn replace(
        &self,
        challenge: Option<Challenge>,
        can_refresh: bool,
    ) -> Result<Obtained, AuthorizationError> {
        let lock = self.store().lock(&self.server).await;
        let _lock = lock.map_err(store_error)?;
        let stored = self.load().await?;
        let held = self.held();
        if let Some(stored) = &stored {
            let is_other = held
                .as_ref()
                .is_none_or(|held| token(&held.credentials) != token(stored));
            if is_other && self.is_usable(stored) {
                // Another process did it meanwhile.
                self.adopt(stored.clone(), true, true);
                return Ok(Obtained::Otherwise);
            }
        }
        // A user who has logged out elsewhere stays logged out.
        let is_removed = stored.as_ref().is_none_or(has_no_tokens);
        let is_saved = held.as_ref().is_some_and(|held| held.is_saved);
        let held = held.filter(|_| !(is_saved && is_removed));
        if is_saved && is_removed {
            self.discard();
        }
        let mut replaced = stored.as_ref().map(token);
        let mut record = stored.or_else(|| self.record());
        if can_refresh && let Some(held) = held {
            match self.refresh(held.credentials.clone()).await {
                Ok(credentials) => return self.keep(credentials, replaced, false).await,
                Err(AuthorizationError::Flow(error)) => {
                    record = self.forget(held.credentials.clone(), error).await?;
                    replaced = record.as_ref().map(token);
                    self.discard();
                }
                Err(error) => return Err(error),
            }
        }
        let challenge = challenge.or_else(|| self.challenge());
        match self.authorize(challenge, record.clone()).await {
            Ok(credentials) => self.keep(credentials, replaced, true).await,
            Err(AuthorizationError::Flow(error)) => {
                if let Some(record) = record
                    && error.url == record.token_endpoint
                    && is_refused_client(&error, &record)
                {
                    // The next attempt identifies the client anew.
                    self.remove(&record).await?;
                    self.loaded(None);
                }
                Err(error.into())
            }
            Err(error) => Err(error),
        }
    }

    async fn remove(&self, record: &Credentials) -> Result<(), AuthorizationError> {
        let removed = self.store().remove(&record.server, &record.issuer).await;
        removed.map_err(store_error)
    }

    /// Forgets what the authorization server refuses for good (AU-118): the tokens, or a client that
    /// it does not know. Returns what is left. Another error ends the attempt.
    async fn forget(
        &self,
        mut refused: Credentials,
        error: AuthError,
    ) -> Result<Option<Credentials>, AuthorizationError> {
        match error.oauth_error() {
            _ if is_refused_client(&error, &refused) => {
                self.remove(&refused).await?;
                Ok(None)
            }
            Some("invalid_grant") => {
                remove_tokens(&mut refused);
                let saved = self.store().save(&refused).await;
                saved.map_err(store_error)?;
                Ok(Some(refused))
            }
            _ => Err(error.into()),
        }
    }

    /// Saves credentials before they are used (AU-116), in the place of the record with the access token `replaced`. If that
    /// fails they are kept, and saved before the next request.
    async fn keep(
        &self,
        credentials: Credentials,
        replaced: Option<Secret>,
        is_new: bool,
    ) -> Result<Obtained, AuthorizationError> {
        self.set_committed(true);
        let saved = self.store().save(&credentials).await;
        self.set_committed(false);
        self.adopt(credentials, saved.is_ok(), is_new);
        if let Err(error) = saved {
            self.set_replaced(replaced);
            return Err(store_error(error));
        }
        Ok(Obtained::ForGoal)
    }

    async fn load(&self) -> Result<Option<Credentials>, AuthorizationError> {
        let loaded = self.store().load(&self.server).await;
        loaded.map_err(store_error)
    }

    /// Returns true if a record has tokens that fit the settings.
    fn is_usable(&self, stored: &Credentials) -> bool {
        let config = &self.settings.config;
        let key = config.dpop.as_ref().map(|key| key.thumbprint_input());
        let is_bound = stored.dpop_key.is_some();
        let registered = config.pre_registered.as_ref();
        (!is_bound || stored.dpop_key.as_deref() == key)
            && (is_bound || !config.dpop_required)
            && !has_no_tokens(stored)
            && registered.is_none_or(|client| {
                let issuer = client.issuer.as_deref();
                client.client_id == stored.identity.client_id
                    && issuer.is_none_or(|issuer| config.is_same_issuer(issuer, &stored.issuer))
            })
    }

    async fn refresh(&self, credentials: Credentials) -> Result<Credentials, AuthorizationError> {
        let mut config = self.settings.config.clone();
        // None is part of a refresh.
        config.redirect_uri = UNUSED_REDIRECT.into();
        let flow = Flow::refresh(config, credentials)?;
        self.drive(flow, Reason::of(None)).await
    }

    async fn authorize(
        &self,
        challenge: Option<Challenge>,
        record: Option<Credentials>,
    ) -> Result<Credentials, AuthorizationError> {
        let mut config = self.settings.config.clone();
        match &config.grant {
            Grant::AuthorizationCode => {
                let registered = record
                    .as_ref()
                    .and_then(|record| record.identity.redirect_uri.as_deref());
                self.prepare_redirect(&mut config, registered).await?;
            }
            Grant::WorkloadIdentity(_) => {
                if let Some(read) = &self.settings.assertion {
                    let assertion =
                        read().map_err(|error| AuthorizationError::Assertion(Arc::new(error)))?;
                    let assertion = Secret::from(assertion.trim());
                    config.grant = Grant::WorkloadIdentity(WorkloadGrant { assertion });
                }
            }
            _ => {}
        }
        let reason = Reason::of(challenge.as_ref());
        let flow = Flow::authorize(config, challenge, record)?;
        self.drive(flow, reason).await
    }

    async fn prepare_redirect(
        &self,
        config: &mut AuthConfig,
        registered: Option<&str>,
    ) -> Result<(), AuthorizationError> {
        config.redirect_uri = match &self.user_agent {
            Some(user_agent) if config.interactive => {
                config.redirect_per_issuer |= user_agent.receives_subpaths();
                let uri = user_agent.redirect_uri(registered).await;
                uri.map_err(|error| AuthorizationError::UserAgent(Arc::new(error)))?
            }
            _ => {
                config.interactive = false;
                UNUSED_REDIRECT.into()
            }
        };
        Ok(())
    }

    async fn drive(
        &self,
        mut flow: Flow,
        reason: Reason,
    ) -> Result<Credentials, AuthorizationError> {
        flow.set_nonces(self.issuer_nonces());
        let driven = self.answer(&mut flow, reason).await;
        if let Some(spelling) = flow.issuer_spelling() {
            observe::issuer_spelling(spelling);
        }
        if driven.is_err() {
            self.set_committed(false);
        }
        self.set_issuer_nonces(flow.nonces().clone());
        driven
    }

    /// Answers the steps of a flow until it ends.
    async fn answer(
        &self,
        flow: &mut Flow,
        reason: Reason,
    ) -> Result<Credentials, AuthorizationError> {
        // A client id and a consent of one flow are asked for together.
        let mut reason = Some(reason);
        let mut step = flow.start(unix_now())?;
        loop {
            step = match step {
                FlowStep::Send(request) => {
                    self.set_committed(request.method == "POST");
                    let fetched = self.documents.fetch(&request, &self.runtime).await;
                    let now = unix_now();
                    match fetched {
                        Ok(fetched) => {
                            fetched.with(|response| flow.advance(now, Input::Response(response)))?
                        }
                        Err(text) => flow.advance(now, Input::Failed(&text))?,
                    }
                }
                FlowStep::Random => match random::bytes() {
                    Ok(bytes) => flow.advance(unix_now(), Input::Random(bytes))?,
                    Err(error) => flow.advance(unix_now(), Input::Failed(&error.to_string()))?,
                },
                FlowStep::Hash(text) => {
                    let digest = sha256(text.expose().as_bytes());
                    flow.advance(unix_now(), Input::Digest(digest))?
                }
                FlowStep::Sign(request) => {
                    let key = match request.key {
                        KeyUse::Dpop => self.settings.dpop_key.as_ref(),
                        KeyUse::ClientAssertion => self.settings.client_key.as_ref(),
                    };
                    let signed = key.map(|key| key.sign(request.input.as_bytes()));
                    match signed {
                        Some(Ok(bytes)) => flow.advance(unix_now(), Input::Signature(&bytes))?,
                        Some(Err(error)) => {
                            flow.advance(unix_now(), Input::Failed(&error.to_string()))?
                        }
                        None => flow.advance(unix_now(), Input::Failed("no key is configured"))?,
                    }
                }
                FlowStep::Open(page) => {
                    self.set_committed(false);
                    if let Some(reason) = reason.take() {
                        self.begin_consent(reason)?;
                    }
                    let opened = match &self.user_agent {
                        Some(user_agent) => user_agent.open(&page).await,
                        None => Err(std::io::ErrorKind::Unsupported.into()),
                    };
                    match opened {
                        Ok(redirect) => flow.advance(unix_now(), Input::Redirect(&redirect))?,
                        Err(error) => {
                            flow.advance(unix_now(), Input::Failed(&error.to_string()))?
                        }
                    }
                }
                FlowStep::AskIdentity {
                    issuer,
                    redirect_uri,
                } => {
                    let asked = self.ask_client(&issuer, &redirect_uri, reason.take()).await;
                    match asked {
                        Ok(client) => flow.advance(unix_now(), Input::Identity(client))?,
                        Err(error) => {
                            flow.advance(unix_now(), Input::Failed(&error.to_string()))?
                        }
                    }
                }
                FlowStep::Done(credentials) => return Ok(*credentials),
                _ => flow.advance(unix_now(), Input::Failed("an unknown step of the flow"))?,
            };
        }
    }

    /// Asks the user for a registered client, unless there is no user or the user was asked too often
    /// (AU-60). The error about the missing client then says what to do.
    async fn ask_client(
        &self,
        issuer: &str,
        redirect_uri: &str,
        reason: Option<Reason>,
    ) -> io::Result<Option<PreRegistered>> {
        let has_user = matches!(self.settings.config.grant, Grant::AuthorizationCode);
        match (&self.user_agent, reason) {
            (Some(user_agent), Some(reason)) if has_user && self.begin_consent(reason).is_ok() => {
                user_agent.registered_client(issuer, redirect_uri).await
            }
            _ => Ok(None),
        }
    }
}

/// Returns true if the authorization server refuses a client that registered itself or that the
/// user entered, so that another can take its place (AU-118).
fn is_refused_client(error: &AuthError, record: &Credentials) -> bool {
    let is_refused = matches!(
        error.oauth_error(),
        Some("invalid_client" | "unauthorized_client")
    );
    let source = record.identity.source;
    is_refused && matches!(source, IdentitySource::Dynamic | IdentitySource::Given)
}

/// Leaves the registration of a record and its issuer.
fn remove_tokens(record: &mut Credentials) {
    // A record has an access token; this one has expired.
    record.access_token = Secret::from("none");
    record.expires_at = Some(UnixTime::from_secs(0));
    record.refresh_token = None;
}

fn token(record: &Credentials) -> Secret {
    record.access_token.clone()
}

fn has_no_tokens(record: &Credentials) -> bool {
    record.refresh_token.is_none() && record.expires_at == Some(UnixTime::from_secs(0))
}

fn store_error(error: std::io::Error) -> AuthorizationError {
    AuthorizationError::Store(Arc::new(error))
}

const UNUSED_REDIRECT: &str = "http://127.0.0.1/callback";
