//! The address of the keys of an issuer.

use alloc::string::String;

use super::key_issuer::KeyIssuer;
use crate::{AuthError, Document, Problem, ServerMetadata, Uri};

/// The address of an issuer's keys: configured, or found in the metadata of the issuer.
#[derive(Clone, Debug)]
pub(super) struct KeySource {
    issuer: String,
    is_configured: bool,
    keys_url: Option<String>,
    /// The index of the place of the metadata that is asked.
    place: usize,
    /// Of the metadata at the places that were asked since the last one.
    first_error: Option<AuthError>,
}

/// The result of reading a document of metadata.
pub(super) enum KeySearch {
    /// The keys can be fetched.
    Found,
    /// The next place is to be asked.
    Continues,
    /// There is no further place.
    Ended(AuthError),
}

impl KeySource {
    pub(super) fn new(issuer: &KeyIssuer) -> Self {
        Self {
            issuer: issuer.issuer.clone(),
            is_configured: issuer.keys_url.is_some(),
            keys_url: issuer.keys_url.clone(),
            place: 0,
            first_error: None,
        }
    }

    /// The address of the keys; `None` while it is searched for.
    pub(super) fn keys_url(&self) -> Option<&str> {
        self.keys_url.as_deref()
    }

    /// Returns the URL that is to be fetched next.
    pub(super) fn url(&self) -> String {
        let place = || self.metadata_url().unwrap_or_default();
        self.keys_url.clone().unwrap_or_else(place)
    }

    fn metadata_url(&self) -> Option<String> {
        let issuer = Uri::parse(&self.issuer).ok()?;
        let places = ServerMetadata::candidates(&issuer);
        places.into_iter().nth(self.place)
    }

    /// Searches again, because no keys were at the address: the issuer may have moved them.
    pub(super) fn forget(&mut self) {
        if !self.is_configured {
            self.keys_url = None;
        }
    }

    /// Reads what is at a place of the metadata. One without keys costs only its place.
    pub(super) fn receive(&mut self, document: Option<&[u8]>) -> KeySearch {
        let url = self.metadata_url().unwrap_or_default();
        match self.read(&url, document) {
            Ok(Some(keys_url)) => {
                self.keys_url = Some(keys_url);
                self.place = 0;
                self.first_error = None;
                return KeySearch::Found;
            }
            Ok(None) => {}
            Err(error) => {
                self.first_error.get_or_insert(error);
            }
        }
        self.place = self.place.saturating_add(1);
        if self.metadata_url().is_some() {
            return KeySearch::Continues;
        }
        self.place = 0;
        KeySearch::Ended(self.first_error.take().unwrap_or_else(|| {
            AuthError::new(Document::ServerMetadata, &self.issuer, Problem::NotFound)
        }))
    }

    fn read(&self, url: &str, document: Option<&[u8]>) -> Result<Option<String>, AuthError> {
        let Some(document) = document else {
            return Ok(None);
        };
        let Some(metadata) = ServerMetadata::read(url, document)? else {
            return Ok(None);
        };
        metadata.check_issuer(&self.issuer)?;
        metadata.jwks_uri().map(|url| Some(url.into()))
    }
}
