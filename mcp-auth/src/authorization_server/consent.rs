//! The decision of the user on the consent page, which leads to the provider.

use alloc::boxed::Box;
use alloc::string::String;

use mcp_proto::http::Head;

use super::approval::Approval;
use super::context::LoginContext;
use super::parameters::{Parameters, cookie, is_own_form};
use super::records::{AuthorizationRequest, Decision, USER_TIME};
use super::remembered::Forgetting;
use super::response::{LoginResponse, RequestError, answer_client};
use super::step::{LoginInput, LoginMachine, LoginStep};

/// A decision.
pub(super) struct Consent {
    body: Result<Parameters, RequestError>,
    is_own: bool,
    cookie: Option<String>,
    stage: Stage,
}

/// The answer that a decision awaits.
enum Stage {
    Begin,
    /// An earlier consent, which this decision ends, is being removed.
    Forgetting(Forgetting, Box<AuthorizationRequest>, Option<Decision>),
    /// The page of the provider, while the login is stored.
    Stored(String),
    Ended,
}

impl Consent {
    pub(super) fn new(context: &LoginContext<'_>, head: &dyn Head, body: &[u8]) -> Self {
        Self {
            body: Parameters::parse(body),
            is_own: is_own_form(head, &context.server.origin),
            cookie: cookie(head),
            stage: Stage::Begin,
        }
    }

    /// Reads the form: the request, and the decision, which is `None` if the user denies it.
    fn read(
        &self,
        context: &LoginContext<'_>,
    ) -> Result<(Box<AuthorizationRequest>, Option<Decision>), LoginResponse> {
        let foreign = || {
            let text = "This form is not one that this server has shown in this browser.";
            LoginResponse::refusal_page(403, text)
        };
        let parameters = self.body.as_ref().map_err(|error| error.into_page())?;
        let sealed = parameters.get("request").unwrap_or_default();
        let request: Option<Box<AuthorizationRequest>> =
            context.open_text(AuthorizationRequest::SEALED, sealed);
        let cookie = self.cookie.as_deref();
        let request = request.filter(|request| self.is_own && request.is_of(context, cookie));
        let request = request.ok_or_else(foreign)?;
        if context.is_over(request.expires, USER_TIME) {
            let text = "This page has expired. Begin the login again.";
            return Err(LoginResponse::refusal_page(400, text));
        }
        let is_allowed = parameters.get("decision") == Some("allow");
        // The choice counts only if it was offered.
        let is_remembered = request.is_rememberable && parameters.get("remember").is_some();
        let decision = is_allowed.then_some(match is_remembered {
            true => Decision::AndRemember,
            false => Decision::Once,
        });
        Ok((request, decision))
    }

    /// Removes an earlier consent, unless the new one is going to take its place.
    fn begin(
        &mut self,
        context: &LoginContext<'_>,
    ) -> Result<LoginStep<LoginResponse>, LoginResponse> {
        let (request, decision) = self.read(context)?;
        let is_replaced = matches!(decision, Some(Decision::AndRemember));
        match context.server.settings.remember_consent {
            Some(_) if !is_replaced => {
                let forgetting = Forgetting::new(context, &request);
                self.forget(context, forgetting, request, decision, LoginInput::Start)
            }
            _ => self.decide(context, request, decision),
        }
    }

    /// A decision that a store does not take is not answered as if it were taken: the user sends the form again.
    fn forget(
        &mut self,
        context: &LoginContext<'_>,
        mut forgetting: Forgetting,
        request: Box<AuthorizationRequest>,
        decision: Option<Decision>,
        input: LoginInput<'_>,
    ) -> Result<LoginStep<LoginResponse>, LoginResponse> {
        let next = forgetting.advance(input);
        match next.map_err(RequestError::into_page)? {
            Some(action) => {
                self.stage = Stage::Forgetting(forgetting, request, decision);
                Ok(LoginStep::Do(action))
            }
            None => self.decide(context, request, decision),
        }
    }

    fn decide(
        &mut self,
        context: &LoginContext<'_>,
        request: Box<AuthorizationRequest>,
        decision: Option<Decision>,
    ) -> Result<LoginStep<LoginResponse>, LoginResponse> {
        let (state, redirect) = (request.state.clone(), request.redirect_uri.clone());
        let denied = RequestError::new("access_denied", "The user has denied access.");
        let approval = decision.ok_or(denied);
        let approval = approval.and_then(|decision| Approval::new(context, request, decision));
        let Approval { action, page } = approval.map_err(|error| {
            answer_client(
                &context.server.issuer,
                &redirect,
                state.as_deref(),
                Err(error),
            )
        })?;
        self.stage = Stage::Stored(page);
        Ok(LoginStep::Do(action))
    }
}

impl LoginMachine for Consent {
    type Output = LoginResponse;

    fn advance(
        &mut self,
        context: &LoginContext<'_>,
        input: LoginInput<'_>,
    ) -> LoginStep<LoginResponse> {
        let next = match (core::mem::replace(&mut self.stage, Stage::Ended), input) {
            (Stage::Begin, LoginInput::Start) => self.begin(context),
            (Stage::Forgetting(forgetting, request, decision), input) => {
                self.forget(context, forgetting, request, decision, input)
            }
            (Stage::Stored(page), LoginInput::Written(true)) => Err(LoginResponse::redirect(page)),
            _ => Err(RequestError::UNAVAILABLE.into_page()),
        };
        next.unwrap_or_else(LoginStep::Done)
    }
}
