//! One authorization, or one refresh, from its first input to credentials or an error.

use alloc::boxed::Box;
use alloc::string::String;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::config::server_uri;
use super::discovery::{Discovered, Discovery};
use super::error::{AuthError, Document, Problem, printable};
use super::flow_state::{Exchanged, State};
use super::grants::{self, EnterpriseGrant, Grant, Subject};
use super::login::{
    IdentityChoice, Login, check_workload, choose_identity, choose_scopes, given_identity,
};
use super::registration::{INVALID_METADATA, read_registration, registration_request};
use super::step::{FlowStep, Input, Progress};
use super::token::{ExpectedToken, TokenParameters, TokenResponse};
use super::token_call::{TokenCall, TokenStage};
use super::{
    AuthConfig, Challenge, ClientIdentity, ClientProof, CodeVerifier, Credentials, DpopNonces,
    EndpointAuth, ExpectedRedirect, HttpRequest, IdentitySource, IssuerSpelling, Scheme, Scopes,
    Secret, ServerMetadata, UnixTime,
};

/// A flow. See [the module](super) for the loop that drives it.
///
/// A flow belongs to one MCP server. It asks for one thing at a time, so that it needs no timer:
/// the caller bounds the time of each request and of the whole (AU-31).
#[derive(Debug)]
pub struct Flow {
    config: AuthConfig,
    challenge: Option<Challenge>,
    stored: Option<Credentials>,
    nonces: DpopNonces,
    issuer_spelling: Option<IssuerSpelling>,
    state: State,
}

impl Flow {
    /// Begins an authorization.
    ///
    /// `challenge` is that of the response which asked for it; without one the flow begins with the
    /// well-known places. `stored` are credentials of an earlier run for this server: a
    /// registration is used again if the issuer is the same.
    ///
    /// # Errors
    ///
    /// [`AuthError`] for a configuration that cannot be used.
    pub fn authorize(
        config: AuthConfig,
        challenge: Option<Challenge>,
        stored: Option<Credentials>,
    ) -> Result<Self, AuthError> {
        config.check()?;
        let server = config.record_name()?;
        Ok(Self {
            config,
            challenge,
            stored: stored.filter(|stored| stored.server == server),
            nonces: DpopNonces::new(),
            issuer_spelling: None,
            state: State::Authorize,
        })
    }

    /// Begins a refresh: one request, to the authorization server that issued the credentials.
    ///
    /// If it is refused with `invalid_grant`, the caller removes the credentials from its store and
    /// authorizes; with `invalid_client`, it authorizes without them, so that the client registers
    /// anew.
    ///
    /// # Errors
    ///
    /// [`AuthError`] for a configuration that cannot be used, and for credentials without a refresh
    /// token, of another issuer than the configured one, or bound to another key.
    pub fn refresh(config: AuthConfig, stored: Credentials) -> Result<Self, AuthError> {
        config.check()?;
        stored.check_refresh(&config)?;
        Ok(Self {
            config,
            challenge: None,
            stored: Some(stored),
            nonces: DpopNonces::new(),
            issuer_spelling: None,
            state: State::Refresh,
        })
    }

    /// Sets the nonces that authorization servers gave to earlier flows. Without them, each flow
    /// with a key may need one token request more (AU-98).
    pub fn set_nonces(&mut self, nonces: DpopNonces) {
        self.nonces = nonces;
    }

    /// The nonces of authorization servers for the next flow, also after an error.
    pub const fn nonces(&self) -> &DpopNonces {
        &self.nonces
    }

    /// Returns the two spellings of an issuer that was accepted although they differ, so that the caller can
    /// warn of them.
    pub const fn issuer_spelling(&self) -> Option<&IssuerSpelling> {
        self.issuer_spelling.as_ref()
    }

    /// Returns the first step.
    ///
    /// # Errors
    ///
    /// [`AuthError`] if the flow cannot begin, or has begun already.
    pub fn start(&mut self, now: UnixTime) -> Result<FlowStep, AuthError> {
        match core::mem::replace(&mut self.state, State::Ended) {
            State::Authorize => {
                if let Grant::WorkloadIdentity(grant) = &self.config.grant {
                    grant.check(now).map_err(configuration)?;
                }
                let mut discovery = Discovery::new(&self.config, self.challenge.as_ref())?;
                let progress = discovery.start(&self.config)?;
                self.discovered(now, Box::new(discovery), progress)
            }
            State::Refresh => self.start_refresh(),
            _ => Err(unexpected()),
        }
    }

    /// Takes the answer to the last step and returns the next one.
    ///
    /// # Errors
    ///
    /// [`AuthError`] ends the flow.
    pub fn advance(&mut self, now: UnixTime, input: Input<'_>) -> Result<FlowStep, AuthError> {
        let state = core::mem::replace(&mut self.state, State::Ended);
        if let (Input::Failed(text), Some(document)) = (&input, state.local_document()) {
            let problem = Problem::Unreachable(printable(text, 200));
            return Err(AuthError::new(document, "", problem));
        }
        match state {
            State::Discovery(mut discovery) => {
                let progress = discovery.advance(&self.config, input)?;
                self.discovered(now, discovery, progress)
            }
            State::AskIdentity(found) => {
                let Input::Identity(given) = input else {
                    return Err(unexpected());
                };
                let stored = self.stored.as_ref();
                let identity = given_identity(&mut self.config, given, stored, &found.metadata)?;
                self.identified(found, identity)
            }
            State::RedirectUri(found) => {
                let Input::Digest([a, b, c, d, ..]) = input else {
                    return Err(unexpected());
                };
                let path = alloc::format!("/{a:02x}{b:02x}{c:02x}{d:02x}");
                self.config.redirect_uri.push_str(&path);
                let (scopes, _) = self.scopes(&found);
                self.register(found, &scopes)
            }
            State::Registration(found, has_scopes) => self.registered(found, has_scopes, input),
            State::Verifier(login) => {
                let Input::Random(random) = input else {
                    return Err(unexpected());
                };
                let verifier = CodeVerifier::new(&random);
                let secret = verifier.secret().clone();
                self.state = State::Digest(login, verifier);
                Ok(FlowStep::Hash(secret))
            }
            State::Digest(login, verifier) => {
                let Input::Digest(digest) = input else {
                    return Err(unexpected());
                };
                let challenge = CodeVerifier::challenge(&digest);
                self.state = State::Draw(login, verifier, challenge);
                Ok(FlowStep::Random)
            }
            State::Draw(login, verifier, challenge) => {
                let Input::Random(random) = input else {
                    return Err(unexpected());
                };
                let state = Secret::from(URL_SAFE_NO_PAD.encode(random));
                self.open(login, verifier, &challenge, state)
            }
            State::Redirect(login, verifier, expected) => {
                let Input::Redirect(redirect) = input else {
                    return Err(unexpected());
                };
                let code = expected.read(redirect)?;
                let resource = login.resource.as_deref();
                let parameters =
                    grants::redeem_code(&self.config.redirect_uri, &code, &verifier, resource);
                self.request_token(login, parameters, false)
            }
            State::Exchange(login, mut call, kind) => {
                match call.advance(now, &mut self.nonces, input)? {
                    Progress::Step(step) => {
                        self.state = State::Exchange(login, call, kind);
                        Ok(step)
                    }
                    Progress::Done(token) => self.exchanged(login, kind, token),
                }
            }
            State::Token(login, mut call) => match call.advance(now, &mut self.nonces, input)? {
                Progress::Step(step) => {
                    self.state = State::Token(login, call);
                    Ok(step)
                }
                Progress::Done(token) => self.complete(now, *login, token),
            },
            State::Authorize | State::Refresh | State::Ended => Err(unexpected()),
        }
    }

    fn discovered(
        &mut self,
        now: UnixTime,
        discovery: Box<Discovery>,
        progress: Progress<Discovered>,
    ) -> Result<FlowStep, AuthError> {
        match progress {
            Progress::Step(step) => {
                self.state = State::Discovery(discovery);
                Ok(step)
            }
            Progress::Done(mut found) => {
                self.issuer_spelling = found.spelling.take();
                if matches!(self.config.grant, Grant::AuthorizationCode) {
                    if !self.config.interactive {
                        return Err(found.login_required(&self.scopes(&found).0));
                    }
                    found.metadata.check_pkce()?;
                    if !self.config.names_issuer(&found.metadata.issuer) {
                        found.metadata.check_code_origin()?;
                    }
                }
                if let Grant::WorkloadIdentity(grant) = &self.config.grant {
                    check_workload(&self.config, grant, &found.metadata)?;
                }
                found.check_key(&self.config)?;
                self.identify(now, Box::new(found))
            }
        }
    }

    /// Finds out who the client is to this issuer.
    fn identify(&mut self, now: UnixTime, found: Box<Discovered>) -> Result<FlowStep, AuthError> {
        let choice = choose_identity(&self.config, self.stored.as_ref(), now, &found.metadata)?;
        match choice {
            IdentityChoice::Known(identity) => {
                if let Some(registered) = &identity.redirect_uri {
                    self.config.redirect_uri.clone_from(registered);
                }
                self.identified(found, *identity)
            }
            IdentityChoice::Register if self.config.redirect_per_issuer => {
                let issuer = Secret::from(found.metadata.issuer.clone());
                self.state = State::RedirectUri(found);
                Ok(FlowStep::Hash(issuer))
            }
            IdentityChoice::Register => {
                let (scopes, _) = self.scopes(&found);
                self.register(found, &scopes)
            }
            IdentityChoice::Ask => {
                let issuer = found.metadata.issuer.clone();
                let redirect_uri = self.config.redirect_uri.clone();
                self.state = State::AskIdentity(found);
                Ok(FlowStep::AskIdentity {
                    issuer,
                    redirect_uri,
                })
            }
        }
    }

    fn scopes(&self, found: &Discovered) -> (Scopes, Scopes) {
        let challenge = self.challenge.as_ref();
        choose_scopes(&self.config, challenge, self.stored.as_ref(), found)
    }

    fn register(&mut self, found: Box<Discovered>, scopes: &Scopes) -> Result<FlowStep, AuthError> {
        let request = registration_request(&self.config, &found.metadata, scopes)?;
        self.state = State::Registration(found, !scopes.is_empty());
        Ok(FlowStep::Send(request))
    }

    /// A server that refuses the optional scopes receives one more request, without them.
    fn registered(
        &mut self,
        found: Box<Discovered>,
        has_scopes: bool,
        input: Input<'_>,
    ) -> Result<FlowStep, AuthError> {
        let url = found.metadata.registration_endpoint()?;
        match input {
            Input::Response(response) => {
                match read_registration(url, &response, &self.config.redirect_uri) {
                    Ok(identity) => self.identified(found, identity),
                    Err(error) if has_scopes && error.oauth_error() == Some(INVALID_METADATA) => {
                        self.register(found, &Scopes::new())
                    }
                    Err(error) => Err(error),
                }
            }
            Input::Failed(text) => {
                let problem = Problem::Unreachable(printable(text, 200));
                Err(AuthError::new(Document::Registration, url, problem))
            }
            _ => Err(unexpected()),
        }
    }

    /// Begins the grant.
    fn identified(
        &mut self,
        found: Box<Discovered>,
        identity: ClientIdentity,
    ) -> Result<FlowStep, AuthError> {
        let (scopes, requested) = self.scopes(&found);
        let Discovered {
            resource, metadata, ..
        } = *found;
        let endpoint_auth = identity.endpoint_auth(&metadata, self.config.endpoint_auth)?;
        let dpop_required = resource
            .as_ref()
            .is_some_and(|document| document.dpop_required);
        let published = match resource {
            Some(resource) => resource.resource,
            None => server_uri(&self.config)?.canonical(),
        };
        let login = Box::new(Login {
            metadata,
            identity,
            endpoint_auth,
            resource: Some(published).filter(|_| !self.config.omit_resource),
            granted: requested.clone(),
            scopes,
            requested,
            refresh_token: None,
            dpop_required,
        });
        let resource = login.resource.as_deref();
        match &self.config.grant {
            Grant::AuthorizationCode => {
                // An endpoint that cannot be used is found before random bytes are drawn.
                login.metadata.authorization_endpoint()?;
                self.state = State::Verifier(login);
                Ok(FlowStep::Random)
            }
            Grant::ClientCredentials => {
                let parameters = grants::client_credentials(resource, &login.scopes);
                self.request_token(login, parameters, false)
            }
            Grant::WorkloadIdentity(grant) => {
                let parameters = grant.request(resource, &login.scopes);
                self.request_token(login, parameters, true)
            }
            Grant::Enterprise(grant) => {
                let checked = grant.check_profile(&login.metadata);
                checked.map_err(|problem| login.metadata.fail(problem))?;
                let grant = grant.clone();
                match grant.exchange_saml() {
                    Some(parameters) => {
                        self.exchange(login, &grant, parameters, Exchanged::RefreshToken)
                    }
                    None => self.exchange_subject(login, &grant, &grant.subject),
                }
            }
        }
    }

    fn open(
        &mut self,
        login: Box<Login>,
        verifier: CodeVerifier,
        challenge: &str,
        state: Secret,
    ) -> Result<FlowStep, AuthError> {
        let page = grants::authorization_page(
            &self.config.redirect_uri,
            &login.metadata,
            &login.identity.client_id,
            login.resource.as_deref(),
            &login.scopes,
            challenge,
            &state,
        )?;
        // AU-55: the issuer is kept with the verifier and the state before the user leaves.
        let expected = Box::new(ExpectedRedirect {
            redirect_uri: self.config.redirect_uri.clone(),
            state,
            issuer: login.metadata.issuer.clone(),
            requires_iss: login.metadata.iss_parameter || self.config.require_iss,
        });
        self.state = State::Redirect(login, verifier, expected);
        Ok(FlowStep::Open(page))
    }

    fn exchange_subject(
        &mut self,
        login: Box<Login>,
        grant: &EnterpriseGrant,
        subject: &Subject,
    ) -> Result<FlowStep, AuthError> {
        let canonical = server_uri(&self.config)?.canonical();
        let resource = login.resource.as_deref().unwrap_or(&canonical);
        let issuer = &login.metadata.issuer;
        let parameters = grant.exchange_subject(subject, issuer, resource, &login.scopes);
        self.exchange(login, grant, parameters, Exchanged::Assertion)
    }

    /// Sends a token exchange to the identity provider, without a proof: what it issues is not
    /// bound.
    fn exchange(
        &mut self,
        login: Box<Login>,
        grant: &EnterpriseGrant,
        parameters: TokenParameters,
        kind: Exchanged,
    ) -> Result<FlowStep, AuthError> {
        let endpoint_auth = grant.endpoint_auth.unwrap_or(match grant.client.proof {
            ClientProof::Public => EndpointAuth::None,
            ClientProof::Secret(_) => EndpointAuth::Basic,
            ClientProof::PrivateKey { .. } => EndpointAuth::PrivateKeyJwt,
        });
        let issuer = grant.client.issuer.as_ref();
        let mut call = Box::new(TokenCall {
            document: Document::IdentityAssertion,
            endpoint: grant.token_endpoint.clone(),
            issuer: issuer.unwrap_or(&grant.token_endpoint).clone(),
            parameters,
            client: Some((ClientIdentity::pre_registered(&grant.client), endpoint_auth)),
            dpop: None,
            expected: ExpectedToken::Exchanged(match kind {
                Exchanged::RefreshToken => grants::REFRESH_TOKEN,
                Exchanged::Assertion => grants::ID_JAG,
            }),
            stage: TokenStage::Begin { retried: false },
        });
        let step = call.start();
        self.state = State::Exchange(login, call, kind);
        Ok(step)
    }

    fn exchanged(
        &mut self,
        login: Box<Login>,
        kind: Exchanged,
        token: TokenResponse,
    ) -> Result<FlowStep, AuthError> {
        match (kind, &self.config.grant) {
            (Exchanged::RefreshToken, Grant::Enterprise(grant)) => {
                let grant = grant.clone();
                let subject = Subject::RefreshToken(token.access_token);
                self.exchange_subject(login, &grant, &subject)
            }
            _ => {
                let parameters = EnterpriseGrant::redeem(&token.access_token);
                self.request_token(login, parameters, true)
            }
        }
    }

    /// Sends a token request. `once`: an assertion is never sent twice (AU-86, AU-93).
    fn request_token(
        &mut self,
        login: Box<Login>,
        parameters: TokenParameters,
        once: bool,
    ) -> Result<FlowStep, AuthError> {
        let endpoint = String::from(login.metadata.token_endpoint()?);
        self.call(login, endpoint, parameters, once)
    }

    fn call(
        &mut self,
        login: Box<Login>,
        endpoint: String,
        parameters: TokenParameters,
        once: bool,
    ) -> Result<FlowStep, AuthError> {
        let client = (login.identity.clone(), login.endpoint_auth);
        let mut call = Box::new(TokenCall {
            document: Document::TokenResponse,
            endpoint,
            issuer: login.metadata.issuer.clone(),
            parameters,
            client: Some(client).filter(|(identity, _)| !identity.client_id.is_empty()),
            dpop: self.config.dpop.clone(),
            expected: ExpectedToken::Access {
                dpop: self.config.dpop.is_some(),
                dpop_required: self.config.dpop_required || login.dpop_required,
            },
            stage: TokenStage::Begin { retried: once },
        });
        let step = call.start();
        self.state = State::Token(login, call);
        Ok(step)
    }

    fn start_refresh(&mut self) -> Result<FlowStep, AuthError> {
        let Some(stored) = self.stored.take() else {
            return Err(unexpected());
        };
        let token = stored.refresh_token.unwrap_or_default();
        let resource = stored.resource.filter(|_| !self.config.omit_resource);
        let parameters = grants::refresh(&token, resource.as_deref(), &stored.granted);
        // Only its token endpoint is known of the issuer, and only that is needed.
        let mut metadata = ServerMetadata::default_endpoints(&server_uri(&self.config)?);
        metadata.issuer = stored.issuer;
        metadata.token_endpoint = Some(stored.token_endpoint);
        let mut identity = stored.identity;
        if let Some(client) = &self.config.pre_registered
            && identity.source == IdentitySource::PreRegistered
            && client.client_id == identity.client_id
        {
            // The application may have replaced the secret. The id of a dynamic registration was
            // chosen by the server, so that it says nothing about the configured client.
            identity.proof = client.proof.clone();
        }
        let login = Box::new(Login {
            metadata,
            identity,
            endpoint_auth: self.config.endpoint_auth.unwrap_or(stored.endpoint_auth),
            resource,
            scopes: stored.requested.clone(),
            requested: stored.requested,
            granted: stored.granted,
            refresh_token: Some(token),
            dpop_required: stored.scheme == Scheme::Dpop,
        });
        self.request_token(login, parameters, false)
    }

    fn complete(
        &mut self,
        now: UnixTime,
        login: Login,
        token: TokenResponse,
    ) -> Result<FlowStep, AuthError> {
        let key = self.config.dpop.as_ref();
        let key = key.filter(|_| token.scheme == Scheme::Dpop);
        let credentials = Credentials {
            server: self.config.record_name()?,
            token_endpoint: login.metadata.token_endpoint()?.into(),
            issuer: login.metadata.issuer,
            resource: login.resource,
            identity: login.identity,
            endpoint_auth: login.endpoint_auth,
            requested: login.requested,
            granted: token.scopes.unwrap_or(login.granted),
            access_token: token.access_token,
            scheme: token.scheme,
            expires_at: token.expires_in.map(|seconds| now.saturating_add(seconds)),
            refresh_token: token.refresh_token.or(login.refresh_token),
            dpop_key: key.map(|key| key.thumbprint_input().into()),
        };
        // The endpoint and the resource are texts of other parties, too.
        if credentials.to_json().expose().len() > HttpRequest::MAX_BODY {
            let url = &credentials.token_endpoint;
            return Err(AuthError::new(
                Document::TokenResponse,
                url,
                Problem::TooLarge,
            ));
        }
        Ok(FlowStep::Done(Box::new(credentials)))
    }
}

fn unexpected() -> AuthError {
    configuration(Problem::UnexpectedInput)
}

fn configuration(problem: Problem) -> AuthError {
    AuthError::new(Document::Configuration, "", problem)
}
