//! Keys and metadata of issuers, fetched over HTTP.

use bytes::Bytes;
use http::Request;
use mcp_proto::auth::Uri;

use super::fetch::{FetchError, fetch};
use super::guard::Documents;
use super::key_source::KeysFuture;
use crate::net::{AddressGuard, HttpClient, Network};

/// Fetches documents from hosts that the operator has named, and from public ones that their
/// metadata names.
pub(super) struct RemoteDocuments<R: Network> {
    client: HttpClient<R>,
    hosts: Vec<String>,
}

impl<R: Network> RemoteDocuments<R> {
    pub(super) const fn new(client: HttpClient<R>, hosts: Vec<String>) -> Self {
        Self { client, hosts }
    }
}

impl<R: Network> Documents for RemoteDocuments<R> {
    fn fetch<'a>(&'a self, url: &'a str) -> KeysFuture<'a> {
        Box::pin(async move {
            if !may_fetch(url, &self.hosts) {
                let reason = "the address is not public";
                return Err(FetchError::wrong(url, reason).into());
            }
            let request = Request::get(url).body(Bytes::new());
            let request = request.map_err(|_| FetchError::wrong(url, "it is not a URL"))?;
            Ok(fetch(&self.client, request).await?)
        })
    }
}

/// The host of a URL that the operator has given.
pub(super) fn host_of(url: &str) -> Option<String> {
    Some(Uri::parse(url).ok()?.host().to_ascii_lowercase())
}

/// Whether a host is one of these, or does not state an address that is not public (AU-29).
fn may_fetch(url: &str, hosts: &[String]) -> bool {
    let Some(host) = host_of(url) else {
        return false;
    };
    hosts.contains(&host) || AddressGuard::public_only().judge_host(&host).is_ok()
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
        let check = |url: &str| may_fetch(url, &hosts);
        for url in [
            "https://a.example/keys",
            "https://93.184.215.14/keys",
            "https://10.0.0.1/keys",
            "http://LOCALHOST:2/keys",
            "http://127.0.0.1:2/keys",
        ] {
            assert!(check(url), "{url}");
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
            assert!(!check(url), "{url}");
        }
    }
}
