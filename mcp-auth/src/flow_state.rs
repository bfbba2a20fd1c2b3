//! The state of a flow: what was asked for last.

use alloc::boxed::Box;
use alloc::string::String;

use super::discovery::{Discovered, Discovery};
use super::error::Document;
use super::login::Login;
use super::token_call::TokenCall;
use super::{CodeVerifier, ExpectedRedirect};

#[derive(Debug)]
pub(crate) enum State {
    /// Nothing was asked for yet.
    Authorize,
    Refresh,
    Discovery(Box<Discovery>),
    /// The user or the application is asked for a client id.
    AskIdentity(Box<Discovered>),
    /// The issuer is hashed for a redirect URI of its own.
    RedirectUri(Box<Discovered>),
    /// A registration is requested; whether the request names scopes.
    Registration(Box<Discovered>, bool),
    /// The verifier of PKCE is drawn, then hashed; then `state` is drawn.
    Verifier(Box<Login>),
    Digest(Box<Login>, CodeVerifier),
    Draw(Box<Login>, CodeVerifier, String),
    Redirect(Box<Login>, CodeVerifier, Box<ExpectedRedirect>),
    /// A token exchange at an identity provider.
    Exchange(Box<Login>, Box<TokenCall>, Exchanged),
    Token(Box<Login>, Box<TokenCall>),
    Ended,
}

impl State {
    /// Returns the document of the error if the caller cannot answer, where no request is awaited.
    pub(crate) const fn local_document(&self) -> Option<Document> {
        match self {
            Self::Redirect(..) => Some(Document::AuthorizationResponse),
            Self::Verifier(_) | Self::Digest(..) | Self::Draw(..) | Self::AskIdentity(_) => {
                Some(Document::Configuration)
            }
            _ => None,
        }
    }
}

/// The token that is exchanged.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Exchanged {
    RefreshToken,
    Assertion,
}
