//! Providers with their quirks, and what they answer that cannot be used.

use mcp_auth::ServerMetadata;
use mcp_auth::authorization_server::{AuthorizationServer, LoginSettings, Provider, UserSource};
use mcp_auth::resource::SettingsError;
use serde_json::{Value, json};

use super::world::{
    Browser, NOW, PROVIDER, REDIRECT, RESOURCE, Response, World, authorize, claims, code_form,
    oidc, parameter, refresh_form, settings, text,
};

/// Logs in with these responses of the provider; the parameters of the client's redirect.
fn log_in(world: &mut World, responses: impl IntoIterator<Item = Response>) -> String {
    let (_, mut browser, state) = world.approved();
    world.responses.extend(responses);
    let response = world.come_back(&mut browser, &state);
    assert!(world.responses.is_empty());
    let location = response.header("location").unwrap();
    match parameter(location, "error") {
        Some(error) => {
            assert!(response.cause.is_some(), "the log says why: {error}");
            assert!(world.store.is_empty(), "{error}");
            error
        }
        None => "code".into(),
    }
}

#[track_caller]
fn check(response: Response, expected: &str) {
    assert_eq!(log_in(&mut World::new(), [response]), expected);
}

/// `iss`, `aud`, `azp`, `exp` and `nonce` are those of this login.
#[test]
fn id_tokens_are_checked() {
    let with = |name: &str, value: Value| {
        let mut claims = claims("ada");
        claims[name] = value;
        Response::Tokens(claims, json!({}))
    };
    check(with("x", json!(1)), "code");
    check(with("aud", json!(["our-id"])), "code");
    check(with("exp", json!(NOW - 59)), "code");
    let mut two = claims("ada");
    two["aud"] = json!(["our-id", "other"]);
    two["azp"] = json!("our-id");
    check(Response::Tokens(two, json!({})), "code");
    for (name, value) in [
        ("iss", json!("https://other.example")),
        ("iss", json!("https://idp.example/")),
        ("iss", Value::Null),
        ("aud", json!("other")),
        ("aud", json!([])),
        ("aud", json!(["our-id", "other"])),
        ("azp", json!("other")),
        ("exp", json!(NOW - 60)),
        ("exp", Value::Null),
        ("exp", json!("later")),
        ("nonce", json!("another")),
        ("nonce", Value::Null),
        ("sub", Value::Null),
        ("sub", json!("")),
        ("sub", json!(7)),
    ] {
        check(with(name, value), "server_error");
    }
    for token in [
        json!("x"),
        json!("a.b.c"),
        json!(null),
        json!(7),
        json!("eyJhbGciOiJub25lIn0.e30."),
    ] {
        check(
            Response::Tokens(claims("ada"), json!({ "id_token": token })),
            "server_error",
        );
    }
}

#[test]
fn token_responses_that_cannot_be_used_are_errors_for_the_client() {
    check(Response::Nothing, "temporarily_unavailable");
    for (status, body) in [
        (200, "<html>"),
        (200, "{}"),
        (200, r#"{"error":"bad_verification_code"}"#),
        (200, r#"{"access_token":"a b","id_token":"x"}"#),
        (200, r#"{"access_token":"a","token_type":"mac"}"#),
        (302, ""),
        (400, r#"{"error":"invalid_grant"}"#),
        (500, "oops"),
    ] {
        check(Response::Body(status, body.into()), "server_error");
    }
}

/// A lifetime of the provider is a number of seconds, however large.
#[test]
fn absurd_lifetimes_end_nothing_early_and_overflow_nothing() {
    for (lifetime, expected) in [
        (json!(u64::MAX), "code"),
        (json!(1e300), "code"),
        (json!("99999999999999999999"), "code"),
        (json!(0), "code"),
        (json!(-1), "server_error"),
        (json!("soon"), "server_error"),
        (json!([60]), "server_error"),
    ] {
        let more = json!({ "expires_in": lifetime, "refresh_token": "their-refresh-1" });
        let mut world = World::new();
        let outcome = log_in(&mut world, [Response::Tokens(claims("ada"), more)]);
        assert_eq!(outcome, expected, "{lifetime}");
    }
    let mut world = World::new();
    let (client, _, refresh) = world.tokens();
    let endless = json!({ "expires_in": u64::MAX });
    world
        .responses
        .push_back(Response::Tokens(claims("ada"), endless));
    let response = world.token(&refresh_form(&client, &refresh));
    let access = text(&response, "access_token");
    assert!(world.provider_token(&access).is_ok());
}

/// The client receives an error if the user does not log in.
#[test]
fn errors_of_the_provider_become_errors_of_this_server() {
    let mut world = World::new();
    let client = world.register(REDIRECT);
    for (sent, expected) in [
        ("access_denied", "access_denied"),
        ("temporarily_unavailable", "temporarily_unavailable"),
        ("invalid_scope", "server_error"),
        ("%3Cscript%3E", "server_error"),
    ] {
        let mut browser = Browser::default();
        let state = world.approve(&mut browser, &authorize(&client, ""));
        let url = format!("/callback?error={sent}&error_description=x&state={state}");
        let response = browser.open(&mut world, &url);
        let location = response.header("location").unwrap();
        assert_eq!(parameter(location, "error").unwrap(), expected);
        assert!(!location.contains("%3C"));
    }
    assert!(world.requests.is_empty() && world.store.is_empty());
}

/// GitHub: opaque tokens, errors with status 200, the user by its API, scopes with commas.
#[test]
fn github_says_by_its_api_who_the_user_is() {
    let mut world = World::of(settings(Provider::github("our-id", "our-s3cret")));
    let tokens = || {
        let body = r#"{"access_token":"gho_1","scope":"read:user,repo","token_type":"bearer"}"#;
        Response::Body(200, body.into())
    };
    let user = |id: &str| Response::Body(200, format!(r#"{{"id":{id},"login":"ada","x":[]}}"#));
    let (client, mut browser, state) = world.approved();
    world.responses.extend([tokens(), user("583231")]);
    let response = world.come_back(&mut browser, &state);
    let code = parameter(response.header("location").unwrap(), "code").unwrap();
    let [exchange, api] = &*world.requests else {
        panic!()
    };
    assert_eq!(exchange.url, "https://github.com/login/oauth/access_token");
    let body = exchange.body.as_ref().unwrap().expose();
    assert!(body.contains("client_secret=our-s3cret"), "{body}");
    assert_eq!(exchange.header("accept"), Some("application/json"));
    assert_eq!(api.url, "https://api.github.com/user");
    assert_eq!(api.header("authorization"), Some("Bearer gho_1"));
    assert!(api.header("user-agent").is_some());

    let response = world.token(&code_form(&client, &code));
    let access = text(&response, "access_token");
    let claims = world.check(&access).unwrap();
    assert_eq!(claims.subject(), Some("583231"));
    assert_eq!(claims.get("name"), Ok(Some("ada".to_owned())));
    let theirs = world.provider_token(&access).unwrap();
    assert_eq!(theirs.scopes.to_string(), "read:user repo");

    // Tokens without end are confirmed by the API at each refresh.
    world.responses.push_back(user("583231"));
    let response = world.token(&refresh_form(&client, &text(&response, "refresh_token")));
    assert_eq!(response.status, 200);
    world.responses.push_back(Response::Body(
        401,
        r#"{"message":"Bad credentials"}"#.into(),
    ));
    let response = world.token(&refresh_form(&client, &text(&response, "refresh_token")));
    assert_eq!(text(&response, "error"), "invalid_grant");
    assert!(world.check(&access).is_none(), "the user has revoked it");

    for bad in [
        Response::Body(200, r#"{"id":null}"#.into()),
        Response::Body(200, r#"{"id":[1]}"#.into()),
        Response::Body(200, "<html>".into()),
        Response::Body(401, String::new()),
    ] {
        assert_eq!(
            log_in(
                &mut World::of(settings(Provider::github("i", "s"))),
                [tokens(), bad]
            ),
            "server_error"
        );
    }
    let late = log_in(
        &mut World::of(settings(Provider::github("i", "s"))),
        [tokens(), Response::Nothing],
    );
    assert_eq!(late, "temporarily_unavailable");
}

/// Entra: the metadata of many tenants has a placeholder, and `resource` is refused.
#[test]
fn entra_has_an_issuer_for_each_tenant() {
    let host = "https://login.microsoftonline.com";
    let read = |tenant: &str, issuer: &str| {
        let provider = Provider::entra(tenant, "our-id", "our-s3cret");
        let document = json!({
            "issuer": issuer,
            "authorization_endpoint": format!("{host}/{tenant}/oauth2/v2.0/authorize"),
            "token_endpoint": format!("{host}/{tenant}/oauth2/v2.0/token"),
        });
        let url = provider.metadata_url().unwrap();
        assert_eq!(
            url,
            format!("{host}/{tenant}/v2.0/.well-known/openid-configuration")
        );
        provider.read_metadata(&url, document.to_string().as_bytes())
    };
    let (many, one) = (
        format!("{host}/{{tenantid}}/v2.0"),
        format!("{host}/t-1/v2.0"),
    );
    assert!(read("t-1", &one).is_ok());
    assert!(read("t-2", &one).is_err());
    assert!(read("common", "https://evil.example/{tenantid}/v2.0").is_err());
    let metadata = read("common", &many).unwrap();
    let world = || {
        let mut world = World::of(settings(Provider::entra("common", "our-id", "our-s3cret")));
        world.metadata = Some(metadata.clone());
        world
    };
    let check = |issuer: String, tenant: Value, expected: &str| {
        let mut world = world();
        let mut claims = claims("ada");
        (claims["iss"], claims["tid"]) = (issuer.into(), tenant);
        assert_eq!(
            log_in(&mut world, [Response::Tokens(claims, json!({}))]),
            expected
        );
        let body = world.requests[0].body.as_ref().unwrap().expose();
        assert!(!body.contains("resource="), "{body}");
    };
    check(one.clone(), json!("t-1"), "code");
    check(one.clone(), json!("t-2"), "server_error");
    check(one, Value::Null, "server_error");
    check(many, json!("{tenantid}"), "server_error");
    check(format!("{host}/a/b/v2.0"), json!("a/b"), "server_error");

    // A subject names a user among those of its issuer: equal ones of two tenants are two users.
    let mut world = world();
    for tenant in ["t-1", "t-2"] {
        let theirs = |more: Value| {
            let mut claims = claims("ada");
            claims["iss"] = format!("{host}/{tenant}/v2.0").into();
            claims["tid"] = tenant.into();
            Response::Tokens(claims, more)
        };
        let (client, mut browser, state) = world.approved();
        let tokens = theirs(json!({ "refresh_token": "their-refresh-1" }));
        world.responses.push_back(tokens);
        let response = world.come_back(&mut browser, &state);
        let code = parameter(response.header("location").unwrap(), "code").unwrap();
        let response = world.token(&code_form(&client, &code));
        let found = world.check(&text(&response, "access_token")).unwrap();
        assert_eq!(found.subject(), Some(&*format!("{tenant}/ada")));
        world.responses.push_back(theirs(json!({})));
        let form = refresh_form(&client, &text(&response, "refresh_token"));
        assert_eq!(world.token(&form).status, 200);
    }
}

/// A provider whose API says who the user is may send ID tokens, too, which name the user in another way.
#[test]
fn an_id_token_that_was_not_asked_for_ends_no_login() {
    let user = UserSource::Document {
        url: "https://idp.example/me".into(),
        subject: "email",
        name: "email",
    };
    let mut world = World::of(settings(Provider { user, ..oidc() }));
    let me = Response::Body(200, r#"{"email":"ada@example"}"#.into());
    let more = json!({ "refresh_token": "their-refresh-1" });
    let (client, mut browser, state) = world.approved();
    let tokens = Response::Tokens(claims("7"), more);
    world.responses.extend([tokens, me]);
    let response = world.come_back(&mut browser, &state);
    let code = parameter(response.header("location").unwrap(), "code").unwrap();
    let refresh = text(&world.token(&code_form(&client, &code)), "refresh_token");
    world
        .responses
        .push_back(Response::Tokens(claims("7"), json!({})));
    assert_eq!(world.token(&refresh_form(&client, &refresh)).status, 200);
}

/// Keycloak's access tokens last a minute, if its operator does not change that.
#[test]
fn a_token_of_a_minute_serves_more_than_one_call() {
    let mut world = World::new();
    let (client, _, refresh) = world.tokens();
    let minute = || Response::Tokens(claims("ada"), json!({ "expires_in": 60 }));
    world.responses.push_back(minute());
    let response = world.token(&refresh_form(&client, &refresh));
    let access = text(&response, "access_token");
    for _ in 0..4 {
        world.now += 10;
        assert!(world.provider_token(&access).is_ok());
    }
    assert_eq!(world.requests.len(), 2);
    world.now += 15;
    world.responses.push_back(minute());
    assert!(world.provider_token(&access).is_ok());
    assert_eq!(world.requests.len(), 3, "it was about to expire");
}

/// AU-14: a login that the provider never confirms does not last for ever, also if it does not say for how long.
#[test]
fn a_login_that_cannot_be_confirmed_ends() {
    for (lifetime, lasts) in [(json!(7_200), 7_200), (Value::Null, 3_600)] {
        let mut world = World::new();
        let (client, mut browser, state) = world.approved();
        let more = json!({ "expires_in": lifetime });
        world
            .responses
            .push_back(Response::Tokens(claims("ada"), more));
        let response = world.come_back(&mut browser, &state);
        let code = parameter(response.header("location").unwrap(), "code").unwrap();
        let mut response = world.token(&code_form(&client, &code));
        for _ in 0..lasts / 600 - 1 {
            world.now += 600;
            let refresh = text(&response, "refresh_token");
            response = world.token(&refresh_form(&client, &refresh));
        }
        world.now += 600;
        let refresh = text(&response, "refresh_token");
        let response = world.token(&refresh_form(&client, &refresh));
        assert_eq!(text(&response, "error"), "invalid_grant", "{lasts}");
    }
}

#[test]
fn google_is_asked_for_a_refresh_token() {
    let mut world = World::of(settings(Provider::google("our-id", "our-s3cret")));
    world.metadata = World::new().metadata;
    let client = world.register(REDIRECT);
    let mut browser = Browser::default();
    let form = world.consent_form(&mut browser, &authorize(&client, ""));
    let response = browser.submit(&mut world, &format!("{form}&decision=allow"));
    let page = response.header("location").unwrap();
    assert_eq!(parameter(page, "access_type").unwrap(), "offline");
    assert_eq!(parameter(page, "prompt").unwrap(), "consent");
}

#[test]
fn metadata_of_another_issuer_is_not_used() {
    let provider = oidc();
    let url = provider.metadata_url().unwrap();
    assert_eq!(url, "https://idp.example/.well-known/openid-configuration");
    let document = |issuer: &str, token: &str| {
        let document = json!({
            "issuer": issuer, "authorization_endpoint": format!("{PROVIDER}/a"), "token_endpoint": token,
        });
        provider.read_metadata(&url, document.to_string().as_bytes())
    };
    assert!(document(PROVIDER, "https://elsewhere.example/token").is_ok());
    for (issuer, token) in [
        ("https://other.example", "https://idp.example/token"),
        (PROVIDER, "http://idp.example/token"),
        (PROVIDER, "http://127.0.0.1/token"),
        (PROVIDER, "token"),
    ] {
        assert!(document(issuer, token).is_err(), "{issuer} {token}");
    }
    assert!(provider.read_metadata(&url, b"<html>").is_err());
}

#[test]
fn settings_that_cannot_work_are_mistakes() {
    let check = |settings: LoginSettings, expected: SettingsError| {
        assert_eq!(AuthorizationServer::new(settings).unwrap_err(), expected);
    };
    check(
        LoginSettings::new("http://mcp.example/mcp", oidc()),
        SettingsError::Resource,
    );
    check(LoginSettings::new("", oidc()), SettingsError::Resource);
    let mut other = settings(oidc());
    other.issuer = Some("https://mcp.example/?x".into());
    check(other, SettingsError::Issuer);
    check(
        settings(Provider::oidc(PROVIDER, "", "s")),
        SettingsError::Provider,
    );
    check(
        settings(Provider::oidc("http://idp.example", "i", "s")),
        SettingsError::Provider,
    );
    let user = UserSource::Document {
        url: "http://api.example".into(),
        subject: "id",
        name: "n",
    };
    check(
        settings(Provider { user, ..oidc() }),
        SettingsError::Provider,
    );

    let endpoints = ServerMetadata::of_endpoints(
        PROVIDER,
        "https://idp.example/authorize",
        "https://tokens.idp.example/token",
    );
    let named = Provider {
        endpoints: Some(endpoints),
        ..oidc()
    };
    // The operator has named their hosts, which may be private ones.
    assert!(
        named
            .urls()
            .any(|url| url == "https://tokens.idp.example/token")
    );

    for change in [
        |settings: &mut LoginSettings| settings.access_lifetime = 0,
        |settings: &mut LoginSettings| settings.login_lifetime = 0,
        |settings: &mut LoginSettings| settings.registration_lifetime = 0,
        |settings: &mut LoginSettings| settings.remember_consent = Some(0),
    ] {
        let mut other = settings(oidc());
        change(&mut other);
        check(other, SettingsError::Lifetime);
    }

    let mut below = settings(oidc());
    below.issuer = Some("https://mcp.example/tenant/".into());
    let server = AuthorizationServer::new(below).unwrap();
    assert_eq!(server.callback_url(), "https://mcp.example/tenant/callback");
    let local = LoginSettings::new("http://localhost:8000/mcp", oidc());
    assert_eq!(
        AuthorizationServer::new(local).unwrap().issuer(),
        "http://localhost:8000"
    );
    assert_eq!(RESOURCE, "https://mcp.example/mcp");
}
