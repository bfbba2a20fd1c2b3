//! What every step of a login needs: the settings, cryptography, the time.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use mcp_proto::json::RawBuf;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::response::RequestError;
use super::server::AuthorizationServer;
use crate::{ServerMetadata, UnixTime, Uri};

/// The cryptography of a login, which the caller provides. No function may block.
pub trait LoginCrypto {
    /// Draws random bytes from a cryptographic source; `None` if it fails.
    fn random(&self) -> Option<[u8; 32]>;

    /// Returns the SHA-256 of bytes.
    fn sha256(&self, bytes: &[u8]) -> [u8; 32];

    /// Encrypts and authenticates bytes, for this context; `None` if that fails. Each call may have a
    /// different result.
    fn seal(&self, context: &str, plain: &[u8]) -> Option<Vec<u8>>;

    /// Returns the bytes that were sealed for this context with a key that is still accepted; `None` for all
    /// others.
    fn open(&self, context: &str, sealed: &[u8]) -> Option<Vec<u8>>;
}

/// The surroundings of a step.
#[derive(Clone, Copy)]
pub struct LoginContext<'c> {
    /// The settings.
    pub server: &'c AuthorizationServer,
    /// The metadata of the provider, for requests that [need it](super::LoginExchange::needs_provider); `None`
    /// if it could not be fetched.
    pub provider: Option<&'c ServerMetadata>,
    /// The cryptography.
    pub crypto: &'c dyn LoginCrypto,
    /// The time.
    pub now: UnixTime,
}

impl core::fmt::Debug for LoginContext<'_> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("LoginContext")
            .field("now", &self.now)
            .finish_non_exhaustive()
    }
}

impl LoginContext<'_> {
    /// Returns the moment so many seconds from now.
    pub(super) const fn after(&self, seconds: u64) -> UnixTime {
        self.now.saturating_add(seconds)
    }

    /// Returns true if a moment that was chosen at most `most` seconds ahead is over, or cannot have been chosen:
    /// a clock that was set back does not prolong anything. Those of two processes may differ a little.
    pub(super) fn is_over(&self, end: UnixTime, most: u64) -> bool {
        end <= self.now || end > self.after(most.saturating_add(SKEW))
    }

    /// Returns true if so many seconds have passed since a moment, or if it cannot have been. The end is not stored, so
    /// that a setting holds for what was granted before it was changed.
    pub(super) fn has_passed(&self, seconds: u64, since: UnixTime) -> bool {
        self.is_over(since.saturating_add(seconds), seconds)
    }

    /// Checks the resource of a request, which is the one of this server. Clients of 2025-03-26 name none.
    pub(super) fn check_resource(&self, asked: Option<&str>) -> Result<(), RequestError> {
        let own = &self.server.settings.resource;
        let is_same = |asked: &str| match (Uri::parse(asked), Uri::parse(own)) {
            (Ok(asked), Ok(own)) => asked.is_same_resource(&own),
            _ => false,
        };
        match asked.is_none_or(is_same) {
            true => Ok(()),
            false => {
                let text = "The parameter resource is not the one of this server.";
                Err(RequestError::new("invalid_target", text))
            }
        }
    }

    pub(super) fn random(&self) -> Result<[u8; 32], RequestError> {
        self.crypto.random().ok_or(RequestError::UNAVAILABLE)
    }

    /// Returns a random text of 43 characters.
    pub(super) fn random_text(&self) -> Result<String, RequestError> {
        Ok(URL_SAFE_NO_PAD.encode(self.random()?))
    }

    /// Returns the SHA-256 of a text, as text.
    pub(super) fn hash(&self, text: &str) -> String {
        URL_SAFE_NO_PAD.encode(self.crypto.sha256(text.as_bytes()))
    }

    /// Seals a value for a record of a store. It holds what the provider has granted, and is opened for the
    /// same provider only.
    pub(super) fn seal<T: Serialize>(&self, key: &str, value: &T) -> Result<Vec<u8>, RequestError> {
        self.seal_bytes(&self.of_provider(key), value)
    }

    pub(super) fn open<T: DeserializeOwned>(&self, key: &str, sealed: &[u8]) -> Option<T> {
        self.open_bytes(&self.of_provider(key), sealed)
    }

    /// Seals a value for a text that travels.
    pub(super) fn seal_text<T: Serialize>(
        &self,
        context: &str,
        value: &T,
    ) -> Result<String, RequestError> {
        Ok(URL_SAFE_NO_PAD.encode(self.seal_bytes(context, value)?))
    }

    pub(super) fn open_text<T: DeserializeOwned>(&self, context: &str, text: &str) -> Option<T> {
        // Longer than anything that is sealed.
        (text.len() <= MAX_SEALED).then_some(())?;
        self.open_bytes(context, &URL_SAFE_NO_PAD.decode(text).ok()?)
    }

    fn seal_bytes<T: Serialize>(&self, context: &str, value: &T) -> Result<Vec<u8>, RequestError> {
        let json = RawBuf::encode(value).map_err(|_| RequestError::UNAVAILABLE)?;
        let context = self.of_server(context);
        let sealed = self.crypto.seal(&context, json.as_raw().as_bytes());
        sealed.ok_or(RequestError::UNAVAILABLE)
    }

    fn open_bytes<T: DeserializeOwned>(&self, context: &str, sealed: &[u8]) -> Option<T> {
        let plain = self.crypto.open(&self.of_server(context), sealed)?;
        RawBuf::parse(plain).ok()?.decode().ok()
    }

    /// A context of this server alone, also if another one has its keys and its store. No part has a line break.
    fn of_server(&self, context: &str) -> String {
        let (issuer, resource) = (self.server.issuer(), &self.server.settings.resource);
        format!("{context}\n{issuer}\n{resource}")
    }

    fn of_provider(&self, key: &str) -> String {
        format!("{key}\n{}", self.server.settings.provider.issuer)
    }
}

/// The seconds that clocks of processes may differ.
const SKEW: u64 = 60;

/// The characters of the longest text that is opened.
const MAX_SEALED: usize = 32 * 1024;
