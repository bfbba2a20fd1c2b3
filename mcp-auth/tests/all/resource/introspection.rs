//! Tokens that are not signed: the authorization server or the application verifies them.

use mcp_auth::Scopes;
use mcp_auth::resource::{ProtectedResource, ResourceBuilder, TokenClaims};

use super::tool::{ISSUER, RESOURCE, Request, Server, builder, check, token};

fn asking() -> ResourceBuilder {
    ProtectedResource::builder(RESOURCE).issuer_with_introspection(ISSUER)
}

const ACTIVE: &str = r#"{"active":true,"sub":"ada","client_id":"editor","scope":"read",
    "aud":"https://mcp.example/notes","exp":1000010}"#;
const GRANTED: &str = "granted [\"https://as.example\",\"ada\",\"editor\"]";

/// AU-18: kept for a short time, and no longer than the token is valid.
#[test]
fn answers_are_kept() {
    let mut server = Server::new(asking());
    server.introspection = Some(ACTIVE.into());
    let request = Request::bearer("opaque");
    check(
        &server.send(&request),
        &format!("ask https://as.example\n{GRANTED}"),
    );
    server.introspection = Some("{\"active\":false}".into());
    check(&server.send(&request), GRANTED);
    server.now += 10;
    check(
        &server.send(&request),
        "ask https://as.example
        401: the access token is unknown, expired or revoked
        Bearer error=\"invalid_token\", error_description=\"the access token is unknown, expired or \
        revoked\", resource_metadata=\"https://mcp.example/.well-known/oauth-protected-resource/notes\"",
    );
    // Another token is another question.
    let mut server = Server::new(asking());
    server.introspection = Some(ACTIVE.into());
    server.send(&request);
    assert!(server.send(&Request::bearer("opaque2")).starts_with("ask"));
    server.now += 30;
    server.introspection = Some(ACTIVE.replace("1000010", "2000000"));
    assert!(server.send(&request).starts_with("ask"));
}

/// A clock that is set back prolongs nothing.
#[test]
fn answers_of_the_future_are_not_kept() {
    let request = Request::bearer("opaque");
    let lasting = ACTIVE.replace("1000010", "2000000");
    for (before, after) in [
        (&*lasting, "{\"active\":false}"),
        ("{\"active\":false}", &*lasting),
    ] {
        let mut server = Server::new(asking());
        server.introspection = Some(before.into());
        server.send(&request);
        server.now -= 3_600;
        server.introspection = Some(after.into());
        assert!(server.send(&request).starts_with("ask"), "{before}");
    }
}

/// Without an audience, an answer about a refresh token would admit it.
#[test]
fn answers_about_other_tokens() {
    for (kind, is_access_token) in [
        ("", true),
        (r#","token_type":null"#, true),
        (r#","token_type":"bearer""#, true),
        (r#","token_type":"DPoP""#, true),
        (r#","token_type":"refresh_token""#, false),
        (r#","token_type":1"#, false),
        (r#","token_type":"Bearer","token_type":"Bearer""#, false),
    ] {
        let mut server = Server::new(asking().assume_introspected_audience());
        server.introspection = Some(format!(
            r#"{{"active":true,"sub":"ada","client_id":"editor"{kind}}}"#
        ));
        let found = server.send(&Request::bearer("opaque"));
        assert_eq!(found.ends_with(GRANTED), is_access_token, "{kind} {found}");
    }
}

/// AU-06, AU-18
#[test]
fn answers_that_do_not_admit() {
    let unavailable = "503: access tokens cannot be verified at the moment";
    for (answer, expected) in [
        (None, unavailable),
        (Some("<html>"), unavailable),
        (Some("[]"), unavailable),
        (Some("{}"), unavailable),
        (Some("{\"active\":\"true\"}"), unavailable),
        (Some("{\"active\":1}"), unavailable),
        (Some("{\"active\":true,\"active\":false}"), unavailable),
        (
            Some("{\"active\":false,\"sub\":\"ada\"}"),
            "401: the access token is unknown, expired or revoked",
        ),
        (
            Some("{\"active\":true,\"sub\":\"ada\"}"),
            "401: the access token was issued for another resource",
        ),
        (
            Some("{\"active\":true,\"sub\":\"ada\",\"aud\":\"https://mcp.example\"}"),
            "401: the access token was issued for another resource",
        ),
        (
            Some("{\"active\":true,\"aud\":\"https://mcp.example/notes\"}"),
            "401: the access token states neither a subject nor a client",
        ),
        (
            Some("{\"active\":true,\"sub\":\"a\",\"aud\":\"https://mcp.example/notes\",\"exp\":9}"),
            "401: the access token has expired",
        ),
        (
            Some(
                "{\"active\":true,\"sub\":\"a\",\"aud\":\"https://mcp.example/notes\",\"iss\":\"https://evil\"}",
            ),
            "401: the issuer of the access token is not trusted",
        ),
        (
            Some(
                "{\"active\":true,\"sub\":\"a\",\"aud\":\"https://mcp.example/notes\",\"exp\":\"x\"}",
            ),
            "401: exp of the access token is missing or malformed",
        ),
    ] {
        let mut server = Server::new(asking());
        server.introspection = answer.map(str::to_owned);
        assert_eq!(
            server.refusal(&Request::bearer("opaque")),
            expected,
            "{answer:?}"
        );
        // It is not asked about again at once.
        server.now += 6;
        assert!(server.send(&Request::bearer("opaque")).starts_with("ask"));
    }
    let mut server = Server::new(asking().assume_introspected_audience());
    server.introspection =
        Some("{\"active\":true,\"sub\":\"ada\",\"client_id\":\"editor\"}".into());
    assert!(server.send(&Request::bearer("opaque")).ends_with(GRANTED));
    server.introspection = Some(ACTIVE.replace("/notes", "/other"));
    assert_eq!(
        server.refusal(&Request::bearer("other")),
        "401: the access token was issued for another resource"
    );
}

/// Signed tokens by keys, all others by questions.
#[test]
fn both_kinds_of_tokens() {
    let mut server = Server::new(builder().issuer_with_introspection("https://other.example"));
    server.introspection = Some(ACTIVE.into());
    let found = server.send(&Request::bearer("opaque.with.dots"));
    assert!(
        found.starts_with("ask https://other.example\ngranted"),
        "{found}"
    );
    let found = server.send(&Request::bearer(&token(&[])));
    assert!(
        found.starts_with("fetch https://as.example/jwks"),
        "{found}"
    );
}

/// The application's own verifier; audience and expiry are checked nevertheless.
#[test]
fn verifiers_of_the_application() {
    let builder = || ProtectedResource::builder(RESOURCE).issuer_with_verifier(ISSUER);
    let mut server = Server::new(builder().introspection_cache(30));
    server.verifier = |token| match token {
        "good" => {
            let claims = TokenClaims::new(ISSUER, RESOURCE).with_subject("ada");
            Some(
                claims
                    .with_client("editor")
                    .with_scopes(Scopes::parse("read")),
            )
        }
        "foreign" => Some(TokenClaims::new(ISSUER, "https://other.example").with_subject("ada")),
        _ => None,
    };
    let good = Request::bearer("good");
    check(
        &server.send(&good),
        &format!("ask the application\n{GRANTED}"),
    );
    // The answer is kept for a while.
    check(&server.send(&good), GRANTED);
    server.now += 31;
    check(
        &server.send(&good),
        &format!("ask the application\n{GRANTED}"),
    );
    assert_eq!(
        server.refusal(&Request::bearer("foreign")),
        "401: the access token was issued for another resource"
    );
    assert_eq!(
        server.refusal(&Request::bearer("other")),
        "401: the access token is unknown, expired or revoked"
    );
    // It is asked each time if the application does not want its answers kept.
    let verifier = server.verifier;
    let mut server = Server::new(builder());
    server.verifier = verifier;
    for _ in 0..2 {
        check(
            &server.send(&good),
            &format!("ask the application\n{GRANTED}"),
        );
    }
}
