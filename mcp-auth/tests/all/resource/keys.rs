//! Keys of issuers: fetched lazily, rotated, and never fetched often because of tokens (AU-18).

use mcp_auth::UnixTime;
use mcp_auth::resource::{CheckStep, KeyFetchPolicy, ResourceRequest};

use super::tool::{Request, Server, builder, check, jwk, jwks, signed, token, token_with};

const GRANTED: &str = "granted [\"https://as.example\",\"ada\",\"editor\"]";

fn with_key(name: &str) -> Request {
    let header = format!("{{\"alg\":\"ES256\",\"typ\":\"at+jwt\",\"kid\":\"{name}\"}}");
    let claims = "{\"iss\":\"https://as.example\",\"sub\":\"ada\",\"client_id\":\"editor\",\
                  \"aud\":\"https://mcp.example/notes\",\"exp\":2000000}";
    Request::bearer(&signed(&header, claims, name))
}

#[test]
fn keys_are_kept() {
    let mut server = Server::new(builder());
    let request = with_key("k1");
    check(
        &server.send(&request),
        &format!("fetch https://as.example/jwks\nverify ES256\n{GRANTED}"),
    );
    server.now += 599;
    check(&server.send(&request), &format!("verify ES256\n{GRANTED}"));
    // After ten minutes they are fetched again, so that withdrawn ones are not accepted any more.
    server.now += 1;
    server.keys = Some(jwks(&["k2"]));
    let found = server.send(&request);
    assert!(
        found.starts_with("fetch https://as.example/jwks\n401: the key of"),
        "{found}"
    );
}

/// At most one fetch for all unknown keys of an interval.
#[test]
fn unknown_keys_are_fetched_at_a_bounded_rate() {
    let mut server = Server::new(builder().signature_cache(0));
    server.send(&with_key("k1"));
    server.keys = Some(jwks(&["k1", "k2"]));
    server.now += 30;
    check(
        &server.send(&with_key("k2")),
        &format!("fetch https://as.example/jwks\nverify ES256\n{GRANTED}"),
    );
    server.keys = Some(jwks(&["k1", "k2", "k3"]));
    let mut fetches = 0;
    for second in 0..30 {
        for attempt in 0..10 {
            let found = server.send(&with_key(&format!("forged{second}.{attempt}")));
            fetches += usize::from(found.contains("fetch"));
            assert!(found.contains("401: the key of the access token is unknown"));
        }
        check(
            &server.send(&with_key("k1")),
            &format!("verify ES256\n{GRANTED}"),
        );
        server.now += 1;
    }
    assert_eq!(fetches, 0);
    assert!(server.send(&with_key("k3")).starts_with("fetch"));
}

/// One fetch for many requests; one that is never answered is given up.
#[test]
fn one_request_fetches_for_all() {
    let mut server = Server::new(builder());
    let request = with_key("k1");
    let mut first = server.resource.begin(&request, ResourceRequest::default());
    let now = UnixTime::from_secs(server.now);
    server.fingerprint(&mut first);
    let step = first.step(&server.resource, &mut server.state, now);
    let CheckStep::FetchKeys { issuer, .. } = step else {
        panic!("{step:?}")
    };
    check(&server.send(&request), "wait for keys");
    server.now += 29;
    check(&server.send(&request), "wait for keys");
    server.now += 1;
    check(
        &server.send(&request),
        &format!("fetch https://as.example/jwks\nverify ES256\n{GRANTED}"),
    );
    // The late answer is as good as any other.
    let keys = jwks(&["k1"]);
    assert!(server.state.set_keys(issuer, Some(keys.as_bytes()), now));
    let step = first.step(&server.resource, &mut server.state, now);
    assert!(matches!(step, CheckStep::VerifySignature(_)), "{step:?}");
}

/// Keys that cannot be fetched are not the fault of the token: 503.
#[test]
fn keys_that_cannot_be_fetched() {
    let html = "<!doctype html><title>Sign in</title>";
    for document in [
        None,
        Some(html),
        Some("[]"),
        Some("{}"),
        Some("{\"keys\":{}}"),
    ] {
        let mut server = Server::new(builder());
        server.keys = document.map(str::to_owned);
        check(
            &server.send(&with_key("k1")),
            "fetch https://as.example/jwks
            503: access tokens cannot be verified at the moment",
        );
        // The next attempt is five seconds later.
        server.keys = Some(jwks(&["k1"]));
        server.now += 4;
        check(
            &server.send(&with_key("k1")),
            "503: access tokens cannot be verified at the moment",
        );
        server.now += 1;
        assert!(server.send(&with_key("k1")).ends_with(GRANTED));
        // Keys that were fetched once are used for a day without another answer.
        server.keys = None;
        server.now += 86_399;
        check(
            &server.send(&with_key("k1")),
            &format!("fetch https://as.example/jwks\nverify ES256\n{GRANTED}"),
        );
        server.now += 5;
        check(
            &server.send(&with_key("k1")),
            "fetch https://as.example/jwks
            503: access tokens cannot be verified at the moment",
        );
    }
}

#[test]
fn a_clock_that_is_set_back_stops_nothing() {
    let mut server = Server::new(builder());
    server.send(&with_key("k1"));
    server.now -= 500_000;
    let found = server.send(&with_key("k1"));
    assert!(found.ends_with(GRANTED), "{found}");
}

#[test]
fn which_key_verifies() {
    let key = |more: &str| format!("{{\"keys\":[{{{more}{}}}]}}", jwk("k1"));
    let unknown = "401: the key of the access token is unknown";
    let (granted, none) = (GRANTED, unknown);
    for (keys, expected) in [
        (
            key("\"kid\":\"k1\",\"alg\":\"ES256\",\"use\":\"sig\","),
            granted,
        ),
        (key("\"kid\":\"k1\",\"key_ops\":[\"verify\"],"), granted),
        (key("\"kid\":\"k2\","), none),
        (key(""), none),
        (key("\"kid\":\"k1\",\"alg\":\"ES384\","), none),
        (key("\"kid\":\"k1\",\"alg\":\"HS256\","), none),
        (key("\"kid\":\"k1\",\"use\":\"enc\","), none),
        // A key of another kind, without `alg`.
        (
            "{\"keys\":[{\"kid\":\"k1\",\"kty\":\"OKP\",\"crv\":\"Ed25519\",\"x\":\"AQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQEBAQE\"}]}"
                .into(),
            none,
        ),
        (key("\"kid\":\"k1\",\"key_ops\":[\"sign\"],"), none),
        // A document with private or symmetric keys is not to be trusted with them.
        (key("\"kid\":\"k1\",\"d\":\"AAAA\","), none),
        (key("\"kid\":\"k1\",\"k\":\"AAAA\","), none),
        (
            "{\"keys\":[{\"kid\":\"k1\",\"kty\":\"oct\",\"k\":\"AAAA\"}]}".into(),
            none,
        ),
        (
            "{\"keys\":[1,null,{},{\"kid\":\"k1\",\"kty\":\"RSA\",\"n\":\"AAAA\",\"e\":\"AQAB\"}]}"
                .into(),
            none,
        ),
    ] {
        let mut server = Server::new(builder());
        server.keys = Some(keys.clone());
        let found = server.send(&Request::bearer(&token(&[])));
        assert!(found.contains(expected), "{keys}\n{found}");
    }
}

/// A token without `kid` is verified with the only key that fits.
#[test]
fn without_key_id() {
    let token = Request::bearer(&token_with(&["-kid"], &[]));
    let mut server = Server::new(builder());
    assert!(server.send(&token).ends_with(GRANTED));
    let mut server = Server::new(builder());
    server.keys = Some(jwks(&["k1", "k2"]));
    assert!(
        server
            .send(&token)
            .contains("401: the key of the access token is unknown")
    );
}

#[test]
fn rates_can_be_set() {
    let mut server = Server::new(builder().key_fetches(KeyFetchPolicy {
        fresh_for: 10,
        ..KeyFetchPolicy::default()
    }));
    server.send(&with_key("k1"));
    server.now += 10;
    assert!(server.send(&with_key("k1")).starts_with("fetch"));
}

/// AU-18: a check causes one search for keys, however short the intervals are.
#[test]
fn a_check_searches_for_keys_once() {
    let policy = KeyFetchPolicy {
        unknown_key_interval: 0,
        retry_interval: 0,
        ..KeyFetchPolicy::default()
    };
    let mut server = Server::new(builder().key_fetches(policy));
    let send = |server: &mut Server| {
        let found = server.send(&with_key("unknown"));
        let lines: Vec<&str> = found.lines().take(2).collect();
        lines.join("\n")
    };
    let unknown = "401: the key of the access token is unknown";
    let fetch = "fetch https://as.example/jwks";
    assert_eq!(send(&mut server), format!("{fetch}\n{unknown}"));
    server.keys = None;
    let unavailable = "503: access tokens cannot be verified at the moment";
    assert_eq!(send(&mut server), format!("{fetch}\n{unavailable}"));
    check(
        &server.send(&with_key("k1")),
        &format!("verify ES256\n{GRANTED}"),
    );
}
