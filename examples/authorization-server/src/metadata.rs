//! The metadata of the server (RFC 8414, OpenID Connect Discovery).

use serde_json::{Value, json};

use crate::server::Turn;
use crate::token::{CLIENT_CREDENTIALS, JWT_BEARER, TOKEN_EXCHANGE};

pub(crate) const OPENID: &str = "/.well-known/openid-configuration";
const OAUTH: &str = "/.well-known/oauth-authorization-server";

/// Whether clients look for the metadata of an issuer with this path at this place.
pub(crate) fn is_place(path: &str, prefix: &str) -> bool {
    let inserted = [OAUTH, OPENID].iter().any(|place| {
        let rest = path.strip_prefix(place);
        rest == Some(prefix)
    });
    inserted || path.strip_prefix(prefix) == Some(OPENID)
}

pub(crate) fn document(turn: &Turn<'_>) -> Value {
    let settings = turn.settings;
    let algorithm = turn.state.key().jwk()["alg"].clone();
    let mut document = json!({
        "issuer": settings.issuer,
        "authorization_endpoint": turn.url("/authorize"),
        "token_endpoint": turn.url("/token"),
        "jwks_uri": turn.url("/jwks"),
        "introspection_endpoint": turn.url("/introspect"),
        "revocation_endpoint": turn.url("/revoke"),
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": [
            "authorization_code", "refresh_token", CLIENT_CREDENTIALS, TOKEN_EXCHANGE, JWT_BEARER,
        ],
        "authorization_grant_profiles_supported": ["urn:ietf:params:oauth:grant-profile:id-jag"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": [
            "none", "client_secret_basic", "client_secret_post", "private_key_jwt",
        ],
        "token_endpoint_auth_signing_alg_values_supported": ["ES256", "RS256"],
        "dpop_signing_alg_values_supported": ["ES256", "RS256"],
        "authorization_response_iss_parameter_supported": settings.has_issuer_parameter,
        "client_id_metadata_document_supported": settings.fetch.is_some(),
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [algorithm],
    });
    if settings.has_registration {
        document["registration_endpoint"] = turn.url("/register").into();
    }
    if !settings.scopes.is_empty() {
        document["scopes_supported"] = settings.scopes.clone().into();
    }
    document
}
