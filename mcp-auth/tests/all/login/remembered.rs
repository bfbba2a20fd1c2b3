//! Consents that users want to be remembered.

use mcp_auth::Scopes;
use mcp_auth::authorization_server::LoginResponse;
use serde_json::json;

use super::world::{
    Browser, REDIRECT, RESOURCE, Response, Sent, World, authorize, claims, encode, form_of, oidc,
    parameter, settings, their_tokens,
};

const DAY: u64 = 86_400;

fn world() -> World {
    let mut settings = settings(oidc());
    settings.remember_consent = Some(30 * DAY);
    World::of(settings)
}

/// The request of a client that names the resource.
fn url(client: &str, more: &str) -> String {
    authorize(client, &format!("&resource={}{more}", encode(RESOURCE)))
}

/// Opens the authorization endpoint as a program of the user does.
fn open(world: &mut World, browser: &mut Browser, url: &str) -> LoginResponse {
    browser.send(world, Sent::get(url).with("sec-fetch-site", "none"))
}

/// Comes back from the provider with these tokens, after a redirect there.
fn come_back(
    world: &mut World,
    browser: &mut Browser,
    redirect: &LoginResponse,
    tokens: Response,
) -> String {
    let location = redirect.header("location").expect("the provider's page");
    world.nonce = parameter(location, "nonce").unwrap();
    world.responses.push_back(tokens);
    let response = world.come_back(browser, &parameter(location, "state").unwrap());
    response.header("location").unwrap().to_owned()
}

/// Logs in with a new client, and wants the consent to be remembered.
fn remembered() -> (World, Browser, String) {
    let (mut world, mut browser) = (world(), Browser::default());
    let client = world.register(REDIRECT);
    let page = open(&mut world, &mut browser, &url(&client, ""));
    let cookie = page.header("set-cookie").unwrap();
    assert!(cookie.contains("; Max-Age=2592000; Secure; HttpOnly; "));
    let form = format!("{}&remember=yes&decision=allow", form_of(&page));
    let redirect = browser.submit(&mut world, &form);
    let location = come_back(&mut world, &mut browser, &redirect, their_tokens());
    assert!(parameter(&location, "code").is_some());
    (world, browser, client)
}

#[test]
fn a_user_is_asked_once_if_they_want() {
    let (mut world, mut browser, client) = remembered();
    let cookie = browser.cookie.clone();
    for more in ["", "&scope=notes%3Aread"] {
        let response = open(&mut world, &mut browser, &url(&client, more));
        assert_eq!(response.status, 303, "{}", response.body);
        let renewed = response.header("set-cookie").unwrap();
        assert!(renewed.contains("; Max-Age=2592000; "), "{renewed}");
        let location = come_back(&mut world, &mut browser, &response, their_tokens());
        let code = parameter(&location, "code").unwrap();
        let answer = world.token(&super::world::code_form(&client, &code));
        assert_eq!(answer.status, 200);
    }
    // A native client listens on another port each time.
    let other_port = url(&client, "").replace("8765", "9876");
    assert_eq!(open(&mut world, &mut browser, &other_port).status, 303);
    assert_eq!(browser.cookie, cookie);
    world.now += 30 * DAY;
    let page = open(&mut world, &mut browser, &url(&client, ""));
    assert_eq!(page.status, 200, "the time is over");
    form_of(&page);
}

#[test]
fn in_doubt_the_user_is_asked() {
    let (mut world, mut browser, client) = remembered();
    let other = world.register(REDIRECT);
    let mut check = |what: &str, sent: Sent| {
        let page = browser.send(&mut world, sent);
        assert_eq!(page.status, 200, "{what}");
        form_of(&page);
        page.body.contains("Do not ask again")
    };
    let own = |more: &str| Sent::get(&url(&client, more)).with("sec-fetch-site", "none");
    let from = |site: &str| Sent::get(&url(&client, "")).with("sec-fetch-site", site);
    assert!(!check("a page of another site", from("cross-site")));
    assert!(!check("a page of a sibling", from("same-site")));
    assert!(!check("a page of this origin", from("same-origin")));
    assert!(!check(
        "two values",
        from("none").with("sec-fetch-site", "none")
    ));
    assert!(!check("an old browser", Sent::get(&url(&client, ""))));
    assert!(!check("the client asks for it", own("&prompt=consent")));
    let without = Sent::get(&authorize(&client, "")).with("sec-fetch-site", "none");
    assert!(!check("no resource", without));
    let other = Sent::get(&url(&other, "")).with("sec-fetch-site", "none");
    assert!(check("another client of that name", other), "it is offered");
    let mut new = Browser::default();
    let page = open(&mut world, &mut new, &url(&client, ""));
    assert_eq!(page.status, 200, "another browser");
    world.store_failures = usize::MAX;
    let page = open(&mut world, &mut browser, &url(&client, ""));
    assert_eq!(page.status, 200, "a store that fails");
}

#[test]
fn more_scopes_are_asked_for() {
    let mut world = world();
    let mut browser = Browser::default();
    let client = world.register(REDIRECT);
    let less = url(&client, "&scope=notes%3Aread");
    let page = open(&mut world, &mut browser, &less);
    let form = format!("{}&remember=yes&decision=allow", form_of(&page));
    let redirect = browser.submit(&mut world, &form);
    come_back(&mut world, &mut browser, &redirect, their_tokens());
    assert_eq!(open(&mut world, &mut browser, &less).status, 303);
    let page = open(&mut world, &mut browser, &url(&client, ""));
    assert_eq!(page.status, 200);
    // The later consent takes the place of the earlier one.
    let form = format!("{}&remember=yes&decision=allow", form_of(&page));
    let redirect = browser.submit(&mut world, &form);
    come_back(&mut world, &mut browser, &redirect, their_tokens());
    for url in [less, url(&client, "")] {
        assert_eq!(open(&mut world, &mut browser, &url).status, 303);
    }
}

/// A later decision takes the place of an earlier one, whatever it is.
#[test]
fn a_later_decision_ends_an_earlier_consent() {
    for decision in ["deny", "allow"] {
        let (mut world, mut browser, client) = remembered();
        assert_eq!(
            open(&mut world, &mut browser, &url(&client, "")).status,
            303
        );
        let asked = url(&client, "&prompt=consent");
        let form = form_of(&open(&mut world, &mut browser, &asked));
        let form = format!("{form}&decision={decision}");
        // The form is not answered before the earlier consent is gone.
        world.store_failures = 1;
        assert_eq!(browser.submit(&mut world, &form).status, 503);
        assert_eq!(browser.submit(&mut world, &form).status, 303);
        let page = open(&mut world, &mut browser, &url(&client, ""));
        assert_eq!(page.status, 200, "{decision}");
    }
}

/// A time of less than before holds for what was granted before, also when it would end by the time of then.
#[test]
fn a_shortened_time_holds_for_earlier_consents() {
    let (mut world, mut browser, client) = remembered();
    world.change(|settings| settings.remember_consent = Some(DAY));
    let url = url(&client, "");
    assert_eq!(open(&mut world, &mut browser, &url).status, 303);
    world.now += 30 * DAY - 60;
    assert_eq!(open(&mut world, &mut browser, &url).status, 200);
}

/// A request for no scopes is one for all that the server offers.
#[test]
fn a_consent_to_some_scopes_is_not_one_to_everything() {
    let (mut world, mut browser, client) = remembered();
    world.change(|settings| settings.scopes = Scopes::new());
    let url = url(&client, "");
    let page = open(&mut world, &mut browser, &url);
    assert_eq!(page.status, 200);
    let form = format!("{}&remember=yes&decision=allow", form_of(&page));
    let redirect = browser.submit(&mut world, &form);
    come_back(&mut world, &mut browser, &redirect, their_tokens());
    assert_eq!(open(&mut world, &mut browser, &url).status, 303);
}

/// The consent was of one user, and another one of the same browser logs in.
#[test]
fn another_user_obtains_nothing_and_is_asked_the_next_time() {
    let (mut world, mut browser, client) = remembered();
    let logins = world.store.len();
    let response = open(&mut world, &mut browser, &url(&client, ""));
    let bobs = Response::Tokens(claims("bob"), json!({}));
    let location = come_back(&mut world, &mut browser, &response, bobs);
    assert_eq!(parameter(&location, "error").unwrap(), "access_denied");
    assert_eq!(parameter(&location, "code"), None);
    assert_eq!(world.store.len(), logins - 1, "the consent is forgotten");
    let page = open(&mut world, &mut browser, &url(&client, ""));
    assert_eq!(page.status, 200);
}

/// A form with the choice is of no use where it is not offered, and a choice that was offered once ends with the setting.
#[test]
fn nothing_is_remembered_unless_the_server_offers_it() {
    let mut world = World::new();
    let mut browser = Browser::default();
    let client = world.register(REDIRECT);
    let page = browser.open(&mut world, &url(&client, ""));
    assert!(!page.body.contains("remember"));
    let form = format!("{}&remember=yes&decision=allow", form_of(&page));
    let redirect = browser.submit(&mut world, &form);
    come_back(&mut world, &mut browser, &redirect, their_tokens());
    assert_eq!(world.store.len(), 1, "the login alone");
    assert_eq!(
        open(&mut world, &mut browser, &url(&client, "")).status,
        200
    );
}
