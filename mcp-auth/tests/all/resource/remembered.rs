//! Signatures that were verified for one request count for the next ones, for a while (AU-18).

use mcp_auth::UnixTime;
use mcp_auth::resource::{CheckStep, KeyFetchPolicy, ProtectedResource, ResourceRequest};

use super::tool::{
    ISSUER, NOW, RESOURCE, Request, Server, bound_token, builder, check, jwks, proof, signed, token,
};

const GRANTED: &str = r#"granted ["https://as.example","ada","editor"]"#;

fn verified() -> String {
    format!("verify ES256\n{GRANTED}")
}

/// A server that has its keys already.
fn server(builder: mcp_auth::resource::ResourceBuilder) -> Server {
    let mut server = Server::new(builder);
    let found = server.send(&Request::bearer(&token(&["sub=\"first\""])));
    assert!(found.contains("granted"), "{found}");
    server
}

#[test]
fn a_signature_is_verified_once_a_minute() {
    let mut server = server(builder());
    let request = Request::bearer(&token(&[]));
    check(&server.send(&request), &verified());
    for _ in 0..2 {
        check(&server.send(&request), GRANTED);
    }
    server.now += 59;
    check(&server.send(&request), GRANTED);
    server.now += 1;
    check(&server.send(&request), &verified());
    check(&server.send(&request), GRANTED);
}

#[test]
fn the_time_can_be_set() {
    for (seconds, kept) in [(0, 0), (5, 5), (600, 60)] {
        let mut server = server(builder().signature_cache(seconds));
        let request = Request::bearer(&token(&[]));
        check(&server.send(&request), &verified());
        if kept > 0 {
            server.now += kept - 1;
            check(&server.send(&request), GRANTED);
            server.now += 1;
        }
        check(&server.send(&request), &verified());
    }
}

/// A clock that is set back does not make it last longer.
#[test]
fn a_clock_that_is_set_back() {
    let mut server = server(builder());
    let request = Request::bearer(&token(&[]));
    server.now += 100;
    check(&server.send(&request), &verified());
    server.now -= 90;
    check(&server.send(&request), &verified());
    check(&server.send(&request), GRANTED);
}

#[test]
fn a_withdrawn_key_counts_no_longer_than_the_keys() {
    let policy = KeyFetchPolicy {
        fresh_for: 20,
        ..KeyFetchPolicy::default()
    };
    let mut server = server(builder().key_fetches(policy));
    let request = Request::bearer(&token(&[]));
    check(&server.send(&request), &verified());
    server.keys = Some(jwks(&["k2"]));
    server.now += 19;
    check(&server.send(&request), GRANTED);
    server.now += 1;
    let found = server.send(&request);
    let refused = "fetch https://as.example/jwks\n401: the key of the access token is unknown";
    assert!(found.starts_with(refused), "{found}");
}

#[test]
fn all_is_forgotten_when_keys_are_fetched() {
    let mut server = server(builder());
    let request = Request::bearer(&token(&[]));
    check(&server.send(&request), &verified());
    server.keys = Some(jwks(&["k2"]));
    server.now += 31;
    check(&server.send(&request), GRANTED);
    let header = r#"{"alg":"ES256","typ":"at+jwt","kid":"k2"}"#;
    let claims = r#"{"iss":"https://as.example","sub":"ada","aud":"https://mcp.example/notes","exp":1000600}"#;
    let found = server.send(&Request::bearer(&signed(header, claims, "k2")));
    assert!(found.starts_with("fetch"), "{found}");
    let found = server.send(&request);
    let refused = "401: the key of the access token is unknown";
    assert!(found.starts_with(refused), "{found}");
}

/// The keys may be fetched between the verification of a signature and its end.
#[test]
fn a_signature_of_keys_that_were_replaced_meanwhile_is_not_remembered() {
    let mut server = server(builder());
    let request = Request::bearer(&token(&[]));
    let now = UnixTime::from_secs(server.now);
    let other = Request::bearer(&signed(
        r#"{"alg":"ES256","typ":"at+jwt","kid":"k2"}"#,
        r#"{"iss":"https://as.example","sub":"ada","aud":"https://mcp.example/notes","exp":1000600}"#,
        "k2",
    ));
    let mut started = server.resource.begin(&request, ResourceRequest::default());
    server.fingerprint(&mut started);
    let step = started.step(&server.resource, &mut server.state, now);
    assert!(matches!(step, CheckStep::VerifySignature(_)), "{step:?}");
    server.keys = Some(jwks(&["k2"]));
    server.now += 30;
    assert!(server.send(&other).starts_with("fetch"));
    started.set_signature(true);
    let step = started.step(&server.resource, &mut server.state, now);
    assert!(matches!(step, CheckStep::Done(Ok(Some(_)))), "{step:?}");
    let found = server.send(&request);
    assert!(found.starts_with("401: the key"), "{found}");
}

/// AU-06, AU-09: for each request.
#[test]
fn times_and_scopes_are_checked_again() {
    let mut server = server(builder().leeway(0));
    let request = Request::bearer(&token(&["exp=1000030"]));
    check(&server.send(&request), &verified());
    let (found, _) = server.send_for(&request, &["write"]);
    check(&found, GRANTED);
    let (found, _) = server.send_for(&request, &["admin"]);
    assert!(found.starts_with("403: "), "{found}");
    server.now = NOW - 20;
    let early = "401: the access token is not valid yet";
    assert_eq!(server.refusal(&request), early);
    server.now = NOW + 29;
    check(&server.send(&request), GRANTED);
    server.now = NOW + 30;
    let late = "401: the access token has expired";
    assert_eq!(server.refusal(&request), late);
}

/// A token is the text that was signed and its signature: both must be those that were verified.
#[test]
fn parts_of_a_verified_token_are_worth_nothing() {
    let mut server = server(builder());
    let (one, two) = (token(&[]), token(&["sub=\"eve\""]));
    check(&server.send(&Request::bearer(&one)), &verified());
    let (message, signature) = one.rsplit_once('.').unwrap();
    let (other_message, other_signature) = two.rsplit_once('.').unwrap();
    for forged in [
        format!("{other_message}.{signature}"),
        format!("{message}.{other_signature}"),
    ] {
        let found = server.send(&Request::bearer(&forged));
        let refused = "verify ES256\n401: the signature of the access token is wrong";
        assert!(found.starts_with(refused), "{found}");
    }
    for forged in [
        format!("{message}."),
        format!(".{signature}"),
        format!("{one}.{signature}"),
    ] {
        let found = server.send(&Request::bearer(&forged));
        assert!(found.starts_with("40"), "{found}");
    }
    check(&server.send(&Request::bearer(&one)), GRANTED);
}

/// The state of these tests has room for eight tokens of an issuer.
#[test]
fn the_number_of_tokens_is_bounded() {
    let mut server = Server::new(builder());
    let token = |number: usize| {
        let subject = format!("sub=\"user{number}\"");
        // Those with lower numbers expire later.
        let expiry = format!("exp={}", 1_000_050 - number);
        Request::bearer(&token(&[&subject, &expiry]))
    };
    for number in 0..20 {
        assert!(server.send(&token(number)).contains("verify"));
    }
    let is_kept = |number: &usize| !server.send(&token(*number)).contains("verify");
    let kept: Vec<usize> = (0..7).filter(is_kept).collect();
    assert_eq!(kept, [0, 1, 2, 3, 4, 5, 6]);
    let found = server.send(&token(18));
    assert!(found.contains("verify"), "{found}");
}

/// Each issuer has its own tokens, and its own room for them.
#[test]
fn issuers_have_tokens_of_their_own() {
    let other = |builder: mcp_auth::resource::ResourceBuilder| {
        builder.issuer_with_keys("https://two.example", "https://two.example/jwks")
    };
    let mut server = server(other(builder()));
    let one = Request::bearer(&token(&[]));
    let of_two = |number: usize| {
        let subject = format!("sub=\"{number}\"");
        Request::bearer(&token(&["iss=\"https://two.example\"", &subject]))
    };
    check(&server.send(&one), &verified());
    for number in 0..10 {
        server.send(&of_two(number));
    }
    check(&server.send(&one), GRANTED);
    // An issuer whose keys are fetched again forgets nothing of the other.
    server.now += 31;
    let unknown = r#"{"alg":"ES256","typ":"at+jwt","kid":"k9"}"#;
    let claims = r#"{"iss":"https://two.example","sub":"ada","aud":"https://mcp.example/notes","exp":1000600}"#;
    let found = server.send(&Request::bearer(&signed(unknown, claims, "k9")));
    assert!(
        found.starts_with("fetch https://two.example/jwks"),
        "{found}"
    );
    check(&server.send(&one), GRANTED);
    let found = server.send(&of_two(9));
    assert!(found.starts_with("verify"), "{found}");
    // A resource that knows the issuers in another order finds none of them in the place of the other.
    let swapped = ProtectedResource::builder(RESOURCE);
    let swapped = other(swapped).issuer_with_keys(ISSUER, "https://as.example/jwks");
    server.resource = swapped.build().unwrap();
    let found = server.send(&one);
    assert!(found.starts_with("verify"), "{found}");
}

/// AU-110: a request with a proof verifies both signatures.
#[test]
fn tokens_that_are_bound_to_a_key_are_not_remembered() {
    let dpop = mcp_auth::resource::DpopUse::Accepted;
    let mut server = server(builder().dpop(dpop));
    let token = bound_token();
    for id in ["1", "2", "3"] {
        let proof = proof(&token, &[&format!("jti=\"{id}\"")]);
        let found = server.send(&Request::dpop(&token, &proof));
        check(&found, &format!("verify ES256\n{}", verified()));
    }
    let found = server.send(&Request::bearer(&token));
    assert!(found.starts_with("401: "), "{found}");
}
