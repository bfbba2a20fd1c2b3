//! The check of one request: what has to be computed or fetched, in which order, and the outcome.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::string::String;
use core::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcp_proto::http::Head;

use super::admission::Admission;
use super::check_step::{CheckStep, SignatureToVerify};
use super::claims::TokenClaims;
use super::credentials::{RequestCredentials, is_token, scheme_of};
use super::denial::{Denial, DenialReason};
use super::jws::Jws;
use super::key_issuer::IssuerIndex;
use super::proof::Proof;
use super::proof_check::ProofCheck;
use super::protected_resource::ProtectedResource;
use super::scope::RequiredScopes;
use super::signed_token::{SignedToken, SignedTokenStep};
use super::verifier_state::VerifierState;
use super::{Digest, Fingerprint};
use crate::Scheme;
use crate::{Secret, UnixTime};

/// The input of a check in addition to the head of the request.
#[derive(Clone, Copy, Debug, Default)]
pub struct ResourceRequest<'r> {
    /// The query of the target, without `?`.
    pub query: Option<&'r str>,
    /// The published URL that the request is for, if it is not that of the endpoint. Proofs state
    /// it.
    pub url: Option<&'r str>,
    /// The scopes that the operation needs in addition to those that every token needs, as far as
    /// they are known from the head.
    pub needed: Option<&'r RequiredScopes>,
    /// Leaves scopes to [`ProtectedResource::require`], which the caller must call before the operation:
    /// where the body states the scopes that the operation needs, one challenge names them all.
    pub defer_scopes: bool,
}

/// The check of one request.
///
/// [`step`](Self::step) states what the caller has to do next, and the caller answers. Without an
/// answer the same step is returned again. No token is admitted if an answer is left out.
///
/// `Debug` shows nothing of the token.
#[derive(Clone)]
pub struct TokenCheck {
    needed: RequiredScopes,
    defer_scopes: bool,
    scheme: Option<Scheme>,
    token: Secret,
    /// The last dot of the token, if the token may be a signed one that is remembered.
    last_dot: Option<usize>,
    kind: TokenKind,
    /// The claims, as far as they are known: those of a signed token before its signature is verified, too.
    claims: Option<TokenClaims>,
    /// The URL of the document of the issuer to fetch.
    fetched_url: String,
    /// The claims are an answer that is not kept yet.
    is_new: bool,
    /// The time until which the answer is kept.
    answer_until: Option<UnixTime>,
    token_hash: Option<Digest>,
    /// The fingerprint of the last part of the token, with its dot.
    fingerprint: Option<Fingerprint>,
    proof: Option<Box<ProofCheck>>,
    asked: Asked,
    denied: Option<DenialReason>,
}

#[derive(Clone)]
enum TokenKind {
    /// The request has no token.
    Absent,
    /// It is looked for among the tokens that were verified, before it is read.
    Unread,
    /// Its signature was verified for another request.
    Remembered,
    Signed(Box<SignedToken>),
    /// The authorization server or the application verifies it.
    Opaque,
}

/// The request to the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Asked {
    Nothing,
    Nonce,
    TokenHash,
    Fingerprint,
    Keys(IssuerIndex),
    KeysOfOthers(IssuerIndex),
    TokenSignature,
    Opaque,
    Thumbprint,
    ProofSignature,
    ReplayHash,
}

/// The seconds for which a token counts as one that was valid.
const KNOWN: u64 = 60 * 60;

/// The seconds for which an invalid token is remembered.
const REFUSED: u64 = 5;

/// The seconds for which streams last whose answer is not kept.
const UNKEPT: u64 = 30;

/// Bytes that a token may have.
const MAX_TOKEN: usize = 16 * 1024;

impl ProtectedResource {
    /// Begins to check the token of a request. Every other request than those for the metadata
    /// document and preflights of browsers must be checked, before it is processed (AU-05).
    pub fn begin(&self, head: &impl Head, request: ResourceRequest<'_>) -> TokenCheck {
        TokenCheck::begin(self, head, request)
    }
}

impl TokenCheck {
    pub(super) fn begin(
        resource: &ProtectedResource,
        head: &impl Head,
        request: ResourceRequest<'_>,
    ) -> Self {
        let mut check = Self {
            needed: request.needed.cloned().unwrap_or_default(),
            defer_scopes: request.defer_scopes,
            scheme: None,
            token: Secret::default(),
            last_dot: None,
            kind: TokenKind::Absent,
            claims: None,
            fetched_url: String::new(),
            is_new: false,
            answer_until: None,
            token_hash: None,
            fingerprint: None,
            proof: None,
            asked: Asked::Nothing,
            denied: None,
        };
        check.denied = check.read(resource, head, request).err();
        check
    }

    fn read(
        &mut self,
        resource: &ProtectedResource,
        head: &impl Head,
        request: ResourceRequest<'_>,
    ) -> Result<(), DenialReason> {
        let found = RequestCredentials::read(head, request.query, &resource.challenges);
        self.scheme = match &found {
            Ok(credentials) => credentials.map(|credentials| credentials.scheme),
            Err(_) => scheme_of(head),
        };
        let Some(credentials) = found? else {
            return match resource.allows_anonymous && self.needed.scopes().is_empty() {
                true => Ok(()),
                false => Err(DenialReason::NoCredentials),
            };
        };
        if credentials.token.len() > MAX_TOKEN {
            return Err(DenialReason::TokenTooLong);
        }
        self.token = credentials.token.into();
        if let Some(proof) = credentials.proof {
            let algorithms = resource.challenges.proof_algorithms;
            let proof = Proof::parse(proof, algorithms)?;
            let url = request.url.unwrap_or(&resource.endpoint);
            self.proof = Some(Box::new(ProofCheck::new(proof, head.method(), url)));
        }
        if resource.signature_cache > 0 && !resource.issuers.is_empty() && self.proof.is_none() {
            self.last_dot = memchr::memrchr(b'.', credentials.token.as_bytes());
        }
        self.kind = match self.last_dot {
            Some(_) => TokenKind::Unread,
            None => self.read_token(resource)?,
        };
        Ok(())
    }

    /// Finds out which kind of token it is, and reads one that the issuer has signed.
    fn read_token(&mut self, resource: &ProtectedResource) -> Result<TokenKind, DenialReason> {
        let token = self.token.expose();
        if !is_token(token) {
            return Err(DenialReason::AuthorizationMalformed);
        }
        let others = resource.introspection.is_some() || resource.has_verifier;
        let is_signed = !resource.issuers.is_empty() && Jws::is_likely(token);
        if others && !is_signed {
            return Ok(TokenKind::Opaque);
        }
        let (token, claims) = SignedToken::read(token, resource)?;
        self.claims = Some(claims);
        Ok(TokenKind::Signed(token))
    }

    /// The text that was signed, and the dot and the signature.
    fn signature(&self) -> Option<(&str, &str)> {
        let token = self.token.expose();
        token.split_at_checked(self.last_dot?)
    }

    /// Returns what the caller has to do next. `now` is the time of the day.
    ///
    /// Cheap checks come first: a token of another resource or an expired one costs neither a fetch
    /// nor a signature, and the signature of a proof is verified only for the key that the token is
    /// bound to. A token whose signature was verified for another request needs a fingerprint only.
    pub fn step<'c>(
        &'c mut self,
        resource: &'c ProtectedResource,
        state: &mut VerifierState,
        now: UnixTime,
    ) -> CheckStep<'c> {
        let outcome = match self.denied {
            Some(reason) => Err(reason),
            None => self.advance(resource, state, now),
        };
        match outcome {
            Ok(Asked::Nothing) => CheckStep::Done(Ok(self.admission(resource, state))),
            Ok(asked) => {
                self.asked = asked;
                match self.to_step(resource) {
                    Some(step) => step,
                    None => CheckStep::Done(Err(self.deny(
                        resource,
                        state,
                        DenialReason::UnexpectedAnswer,
                    ))),
                }
            }
            Err(reason) => {
                self.denied = Some(reason);
                if let (DenialReason::Inactive, Some(hash)) = (reason, self.token_hash) {
                    let until = now.saturating_add(REFUSED);
                    state.refused.renew(hash, (), until, now);
                }
                CheckStep::Done(Err(self.deny(resource, state, reason)))
            }
        }
    }

    /// Returns the [identity](TokenClaims::identity) that an opaque token had when it was last asked about, if it was
    /// valid then, in the last hour. While many unknown tokens arrive, questions about these should go first, and
    /// those of one identity should leave room for those of others.
    pub fn last_identity<'s>(&self, state: &'s VerifierState, now: UnixTime) -> Option<&'s str> {
        let known = state.known.get(self.token_hash.as_ref()?, KNOWN, now)?.1;
        Some(known)
    }

    /// Gives the answer to [`CheckStep::Hash`].
    pub fn set_digest(&mut self, digest: Digest) {
        match (
            core::mem::replace(&mut self.asked, Asked::Nothing),
            &mut self.proof,
        ) {
            (Asked::TokenHash, _) => self.token_hash = Some(digest),
            (Asked::Thumbprint, Some(check)) => check.key = Some(digest),
            (Asked::ReplayHash, Some(check)) => check.replay = Some(digest),
            _ => self.denied = Some(DenialReason::UnexpectedAnswer),
        }
    }

    /// Gives the answer to [`CheckStep::Fingerprint`].
    pub fn set_fingerprint(&mut self, fingerprint: Fingerprint) {
        match core::mem::replace(&mut self.asked, Asked::Nothing) {
            Asked::Fingerprint => self.fingerprint = Some(fingerprint),
            _ => self.denied = Some(DenialReason::UnexpectedAnswer),
        }
    }

    /// Gives the answer to [`CheckStep::VerifySignature`].
    pub fn set_signature(&mut self, is_valid: bool) {
        let asked = core::mem::replace(&mut self.asked, Asked::Nothing);
        match (asked, &mut self.kind, &mut self.proof) {
            (Asked::TokenSignature, TokenKind::Signed(token), _) if is_valid => {
                token.set_verified();
            }
            (Asked::ProofSignature, _, Some(check)) if is_valid => check.is_verified = true,
            (Asked::TokenSignature, ..) => self.denied = Some(DenialReason::Signature),
            (Asked::ProofSignature, ..) => self.denied = Some(DenialReason::ProofSignature),
            _ => self.denied = Some(DenialReason::UnexpectedAnswer),
        }
    }

    /// Gives the answer to [`CheckStep::Introspect`]: the body of a response with status 200, or
    /// `None` if there is no such response. The request is then answered with 503.
    pub fn set_introspection(&mut self, resource: &ProtectedResource, body: Option<&[u8]>) {
        let claims = match (body, &resource.introspection) {
            (Some(body), Some(issuer)) => issuer.read(body, resource.resource()),
            _ => Err(DenialReason::VerifierUnavailable),
        };
        self.set_opaque(claims);
    }

    /// Gives the answer to [`CheckStep::VerifyToken`]: `None` if the token is not valid.
    pub fn set_claims(&mut self, claims: Option<TokenClaims>) {
        self.set_opaque(claims.ok_or(DenialReason::Inactive));
    }

    /// Gives the answer to [`CheckStep::VerifyToken`] that the token cannot be verified now. The
    /// request is answered with 503.
    pub fn set_unavailable(&mut self) {
        self.set_opaque(Err(DenialReason::VerifierUnavailable));
    }

    fn set_opaque(&mut self, claims: Result<TokenClaims, DenialReason>) {
        match (core::mem::replace(&mut self.asked, Asked::Nothing), claims) {
            (Asked::Opaque, Ok(claims)) => {
                self.claims = Some(claims);
                self.is_new = true;
            }
            (Asked::Opaque, Err(reason)) => self.denied = Some(reason),
            _ => self.denied = Some(DenialReason::UnexpectedAnswer),
        }
    }

    /// Does what can be done, and states what is missing.
    fn advance(
        &mut self,
        resource: &ProtectedResource,
        state: &mut VerifierState,
        now: UnixTime,
    ) -> Result<Asked, DenialReason> {
        if matches!(self.kind, TokenKind::Absent) {
            return Ok(Asked::Nothing);
        }
        if matches!(self.kind, TokenKind::Unread) {
            let Some(fingerprint) = self.fingerprint else {
                return Ok(Asked::Fingerprint);
            };
            self.kind = self.recall(fingerprint, resource, state, now)?;
        }
        let is_opaque = matches!(self.kind, TokenKind::Opaque);
        if self.token_hash.is_none() && (is_opaque || self.proof.is_some()) {
            return Ok(Asked::TokenHash);
        }
        if let Some(check) = &self.proof
            && check.needs_nonce(self.token_hash.as_ref(), resource, state, now)?
        {
            return Ok(Asked::Nonce);
        }
        let asked = match is_opaque {
            true => self.verify_opaque(resource, state, now)?,
            false => self.verify_signed(resource, state, now)?,
        };
        if let Some(asked) = asked {
            return Ok(asked);
        }
        if let Some(asked) = self.verify_proof(state, now)? {
            return Ok(asked);
        }
        let suffices = self
            .claims
            .as_ref()
            .is_some_and(|claims| self.defer_scopes || resource.suffices(claims, &self.needed));
        match suffices {
            true => Ok(Asked::Nothing),
            false => Err(DenialReason::InsufficientScope),
        }
    }

    /// Takes the claims of a token that was verified before, or reads it.
    fn recall(
        &mut self,
        signature: Fingerprint,
        resource: &ProtectedResource,
        state: &VerifierState,
        now: UnixTime,
    ) -> Result<TokenKind, DenialReason> {
        let message = self.signature().map_or("", |(message, _)| message);
        let found = state.verified(resource, signature, message, now);
        if let Some(claims) = found.cloned() {
            self.claims = Some(claims);
            return Ok(TokenKind::Remembered);
        }
        self.read_token(resource)
    }

    fn verify_signed(
        &mut self,
        resource: &ProtectedResource,
        state: &mut VerifierState,
        now: UnixTime,
    ) -> Result<Option<Asked>, DenialReason> {
        let (Some(claims), Some(scheme)) = (&self.claims, self.scheme) else {
            return Err(DenialReason::UnexpectedAnswer);
        };
        // AU-06, AU-18: for each request, whether the signature is verified for it or not.
        resource.tokens.check(claims, scheme, now)?;
        let TokenKind::Signed(token) = &mut self.kind else {
            return Ok(None);
        };
        match token.step(resource, state, now)? {
            SignedTokenStep::Fetch(url) => {
                self.fetched_url = url;
                Ok(Some(Asked::Keys(token.issuer)))
            }
            SignedTokenStep::Wait => Ok(Some(Asked::KeysOfOthers(token.issuer))),
            SignedTokenStep::VerifySignature => Ok(Some(Asked::TokenSignature)),
            SignedTokenStep::Verified => {
                if let Some(fingerprint) = self.fingerprint.take() {
                    token.remember(fingerprint, claims, resource, state, now);
                }
                Ok(None)
            }
        }
    }

    fn verify_opaque(
        &mut self,
        resource: &ProtectedResource,
        state: &mut VerifierState,
        now: UnixTime,
    ) -> Result<Option<Asked>, DenialReason> {
        let (Some(hash), Some(scheme)) = (self.token_hash, self.scheme) else {
            return Err(DenialReason::UnexpectedAnswer);
        };
        if self.claims.is_none() {
            let kept = state.tokens.get(&hash, resource.introspection_cache, now);
            self.answer_until = kept.map(|(until, _)| until);
            self.claims = kept.map(|(_, claims)| claims.clone());
        }
        let is_refused = || state.refused.get(&hash, REFUSED, now).is_some();
        if self.claims.is_none() && is_refused() {
            return Err(DenialReason::Inactive);
        }
        let Some(claims) = &self.claims else {
            return Ok(Some(Asked::Opaque));
        };
        resource.tokens.check(claims, scheme, now)?;
        // AU-18: kept no longer than the token is valid.
        if core::mem::take(&mut self.is_new) {
            let identity = Box::from(claims.identity());
            state
                .known
                .renew(hash, identity, now.saturating_add(KNOWN), now);
            let until = now.saturating_add(resource.introspection_cache);
            let until = claims.expires().map_or(until, |expires| expires.min(until));
            state.tokens.renew(hash, claims.clone(), until, now);
            self.answer_until = Some(match resource.introspection_cache {
                0 => now.saturating_add(UNKEPT),
                _ => until,
            });
        }
        Ok(None)
    }

    /// Checks that the client holds the key that the token is bound to.
    fn verify_proof(
        &mut self,
        state: &mut VerifierState,
        now: UnixTime,
    ) -> Result<Option<Asked>, DenialReason> {
        let Some(check) = &mut self.proof else {
            return Ok(None);
        };
        let Some(key) = check.key else {
            check.input = check.proof.key.thumbprint_input();
            return Ok(Some(Asked::Thumbprint));
        };
        let thumbprint = URL_SAFE_NO_PAD.encode(key);
        let bound = self.claims.as_ref();
        let bound = bound.and_then(|claims| claims.values().key_thumbprint.as_ref());
        if bound != Some(&thumbprint) {
            return Err(DenialReason::ProofKey);
        }
        if !check.is_verified {
            return Ok(Some(Asked::ProofSignature));
        }
        let Some(id) = check.replay else {
            check.input = check.proof.replay_input(&thumbprint);
            return Ok(Some(Asked::ReplayHash));
        };
        if !check.is_new {
            let until = check.proof.useless_from();
            if !state.proofs.insert(key, id, until, now) {
                return Err(DenialReason::ProofReplayed);
            }
            check.is_new = true;
        }
        Ok(None)
    }

    /// The step for what was asked; `None` if what it shows is missing.
    fn to_step<'c>(&'c self, resource: &'c ProtectedResource) -> Option<CheckStep<'c>> {
        let signed = match &self.kind {
            TokenKind::Signed(token) => Some(token),
            _ => None,
        };
        Some(match self.asked {
            Asked::Nothing => return None,
            Asked::Nonce => CheckStep::MakeNonce,
            Asked::TokenHash => CheckStep::Hash(self.token.expose().as_bytes()),
            Asked::Fingerprint => CheckStep::Fingerprint(self.signature()?.1.as_bytes()),
            Asked::Keys(issuer) => CheckStep::FetchKeys {
                issuer,
                url: &self.fetched_url,
            },
            Asked::KeysOfOthers(issuer) => CheckStep::WaitForKeys { issuer },
            Asked::TokenSignature => CheckStep::VerifySignature(signed?.signature()?),
            Asked::Opaque => match &resource.introspection {
                Some(asked) => CheckStep::Introspect {
                    issuer: &asked.issuer,
                    token: &self.token,
                },
                None => CheckStep::VerifyToken(&self.token),
            },
            Asked::Thumbprint | Asked::ReplayHash => {
                CheckStep::Hash(self.proof.as_ref()?.input.as_bytes())
            }
            Asked::ProofSignature => {
                let proof = &self.proof.as_ref()?.proof;
                CheckStep::VerifySignature(SignatureToVerify::new(&proof.jws, &proof.key))
            }
        })
    }

    fn admission(
        &self,
        resource: &ProtectedResource,
        state: &VerifierState,
    ) -> Option<Box<Admission>> {
        let (claims, scheme) = (self.claims.clone()?, self.scheme?);
        let newest = state.nonces.newest().filter(|newest| {
            let proof = self.proof.as_ref().map(|check| &check.proof);
            let sent = proof.map(|proof| proof.nonce.as_deref());
            resource.nonce_lifetime.is_some() && sent.is_some_and(|sent| sent != Some(newest))
        });
        Some(Box::new(Admission {
            claims,
            scheme,
            answer_until: self.answer_until,
            nonce: newest.map(str::to_owned),
        }))
    }

    fn deny(
        &self,
        resource: &ProtectedResource,
        state: &VerifierState,
        reason: DenialReason,
    ) -> Denial {
        let nonce = state
            .nonces
            .newest()
            .filter(|_| reason == DenialReason::NonceNeeded);
        resource.deny(reason, self.scheme, &self.needed, nonce)
    }
}

impl fmt::Debug for TokenCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TokenCheck")
            .field("asked", &self.asked)
            .finish_non_exhaustive()
    }
}
