//! Token requests, their responses, refreshes, proofs, and the record that is kept.

use super::script::*;
use mcp_auth::{
    AuthConfig, ClientProof, Credentials, Document, DpopKey, Flow, Scheme, Secret, UnixTime,
};

fn at_the_token_endpoint(config: AuthConfig) -> Script {
    Script::consented(config, challenge("Bearer scope=\"a b\""))
}

fn key() -> DpopKey {
    DpopKey::new("ES256", r#"{"kty":"EC","crv":"P-256","x":"l8t","y":"9VE"}"#).unwrap()
}

fn with_proofs() -> AuthConfig {
    AuthConfig {
        dpop: Some(key()),
        dpop_required: true,
        ..registered(ClientProof::Public)
    }
}

/// AU-50, AU-52, AU-69: the exchange of the code, by a public client.
#[test]
fn the_exchange_of_the_code() {
    let mut script = at_the_token_endpoint(registered(ClientProof::Public));
    let verifier = script.secrets[0].clone();
    script.posts_form(
        TOKEN,
        &format!("grant_type=authorization_code & code=c0de & redirect_uri={CALLBACK} & code_verifier={verifier} & resource={SERVER} & client_id=client-1"),
    );
}

/// AU-63, AU-68: which responses are accepted, and how the token is presented.
#[test]
fn responses() {
    for (status, answer, granted, expires) in [
        (
            200,
            r#"{"access_token":"t","token_type":"Bearer","expires_in":60,"scope":"a"}"#,
            "a",
            Some(60),
        ),
        (
            201,
            r#"{"access_token":"t","token_type":"bEARER"}"#,
            "a b",
            None,
        ),
        (200, r#"{"access_token":"t"}"#, "a b", None),
        (
            200,
            r#"{"access_token":"t","expires_in":"60","scope":"","refresh_token":null}"#,
            "a b",
            Some(60),
        ),
        (
            200,
            r#"{"access_token":"t","expires_in":59.9}"#,
            "a b",
            Some(59),
        ),
        (
            200,
            r#"{"access_token":"t","expires_in":99999999999999999999999}"#,
            "a b",
            Some(u64::MAX - START),
        ),
    ] {
        let mut script = at_the_token_endpoint(registered(ClientProof::Public));
        script.posts(TOKEN);
        let credentials = script.answers(status, answer).done();
        assert_eq!(credentials.granted.to_string(), granted, "{answer}");
        let end = expires.map(|seconds| UnixTime::from_secs(START + seconds));
        assert_eq!(credentials.expires_at, end, "{answer}");
        assert_eq!(credentials.authorization().expose(), "Bearer t");
        assert_eq!(credentials.refresh_token, None);
        assert_eq!(
            (credentials.server.as_str(), credentials.issuer.as_str()),
            (SERVER, ISSUER)
        );
    }
}

/// AU-39, AU-68: which are refused, and what the error says.
#[test]
fn refused_responses() {
    for (status, answer, text) in [
        (200, "<html>", "expected JSON"),
        (200, "[]", "expected a JSON object"),
        (200, "{}", "`access_token` is missing"),
        (200, r#"{"access_token":""}"#, "`access_token` is missing"),
        (
            200,
            r#"{"access_token":["t"]}"#,
            "`access_token` must be a string",
        ),
        (
            200,
            r#"{"access_token":"t\r\nX: y"}"#,
            "`access_token` has characters",
        ),
        (
            200,
            r#"{"access_token":"t","access_token":"u"}"#,
            "`access_token` comes twice",
        ),
        (200, r#"{"access_token":"t","token_type":"mac"}"#, "\"mac\""),
        (
            200,
            r#"{"access_token":"t","token_type":"DPoP"}"#,
            "\"DPoP\"",
        ),
        (200, r#"{"access_token":"t","token_type":"N_A"}"#, "\"N_A\""),
        (
            200,
            r#"{"access_token":"t","expires_in":-1}"#,
            "`expires_in`",
        ),
        (
            200,
            r#"{"access_token":"t","expires_in":{}}"#,
            "`expires_in`",
        ),
        (
            200,
            r#"{"error":"bad_verification_code"}"#,
            "bad_verification_code",
        ),
        (
            400,
            r#"{"error":"invalid_grant","error_description":"used"}"#,
            "invalid_grant (used)",
        ),
        (401, r#"{"error":"invalid_client"}"#, "invalid_client"),
        (302, "", "status 302"),
        (500, "oops", "status 500"),
    ] {
        let mut script = at_the_token_endpoint(registered(ClientProof::Public));
        script.posts(TOKEN);
        script.answers(status, answer);
        script.error(Document::TokenResponse, &[text, TOKEN]);
    }
}

fn obtained(config: AuthConfig, answer: &str) -> Credentials {
    let mut script = at_the_token_endpoint(config);
    script.posts(TOKEN);
    script.answers(200, answer).done()
}

/// AU-52, AU-66, AU-69, AU-115: a refresh carries `resource`, the granted scopes and the client.
#[test]
fn refresh() {
    let config = || registered(ClientProof::Secret("s".into()));
    let stored = obtained(
        config(),
        r#"{"access_token":"t1","refresh_token":"r1","scope":"a","expires_in":100}"#,
    );
    let at = |seconds| UnixTime::from_secs(START + seconds);
    assert!(!stored.is_expired(at(69)));
    assert!(stored.is_expired(at(70)));

    let mut script = Script::refresh(config(), &stored);
    let request = script.posts(TOKEN);
    assert_eq!(
        form_text(&request),
        format!("grant_type=refresh_token & refresh_token=r1 & resource={SERVER} & scope=a")
    );
    assert!(request.header("authorization").is_some());
    // The refresh token is kept unless a new one comes, and so are the scopes.
    let second = script.answers(200, r#"{"access_token":"t2"}"#).done();
    assert_eq!(second.refresh_token, Some(Secret::from("r1")));
    assert_eq!(second.granted.to_string(), "a");
    assert_eq!(second.requested.to_string(), "a b");
    assert_eq!(second.expires_at, None);
    assert_eq!(second.issuer, ISSUER);

    let mut script = Script::refresh(config(), &second);
    script.posts(TOKEN);
    let third = script
        .answers(200, r#"{"access_token":"t3","refresh_token":"r2"}"#)
        .done();
    assert_eq!(third.refresh_token, Some(Secret::from("r2")));
}

/// AU-118: a rejected refresh says so.
#[test]
fn rejected_refresh() {
    let config = || registered(ClientProof::Public);
    let stored = obtained(config(), r#"{"access_token":"t1","refresh_token":"r1"}"#);
    let mut script = Script::refresh(config(), &stored);
    script.posts(TOKEN);
    script.answers(400, r#"{"error":"invalid_grant"}"#);
    let error = script.error(Document::TokenResponse, &["invalid_grant"]);
    assert_eq!(
        (error.status(), error.oauth_error()),
        (Some(400), Some("invalid_grant"))
    );

    let none = obtained(config(), r#"{"access_token":"t1"}"#);
    assert!(Flow::refresh(config(), none).is_err());
}

/// AU-36, AU-45: a refresh sends neither tokens nor a secret to another issuer than the configured
/// one, and no secret for a client id that the server chose.
#[test]
fn refresh_at_another_issuer() {
    let answer = r#"{"access_token":"t1","refresh_token":"r1"}"#;
    let secret = |text: &str| registered(ClientProof::Secret(text.into()));
    let stored = obtained(secret("old"), answer);
    let mut script = Script::refresh(secret("new"), &stored);
    let request = script.posts(TOKEN);
    // client-1:new
    assert_eq!(
        request.header("authorization"),
        Some("Basic Y2xpZW50LTE6bmV3")
    );

    let mut moved = secret("new");
    if let Some(client) = &mut moved.pre_registered {
        client.issuer = Some("https://other.example".into());
    }
    let error = Flow::refresh(moved, stored).unwrap_err();
    assert_eq!(error.document, Document::Credentials);
    let text = error.to_string();
    assert!(
        text.contains(ISSUER) && text.contains("https://other.example"),
        "{text}"
    );

    let mut script = Script::new(config(), None);
    script.discovers("");
    script.posts("https://as.example/register");
    script.answers(201, r#"{"client_id":"client-1","client_secret":"theirs"}"#);
    script.consents();
    script.posts(TOKEN);
    let stored = script.answers(200, answer).done();
    let mut script = Script::refresh(secret("new"), &stored);
    let request = script.posts(TOKEN);
    // client-1:theirs
    assert_eq!(
        request.header("authorization"),
        Some("Basic Y2xpZW50LTE6dGhlaXJz")
    );
}

/// AU-66: a refresh never adds `offline_access`.
#[test]
fn refresh_without_offline_access() {
    let config = || registered(ClientProof::Public);
    let mut script = Script::new(config(), challenge("Bearer scope=a"));
    script.discovers(r#","scopes_supported":["offline_access"]"#);
    assert_eq!(script.consents().get("scope").unwrap(), "a offline_access");
    script.posts(TOKEN);
    let stored = script
        .answers(200, r#"{"access_token":"t","refresh_token":"r"}"#)
        .done();
    let mut script = Script::refresh(config(), &stored);
    assert_eq!(form_value(&script.posts(TOKEN), "scope").unwrap(), "a");
}

/// AU-96, AU-97, AU-99: the proof of a token request.
#[test]
fn proofs_at_the_token_endpoint() {
    let mut script = at_the_token_endpoint(with_proofs());
    let request = script.posts(TOKEN);
    assert!(request.header("dpop").unwrap().ends_with(".c2lnbmF0dXJl"));
    let (header, claims) = token_parts(&script.signed[0]);
    assert_eq!(
        header,
        serde_json::json!({"typ":"dpop+jwt","alg":"ES256","jwk":{"crv":"P-256","kty":"EC","x":"l8t","y":"9VE"}})
    );
    assert_eq!(
        (&claims["htm"], &claims["htu"]),
        (&"POST".into(), &TOKEN.into())
    );
    assert_eq!(claims["iat"], START);
    assert!(claims["jti"].as_str().unwrap().len() >= 16);
    assert_eq!((claims.get("ath"), claims.get("nonce")), (None, None));
    let credentials = script
        .answers(200, r#"{"access_token":"t","token_type":"dpop"}"#)
        .done();
    assert_eq!(credentials.scheme, Scheme::Dpop);
    assert_eq!(credentials.authorization().expose(), "DPoP t");
    assert_eq!(
        credentials.dpop_key.as_deref(),
        Some(key().thumbprint_input())
    );
}

/// AU-98: one retry with a new proof, and only for this error.
#[test]
fn nonces_of_the_token_endpoint() {
    let nonce: &[(&str, &[u8])] = &[("DPoP-Nonce", b"n1")];
    let demand = r#"{"error":"use_dpop_nonce"}"#;
    let mut script = at_the_token_endpoint(with_proofs());
    script.posts(TOKEN);
    script.answers_with(400, nonce, demand);
    script.posts(TOKEN);
    let (first, second) = (
        token_parts(&script.signed[0]).1,
        token_parts(&script.signed[1]).1,
    );
    assert_eq!(second["nonce"], "n1");
    assert_ne!(first["jti"], second["jti"]);
    script.answers_with(400, &[("dpop-nonce", b"n2")], demand);
    script.error(Document::TokenResponse, &["use_dpop_nonce"]);

    // Without a nonce, and for another error, there is no reason to retry.
    for (headers, answer) in [
        (&[][..], demand),
        (nonce, r#"{"error":"invalid_dpop_proof"}"#),
    ] {
        let mut script = at_the_token_endpoint(with_proofs());
        script.posts(TOKEN);
        script.answers_with(400, headers, answer);
        script.error(Document::TokenResponse, &["dpop"]);
    }
}

/// AU-98: a nonce of one flow serves the next one.
#[test]
fn nonces_that_are_kept() {
    let mut first = at_the_token_endpoint(with_proofs());
    first.posts(TOKEN);
    let answer = r#"{"access_token":"t","refresh_token":"r","token_type":"DPoP"}"#;
    let held = first
        .answers_with(200, &[("dpop-nonce", b"n1")], answer)
        .done();
    let mut script = Script::refresh_after(&first, with_proofs(), &held);
    script.posts(TOKEN);
    assert_eq!(token_parts(&script.signed[0]).1["nonce"], "n1");
    // One that has expired costs one request, and is replaced for the flow after this one.
    let demand = r#"{"error":"use_dpop_nonce"}"#;
    script.answers_with(400, &[("dpop-nonce", b"n2")], demand);
    script.posts(TOKEN);
    script
        .answers(503, "")
        .error(Document::TokenResponse, &["503"]);
    let mut script = Script::refresh_after(&script, with_proofs(), &held);
    script.posts(TOKEN);
    assert_eq!(token_parts(&script.signed[0]).1["nonce"], "n2");
}

/// AU-96: where a bound token is demanded, another one is refused; where it is not, it is used.
#[test]
fn unbound_tokens() {
    let mut script = at_the_token_endpoint(with_proofs());
    script.posts(TOKEN);
    script.answers(200, r#"{"access_token":"t","token_type":"Bearer"}"#);
    script.error(Document::TokenResponse, &["\"Bearer\""]);

    let config = AuthConfig {
        dpop_required: false,
        ..with_proofs()
    };
    let credentials = obtained(config, r#"{"access_token":"t","token_type":"Bearer"}"#);
    assert_eq!(
        (credentials.scheme, credentials.dpop_key),
        (Scheme::Bearer, None)
    );
}

/// AU-99: the server must accept the algorithm; a lost key is noticed.
#[test]
fn keys_that_do_not_fit() {
    let mut script = Script::new(with_proofs(), None);
    script.discovers(r#","dpop_signing_alg_values_supported":["RS256"]"#);
    script.error(
        Document::ServerMetadata,
        &["dpop_signing_alg_values_supported"],
    );

    let stored = obtained(
        with_proofs(),
        r#"{"access_token":"t","token_type":"DPoP","refresh_token":"r"}"#,
    );
    let other = DpopKey::new("ES256", r#"{"kty":"EC","crv":"P-256","x":"abc","y":"def"}"#).unwrap();
    let config = AuthConfig {
        dpop: Some(other),
        ..with_proofs()
    };
    assert!(Flow::refresh(config, stored.clone()).is_err());
    let mut script = Script::refresh(with_proofs(), &stored);
    assert!(script.posts(TOKEN).header("dpop").is_some());
}

/// AU-118: the record says the same after it was stored, expiry included.
#[test]
fn the_record() {
    let secret = registered(ClientProof::Secret("s\"\\\u{1f600}".into()));
    for stored in [
        obtained(registered(ClientProof::Public), r#"{"access_token":"t"}"#),
        obtained(
            secret,
            r#"{"access_token":"t","expires_in":60,"refresh_token":"r","scope":"a"}"#,
        ),
        obtained(with_proofs(), r#"{"access_token":"t","token_type":"DPoP"}"#),
    ] {
        let json = stored.to_json();
        assert_eq!(
            Credentials::from_json(json.expose().as_bytes()).unwrap(),
            stored
        );
        // A damaged record is an error, never a panic or another record.
        for length in 0..json.expose().len() {
            let Some(part) = json.expose().get(..length) else {
                continue;
            };
            assert!(Credentials::from_json(part.as_bytes()).is_err());
        }
        let newer = json.expose().replace("\"version\":1", "\"version\":2");
        let error = Credentials::from_json(newer.as_bytes()).unwrap_err();
        assert_eq!(error.document, Document::Credentials);
        assert!(error.to_string().contains("version"), "{error}");
    }
}

/// AU-96, AU-99: a server that demands bound tokens, with a key, without, and with a wrong one.
#[test]
fn bound_tokens_demanded_by_the_server() {
    let demanding = |more: &str| {
        let more = format!(",\"dpop_bound_access_tokens_required\":true{more}}}");
        PUBLISHED.replace('}', &more)
    };
    let config = || AuthConfig {
        dpop_required: false,
        ..with_proofs()
    };
    let mut script = Script::new(registered(ClientProof::Public), None);
    script.gets(RESOURCE_METADATA).answers(200, &demanding(""));
    script.gets(SERVER_METADATA).answers(200, &metadata(""));
    script.error(
        Document::ResourceMetadata,
        &["bound to a key", "configure a key"],
    );

    let listed = r#","dpop_signing_alg_values_supported":["EdDSA"]"#;
    let mut script = Script::new(config(), None);
    script
        .gets(RESOURCE_METADATA)
        .answers(200, &demanding(listed));
    script.gets(SERVER_METADATA).answers(200, &metadata(""));
    script.error(
        Document::ResourceMetadata,
        &["dpop_signing_alg_values_supported"],
    );

    let mut script = Script::new(config(), None);
    script.gets(RESOURCE_METADATA).answers(200, &demanding(""));
    script.gets(SERVER_METADATA).answers(200, &metadata(""));
    script.consents();
    script.posts(TOKEN);
    script.answers(200, r#"{"access_token":"t","token_type":"Bearer"}"#);
    script.error(Document::TokenResponse, &["\"Bearer\""]);
}

/// A failure of the caller, at every point at which it may fail.
#[test]
fn failures_of_the_caller() {
    let mut script = Script::new(registered(ClientProof::Public), None);
    script.discovers("");
    script.fails("the user closed the page");
    script.error(
        Document::AuthorizationResponse,
        &["the user closed the page"],
    );

    let mut script = at_the_token_endpoint(registered(ClientProof::Public));
    script.posts(TOKEN);
    script.fails("connection reset");
    script.error(Document::TokenResponse, &["connection reset", TOKEN]);

    let mut script = Script::new(config(), None);
    script.discovers("");
    script.posts("https://as.example/register");
    script.fails("connection reset");
    script.error(Document::Registration, &["connection reset", "/register"]);
}
