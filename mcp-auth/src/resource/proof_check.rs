//! The proof of a request that its client holds the key of the token, while it is checked.

use alloc::borrow::ToOwned;
use alloc::string::String;

use super::Digest;
use super::denial::DenialReason;
use super::proof::Proof;
use super::protected_resource::ProtectedResource;
use super::verifier_state::VerifierState;
use crate::UnixTime;

/// A proof, while it is checked.
#[derive(Clone)]
pub(super) struct ProofCheck {
    pub(super) proof: Proof,
    /// The method and the URL of the request.
    method: String,
    url: String,
    /// The hash of the key.
    pub(super) key: Option<Digest>,
    pub(super) is_verified: bool,
    /// The text that is to be hashed.
    pub(super) input: String,
    pub(super) is_new: bool,
    /// The hash of key and id.
    pub(super) replay: Option<Digest>,
}

impl ProofCheck {
    pub(super) fn new(proof: Proof, method: &str, url: &str) -> Self {
        Self {
            proof,
            method: method.to_owned(),
            url: url.to_owned(),
            key: None,
            is_verified: false,
            input: String::new(),
            is_new: false,
            replay: None,
        }
    }

    /// Checks the claims, without the signature (AU-110). Returns true if the server needs a new nonce first.
    pub(super) fn needs_nonce(
        &self,
        token: Option<&Digest>,
        resource: &ProtectedResource,
        state: &VerifierState,
        now: UnixTime,
    ) -> Result<bool, DenialReason> {
        // Once the signature is verified, only time could change anything.
        if self.is_verified {
            return Ok(false);
        }
        self.proof.check_request(&self.method, &self.url, now)?;
        if let Some(hash) = token {
            self.proof.check_token(hash)?;
        }
        if let Some(lifetime) = resource.nonce_lifetime {
            if state.nonces.is_due(lifetime, now) {
                return Ok(true);
            }
            let nonce = self.proof.nonce.as_deref();
            if !nonce.is_some_and(|nonce| state.nonces.accept(nonce, lifetime, now)) {
                return Err(DenialReason::NonceNeeded);
            }
        }
        Ok(false)
    }
}
