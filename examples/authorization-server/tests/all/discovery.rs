use authorization_server::{AuthorizationServer, Settings};
use bytes::Bytes;
use http::Request;

use crate::scripted::{ISSUER, Scripted};

/// AU-13, AU-71: the places of an issuer with a path are those that clients ask in order.
#[test]
fn places_of_an_issuer_with_a_path() {
    let settings = Settings::new("http://localhost:9000/tenant1");
    let server = AuthorizationServer::new(settings).unwrap();
    for place in [
        "/.well-known/oauth-authorization-server/tenant1",
        "/.well-known/openid-configuration/tenant1",
        "/tenant1/.well-known/openid-configuration",
    ] {
        let request = Request::get(place).body(Bytes::new()).unwrap();
        let response = server.handle(&request);
        let document: serde_json::Value = serde_json::from_slice(response.body()).unwrap();
        assert_eq!(
            document["issuer"], "http://localhost:9000/tenant1",
            "{place}"
        );
        let token = "http://localhost:9000/tenant1/token";
        assert_eq!(document["token_endpoint"], token);
    }
    for place in [
        "/.well-known/oauth-authorization-server",
        "/.well-known/oauth-authorization-server/tenant2",
        "/token",
    ] {
        assert!(!server.serves(place), "{place}");
    }
}

/// AU-13, AU-71, AU-75: what clients read of the server.
#[test]
fn metadata() {
    let document = Scripted::new(|settings| settings.scopes(["mcp", "admin"]))
        .get_json("/.well-known/oauth-authorization-server");
    assert_eq!(document["issuer"], ISSUER);
    assert_eq!(
        document["scopes_supported"],
        serde_json::json!(["mcp", "admin"])
    );
    assert_eq!(
        document["code_challenge_methods_supported"],
        serde_json::json!(["S256"])
    );
    assert_eq!(
        document["registration_endpoint"],
        format!("{ISSUER}/register")
    );
    // AU-73
    assert_eq!(
        document["authorization_response_iss_parameter_supported"],
        true
    );
    let lists = |member: &str, value: &str| {
        let listed = document[member].as_array().expect(member);
        assert!(listed.contains(&value.into()), "{value} in {member}");
    };
    lists("response_types_supported", "code");
    // AU-81
    lists("token_endpoint_auth_methods_supported", "private_key_jwt");
    lists(
        "token_endpoint_auth_methods_supported",
        "client_secret_basic",
    );
    lists("token_endpoint_auth_signing_alg_values_supported", "ES256");
    // AU-94
    lists(
        "grant_types_supported",
        "urn:ietf:params:oauth:grant-type:jwt-bearer",
    );
    // AU-114: both are asymmetric.
    assert_eq!(
        document["dpop_signing_alg_values_supported"],
        serde_json::json!(["ES256", "RS256"])
    );
}

/// AU-13: what a server of 2025-03-26 may leave out.
#[test]
fn without_metadata_only_the_default_paths_are_left() {
    let script = Scripted::new(|settings| settings.without_metadata().without_issuer_parameter());
    for place in [
        "/.well-known/oauth-authorization-server",
        "/.well-known/openid-configuration",
    ] {
        assert_eq!(script.get(place).status(), 404);
    }
    let url = script.authorize(&[("resource", "")]);
    assert!(!url.query_pairs().any(|(name, _)| name == "iss"));
}

#[test]
fn an_issuer_is_an_absolute_url() {
    for issuer in [
        "",
        "localhost:9000",
        "ftp://localhost",
        "http://a/?q",
        "http://a/#f",
    ] {
        let made = AuthorizationServer::new(Settings::new(issuer));
        assert!(made.is_err(), "{issuer}");
    }
}
