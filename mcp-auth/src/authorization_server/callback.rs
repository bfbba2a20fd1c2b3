//! The return of the user from the provider: the login becomes one of this server.

use alloc::boxed::Box;
use alloc::string::String;

use mcp_proto::http::Head;

use super::context::LoginContext;
use super::parameters::{Parameters, cookie};
use super::provider::UserSource;
use super::provider_call::{
    User, code_request, metadata, read_id_token, read_tokens, read_user, user_request,
};
use super::records::{
    AuthorizationRequest, CODE_LIFETIME, Decision, LoginRecord, PendingLogin, ProviderRecord,
    USER_TIME, ticket,
};
use super::remembered::{Forgetting, RememberedConsent};
use super::response::{LoginResponse, RequestError, answer_client};
use super::step::{LoginAction, LoginInput, LoginMachine, LoginStep};
use crate::error::{AuthError, Document, Problem, printable};
use crate::{ExpectedRedirect, Secret};

/// A callback.
pub(super) struct Callback {
    query: String,
    state: String,
    cookie: Option<String>,
    stage: Stage,
}

/// The answer that a callback awaits.
enum Stage {
    Begin,
    Login,
    Removed(PendingLogin),
    Tokens(PendingLogin),
    User(PendingLogin, ProviderRecord),
    Created(Complete),
    /// The consent before this one, which is replaced.
    Remembered(Complete, RememberedConsent),
    /// The consent of another user is being removed.
    Foreign(Box<AuthorizationRequest>, Forgetting),
    /// Nothing but the end of a write, after which this is answered.
    Written(LoginResponse),
    Ended,
}

/// A login that is stored.
struct Complete {
    request: Box<AuthorizationRequest>,
    code: String,
    /// The consent that the user wants to be remembered.
    consent: Option<RememberedConsent>,
}

/// The end of a callback before its time: for the browser, or for the client.
enum Stop {
    Page(LoginResponse),
    Client(
        Box<AuthorizationRequest>,
        RequestError,
        Option<Box<AuthError>>,
    ),
}

impl Callback {
    pub(super) fn new(head: &dyn Head, query: &str) -> Result<Self, RequestError> {
        let parameters = Parameters::parse(query.as_bytes())?;
        let state = parameters.get("state");
        let missing = RequestError::invalid_request("The provider has sent no state.");
        Ok(Self {
            query: alloc::format!("?{query}"),
            state: state.ok_or(missing)?.into(),
            cookie: cookie(head),
            stage: Stage::Begin,
        })
    }

    fn next(
        &mut self,
        context: &LoginContext<'_>,
        input: LoginInput<'_>,
    ) -> Result<LoginStep<LoginResponse>, Stop> {
        let unavailable = || Stop::Page(RequestError::UNAVAILABLE.into_page());
        let key = PendingLogin::key(&context.hash(&self.state));
        match (core::mem::replace(&mut self.stage, Stage::Ended), input) {
            (Stage::Begin, LoginInput::Start) => {
                self.stage = Stage::Login;
                let to_change = true;
                Ok(LoginStep::Do(LoginAction::Load { key, to_change }))
            }
            (Stage::Login, LoginInput::Record(record)) => {
                let (version, login) = self.take_login(context, &key, record)?;
                self.stage = Stage::Removed(login);
                Ok(LoginStep::Do(LoginAction::Remove { key, version }))
            }
            (Stage::Removed(login), LoginInput::Written(true)) => self.exchange(context, login),
            (Stage::Removed(_), LoginInput::Written(false)) => Err(Stop::Page(ended())),
            (Stage::Tokens(login), LoginInput::Response(response)) => {
                let secrets = [Secret::from(login.verifier.as_str())];
                let tokens = read_tokens(context, &response, None, &secrets);
                let tokens = match tokens {
                    Ok(tokens) => tokens,
                    Err(error) => return Err(refused(login.request, error)),
                };
                if context.server.settings.provider.user == UserSource::IdToken {
                    return match read_id_token(context, &response, &login.nonce) {
                        Ok(user) => self.create(context, login, tokens, user),
                        Err(error) => Err(refused(login.request, error)),
                    };
                }
                let request = user_request(context, &tokens.access_token);
                let request = request.ok_or_else(unavailable)?;
                self.stage = Stage::User(login, tokens);
                Ok(LoginStep::Do(LoginAction::Send(request)))
            }
            (Stage::User(login, tokens), LoginInput::Response(response)) => {
                match read_user(context, &response) {
                    Ok(user) => self.create(context, login, tokens, user),
                    Err(error) => Err(refused(login.request, error)),
                }
            }
            (Stage::Created(mut complete), LoginInput::Written(true)) => {
                Ok(match complete.consent.take() {
                    Some(consent) => {
                        let key = RememberedConsent::key(context, &complete.request);
                        self.stage = Stage::Remembered(complete, consent);
                        let to_change = true;
                        LoginStep::Do(LoginAction::Load { key, to_change })
                    }
                    None => LoginStep::Done(complete.answer(context)),
                })
            }
            (Stage::Remembered(complete, consent), input) => {
                self.remember(context, &complete, &consent, input)
            }
            (Stage::Foreign(request, forgetting), input) => {
                Ok(self.forget(context, request, forgetting, input))
            }
            // If the consent was not written, the next login asks.
            (Stage::Written(response), _) => Ok(LoginStep::Done(response)),
            (
                Stage::Tokens(PendingLogin { request, .. })
                | Stage::User(PendingLogin { request, .. }, _),
                LoginInput::Failed(text),
            ) => {
                let problem = Problem::Unreachable(printable(text, 200));
                let cause = AuthError::new(Document::TokenResponse, "", problem);
                Err(Stop::Client(
                    request,
                    RequestError::UNAVAILABLE,
                    Some(Box::new(cause)),
                ))
            }
            (
                Stage::Created(Complete { request, .. })
                | Stage::Removed(PendingLogin { request, .. }),
                _,
            ) => Err(Stop::Client(request, RequestError::UNAVAILABLE, None)),
            _ => Err(unavailable()),
        }
    }

    /// Checks that the browser is the one whose user has consented: an approval in another one leads nowhere.
    fn take_login(
        &self,
        context: &LoginContext<'_>,
        key: &str,
        record: Option<(u32, &[u8])>,
    ) -> Result<(u32, PendingLogin), Stop> {
        let (version, record) = record.ok_or_else(|| Stop::Page(ended()))?;
        let login: Option<PendingLogin> = context.open(key, record);
        let login = login.ok_or_else(|| Stop::Page(ended()))?;
        if !login.request.is_of(context, self.cookie.as_deref()) {
            let text = "The login was begun in another browser. Nothing was allowed.";
            return Err(Stop::Page(LoginResponse::refusal_page(403, text)));
        }
        match context.is_over(login.expires, USER_TIME) {
            true => Err(Stop::Page(ended())),
            false => Ok((version, login)),
        }
    }

    fn exchange(
        &mut self,
        context: &LoginContext<'_>,
        login: PendingLogin,
    ) -> Result<LoginStep<LoginResponse>, Stop> {
        let request = metadata(context).and_then(|metadata| {
            let expected = ExpectedRedirect {
                redirect_uri: context.server.callback_url(),
                state: Secret::from(self.state.as_str()),
                issuer: metadata.issuer.clone(),
                requires_iss: metadata.iss_parameter,
            };
            code_request(context, &login, &expected.read(&self.query)?)
        });
        match request {
            Ok(request) => {
                self.stage = Stage::Tokens(login);
                Ok(LoginStep::Do(LoginAction::Send(request)))
            }
            Err(error) => Err(refused(login.request, error)),
        }
    }

    /// Stores the login, which the code names.
    fn create(
        &mut self,
        context: &LoginContext<'_>,
        PendingLogin {
            request, decision, ..
        }: PendingLogin,
        tokens: ProviderRecord,
        user: User,
    ) -> Result<LoginStep<LoginResponse>, Stop> {
        if let Decision::Before { subject } = &decision
            && *subject != user.subject
        {
            let forgetting = Forgetting::new(context, &request);
            return Ok(self.forget(context, request, forgetting, LoginInput::Start));
        }
        let consent = matches!(decision, Decision::AndRemember).then(|| RememberedConsent {
            subject: user.subject.clone(),
            scopes: request.scopes.clone(),
            given: context.now,
        });
        let expires = context.after(CODE_LIFETIME);
        let issuer = &context.server.settings.provider.issuer;
        let hashed = context.hash(&alloc::format!("{issuer} {}", user.subject));
        let login = LoginRecord {
            client_id: request.client_id.clone(),
            redirect_uri: request.redirect_uri.clone(),
            challenge: Some(request.challenge.clone()),
            scopes: request.scopes.clone(),
            subject: user.subject,
            name: user.name,
            generation: 0,
            issued: context.now,
            provider: tokens,
            lease: None,
        };
        let sealed = context.random_text().and_then(|id| {
            let key = LoginRecord::key(&id);
            let code = context.seal_text(ticket::CODE, &(expires, id))?;
            Ok((context.seal(&key, &login)?, key, code))
        });
        let (record, key, code) = match sealed {
            Ok(sealed) => sealed,
            Err(error) => return Err(Stop::Client(request, error, None)),
        };
        self.stage = Stage::Created(Complete {
            request,
            code,
            consent,
        });
        Ok(LoginStep::Do(LoginAction::Create {
            key,
            record,
            keep: CODE_LIFETIME,
            user: Some(hashed),
        }))
    }

    /// Stores the consent in the place of an earlier one. If that fails, the next login asks.
    fn remember(
        &mut self,
        context: &LoginContext<'_>,
        complete: &Complete,
        consent: &RememberedConsent,
        input: LoginInput<'_>,
    ) -> Result<LoginStep<LoginResponse>, Stop> {
        let response = complete.answer(context);
        let key = RememberedConsent::key(context, &complete.request);
        let LoginInput::Record(earlier) = input else {
            return Ok(LoginStep::Done(response));
        };
        let Ok(record) = context.seal(&key, consent) else {
            return Ok(LoginStep::Done(response));
        };
        let Some(keep) = context.server.settings.remember_consent else {
            return Ok(LoginStep::Done(response));
        };
        self.stage = Stage::Written(response);
        Ok(LoginStep::Do(match earlier {
            Some((version, _)) => LoginAction::Save {
                key,
                version,
                record,
                keep,
            },
            None => LoginAction::Create {
                key,
                record,
                keep,
                user: None,
            },
        }))
    }

    /// Forgets the consent of a user who is not the one that has logged in: the next login asks.
    fn forget(
        &mut self,
        context: &LoginContext<'_>,
        request: Box<AuthorizationRequest>,
        mut forgetting: Forgetting,
        input: LoginInput<'_>,
    ) -> LoginStep<LoginResponse> {
        if let Ok(Some(action)) = forgetting.advance(input) {
            self.stage = Stage::Foreign(request, forgetting);
            return LoginStep::Do(action);
        }
        let text = "Another user has logged in than the one who has allowed this. Begin again.";
        let (state, redirect) = (request.state.as_deref(), &request.redirect_uri);
        let error = RequestError::new("access_denied", text);
        LoginStep::Done(answer_client(
            &context.server.issuer,
            redirect,
            state,
            Err(error),
        ))
    }
}

impl Complete {
    fn answer(&self, context: &LoginContext<'_>) -> LoginResponse {
        let (state, redirect) = (self.request.state.as_deref(), &self.request.redirect_uri);
        answer_client(&context.server.issuer, redirect, state, Ok(&self.code))
    }
}

impl LoginMachine for Callback {
    type Output = LoginResponse;

    fn advance(
        &mut self,
        context: &LoginContext<'_>,
        input: LoginInput<'_>,
    ) -> LoginStep<LoginResponse> {
        self.next(context, input).unwrap_or_else(|stop| {
            LoginStep::Done(match stop {
                Stop::Page(page) => page,
                Stop::Client(request, error, cause) => {
                    let state = request.state.as_deref();
                    let redirect = &request.redirect_uri;
                    let mut response =
                        answer_client(&context.server.issuer, redirect, state, Err(error));
                    response.cause = cause;
                    response
                }
            })
        })
    }
}

fn ended() -> LoginResponse {
    let text = "This login has expired, or was completed already. Begin it again.";
    LoginResponse::refusal_page(400, text)
}

/// The user or the provider has refused, or the provider has answered something that cannot be used.
fn refused(request: Box<AuthorizationRequest>, cause: AuthError) -> Stop {
    let error = match cause.oauth_error() {
        Some("access_denied") if cause.document == Document::AuthorizationResponse => {
            RequestError::new("access_denied", "The user has not logged in.")
        }
        Some("temporarily_unavailable") => RequestError::UNAVAILABLE,
        _ => RequestError::new("server_error", "The login at the provider has failed."),
    };
    Stop::Client(request, error, Some(Box::new(cause)))
}
