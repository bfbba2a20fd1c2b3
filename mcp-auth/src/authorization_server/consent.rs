//! The decision of the user on the consent page, which leads to the provider.

use alloc::boxed::Box;
use alloc::string::String;

use mcp_proto::http::Head;

use super::approval::Approval;
use super::authorize::{CONSENT, answer_client};
use super::context::LoginContext;
use super::parameters::{Parameters, cookie, is_own_form};
use super::records::{AuthorizationRequest, Decision, USER_TIME};
use super::response::{LoginResponse, RequestError};
use super::step::{LoginAction, LoginInput, LoginMachine, LoginStep};
use crate::Secret;

/// A decision.
pub(super) struct Consent {
    body: Result<Parameters, RequestError>,
    is_own: bool,
    cookie: Option<String>,
    /// The page of the provider, while the login is stored.
    page: Option<String>,
}

impl Consent {
    pub(super) fn new(context: &LoginContext<'_>, head: &dyn Head, body: &[u8]) -> Self {
        Self {
            body: Parameters::parse(body),
            is_own: is_own_form(head, &context.server.origin),
            cookie: cookie(head),
            page: None,
        }
    }

    fn begin(&mut self, context: &LoginContext<'_>) -> Result<LoginAction, LoginResponse> {
        let foreign = || {
            let text = "This form is not one that this server has shown in this browser.";
            LoginResponse::refusal_page(403, text)
        };
        let parameters = self.body.as_ref().map_err(|error| error.into_page())?;
        let sealed = parameters.get("request").unwrap_or_default();
        let request: Option<Box<AuthorizationRequest>> = context.open_text(CONSENT, sealed);
        let request = request.filter(|_| self.is_own).ok_or_else(foreign)?;
        let browser = self.cookie.as_ref().map(|cookie| context.hash(cookie));
        if browser.is_none_or(|browser| !Secret::from(browser).matches(&request.browser)) {
            return Err(foreign());
        }
        if context.is_over(request.expires, USER_TIME) {
            let text = "This page has expired. Begin the login again.";
            return Err(LoginResponse::refusal_page(400, text));
        }
        let to_client = |error| {
            let state = request.state.as_deref();
            answer_client(context, &request.redirect_uri, state, Err(error))
        };
        if parameters.get("decision") != Some("allow") {
            let text = "the user has denied access";
            return Err(to_client(RequestError::new("access_denied", text)));
        }
        // The choice counts only if it was offered.
        let decision = match request.is_rememberable && parameters.get("remember").is_some() {
            true => Decision::AndRemember,
            false => Decision::Once,
        };
        let approval = Approval::new(context, request.clone(), decision);
        let Approval { action, page } = approval.map_err(to_client)?;
        self.page = Some(page);
        Ok(action)
    }
}

impl LoginMachine for Consent {
    type Output = LoginResponse;

    fn advance(
        &mut self,
        context: &LoginContext<'_>,
        input: LoginInput<'_>,
    ) -> LoginStep<LoginResponse> {
        match (input, self.page.take()) {
            (LoginInput::Start, _) => match self.begin(context) {
                Ok(action) => LoginStep::Do(action),
                Err(response) => LoginStep::Done(response),
            },
            (LoginInput::Written(true), Some(page)) => {
                LoginStep::Done(LoginResponse::redirect(page))
            }
            _ => LoginStep::Done(RequestError::UNAVAILABLE.into_page()),
        }
    }
}
