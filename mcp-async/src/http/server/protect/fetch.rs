//! Documents of authorization servers.

use core::error::Error;
use core::fmt;

use bytes::Bytes;
use http::header::ACCEPT;
use http::{HeaderValue, Request, StatusCode};
use http_body_util::{BodyExt as _, Limited};

use crate::net::{HttpClient, without_secrets};

/// Sends a request to an authorization server, and returns the body of a response with status 200.
pub(super) async fn fetch(
    client: &HttpClient,
    mut request: Request<Bytes>,
) -> Result<Vec<u8>, FetchError> {
    let url = without_secrets(&request.uri().to_string());
    let json = HeaderValue::from_static("application/json");
    request.headers_mut().insert(ACCEPT, json);
    let failed = |cause: Box<dyn Error + Send + Sync>| FetchError {
        url: url.clone(),
        fault: Fault::Failed(cause),
    };
    let response = client
        .send(request)
        .await
        .map_err(|error| failed(error.into()))?;
    if response.status() != StatusCode::OK {
        let fault = Fault::Status(response.status());
        return Err(FetchError { url, fault });
    }
    let body = Limited::new(response.into_body(), MAX_BODY).collect().await;
    Ok(body.map_err(failed)?.to_bytes().to_vec())
}

/// The bytes that a document may have (AU-31).
const MAX_BODY: usize = 1 << 20;

/// A document of an authorization server that cannot be used.
#[derive(Debug)]
pub(super) struct FetchError {
    url: String,
    fault: Fault,
}

#[derive(Debug)]
enum Fault {
    Failed(Box<dyn Error + Send + Sync>),
    Status(StatusCode),
    Wrong(String),
}

impl FetchError {
    /// The document at this URL is wrong.
    pub(super) fn wrong(url: &str, reason: impl Into<String>) -> Self {
        Self {
            url: without_secrets(url),
            fault: Fault::Wrong(reason.into()),
        }
    }
}

impl fmt::Display for FetchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = &self.url;
        match &self.fault {
            Fault::Failed(_) => write!(f, "{url} cannot be read"),
            Fault::Status(status) => write!(f, "{url} answers with status {}", status.as_u16()),
            Fault::Wrong(reason) => write!(f, "{url}: {reason}"),
        }
    }
}

impl Error for FetchError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        match &self.fault {
            Fault::Failed(cause) => Some(&**cause),
            Fault::Status(_) | Fault::Wrong(_) => None,
        }
    }
}
