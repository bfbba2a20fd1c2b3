//! Grants without a user's consent.

use super::script::*;
use mcp_auth::{
    AuthConfig, ClientProof, Document, EnterpriseGrant, Grant, PreRegistered, Secret, Subject,
    WorkloadGrant,
};

const IDP: &str = "https://idp.example/token";

/// AU-80: a secret; nothing is registered although the server would.
#[test]
fn client_credentials_by_secret() {
    let config = AuthConfig {
        grant: Grant::ClientCredentials,
        interactive: false,
        ..registered(ClientProof::Secret("s".into()))
    };
    let mut script = Script::new(config, challenge("Bearer scope=a"));
    script.discovers(r#","token_endpoint_auth_methods_supported":["client_secret_basic"],"scopes_supported":["offline_access"]"#);
    script.posts_form(
        TOKEN,
        &format!("grant_type=client_credentials & resource={SERVER} & scope=a"),
    );
    let credentials = script.answers(200, r#"{"access_token":"t"}"#).done();
    assert_eq!(credentials.refresh_token, None);
}

/// AU-80, AU-95: a signed assertion.
#[test]
fn client_credentials_by_assertion() {
    let config = AuthConfig {
        grant: Grant::ClientCredentials,
        ..registered(ClientProof::PrivateKey {
            algorithm: "ES256".into(),
            key_id: Some("k1".into()),
        })
    };
    let mut script = Script::new(config, None);
    script.discovers(r#","token_endpoint_auth_methods_supported":["private_key_jwt"]"#);
    let request = script.posts(TOKEN);
    let assertion = form_value(&request, "client_assertion").unwrap();
    assert_eq!(
        form_value(&request, "client_assertion_type").unwrap(),
        "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
    );
    assert!(assertion.starts_with(&script.signed[0].input));
    let (header, claims) = token_parts(&script.signed[0]);
    assert_eq!(
        header,
        serde_json::json!({"alg":"ES256","typ":"JWT","kid":"k1"})
    );
    assert_eq!(
        (&claims["iss"], &claims["sub"]),
        (&"client-1".into(), &"client-1".into())
    );
    assert_eq!(claims["aud"], ISSUER);
    assert_eq!(
        (&claims["iat"], &claims["exp"]),
        (&START.into(), &(START + 120).into())
    );
    assert_eq!(request.header("authorization"), None);
    assert_eq!(form_value(&request, "client_secret"), None);
}

/// AU-69, AU-95: the server must accept assertions, and the algorithm.
#[test]
fn assertions_that_are_not_accepted() {
    for (more, text) in [
        (
            r#","token_endpoint_auth_methods_supported":["client_secret_basic"]"#,
            "token_endpoint_auth_methods_supported",
        ),
        (
            r#","token_endpoint_auth_methods_supported":["private_key_jwt"],"token_endpoint_auth_signing_alg_values_supported":["RS256"]"#,
            "token_endpoint_auth_signing_alg_values_supported",
        ),
    ] {
        let config = AuthConfig {
            grant: Grant::ClientCredentials,
            ..registered(ClientProof::PrivateKey {
                algorithm: "ES256".into(),
                key_id: None,
            })
        };
        let mut script = Script::new(config, None);
        script.discovers(more);
        script.error(Document::ServerMetadata, &[text]);
    }
}

/// AU-80: without an identity nothing is registered.
#[test]
fn client_credentials_without_identity() {
    let config = AuthConfig {
        grant: Grant::ClientCredentials,
        interactive: false,
        ..config()
    };
    let mut script = Script::new(config, None);
    script.discovers("");
    script.error(Document::ServerMetadata, &["no way to identify"]);
}

fn workload(claims: &str) -> AuthConfig {
    AuthConfig {
        preferred_issuer: Some(ISSUER.into()),
        ..workload_without_issuer(claims)
    }
}

fn workload_without_issuer(claims: &str) -> AuthConfig {
    AuthConfig {
        grant: Grant::WorkloadIdentity(WorkloadGrant {
            assertion: Secret::from(format!("e30.{claims}.c2ln").as_str()),
        }),
        ..config()
    }
}

/// AU-36, AU-37: without a configured issuer, an assertion goes to the authorization server that it is
/// for, by its issuer or its token endpoint.
#[test]
fn audiences_of_workload_identity() {
    for (audience, goes) in [
        (r#""https://as.example""#, true),
        (r#"["https://other.example","https://as.example"]"#, true),
        (r#""https://as.example/token""#, true),
        (r#""https://as.example/""#, true),
        (r#""https://as.example//""#, false),
        (r#""https://other.example""#, false),
        (r#"["https://other.example",1]"#, false),
    ] {
        let claims = base64_url_text(&format!(r#"{{"exp":1750000001,"aud":{audience}}}"#));
        let mut script = Script::new(workload_without_issuer(&claims), None);
        script.discovers("");
        match goes {
            true => drop(script.posts(TOKEN)),
            false => drop(script.error(Document::ServerMetadata, &["belong to the issuer"])),
        }
    }
    for audience in ["", r#","aud":[]"#, r#","aud":1"#] {
        let claims = base64_url_text(&format!(r#"{{"exp":1750000001{audience}}}"#));
        let mut script = Script::new(workload_without_issuer(&claims), None);
        script.discovers("");
        script.error(Document::Configuration, &["`issuer` is missing"]);
    }
}

/// AU-36: neither to another issuer than the configured one, nor to endpoints that no metadata
/// names.
#[test]
fn workload_identity_at_other_issuers() {
    let named = base64_url_text(r#"{"exp":1750000001,"aud":"https://mcp.example"}"#);
    for (config, document) in [
        (workload(&named), Document::ResourceMetadata),
        (workload_without_issuer(&named), Document::ServerMetadata),
    ] {
        let mut script = Script::new(config.clone(), None);
        let published = PUBLISHED.replace(ISSUER, "https://evil.example");
        script.gets(RESOURCE_METADATA).answers(200, &published);
        if document == Document::ServerMetadata {
            script.request();
            script.answers(200, &metadata("").replace("as.example", "evil.example"));
        }
        script.error(document, &["belong to the issuer", "https://evil.example"]);

        let mut script = Script::new(config, None);
        for _ in 0..3 {
            script.request();
            script.answers(404, "");
        }
        script.error(Document::ServerMetadata, &["belong to the issuer"]);
    }
}

/// AU-91, AU-92: the assertion is sent as it is; nothing is registered.
#[test]
fn workload_identity() {
    // {"exp":1750000001}
    let mut script = Script::new(workload("eyJleHAiOjE3NTAwMDAwMDF9"), None);
    script.discovers("");
    script.posts_form(
        TOKEN,
        &format!("grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer & assertion=e30.eyJleHAiOjE3NTAwMDAwMDF9.c2ln & resource={SERVER}"),
    );
    script
        .answers(200, r#"{"access_token":"t","token_type":"Bearer"}"#)
        .done();
}

/// AU-93: no retry, no other grant; the error is surfaced.
#[test]
fn workload_identity_refused() {
    for error in ["invalid_grant", "use_dpop_nonce"] {
        let mut script = Script::new(workload("eyJleHAiOjE3NTAwMDAwMDF9"), None);
        script.discovers("");
        script.posts(TOKEN);
        let answer = format!("{{\"error\":{error:?}}}");
        script.answers_with(400, &[("dpop-nonce", b"n")], &answer);
        script.error(Document::TokenResponse, &[error]);
    }
}

/// AU-92: an expired assertion is not sent, and nothing is asked for.
#[test]
fn workload_identity_expired() {
    // {"exp":1750000000}
    let mut script = Script::new(workload("eyJleHAiOjE3NTAwMDAwMDB9"), None);
    script.error(
        Document::Configuration,
        &["expired", "obtain a new assertion"],
    );
}

fn enterprise(subject: Subject) -> AuthConfig {
    AuthConfig {
        grant: Grant::Enterprise(EnterpriseGrant {
            token_endpoint: IDP.into(),
            client: PreRegistered {
                issuer: Some("https://idp.example".into()),
                client_id: "idp-client".into(),
                proof: ClientProof::Public,
            },
            endpoint_auth: None,
            subject,
            force: false,
        }),
        ..registered(ClientProof::Secret("s".into()))
    }
}

const ID_JAG: &str = r#"{"issued_token_type":"urn:ietf:params:oauth:token-type:id-jag","access_token":"jag.jag.jag","token_type":"n_a","expires_in":300}"#;

/// AU-82, AU-84 to AU-86, AU-90: both steps.
#[test]
fn enterprise_managed() {
    let mut script = Script::new(
        enterprise(Subject::IdToken("id.id.id".into())),
        challenge("Bearer scope=a"),
    );
    script.discovers(r#","authorization_grant_profiles_supported":["urn:ietf:params:oauth:grant-profile:id-jag"]"#);
    script.posts_form(
        IDP,
        &format!("grant_type=urn:ietf:params:oauth:grant-type:token-exchange & requested_token_type=urn:ietf:params:oauth:token-type:id-jag & audience={ISSUER} & resource={SERVER} & scope=a & subject_token=id.id.id & subject_token_type=urn:ietf:params:oauth:token-type:id_token & client_id=idp-client"),
    );
    script.answers(200, ID_JAG);
    let request = script.posts(TOKEN);
    assert_eq!(
        form_text(&request),
        "grant_type=urn:ietf:params:oauth:grant-type:jwt-bearer & assertion=jag.jag.jag"
    );
    assert!(request.header("authorization").is_some());
    let credentials = script.answers(200, r#"{"access_token":"t"}"#).done();
    // AU-85: the assertion is not stored.
    assert!(!credentials.to_json().expose().contains("jag"));
    // AU-90: the URLs of both requests are those of the endpoints, and nothing that can be logged
    // has a token.
    let shown = script.shown.borrow();
    assert!(!shown.contains("id.id.id") && !shown.contains("jag.jag.jag"));
}

/// AU-84: a SAML assertion is exchanged for a refresh token first.
#[test]
fn enterprise_managed_by_saml() {
    let mut script = Script::new(enterprise(Subject::Saml("saml".into())), None);
    script.discovers("");
    let request = script.posts(IDP);
    assert_eq!(
        form_value(&request, "subject_token_type").unwrap(),
        "urn:ietf:params:oauth:token-type:saml2"
    );
    let refresh_token = "urn:ietf:params:oauth:token-type:refresh_token";
    assert_eq!(
        form_value(&request, "requested_token_type").unwrap(),
        refresh_token
    );
    script.answers(
        200,
        &format!(
            r#"{{"issued_token_type":{refresh_token:?},"access_token":"r","token_type":"N_A"}}"#
        ),
    );
    let request = script.posts(IDP);
    assert_eq!(form_value(&request, "subject_token").unwrap(), "r");
    assert_eq!(
        form_value(&request, "subject_token_type").unwrap(),
        refresh_token
    );
    script.answers(200, ID_JAG);
    script.posts(TOKEN);
}

/// AU-85: anything else than the assertion is an error.
#[test]
fn enterprise_managed_refused() {
    for (status, answer, text) in [
        (
            200,
            r#"{"access_token":"t","token_type":"N_A"}"#,
            "issued_token_type",
        ),
        (
            200,
            r#"{"issued_token_type":"urn:ietf:params:oauth:token-type:access_token","access_token":"t","token_type":"N_A"}"#,
            "issued_token_type",
        ),
        (
            200,
            r#"{"issued_token_type":"urn:ietf:params:oauth:token-type:id-jag","access_token":"t","token_type":"Bearer"}"#,
            "token_type",
        ),
        (400, r#"{"error":"invalid_target"}"#, "invalid_target"),
    ] {
        let mut script = Script::new(enterprise(Subject::IdToken("id".into())), None);
        script.discovers("");
        script.posts(IDP);
        script.answers(status, answer);
        script.error(Document::IdentityAssertion, &[text, IDP]);
    }
    // AU-87: a list without the profile.
    let mut script = Script::new(enterprise(Subject::IdToken("id".into())), None);
    script.discovers(r#","authorization_grant_profiles_supported":[]"#);
    script.error(
        Document::ServerMetadata,
        &["authorization_grant_profiles_supported"],
    );
}
