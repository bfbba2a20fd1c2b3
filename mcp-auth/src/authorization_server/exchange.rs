//! One request to the authorization server, from its head to the response.

use mcp_proto::http::Head;

use super::authorize::Authorize;
use super::callback::Callback;
use super::client::register;
use super::consent::Consent;
use super::context::LoginContext;
use super::endpoint::LoginEndpoint;
use super::metadata::document;
use super::response::{LoginResponse, RequestError};
use super::step::{LoginInput, LoginMachine, LoginStep};
use super::token::{Revocation, TokenRequest};

/// A request to the authorization server. See [the module](super) for the loop that drives it.
pub struct LoginExchange(Stage);

enum Stage {
    Answered(Option<LoginResponse>),
    Authorize(Authorize),
    Consent(Consent),
    Callback(Callback),
    Token(TokenRequest),
    Revoke(Revocation),
}

impl LoginExchange {
    /// Reads a request to this endpoint: its head, its query, and its body, which may be empty. The metadata of the
    /// provider may be left out of the context for now.
    pub fn new(
        context: &LoginContext<'_>,
        endpoint: LoginEndpoint,
        head: &dyn Head,
        query: &str,
        body: &[u8],
    ) -> Self {
        let (method, _) = endpoint.route();
        let for_programs = endpoint.is_for_programs();
        let answered = |response: LoginResponse| Stage::Answered(Some(response));
        Self(match head.method() {
            "OPTIONS" if for_programs => answered(LoginResponse::preflight(method)),
            sent if sent != method => answered(LoginResponse::empty(405).with("allow", method)),
            _ => {
                let stage = Stage::new(context, endpoint, head, query, body);
                stage.unwrap_or_else(|error| {
                    answered(match for_programs {
                        true => error.into_response(),
                        false => error.into_page(),
                    })
                })
            }
        })
    }

    /// Returns true if the answer depends on the metadata of the provider: not for a request that is refused already,
    /// and not for a code, which this server has issued.
    pub const fn needs_provider(&self) -> bool {
        match &self.0 {
            Stage::Authorize(stage) => stage.looks_up_consent(),
            Stage::Consent(_) | Stage::Callback(_) => true,
            Stage::Token(stage) => matches!(stage, TokenRequest::Refresh { .. }),
            Stage::Answered(_) | Stage::Revoke(_) => false,
        }
    }
}

impl Stage {
    fn new(
        context: &LoginContext<'_>,
        endpoint: LoginEndpoint,
        head: &dyn Head,
        query: &str,
        body: &[u8],
    ) -> Result<Self, RequestError> {
        Ok(match endpoint {
            LoginEndpoint::Metadata => {
                let response = LoginResponse::json(200, document(context.server));
                Self::Answered(Some(response))
            }
            LoginEndpoint::Register => Self::Answered(Some(register(context, body)?)),
            LoginEndpoint::Authorize => Self::Authorize(Authorize::new(context, head, query)?),
            LoginEndpoint::Consent => Self::Consent(Consent::new(context, head, body)),
            LoginEndpoint::Callback => Self::Callback(Callback::new(head, query)?),
            LoginEndpoint::Token => Self::Token(TokenRequest::new(context, body)?),
            LoginEndpoint::Revoke => Self::Revoke(Revocation::new(context, body)?),
        })
    }
}

impl LoginMachine for LoginExchange {
    type Output = LoginResponse;

    fn advance(
        &mut self,
        context: &LoginContext<'_>,
        input: LoginInput<'_>,
    ) -> LoginStep<LoginResponse> {
        match &mut self.0 {
            Stage::Answered(response) => {
                let unavailable = || RequestError::UNAVAILABLE.into_page();
                LoginStep::Done(response.take().unwrap_or_else(unavailable))
            }
            Stage::Authorize(stage) => stage.advance(context, input),
            Stage::Consent(stage) => stage.advance(context, input),
            Stage::Callback(stage) => stage.advance(context, input),
            Stage::Token(stage) => stage.advance(context, input),
            Stage::Revoke(stage) => stage.advance(context, input),
        }
    }
}

impl core::fmt::Debug for LoginExchange {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("LoginExchange").finish_non_exhaustive()
    }
}
