//! The authorization endpoint: checks the request, and answers with the consent page.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;

use mcp_proto::http::Head;

use super::approval::Approval;
use super::client::{KnownClient, is_loopback};
use super::consent_page::consent_page;
use super::context::LoginContext;
use super::parameters::{Parameters, cookie, is_encoded_hash, set_cookie};
use super::records::{AuthorizationRequest, Decision, USER_TIME};
use super::remembered::{RememberedConsent, is_opened_by_user};
use super::response::{LoginResponse, MAX_STATE, RequestError, answer_client, escape};
use super::step::{LoginAction, LoginInput, LoginMachine, LoginStep};
use crate::Scopes;
use crate::error::{AuthError, Document, Problem, printable};

/// An authorization request on its way to the consent page.
pub(super) struct Authorize {
    parameters: Parameters,
    client_id: String,
    /// The cookie of the browser, if it has one.
    cookie: Option<String>,
    /// True if an earlier consent may count, and this one for later requests. A client that names the resource cannot
    /// have been sent here by another server.
    is_rememberable: bool,
    stage: Stage,
}

/// The answer that an authorization request awaits.
enum Stage {
    Client,
    Consent(Box<AuthorizationRequest>),
    /// The page of the provider, while the login is stored.
    Stored(String),
}

impl Authorize {
    /// Reads the request.
    pub(super) fn new(
        context: &LoginContext<'_>,
        head: &dyn Head,
        query: &str,
    ) -> Result<Self, RequestError> {
        let parameters = Parameters::parse(query.as_bytes())?;
        let client_id = parameters.get("client_id").map(ToOwned::to_owned);
        let missing = RequestError::invalid_request("The parameter client_id is missing.");
        let is_rememberable = context.server.settings.remember_consent.is_some()
            && is_opened_by_user(head)
            && parameters.get("resource").is_some()
            && parameters.get("prompt").is_none();
        Ok(Self {
            client_id: client_id.ok_or(missing)?,
            parameters,
            cookie: cookie(head),
            is_rememberable,
            stage: Stage::Client,
        })
    }

    /// Answers a request of a known client. Errors go to the client, unless its redirect URI is in question.
    fn answer(
        &mut self,
        context: &LoginContext<'_>,
        client: &KnownClient,
    ) -> Result<LoginStep<LoginResponse>, RequestError> {
        let redirect = client.redirect_uri(self.parameters.get("redirect_uri"));
        let wrong = RequestError::invalid_request(
            "The redirect URI of the application is not one that it has registered.",
        );
        let redirect_uri = redirect.ok_or(wrong)?;
        if !context.server.allows_redirect(&redirect_uri) {
            let text = "Applications that receive the access at this host are not allowed here.";
            return Err(RequestError::invalid_request(text));
        }
        let state = self.parameters.get("state");
        match self.check(context, client, &redirect_uri) {
            Ok(request) if self.looks_up_consent() => {
                let key = RememberedConsent::key(context, &request);
                self.stage = Stage::Consent(Box::new(request));
                let to_change = false;
                Ok(LoginStep::Do(LoginAction::Load { key, to_change }))
            }
            Ok(request) => self.page(context, request).map(LoginStep::Done),
            Err(error) => {
                let response =
                    answer_client(&context.server.issuer, &redirect_uri, state, Err(error));
                let response = asked_first(&redirect_uri, error, response);
                Ok(LoginStep::Done(response))
            }
        }
    }

    /// Returns true if an earlier consent may spare the page.
    pub(super) const fn looks_up_consent(&self) -> bool {
        self.is_rememberable && self.cookie.is_some()
    }

    /// Answers with the page of the provider if the user has allowed this before, and with the consent page otherwise.
    fn remembered(
        &mut self,
        context: &LoginContext<'_>,
        request: Box<AuthorizationRequest>,
        record: Option<&[u8]>,
    ) -> Result<LoginStep<LoginResponse>, RequestError> {
        let subject = record.and_then(|it| RememberedConsent::open(context, &request, it));
        let Some(subject) = subject else {
            return self.page(context, *request).map(LoginStep::Done);
        };
        let approval = Approval::new(context, request, Decision::Before { subject })?;
        self.stage = Stage::Stored(approval.page);
        Ok(LoginStep::Do(approval.action))
    }

    fn check(
        &self,
        context: &LoginContext<'_>,
        client: &KnownClient,
        redirect_uri: &str,
    ) -> Result<AuthorizationRequest, RequestError> {
        let settings = &context.server.settings;
        let get = |name| self.parameters.get(name);
        if get("response_type") != Some("code") {
            let text = "The parameter response_type must be code.";
            return Err(RequestError::new("unsupported_response_type", text));
        }
        let challenge = get("code_challenge").filter(|text| is_encoded_hash(text));
        let (Some(challenge), Some("S256")) = (challenge, get("code_challenge_method")) else {
            return Err(RequestError::invalid_request("PKCE with S256 is required."));
        };
        context.check_resource(get("resource"))?;
        let state = get("state");
        if state.is_some_and(|state| state.len() > MAX_STATE) {
            return Err(RequestError::invalid_request(
                "The parameter state is too long.",
            ));
        }
        let (asked, all) = (
            Scopes::parse(get("scope").unwrap_or_default()),
            settings.all_scopes(),
        );
        let known: Scopes = asked.iter().filter(|scope| all.contains(scope)).collect();
        let scopes = match known.is_empty() {
            false => settings.required_scopes.union(&known),
            true if asked.is_empty() || all.is_empty() => all,
            true => {
                let text = "None of the scopes is known.";
                return Err(RequestError::new("invalid_scope", text));
            }
        };
        Ok(AuthorizationRequest {
            client_id: self.client_id.clone(),
            client_name: client.name.clone(),
            redirect_uri: redirect_uri.into(),
            state: state.map(ToOwned::to_owned),
            challenge: challenge.into(),
            scopes,
            browser: self
                .cookie
                .as_ref()
                .map(|it| context.hash(it))
                .unwrap_or_default(),
            is_rememberable: self.is_rememberable,
            expires: context.after(USER_TIME),
        })
    }

    /// Returns the page that asks the user, so that no other page can bring about an authorization (AU-15).
    fn page(
        &self,
        context: &LoginContext<'_>,
        mut request: AuthorizationRequest,
    ) -> Result<LoginResponse, RequestError> {
        let cookie = match &self.cookie {
            Some(cookie) => cookie.clone(),
            None => context.random_text()?,
        };
        request.browser = context.hash(&cookie);
        let sealed = context.seal_text(AuthorizationRequest::SEALED, &request)?;
        let page = consent_page(context, &request, &sealed);
        Ok(page.with("set-cookie", &set_cookie(context, &cookie)))
    }

    fn next(
        &mut self,
        context: &LoginContext<'_>,
        input: LoginInput<'_>,
    ) -> Result<LoginStep<LoginResponse>, RequestError> {
        match (core::mem::replace(&mut self.stage, Stage::Client), input) {
            (Stage::Consent(request), LoginInput::Record(record)) => {
                self.remembered(context, request, record.map(|(_, record)| record))
            }
            (Stage::Consent(request), _) => self.page(context, *request).map(LoginStep::Done),
            (Stage::Stored(page), LoginInput::Written(true)) => {
                let redirect = LoginResponse::redirect(page);
                Ok(LoginStep::Done(match &self.cookie {
                    // It lasts for as long as the consent, from now on.
                    Some(cookie) => redirect.with("set-cookie", &set_cookie(context, cookie)),
                    None => redirect,
                }))
            }
            (Stage::Stored(_), _) => Err(RequestError::UNAVAILABLE),
            (Stage::Client, input) => match self.client(context, input)? {
                LoginStep::Done(Ok(client)) => self.answer(context, &client),
                LoginStep::Done(Err(refused)) => Ok(LoginStep::Done(refused)),
                LoginStep::Do(action) => Ok(LoginStep::Do(action)),
            },
        }
    }

    /// Returns the client, or the page that says why it is not known.
    fn client(
        &self,
        context: &LoginContext<'_>,
        input: LoginInput<'_>,
    ) -> Result<LoginStep<Result<KnownClient, LoginResponse>>, RequestError> {
        let url = &self.client_id;
        let client = match input {
            LoginInput::Start => match KnownClient::open(context, url) {
                Some(client) => Ok(client),
                None => {
                    return Ok(match KnownClient::document_request(context, url) {
                        Some(request) => LoginStep::Do(LoginAction::Send(request)),
                        None => {
                            let text = "The application is not known here, or its registration has expired. \
                                        Remove its stored login and begin again.";
                            LoginStep::Done(Err(LoginResponse::refusal_page(400, text)))
                        }
                    });
                }
            },
            LoginInput::Response(response) => KnownClient::read_document(context, url, &response),
            LoginInput::Failed(text) => {
                let problem = Problem::Unreachable(printable(text, 200));
                Err(AuthError::new(Document::ClientMetadata, url, problem))
            }
            _ => return Err(RequestError::UNAVAILABLE),
        };
        Ok(LoginStep::Done(client.map_err(|error| {
            let text = "The metadata document of the application could not be used.";
            LoginResponse::refusal_page(400, text).because(error)
        })))
    }
}

impl LoginMachine for Authorize {
    type Output = LoginResponse;

    fn advance(
        &mut self,
        context: &LoginContext<'_>,
        input: LoginInput<'_>,
    ) -> LoginStep<LoginResponse> {
        let next = self.next(context, input);
        next.unwrap_or_else(|error| LoginStep::Done(error.into_page()))
    }
}

/// A wrong request leads to another site only if the user follows a link: anyone can have registered that site
/// (RFC 9700, section 4.11.2).
fn asked_first(redirect_uri: &str, error: RequestError, response: LoginResponse) -> LoginResponse {
    match response.header("location") {
        Some(location) if !is_loopback(redirect_uri) => {
            let (text, location) = (error.description, escape(location));
            let content = format!("<p>{text}<p><a href=\"{location}\">{location}</a>");
            LoginResponse::page(400, "The request of the application is wrong", &content)
        }
        _ => response,
    }
}
