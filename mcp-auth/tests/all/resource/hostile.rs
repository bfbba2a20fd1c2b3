//! What no sender and no caller may achieve.

use mcp_auth::resource::{
    CheckStep, DenialReason, DpopUse, ProtectedResource, ResourceRequest, TokenClaims,
};
use mcp_auth::{Scopes, UnixTime};

use super::tool::{
    ISSUER, NOW, RESOURCE, Request, Server, bound_token, builder, digest, proof, token,
};

/// Every byte changed, and every length: nothing but the whole is admitted.
#[test]
fn changed_tokens_and_proofs() {
    let (plain, bound) = (token(&[]), bound_token());
    let proof = proof(&bound, &[]);
    let mut bearer = Server::new(builder().dpop(DpopUse::Accepted));
    for changed in variants(&plain) {
        let found = bearer.send(&Request::bearer(&changed));
        assert!(!found.contains("granted"), "{changed}");
    }
    let mut server = Server::new(builder().dpop(DpopUse::Accepted));
    for changed in variants(&proof) {
        let found = server.send(&Request::dpop(&bound, &changed));
        assert!(!found.contains("granted"), "{changed}");
    }
    for changed in variants(&bound) {
        let found = server.send(&Request::dpop(&changed, &proof));
        assert!(!found.contains("granted"), "{changed}");
    }
    // Only now is the proof used.
    assert!(
        server
            .send(&Request::dpop(&bound, &proof))
            .contains("granted")
    );
}

fn variants(text: &str) -> impl Iterator<Item = String> {
    let cut = (0..text.len()).map(|end| text[..end].to_owned());
    let longer = ["A", ".", "=", ".A"].map(|more| format!("{text}{more}"));
    let changed = (0..text.len()).flat_map(move |at| {
        ["A", "B", "_", "."].into_iter().filter_map(move |new| {
            let (before, after) = (&text[..at], &text[at + 1..]);
            (text[at..at + 1] != *new).then(|| format!("{before}{new}{after}"))
        })
    });
    cut.chain(longer).chain(changed)
}

/// Answers that were not asked for end a check; they never admit.
#[test]
fn unexpected_answers() {
    let server = || Server::new(builder().dpop(DpopUse::Accepted));
    let request = Request::bearer(&token(&[]));
    let now = UnixTime::from_secs(NOW);
    type Answer = fn(&mut mcp_auth::resource::TokenCheck, &ProtectedResource);
    let answers: [Answer; 6] = [
        |check, _| check.set_signature(true),
        |check, _| check.set_digest([0; 32]),
        |check, _| check.set_fingerprint(0),
        |check, _| check.set_claims(Some(TokenClaims::new(ISSUER, RESOURCE).with_subject("x"))),
        |check, resource| check.set_introspection(resource, Some(b"{\"active\":true}")),
        |check, _| check.set_unavailable(),
    ];
    for answer in answers {
        for steps in 0..2 {
            let mut server = server();
            let mut check = server.resource.begin(&request, ResourceRequest::default());
            for _ in 0..steps {
                server.fingerprint(&mut check);
                let step = check.step(&server.resource, &mut server.state, now);
                assert!(matches!(step, CheckStep::FetchKeys { .. }), "{step:?}");
            }
            answer(&mut check, &server.resource);
            for _ in 0..2 {
                match check.step(&server.resource, &mut server.state, now) {
                    CheckStep::Done(Err(denial)) => {
                        assert_eq!(denial.reason(), DenialReason::UnexpectedAnswer);
                        assert_eq!(denial.status(), 500);
                        assert_eq!(denial.challenges().count(), 0);
                    }
                    step => panic!("{step:?}"),
                }
            }
        }
    }
}

/// The same step comes again until it is answered, and the outcome stays.
#[test]
fn steps_are_repeated() {
    let mut server = Server::new(builder());
    server.send(&Request::bearer(&token(&[])));
    let now = UnixTime::from_secs(NOW);
    let request = Request::bearer(&token(&["sub=\"grace\""]));
    let mut check = server.resource.begin(&request, ResourceRequest::default());
    for _ in 0..3 {
        let step = check.step(&server.resource, &mut server.state, now);
        assert!(matches!(step, CheckStep::Fingerprint(_)), "{step:?}");
    }
    server.fingerprint(&mut check);
    for _ in 0..3 {
        let step = check.step(&server.resource, &mut server.state, now);
        assert!(matches!(step, CheckStep::VerifySignature(_)), "{step:?}");
    }
    check.set_signature(true);
    for _ in 0..3 {
        let step = check.step(&server.resource, &mut server.state, now);
        assert!(matches!(step, CheckStep::Done(Ok(Some(_)))), "{step:?}");
    }
    // The answer to a signature that is asked for once counts once.
    check.set_signature(true);
    let step = check.step(&server.resource, &mut server.state, now);
    assert!(matches!(step, CheckStep::Done(Err(_))), "{step:?}");
}

/// What is printed of a check has neither the token nor its claims in it.
#[test]
fn nothing_secret_is_printed() {
    let resource = ProtectedResource::builder(RESOURCE)
        .issuer_with_verifier(ISSUER)
        .build()
        .unwrap();
    let mut state = mcp_auth::resource::VerifierState::new(&resource, 4);
    let request = Request::bearer("s3cret");
    let now = UnixTime::from_secs(NOW);
    let mut check = resource.begin(&request, ResourceRequest::default());
    let mut printed = format!("{resource:?} {check:?}");
    let step = check.step(&resource, &mut state, now);
    printed += &format!("{step:?}");
    let CheckStep::Hash(bytes) = step else {
        panic!("{step:?}")
    };
    let hash = digest(bytes);
    check.set_digest(hash);
    printed += &format!("{:?}", check.step(&resource, &mut state, now));
    let claims = TokenClaims::new(ISSUER, RESOURCE).with_subject("pr1vate");
    check.set_claims(Some(claims.with_scopes(Scopes::parse("read"))));
    printed += &format!(
        "{:?} {state:?} {check:?}",
        check.clone().step(&resource, &mut state, now)
    );
    assert!(!printed.contains("115, 51"), "{printed}");
    assert!(
        !printed.contains("s3cret") && !printed.contains("pr1vate"),
        "{printed}"
    );
    let mut refused = resource.begin(&request, ResourceRequest::default());
    refused.set_claims(None);
    let outcome = format!("{:?}", refused.step(&resource, &mut state, now));
    assert!(!outcome.contains("s3cret"), "{outcome}");
}
