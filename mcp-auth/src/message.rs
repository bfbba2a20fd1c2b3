//! Requests to authorization servers, and their responses.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use super::Secret;
use super::error::{Document, MAX_BODY};

/// A request that the caller sends.
///
/// `Debug` shows neither the values of the fields nor the body.
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct HttpRequest {
    /// The document that is asked for.
    pub document: Document,
    /// `GET` or `POST`.
    pub method: &'static str,
    /// The absolute URL. It was not given by the user, unless it is at the origin of the MCP
    /// server: the caller must check the addresses that it resolves to (AU-29).
    pub url: String,
    /// Fields of the head, apart from those that HTTP itself requires.
    pub headers: Vec<(&'static str, Secret)>,
    /// The body of a `POST`.
    pub body: Option<Secret>,
    /// The most redirects that may be followed: none for a `POST` (AU-31).
    pub max_redirects: u8,
}

impl HttpRequest {
    /// The longest body of a response, after decompression (AU-31). The caller must stop reading
    /// beyond it.
    pub const MAX_BODY: usize = MAX_BODY;

    /// A request for a document at this URL.
    pub fn get(document: Document, url: String) -> Self {
        Self {
            document,
            method: "GET",
            url,
            headers: Vec::from([("accept", Secret::from("application/json"))]),
            body: None,
            max_redirects: 10,
        }
    }

    pub(crate) fn post(
        document: Document,
        url: String,
        media_type: &'static str,
        body: String,
    ) -> Self {
        Self {
            document,
            method: "POST",
            url,
            headers: Vec::from([
                ("accept", Secret::from("application/json")),
                ("content-type", Secret::from(media_type)),
            ]),
            body: Some(Secret::from(body)),
            max_redirects: 0,
        }
    }

    /// Returns the value of a field.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut headers = self.headers.iter();
        headers
            .find(|(other, _)| other.eq_ignore_ascii_case(name))
            .map(|(_, value)| value.expose())
    }
}

impl fmt::Debug for HttpRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.headers.iter().map(|(name, _)| *name);
        f.debug_struct("HttpRequest")
            .field("document", &self.document)
            .field("method", &self.method)
            .field("url", &self.url)
            .field("headers", &names.collect::<Vec<_>>())
            .field("body", &self.body)
            .finish_non_exhaustive()
    }
}

/// The response to an [`HttpRequest`].
///
/// `Debug` shows neither the values of the fields nor the body.
#[derive(Clone, Copy)]
pub struct HttpResponse<'r> {
    /// The status.
    pub status: u16,
    /// The fields of the head; names have any case.
    pub headers: &'r [(&'r str, &'r [u8])],
    /// The body, decompressed.
    pub body: &'r [u8],
}

impl<'r> HttpResponse<'r> {
    /// Returns the value of a field; `None` if it is absent, sent twice, or no text.
    pub(crate) fn header(&self, name: &str) -> Option<&'r str> {
        let mut values = self
            .headers
            .iter()
            .filter(|(other, _)| other.eq_ignore_ascii_case(name));
        let (_, value) = values.next()?;
        match values.next() {
            None => core::str::from_utf8(value).ok().map(str::trim_ascii),
            Some(_) => None,
        }
    }

    pub(crate) const fn is_success(&self) -> bool {
        matches!(self.status, 200..=299)
    }
}

impl fmt::Debug for HttpResponse<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpResponse")
            .field("status", &self.status)
            .field("body", &format_args!("{} bytes", self.body.len()))
            .finish_non_exhaustive()
    }
}
