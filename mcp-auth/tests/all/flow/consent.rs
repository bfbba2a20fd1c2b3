//! The authorization request and its response.

use super::script::*;
use mcp_auth::{AuthConfig, ClientProof, Document, Scopes};

fn at_the_page(more: &str) -> Script {
    let mut script = Script::new(registered(ClientProof::Public), None);
    script.discovers(more);
    script
}

/// RFC 9700, section 4.4: an issuer that names the page of another one receives no code, unless the
/// response says whose it is, or the application has named the issuer.
#[test]
fn pages_of_other_authorization_servers() {
    let page = r#""authorization_endpoint":"https://good.example/authorize""#;
    let promise = r#","authorization_response_iss_parameter_supported":true"#;
    let named = |issuer: &str| AuthConfig {
        preferred_issuer: Some(issuer.into()),
        ..config()
    };
    for (config, more, token, is_open) in [
        (config(), "", TOKEN, false),
        (named("https://x.example"), "", TOKEN, false),
        (named(ISSUER), "", TOKEN, true),
        (config(), promise, TOKEN, true),
        (config(), "", "https://good.example/token", true),
    ] {
        let document = metadata(more)
            .replace(
                r#""authorization_endpoint":"https://as.example/authorize""#,
                page,
            )
            .replace(TOKEN, token);
        let mut script = Script::new(config, None);
        script.gets(RESOURCE_METADATA).answers(200, PUBLISHED);
        script.gets(SERVER_METADATA).answers(200, &document);
        match is_open {
            true => drop(script.registers().opens()),
            false => drop(script.error(
                Document::ServerMetadata,
                &[
                    "authorization_response_iss_parameter_supported",
                    "configure the issuer",
                ],
            )),
        }
    }
    // The token endpoint alone may be elsewhere.
    let document = metadata("").replace(TOKEN, "https://api.example/token");
    let mut script = Script::new(config(), None);
    script.gets(RESOURCE_METADATA).answers(200, PUBLISHED);
    script.gets(SERVER_METADATA).answers(200, &document);
    script.registers().opens();
}

/// AU-50 to AU-55: the parameters, each once.
#[test]
fn the_parameters_of_the_page() {
    let mut script = at_the_page("");
    let page = script.opens();
    let names: Vec<&str> = page.pairs.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "response_type",
            "client_id",
            "redirect_uri",
            "code_challenge",
            "code_challenge_method",
            "state",
            "resource"
        ]
    );
    assert_eq!(page.get("response_type").unwrap(), "code");
    assert_eq!(page.get("client_id").unwrap(), "client-1");
    assert_eq!(page.get("redirect_uri").unwrap(), CALLBACK);
    assert_eq!(page.get("code_challenge_method").unwrap(), "S256");
    // The challenge is the hash of the verifier, which is 43 characters long.
    let verifier = script.secrets[0].clone();
    assert_eq!(verifier.len(), 43);
    assert_eq!(
        base64_url(&page.get("code_challenge").unwrap()),
        digest(&verifier)
    );
}

/// Parameters are added to a query that the endpoint has already.
#[test]
fn endpoints_with_a_query() {
    let document = metadata("").replace("/authorize", "/authorize?tenant=a%26b");
    let mut script = Script::new(registered(ClientProof::Public), None);
    script.gets(RESOURCE_METADATA).answers(200, PUBLISHED);
    script.gets(SERVER_METADATA).answers(200, &document);
    let page = script.opens();
    assert_eq!(page.pairs[0], ("tenant".into(), "a&b".into()));
    assert_eq!(page.pairs[1], ("response_type".into(), "code".into()));
}

const PROMISED: &str = r#","authorization_response_iss_parameter_supported":true"#;

/// AU-54, AU-56, AU-57: what is refused, before the code is sent anywhere.
#[test]
fn responses_of_others() {
    for (metadata, query, text) in [
        ("", "code=c", "`state` is missing"),
        ("", "code=c&state=wrong", "`state` is not the one"),
        ("", "code=c&state=", "`state` is not the one"),
        ("", "state=STATE", "`code` is missing"),
        ("", "code=&state=STATE", "`code` is missing"),
        ("", "code=c&code=d&state=STATE", "`code` comes twice"),
        ("", "code=c&state=STATE&state=STATE", "`state` comes twice"),
        (
            "",
            "code=c&state=STATE&iss=https://as.example&iss=https://as.example",
            "`iss` comes twice",
        ),
        ("", "code=%zz&state=STATE", "`query` has characters"),
        (PROMISED, "code=c&state=STATE", "`iss` is missing"),
        (
            PROMISED,
            "code=c&state=STATE&iss=https%3A%2F%2Fevil.example",
            "\"https://evil.example\"",
        ),
        (
            "",
            "code=c&state=STATE&iss=https%3A%2F%2Fevil.example",
            "\"https://evil.example\"",
        ),
        (
            "",
            "code=c&state=STATE&iss=https%3A%2F%2Fas.example%2F",
            "\"https://as.example/\"",
        ),
        ("", "code=c&state=STATE&iss=", "\"\""),
    ] {
        let mut script = at_the_page(metadata);
        let state = script.opens().get("state").unwrap();
        script.comes_back(&query.replace("STATE", &state));
        let error = script.error(Document::AuthorizationResponse, &[text, CALLBACK]);
        assert!(!error.to_string().contains(&state), "{error}");
    }
}

/// AU-56: a right `iss`, encoded, or none where none is promised.
#[test]
fn responses_of_the_issuer() {
    for (metadata, iss) in [
        (PROMISED, "&iss=https%3A%2F%2Fas.example"),
        ("", "&iss=https://as.example"),
        ("", ""),
    ] {
        let mut script = at_the_page(metadata);
        let state = script.opens().get("state").unwrap();
        script.comes_back(&format!("code=c&state={state}{iss}&session_state=x"));
        script.posts(TOKEN);
    }
}

/// AU-57: an error is shown only if its `iss` is right.
#[test]
fn errors_in_responses() {
    let query = "error=access_denied&error_description=No+%0Athanks&state=STATE";
    let mut script = at_the_page("");
    let state = script.opens().get("state").unwrap();
    script.comes_back(&query.replace("STATE", &state));
    let error = script.error(
        Document::AuthorizationResponse,
        &["access_denied", "No \u{fffd}thanks"],
    );
    assert_eq!(error.oauth_error(), Some("access_denied"));

    let mut script = at_the_page("");
    let state = script.opens().get("state").unwrap();
    let query = query.replace("STATE", &state) + "&iss=https://evil.example";
    script.comes_back(&query);
    let error = script.error(Document::AuthorizationResponse, &["iss"]);
    assert!(!error.to_string().contains("access_denied"), "{error}");
}

/// AU-58, AU-59: from the challenge, else all of the document, else none; what is configured is added.
#[test]
fn scopes_of_the_first_request() {
    let published = PUBLISHED.replace('}', r#","scopes_supported":["a","b"]}"#);
    for (field, document, configured, expected) in [
        ("Bearer scope=\"x y\"", published.as_str(), "", Some("x y")),
        ("Bearer", &published, "", Some("a b")),
        ("Bearer", PUBLISHED, "", None),
        ("Bearer scope=\"x\"", PUBLISHED, "z x", Some("x z")),
        // A URL in another parameter is never a scope.
        (
            "Bearer resource_metadata=\"/x\", scope=\"\"",
            PUBLISHED,
            "",
            None,
        ),
    ] {
        let config = AuthConfig {
            scopes: Scopes::parse(configured),
            ..registered(ClientProof::Public)
        };
        let mut script = Script::new(config, challenge(field));
        script.gets(RESOURCE_METADATA).answers(200, document);
        script.gets(SERVER_METADATA).answers(200, &metadata(""));
        assert_eq!(script.opens().get("scope").as_deref(), expected, "{field}");
    }
}

/// AU-66: `offline_access` only where the authorization server lists it.
#[test]
fn offline_access() {
    let listed = r#","scopes_supported":["a","offline_access"]"#;
    for (more, wanted, expected) in [
        (listed, true, Some("a offline_access")),
        (listed, false, Some("a")),
        (r#","scopes_supported":["a"]"#, true, Some("a")),
        ("", true, Some("a")),
    ] {
        let config = AuthConfig {
            offline_access: wanted,
            ..registered(ClientProof::Public)
        };
        let mut script = Script::new(config, challenge("Bearer scope=a"));
        script.discovers(more);
        assert_eq!(script.opens().get("scope").as_deref(), expected);
    }
}

/// AU-60, AU-61: a step-up asks for what was asked before and for what the challenge names.
#[test]
fn step_up() {
    let mut script =
        Script::consented(registered(ClientProof::Public), challenge("Bearer scope=a"));
    script.posts(TOKEN);
    let first = script
        .answers(
            200,
            r#"{"access_token":"t1","refresh_token":"r1","scope":"a"}"#,
        )
        .done();
    let field = "Bearer error=\"insufficient_scope\", scope=\"b\"";
    let mut script = Script::with_stored(registered(ClientProof::Public), challenge(field), &first);
    script.discovers("");
    assert_eq!(script.opens().get("scope").unwrap(), "a b");
}

/// AU-119: switches for servers that need something else.
#[test]
fn switches() {
    let config = AuthConfig {
        omit_resource: true,
        scopes: Scopes::parse("api://x/.default"),
        only_these_scopes: true,
        ..registered(ClientProof::Public)
    };
    let mut script = Script::new(config, challenge("Bearer scope=a"));
    script.discovers("");
    let page = script.consents();
    assert_eq!(page.get("resource"), None);
    assert_eq!(page.get("scope").unwrap(), "api://x/.default");
    assert_eq!(form_value(&script.posts(TOKEN), "resource"), None);

    let config = AuthConfig {
        interactive: false,
        ..config_without_identity()
    };
    let mut script = Script::new(config, None);
    script.discovers("");
    let said = format!("a user must log in at {ISSUER}");
    script.error(Document::ServerMetadata, &[&said, "asks no user"]);
}

/// AU-56: a client that registers itself has a redirect URI of its own for each issuer, and keeps it.
#[test]
fn a_redirect_uri_for_each_issuer() {
    let config = || AuthConfig {
        redirect_per_issuer: true,
        ..config()
    };
    let [a, b, c, d, ..] = digest(ISSUER);
    let own = format!("{CALLBACK}/{a:02x}{b:02x}{c:02x}{d:02x}");
    let mut script = Script::new(config(), challenge("Bearer scope=a"));
    script.discovers("");
    // The redirect URI is the same if the registration is repeated.
    for _ in 0..2 {
        let request = script.posts("https://as.example/register");
        let body = request.body.unwrap();
        assert!(
            body.expose()
                .contains(&format!("\"redirect_uris\":[\"{own}\"]"))
        );
        script.answers(400, r#"{"error":"invalid_client_metadata"}"#);
    }
    script.error(Document::Registration, &["invalid_client_metadata"]);
    let mut script = Script::new(config(), None);
    script.discovers("").registers();
    let page = script.consents();
    assert_eq!(page.get("redirect_uri").unwrap(), own);
    let token = script.posts(TOKEN);
    assert_eq!(form_value(&token, "redirect_uri").unwrap(), own);
    let stored = script
        .answers(200, r#"{"access_token":"t","token_type":"Bearer"}"#)
        .done();
    assert_eq!(stored.identity.redirect_uri.as_deref(), Some(own.as_str()));

    let mut script = Script::with_stored(config(), None, &stored);
    script.discovers("");
    assert_eq!(script.opens().get("redirect_uri").unwrap(), own);

    // A registration with the URI of all issuers is not used again, and the other way round.
    let mut shared = stored.clone();
    shared.identity.redirect_uri = Some(CALLBACK.into());
    let mut script = Script::with_stored(config(), None, &shared);
    script.discovers("").posts("https://as.example/register");
    let mut script = Script::with_stored(
        AuthConfig {
            redirect_per_issuer: false,
            ..config()
        },
        None,
        &stored,
    );
    script.discovers("").posts("https://as.example/register");

    // Clients that were registered otherwise keep theirs.
    let registered = AuthConfig {
        redirect_per_issuer: true,
        ..registered(ClientProof::Public)
    };
    let mut script = Script::new(registered, None);
    script.discovers("");
    assert_eq!(script.opens().get("redirect_uri").unwrap(), CALLBACK);
}

/// AU-56: an application demands `iss` of an authorization server that does not promise it.
#[test]
fn responses_without_an_issuer() {
    for require_iss in [false, true] {
        let config = AuthConfig {
            require_iss,
            ..registered(ClientProof::Public)
        };
        let mut script = Script::new(config, None);
        script.discovers("");
        let state = script.opens().get("state").unwrap();
        script.comes_back(&format!("code=c&state={state}"));
        match require_iss {
            true => {
                script.error(Document::AuthorizationResponse, &["`iss` is missing"]);
            }
            false => {
                script.posts(TOKEN);
            }
        }
    }
}

fn config_without_identity() -> AuthConfig {
    AuthConfig {
        dynamic_registration: false,
        ..config()
    }
}

/// A response that is not at the redirect URI is refused (AU-56).
#[test]
fn another_redirect_uri() {
    use mcp_auth::{ExpectedRedirect, Secret};
    let expected = ExpectedRedirect {
        redirect_uri: CALLBACK.into(),
        state: Secret::from("s"),
        issuer: ISSUER.into(),
        requires_iss: false,
    };
    for redirect in [
        "http://127.0.0.1:8766/callback?code=c&state=s",
        "http://127.0.0.1:8765/other?code=c&state=s",
        "https://127.0.0.1:8765/callback?code=c&state=s",
        "/callback?code=c&state=s",
        "code=c&state=s",
        "http://127.0.0.1:8765/callback#code=c&state=s",
    ] {
        assert!(expected.read(redirect).is_err(), "{redirect}");
    }
    for redirect in [
        "?code=c&state=s",
        "?code=c&state=s#x",
        "http://127.0.0.1:8765/callback?code=c&state=s#_=_",
    ] {
        assert_eq!(expected.read(redirect).unwrap().expose(), "c", "{redirect}");
    }
}
