//! The metadata document of the authorization server (RFC 8414).

use super::endpoint::LoginEndpoint;
use super::server::AuthorizationServer;
use crate::error::ISS_PARAMETER;
use crate::jwt::JsonText;

/// Returns the document (AU-71).
pub(super) fn document(server: &AuthorizationServer) -> JsonText {
    let settings = &server.settings;
    let url = |endpoint| server.url(endpoint);
    let mut document = JsonText::new()
        .text("issuer", &server.issuer)
        .text("authorization_endpoint", &url(LoginEndpoint::Authorize))
        .text("token_endpoint", &url(LoginEndpoint::Token))
        .text("revocation_endpoint", &url(LoginEndpoint::Revoke))
        .texts("response_types_supported", ["code"])
        .texts("response_modes_supported", ["query"])
        .texts(
            "grant_types_supported",
            ["authorization_code", "refresh_token"],
        )
        .texts("code_challenge_methods_supported", ["S256"])
        .texts("token_endpoint_auth_methods_supported", ["none"])
        .texts("revocation_endpoint_auth_methods_supported", ["none"])
        .json(ISS_PARAMETER, "true");
    if settings.registration {
        document = document.text("registration_endpoint", &url(LoginEndpoint::Register));
    }
    if settings.client_documents {
        document = document.json("client_id_metadata_document_supported", "true");
    }
    let scopes = settings.all_scopes();
    if !scopes.is_empty() {
        document = document.texts("scopes_supported", scopes.iter());
    }
    document.end()
}
