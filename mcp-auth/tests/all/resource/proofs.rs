//! Tokens that are bound to keys (RFC 9449).

use mcp_auth::UnixTime;
use mcp_auth::resource::{
    CheckStep, DpopUse, ProtectedResource, ResourceBuilder, ResourceRequest, VerifierState,
};

use super::tool::{
    ISSUER, NOW, RESOURCE, Request, Server, bound_to, bound_token, builder, check, jwk, proof,
    proof_of, proof_with, token,
};

fn accepting() -> ResourceBuilder {
    builder().dpop(DpopUse::Accepted)
}

const GRANTED: &str = "granted [\"https://as.example\",\"ada\",\"editor\"]";

/// AU-97, AU-110: first the token, then the proof, which is accepted once.
#[test]
fn a_valid_proof() {
    let mut server = Server::new(accepting());
    let token = bound_token();
    let request = Request::dpop(&token, &proof(&token, &[]));
    check(
        &server.send(&request),
        &format!("fetch https://as.example/jwks\nverify ES256\nverify ES256\n{GRANTED}"),
    );
    check(
        &server.send(&request),
        "verify ES256
        verify ES256
        401: the DPoP proof was used before
        DPoP error=\"invalid_dpop_proof\", error_description=\"the DPoP proof was used before\", \
        resource_metadata=\"https://mcp.example/.well-known/oauth-protected-resource/notes\", \
        algs=\"ES256 EdDSA\"",
    );
    let next = Request::dpop(&token, &proof(&token, &["jti=\"p2\""]));
    assert!(server.send(&next).ends_with(GRANTED));
    // When it is forgotten, its time has passed.
    server.now += 301;
    assert_eq!(
        server.refusal(&request),
        "401: iat of the DPoP proof is missing or wrong"
    );
}

/// AU-113: a proof is remembered to the end of its time.
#[test]
fn a_proof_at_the_end_of_its_time() {
    let mut server = Server::new(accepting());
    let token = bound_token();
    let request = Request::dpop(&token, &proof(&token, &[]));
    server.now += 300;
    assert!(server.send(&request).ends_with(GRANTED));
    assert_eq!(
        server.refusal(&request),
        "401: the DPoP proof was used before"
    );
}

/// AU-113: a proof that made room for others is not accepted again.
#[test]
fn proofs_that_were_forgotten() {
    let mut server = Server::new(accepting());
    server.state = VerifierState::new(&server.resource, 1);
    let token = bound_token();
    let with = |id: usize, issued: u64| {
        let claims = [format!("jti=\"p{id}\""), format!("iat={issued}")];
        Request::dpop(&token, &proof(&token, &[&claims[0], &claims[1]]))
    };
    let first = with(0, server.now);
    assert!(server.send(&first).ends_with(GRANTED));
    // Later proofs are accepted although there are more than are kept.
    server.now += 10;
    for id in 1..=8 {
        assert!(server.send(&with(id, server.now)).ends_with(GRANTED));
    }
    for id in 9..=16 {
        assert!(server.send(&with(id, server.now + 1)).ends_with(GRANTED));
    }
    // Neither the first nor one of its time, which the server cannot tell from it.
    for wrong in [&first, &with(17, NOW)] {
        assert_eq!(server.refusal(wrong), "401: the DPoP proof was used before");
    }
    assert!(server.send(&with(18, server.now + 2)).ends_with(GRANTED));
}

/// AU-113: a clock that was ahead for a moment, in which proofs have expired, lets none of them in again.
#[test]
fn proofs_that_have_expired_for_a_moment() {
    let token = bound_token();
    let with = |id: usize, issued: u64| {
        let claims = [format!("jti=\"p{id}\""), format!("iat={issued}")];
        Request::dpop(&token, &proof(&token, &[&claims[0], &claims[1]]))
    };
    let other = bound_to("other");
    for key in ["the same", "other"] {
        let mut server = Server::new(accepting());
        let first = with(server.now as usize, server.now);
        assert!(server.send(&first).ends_with(GRANTED));
        server.now += 400;
        let issued = format!("iat={}", server.now);
        let later = match key {
            "other" => Request::dpop(&other, &proof_of(key, &other, &[], &[&issued])),
            _ => with(0, server.now),
        };
        assert!(server.send(&later).ends_with(GRANTED), "{key}");
        server.now -= 400;
        let found = server.refusal(&first);
        assert_eq!(found, "401: the DPoP proof was used before", "{key}");
        // It is over when no proof of before can be accepted any more.
        server.now += 40;
        let next = with(1, server.now);
        assert!(server.send(&next).ends_with(GRANTED), "{key}");
    }
}

/// AU-113: a client that uses all the memory for its proofs makes room for those of other keys, and
/// only its own proofs are refused for it.
#[test]
fn proofs_of_one_key_leave_room_for_others() {
    let mut server = Server::new(accepting());
    server.state = VerifierState::new(&server.resource, 1);
    let tokens = ["client", "greedy"].map(|key| (key, bound_to(key)));
    let [client, greedy] = tokens.each_ref().map(|(key, token)| {
        move |id: usize, issued: u64| {
            let claims = [format!("jti=\"p{id}\""), format!("iat={issued}")];
            let claims = [claims[0].as_str(), claims[1].as_str()];
            Request::dpop(token, &proof_of(key, token, &[], &claims))
        }
    });
    let used = "401: the DPoP proof was used before";
    for id in 0..8 {
        assert!(server.send(&greedy(id, NOW + 20)).ends_with(GRANTED));
    }
    for id in 0..4 {
        assert!(server.send(&client(id, NOW)).ends_with(GRANTED), "{id}");
        assert_eq!(server.refusal(&client(id, NOW)), used);
        // The newer proofs of the other key have not displaced it.
        let _ = server.send(&greedy(20 + id, NOW + 25));
        assert_eq!(server.refusal(&client(id, NOW)), used);
    }
    assert_eq!(server.refusal(&greedy(40, NOW + 20)), used);
}

/// AU-113: if there are more keys than are kept, a key that was forgotten cannot use a proof again.
#[test]
fn keys_that_were_forgotten() {
    let mut server = Server::new(accepting());
    server.state = VerifierState::new(&server.resource, 1);
    let with = |key: &str, issued: u64| {
        let token = bound_to(key);
        let claims = format!("iat={issued}");
        Request::dpop(&token, &proof_of(key, &token, &[], &[&claims]))
    };
    let keys: Vec<String> = (0..9).map(|key| format!("client{key}")).collect();
    for (key, at) in keys.iter().zip(NOW..) {
        server.now = at;
        assert!(server.send(&with(key, at)).ends_with(GRANTED));
    }
    for (key, at) in keys.iter().zip(NOW..) {
        let found = server.refusal(&with(key, at));
        assert_eq!(found, "401: the DPoP proof was used before", "{key}");
    }
    assert!(server.send(&with(&keys[0], server.now)).ends_with(GRANTED));
    // Nor after it has used another one.
    let found = server.refusal(&with(&keys[0], NOW));
    assert_eq!(found, "401: the DPoP proof was used before");
}

/// AU-113: a clock that is set back a little refuses no client whose clock is right, and one that was far ahead lets no proof in again
/// when its time comes.
#[test]
fn proofs_of_a_clock_that_was_ahead() {
    let token = bound_token();
    let with = |id: &str, issued: u64| {
        let claims = [format!("jti=\"{id}\""), format!("iat={issued}")];
        Request::dpop(&token, &proof(&token, &[&claims[0], &claims[1]]))
    };
    let mut server = Server::new(accepting());
    assert!(server.send(&with("early", NOW + 30)).ends_with(GRANTED));
    server.now -= 1;
    assert!(server.send(&with("right", server.now)).ends_with(GRANTED));

    let mut server = Server::new(accepting());
    server.now += 400;
    let used = with("used", server.now);
    assert!(server.send(&used).ends_with(GRANTED));
    server.now -= 400;
    assert!(server.send(&with("right", server.now)).ends_with(GRANTED));
    server.now += 370;
    let found = server.refusal(&used);
    assert_eq!(found, "401: the DPoP proof was used before");
}

/// Nothing is fetched or verified for a proof that is too long, or whose signature is too short.
#[test]
fn lengths_of_proofs() {
    let mut server = Server::new(accepting());
    let token = bound_token();
    let padded = proof(&token, &[&format!("pad=\"{}\"", "x".repeat(7000))]);
    let proof = proof(&token, &[]);
    for wrong in [&padded, &proof[..proof.len() - 4]] {
        let found = server.send(&Request::dpop(&token, wrong));
        assert!(
            found.starts_with("401: the DPoP proof is malformed"),
            "{found}"
        );
    }
}

/// AU-110: each claim and each header of a proof.
#[test]
fn wrong_proofs() {
    let token = bound_token();
    let mut server = Server::new(accepting());
    let malformed = "401: the DPoP proof is malformed";
    let not_allowed = "401: the algorithm of the DPoP proof is not allowed";
    let private = format!("jwk={{{},\"d\":\"AAAA\"}}", jwk("client"));
    for (header, expected) in [
        ("typ=\"JWT\"", malformed),
        ("typ=\"at+jwt\"", malformed),
        ("-typ", malformed),
        ("alg=\"none\"", not_allowed),
        ("alg=\"HS256\"", not_allowed),
        ("alg=\"RS256\"", not_allowed),
        // The key is none for the algorithm.
        ("alg=\"EdDSA\"", malformed),
        ("-jwk", malformed),
        ("jwk=\"x\"", malformed),
        ("jwk={\"kty\":\"oct\",\"k\":\"AAAA\"}", malformed),
        (&private, malformed),
        ("crit=[\"x\"]", malformed),
    ] {
        let request = Request::dpop(&token, &proof_with(&token, &[header], &[]));
        assert_eq!(server.refusal(&request), expected, "{header}");
    }
    for (claim, wrong) in [
        ("htm=\"GET\"", "htm"),
        ("htm=\"post\"", "htm"),
        ("-htm", "htm"),
        ("htu=\"https://mcp.example/other\"", "htu"),
        ("htu=\"http://mcp.example/notes\"", "htu"),
        ("htu=\"https://evil.example/notes\"", "htu"),
        ("htu=\"https://mcp.example/notes/\"", "htu"),
        ("htu=\"/notes\"", "htu"),
        ("htu=1", "htu"),
        ("iat=999699", "iat"),
        ("iat=1000031", "iat"),
        ("iat=\"1000000\"", "iat"),
        ("-iat", "iat"),
        ("ath=\"x\"", "ath"),
        ("-ath", "ath"),
        ("-jti", "jti"),
        ("jti=\"\"", "jti"),
        ("jti=1", "jti"),
    ] {
        let request = Request::dpop(&token, &proof(&token, &[claim]));
        let expected = format!("401: {wrong} of the DPoP proof is missing or wrong");
        assert_eq!(server.refusal(&request), expected, "{claim}");
    }
    let long = format!("jti=\"{}\"", "x".repeat(257));
    let request = Request::dpop(&token, &proof(&token, &[&long]));
    assert_eq!(
        server.refusal(&request),
        "401: jti of the DPoP proof is missing or wrong"
    );
}

/// RFC 9449, section 4.3: query and fragment of `htu` are ignored.
#[test]
fn proofs_with_other_spellings() {
    let token = bound_token();
    for claim in [
        "htu=\"https://mcp.example/notes?x=1\"",
        "htu=\"https://mcp.example/notes#x\"",
        "htu=\"HTTPS://MCP.example:443/notes\"",
        "iat=999700",
        "iat=1000030",
        "iat=1000000.7",
    ] {
        let mut server = Server::new(accepting());
        let request = Request::dpop(&token, &proof(&token, &[claim]));
        let found = server.send(&request);
        assert!(found.ends_with(GRANTED), "{claim}\n{found}");
    }
}

/// AU-110: the key of the proof is that of the token; its signature is verified after that.
#[test]
fn proofs_of_other_keys() {
    let mut server = Server::new(accepting());
    let token = bound_token();
    let other = format!("jwk={{{}}}", jwk("thief"));
    let request = Request::dpop(&token, &proof_with(&token, &[&other], &[]));
    let found = server.send(&request);
    assert!(
        found.contains("verify ES256\n401: the DPoP proof is signed with another key"),
        "{found}"
    );
    assert_eq!(found.matches("verify").count(), 1, "{found}");
    let good = proof(&token, &[]);
    let changed = proof(&token, &["jti=\"p2\""]);
    let (message, _) = changed.rsplit_once('.').unwrap();
    let (_, signature) = good.rsplit_once('.').unwrap();
    let request = Request::dpop(&token, &format!("{message}.{signature}"));
    assert_eq!(
        server.refusal(&request),
        "401: the signature of the DPoP proof is wrong"
    );
    // A proof that was refused is not used up.
    assert!(
        server
            .send(&Request::dpop(&token, &changed))
            .ends_with(GRANTED)
    );
}

/// AU-112
#[test]
fn schemes_and_tokens_must_fit() {
    let mut server = Server::new(accepting());
    let (bound, unbound) = (bound_token(), token(&[]));
    let found = server.send(&Request::bearer(&bound));
    check(
        &found,
        "401: the access token is bound to a key and needs the scheme DPoP
        DPoP error=\"invalid_token\", error_description=\"the access token is bound to a key and \
        needs the scheme DPoP\", \
        resource_metadata=\"https://mcp.example/.well-known/oauth-protected-resource/notes\", \
        algs=\"ES256 EdDSA\"
        Bearer resource_metadata=\"https://mcp.example/.well-known/oauth-protected-resource/notes\"",
    );
    let request = Request::dpop(&unbound, &proof(&unbound, &[]));
    assert_eq!(
        server.refusal(&request),
        "401: the access token is not bound to a key"
    );
    let missing = Request::new(&[("authorization", &format!("DPoP {bound}"))]);
    assert_eq!(server.refusal(&missing), "401: the field DPoP is missing");
    let mut twice = Request::dpop(&bound, &proof(&bound, &[]));
    twice.fields.push(("DPoP", proof(&bound, &["jti=\"p2\""])));
    assert_eq!(server.refusal(&twice), "401: the field DPoP occurs twice");
    // A server without DPoP accepts neither the scheme nor bound tokens.
    let mut server = Server::new(builder());
    let request = Request::dpop(&bound, &proof(&bound, &[]));
    assert_eq!(
        server.refusal(&request),
        "401: the scheme of Authorization is not supported"
    );
    let found = server.send(&Request::bearer(&bound));
    assert!(
        found.contains("\nBearer error=\"invalid_token\""),
        "{found}"
    );
}

/// A token that is bound in another way is not accepted without the other check.
#[test]
fn other_bindings() {
    let mut server = Server::new(accepting());
    let token = token(&["cnf={\"x5t#S256\":\"abc\"}"]);
    assert_eq!(
        server.refusal(&Request::bearer(&token)),
        "401: the access token is bound to its client in a way that is not supported"
    );
    for cnf in ["{}", "1", "{\"jkt\":1}", "{\"jkt\":\"a\",\"jkt\":\"b\"}"] {
        let token = super::tool::token(&[&format!("cnf={cnf}")]);
        let found = server.refusal(&Request::bearer(&token));
        assert_eq!(
            found, "401: cnf of the access token is missing or malformed",
            "{cnf}"
        );
    }
}

/// AU-98, AU-111, AU-113
#[test]
fn nonces() {
    let mut server = Server::new(accepting().demand_nonces(60));
    let token = bound_token();
    let mut number = 0;
    let mut with = |nonce: Option<&str>| {
        number += 1;
        let mut claims = vec![format!("jti=\"p{number}\"")];
        claims.extend(nonce.map(|nonce| format!("nonce=\"{nonce}\"")));
        let claims: Vec<&str> = claims.iter().map(String::as_str).collect();
        Request::dpop(&token, &proof(&token, &claims))
    };
    let challenge = "DPoP error=\"use_dpop_nonce\", error_description=\"the DPoP proof needs the \
        current nonce\", \
        resource_metadata=\"https://mcp.example/.well-known/oauth-protected-resource/notes\", \
        algs=\"ES256 EdDSA\"";
    check(
        &server.send(&with(None)),
        &format!(
            "make nonce1
            401: the DPoP proof needs the current nonce
            {challenge}
            nonce nonce1"
        ),
    );
    check(
        &server.send(&with(Some("nonce1"))),
        &format!("fetch https://as.example/jwks\nverify ES256\nverify ES256\n{GRANTED}"),
    );
    // The next nonce is announced while the one before is still accepted.
    server.now += 60;
    check(
        &server.send(&with(Some("nonce1"))),
        &format!("make nonce2\nverify ES256\nverify ES256\n{GRANTED}\nnonce nonce2"),
    );
    server.now += 59;
    assert!(server.send(&with(Some("nonce1"))).contains("granted"));
    server.now += 1;
    let found = server.send(&with(Some("nonce1")));
    assert!(
        found.ends_with(&format!("{challenge}\nnonce nonce3")),
        "{found}"
    );
    assert!(server.send(&with(Some("nonce2"))).contains("granted"));
    assert!(
        server
            .refusal(&with(Some("other")))
            .starts_with("401: the DPoP proof needs")
    );
}

/// AU-98: requests that arrive while a nonce is made do not replace it again.
#[test]
fn nonces_that_are_made_at_the_same_time() {
    let mut server = Server::new(accepting().demand_nonces(60));
    let token = bound_token();
    let request = Request::dpop(&token, &proof(&token, &["nonce=\"nonce1\""]));
    let now = UnixTime::from_secs(server.now);
    for _ in 0..3 {
        let mut check = server.resource.begin(&request, ResourceRequest::default());
        let CheckStep::Hash(bytes) = check.step(&server.resource, &mut server.state, now) else {
            panic!("no hash")
        };
        let digest = super::tool::digest(bytes);
        check.set_digest(digest);
        let step = check.step(&server.resource, &mut server.state, now);
        assert!(matches!(step, CheckStep::MakeNonce), "{step:?}");
    }
    for nonce in ["nonce1", "nonce2", "nonce3"] {
        assert!(server.state.set_nonce(nonce, now));
    }
    assert!(!server.state.set_nonce("no nonce", now));
    assert!(server.send(&request).ends_with(GRANTED));
}

/// AU-113: a nonce ends after twice its lifetime, also if no other was made meanwhile.
#[test]
fn nonces_end() {
    let token = bound_token();
    let with = |nonce: &str| {
        let claims = format!("nonce=\"{nonce}\"");
        Request::dpop(&token, &proof(&token, &[&claims]))
    };
    for (seconds, expected) in [(119, true), (120, false)] {
        let mut server = Server::new(accepting().demand_nonces(60));
        server.send(&with("none"));
        server.now += seconds;
        let found = server.send(&with("nonce1"));
        assert_eq!(found.contains("granted"), expected, "{found}");
    }
}

/// An opaque token is bound by the answer about it.
#[test]
fn bound_opaque_tokens() {
    let bound = bound_token();
    let cnf = bound.split('.').nth(1).unwrap();
    let claims = super::tool::decode(cnf);
    let jkt = claims.split("\"jkt\":\"").nth(1).unwrap();
    let jkt = jkt.split('"').next().unwrap();
    let resource = ProtectedResource::builder(RESOURCE)
        .issuer_with_introspection(ISSUER)
        .dpop(DpopUse::Accepted);
    let mut server = Server::new(resource);
    server.introspection = Some(format!(
        "{{\"active\":true,\"sub\":\"ada\",\"client_id\":\"editor\",\"cnf\":{{\"jkt\":\"{jkt}\"}},\
         \"aud\":\"{RESOURCE}\"}}"
    ));
    let request = Request::dpop("opaque", &proof("opaque", &[]));
    check(
        &server.send(&request),
        &format!("ask https://as.example\nverify ES256\n{GRANTED}"),
    );
    assert_eq!(
        server.refusal(&request),
        "401: the DPoP proof was used before"
    );
    // The answer that is kept does not admit the token without the key.
    let found = server.refusal(&Request::bearer("opaque"));
    assert_eq!(
        found,
        "401: the access token is bound to a key and needs the scheme DPoP"
    );
}

/// The URL that a request is for can be another one than that of the endpoint.
#[test]
fn urls_of_requests() {
    let token = bound_token();
    let url = "https://mcp.example/notes/messages";
    let claim = format!("htu=\"{url}\"");
    let request = Request::dpop(&token, &proof(&token, &[&claim]));
    let mut server = Server::new(accepting().endpoint(url));
    assert!(server.send(&request).ends_with(GRANTED));
    let mut server = Server::new(accepting());
    let given = ResourceRequest {
        url: Some(url),
        ..ResourceRequest::default()
    };
    let mut check = server.resource.begin(&request, given);
    let now = UnixTime::from_secs(server.now);
    let CheckStep::Hash(bytes) = check.step(&server.resource, &mut server.state, now) else {
        panic!("no hash")
    };
    let digest = super::tool::digest(bytes);
    check.set_digest(digest);
    let step = check.step(&server.resource, &mut server.state, now);
    assert!(matches!(step, CheckStep::FetchKeys { .. }), "{step:?}");
}

#[test]
fn a_malformed_token_is_refused_before_its_proof() {
    let mut server = Server::new(accepting());
    for token in ["a b", "", "a\"b"] {
        let found = server.send(&Request::dpop(token, "no proof"));
        let refused = found.contains("Authorization must be a scheme and a token");
        assert!(refused, "{token}: {found}");
    }
}
