//! Reaches the goal of one authorization: the store, the lock between processes, and the flows.

use std::sync::Arc;

use mcp_proto::auth::{
    AuthConfig, AuthError, Challenge, Credentials, Flow, Grant, Input, Output, Secret,
    SigningKey as KeyUse, WorkloadGrant,
};

use super::authorizer::{Goal, Shared};
use super::runtime::unix_now;
use crate::crypto::{random, sha256};
use crate::error::AuthorizationError;

impl Shared {
    pub(super) async fn reach(&self, goal: Goal) -> Result<(), AuthorizationError> {
        match goal {
            Goal::Load => {
                let stored = self.load().await?;
                match stored {
                    Some(stored) if self.is_usable(&stored) => self.adopt(stored, true, false),
                    stored => self.loaded(stored),
                }
                Ok(())
            }
            Goal::Save => match self.held() {
                Some(held) => self.keep(held.credentials.clone(), false).await,
                None => Ok(()),
            },
            Goal::Refresh => self.replace(None, true).await,
            Goal::Authorize(challenge) => self.replace(challenge, false).await,
        }
    }

    /// Replaces the credentials while no other process does.
    async fn replace(
        &self,
        challenge: Option<Challenge>,
        can_refresh: bool,
    ) -> Result<(), AuthorizationError> {
        let lock = self.store().lock(&self.server).await;
        let _lock = lock.map_err(store_error)?;
        let stored = self.load().await?;
        let held = self.held();
        if let Some(stored) = &stored {
            let token = |it: &Credentials| it.access_token.clone();
            let is_other = held
                .as_ref()
                .is_none_or(|held| token(&held.credentials) != token(stored));
            if is_other && self.is_usable(stored) {
                // Another process did it meanwhile.
                self.adopt(stored.clone(), true, true);
                return Ok(());
            }
        }
        let mut record = stored.or_else(|| self.record());
        if can_refresh && let Some(held) = held {
            match self.refresh(held.credentials.clone()).await {
                Ok(credentials) => return self.keep(credentials, false).await,
                Err(AuthorizationError::Flow(error)) if is_refused(&error) => {
                    let of = &held.credentials;
                    let removed = self.store().remove(&of.server, &of.issuer).await;
                    removed.map_err(store_error)?;
                    self.discard();
                    if error.oauth_error() == Some("invalid_client") {
                        record = None;
                    }
                }
                Err(error) => return Err(error),
            }
        }
        let challenge = challenge.or_else(|| self.challenge());
        let credentials = self.authorize(challenge, record).await?;
        self.keep(credentials, true).await
    }

    /// Saves credentials before they are used (AU-116). If that fails they are kept, and saved
    /// before the next request.
    async fn keep(&self, credentials: Credentials, is_new: bool) -> Result<(), AuthorizationError> {
        let saved = self.store().save(&credentials).await;
        self.adopt(credentials, saved.is_ok(), is_new);
        saved.map_err(store_error)
    }

    async fn load(&self) -> Result<Option<Credentials>, AuthorizationError> {
        let loaded = self.store().load(&self.server).await;
        loaded.map_err(store_error)
    }

    /// Whether the tokens of a record fit the settings.
    fn is_usable(&self, stored: &Credentials) -> bool {
        let config = &self.settings.config;
        let key = config.dpop.as_ref().map(|key| key.thumbprint_input());
        let is_bound = stored.dpop_key.is_some();
        let registered = config.pre_registered.as_ref();
        (!is_bound || stored.dpop_key.as_deref() == key)
            && (is_bound || !config.dpop_required)
            && registered.is_none_or(|client| client.client_id == stored.identity.client_id)
    }

    async fn refresh(&self, credentials: Credentials) -> Result<Credentials, AuthorizationError> {
        let mut config = self.settings.config.clone();
        // None is part of a refresh.
        config.redirect_uri = UNUSED_REDIRECT.into();
        self.drive(Flow::refresh(config, credentials)?).await
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
        self.drive(Flow::authorize(config, challenge, record)?)
            .await
    }

    async fn prepare_redirect(
        &self,
        config: &mut AuthConfig,
        registered: Option<&str>,
    ) -> Result<(), AuthorizationError> {
        config.redirect_uri = match &self.user_agent {
            Some(user_agent) if config.interactive => {
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

    async fn drive(&self, mut flow: Flow) -> Result<Credentials, AuthorizationError> {
        flow.set_nonces(self.issuer_nonces());
        let driven = self.answer(&mut flow).await;
        self.set_issuer_nonces(flow.nonces().clone());
        driven
    }

    /// Answers the outputs of a flow until it ends.
    async fn answer(&self, flow: &mut Flow) -> Result<Credentials, AuthorizationError> {
        let mut output = flow.start(unix_now())?;
        loop {
            output = match output {
                Output::Send(request) => {
                    let fetched = self.documents.fetch(&request, self.runtime).await;
                    let now = unix_now();
                    match fetched {
                        Ok(fetched) => {
                            fetched.with(|response| flow.advance(now, Input::Response(response)))?
                        }
                        Err(text) => flow.advance(now, Input::Failed(&text))?,
                    }
                }
                Output::Random => match random() {
                    Ok(bytes) => flow.advance(unix_now(), Input::Random(bytes))?,
                    Err(error) => flow.advance(unix_now(), Input::Failed(&error.to_string()))?,
                },
                Output::Hash(text) => {
                    let digest = sha256(text.expose().as_bytes());
                    flow.advance(unix_now(), Input::Digest(digest))?
                }
                Output::Sign(request) => {
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
                Output::Open(page) => {
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
                Output::Done(credentials) => return Ok(*credentials),
                // A client id is configured or there is none.
                _ => flow.advance(unix_now(), Input::Identity(None))?,
            };
        }
    }
}

/// Whether the authorization server answered and refused, so that another request may succeed.
fn is_refused(error: &AuthError) -> bool {
    error.oauth_error().is_some() || matches!(error.status(), Some(400..=499))
}

fn store_error(error: std::io::Error) -> AuthorizationError {
    AuthorizationError::Store(Arc::new(error))
}

const UNUSED_REDIRECT: &str = "http://127.0.0.1/callback";
