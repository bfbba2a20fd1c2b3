//! Attacks, each as its party plays it.

use super::world::{
    Browser, ISSUER, REDIRECT, Response, Sent, World, authorize, code_form, encode, form_of,
    json_of, oidc, parameter, refresh_form, settings, text, their_tokens,
};
use mcp_auth::authorization_server::{AuthorizationServer, LoginSettings, Provider};
use serde_json::json;

/// AU-15, GHSA-rww4-4w9c-7733: an attacker consents for a client of theirs, and lets another user log in at the provider.
#[test]
fn a_consent_in_one_browser_is_of_no_use_in_another() {
    let mut world = World::new();
    let client = world.register("https://attacker.example/cb");
    let url =
        authorize(&client, "").replace(&encode(REDIRECT), &encode("https://attacker.example/cb"));
    let mut attacker = Browser::default();
    let state = world.approve(&mut attacker, &url);
    let mut victim_with_cookie = Browser::default();
    let own = world.register(REDIRECT);
    victim_with_cookie.open(&mut world, &authorize(&own, ""));
    assert!(victim_with_cookie.cookie.is_some());
    for mut victim in [Browser::default(), victim_with_cookie] {
        let response = world.come_back(&mut victim, &state);
        assert_eq!(response.status, 403);
        assert_eq!(response.header("location"), None);
    }
    assert!(
        world.requests.is_empty(),
        "the code of the provider went nowhere"
    );
}

/// A page of another site sends the form of an approval, with a request that the attacker has obtained.
#[test]
fn a_forged_consent_is_refused() {
    let mut world = World::new();
    let client = world.register(REDIRECT);
    let mut attacker = Browser::default();
    let form = world.consent_form(&mut attacker, &authorize(&client, ""));
    let form = format!("{form}&decision=allow");
    let mut victim = Browser::default();
    // The user has a page of their own open.
    let own = world.consent_form(&mut victim, &authorize(&client, ""));
    let cookie = victim.cookie.clone().unwrap();
    let mut check = |sent: Sent, what: &str| {
        let response = world.send(&sent);
        assert_eq!(response.status, 403, "{what}");
        assert!(world.store.is_empty());
    };
    check(Sent::post("/consent", &*form), "without a cookie");
    check(
        Sent::post("/consent", &*form).with("cookie", &*cookie),
        "with the cookie of another browser",
    );
    let own = format!("{own}&decision=allow");
    let from = |name, value: &str| {
        Sent::post("/consent", &*own)
            .with("cookie", &*cookie)
            .with(name, value)
    };
    check(
        from("origin", "https://attacker.example"),
        "from another origin",
    );
    check(from("origin", "null"), "from an opaque origin");
    check(from("sec-fetch-site", "cross-site"), "from another site");
    check(from("sec-fetch-site", "same-site"), "from a sibling");
    check(
        from("origin", ISSUER).with("origin", "https://attacker.example"),
        "from two origins",
    );
    for changed in ["", "decision=allow", "request=abc&decision=allow"] {
        check(
            Sent::post("/consent", changed).with("cookie", &*cookie),
            changed,
        );
    }
    let own_form = from("origin", ISSUER);
    assert_eq!(world.send(&own_form).status, 303);
}

/// AU-15, GHSA-6x8h-498w-gv8c: a malicious server leads a client and its user to this one, for an authorization that the user
/// has given before. There is no silent one.
#[test]
fn every_authorization_asks_the_user() {
    let mut world = World::new();
    let client = world.register(REDIRECT);
    let mut browser = Browser::default();
    for more in ["", "&prompt=none", "&scope=notes%3Aread", "&login_hint=ada"] {
        let url = authorize(&client, more);
        let page = browser.send(
            &mut world,
            Sent::get(&url).with("sec-fetch-site", "cross-site"),
        );
        assert_eq!(page.status, 200);
        assert_eq!(page.header("location"), None);
        let form = form_of(&page);
        let response = browser.submit(&mut world, &format!("{form}&decision=allow"));
        world.nonce = parameter(response.header("location").unwrap(), "nonce").unwrap();
        let state = parameter(response.header("location").unwrap(), "state").unwrap();
        world.responses.push_back(their_tokens());
        let response = world.come_back(&mut browser, &state);
        // The issuer says whose code it is (RFC 9207): a client that began elsewhere refuses it.
        assert_eq!(
            parameter(response.header("location").unwrap(), "iss").unwrap(),
            ISSUER
        );
    }
}

/// Cookies that grow without end: there is one, whatever happens.
#[test]
fn there_is_one_cookie_of_one_length() {
    let mut world = World::new();
    let mut browser = Browser::default();
    for _ in 0..20 {
        let client = world.register(REDIRECT);
        let before = browser.cookie.clone();
        world.approve(&mut browser, &authorize(&client, ""));
        assert!(before.is_none() || before == browser.cookie);
        assert_eq!(
            browser.cookie.as_ref().unwrap().len(),
            "__Host-mcp-login=".len() + 43
        );
    }
    let mut fresh = Browser::default();
    let client = world.register(REDIRECT);
    let page = fresh.open(&mut world, &authorize(&client, ""));
    let set = page.header("set-cookie").unwrap();
    assert!(set.starts_with("__Host-mcp-login="));
    for attribute in ["; Path=/", "; Secure", "; HttpOnly", "; SameSite=Lax"] {
        assert!(set.contains(attribute), "{set}");
    }
    assert!(!set.contains("Domain"), "{set}");
    // It is set again with each page, so that it does not end while the user logs in.
    let again = fresh.open(&mut world, &authorize(&client, ""));
    assert_eq!(again.header("set-cookie"), Some(set));
    // One that this server cannot have set is replaced.
    let mut strange = Browser {
        cookie: Some(format!("__Host-mcp-login={}", "x".repeat(4_000))),
    };
    strange.open(&mut world, &authorize(&client, ""));
    assert_eq!(
        strange.cookie.unwrap().len(),
        "__Host-mcp-login=".len() + 43
    );
}

/// AU-72: what a client says of itself is text, and the hosts are shown.
#[test]
fn the_page_shows_names_as_text_and_runs_nothing() {
    let mut world = World::new();
    let name = "<script>alert(1)</script>\u{202e}\"'& \u{1b}[2J";
    let body = json!({ "client_name": name, "redirect_uris": ["https://app.example/cb?\"x"] });
    let refused = world.send(&Sent::post("/register", body.to_string()));
    assert_eq!(text(&refused, "error"), "invalid_redirect_uri");
    let body = json!({ "client_name": name, "redirect_uris": ["https://app.example/cb"] });
    let client = text(
        &world.send(&Sent::post("/register", body.to_string())),
        "client_id",
    );
    let url = authorize(&client, "").replace(&encode(REDIRECT), &encode("https://app.example/cb"));
    let page = Browser::default().open(&mut world, &url);
    for part in ["<script", "\u{202e}", "\u{1b}", "alert(1)</script"] {
        assert!(!page.body.contains(part), "{part:?}");
    }
    for part in [
        "&lt;script&gt;",
        "unverified",
        "<dd>https://app.example",
        "anyone can have registered",
    ] {
        assert!(page.body.contains(part), "{part}: {}", page.body);
    }
    let policy = page.header("content-security-policy").unwrap();
    assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
    assert_eq!(page.header("x-frame-options"), Some("DENY"));
    assert_eq!(page.header("cache-control"), Some("no-store"));
    // The form must have an `Origin`.
    assert_eq!(page.header("referrer-policy"), Some("same-origin"));
}

/// A code is of use once, for one minute, and to its client with its verifier only.
#[test]
fn a_stolen_code_gets_nothing() {
    let mut world = World::new();
    let (client, other) = (world.register(REDIRECT), world.register(REDIRECT));
    let code = world.log_in(&client);
    let mut check = |form: String, error: &str| {
        let response = world.token(&form);
        assert_eq!(
            (response.status, text(&response, "error").as_str()),
            (400, error),
            "{form}"
        );
    };
    let form = code_form(&client, &code);
    check(code_form(&other, &code), "invalid_grant");
    check(
        form.replace("verifier=ver", "verifier=xer"),
        "invalid_grant",
    );
    check(form.replace("verifier=", "v="), "invalid_grant");
    check(form.replace("8765", "8766"), "invalid_grant");
    check(
        format!("{form}&resource=https%3A%2F%2Fother.example"),
        "invalid_target",
    );
    check(format!("{form}&code={code}"), "invalid_request");
    check(code_form(&client, &code[1..]), "invalid_grant");
    // None of that has used it up.
    assert_eq!(world.token(&form).status, 200);

    let code = world.log_in(&client);
    world.now += 60;
    let response = world.token(&code_form(&client, &code));
    assert_eq!(text(&response, "error"), "invalid_grant");
}

/// A second use ends what the first one has granted.
#[test]
fn a_code_that_is_used_twice_ends_the_login() {
    let mut world = World::new();
    let client = world.register(REDIRECT);
    let code = world.log_in(&client);
    let form = code_form(&client, &code);
    let first = world.token(&form);
    let access = text(&first, "access_token");
    assert!(world.check(&access).is_some());
    for _ in 0..2 {
        let again = world.token(&form);
        assert_eq!(text(&again, "error"), "invalid_grant");
    }
    assert!(world.check(&access).is_none());
    let refresh = refresh_form(&client, &text(&first, "refresh_token"));
    assert_eq!(text(&world.token(&refresh), "error"), "invalid_grant");
    assert!(
        world.requests.len() == 1,
        "the provider was not asked for it"
    );
}

/// A refresh token that was replaced is a stolen one, or its copy is.
#[test]
fn a_refresh_token_that_is_used_twice_ends_the_login() {
    for is_older in [false, true] {
        let mut world = World::new();
        let (client, access, refresh) = world.tokens();
        let mut next = |token: &str| {
            let theirs = Response::Tokens(json!({ "sub": "ada" }), json!({}));
            world.responses.push_back(theirs);
            text(&world.token(&refresh_form(&client, token)), "refresh_token")
        };
        let mut newest = next(&refresh);
        match is_older {
            true => newest = next(&newest),
            false => world.now += 30,
        }
        for token in [&refresh, &newest] {
            let response = world.token(&refresh_form(&client, token));
            assert_eq!(text(&response, "error"), "invalid_grant");
        }
        assert!(world.check(&access).is_none() && world.store.is_empty());
    }
}

/// Tokens are of one kind, one client and one server.
#[test]
fn tokens_are_not_taken_for_each_other() {
    let mut world = World::new();
    let (client, access, refresh) = world.tokens();
    let other = world.register(REDIRECT);
    for token in [&client, &refresh, "", "x", &"A".repeat(100_000)] {
        assert!(world.check(token).is_none());
    }
    for token in [&client, &access, "x"] {
        let response = world.token(&refresh_form(&client, token));
        assert_eq!(text(&response, "error"), "invalid_grant");
    }
    let response = world.token(&refresh_form(&other, &refresh));
    assert_eq!(text(&response, "error"), "invalid_grant");
    assert!(
        world.check(&access).is_some(),
        "another client ends nothing"
    );
    world.crypto.key.set(8);
    assert!(world.check(&access).is_none(), "another key opens nothing");
}

/// The record of one login in the place of another is no record.
#[test]
fn records_cannot_be_exchanged_in_the_store() {
    let mut world = World::new();
    let (_, first, _) = world.tokens();
    let (_, second, _) = world.tokens();
    let keys: Vec<_> = world.store.keys().cloned().collect();
    let record = world.store[&keys[0]].clone();
    world.store.insert(keys[1].clone(), record);
    let valid = [first, second]
        .iter()
        .filter(|it| world.check(it).is_some())
        .count();
    assert_eq!(valid, 1);
}

/// AU-14: a server with the keys and the store of another one, for another resource or of another issuer, does not take
/// what is the other's.
#[test]
fn equal_keys_do_not_make_servers_equal() {
    let mut world = World::new();
    let (client, access, refresh) = world.tokens();
    let code = world.log_in(&client);
    let changes: [fn(&mut LoginSettings); 2] = [
        |settings| settings.resource = format!("{ISSUER}/other"),
        |settings| settings.issuer = Some(format!("{ISSUER}/")),
    ];
    for change in changes {
        let mut other = settings(oidc());
        change(&mut other);
        let own = core::mem::replace(&mut world.server, AuthorizationServer::new(other).unwrap());
        assert!(world.check(&access).is_none());
        for form in [code_form(&client, &code), refresh_form(&client, &refresh)] {
            assert_eq!(text(&world.token(&form), "error"), "invalid_grant");
        }
        let page = Browser::default().open(&mut world, &authorize(&client, ""));
        assert_eq!(page.status, 400, "the client is registered elsewhere");
        world.server = own;
    }
    assert_eq!(world.token(&code_form(&client, &code)).status, 200);
}

/// Mix-up: the operator changes the provider. Codes and tokens of the one before are not sent to the new one, and its
/// users are no users of the new one.
#[test]
fn what_one_provider_has_granted_is_not_sent_to_another() {
    let mut world = World::new();
    let (client, access, refresh) = world.tokens();
    let mut browser = Browser::default();
    let state = world.approve(&mut browser, &authorize(&client, ""));
    let other = Provider::oidc("https://other.example", "our-id", "our-s3cret");
    let document = json!({
        "issuer": other.issuer,
        "authorization_endpoint": "https://other.example/authorize",
        "token_endpoint": "https://other.example/token",
    });
    let metadata = other.read_metadata("", document.to_string().as_bytes());
    world.metadata = metadata.ok();
    world.server = AuthorizationServer::new(settings(other)).unwrap();
    world.requests.clear();
    assert_eq!(world.come_back(&mut browser, &state).status, 400);
    let response = world.token(&refresh_form(&client, &refresh));
    assert_eq!(text(&response, "error"), "invalid_grant");
    assert!(world.check(&access).is_none());
    let revoked = world.send(&Sent::post("/revoke", format!("token={refresh}")));
    assert_eq!(revoked.status, 200, "it is as good as revoked");
    assert!(world.requests.is_empty());
    // The registration is one with this server, and users log in anew.
    let page = browser.open(&mut world, &authorize(&client, ""));
    assert_eq!(page.status, 200);
}

/// A `state` is of use once, for ten minutes.
#[test]
fn a_state_is_of_use_once() {
    let mut world = World::new();
    let (client, mut browser, state) = world.approved();
    world.responses.push_back(their_tokens());
    assert_eq!(world.come_back(&mut browser, &state).status, 303);
    let again = world.come_back(&mut browser, &state);
    assert_eq!((again.status, again.header("location")), (400, None));

    let state = world.approve(&mut browser, &authorize(&client, ""));
    world.now += 600;
    assert_eq!(world.come_back(&mut browser, &state).status, 400);

    let form = world.consent_form(&mut browser, &authorize(&client, ""));
    world.now += 600;
    let response = browser.submit(&mut world, &format!("{form}&decision=allow"));
    assert_eq!(response.status, 400, "the page has expired");
}

/// A clock that is set back prolongs nothing.
#[test]
fn clocks_that_jump_prolong_nothing() {
    let mut world = World::new();
    let (client, mut browser, state) = world.approved();
    let code = world.log_in(&client);
    let (_, access, _) = world.tokens();
    world.now -= 100_000;
    assert_eq!(world.come_back(&mut browser, &state).status, 400);
    assert_eq!(
        text(&world.token(&code_form(&client, &code)), "error"),
        "invalid_grant"
    );
    assert!(world.check(&access).is_none());
}

/// RFC 9700, section 4.11.2: a link to this server leads to no other site before its user has decided so.
#[test]
fn the_server_is_no_open_redirector() {
    let mut world = World::new();
    let site = "https://attacker.example/cb";
    let client = world.register(site);
    let url = authorize(&client, "").replace(&encode(REDIRECT), &encode(site));
    for url in [
        url.replace("S256", "plain"),
        format!("{url}&scope=admin"),
        url,
    ] {
        let page = Browser::default().open(&mut world, &url);
        assert_eq!(page.header("location"), None, "{url}");
        assert!(page.body.contains("attacker.example"), "{}", page.body);
    }
}

/// The operator names the hosts that applications receive codes at: a page of another one cannot trick users.
#[test]
fn codes_go_to_hosts_that_are_allowed() {
    let mut settings = settings(oidc());
    settings.redirect_hosts = Some(Vec::from(["app.example".into()]));
    let mut world = World::of(settings);
    for (redirect, status) in [
        (REDIRECT, 200),
        ("https://app.example/cb", 200),
        ("https://APP.example:8443/cb", 200),
        ("https://attacker.example/cb", 400),
        ("https://app.example.attacker.example/cb", 400),
        ("https://sub.app.example/cb", 400),
    ] {
        let client = world.register(redirect);
        let url = authorize(&client, "").replace(&encode(REDIRECT), &encode(redirect));
        for url in [format!("{url}&scope=admin"), url] {
            let page = Browser::default().open(&mut world, &url);
            if status == 400 {
                assert_eq!((page.status, page.header("location")), (400, None));
                assert!(!page.body.contains("<a"), "{}", page.body);
            }
            let is_wrong = url.ends_with("admin");
            assert!(is_wrong || page.status == status, "{redirect}");
        }
    }
}

/// The clocks of two processes differ a little.
#[test]
fn what_a_process_with_a_fast_clock_issues_is_accepted() {
    let mut world = World::new();
    let (client, access, refresh) = world.tokens();
    let code = world.log_in(&client);
    world.now -= 30;
    assert!(world.check(&access).is_some());
    assert_eq!(world.token(&code_form(&client, &code)).status, 200);
    world
        .responses
        .push_back(Response::Tokens(json!({ "sub": "ada" }), json!({})));
    assert_eq!(world.token(&refresh_form(&client, &refresh)).status, 200);
}

/// Mix-up: the answer of another provider, or one without the issuer that was promised.
#[test]
fn the_callback_is_from_this_provider() {
    let mut world = World::of(settings(oidc()));
    world.metadata.as_mut().unwrap().iss_parameter = true;
    let client = world.register(REDIRECT);
    for answer in [
        "",
        "&iss=https%3A%2F%2Fother.example",
        "&code=2",
        "&error=x&error=y",
    ] {
        let mut browser = Browser::default();
        let state = world.approve(&mut browser, &authorize(&client, ""));
        let url = format!("/callback?code=1&state={state}{answer}");
        let response = browser.open(&mut world, &url);
        match response.header("location") {
            Some(location) => {
                assert_eq!(
                    parameter(location, "error").unwrap(),
                    "server_error",
                    "{answer}"
                );
            }
            None => assert_eq!(response.status, 400, "{answer}"),
        }
    }
    assert!(world.requests.is_empty());
    let mut browser = Browser::default();
    let state = world.approve(&mut browser, &authorize(&client, ""));
    world.responses.push_back(their_tokens());
    let url = format!("/callback?code=1&state={state}&iss=https%3A%2F%2Fidp.example");
    let response = browser.open(&mut world, &url);
    assert!(parameter(response.header("location").unwrap(), "code").is_some());
}

#[test]
fn registrations_take_no_memory() {
    let mut world = World::new();
    for _ in 0..1_000 {
        world.register(REDIRECT);
    }
    assert!(world.store.is_empty());
    let body = json!({ "client_name": "n".repeat(100_000), "redirect_uris": [REDIRECT] });
    let response = world.send(&Sent::post("/register", body.to_string()));
    assert!(text(&response, "client_id").len() < 1_000);
    let long = format!("https://app.example/{}", "x".repeat(2_000));
    let body = json!({ "redirect_uris": [long] });
    let response = world.send(&Sent::post("/register", body.to_string()));
    assert_eq!(json_of(&response)["error"], "invalid_client_metadata");
}
