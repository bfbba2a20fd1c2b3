//! Errors of authorization: which document at which URL is wrong, what was expected, what to do.

use alloc::string::String;
use core::fmt;

use mcp_proto::json::{Fault, Kind};

use super::UriError;

/// The reason why authorization ended.
///
/// Neither `Display` nor `Debug` shows a secret. Text of another party is shortened and has its
/// control characters replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AuthError {
    /// The document or message that is wrong.
    pub document: Document,
    /// The URL that the document or message came from, or was to come from.
    pub url: String,
    /// The fault.
    pub problem: Problem,
}

/// The documents and messages of authorization.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Document {
    /// The configuration of this client.
    Configuration,
    /// The credentials that were stored.
    Credentials,
    /// The response of the MCP server to a request.
    ServerResponse,
    /// The metadata of the MCP server (RFC 9728).
    ResourceMetadata,
    /// The metadata of the authorization server (RFC 8414, OpenID Connect Discovery).
    ServerMetadata,
    /// The response to a dynamic registration (RFC 7591).
    Registration,
    /// The redirect after the user's consent (RFC 6749, section 4.1.2).
    AuthorizationResponse,
    /// The response of the token endpoint (RFC 6749, section 5).
    TokenResponse,
    /// The response of an identity provider to a token exchange (RFC 8693).
    IdentityAssertion,
    /// The keys that an authorization server signs tokens with (RFC 7517).
    Keys,
    /// The metadata of a client: a registration (RFC 7591), or the document at its client id.
    ClientMetadata,
    /// The ID token of a provider (OpenID Connect Core).
    IdToken,
    /// The document of a provider about the owner of an access token.
    User,
}

/// The faults of a document or message.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// No response came: the text of the caller.
    Unreachable(String),
    /// A status other than success, without an error of OAuth.
    Status(u16),
    /// An error of OAuth (RFC 6749, sections 4.1.2.1 and 5.2).
    Refused {
        /// The status; `None` in a redirect.
        status: Option<u16>,
        /// `error`.
        error: String,
        /// `error_description`.
        description: Option<String>,
    },
    /// The body is longer than [`HttpRequest::MAX_BODY`](super::HttpRequest::MAX_BODY).
    TooLarge,
    /// The body is no JSON.
    NotJson(Fault),
    /// The body is JSON, but no object.
    NotObject(Kind),
    /// The document was found at none of its places.
    NotFound,
    /// A required member or parameter is missing.
    Missing(&'static str),
    /// A member or parameter comes twice.
    Duplicate(&'static str),
    /// A member has the wrong type.
    WrongType {
        /// Its name.
        member: &'static str,
        /// The type that the member must have.
        expected: &'static str,
        /// The type that the member has.
        found: Kind,
    },
    /// A list has more elements than are read.
    TooMany(&'static str),
    /// A member that is stored has more than [`Secret::MAX_BYTES`](super::Secret::MAX_BYTES).
    TooLong(&'static str),
    /// A member or parameter has characters that it cannot have.
    Malformed(&'static str),
    /// A member that must equal a known text is another.
    Mismatch {
        /// Its name.
        member: &'static str,
        /// The expected text.
        expected: String,
        /// The text that was found.
        found: String,
    },
    /// A URL that cannot be used at all.
    UnusableUrl {
        /// The member that has it.
        member: &'static str,
        /// The reason.
        reason: UriError,
    },
    /// A URL that secrets would travel to in clear text, or that has a fragment.
    UnsafeUrl(&'static str),
    /// A list lacks what is needed.
    Unsupported {
        /// The member that has the list.
        member: &'static str,
        /// The element that the list lacks.
        expected: &'static str,
    },
    /// `state` is not the one that was sent.
    WrongState,
    /// `token_type` is one that was not asked for.
    TokenType(String),
    /// No way to identify this client was left.
    NoIdentity,
    /// A user must log in, and this client asks no user.
    LoginRequired {
        /// The issuer at which the user must log in.
        issuer: String,
        /// The scopes to ask for, separated by spaces; empty if none are known.
        scopes: String,
    },
    /// Secrets belong to another authorization server.
    OtherIssuer {
        /// The one that they belong to.
        expected: String,
        /// The one that was found.
        found: String,
    },
    /// The server accepts only tokens that are bound to a key, but none is configured.
    KeyRequired,
    /// An assertion or token has expired.
    Expired,
    /// The MCP server does not accept the token that was obtained for this operation. A lack of
    /// scopes is [`Refused`](Self::Refused).
    NewTokenRefused {
        /// The status.
        status: u16,
        /// `error` of the challenge.
        error: Option<String>,
        /// `error_description` of the challenge.
        description: Option<String>,
    },
    /// The caller answered an output with an input of another kind.
    UnexpectedInput,
}

impl AuthError {
    /// The document or message at this URL has this fault.
    pub fn new(document: Document, url: &str, problem: Problem) -> Self {
        Self {
            document,
            url: shown_url(url),
            problem,
        }
    }

    /// The status of the response that ended authorization.
    pub const fn status(&self) -> Option<u16> {
        match &self.problem {
            Problem::Status(status) | Problem::NewTokenRefused { status, .. } => Some(*status),
            Problem::Refused { status, .. } => *status,
            _ => None,
        }
    }

    /// The code of an OAuth error, such as `invalid_grant`.
    pub fn oauth_error(&self) -> Option<&str> {
        match &self.problem {
            Problem::Refused { error, .. } => Some(error),
            Problem::NewTokenRefused { error, .. } => error.as_deref(),
            _ => None,
        }
    }

    /// Returns advice for an operator or a user: the way to correct the error.
    pub fn advice(&self) -> &'static str {
        match (&self.problem, self.document) {
            (Problem::UnexpectedInput, _) => {
                "answer each output of the flow with the input that it names"
            }
            (Problem::Mismatch { .. }, Document::ResourceMetadata) => {
                "the server must publish the URL that clients use; do not log in if the server is not trusted"
            }
            (Problem::Mismatch { .. }, Document::ServerMetadata) => {
                "the metadata must name the issuer exactly as the protected resource metadata does"
            }
            (Problem::Mismatch { .. } | Problem::WrongState, Document::AuthorizationResponse) => {
                "the response may come from an attacker; log in again"
            }
            (
                Problem::Unsupported {
                    member: "code_challenge_methods_supported",
                    ..
                },
                _,
            ) => "the authorization server must support and advertise PKCE with S256",
            (Problem::Missing(ISS_PARAMETER), _) => {
                "its page and its token endpoint are at other origins than the issuer, so that it must send `iss`; configure the issuer if it is trusted"
            }
            (Problem::NoIdentity, _) => {
                "register this client with the authorization server and configure its client id"
            }
            (Problem::LoginRequired { .. }, _) => {
                "log in once where a user can be asked, or configure a grant without a user"
            }
            (Problem::OtherIssuer { .. }, _) => {
                "configure credentials for this authorization server"
            }
            (Problem::KeyRequired, _) => "configure a key for DPoP",
            (
                Problem::Unreachable(_),
                Document::Configuration | Document::AuthorizationResponse,
            ) => "try again",
            (Problem::Expired, _) => "obtain a new assertion from its issuer",
            (Problem::NewTokenRefused { .. }, _) => {
                "the token is valid for the authorization server but not for the MCP server; ask the operator"
            }
            (Problem::Unreachable(_), _) => "check the network and try again",
            (Problem::Refused { .. }, Document::TokenResponse | Document::IdentityAssertion) => {
                "log in again, or check the configured credentials, scopes and grants"
            }
            (Problem::Refused { error, .. }, Document::ServerResponse)
                if error == "insufficient_scope" =>
            {
                "consent to the scopes that the server demands, or ask its operator for them"
            }
            (Problem::Refused { .. }, _) => "check the configuration of this client",
            (Problem::UnsafeUrl(_), _) => {
                "the URL must use https, or http on this machine, without a fragment"
            }
            (_, Document::Configuration) => "correct the configuration of this client",
            (_, Document::Credentials) => "delete the stored credentials and log in again",
            (_, _) => "report this to the operator of the server",
        }
    }
}

impl fmt::Display for AuthError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Nothing is wrong with the document that asks for a user.
        if !matches!(self.problem, Problem::LoginRequired { .. }) {
            f.write_str(self.document.as_str())?;
            if !self.url.is_empty() {
                write!(f, " at {}", self.url)?;
            }
            f.write_str(": ")?;
        }
        write!(f, "{}; {}", self.problem, self.advice())
    }
}

impl core::error::Error for AuthError {}

impl Document {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Configuration => "client configuration",
            Self::Credentials => "stored credentials",
            Self::ServerResponse => "response of the MCP server",
            Self::ResourceMetadata => "protected resource metadata",
            Self::ServerMetadata => "authorization server metadata",
            Self::Registration => "client registration",
            Self::AuthorizationResponse => "authorization response",
            Self::TokenResponse => "token response",
            Self::IdentityAssertion => "token exchange at the identity provider",
            Self::Keys => "keys of the authorization server",
            Self::ClientMetadata => "metadata of the client",
            Self::IdToken => "ID token of the provider",
            Self::User => "document of the provider about the user",
        }
    }
}

impl fmt::Display for Document {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreachable(text) => write!(f, "no response ({text})"),
            Self::Status(status) => write!(f, "status {status} instead of a document"),
            Self::Refused {
                status,
                error,
                description,
            } => {
                f.write_str("refused")?;
                if let Some(status) = status {
                    write!(f, " with status {status}")?;
                }
                write_error(f, error, description.as_deref())
            }
            Self::TooLarge => write!(f, "longer than {MAX_BODY} bytes"),
            Self::NotJson(fault) => write!(f, "expected JSON ({fault})"),
            Self::NotObject(kind) => write!(f, "expected a JSON object, found a JSON {kind}"),
            Self::NotFound => f.write_str("found at none of its places"),
            Self::Missing(member) => write!(f, "`{member}` is missing"),
            Self::Duplicate(member) => write!(f, "`{member}` comes twice"),
            Self::WrongType {
                member,
                expected,
                found,
            } => write!(f, "`{member}` must be {expected}, found a JSON {found}"),
            Self::TooMany(member) => write!(f, "`{member}` has too many elements"),
            Self::TooLong(member) => {
                write!(
                    f,
                    "`{member}` has more than {} bytes",
                    super::Secret::MAX_BYTES
                )
            }
            Self::Malformed(member) => write!(f, "`{member}` has characters that it cannot have"),
            Self::Mismatch {
                member,
                expected,
                found,
            } => write!(f, "`{member}` must be {expected:?}, found {found:?}"),
            Self::UnusableUrl { member, reason } => write!(f, "`{member}`: {reason}"),
            Self::UnsafeUrl(member) => write!(f, "`{member}` is not safe to use"),
            Self::Unsupported { member, expected } => {
                write!(f, "`{member}` does not contain {expected}")
            }
            Self::WrongState => f.write_str("`state` is not the one that was sent"),
            Self::TokenType(found) => {
                write!(f, "`token_type` is {found:?}, which was not asked for")
            }
            Self::NoIdentity => f.write_str("no way to identify this client is left"),
            Self::LoginRequired { issuer, scopes } => {
                write!(f, "a user must log in at {issuer}")?;
                if !scopes.is_empty() {
                    write!(f, " (scopes: {scopes})")?;
                }
                f.write_str(", and this client asks no user")
            }
            Self::OtherIssuer { expected, found } => write!(
                f,
                "the credentials belong to the issuer {expected:?}, not to {found:?}"
            ),
            Self::KeyRequired => {
                f.write_str("tokens must be bound to a key, and none is configured")
            }
            Self::Expired => f.write_str("expired"),
            Self::NewTokenRefused {
                status,
                error,
                description,
            } => {
                write!(f, "the new token was refused with status {status}")?;
                match error {
                    Some(error) => write_error(f, error, description.as_deref()),
                    None => Ok(()),
                }
            }
            Self::UnexpectedInput => f.write_str("the input does not answer the output"),
        }
    }
}

/// Writes an error of OAuth with its description.
fn write_error(f: &mut fmt::Formatter<'_>, error: &str, description: Option<&str>) -> fmt::Result {
    write!(f, " and error {error}")?;
    match description {
        Some(text) => write!(f, " ({text})"),
        None => Ok(()),
    }
}

/// A URL for an error: its query may hold a key, so it is not shown.
pub(crate) fn shown_url(url: &str) -> String {
    match url.split_once(['?', '#']) {
        Some((before, _)) => printable(before, 300) + "?..",
        None => printable(url, 300),
    }
}

/// Text of another party for an error: at most `most` characters, none of them a control character.
pub(crate) fn printable(text: &str, most: usize) -> String {
    let shown = |letter: char| match letter.is_control() {
        true => char::REPLACEMENT_CHARACTER,
        false => letter,
    };
    let mut out: String = text.chars().take(most).map(shown).collect();
    if text.chars().nth(most).is_some() {
        out.push_str("...");
    }
    out
}

/// The member of the metadata of an authorization server that promises `iss` in authorization
/// responses (RFC 9207). A program behaves differently without it, so the error names it.
pub(super) const ISS_PARAMETER: &str = "authorization_response_iss_parameter_supported";

/// The bytes of the longest body of a response.
pub(super) const MAX_BODY: usize = 1 << 20;
