//! Requests to the provider, and for the metadata documents of clients.

use core::time::Duration;
use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderName, HeaderValue, Request};
use http_body_util::{BodyExt as _, Full, Limited};
use mcp_auth::authorization_server::Provider;
use mcp_auth::{Document, HttpRequest, Uri};
use mcp_proto::Instant;

use crate::http::server::protect::host_of;
use crate::net::{AddressGuard, HttpClient};
use crate::runtime::{RuntimeHandle, within};
use crate::shares::{CallerId, Shares};
use crate::sync::Lock;

/// Sends requests: to hosts that the operator has named, and to public ones that others have named (AU-29).
pub(super) struct LoginClient {
    client: HttpClient,
    /// For hosts that the metadata of the provider names.
    named: HttpClient,
    /// For hosts that clients name: never the client of the operator.
    guarded: HttpClient,
    /// Those of the operator.
    hosts: Vec<String>,
    runtime: RuntimeHandle,
    /// Requests to the provider that are under way, and those for documents, whose hosts anyone chooses.
    places: Arc<Shares<CallerId>>,
    document_places: Arc<Shares<CallerId>>,
    /// Documents of clients that may be used again, by their URLs.
    documents: Lock<HashMap<String, (Instant, Response)>>,
}

/// A response with its whole body.
#[derive(Clone)]
pub(super) struct Response {
    pub(super) status: u16,
    pub(super) content_type: Option<HeaderValue>,
    pub(super) body: Vec<u8>,
}

impl LoginClient {
    pub(super) fn new(
        provider: &Provider,
        client: Option<HttpClient>,
        runtime: &RuntimeHandle,
    ) -> Self {
        let public = AddressGuard::public_only();
        let guarded = HttpClient::builder().guard(public).build();
        let this = Self {
            named: client.clone().unwrap_or_else(|| guarded.clone()),
            client: client.unwrap_or_default(),
            guarded,
            hosts: provider.urls().filter_map(host_of).collect(),
            runtime: runtime.clone(),
            places: Shares::new(MOST_REQUESTS),
            document_places: Shares::new(MOST_REQUESTS),
            documents: Lock::default(),
        };
        this.client.start(runtime);
        this.guarded.start(runtime);
        this
    }

    /// Sends a request that this caller has brought about.
    ///
    /// # Errors
    /// A text without secrets for the log.
    pub(super) async fn send(
        &self,
        request: &HttpRequest,
        caller: Option<CallerId>,
    ) -> Result<Response, String> {
        let is_document = request.document == Document::ClientMetadata;
        let now = self.runtime.now();
        if is_document
            && let Some((until, response)) = self.documents.lock().get(&request.url)
            && now < *until
        {
            return Ok(response.clone());
        }
        let places = match is_document {
            true => &self.document_places,
            false => &self.places,
        };
        let Some(_place) = places.take(caller) else {
            return Err("too many requests are under way".into());
        };
        let exchanged = within(&self.runtime, TIMEOUT, self.exchange(request)).await;
        let (headers, response) = exchanged.unwrap_or_else(|| Err("no answer in time".into()))?;
        if is_document && response.status == 200 {
            self.keep(&request.url, now, &headers, &response);
        }
        Ok(response)
    }

    /// Forgets a document that cannot be used: its publisher repairs it.
    pub(super) fn forget_document(&self, url: &str) {
        self.documents.lock().remove(url);
    }

    async fn exchange(&self, request: &HttpRequest) -> Result<(HeaderMap, Response), String> {
        let client = self.client_for(request)?;
        let mut builder = Request::builder().method(request.method).uri(&request.url);
        for (name, value) in &request.headers {
            let value = HeaderValue::try_from(value.expose());
            let mut value = value.map_err(|_| format!("the field {name} is malformed"))?;
            value.set_sensitive(true);
            builder = builder.header(HeaderName::from_static(name), value);
        }
        let body = request.body.as_ref().map_or("", |body| body.expose());
        let sent = builder.body(Full::new(Bytes::copy_from_slice(body.as_bytes())));
        let sent = sent.map_err(|_| "it is not a URL".to_owned())?;
        // A redirect is a response: none of the requests may be sent elsewhere.
        let response = client.exchange(sent).await;
        let response = response.map_err(|error| error.to_string())?;
        let (parts, body) = response.into_parts();
        let body = Limited::new(body, HttpRequest::MAX_BODY).collect().await;
        let body = body.map_err(|error| error.to_string())?.to_bytes().to_vec();
        let response = Response {
            status: parts.status.as_u16(),
            content_type: parts.headers.get(CONTENT_TYPE).cloned(),
            body,
        };
        Ok((parts.headers, response))
    }

    /// The core has checked that a party on this machine is named by one on this machine only.
    fn client_for(&self, request: &HttpRequest) -> Result<&HttpClient, String> {
        let uri = Uri::parse(&request.url).map_err(|error| error.to_string())?;
        let host = uri.host().to_ascii_lowercase();
        let (is_known, other) = match request.document {
            Document::ClientMetadata => (uri.is_loopback(), &self.guarded),
            _ => (self.hosts.contains(&host), &self.named),
        };
        match AddressGuard::public_only().judge_host(&host) {
            _ if is_known => Ok(&self.client),
            Ok(()) => Ok(other),
            Err(_) => Err("the address is not public".into()),
        }
    }

    /// Keeps a document for as long as its server says, an hour at most (AU-72). The one that is kept for the shortest
    /// time makes room.
    fn keep(&self, url: &str, now: Instant, headers: &HeaderMap, response: &Response) {
        let lifetime = Duration::from_secs(lifetime(headers));
        if lifetime.is_zero() || response.body.len() > MAX_DOCUMENT {
            return;
        }
        let mut documents = self.documents.lock();
        documents.retain(|_, (until, _)| now < *until);
        if documents.len() >= MOST_DOCUMENTS {
            let first = documents.iter().min_by_key(|(_, (until, _))| *until);
            let first = first.map(|(url, _)| url.clone());
            documents.remove(&first.unwrap_or_default());
        }
        documents.insert(url.into(), (now + lifetime, response.clone()));
    }
}

/// The seconds for which a response may be used again.
fn lifetime(headers: &HeaderMap) -> u64 {
    let lines = headers.get_all(CACHE_CONTROL).iter();
    let text: Vec<_> = lines.filter_map(|line| line.to_str().ok()).collect();
    let text = text.join(",").to_ascii_lowercase();
    let mut directives = text.split(',').map(str::trim);
    if directives
        .clone()
        .any(|it| matches!(it, "no-store" | "no-cache"))
    {
        return 0;
    }
    let age = directives.find_map(|it| it.strip_prefix("max-age=")?.parse().ok());
    age.unwrap_or(UNSTATED).min(LONGEST)
}

/// The time limit of a request.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Requests of one kind that may be under way; one caller has a share of them.
const MOST_REQUESTS: usize = 64;

const MOST_DOCUMENTS: usize = 256;

const MAX_DOCUMENT: usize = 16 << 10;

/// The seconds for which a document is kept that says nothing about it.
const UNSTATED: u64 = 60;

const LONGEST: u64 = 3_600;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_kept_for_as_long_as_http_says() {
        let check = |lines: &[&'static str], expected: u64| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(CACHE_CONTROL, HeaderValue::from_static(line));
            }
            assert_eq!(lifetime(&headers), expected, "{lines:?}");
        };
        check(&[], 60);
        check(&["public, max-age=300"], 300);
        check(&["Max-Age=0"], 0);
        check(&["max-age=999999"], 3_600);
        check(&["max-age=300", "no-store"], 0);
        check(&["private, no-cache"], 0);
        check(&["max-age=soon"], 60);
    }
}
