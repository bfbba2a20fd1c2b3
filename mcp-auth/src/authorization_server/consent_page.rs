//! The page that asks the user.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::{String, ToString};

use super::client::is_loopback;
use super::context::LoginContext;
use super::endpoint::LoginEndpoint;
use super::records::AuthorizationRequest;
use super::response::{LoginResponse, escape};
use crate::Uri;

/// Returns the page for a request and its sealed text. It shows what the client says of itself as such, and what is
/// certain: the hosts.
pub(super) fn consent_page(
    context: &LoginContext<'_>,
    request: &AuthorizationRequest,
    sealed: &str,
) -> LoginResponse {
    let settings = &context.server.settings;
    let host_of = |url: &str| Uri::parse(url).map_or_else(|_| String::new(), |it| it.origin());
    let name = match request.client_name.trim() {
        "" => "An application without a name",
        name => name,
    };
    let resource = settings.name.as_deref().unwrap_or(&settings.resource);
    let mut redirect = host_of(&request.redirect_uri);
    if is_loopback(&request.redirect_uri) {
        redirect.push_str(
            ", a program on this device. Any program there can say that it is this application.",
        );
    }
    let scopes = match request.scopes.is_empty() {
        true => "all that it offers".to_owned(),
        false => request.scopes.to_string(),
    };
    let remember = match request.is_rememberable {
        true => {
            "<p><label><input type=\"checkbox\" name=\"remember\" value=\"yes\"> \
             Do not ask again for this application in this browser</label></p>"
        }
        false => "",
    };
    let document = host_of(&request.client_id);
    let document = match document.as_str() {
        "" => "none: anyone can have registered it under this name",
        host => host,
    };
    let rows = [
        ("Application (by its own account, unverified)", name),
        ("Published by", document),
        ("Receives the access at", &redirect),
        ("Asks for access to", resource),
        ("Scope", &scopes),
        ("You log in at", &settings.provider.name),
    ];
    let rows = rows.map(|(name, value)| format!("<dt>{}<dd>{}", escape(name), escape(value)));
    let content = format!(
        "<dl>{}</dl><p>Allow this only if you have just begun to log in with this application yourself.\
         <form method=\"post\" action=\"{}\"><input type=\"hidden\" name=\"request\" value=\"{}\">{remember}\
         <button name=\"decision\" value=\"allow\">Allow</button> \
         <button name=\"decision\" value=\"deny\">Deny</button></form>",
        rows.concat(),
        escape(&context.server.url(LoginEndpoint::Consent)),
        escape(sealed),
    );
    LoginResponse::page(200, "Allow access?", &content)
}
