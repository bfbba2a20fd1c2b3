//! Faults that implementations of OAuth for MCP were reported to have: one test for each that the
//! core can show. Addresses after resolution, and concurrent refreshes, are for drivers.

use super::operation::Operation;
use super::script::*;
use mcp_auth::{
    AuthConfig, ClientProof, Credentials, Document, EndpointAuth, Flow, ResourceMetadata, Scopes,
    ServerMetadata, UnixTime,
};

const TOKENS: &str = r#"{"access_token":"t","refresh_token":"r","scope":"a","expires_in":100}"#;

fn public() -> AuthConfig {
    registered(ClientProof::Public)
}

fn confidential() -> AuthConfig {
    registered(ClientProof::Secret("s:e".into()))
}

/// A login up to the request for a token.
fn log_in(config: AuthConfig, more: &str) -> Script {
    let mut script = Script::new(config, challenge("Bearer scope=a"));
    script.discovers(more);
    script.consents();
    script
}

fn logged_in(config: AuthConfig) -> Credentials {
    let mut script = log_in(config, "");
    script.posts(TOKEN);
    script.answers(200, TOKENS).done()
}

/// A client that registers itself and is given this answer, up to the request for a token.
fn register(more: &str, answer: &str) -> Script {
    let mut script = Script::new(config(), None);
    script.discovers(more);
    script.posts("https://as.example/register");
    script.answers(201, answer);
    script.consents();
    script
}

#[test]
fn refresh_without_resource() {
    let held = logged_in(public());
    let request = Script::refresh(public(), &held).posts(TOKEN);
    assert_eq!(form_value(&request, "resource").unwrap(), SERVER);
}

#[test]
fn refresh_without_scope() {
    let held = logged_in(public());
    let request = Script::refresh(public(), &held).posts(TOKEN);
    assert_eq!(form_value(&request, "scope").unwrap(), "a");
}

#[test]
fn resource_that_cannot_be_left_out() {
    let config = || AuthConfig {
        omit_resource: true,
        ..public()
    };
    let mut script = Script::new(config(), challenge("Bearer scope=a"));
    script.discovers("");
    assert_eq!(script.consents().get("resource"), None);
    assert_eq!(form_value(&script.posts(TOKEN), "resource"), None);
    let held = script.answers(200, TOKENS).done();
    let request = Script::refresh(config(), &held).posts(TOKEN);
    assert_eq!(form_value(&request, "resource"), None);
    // Also if it was named when the tokens were issued.
    let held = logged_in(public());
    let request = Script::refresh(config(), &held).posts(TOKEN);
    assert_eq!(form_value(&request, "resource"), None);
}

#[test]
fn slash_added_to_resource() {
    let config = AuthConfig::new("https://mcp.example", "Demo", CALLBACK);
    let published = PUBLISHED.replace(SERVER, "https://mcp.example");
    let mut script = Script::new(config.clone(), None);
    script
        .gets("https://mcp.example/.well-known/oauth-protected-resource")
        .answers(200, &published);
    script.gets(SERVER_METADATA).answers(200, &metadata(""));
    script.registers();
    let page = script.consents();
    assert_eq!(page.get("resource").unwrap(), "https://mcp.example");
    let request = script.posts(TOKEN);
    assert_eq!(
        form_value(&request, "resource").unwrap(),
        "https://mcp.example"
    );
    let held = script.answers(200, TOKENS).done();
    let request = Script::refresh(config, &held).posts(TOKEN);
    assert_eq!(
        form_value(&request, "resource").unwrap(),
        "https://mcp.example"
    );
}

#[test]
fn issuers_that_differ_by_a_slash() {
    let published = PUBLISHED.replace("https://as.example", "https://as.example/a/");
    let place = "https://as.example/.well-known/oauth-authorization-server/a";
    let bare = metadata("").replace("\"https://as.example\"", "\"https://as.example/a\"");
    let mut script = Script::new(config(), None);
    script.gets(RESOURCE_METADATA).answers(200, &published);
    script.gets(place).answers(200, &bare);
    script.error(
        Document::ServerMetadata,
        &["\"https://as.example/a/\"", "\"https://as.example/a\""],
    );
    let relaxed = AuthConfig {
        ignore_issuer_slash: true,
        ..config()
    };
    let mut script = Script::new(relaxed, None);
    script.gets(RESOURCE_METADATA).answers(200, &published);
    script.gets(place).answers(200, &bare);
    script.registers();
}

#[test]
fn registered_secret_that_is_not_stored() {
    let answer = r#"{"client_id":"c","client_secret":"s3cret","client_secret_expires_at":0}"#;
    let mut script = register("", answer);
    script.posts(TOKEN);
    let held = script.answers(200, TOKENS).done();
    let stored = Credentials::from_json(held.to_json().expose().as_bytes()).unwrap();
    let request = Script::refresh(config(), &stored).posts(TOKEN);
    // c:s3cret
    assert_eq!(request.header("authorization"), Some("Basic YzpzM2NyZXQ="));
    // The next login registers no other client.
    let mut script = Script::with_stored(config(), None, &stored);
    script.discovers("");
    assert_eq!(script.opens().get("client_id").unwrap(), "c");
}

#[test]
fn post_client_that_is_sent_as_basic() {
    let answer = r#"{"client_id":"c","client_secret":"s","token_endpoint_auth_method":"client_secret_post"}"#;
    let mut script = register("", answer);
    let request = script.posts(TOKEN);
    assert_eq!(request.header("authorization"), None);
    assert_eq!(form_value(&request, "client_secret").unwrap(), "s");
    let held = script.answers(200, TOKENS).done();
    let stored = Credentials::from_json(held.to_json().expose().as_bytes()).unwrap();
    let request = Script::refresh(config(), &stored).posts(TOKEN);
    assert_eq!(request.header("authorization"), None);
    assert_eq!(form_value(&request, "client_secret").unwrap(), "s");
}

#[test]
fn basic_credentials_that_are_not_encoded() {
    let request = log_in(confidential(), "").posts(TOKEN);
    // client-1:s%3Ae
    assert_eq!(
        request.header("authorization"),
        Some("Basic Y2xpZW50LTE6cyUzQWU=")
    );
}

#[test]
fn secret_without_a_method_and_token_with_201() {
    let mut script = register("", r#"{"client_id":"c","client_secret":"s"}"#);
    assert!(script.posts(TOKEN).header("authorization").is_some());
    let held = script.answers(201, TOKENS).done();
    assert_eq!(held.endpoint_auth, EndpointAuth::Basic);
}

#[test]
fn advertised_method_that_does_not_work() {
    let config = || AuthConfig {
        endpoint_auth: Some(EndpointAuth::Post),
        ..confidential()
    };
    let more = r#","token_endpoint_auth_methods_supported":["client_secret_basic"]"#;
    let mut script = log_in(config(), more);
    let request = script.posts(TOKEN);
    assert_eq!(request.header("authorization"), None);
    assert_eq!(form_value(&request, "client_secret").unwrap(), "s:e");
    let held = script.answers(200, TOKENS).done();
    let request = Script::refresh(config(), &held).posts(TOKEN);
    assert_eq!(request.header("authorization"), None);
}

#[test]
fn step_up_that_only_refreshes() {
    let held = logged_in(public());
    let field = "Bearer error=\"insufficient_scope\", scope=\"b\"";
    let challenge = Operation::new().authorizes(403, field, Some(&held));
    let mut script = Script::with_stored(public(), challenge, &held);
    script.discovers("");
    assert_eq!(script.opens().get("scope").unwrap(), "a b");
}

#[test]
fn endless_401_after_a_login() {
    let held = logged_in(public());
    let mut operation = Operation::new();
    let field = "Bearer error=\"invalid_token\"";
    operation.authorizes(401, "Bearer", None);
    assert_eq!(
        operation.refused(401, field, None, Some(&held)),
        Ok("refresh")
    );
    for _ in 0..3 {
        let found = operation.judge(401, field, None, Some(&held));
        assert_eq!(found.unwrap_err().oauth_error(), Some("invalid_token"));
    }
}

#[test]
fn two_places_in_one_challenge() {
    let field = r#"Bearer resource_metadata="https://h/1", resource_metadata="https://h/2""#;
    Script::new(public(), challenge(field)).gets("https://h/1");
}

#[test]
fn spaces_and_single_quotes_in_a_challenge() {
    for field in [
        "Bearer resource_metadata = \"https://h/1\"",
        "Bearer resource_metadata='https://h/1'",
        "Bearer  resource_metadata\t=\t'https://h/1' , scope = 'a'",
        "bearer realm=x,RESOURCE_METADATA=https://h/1",
    ] {
        Script::new(public(), challenge(field)).gets("https://h/1");
    }
}

#[test]
fn place_that_is_lost_before_discovery() {
    let mut operation = Operation::new();
    let field = "Bearer resource_metadata=\"https://h/1\"";
    operation.authorizes(401, field, None);
    let challenge = operation.authorizes(401, "Bearer", None);
    Script::new(public(), challenge).gets("https://h/1");
}

#[test]
fn default_endpoints_that_get_stored_secrets() {
    // A refresh goes where the tokens came from, without a search.
    let held = logged_in(confidential());
    Script::refresh(confidential(), &held).posts(TOKEN);
    // A login finds no metadata any more: neither a secret nor the registration is used.
    let nowhere = |script: &mut Script| {
        for _ in 0..3 {
            script.answers(404, "");
        }
    };
    let mut script = Script::with_stored(confidential(), None, &held);
    nowhere(&mut script);
    script.error(Document::ServerMetadata, &[]);
    let mut script = register("", r#"{"client_id":"c","client_secret":"s"}"#);
    script.posts(TOKEN);
    let held = script.answers(200, TOKENS).done();
    let mut script = Script::with_stored(config(), None, &held);
    nowhere(&mut script);
    script.posts("https://mcp.example/register");
}

/// The part that needs no resolution of names.
#[test]
fn documents_that_name_services_of_this_machine() {
    for place in [
        "http://127.0.0.1/x",
        "https://localhost/x",
        "https://[::1]/",
    ] {
        let field = format!("Bearer resource_metadata=\"{place}\"");
        Script::new(config(), challenge(&field)).gets(RESOURCE_METADATA);
        let mut script = Script::new(config(), None);
        script
            .gets(RESOURCE_METADATA)
            .answers(200, &PUBLISHED.replace(ISSUER, place));
        script.error(Document::ResourceMetadata, &["not safe"]);
    }
}

#[test]
fn metadata_of_another_resource() {
    for resource in [
        "https://other.example/p/mcp",
        "https://mcp.example/p",
        "https://mcp.example/p%2Fmcp",
        "https://mcp.example/p/mcp/",
        "http://mcp.example/p/mcp",
    ] {
        let mut script = Script::new(config(), None);
        script
            .gets(RESOURCE_METADATA)
            .answers(200, &PUBLISHED.replace(SERVER, resource));
        script.error(Document::ResourceMetadata, &[SERVER, resource]);
    }
}

#[test]
fn pages_that_are_not_opened() {
    for page in [
        "file:///etc/passwd",
        "smb://evil/share",
        "javascript:alert(1)",
        "vscode://run",
        "http://as.example/authorize",
    ] {
        let document = metadata("").replace("https://as.example/authorize", page);
        let mut script = Script::new(public(), None);
        script.gets(RESOURCE_METADATA).answers(200, PUBLISHED);
        script.gets(SERVER_METADATA).answers(200, &document);
        script.error(Document::ServerMetadata, &["authorization_endpoint"]);
    }
}

#[test]
fn expiry_that_a_restart_forgets() {
    let held = logged_in(public());
    let stored = Credentials::from_json(held.to_json().expose().as_bytes()).unwrap();
    let end = START + 100;
    assert_eq!(stored.expires_at, Some(UnixTime::from_secs(end)));
    assert!(!stored.is_expired(UnixTime::from_secs(START)));
    assert!(stored.is_expired(UnixTime::from_secs(end)));
}

#[test]
fn offline_access_never_or_always() {
    for (more, expected) in [
        (
            r#","scopes_supported":["offline_access"]"#,
            "a offline_access",
        ),
        (r#","scopes_supported":["b"]"#, "a"),
        ("", "a"),
    ] {
        let mut script = Script::new(public(), challenge("Bearer scope=a"));
        script.discovers(more);
        assert_eq!(script.opens().get("scope").unwrap(), expected);
    }
    let held = logged_in(public());
    let request = Script::refresh(public(), &held).posts(TOKEN);
    assert_eq!(form_value(&request, "scope").unwrap(), "a");
}

#[test]
fn place_that_is_sent_as_scope() {
    let field = format!("Bearer resource_metadata=\"{RESOURCE_METADATA}\"");
    let mut script = Script::new(public(), challenge(&field));
    script.discovers("");
    assert_eq!(script.opens().get("scope"), None);
}

#[test]
fn challenge_without_parameters() {
    for field in ["Bearer", "Bearer ", "Bearer ,"] {
        let challenge = Operation::new().authorizes(401, field, None);
        Script::new(public(), challenge).gets(RESOURCE_METADATA);
    }
}

#[test]
fn path_that_well_known_places_drop() {
    Script::new(public(), None)
        .gets(RESOURCE_METADATA)
        .answers(200, &PUBLISHED.replace(ISSUER, "https://as.example/t"));
    let issuer = "https://as.example/t";
    let places = ServerMetadata::candidates(&mcp_auth::Uri::parse(issuer).unwrap());
    assert!(
        places.iter().all(|place| place.contains("/t")),
        "{places:?}"
    );
}

#[test]
fn configured_scope_that_is_ignored() {
    let config = AuthConfig {
        scopes: Scopes::parse("mine"),
        ..public()
    };
    let mut script = Script::new(config, challenge("Bearer scope=a"));
    script.discovers("");
    assert_eq!(script.opens().get("scope").unwrap(), "a mine");
}

#[test]
fn error_of_another_issuer() {
    let mut script = Script::new(public(), None);
    script.discovers("");
    let state = script.opens().get("state").unwrap();
    script.comes_back(&format!(
        "error=access_denied&error_description=call+0900&state={state}&iss=https%3A%2F%2Fevil"
    ));
    let error = script.error(Document::AuthorizationResponse, &["`iss`"]);
    assert!(!error.to_string().contains("0900"), "{error}");
}

#[test]
fn documents_that_are_too_long_or_pages() {
    let long = format!("{PUBLISHED}{}", " ".repeat(10 << 20));
    let error = ResourceMetadata::read(RESOURCE_METADATA, long.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("longer than"), "{error}");
    let mut script = Script::new(public(), None);
    script
        .gets(RESOURCE_METADATA)
        .answers(200, "<!doctype html><title>Sign in</title>");
    script.gets("https://mcp.example/.well-known/oauth-protected-resource");
}

/// A refresh that needs a token which was never given does not begin.
#[test]
fn refresh_without_a_refresh_token() {
    let mut script = log_in(public(), "");
    script.posts(TOKEN);
    let held = script.answers(200, r#"{"access_token":"t"}"#).done();
    assert!(Flow::refresh(public(), held.clone()).is_err());
    Operation::new().authorizes(401, "Bearer", Some(&held));
}
