//! Steps and inputs of a flow.

use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use super::{
    AuthorizationPage, Credentials, HttpRequest, HttpResponse, PreRegistered, Secret,
    SigningRequest,
};

/// The next action of the caller. Each step is answered with one [`Input`], apart from
/// [`Done`](Self::Done).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum FlowStep {
    /// Sends a request; the answer is [`Input::Response`] or [`Input::Failed`].
    Send(HttpRequest),
    /// Draws 32 random bytes from a cryptographic source; the answer is [`Input::Random`].
    Random,
    /// Hashes an ASCII text with SHA-256; the answer is [`Input::Digest`].
    Hash(Secret),
    /// Signs a text; the answer is [`Input::Signature`].
    Sign(SigningRequest),
    /// Opens a page for the user and waits for the redirect; the answer is [`Input::Redirect`].
    Open(AuthorizationPage),
    /// Asks the application or the user for a client id that is registered with this issuer; the
    /// answer is [`Input::Identity`]. The credentials keep it for the issuer and the redirect URI.
    AskIdentity {
        /// The issuer.
        issuer: String,
        /// The redirect URI that must be registered. Grants without a user need none.
        redirect_uri: String,
    },
    /// The flow is complete. The credentials must be stored before the access token is used: a
    /// refresh token that was replaced is of no use any more (AU-116).
    Done(Box<Credentials>),
}

/// The issuer of an authorization server, as the MCP server names it and as its metadata spells it: with
/// and without a `/` at the end, where no path follows the host. Both are one URL (RFC 3986, section
/// 6.2.3), so that the flow continues, with the spelling of the metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct IssuerSpelling {
    /// The spelling of the MCP server.
    pub named: String,
    /// The spelling of the metadata.
    pub published: String,
}

impl fmt::Display for IssuerSpelling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { named, published } = self;
        write!(
            f,
            "the server names the issuer {named:?}, and its metadata {published:?}: they should be identical"
        )
    }
}

/// The answer to an [`FlowStep`].
#[derive(Clone)]
#[non_exhaustive]
pub enum Input<'i> {
    /// A response.
    Response(HttpResponse<'i>),
    /// No response came: a text for the error, without secrets.
    Failed(&'i str),
    /// Random bytes.
    Random([u8; 32]),
    /// A SHA-256.
    Digest([u8; 32]),
    /// A signature.
    Signature(&'i [u8]),
    /// The URL to which the user was sent back, or its part from `?` on.
    Redirect(&'i str),
    /// A client id; `None` ends the flow.
    Identity(Option<PreRegistered>),
}

/// Shows the kind only.
impl fmt::Debug for Input<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Response(response) => return fmt::Debug::fmt(response, f),
            Self::Failed(_) => "Failed(..)",
            Self::Random(_) => "Random(..)",
            Self::Digest(_) => "Digest(..)",
            Self::Signature(_) => "Signature(..)",
            Self::Redirect(_) => "Redirect(..)",
            Self::Identity(_) => "Identity(..)",
        })
    }
}

/// A step of a part of a flow, or its result.
pub(crate) enum Progress<T> {
    Step(FlowStep),
    Done(T),
}
