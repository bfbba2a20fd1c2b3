//! What clients send: registrations, metadata documents, and requests that are wrong.

use serde_json::{Value, json};

use super::world::{
    Browser, ISSUER, NOW, REDIRECT, Response, Sent, World, authorize, code_form, encode, json_of,
    oidc, parameter, settings, text,
};

fn register(world: &mut World, body: &Value) -> Value {
    json_of(&world.send(&Sent::post("/register", body.to_string())))
}

#[test]
fn a_registration_is_answered_with_what_holds() {
    let mut world = World::new();
    let body = json!({
        "client_name": "Desk",
        "redirect_uris": [REDIRECT, "https://app.example/cb"],
        "token_endpoint_auth_method": "client_secret_basic",
        "grant_types": ["authorization_code"],
        "scope": "anything",
        "logo_uri": "https://app.example/logo",
    });
    let registered = register(&mut world, &body);
    assert_eq!(registered["token_endpoint_auth_method"], "none");
    assert_eq!(registered["redirect_uris"], body["redirect_uris"]);
    assert_eq!(registered["client_name"], "Desk");
    assert_eq!(registered.get("client_secret"), None);
}

#[test]
fn wrong_registrations_are_refused() {
    let mut world = World::new();
    let mut check = |body: Value, error: &str| {
        let answer = register(&mut world, &body);
        assert_eq!(answer["error"], error, "{body} {answer}");
    };
    let redirect = |uri: &str| json!({ "redirect_uris": [REDIRECT, uri] });
    for uri in [
        "http://app.example/cb",
        "javascript:alert(1)",
        "data:text/html,x",
        "cursor://callback",
        "https://app.example/cb#f",
        "https://me@app.example/cb",
        "http://127.0.0.1.evil.example/cb",
        "/cb",
        "",
        "https://app.example/\u{e9}",
    ] {
        check(redirect(uri), "invalid_redirect_uri");
    }
    check(json!({}), "invalid_redirect_uri");
    check(json!({ "redirect_uris": [] }), "invalid_redirect_uri");
    for body in [
        json!([]),
        json!("x"),
        json!({ "redirect_uris": REDIRECT }),
        json!({ "redirect_uris": [1] }),
        json!({ "redirect_uris": [REDIRECT], "client_name": 1 }),
        json!({ "redirect_uris": [REDIRECT], "grant_types": ["client_credentials"] }),
        json!({ "redirect_uris": vec![REDIRECT; 1_001] }),
    ] {
        check(body, "invalid_client_metadata");
    }
    let response = world.send(&Sent::post("/register", "{\"redirect_uris\":"));
    assert_eq!(text(&response, "error"), "invalid_client_metadata");
}

/// A server without registration has no such endpoint.
#[test]
fn registration_can_be_turned_off() {
    let mut settings = settings(oidc());
    settings.registration = false;
    settings.client_documents = false;
    let mut world = World::of(settings);
    let metadata = world.send(&Sent::get("/.well-known/oauth-authorization-server"));
    let metadata = json_of(&metadata);
    assert_eq!(metadata.get("registration_endpoint"), None);
    assert_eq!(metadata.get("client_id_metadata_document_supported"), None);
    assert_eq!(world.server.endpoint(&Sent::post("/register", "")), None);
    let page = Browser::default().open(
        &mut world,
        &authorize(&encode("https://app.example/client"), ""),
    );
    assert_eq!(page.status, 400);
}

#[test]
fn a_registration_expires() {
    let mut world = World::new();
    let client = world.register(REDIRECT);
    let check = |world: &mut World, days: u64, status: u16| {
        world.now = NOW + days * 86_400;
        let page = Browser::default().open(world, &authorize(&client, ""));
        assert_eq!((page.status, page.header("location")), (status, None));
        assert_eq!(page.body.contains("expired"), status == 400, "{days}");
    };
    check(&mut world, 365, 200);
    check(&mut world, 366, 400);
    // A shorter time holds for registrations of before.
    world.change(|settings| settings.registration_lifetime = 86_400);
    check(&mut world, 0, 200);
    check(&mut world, 1, 400);
    check(&mut world, 365, 400);
}

const DOCUMENT: &str = "https://app.example/client.json";

fn document() -> Value {
    json!({
        "client_id": DOCUMENT,
        "client_name": "App",
        "redirect_uris": ["https://app.example/cb", "http://127.0.0.1/callback"],
    })
}

/// AU-72: the document is fetched, checked, and its host shown; the port of a loopback redirect is free.
#[test]
fn a_client_with_a_document_logs_in() {
    let mut world = World::new();
    let id = encode(DOCUMENT);
    world
        .responses
        .push_back(Response::Body(200, document().to_string()));
    let mut browser = Browser::default();
    let page = browser.open(&mut world, &authorize(&id, ""));
    assert_eq!(page.status, 200, "{}", page.body);
    assert!(
        page.body
            .contains("<dt>Published by<dd>https://app.example"),
        "{}",
        page.body
    );
    let warning = "<dd>http://127.0.0.1:8765, a program on this device. Any program there";
    assert!(page.body.contains(warning), "{}", page.body);
    let request = world.requests.last().unwrap();
    assert_eq!((request.url.as_str(), request.max_redirects), (DOCUMENT, 0));

    world
        .responses
        .push_back(Response::Body(200, document().to_string()));
    let code = world.log_in(&id);
    let response = world.token(&code_form(&id, &code));
    let claims = world.check(&text(&response, "access_token")).unwrap();
    assert_eq!(claims.client(), Some(DOCUMENT));
}

/// AU-72, AU-29.
#[test]
fn documents_that_are_wrong_are_not_used() {
    let mut world = World::new();
    let mut check = |response: Response| {
        world.responses.push_back(response);
        let page = Browser::default().open(&mut world, &authorize(&encode(DOCUMENT), ""));
        assert_eq!((page.status, page.header("location")), (400, None));
        assert!(page.cause.is_some(), "the log says why");
    };
    let with = |name: &str, value: Value| {
        let mut document = document();
        document[name] = value;
        Response::Body(200, document.to_string())
    };
    check(Response::Nothing);
    check(Response::Body(404, document().to_string()));
    check(Response::Body(301, document().to_string()));
    check(Response::Body(200, "<!doctype html>".into()));
    check(Response::Body(200, "[]".into()));
    check(with("client_id", json!("https://app.example/other.json")));
    check(with("client_id", Value::Null));
    check(with("client_name", Value::Null));
    check(with("redirect_uris", json!(["http://app.example/cb"])));
    check(with("redirect_uris", json!([])));
    check(with(
        "token_endpoint_auth_method",
        json!("client_secret_basic"),
    ));
    check(with("more", json!("x".repeat(70_000))));
    check(with(
        "redirect_uris",
        json!([format!("https://app.example/{}", "x".repeat(1_500))]),
    ));
    // Users of a host that keeps their files are not its publisher.
    for content_type in [
        "",
        "text/plain",
        "application/jsonp",
        "json",
        "image/x+json",
    ] {
        check(Response::Page(content_type, document().to_string()));
    }
    for id in [
        "http://app.example/client.json",
        "https://app.example",
        "https://app.example/",
        "https://app.example/a/../client.json",
        "https://app.example/client.json#f",
        "https://me@app.example/client.json",
        "https://127.0.0.1/client.json",
        "http://localhost:1/client.json",
        "file:///client.json",
        "unknown",
    ] {
        let page = Browser::default().open(&mut world, &authorize(&encode(id), ""));
        assert_eq!(page.status, 400, "{id}");
    }
    assert_eq!(world.requests.len(), 18, "none of these was fetched");
    for content_type in [
        "application/json;charset=utf-8",
        "Application/JSON",
        "application/oauth-client+json",
    ] {
        let page = Response::Page(content_type, document().to_string());
        world.responses.push_back(page);
        let page = Browser::default().open(&mut world, &authorize(&encode(DOCUMENT), ""));
        assert_eq!(page.status, 200, "{content_type}");
    }
}

/// An error goes to the client only if its redirect URI is sure.
#[test]
fn requests_that_are_wrong_are_answered_where_it_is_safe() {
    let mut world = World::new();
    let client = world.register(REDIRECT);
    let url = authorize(&client, "");
    let mut page = |url: String| {
        let response = Browser::default().open(&mut world, &url);
        assert_eq!(
            (response.status, response.header("location")),
            (400, None),
            "{url}"
        );
    };
    let redirect = encode(REDIRECT);
    for other in [
        "https://attacker.example/callback",
        "http://127.0.0.1:8765/callback/x",
        "http://127.0.0.1:8765/",
        "http://127.0.0.1:8765/callback?x=1",
        "http://localhost:8765/callback",
        "https://127.0.0.1:8765/callback",
    ] {
        page(url.replace(&redirect, &encode(other)));
    }
    page(url.replace(&client, "unknown"));
    page(url.replace("client_id=", "c="));
    page(format!("{url}&state=2"));
    page(format!("{url}&x=%ff"));
    let many: String = (0..64).map(|index| format!("&x{index}=")).collect();
    page(format!("{url}{many}&scope=admin"));
    let mut to_client = |url: String, error: &str| {
        let response = Browser::default().open(&mut world, &url);
        let location = response
            .header("location")
            .unwrap_or_else(|| panic!("{url}"));
        assert!(location.starts_with(REDIRECT), "{location}");
        assert_eq!(parameter(location, "error").unwrap(), error, "{url}");
        assert_eq!(parameter(location, "iss").unwrap(), ISSUER);
        assert_eq!(parameter(location, "code"), None);
    };
    to_client(
        url.replace("response_type=code", "response_type=token"),
        "unsupported_response_type",
    );
    to_client(
        url.replace("response_type", "r"),
        "unsupported_response_type",
    );
    to_client(url.replace("S256", "plain"), "invalid_request");
    to_client(url.replace("code_challenge_method", "m"), "invalid_request");
    to_client(
        url.replace("code_challenge=", "code_challenge=x"),
        "invalid_request",
    );
    to_client(
        format!("{url}&resource=https%3A%2F%2Fother.example%2Fmcp"),
        "invalid_target",
    );
    to_client(format!("{url}&scope=admin"), "invalid_scope");
    to_client(
        url.replace("of-the-client", &"s".repeat(3_000)),
        "invalid_request",
    );
}

#[test]
fn token_requests_that_are_wrong_are_refused() {
    let mut world = World::new();
    let (client, _, refresh) = world.tokens();
    let mut check = |form: String, status: u16, error: &str| {
        let response = world.token(&form);
        assert_eq!(
            (response.status, text(&response, "error").as_str()),
            (status, error),
            "{form}"
        );
        assert_eq!(response.header("cache-control"), Some("no-store"));
    };
    check(String::new(), 400, "invalid_request");
    check(format!("client_id={client}"), 400, "invalid_request");
    check(
        format!("client_id={client}&grant_type=password"),
        400,
        "unsupported_grant_type",
    );
    check(
        format!("client_id={client}&grant_type=authorization_code"),
        400,
        "invalid_request",
    );
    check(
        format!("client_id={client}&grant_type=refresh_token"),
        400,
        "invalid_request",
    );
    check(
        format!("grant_type=refresh_token&refresh_token={refresh}"),
        400,
        "invalid_request",
    );
    check(
        format!("client_id={client}&client_secret=x"),
        401,
        "invalid_client",
    );
    check("%".into(), 400, "invalid_request");
    let response = world.send(&Sent::post("/token", "\u{fffd}"));
    assert_eq!(response.status, 400);
    assert_eq!(world.send(&Sent::get("/token")).status, 405);
    assert_eq!(world.send(&Sent::post("/authorize", "")).status, 405);
}
