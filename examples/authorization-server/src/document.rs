//! Clients whose id is the URL of a document (client id metadata documents).

use bytes::Bytes;
use http::Request;
use serde_json::Value;
use url::Url;

use crate::Client;
use crate::client::is_loopback;
use crate::form::Form;

/// The URL that a request names as its client. `https` with a path is allowed, and `http` on
/// loopback, for development.
pub(crate) fn client_id(request: &Request<Bytes>) -> Option<String> {
    let query = request.uri().query().unwrap_or_default();
    let form = [query.as_bytes(), request.body()]
        .into_iter()
        .filter_map(|text| Form::parse(text).ok())
        .find_map(|form| form.get("client_id").map(String::from))?;
    let url = Url::parse(&form).ok()?;
    let is_allowed = url.scheme() == "https" || is_loopback(&url);
    let is_document = url.path() != "/" && url.fragment().is_none() && url.username().is_empty();
    (is_allowed && is_document).then_some(form)
}

/// The client that a document describes. `None` if its `client_id` is not its URL, or if required
/// members are missing.
pub(crate) fn client(url: &str, document: &[u8]) -> Option<Client> {
    let document: Value = serde_json::from_slice(document).ok()?;
    if document["client_id"] != url || document.get("client_secret").is_some() {
        return None;
    }
    let mut client = match document["token_endpoint_auth_method"].as_str() {
        None | Some("none") => Client::public(url),
        Some("private_key_jwt") => {
            let keys = document["jwks"]["keys"].as_array()?;
            Client::with_keys(url, keys.iter().cloned())
        }
        Some(_) => return None,
    };
    client.name = Some(document["client_name"].as_str()?.into());
    for uri in document["redirect_uris"].as_array()? {
        client = client.redirect(uri.as_str()?);
    }
    Some(client)
}
