//! Keys and metadata of issuers, fetched over HTTP.

use bytes::Bytes;
use http::Request;
use mcp_auth::Uri;

use super::fetch::{FetchError, fetch};
use super::guard::Documents;
use super::key_source::Answer;
use crate::net::{AddressGuard, HttpClient};
use crate::runtime::RuntimeHandle;

/// Fetches documents from hosts that the operator has named, and from public ones that their
/// metadata names.
pub(super) struct RemoteDocuments {
    client: HttpClient,
    /// For hosts that metadata names.
    guarded: HttpClient,
    hosts: Vec<String>,
}

impl RemoteDocuments {
    /// Judges the addresses that names of metadata resolve to (AU-29).
    pub(super) fn new(hosts: Vec<String>) -> Self {
        let guarded = HttpClient::builder().guard(AddressGuard::public_only());
        Self {
            client: HttpClient::default(),
            guarded: guarded.build(),
            hosts,
        }
    }

    /// Fetches with a client of the application, which may judge addresses itself.
    pub(super) fn with_client(client: HttpClient, hosts: Vec<String>) -> Self {
        Self {
            guarded: client.clone(),
            client,
            hosts,
        }
    }
}

impl Documents for RemoteDocuments {
    fn start(&self, runtime: &RuntimeHandle) {
        self.client.start(runtime);
        self.guarded.start(runtime);
    }

    fn fetch<'a>(&'a self, url: &'a str) -> Answer<'a, Vec<u8>> {
        Box::pin(async move {
            let wrong = |reason| FetchError::wrong(url, reason);
            let client = match origin_of(url, &self.hosts) {
                HostOrigin::Operator => &self.client,
                HostOrigin::Metadata => &self.guarded,
                HostOrigin::Refused => return Err(wrong("the address is not public").into()),
            };
            let request = Request::get(url).body(Bytes::new());
            let request = request.map_err(|_| wrong("it is not a URL"))?;
            Ok(fetch(client, request).await?)
        })
    }
}

/// The host of a URL that the operator has given.
pub(in crate::http::server) fn host_of(url: &str) -> Option<String> {
    Some(Uri::parse(url).ok()?.host().to_ascii_lowercase())
}

/// The party that named the host of a URL.
#[derive(Debug, PartialEq, Eq)]
enum HostOrigin {
    Operator,
    Metadata,
    /// It is an address that metadata may not name.
    Refused,
}

fn origin_of(url: &str, hosts: &[String]) -> HostOrigin {
    match host_of(url) {
        Some(host) if hosts.contains(&host) => HostOrigin::Operator,
        Some(host) if AddressGuard::public_only().judge_host(&host).is_ok() => HostOrigin::Metadata,
        _ => HostOrigin::Refused,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_come_from_public_hosts_and_those_of_the_operator() {
        let hosts = [
            "https://10.0.0.1/",
            "http://localhost:1",
            "http://127.0.0.1:1",
        ];
        let hosts = Vec::from_iter(hosts.into_iter().filter_map(host_of));
        let check = |url: &str| origin_of(url, &hosts);
        for url in [
            "https://10.0.0.1/keys",
            "http://LOCALHOST:2/keys",
            "http://127.0.0.1:2/keys",
        ] {
            assert_eq!(check(url), HostOrigin::Operator, "{url}");
        }
        for url in ["https://a.example/keys", "https://93.184.215.14/keys"] {
            assert_eq!(check(url), HostOrigin::Metadata, "{url}");
        }
        for url in [
            "https://127.0.0.2/keys",
            "https://10.0.0.2/keys",
            "https://169.254.169.254/keys",
            "https://[::ffff:10.0.0.2]/keys",
            "https://[::1]/keys",
            "file:///keys",
            "",
        ] {
            assert_eq!(check(url), HostOrigin::Refused, "{url}");
        }
    }
}
