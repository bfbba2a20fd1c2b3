use std::collections::HashMap;
use std::sync::Arc;

use crate::authorize::Authorization;
use crate::error::OAuthError;
use crate::{Client, Settings, SigningKey, secret};

/// What the server remembers. It is not written anywhere.
pub(crate) struct State {
    /// Signing keys; the newest is the last.
    pub(crate) keys: Vec<Arc<SigningKey>>,
    pub(crate) clients: HashMap<String, Arc<Client>>,
    /// Consent pages that are open, by their handles.
    pub(crate) pages: HashMap<String, Authorization>,
    pub(crate) codes: HashMap<String, Code>,
    pub(crate) grants: HashMap<String, Grant>,
    pub(crate) refresh_tokens: HashMap<String, RefreshToken>,
    /// Ids of assertions and proofs, with the time until which they are remembered.
    ids: HashMap<String, u64>,
    /// The nonce for DPoP proofs, and the one before.
    nonces: [String; 2],
}

/// A code that was sent to a client.
pub(crate) struct Code {
    pub(crate) authorization: Authorization,
    pub(crate) expires_at: u64,
    /// The grant that was made of it.
    pub(crate) grant: Option<String>,
}

/// What a user, or the server's operator, granted to a client.
#[derive(Clone, Debug)]
pub(crate) struct Grant {
    pub(crate) client: String,
    pub(crate) subject: String,
    pub(crate) scopes: Vec<String>,
    pub(crate) resource: Option<String>,
    /// The thumbprint of the key to which refresh tokens are bound.
    pub(crate) key: Option<String>,
    pub(crate) is_revoked: bool,
}

pub(crate) struct RefreshToken {
    pub(crate) grant: String,
    pub(crate) is_used: bool,
}

impl State {
    pub(crate) fn new(settings: &Settings) -> Self {
        let key = settings.signing_key.clone();
        Self {
            keys: vec![key.unwrap_or_else(|| Arc::new(SigningKey::generate()))],
            clients: settings
                .clients
                .iter()
                .map(|client| (client.id.clone(), Arc::new(client.clone())))
                .collect(),
            pages: HashMap::new(),
            codes: HashMap::new(),
            grants: HashMap::new(),
            refresh_tokens: HashMap::new(),
            ids: HashMap::new(),
            nonces: [secret::random(), secret::random()],
        }
    }

    /// # Panics
    ///
    /// Never: there is always a key.
    pub(crate) fn key(&self) -> &SigningKey {
        self.keys.last().expect("there is a key")
    }

    /// The client with this id.
    ///
    /// # Errors
    ///
    /// It is not registered.
    pub(crate) fn client(&self, id: &str) -> Result<Arc<Client>, OAuthError> {
        let client = self.clients.get(id).cloned();
        client.ok_or_else(|| OAuthError::invalid_client("the client is not registered"))
    }

    pub(crate) fn revoke(&mut self, grant: &str) {
        if let Some(grant) = self.grants.get_mut(grant) {
            grant.is_revoked = true;
        }
    }

    /// Notes the id of an assertion or proof until a time. Returns false if it was there.
    pub(crate) fn is_first_use(&mut self, id: String, now: u64, until: u64) -> bool {
        self.ids.retain(|_, until| *until > now);
        self.ids.insert(id, until).is_none()
    }

    pub(crate) fn nonce(&self) -> &str {
        &self.nonces[0]
    }

    pub(crate) fn is_nonce(&self, nonce: Option<&str>) -> bool {
        nonce.is_some_and(|nonce| self.nonces.iter().any(|known| known == nonce))
    }

    pub(crate) fn renew_nonce(&mut self) {
        self.nonces.swap(0, 1);
        self.nonces[0] = secret::random();
    }
}
