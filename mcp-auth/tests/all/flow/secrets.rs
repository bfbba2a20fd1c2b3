//! No secret appears in `Debug` or `Display`.

use super::script::*;
use mcp_auth::{AuthConfig, ClientProof, Document, DpopKey};

/// AU-90: a complete flow with every secret that there is, and a refresh.
#[test]
fn a_complete_flow() {
    let config = || AuthConfig {
        dpop: DpopKey::new("ES256", r#"{"kty":"EC","crv":"P-256","x":"l8t","y":"9VE"}"#).ok(),
        ..registered(ClientProof::Secret("cl1ent-s3cret".into()))
    };
    let mut script = Script::consented(config(), challenge("Bearer scope=a"));
    let proof = script.posts(TOKEN);
    let stored = script
        .answers(
            200,
            r#"{"access_token":"acce55","token_type":"DPoP","refresh_token":"refre5h"}"#,
        )
        .done();
    let mut secrets = script.secrets.clone();
    secrets.push(proof.header("dpop").unwrap().into());
    secrets.push(proof.header("authorization").unwrap().into());
    secrets.extend(["cl1ent-s3cret", "acce55", "refre5h"].map(String::from));
    let mut shown = script.shown.borrow().clone();
    shown.push_str(&format!("{stored:?} {proof:?} {:?}", script.signed));

    let mut script = Script::refresh(config(), &stored);
    let request = script.posts(TOKEN);
    let answer = r#"{"access_token":"acce56","token_type":"DPoP"}"#;
    let renewed = script.answers(200, answer).done();
    secrets.push("acce56".into());
    shown.push_str(&format!(
        "{renewed:?} {request:?} {}",
        script.shown.borrow()
    ));

    assert!(secrets.len() >= 8);
    for secret in &secrets {
        assert!(!shown.contains(secret.as_str()), "{secret}");
    }
    assert!(shown.contains("Secret(..)"));
}

/// The assertion of a client is valid for minutes: it is not shown while it is on its way.
#[test]
fn assertions_of_clients() {
    let config = AuthConfig {
        dpop: DpopKey::new("ES256", r#"{"kty":"EC","crv":"P-256","x":"l8t","y":"9VE"}"#).ok(),
        ..registered(ClientProof::PrivateKey {
            algorithm: "ES256".into(),
            key_id: None,
        })
    };
    let mut script = Script::new(config, None);
    script.discovers(r#","token_endpoint_auth_methods_supported":["private_key_jwt"]"#);
    script.consents();
    let request = script.posts(TOKEN);
    let assertion = form_value(&request, "client_assertion").unwrap();
    assert!(assertion.starts_with(&script.signed[0].input));
    assert!(!script.shown.borrow().contains(&assertion));
}

/// A hostile server repeats what it was sent: the error does not.
#[test]
fn repeated_by_the_server() {
    let config = || registered(ClientProof::Secret("cl1ent-s3cret".into()));
    let script = Script::consented(config(), None);
    let verifier = script.secrets[0].clone();
    for secret in ["c0de", "cl1ent-s3cret", verifier.as_str()] {
        let mut script = Script::consented(config(), None);
        script.posts(TOKEN);
        script.answers(
            400,
            &format!(r#"{{"error":"invalid_grant","error_description":"got {secret}"}}"#),
        );
        let error = script.error(Document::TokenResponse, &["invalid_grant"]);
        assert!(!format!("{error} {error:?}").contains(secret), "{error}");

        let mut script = Script::consented(config(), None);
        script.posts(TOKEN);
        script.answers(400, &format!(r#"{{"error":"{secret}"}}"#));
        let error = script.error(Document::TokenResponse, &["status 400"]);
        assert!(!format!("{error} {error:?}").contains(secret), "{error}");
    }
}

/// A key in the query of the server's URL is not shown.
#[test]
fn keys_in_urls() {
    let config = AuthConfig::new("https://mcp.example/p/mcp?api_key=k3y", "Demo", CALLBACK);
    let mut script = Script::new(config, None);
    script.gets(RESOURCE_METADATA).answers(200, PUBLISHED);
    let error = script.error(Document::ResourceMetadata, &["resource"]);
    assert!(!format!("{error} {error:?}").contains("k3y"), "{error}");
    assert!(!script.shown.borrow().contains("k3y"));

    // Nor is it sent to an authorization server.
    let config = AuthConfig::new("https://mcp.example/p/mcp?api_key=k3y", "Demo", CALLBACK);
    let mut script = Script::new(config, None);
    for _ in 0..3 {
        script.answers(404, "");
    }
    script.posts("https://mcp.example/register");
    script.answers(201, r#"{"client_id":"c"}"#);
    assert_eq!(script.opens().get("resource").unwrap(), SERVER);
}
