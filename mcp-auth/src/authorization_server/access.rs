//! The check of access tokens, and the tokens of the provider for handlers.

use alloc::string::{String, ToString};

use mcp_proto::json::RawBuf;

use super::context::LoginContext;
use super::provider::ProviderToken;
use super::records::{LoginRecord, ticket};
use super::renewal::{Demand, LoginError, Renewal};
use super::step::{LoginAction, LoginInput, LoginMachine, LoginStep};
use crate::jwt::JsonText;
use crate::resource::TokenClaims;
use crate::{Secret, UnixTime};

/// The name of the claim with the id of the login, by which a handler gets the token of the provider.
pub const LOGIN_CLAIM: &str = "login";

/// The check of an access token of this server: its claims, or `None` if it is not valid, has expired, or if its
/// login has ended.
#[derive(Debug)]
pub struct AccessCheck {
    token: Secret,
    found: Option<(UnixTime, String)>,
}

impl AccessCheck {
    /// Checks this token.
    pub const fn new(token: Secret) -> Self {
        Self { token, found: None }
    }
}

impl LoginMachine for AccessCheck {
    type Output = Result<Option<TokenClaims>, LoginError>;

    fn advance(
        &mut self,
        context: &LoginContext<'_>,
        input: LoginInput<'_>,
    ) -> LoginStep<Self::Output> {
        match (input, self.found.take()) {
            (LoginInput::Start, _) => {
                let opened = context.open_text(ticket::ACCESS, self.token.expose());
                let opened: Option<(UnixTime, String)> = opened;
                let most = context.server.settings.access_lifetime;
                let Some((end, login)) = opened.filter(|(end, _)| !context.is_over(*end, most))
                else {
                    return LoginStep::Done(Ok(None));
                };
                let key = LoginRecord::key(&login);
                self.found = Some((end, login));
                LoginStep::Do(LoginAction::Load {
                    key,
                    to_change: false,
                })
            }
            (LoginInput::Record(record), Some((end, login))) => {
                let record = record.and_then(|(_, record)| {
                    context.open::<LoginRecord>(&LoginRecord::key(&login), record)
                });
                let claims = record.and_then(|record| claims(context, &record, &login, end));
                LoginStep::Done(Ok(claims))
            }
            (LoginInput::Failed(_), _) => LoginStep::Done(Err(LoginError::Unavailable(None))),
            _ => LoginStep::Done(Ok(None)),
        }
    }
}

fn claims(
    context: &LoginContext<'_>,
    record: &LoginRecord,
    login: &str,
    end: UnixTime,
) -> Option<TokenClaims> {
    let json = JsonText::new()
        .text("iss", context.server.issuer())
        .text("aud", &context.server.settings.resource)
        .text("sub", &record.subject)
        .text("client_id", &record.client_id)
        .text("scope", &record.scopes.to_string())
        .number("exp", end.as_secs())
        .optional_text("name", record.name.as_deref())
        .text(LOGIN_CLAIM, login)
        .end();
    TokenClaims::read(&RawBuf::parse(json.into_string()).ok()?).ok()
}

/// A request of a handler for the access token of the provider, which is renewed if it is about to expire.
pub struct ProviderTokenRequest(Renewal);

impl ProviderTokenRequest {
    /// Asks for the token of this login: the claim [`LOGIN_CLAIM`] of an access token.
    pub fn new(login: impl Into<String>) -> Self {
        Self(Renewal::new(login.into(), Demand::Token))
    }
}

impl core::fmt::Debug for ProviderTokenRequest {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("ProviderTokenRequest")
            .finish_non_exhaustive()
    }
}

impl LoginMachine for ProviderTokenRequest {
    type Output = Result<ProviderToken, LoginError>;

    fn advance(
        &mut self,
        context: &LoginContext<'_>,
        input: LoginInput<'_>,
    ) -> LoginStep<Self::Output> {
        let renewed = self.0.advance(context, input);
        renewed.map(|renewed| {
            let theirs = renewed?.provider;
            Ok(ProviderToken {
                access_token: Secret::from(theirs.access_token),
                scopes: theirs.scopes,
            })
        })
    }
}
