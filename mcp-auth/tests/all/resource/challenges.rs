//! Where a token may stand, and what challenges say.

use mcp_auth::resource::DpopUse;

use super::tool::{Request, Server, bound_token, builder, check, proof, token};

/// AU-01, AU-02, AU-08, AU-12: no `error` where no credentials were sent.
#[test]
fn without_a_token() {
    let mut server = Server::new(builder().scopes(["read"]));
    let expected = r#"
        401: an access token is required
        Bearer scope="read", resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/notes"
    "#;
    check(&server.send(&Request::new(&[])), expected);
    let basic = Request::new(&[("authorization", "Basic YTpi")]);
    let expected = expected.replace(
        "an access token is required",
        "the scheme of Authorization is not supported",
    );
    check(&server.send(&basic), &expected);
}

/// AU-01, AU-12, AU-90: malformed requests are answered with 400, whatever else they have; so are
/// those with a token in the URL.
#[test]
fn malformed_requests() {
    let valid = format!("Bearer {}", token(&[]));
    let mut server = Server::new(builder());
    check(
        &server.send(&Request::new(&[
            ("authorization", &valid),
            ("Authorization", &valid),
        ])),
        r#"
        400: Authorization occurs twice
        Bearer error="invalid_request", error_description="Authorization occurs twice", resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/notes"
        "#,
    );
    for query in [
        "access_token=x",
        "a=b&access_token=x",
        "access%5Ftoken=x",
        "%61ccess_token",
        "a;access_token=",
    ] {
        for fields in [&[][..], &[("authorization", valid.as_str())]] {
            let request = Request {
                query: Some(query),
                ..Request::new(fields)
            };
            assert_eq!(
                server.refusal(&request),
                "400: the access token must be in Authorization, not in the query",
                "{query}"
            );
        }
    }
    for wrong in [
        "Bearer",
        "Bearer ",
        "bearer   ",
        "Bearer a b",
        "Bearer a,Bearer b",
        "Bearer \"x\"",
        "Bearer ==",
        "Bearer a=b",
        "Bearer \u{e9}",
    ] {
        let request = Request::new(&[("authorization", wrong)]);
        let found = server.refusal(&request);
        assert_eq!(
            found, "400: Authorization must be a scheme and a token",
            "{wrong}"
        );
    }
    let long = Request::bearer(&"x".repeat(17_000));
    assert_eq!(server.refusal(&long), "400: the access token is too long");
}

/// AU-12: other parameters of the query, and the case of the scheme, do not matter.
#[test]
fn well_formed_requests() {
    let mut server = Server::new(builder());
    let token = token(&[]);
    for scheme in ["Bearer", "bearer", "BEARER ", " Bearer "] {
        let request = Request {
            query: Some("token=x&access_token2=y&my_access_token=z"),
            ..Request::new(&[("authorization", &format!("{scheme} {token}"))])
        };
        let found = server.send(&request);
        let expected = "granted [\"https://as.example\",\"ada\",\"editor\"]";
        assert!(found.ends_with(expected), "{found}");
    }
}

/// AU-09: one challenge, of the scheme that was used, with all scopes of the operation.
#[test]
fn insufficient_scope() {
    let metadata = "https://mcp.example/.well-known/oauth-protected-resource/notes";
    for (dpop, scheme) in [(DpopUse::Off, "Bearer"), (DpopUse::Accepted, "Bearer")] {
        let mut server = Server::new(builder().scopes(["read"]).dpop(dpop));
        let request = Request::bearer(&token(&[]));
        let (found, _) = server.send_for(&request, &["write", "admin"]);
        let expected = format!(
            "fetch https://as.example/jwks
            verify ES256
            403: the scopes of the access token are not sufficient; needed: read write admin
            {scheme} error=\"insufficient_scope\", error_description=\"the scopes of the access \
            token are not sufficient\", scope=\"read write admin\", resource_metadata=\"{metadata}\""
        );
        check(&found, &expected);
    }
    let mut server = Server::new(builder().dpop(DpopUse::Accepted));
    let token = bound_token();
    let request = Request::dpop(&token, &proof(&token, &[]));
    let (found, _) = server.send_for(&request, &["admin"]);
    let challenge = found.lines().last().unwrap();
    assert!(
        challenge.starts_with("DPoP error=\"insufficient_scope\""),
        "{found}"
    );
    assert_eq!(found.lines().count(), 5, "{found}");
}

/// AU-111: both schemes where both are accepted, the one that was used first.
#[test]
fn challenges_of_both_schemes() {
    let mut server = Server::new(builder().dpop(DpopUse::Accepted));
    let metadata =
        r#"resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/notes""#;
    check(
        &server.send(&Request::new(&[])),
        &format!(
            r#"
            401: an access token is required
            Bearer {metadata}
            DPoP {metadata}, algs="ES256 EdDSA"
            "#
        ),
    );
    check(
        &server.send(&Request::bearer(&token(&["exp=1"]))),
        &format!(
            r#"
            401: the access token has expired
            Bearer error="invalid_token", error_description="the access token has expired", {metadata}
            DPoP {metadata}, algs="ES256 EdDSA"
            "#
        ),
    );
    let mut server = Server::new(builder().dpop(DpopUse::Required));
    check(
        &server.send(&Request::bearer(&token(&[]))),
        &format!(
            r#"
            401: the access token must be sent with the scheme DPoP
            DPoP error="invalid_token", error_description="the access token must be sent with the scheme DPoP", {metadata}, algs="ES256 EdDSA"
            "#
        ),
    );
}

/// Requests without a token are admitted where the operation needs no scope; a wrong token is not.
#[test]
fn anonymous_requests() {
    let mut server = Server::new(builder().scopes(["read"]).allow_anonymous());
    check(&server.send(&Request::new(&[])), "admitted");
    let (found, _) = server.send_for(&Request::new(&[]), &["write"]);
    check(
        &found,
        r#"
        401: an access token is required
        Bearer scope="read write", resource_metadata="https://mcp.example/.well-known/oauth-protected-resource/notes"
        "#,
    );
    assert_eq!(
        server.refusal(&Request::bearer(&token(&["exp=1"]))),
        "401: the access token has expired"
    );
    let basic = Request::new(&[("authorization", "Basic YTpi")]);
    assert!(server.refusal(&basic).starts_with("401"));
}

/// No text of a challenge needs escaping, whatever the token has in it.
#[test]
fn hostile_tokens_are_not_repeated() {
    let mut server = Server::new(builder());
    let token = token(&["iss=\"https://evil\\\"\\r\\nX: y\"", "scope=\"a\\\"b\""]);
    let found = server.send(&Request::bearer(&token));
    assert!(!found.contains("evil"), "{found}");
    assert_eq!(found.lines().count(), 2);
}
