//! The token endpoint and the revocation endpoint.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::context::LoginContext;
use super::parameters::Parameters;
use super::records::{CODE_LIFETIME, LoginRecord, ticket};
use super::renewal::{Demand, LoginError, Renewal, save_login};
use super::response::{LoginResponse, RequestError};
use super::step::{LoginAction, LoginInput, LoginMachine, LoginStep};
use crate::jwt::JsonText;
use crate::{Secret, UnixTime};

/// A request for tokens.
pub(super) enum TokenRequest {
    Code(CodeGrant),
    Refresh { login: String, renewal: Renewal },
}

/// A request for tokens with a code.
pub(super) struct CodeGrant {
    login: String,
    parameters: Parameters,
    stage: CodeStage,
    tries: u32,
}

/// The answer that the exchange of a code awaits.
enum CodeStage {
    Load,
    /// The login is being written, as this record.
    Saved(Box<LoginRecord>, Vec<u8>),
    /// The store has failed: the record shows if the login was written.
    Unsure(Box<LoginRecord>, Vec<u8>),
    Revoked,
}

impl TokenRequest {
    pub(super) fn new(context: &LoginContext<'_>, body: &[u8]) -> Result<Self, RequestError> {
        let parameters = Parameters::parse(body)?;
        let get = |name| parameters.get(name);
        let missing = RequestError::invalid_request;
        if get("client_secret").is_some() || get("client_assertion").is_some() {
            let text = "Clients are public here, and have no secret.";
            return Err(RequestError::new("invalid_client", text));
        }
        let unnamed =
            missing("The parameter client_id is missing in the form: clients are public here.");
        let client = get("client_id").ok_or(unnamed)?;
        context.check_resource(get("resource"))?;
        match get("grant_type").ok_or(missing("The parameter grant_type is missing."))? {
            "authorization_code" => {
                let code = get("code").ok_or(missing("The parameter code is missing."))?;
                let unknown = RequestError::invalid_grant("The code is not known.");
                let opened: Option<(UnixTime, _)> = context.open_text(ticket::CODE, code);
                let (end, login) = opened.ok_or(unknown)?;
                if context.is_over(end, CODE_LIFETIME) {
                    return Err(RequestError::invalid_grant("The code has expired."));
                }
                Ok(Self::Code(CodeGrant {
                    login,
                    parameters,
                    stage: CodeStage::Load,
                    tries: TRIES,
                }))
            }
            "refresh_token" => {
                let token = get("refresh_token")
                    .ok_or(missing("The parameter refresh_token is missing."))?;
                let unknown = RequestError::invalid_grant("The refresh token is not known.");
                let opened: Option<(u64, String)> = context.open_text(ticket::REFRESH, token);
                let (generation, login) = opened.ok_or(unknown)?;
                let demand = Demand::Refresh {
                    client_id: client.to_owned(),
                    generation,
                };
                Ok(Self::Refresh {
                    renewal: Renewal::new(login.clone(), demand),
                    login,
                })
            }
            _ => Err(RequestError::new(
                "unsupported_grant_type",
                "The parameter grant_type must be authorization_code or refresh_token.",
            )),
        }
    }
}

/// The most times that a record is loaded to be changed: renewals that meet a revocation must not stop it.
const TRIES: u32 = 40;

impl CodeGrant {
    fn next(
        &mut self,
        context: &LoginContext<'_>,
        input: LoginInput<'_>,
    ) -> Result<LoginStep<LoginResponse>, RequestError> {
        let stage = core::mem::replace(&mut self.stage, CodeStage::Load);
        match (stage, input) {
            (CodeStage::Unsure(login, saved), LoginInput::Record(Some((_, record))))
                if record == saved =>
            {
                tokens(context, &self.login, &login).map(LoginStep::Done)
            }
            (CodeStage::Load | CodeStage::Unsure(..), LoginInput::Record(record)) => {
                self.redeem(context, record)
            }
            (CodeStage::Saved(login, _), LoginInput::Written(true)) => {
                tokens(context, &self.login, &login).map(LoginStep::Done)
            }
            (
                CodeStage::Saved(login, saved) | CodeStage::Unsure(login, saved),
                LoginInput::Failed(_),
            ) => {
                self.stage = CodeStage::Unsure(login, saved);
                Ok(LoginStep::Do(LoginAction::Wait))
            }
            (stage @ CodeStage::Unsure(..), LoginInput::Waited) => self.load(stage),
            (CodeStage::Revoked, LoginInput::Written(true)) => Err(USED),
            (_, LoginInput::Start | LoginInput::Written(false)) => self.load(CodeStage::Load),
            _ => Err(RequestError::UNAVAILABLE),
        }
    }

    fn load(&mut self, stage: CodeStage) -> Result<LoginStep<LoginResponse>, RequestError> {
        let tries = self.tries.checked_sub(1);
        self.tries = tries.ok_or(RequestError::UNAVAILABLE)?;
        self.stage = stage;
        let (key, to_change) = (LoginRecord::key(&self.login), true);
        Ok(LoginStep::Do(LoginAction::Load { key, to_change }))
    }

    /// Checks that the request belongs to the authorization, and notes that the code was used. One that was used
    /// before ends the login: either its client or a thief has it.
    fn redeem(
        &mut self,
        context: &LoginContext<'_>,
        record: Option<(u32, &[u8])>,
    ) -> Result<LoginStep<LoginResponse>, RequestError> {
        let key = LoginRecord::key(&self.login);
        let unknown = RequestError::invalid_grant("The code is not known.");
        let (version, record) = record.ok_or(unknown)?;
        let mut login: Box<LoginRecord> = context.open(&key, record).ok_or(unknown)?;
        let get = |name| self.parameters.get(name);
        if get("client_id") != Some(&login.client_id) {
            return Err(RequestError::invalid_grant(
                "The code is of another client.",
            ));
        }
        let Some(challenge) = login.challenge.take() else {
            self.stage = CodeStage::Revoked;
            return Ok(LoginStep::Do(LoginAction::Remove { key, version }));
        };
        // OAuth 2.1 leaves the parameter out, earlier clients send it.
        if get("redirect_uri").is_some_and(|uri| uri != login.redirect_uri) {
            let text = "The parameter redirect_uri is not that of the authorization request.";
            return Err(RequestError::invalid_grant(text));
        }
        let verifier = get("code_verifier").unwrap_or_default();
        let is_sound = (43..=128).contains(&verifier.len());
        if !is_sound || !Secret::from(challenge).matches(&context.hash(verifier)) {
            let text = "The parameter code_verifier does not belong to the challenge.";
            return Err(RequestError::invalid_grant(text));
        }
        login.issued = context.now;
        let action = save_login(context, &self.login, &login, version)?;
        if let LoginAction::Save { record, .. } = &action {
            self.stage = CodeStage::Saved(login, record.clone());
        }
        Ok(LoginStep::Do(action))
    }
}

const USED: RequestError =
    RequestError::invalid_grant("The code was used before, and what it granted has ended.");

impl LoginMachine for TokenRequest {
    type Output = LoginResponse;

    fn advance(
        &mut self,
        context: &LoginContext<'_>,
        input: LoginInput<'_>,
    ) -> LoginStep<LoginResponse> {
        match self {
            Self::Code(grant) => {
                let next = grant.next(context, input);
                next.unwrap_or_else(|error| LoginStep::Done(error.into_response()))
            }
            Self::Refresh { login, renewal } => {
                let renewed = renewal.advance(context, input);
                renewed.map(|renewed| {
                    let (error, cause) = match renewed {
                        Ok(record) => match tokens(context, login, &record) {
                            Ok(response) => return response,
                            Err(error) => (error, None),
                        },
                        Err(LoginError::Ended(cause)) => (ENDED, cause),
                        Err(LoginError::Unavailable(cause)) => (RequestError::UNAVAILABLE, cause),
                    };
                    let mut response = error.into_response();
                    response.cause = cause;
                    response
                })
            }
        }
    }
}

const ENDED: RequestError =
    RequestError::invalid_grant("The login has ended, or is not one of this client.");

/// Returns the token response (AU-75). A token is for all scopes of the login, whatever a refresh names. The tokens are of
/// this server: those of the provider never leave it.
fn tokens(
    context: &LoginContext<'_>,
    id: &str,
    login: &LoginRecord,
) -> Result<LoginResponse, RequestError> {
    let lifetime = context.server.settings.access_lifetime;
    let end = context.after(lifetime);
    let access_token = context.seal_text(ticket::ACCESS, &(end, id))?;
    let refresh_token = context.seal_text(ticket::REFRESH, &(login.generation, id))?;
    let mut body = JsonText::new()
        .text("access_token", &access_token)
        .text("token_type", "Bearer")
        .number("expires_in", lifetime)
        .text("refresh_token", &refresh_token);
    if !login.scopes.is_empty() {
        body = body.text("scope", &login.scopes.to_string());
    }
    Ok(LoginResponse::json(200, body.end()))
}

/// The end of a login by its client: whatever token is revoked, all of them end.
pub(super) struct Revocation {
    login: Option<String>,
    client_id: Option<String>,
    tries: u32,
}

impl Revocation {
    pub(super) fn new(context: &LoginContext<'_>, body: &[u8]) -> Result<Self, RequestError> {
        let parameters = Parameters::parse(body)?;
        let missing = RequestError::invalid_request("The parameter token is missing.");
        let token = parameters.get("token").ok_or(missing)?;
        let opened = [ticket::REFRESH, ticket::ACCESS]
            .into_iter()
            .find_map(|kind| context.open_text::<(u64, String)>(kind, token));
        Ok(Self {
            login: opened.map(|(_, login)| login),
            client_id: parameters.get("client_id").map(ToOwned::to_owned),
            tries: TRIES,
        })
    }
}

impl LoginMachine for Revocation {
    type Output = LoginResponse;

    fn advance(
        &mut self,
        context: &LoginContext<'_>,
        input: LoginInput<'_>,
    ) -> LoginStep<LoginResponse> {
        // A token that is not known is as good as revoked (RFC 7009, section 2.2).
        let done = LoginStep::Done(LoginResponse::json(200, JsonText::new().end()));
        let Some(login) = &self.login else {
            return done;
        };
        let key = LoginRecord::key(login);
        match input {
            LoginInput::Start | LoginInput::Written(false) if self.tries > 0 => {
                self.tries = self.tries.saturating_sub(1);
                let to_change = true;
                LoginStep::Do(LoginAction::Load { key, to_change })
            }
            LoginInput::Record(Some((version, record))) => {
                let Some(login) = context.open::<LoginRecord>(&key, record) else {
                    return done;
                };
                let client = self.client_id.as_ref();
                match client.is_none_or(|id| *id == login.client_id) {
                    true => LoginStep::Do(LoginAction::Remove { key, version }),
                    false => {
                        let text = "The token is of another client.";
                        let error = RequestError::new("invalid_client", text);
                        LoginStep::Done(error.into_response())
                    }
                }
            }
            LoginInput::Record(None) | LoginInput::Written(true) => done,
            _ => LoginStep::Done(RequestError::UNAVAILABLE.into_response()),
        }
    }
}
