//! The way of a browser to the provider, after a decision of its user.

use alloc::boxed::Box;
use alloc::string::String;

use super::context::LoginContext;
use super::records::{AuthorizationRequest, Decision, PendingLogin, USER_TIME};
use super::response::RequestError;
use super::step::LoginAction;
use crate::grants::authorization_page;
use crate::{CodeVerifier, Secret, form};

/// A user who may log in at the provider as soon as the login is stored.
pub(super) struct Approval {
    /// Stores the login.
    pub(super) action: LoginAction,
    /// The page of the provider.
    pub(super) page: String,
}

impl Approval {
    /// Begins the login. Only from here on a `state` exists, and with it a way from the provider back to the client.
    pub(super) fn new(
        context: &LoginContext<'_>,
        request: Box<AuthorizationRequest>,
        decision: Decision,
    ) -> Result<Self, RequestError> {
        let provider = &context.server.settings.provider;
        let metadata = context.provider.ok_or(RequestError::UNAVAILABLE)?;
        let verifier = CodeVerifier::new(&context.random()?);
        let challenge = context.hash(verifier.secret().expose());
        let (state, nonce) = (context.random_text()?, context.random_text()?);
        let page = authorization_page(
            &context.server.callback_url(),
            metadata,
            &provider.client_id,
            provider.resource.as_deref(),
            &provider.scopes,
            &challenge,
            &Secret::from(state.as_str()),
        );
        let mut page = page.map_err(|_| RequestError::UNAVAILABLE)?.url;
        form::push(&mut page, "nonce", &nonce);
        for (name, value) in &provider.parameters {
            form::push(&mut page, name, value);
        }
        let key = PendingLogin::key(&context.hash(&state));
        let login = PendingLogin {
            request,
            decision,
            verifier: verifier.secret().expose().into(),
            nonce,
            expires: context.after(USER_TIME),
        };
        let record = context.seal(&key, &login)?;
        let keep = USER_TIME;
        let action = LoginAction::Create {
            key,
            record,
            keep,
            user: None,
        };
        Ok(Self { action, page })
    }
}
