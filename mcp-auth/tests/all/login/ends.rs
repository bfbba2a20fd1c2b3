//! Refreshes that fail, and those that meet each other.

use mcp_auth::authorization_server::{LoginError, ProviderTokenRequest};
use serde_json::json;

use super::world::{
    Browser, REDIRECT, Response, Sent, World, authorize, code_form, parameter, refresh_form, text,
    their_tokens,
};

fn theirs(more: serde_json::Value) -> Response {
    Response::Tokens(json!({ "sub": "ada" }), more)
}

/// AU-14: what the provider ends, ends here.
#[test]
fn a_login_that_the_provider_ends_is_over() {
    for (status, body) in [
        (400, r#"{"error":"invalid_grant"}"#),
        (200, r#"{"error":"bad_refresh_token"}"#),
    ] {
        let mut world = World::new();
        let (client, access, refresh) = world.tokens();
        world
            .responses
            .push_back(Response::Body(status, body.into()));
        let response = world.token(&refresh_form(&client, &refresh));
        assert_eq!(
            (response.status, text(&response, "error").as_str()),
            (400, "invalid_grant")
        );
        assert!(world.check(&access).is_none() && world.store.is_empty());
    }
}

/// Tokens of another user are not taken for those of this one.
#[test]
fn a_refresh_with_another_user_ends_the_login() {
    let mut world = World::new();
    let (client, access, refresh) = world.tokens();
    let other = Response::Tokens(json!({ "sub": "bob" }), json!({}));
    world.responses.push_back(other);
    let response = world.token(&refresh_form(&client, &refresh));
    assert_eq!(text(&response, "error"), "invalid_grant");
    assert!(world.check(&access).is_none());
}

/// A provider that does not answer costs nothing but the attempt: the client may try again with the same token.
#[test]
fn a_provider_that_is_away_loses_nothing() {
    let mut world = World::new();
    let (client, access, refresh) = world.tokens();
    let form = refresh_form(&client, &refresh);
    for response in [
        Response::Nothing,
        Response::Body(503, String::new()),
        Response::Body(200, "<html>".into()),
        Response::Body(429, r#"{"error":"slow_down"}"#.into()),
        Response::Body(401, r#"{"error":"invalid_client"}"#.into()),
    ] {
        world.responses.push_back(response);
        let response = world.token(&form);
        assert_eq!(response.status, 503);
        assert!(response.header("retry-after").is_some() && response.cause.is_some());
        let shown = format!("{:?}", response.cause);
        assert!(!shown.contains("their-refresh-1"), "{shown}");
    }
    let metadata = world.metadata.take();
    assert_eq!(
        world.token(&form).status,
        503,
        "its metadata could not be fetched"
    );
    world.metadata = metadata;
    assert!(world.check(&access).is_some());
    world.responses.push_back(theirs(json!({})));
    assert_eq!(world.token(&form).status, 200);
}

/// A refresh token of the provider that it replaces is never sent twice: the second one waits for the first.
#[test]
fn refreshes_of_one_login_happen_one_after_another() {
    let mut world = World::new();
    let (client, _, refresh) = world.tokens();
    let short = theirs(json!({ "expires_in": 1, "refresh_token": "their-2" }));
    world.responses.push_back(short);
    let response = world.token(&refresh_form(&client, &refresh));
    let access = text(&response, "access_token");
    let sent = world.requests.len();

    // While a handler waits for the provider, another one asks for the same, and finds the lease.
    world
        .responses
        .push_back(theirs(json!({ "access_token": "their-3" })));
    world.meanwhile = Some(|world| {
        let login = world
            .store
            .keys()
            .next()
            .unwrap()
            .strip_prefix("login ")
            .unwrap()
            .to_owned();
        let second = world.drive(ProviderTokenRequest::new(login));
        assert!(
            matches!(second, Err(LoginError::Unavailable(_))),
            "{second:?}"
        );
    });
    let first = world.provider_token(&access).unwrap();
    assert_eq!(first.access_token.expose(), "their-3");
    assert_eq!(world.requests.len(), sent + 1);
}

/// A client that has lost the response to a refresh repeats it, and receives the same refresh token: of two parties that
/// have it, one is found out when both have used it.
#[test]
fn a_refresh_may_be_repeated_for_half_a_minute() {
    let mut world = World::new();
    let (client, _, refresh) = world.tokens();
    world.responses.push_back(theirs(json!({})));
    let first = text(
        &world.token(&refresh_form(&client, &refresh)),
        "refresh_token",
    );
    world.now += 29;
    let again = text(
        &world.token(&refresh_form(&client, &refresh)),
        "refresh_token",
    );
    assert_eq!(world.requests.len(), 2, "the provider was asked once");
    world.responses.push_back(theirs(json!({})));
    assert_eq!(world.token(&refresh_form(&client, &first)).status, 200);
    world.now += 31;
    let response = world.token(&refresh_form(&client, &again));
    assert_eq!(text(&response, "error"), "invalid_grant");
    assert!(world.store.is_empty());
}

/// Another process looks at the record to change it while the provider answers: nothing of the answer is lost.
#[test]
fn an_outcome_is_written_although_the_record_was_loaded_again() {
    let mut world = World::new();
    let (client, _, refresh) = world.tokens();
    world
        .responses
        .push_back(theirs(json!({ "refresh_token": "their-2" })));
    world.meanwhile = Some(|world| {
        let (version, _) = world.store.values_mut().next().unwrap();
        *version += 1;
    });
    let response = world.token(&refresh_form(&client, &refresh));
    assert_eq!(response.status, 200);
    world.responses.push_back(theirs(json!({})));
    let response = world.token(&refresh_form(&client, &text(&response, "refresh_token")));
    assert_eq!(response.status, 200);
    let body = world
        .requests
        .last()
        .unwrap()
        .body
        .as_ref()
        .unwrap()
        .expose();
    assert!(body.contains("refresh_token=their-2&"), "{body}");
}

/// The store is away for a moment when the provider has replaced its tokens, or its answers are: the new tokens are
/// not lost, without which the provider would end the login.
#[test]
fn an_outcome_is_written_although_the_store_was_away() {
    for answers_are_lost in [false, true] {
        let mut world = World::new();
        let (client, _, refresh) = world.tokens();
        world
            .responses
            .push_back(theirs(json!({ "refresh_token": "their-2" })));
        world.answers_are_lost = answers_are_lost;
        world.meanwhile = Some(|world| world.store_failures = 3);
        let response = world.token(&refresh_form(&client, &refresh));
        assert_eq!(response.status, 200, "{answers_are_lost}");
        world.responses.push_back(theirs(json!({})));
        let next = text(&response, "refresh_token");
        assert_eq!(world.token(&refresh_form(&client, &next)).status, 200);
        let bodies = world.requests.iter().filter_map(|it| it.body.as_ref());
        let sent = bodies.filter(|it| it.expose().contains("refresh_token=their-2&"));
        assert_eq!(sent.count(), 1, "{answers_are_lost}");
    }
}

/// The client of a code is not taken for a thief because the store was away when the code was exchanged.
#[test]
fn a_code_is_of_use_although_the_store_was_away() {
    for answers_are_lost in [false, true] {
        for failures in 2..4 {
            let mut world = World::new();
            let client = world.register(REDIRECT);
            let code = world.log_in(&client);
            world.fails_after = 1;
            world.answers_are_lost = answers_are_lost;
            world.store_failures = failures;
            let response = world.token(&code_form(&client, &code));
            assert_eq!(response.status, 200, "{answers_are_lost} {failures}");
            assert!(world.check(&text(&response, "access_token")).is_some());
            let again = world.token(&code_form(&client, &code));
            assert_eq!(text(&again, "error"), "invalid_grant");
            assert!(world.store.is_empty());
        }
    }
}

/// A login that is revoked while the provider answers stays revoked.
#[test]
fn a_revocation_wins_over_a_refresh() {
    let mut world = World::new();
    let (client, _, refresh) = world.tokens();
    world.responses.push_back(theirs(json!({})));
    world.meanwhile = Some(|world| world.store.clear());
    let response = world.token(&refresh_form(&client, &refresh));
    assert_eq!(text(&response, "error"), "invalid_grant");
    assert!(world.store.is_empty());
}

/// A process that has ended with its lease is waited for, and then followed.
#[test]
fn a_lease_ends_by_itself() {
    let mut world = World::new();
    let (client, _, refresh) = world.tokens();
    let form = refresh_form(&client, &refresh);
    world.responses.push_back(Response::Nothing);
    world.meanwhile = Some(|world| world.store_failures = usize::MAX);
    assert_eq!(
        world.token(&form).status,
        503,
        "the outcome could not be written"
    );
    world.store_failures = 0;
    world.now += 30;
    world.responses.push_back(theirs(json!({})));
    assert_eq!(world.token(&form).status, 200, "after the lease");
}

/// Tokens that the provider has replaced are written, however long the renewal has waited for another process before.
#[test]
fn an_outcome_is_written_after_a_long_wait() {
    let mut world = World::new();
    let (client, _, refresh) = world.tokens();
    let form = refresh_form(&client, &refresh);
    world.responses.push_back(Response::Nothing);
    world.meanwhile = Some(|world| world.store_failures = usize::MAX);
    assert_eq!(world.token(&form).status, 503);
    world.store_failures = 0;
    // The lease of that one lasts for 20 seconds more.
    world
        .responses
        .push_back(theirs(json!({ "refresh_token": "their-2" })));
    world.meanwhile = Some(|world| world.store_failures = 25);
    let response = world.token(&form);
    assert_eq!(response.status, 200);
    assert_eq!(world.store_failures, 0);
}

/// The answer to the write of a lease is lost: the renewal that holds it continues, or takes it again.
#[test]
fn a_lease_whose_answer_was_lost_is_kept() {
    for answers_are_lost in [false, true] {
        for failures in [1, 3] {
            let mut world = World::new();
            let (client, _, refresh) = world.tokens();
            world.responses.push_back(theirs(json!({})));
            world.answers_are_lost = answers_are_lost;
            // The login is read twice before.
            (world.store_failures, world.fails_after) = (failures, 2);
            let before = world.requests.len();
            let response = world.token(&refresh_form(&client, &refresh));
            assert_eq!(response.status, 200, "{answers_are_lost} {failures}");
            assert_eq!(world.store_failures, 0);
            assert_eq!(world.requests.len(), before + 1);
        }
    }
}

#[test]
fn a_login_that_is_not_used_ends() {
    let mut world = World::new();
    let (client, _, refresh) = world.tokens();
    world.now += 30 * 86_400;
    let response = world.token(&refresh_form(&client, &refresh));
    assert_eq!(text(&response, "error"), "invalid_grant");
    // A shorter time holds for logins of before.
    let mut world = World::new();
    let (client, _, refresh) = world.tokens();
    world.change(|settings| settings.login_lifetime = 86_400);
    world.now += 30 * 86_400 - 60;
    let response = world.token(&refresh_form(&client, &refresh));
    assert_eq!(text(&response, "error"), "invalid_grant");
}

/// A client that waits for its user learns of a store that fails when the user comes back.
#[test]
fn a_store_that_fails_at_the_return_is_an_error_for_the_client() {
    // The first action reads the login, the second one removes it, and the third one stores what was granted.
    for successes in [1, 2] {
        let mut world = World::new();
        let (_, mut browser, state) = world.approved();
        (world.store_failures, world.fails_after) = (1, successes);
        world.responses.push_back(their_tokens());
        let response = world.come_back(&mut browser, &state);
        let location = response.header("location").unwrap_or_default();
        assert_eq!(
            parameter(location, "error").as_deref(),
            Some("temporarily_unavailable")
        );
    }
}

/// Without a store or without randomness nothing is granted, and nothing is lost.
#[test]
fn a_store_that_fails_is_an_error_of_the_moment() {
    let mut world = World::new();
    let client = world.register(REDIRECT);
    let code = world.log_in(&client);
    world.store_failures = usize::MAX;
    let response = world.token(&code_form(&client, &code));
    assert_eq!(
        (response.status, text(&response, "error").as_str()),
        (503, "temporarily_unavailable")
    );
    let mut browser = Browser::default();
    let form = world.consent_form(&mut browser, &authorize(&client, ""));
    assert_eq!(
        browser
            .submit(&mut world, &format!("{form}&decision=allow"))
            .status,
        503
    );
    assert_eq!(
        browser.open(&mut world, "/callback?code=1&state=x").status,
        503
    );
    world.store_failures = 0;
    assert_eq!(world.token(&code_form(&client, &code)).status, 200);

    world.crypto.is_broken.set(true);
    let page = Browser::default().open(&mut world, &authorize(&client, ""));
    assert_eq!((page.status, page.header("location")), (503, None));
    world.crypto.is_broken.set(false);
    let metadata = world.metadata.take();
    let response = browser.submit(&mut world, &format!("{form}&decision=allow"));
    assert!(
        response
            .header("location")
            .unwrap()
            .contains("error=temporarily_unavailable")
    );
    world.metadata = metadata;
    assert_eq!(
        world.send(&Sent::get("/callback?code=1")).status,
        400,
        "without a state"
    );
}
