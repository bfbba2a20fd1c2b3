//! The remedies when the MCP server refuses a request.

use alloc::string::String;
use alloc::vec::Vec;

use super::error::{AuthError, Document, Problem, printable};
use super::oauth_error::is_defined_error;
use super::{Challenge, Credentials, DpopNonces, Scheme};

/// The parameter with the place of the metadata.
const METADATA: &str = "resource_metadata";

/// A response of the MCP server with status 401 or 403.
#[derive(Clone, Copy, Debug)]
pub struct RefusedResponse<'r> {
    /// The URL of the request.
    pub url: &'r str,
    /// The status.
    pub status: u16,
    /// The challenges of all fields `WWW-Authenticate`.
    pub challenges: &'r [Challenge],
    /// The field `DPoP-Nonce`.
    pub dpop_nonce: Option<&'r str>,
}

/// The action that is required before the request is sent again.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Nothing but a new proof, with the nonce that was noted.
    NewProof,
    /// [`Flow::refresh`](super::Flow::refresh).
    Refresh,
    /// [`Flow::authorize`](super::Flow::authorize) with this challenge.
    Authorize(Option<Challenge>),
}

/// The refusals of one operation, such as a call of one tool: none is repeated without an end.
///
/// ```text
/// 401 --use_dpop_nonce--> NewProof, once for each request
///     --no token--------> Authorize
///     --token-----------> Refresh, once; then Authorize
///     --new token-------> Refresh, once; then an error
/// 403 --insufficient_scope--> Authorize, with more scopes
///     --of the same scopes, or of scopes that the new token has--> an error
///     --anything else-------> an error
///
/// A new token is one of an authorization of this operation: another one would be no better.
/// ```
///
/// At most [`MOST_AUTHORIZATIONS`](Self::MOST_AUTHORIZATIONS) belong to one operation; one of
/// [another operation](Self::other_authorization_ran) does not count. If a challenge names no place
/// of the metadata, the place that an earlier one named is used.
#[derive(Clone, Debug)]
pub struct Refusals {
    preferred: Scheme,
    proofs: u8,
    refreshes: u8,
    /// The scopes of each authorization, as its challenge named them.
    authorizations: Vec<Option<String>>,
    /// The place of the metadata that the last challenge with one named (AU-22).
    metadata_url: Option<String>,
    /// The nonce of the request, and whether it is known.
    sent_nonce: Option<String>,
    knows_sent_nonce: bool,
}

impl Refusals {
    /// The most authorizations, the first one included (AU-60).
    pub const MOST_AUTHORIZATIONS: u8 = 3;

    /// Begins an operation. The challenge of this scheme counts before one of the other scheme:
    /// [`Scheme::Dpop`] for clients with a key (AU-20).
    pub const fn new(preferred: Scheme) -> Self {
        Self {
            preferred,
            proofs: 0,
            refreshes: 0,
            authorizations: Vec::new(),
            metadata_url: None,
            sent_nonce: None,
            knows_sent_nonce: false,
        }
    }

    /// Notes the nonce in the proof of the request that is sent next. A response to another request
    /// may bring a new nonce first: with it, this request is repeated all the same (AU-98).
    pub fn set_sent_nonce(&mut self, nonce: Option<&str>) {
        self.sent_nonce = nonce.map(Into::into);
        self.knows_sent_nonce = true;
    }

    /// Notes that a request of the operation succeeded or is a new one: another nonce and another
    /// refresh are admitted. The number of authorizations is kept (AU-60).
    pub const fn request_ended(&mut self) {
        self.proofs = 0;
        self.refreshes = 0;
    }

    /// Notes that the authorization which [`judge`](Self::judge) asked for last did not run, because
    /// that of another operation did. It does not count, so the other one must have ended since.
    pub fn other_authorization_ran(&mut self) {
        self.authorizations.pop();
    }

    /// Judges a refusal. `credentials` are those that the request was sent with, `nonces` those of
    /// the MCP server, in which a new one is noted.
    ///
    /// # Errors
    ///
    /// [`AuthError`] with the status and the error of the server if nothing helps (AU-39, AU-120):
    /// [`Problem::NewTokenRefused`] if the token of an authorization of this operation is refused
    /// with status 401, [`Problem::Refused`] or [`Problem::Status`] for all else.
    pub fn judge(
        &mut self,
        refusal: &RefusedResponse<'_>,
        credentials: Option<&Credentials>,
        nonces: &mut DpopNonces,
    ) -> Result<Remedy, AuthError> {
        let nonce = refusal.dpop_nonce;
        let is_newest = nonce.is_some_and(|nonce| nonces.set(refusal.url, nonce));
        let is_new = match self.knows_sent_nonce {
            // The list does not take a nonce that cannot be used.
            true => nonce.is_some_and(|nonce| {
                self.sent_nonce.as_deref() != Some(nonce) && nonces.get(refusal.url) == Some(nonce)
            }),
            false => is_newest,
        };
        let is_bound = credentials.is_some_and(|held| held.scheme == Scheme::Dpop);
        let preferred = credentials.map_or(self.preferred, |held| held.scheme);
        let challenges = refusal.challenges;
        let lacks_scope = |challenge: &&Challenge| {
            (challenge.is(Scheme::Bearer) || challenge.is(Scheme::Dpop))
                && challenge.parameter("error") == Some("insufficient_scope")
        };
        let step_up = challenges.iter().find(lacks_scope);
        let challenge = step_up
            .or_else(|| Challenge::select(challenges, preferred))
            .or_else(|| Challenge::select(challenges, Scheme::Bearer))
            .or_else(|| Challenge::select(challenges, Scheme::Dpop));
        let parameter = |name| challenge.and_then(|challenge| challenge.parameter(name));
        if let Some(url) = parameter(METADATA) {
            self.metadata_url = Some(url.into());
        }
        let error = parameter("error");
        match (refusal.status, error) {
            (401, Some("use_dpop_nonce")) if is_bound => {
                if !is_new || self.proofs > 0 {
                    return Err(refused(refusal, challenge, credentials));
                }
                self.proofs = 1;
                Ok(Remedy::NewProof)
            }
            (401, _) => {
                let can_refresh = credentials.is_some_and(|held| held.refresh_token.is_some());
                if can_refresh && self.refreshes == 0 {
                    self.refreshes = 1;
                    return Ok(Remedy::Refresh);
                }
                // AU-120: another token of the same consent would be no better.
                if !self.authorizations.is_empty() && credentials.is_some() {
                    return Err(new_token_refused(refusal, challenge, credentials));
                }
                self.authorize(refusal, challenge, credentials)
            }
            // AU-60: consent to what this token has already, or did not get, does not help.
            (403, Some("insufficient_scope"))
                if self.authorizations.last().is_some_and(|asked| {
                    asked.is_some() && asked.as_deref() == parameter("scope")
                        || credentials.is_some_and(|held| has_scopes(held, challenge))
                }) =>
            {
                Err(refused(refusal, challenge, credentials))
            }
            (403, Some("insufficient_scope")) => self.authorize(refusal, challenge, credentials),
            _ => Err(refused(refusal, challenge, credentials)),
        }
    }

    fn authorize(
        &mut self,
        refusal: &RefusedResponse<'_>,
        challenge: Option<&Challenge>,
        credentials: Option<&Credentials>,
    ) -> Result<Remedy, AuthError> {
        if self.authorizations.len() >= usize::from(Self::MOST_AUTHORIZATIONS) {
            return Err(refused(refusal, challenge, credentials));
        }
        let scopes = challenge.and_then(|challenge| challenge.parameter("scope"));
        self.authorizations.push(scopes.map(Into::into));
        let challenge = challenge.cloned();
        let Some(url) = &self.metadata_url else {
            return Ok(Remedy::Authorize(challenge));
        };
        let challenge = challenge.unwrap_or_else(|| Challenge::new(self.preferred));
        Ok(Remedy::Authorize(Some(
            match challenge.parameter(METADATA) {
                Some(_) => challenge,
                None => challenge.with_parameter(METADATA, url),
            },
        )))
    }
}

/// A refusal that no new token helps against.
fn refused(
    refusal: &RefusedResponse<'_>,
    challenge: Option<&Challenge>,
    credentials: Option<&Credentials>,
) -> AuthError {
    let problem = match error_of(challenge, credentials) {
        (Some(error), description) => Problem::Refused {
            status: Some(refusal.status),
            error,
            description,
        },
        (None, _) => Problem::Status(refusal.status),
    };
    AuthError::new(Document::ServerResponse, refusal.url, problem)
}

/// The refusal of the token that an authorization of this operation led to.
fn new_token_refused(
    refusal: &RefusedResponse<'_>,
    challenge: Option<&Challenge>,
    credentials: Option<&Credentials>,
) -> AuthError {
    let (error, description) = error_of(challenge, credentials);
    let problem = Problem::NewTokenRefused {
        status: refusal.status,
        error,
        description,
    };
    AuthError::new(Document::ServerResponse, refusal.url, problem)
}

/// `error` and `error_description` of a challenge, without the token that the server may repeat.
fn error_of(
    challenge: Option<&Challenge>,
    credentials: Option<&Credentials>,
) -> (Option<String>, Option<String>) {
    let is_clean = |text: &&str| {
        is_defined_error(text)
            || credentials.is_none_or(|held| !text.contains(held.access_token.expose()))
    };
    let text = |name: &str, most| {
        let value = challenge.and_then(|challenge| challenge.parameter(name));
        value.filter(is_clean).map(|value| printable(value, most))
    };
    (text("error", 60), text("error_description", 200))
}

/// Returns whether a challenge names scopes and all of them were granted.
fn has_scopes(held: &Credentials, challenge: Option<&Challenge>) -> bool {
    let named = challenge.and_then(Challenge::scopes);
    named.is_some_and(|named| named.iter().all(|scope| held.granted.contains(scope)))
}
