//! Logins that succeed.

use mcp_auth::Scopes;
use serde_json::json;

use super::world::{
    Browser, ISSUER, REDIRECT, RESOURCE, Response, Sent, World, authorize, code_form, encode,
    json_of, oidc, parameter, refresh_form, settings, text, their_tokens,
};

/// AU-13, AU-71, AU-75.
#[test]
fn the_metadata_names_everything() {
    let mut world = World::new();
    let response = world.send(&Sent::get("/.well-known/oauth-authorization-server"));
    assert_eq!(response.status, 200);
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert_eq!(response.header("access-control-allow-origin"), Some("*"));
    let expected = json!({
        "issuer": ISSUER,
        "authorization_endpoint": "https://mcp.example/authorize",
        "token_endpoint": "https://mcp.example/token",
        "revocation_endpoint": "https://mcp.example/revoke",
        "registration_endpoint": "https://mcp.example/register",
        "response_types_supported": ["code"],
        "response_modes_supported": ["query"],
        "grant_types_supported": ["authorization_code", "refresh_token"],
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["none"],
        "revocation_endpoint_auth_methods_supported": ["none"],
        "authorization_response_iss_parameter_supported": true,
        "client_id_metadata_document_supported": true,
        "scopes_supported": ["notes:read", "notes:write"],
    });
    assert_eq!(json_of(&response), expected);
}

/// AU-70, AU-73, AU-74, AU-75: from the registration to the claims of an access token.
#[test]
fn a_client_logs_in() {
    let mut world = World::new();
    let client = world.register(REDIRECT);
    let mut browser = Browser::default();
    let more = "&scope=notes%3Aread+offline_access&resource=https%3A%2F%2Fmcp.example%2Fmcp";
    let form = world.consent_form(&mut browser, &authorize(&client, more));
    assert!(
        world.store.is_empty(),
        "nothing is stored before an approval"
    );

    let response = browser.submit(&mut world, &format!("{form}&decision=allow"));
    assert_eq!(response.status, 303);
    let page = response.header("location").unwrap().to_owned();
    assert!(page.starts_with("https://idp.example/authorize?"), "{page}");
    let sent = |name| parameter(&page, name).unwrap();
    assert_eq!(sent("client_id"), "our-id");
    assert_eq!(sent("redirect_uri"), "https://mcp.example/callback");
    assert_eq!(sent("code_challenge_method"), "S256");
    assert_eq!(sent("scope"), "openid+profile+email");
    assert_eq!(parameter(&page, "resource"), None);
    assert_ne!(sent("state"), "of-the-client");

    world.nonce = sent("nonce");
    world.responses.push_back(their_tokens());
    let response = world.come_back(&mut browser, &sent("state"));
    let location = response.header("location").unwrap().to_owned();
    assert!(
        location.starts_with("http://127.0.0.1:8765/callback?code="),
        "{location}"
    );
    assert_eq!(parameter(&location, "state").unwrap(), "of-the-client");
    assert_eq!(parameter(&location, "iss").unwrap(), ISSUER);
    let request = world.requests.last().unwrap();
    assert_eq!(request.url, "https://idp.example/token");
    let body = request.body.as_ref().unwrap().expose();
    assert!(
        body.contains("code=their-code&") && body.contains("code_verifier="),
        "{body}"
    );
    assert!(
        request
            .header("authorization")
            .unwrap()
            .starts_with("Basic ")
    );

    let code = parameter(&location, "code").unwrap();
    let response = world.token(&code_form(&client, &code));
    assert_eq!(response.status, 200);
    assert_eq!(response.header("cache-control"), Some("no-store"));
    let body = json_of(&response);
    assert_eq!(
        (&body["token_type"], &body["expires_in"], &body["scope"]),
        (&json!("Bearer"), &json!(600), &json!("notes:read")),
    );
    assert!(!response.body.contains("their-"), "{}", response.body);

    let token = text(&response, "access_token");
    let claims = world.check(&token).unwrap();
    assert_eq!(claims.issuer(), Some(ISSUER));
    assert_eq!(claims.subject(), Some("ada"));
    assert_eq!(claims.client(), Some(&*client));
    assert_eq!(claims.scopes(), &Scopes::parse("notes:read"));
    assert_eq!(claims.get("aud"), Ok(Some(RESOURCE.to_owned())));
    assert_eq!(claims.get("name"), Ok(Some("ada@example".to_owned())));
    let theirs = world.provider_token(&token).unwrap();
    assert_eq!(theirs.access_token.expose(), "their-access-1");
    world.now += 600;
    assert!(
        world.check(&token).is_none(),
        "access tokens last ten minutes"
    );
}

/// A client that asks for some scopes only would otherwise obtain a token that every request refuses.
#[test]
fn every_token_has_the_scopes_that_requests_need() {
    let mut settings = settings(oidc());
    settings.required_scopes = Scopes::parse("mcp notes:read");
    let mut world = World::of(settings);
    let client = world.register(REDIRECT);
    let mut check = |asked: &str, granted: &str| {
        let url = authorize(&client, &format!("&scope={}", encode(asked)));
        let page = Browser::default().open(&mut world, &url);
        let shown = format!("<dt>Scope<dd>{granted}<dt>");
        assert!(page.body.contains(&shown), "{asked}: {}", page.body);
    };
    check("mcp", "mcp notes:read");
    check("notes:write", "mcp notes:read notes:write");
    check("", "mcp notes:read notes:write");
    let url = authorize(&client, "&scope=other");
    let refused = Browser::default().open(&mut world, &url);
    let location = refused.header("location").unwrap();
    assert_eq!(parameter(location, "error").unwrap(), "invalid_scope");
    let document = world.send(&Sent::get("/.well-known/oauth-authorization-server"));
    assert_eq!(
        json_of(&document)["scopes_supported"],
        json!(["mcp", "notes:read", "notes:write"])
    );
}

/// AU-14: the provider's tokens are nowhere in clear text.
#[test]
fn records_are_sealed() {
    let mut world = World::new();
    let (_, access, refresh) = world.tokens();
    let stored: Vec<u8> = world
        .store
        .values()
        .flat_map(|(_, record)| record.clone())
        .collect();
    let stored = String::from_utf8_lossy(&stored);
    for secret in [
        "their-access-1",
        "their-refresh-1",
        "ada",
        &access,
        &refresh,
    ] {
        assert!(!stored.contains(secret), "{secret}");
    }
    assert_eq!(world.store.len(), 1, "one record for each login");
}

/// AU-70: refresh tokens are replaced, and the provider confirms each refresh.
#[test]
fn a_refresh_replaces_the_tokens() {
    let mut world = World::new();
    let (client, access, refresh) = world.tokens();
    let next = |world: &mut World, token: &str, theirs: &str| {
        let more = json!({ "refresh_token": theirs, "access_token": format!("{theirs}-access") });
        let claims = json!({ "sub": "ada" });
        world.responses.push_back(Response::Tokens(claims, more));
        let response = world.token(&refresh_form(&client, token));
        assert_eq!(response.status, 200, "{}", response.body);
        (
            text(&response, "access_token"),
            text(&response, "refresh_token"),
        )
    };
    let (second, second_refresh) = next(&mut world, &refresh, "their-2");
    let (third, _) = next(&mut world, &second_refresh, "their-3");
    let request = world.requests.last().unwrap();
    let body = request.body.as_ref().unwrap().expose();
    assert!(body.contains("refresh_token=their-2&"), "{body}");
    for token in [access, second, third] {
        let theirs = world.provider_token(&token).unwrap();
        assert_eq!(theirs.access_token.expose(), "their-3-access");
    }
}

/// A handler's token is renewed when it is about to expire, once for all that ask.
#[test]
fn a_token_of_the_provider_is_renewed_when_it_is_due() {
    let mut world = World::new();
    let (_, access, _) = world.tokens();
    world.now += 590;
    assert_eq!(world.requests.len(), 1);
    assert!(world.provider_token(&access).is_ok());
    assert_eq!(world.requests.len(), 1, "it is fresh");

    let mut world = World::new();
    let (client, _, refresh) = world.tokens();
    let short = json!({ "expires_in": 15, "refresh_token": "their-2" });
    world
        .responses
        .push_back(Response::Tokens(json!({ "sub": "ada" }), short));
    let response = world.token(&refresh_form(&client, &refresh));
    let access = text(&response, "access_token");
    let long = json!({ "access_token": "their-access-2" });
    world
        .responses
        .push_back(Response::Tokens(json!({ "sub": "ada" }), long));
    for _ in 0..2 {
        let theirs = world.provider_token(&access).unwrap();
        assert_eq!(theirs.access_token.expose(), "their-access-2");
    }
}

/// AU-14: a client may end its login.
#[test]
fn a_revoked_token_ends_the_login() {
    for kind in ["access", "refresh"] {
        let mut world = World::new();
        let (client, access, refresh) = world.tokens();
        let token = if kind == "access" { &access } else { &refresh };
        let other = world.send(&Sent::post(
            "/revoke",
            format!("token={token}&client_id=other"),
        ));
        assert_eq!(other.status, 401);
        assert!(world.check(&access).is_some());
        let form = format!("token={token}&client_id={client}");
        for _ in 0..2 {
            let response = world.send(&Sent::post("/revoke", form.as_str()));
            assert_eq!(response.status, 200);
        }
        assert!(world.check(&access).is_none() && world.store.is_empty());
        assert_eq!(world.token(&refresh_form(&client, &refresh)).status, 400);
    }
    let mut world = World::new();
    assert_eq!(
        world.send(&Sent::post("/revoke", "token=unknown")).status,
        200
    );
    assert_eq!(world.send(&Sent::post("/revoke", "")).status, 400);
}

#[test]
fn a_user_who_denies_is_sent_back_with_an_error() {
    let mut world = World::new();
    let client = world.register(REDIRECT);
    let mut browser = Browser::default();
    let form = world.consent_form(&mut browser, &authorize(&client, ""));
    for decision in ["&decision=deny", "&decision=", ""] {
        let response = browser.submit(&mut world, &format!("{form}{decision}"));
        let location = response.header("location").unwrap();
        assert_eq!(parameter(location, "error").unwrap(), "access_denied");
        assert_eq!(parameter(location, "iss").unwrap(), ISSUER);
        assert_eq!(parameter(location, "state").unwrap(), "of-the-client");
    }
    assert!(world.store.is_empty() && world.requests.is_empty());
}

/// Two logins of one browser do not disturb each other, and share one cookie.
#[test]
fn two_tabs_log_in_at_once() {
    let mut world = World::new();
    let mut browser = Browser::default();
    let states: Vec<_> = (0..2)
        .map(|_| {
            let client = world.register(REDIRECT);
            let state = world.approve(&mut browser, &authorize(&client, ""));
            (state, world.nonce.clone(), browser.cookie.clone())
        })
        .collect();
    assert_eq!(states[0].2, states[1].2);
    for (state, nonce, _) in states {
        world.nonce = nonce;
        world.responses.push_back(their_tokens());
        let response = world.come_back(&mut browser, &state);
        assert!(parameter(response.header("location").unwrap(), "code").is_some());
    }
}

#[test]
fn pages_of_other_origins_may_ask_what_programs_ask() {
    let mut world = World::new();
    for path in [
        "/.well-known/oauth-authorization-server",
        "/register",
        "/token",
        "/revoke",
    ] {
        let mut preflight = Sent::post(path, "");
        preflight.set_method("OPTIONS");
        let response = world.send(&preflight);
        assert_eq!(response.status, 204);
        assert_eq!(response.header("access-control-allow-origin"), Some("*"));
    }
    for path in ["/authorize", "/consent", "/callback"] {
        let mut preflight = Sent::post(path, "");
        preflight.set_method("OPTIONS");
        let response = world.send(&preflight);
        assert_eq!(response.status, 405, "{path}");
        assert_eq!(response.header("access-control-allow-origin"), None);
    }
}
