use serde_json::json;

use crate::scripted::{REDIRECT, Scripted, json, refusal};

#[test]
fn a_registered_client_logs_in() {
    let script = Scripted::new(|settings| settings);
    let sent = json!({
        "client_name": "Desk", "redirect_uris": [REDIRECT], "application_type": "native",
        "token_endpoint_auth_method": "none", "grant_types": ["authorization_code"],
    });
    let response = script.register(&sent);
    assert_eq!(response.status(), 201);
    let client = json(&response);
    assert_eq!(client["redirect_uris"], sent["redirect_uris"]);
    assert_eq!(client["application_type"], "native");
    assert!(client.get("client_secret").is_none());
    let id = ("client_id", client["client_id"].as_str().unwrap());
    let tokens = json(&script.redeem(&script.code(&[id]), &[id]));
    // It has not asked for the refresh grant.
    assert!(tokens.get("refresh_token").is_none());
}

/// AU-114: a client that is registered for bound tokens gets no others.
#[test]
fn a_client_of_bound_tokens_sends_proofs() {
    let script = Scripted::new(|settings| settings);
    let client = json(&script.register(&json!({
        "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "none",
        "dpop_bound_access_tokens": true,
    })));
    assert_eq!(client["dpop_bound_access_tokens"], true);
    let id = ("client_id", client["client_id"].as_str().unwrap());
    let refused = script.redeem(&script.code(&[id]), &[id]);
    assert_eq!(refusal(&refused), (400, "invalid_dpop_proof".into()));
}

/// Without a method, the client has a secret for Basic.
#[test]
fn defaults() {
    let script = Scripted::new(|settings| settings);
    let client = json(&script.register(&json!({ "redirect_uris": [REDIRECT] })));
    assert_eq!(client["token_endpoint_auth_method"], "client_secret_basic");
    assert_eq!(client["grant_types"], json!(["authorization_code"]));
    assert_eq!(client["client_secret_expires_at"], 0);
    assert!(client["client_secret"].is_string());
}

#[test]
fn refused_registrations() {
    let script = Scripted::new(|settings| settings);
    let metadata = "invalid_client_metadata";
    let redirect = "invalid_redirect_uri";
    for (sent, error) in [
        (json!([]), metadata),
        (json!({}), redirect),
        (json!({ "redirect_uris": "x" }), metadata),
        (json!({ "redirect_uris": [1] }), metadata),
        (json!({ "redirect_uris": ["/callback"] }), redirect),
        (
            json!({ "redirect_uris": ["http://client.example/"] }),
            redirect,
        ),
        (
            json!({ "redirect_uris": ["javascript:alert(1)"] }),
            redirect,
        ),
        (
            json!({ "redirect_uris": ["https://client.example/#f"] }),
            redirect,
        ),
        (
            json!({ "redirect_uris": [REDIRECT], "application_type": "web" }),
            redirect,
        ),
        (
            json!({ "redirect_uris": [REDIRECT], "application_type": "app" }),
            metadata,
        ),
        (
            json!({ "redirect_uris": [REDIRECT], "grant_types": ["password"] }),
            metadata,
        ),
        (
            json!({ "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "tls" }),
            metadata,
        ),
        (
            json!({ "redirect_uris": [REDIRECT], "token_endpoint_auth_method": "private_key_jwt" }),
            metadata,
        ),
    ] {
        let refused = script.register(&sent);
        assert_eq!(refusal(&refused), (400, error.into()), "{sent}");
    }
    let closed = Scripted::new(|settings| settings.without_registration());
    assert_eq!(
        closed
            .register(&json!({ "redirect_uris": [REDIRECT] }))
            .status(),
        404
    );
    let metadata = closed.get_json("/.well-known/oauth-authorization-server");
    assert!(metadata.get("registration_endpoint").is_none());
}
