//! The endpoints in the service of the server, and what a handler gets.

use core::net::SocketAddr;
use core::pin::pin;
use core::time::Duration;

use http::Request;
use mcp_async::auth::{DelegatedLogin, Protection, Provider, StaticKeys, TokenClaims};
use mcp_async::http::MemoryStore;
use mcp_async::net::RemoteAddr;
use mcp_async::server::{Context, Principal, RateLimit, StateKeys};

use super::support::{
    Browser, PROVIDER, RESOURCE, TOKEN, USER, authorize_url, call, code_form, get, get_request,
    http, log_in, login, member, parameter, post, provider, provider_answers, register, server,
    service, tokens, whose,
};
use crate::authorization::guard::{dialled, json_page, names, page, pages};
use crate::protection::signer::{Claims, Signer};
use crate::protection::support::ISSUER;
use crate::scripted::{RequestExt as _, Waiting, modern, send};
use crate::sim::{Sim, advance, now, poll_once};

#[test]
fn a_handler_gets_the_token_of_the_provider() {
    provider_answers(TOKEN, USER);
    let service = service();
    let (_, access, _) = tokens(&service);
    assert_eq!(whose(&service, &access), Ok("ada their-1".into()));
    assert_eq!(whose(&service, "other"), Err(401));
}

/// AU-14: the token of the provider reaches the client nowhere.
#[test]
fn a_client_gets_no_token_of_the_provider() {
    provider_answers(TOKEN, USER);
    let (_, reply) = log_in(&service());
    assert!(!reply.whole().contains("their-1"));
}

/// AU-16, AU-71: the challenge leads to the resource's document, and that to the one of this server.
#[test]
fn the_documents_lead_to_the_endpoints() {
    let service = service();
    let challenge = send(&service, post("/mcp", "{}"));
    assert_eq!(challenge.status, 401);
    let document = get(&service, "/.well-known/oauth-protected-resource/mcp").whole();
    assert!(
        document.contains(r#""authorization_servers":["http://localhost:8000"]"#),
        "{document}"
    );
    let foreign =
        Request::get("/.well-known/oauth-authorization-server").header("host", "proxy.inside");
    let document = send(&service, foreign.body(String::new()).unwrap()).whole();
    assert_eq!(
        member(&document, "token_endpoint"),
        "http://localhost:8000/token"
    );
}

/// The settings of the authorization server are those of the protection of its tokens.
#[test]
fn the_resource_may_be_changed_in_the_settings() {
    provider_answers(TOKEN, USER);
    let login = DelegatedLogin::new("http://localhost:1/elsewhere", provider()).settings(|it| {
        it.resource = RESOURCE.into();
        it.name = Some("Notes".into());
    });
    let http = server().http().delegate_login(login);
    let service = http.into_service(Sim).unwrap();
    let (_, access, _) = tokens(&service);
    assert_eq!(whose(&service, &access), Ok("ada their-1".into()));
    let document = get(&service, "/.well-known/oauth-protected-resource/mcp").whole();
    assert_eq!(member(&document, "resource_name"), "Notes");
}

/// A client may ask for fewer scopes than every token needs.
#[test]
fn a_client_is_granted_what_every_token_needs() {
    provider_answers(TOKEN, USER);
    let http = server()
        .http()
        .delegate_login(login().scopes(["mcp", "notes"]));
    let service = http.into_service(Sim).unwrap();
    let client = register(&service);
    let url = authorize_url(&client) + "&scope=notes";
    let redirect = now(Browser::new(&service).log_in(&url));
    let code = parameter(&redirect, "code").unwrap();
    let reply = send(&service, post("/token", &code_form(&client, &code)));
    let access = member(&reply.whole(), "access_token");
    assert_eq!(whose(&service, &access), Ok("ada their-1".into()));
}

/// A page whose name was rebound to this machine gets no consent page of its own.
#[test]
fn the_endpoints_are_at_their_hosts_only() {
    let service = service();
    let url = authorize_url(&register(&service));
    let path = url.strip_prefix("http://localhost:8000").unwrap();
    for request in [
        Request::get(path).header("host", "evil.example"),
        Request::get(path),
        Request::post("/token").header("host", "evil.example"),
    ] {
        let reply = send(&service, request.body(String::new()).unwrap());
        assert_eq!(reply.status, 403);
    }
    assert_eq!(get(&service, "/elsewhere").status, 404);
}

/// A provider that is late, or answers something else, is an error for the client, and the next login succeeds.
#[test]
fn a_provider_that_fails_is_an_error_for_the_client() {
    let service = service();
    let url = authorize_url(&register(&service));
    let browser = Browser::new(&service);
    let error = |redirect: String| parameter(&redirect, "error").unwrap();
    names(&[("localhost", &["127.0.0.1"])]);
    for (token, expected) in [
        (
            page("302 Found", "location: http://localhost:9/token\r\n", ""),
            "server_error",
        ),
        (page("200 OK", "", "<html>"), "server_error"),
        (
            json_page(r#"{"error":"bad_verification_code"}"#),
            "server_error",
        ),
        (json_page(&"x".repeat(2 << 20)), "temporarily_unavailable"),
        ("HTTP/1.1 200 OK\r\n".into(), "temporarily_unavailable"),
    ] {
        pages([("/token", token), ("/user", json_page(USER))]);
        let mut login = Box::pin(browser.log_in(&url));
        let redirect = crate::sim::run(&mut login);
        assert_eq!(error(redirect), expected);
    }
    names(&[]);
    assert_eq!(error(now(browser.log_in(&url))), "temporarily_unavailable");
    provider_answers(TOKEN, USER);
    assert!(parameter(&now(browser.log_in(&url)), "code").is_some());
}

/// Another issuer that the server trusts cannot name a login: the tokens of the provider are for the users of this one.
#[test]
fn a_token_of_another_issuer_names_no_login() {
    provider_answers(TOKEN, USER);
    let server = server().tool("login", "Says which", |(): (), cx: Context| async move {
        let claims = cx.principal().and_then(Principal::claims::<TokenClaims>);
        let login = claims.and_then(|claims| claims.get::<String>("login").ok()?);
        Ok(login.unwrap_or_default())
    });
    let signer = Signer::ed25519(1);
    let keys = StaticKeys::new(signer.key_set("k1"));
    let login = login().protection(|it| it.issuer_with_keys(ISSUER, keys));
    let service = server
        .http()
        .delegate_login(login)
        .into_service(Sim)
        .unwrap();
    let (_, access, _) = tokens(&service);
    let id = call(&service, &access, "login").unwrap();
    let claims = Claims::default().with("login", format!("\"{id}\""));
    let token = signer.token("k1", &claims);
    assert_eq!(call(&service, &token, "login"), Ok(id));
    assert_eq!(whose(&service, &token), Ok(" none".into()));
}

/// AU-14: a refresh asks the provider, and what it has ended is over within half a minute.
#[test]
fn a_login_that_the_provider_has_ended_is_over() {
    provider_answers(TOKEN, USER);
    let service = service();
    let (client, access, refresh) = tokens(&service);
    assert!(whose(&service, &access).is_ok());
    names(&[("localhost", &["127.0.0.1"])]);
    pages([("/user", page("401 Unauthorized", "", "{}"))]);
    let form = format!("grant_type=refresh_token&client_id={client}&refresh_token={refresh}");
    let reply = send(&service, post("/token", &form));
    assert_eq!(member(&reply.whole(), "error"), "invalid_grant");
    // The user may log in again.
    provider_answers(TOKEN, USER);
    let (_, access, _) = tokens(&service);
    assert_eq!(whose(&service, &access), Ok("ada their-1".into()));
}

/// AU-14: what a client revokes is over at once, where answers about tokens are not kept.
#[test]
fn a_revoked_token_is_refused() {
    provider_answers(TOKEN, USER);
    let login = login().protection(|it| it.settings(|resource| resource.introspection_cache(0)));
    let service = server()
        .http()
        .delegate_login(login)
        .into_service(Sim)
        .unwrap();
    let (client, access, refresh) = tokens(&service);
    assert!(whose(&service, &access).is_ok());
    let form = format!("client_id={client}&token={refresh}");
    assert_eq!(send(&service, post("/revoke", &form)).status, 200);
    assert_eq!(whose(&service, &access), Err(401));
}

/// Handlers that need the token at once are served by one refresh.
#[test]
fn a_token_that_expires_is_renewed_once() {
    let short =
        r#"{"access_token":"their-1","token_type":"bearer","expires_in":1,"refresh_token":"r1"}"#;
    provider_answers(short, USER);
    let service = service();
    let (_, access, _) = tokens(&service);
    let long = r#"{"access_token":"their-2","token_type":"bearer","expires_in":3600,"refresh_token":"r2"}"#;
    provider_answers(long, USER);
    assert_eq!(whose(&service, &access), Ok("ada their-2".into()));
    // The next one finds it.
    names(&[]);
    assert_eq!(whose(&service, &access), Ok("ada their-2".into()));
}

/// A client that leaves while the provider replaces a token loses nothing for those who come after it.
#[test]
fn a_renewal_ends_although_its_client_leaves() {
    let tokens_of = |access: &str, refresh: &str, life: u32| {
        format!(
            r#"{{"access_token":"{access}","token_type":"bearer","expires_in":{life},"refresh_token":"{refresh}"}}"#
        )
    };
    provider_answers(&tokens_of("their-1", "r1", 1), USER);
    let service = service();
    let (_, access, _) = tokens(&service);
    provider_answers(&tokens_of("their-2", "r2", 3_600), USER);
    let asked = modern(r#"1 tools/call {"name":"whose","arguments":{}}"#);
    let mut leaving = Waiting::new(&service, asked.signed(&access));
    assert!(leaving.poll().is_none());
    drop(leaving);
    crate::sim::settle();
    names(&[]);
    assert_eq!(whose(&service, &access), Ok("ada their-2".into()));
    // A shutdown waits for it as well.
    advance(Duration::from_secs(3_600));
    provider_answers(&tokens_of("their-3", "r3", 3_600), USER);
    let asked = modern(r#"1 tools/call {"name":"whose","arguments":{}}"#);
    let mut leaving = Waiting::new(&service, asked.signed(&access));
    assert!(leaving.poll().is_none());
    drop(leaving);
    let mut drained = pin!(service.drain());
    assert!(poll_once(drained.as_mut()).is_pending());
    crate::sim::settle();
    assert!(poll_once(drained.as_mut()).is_ready());
}

/// A user who logs in again and again leaves the room for the logins of others.
#[test]
fn logins_of_one_user_are_bounded() {
    provider_answers(TOKEN, USER);
    let service = service();
    let client = register(&service);
    let log_in = || {
        // The logins that one address begins are bounded as well.
        advance(Duration::from_secs(1));
        let redirect = now(Browser::new(&service).log_in(&authorize_url(&client)));
        parameter(&redirect, "error")
    };
    for _ in 0..100 {
        assert_eq!(log_in(), None);
    }
    assert_eq!(log_in().as_deref(), Some("temporarily_unavailable"));
    provider_answers(TOKEN, r#"{"id":8,"login":"bob"}"#);
    assert_eq!(log_in(), None);
    provider_answers(TOKEN, USER);
    assert_eq!(log_in().as_deref(), Some("temporarily_unavailable"));
    advance(Duration::from_secs(1_800));
    assert_eq!(log_in(), None);
}

/// The metadata of a provider with OpenID Connect is fetched when it is needed, and again if that has failed.
#[test]
fn the_metadata_of_the_provider_is_fetched_when_it_is_needed() {
    let provider = Provider {
        scopes: mcp_async::auth::Scopes::parse("openid"),
        ..Provider::oidc(PROVIDER, "our-id", "our-s3cret")
    };
    let login = DelegatedLogin::new(RESOURCE, provider);
    let service = server()
        .http()
        .delegate_login(login)
        .into_service(Sim)
        .unwrap();
    let url = authorize_url(&register(&service));
    names(&[("localhost", &["127.0.0.1"])]);
    let metadata = |issuer: &str| {
        json_page(&format!(
            r#"{{"issuer":"{issuer}","authorization_endpoint":"{PROVIDER}/authorize","token_endpoint":"{PROVIDER}/token"}}"#
        ))
    };
    let place = "/.well-known/openid-configuration";
    let browser = Browser::new(&service);
    let invented = "grant_type=refresh_token&client_id=x&refresh_token=x";
    assert_eq!(send(&service, post("/token", invented)).status, 400);
    assert!(
        dialled().is_empty(),
        "it is needed for tokens of this server only"
    );
    pages([(place, metadata("https://other.example"))]);
    let (refused, _) = now(browser.consent(&url));
    assert_eq!(
        parameter(&refused, "error").unwrap(),
        "temporarily_unavailable"
    );
    pages([(place, metadata(PROVIDER))]);
    let (refused, _) = now(browser.consent(&url));
    assert_eq!(
        parameter(&refused, "error").unwrap(),
        "temporarily_unavailable",
        "a provider that has failed is not asked for a while"
    );
    advance(Duration::from_secs(10));
    let (to_provider, _) = now(browser.consent(&url));
    assert!(
        to_provider.starts_with("http://localhost:9/authorize?"),
        "{to_provider}"
    );
    assert!(parameter(&to_provider, "nonce").is_some());
}

/// Requests that need the metadata at the same time wait for one answer.
#[test]
fn the_metadata_of_the_provider_is_fetched_once_at_a_time() {
    let provider = Provider::oidc(PROVIDER, "our-id", "our-s3cret");
    let http = server()
        .http()
        .delegate_login(DelegatedLogin::new(RESOURCE, provider));
    let service = http.into_service(Sim).unwrap();
    names(&[("localhost", &["127.0.0.1"])]);
    let late = "HTTP/1.1 200 OK\r\n".to_owned();
    pages([("/.well-known/openid-configuration", late)]);
    let back = || get_request("/callback?code=c&state=s");
    let mut waiting = [(); 3].map(|()| Waiting::new(&service, back()));
    assert!(waiting.iter_mut().all(|one| one.status().is_none()));
    crate::sim::settle();
    assert_eq!(dialled().len(), 1);
    // The first one leaves, and the next one asks.
    let [first, mut second, third] = waiting;
    drop(first);
    crate::sim::settle();
    assert!(second.status().is_none());
    crate::sim::settle();
    assert_eq!(dialled().len(), 1);
    drop((second, third));
}

#[test]
fn many_requests_of_one_address_are_refused() {
    let limit = RateLimit::new(1, Duration::from_secs(1)).burst(3);
    let service = http().rate_limit(Some(limit)).into_service(Sim).unwrap();
    let status = || {
        let mut request = post("/register", "{}");
        let address = SocketAddr::from(([203, 0, 113, 7], 40_000));
        request.extensions_mut().insert(RemoteAddr(address));
        send(&service, request).status.as_u16()
    };
    assert_eq!([(); 4].map(|()| status()), [400, 400, 400, 429]);
    advance(Duration::from_secs(1));
    assert_eq!(status(), 400);
}

/// Consents are kept while their users log in: one address cannot push out those of all others.
#[test]
fn one_address_begins_a_bounded_number_of_logins() {
    provider_answers(TOKEN, USER);
    let service = service();
    let url = authorize_url(&register(&service));
    let from =
        |last: u8| Browser::new(&service).at(SocketAddr::from(([203, 0, 113, last], 40_000)));
    let (attacker, user) = (from(7), from(8));
    let begun = |browser: &Browser, count: usize| {
        let consents = (0..count).map(|_| now(browser.consent(&url)).0);
        consents.filter(|page| page.starts_with(PROVIDER)).count()
    };
    assert_eq!(begun(&attacker, 200), 100);
    assert_eq!(begun(&user, 1), 1);
    advance(Duration::from_secs(5));
    assert_eq!(begun(&attacker, 10), 5);
}

#[test]
fn settings_that_cannot_work_are_mistakes() {
    let check = |http: mcp_async::http::Http, expected: &str| {
        let error = http.into_service(Sim).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    };
    let plain = DelegatedLogin::new("http://mcp.example/mcp", provider());
    check(
        server().http().delegate_login(plain),
        "the resource must be an https URL",
    );
    check(
        http().protect(
            Protection::new(RESOURCE)
                .verifier("https://as.example", |_| async { Ok::<_, String>(None) }),
        ),
        "protects the endpoint already",
    );
    check(
        server()
            .http()
            .delegate_login(login().store(MemoryStore::default())),
        "state_keys",
    );
    let keyed = server().state_keys(StateKeys::new([7; 32])).http();
    let keyed = keyed.delegate_login(login().store(MemoryStore::default()));
    assert!(keyed.into_service(Sim).is_ok());
}

/// The body of a request that ends too late is no reason to wait.
#[test]
fn a_login_waits_for_no_slow_provider() {
    let service = service();
    names(&[("localhost", &["127.0.0.1"])]);
    pages([("/token", "HTTP/1.1 200 OK\r\n".into())]);
    let url = authorize_url(&register(&service));
    let redirect = crate::sim::run(Browser::new(&service).log_in(&url));
    assert_eq!(
        parameter(&redirect, "error").unwrap(),
        "temporarily_unavailable"
    );
    // Others are served meanwhile.
    let mut other = Waiting::new(&service, post("/register", "{}"));
    assert_eq!(other.status(), Some(400));
}
