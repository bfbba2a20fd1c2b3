use authorization_server::{Client, Consent};
use http::Request;

use crate::scripted::{
    ISSUER, REDIRECT, RESOURCE, Scripted, authorization, encode, json, parameter, parts,
    redemption, refusal,
};

/// AU-73, AU-74, AU-75
#[test]
fn a_code_becomes_tokens() {
    let script = Scripted::new(|settings| settings);
    let url = script.authorize(&[]);
    assert_eq!(parameter(&url, "state").as_deref(), Some("st&te"));
    assert_eq!(parameter(&url, "iss").as_deref(), Some(ISSUER));
    let response = script.redeem(&parameter(&url, "code").unwrap(), &[]);
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["cache-control"], "no-store");
    let body = json(&response);
    assert_eq!(body["token_type"], "Bearer");
    assert_eq!(body["scope"], "mcp");
    let (header, claims) = parts(&body["access_token"]);
    assert_eq!(header["typ"], "at+jwt");
    assert_eq!(header["alg"], "ES256");
    assert_eq!(claims["iss"], ISSUER);
    assert_eq!(claims["aud"], RESOURCE);
    assert_eq!(claims["sub"], "alice");
    assert_eq!(claims["client_id"], "desk");
    assert_eq!(claims["exp"], script.now() + 3600);
}

/// AU-72, AU-73: the page shows who asks for what, and where the user is sent; an answer counts
/// once.
#[test]
fn consent() {
    let script = Scripted::new(|settings| {
        let odd = Client::public("<odd>").redirect("https://client.example/back");
        settings.consent(Consent::Ask).client(odd)
    });
    let odd = [
        ("client_id", "<odd>"),
        ("redirect_uri", "https://client.example/back"),
    ];
    for (decision, name, value) in [
        ("allow", "state", "st&te"),
        ("deny", "error", "access_denied"),
        ("", "error", "access_denied"),
    ] {
        let page = script.get(&authorization(&odd));
        assert_eq!(page.status(), 200);
        let policy = page.headers()["content-security-policy"].to_str().unwrap();
        assert!(policy.contains("frame-ancestors 'none'"));
        let page = core::str::from_utf8(page.body()).unwrap();
        assert!(
            page.contains("&lt;odd&gt;") && !page.contains("<odd>"),
            "{page}"
        );
        assert!(
            page.contains("<dd>client.example") && page.contains(RESOURCE),
            "{page}"
        );
        let (_, handle) = page.split_once("name=\"page\" value=\"").unwrap();
        let (handle, _) = handle.split_once('"').unwrap();

        let answer = [("page", handle), ("decision", decision)];
        let response = script.post("/authorize", &[], &answer);
        let location = response.headers()["location"].to_str().unwrap();
        let url = url::Url::parse(location).unwrap();
        assert_eq!(parameter(&url, name).as_deref(), Some(value));
        assert_eq!(parameter(&url, "iss").as_deref(), Some(ISSUER));
        assert_eq!(parameter(&url, "code").is_some(), decision == "allow");
        assert_eq!(script.post("/authorize", &[], &answer).status(), 400);
    }
}

/// AU-14, AU-70: a browser is not sent to an address that the client has not registered.
#[test]
fn no_redirect_to_strangers() {
    let script = Scripted::new(|settings| settings);
    for more in [
        ("client_id", "nobody"),
        ("client_id", ""),
        ("redirect_uri", "http://127.0.0.1/other"),
        ("redirect_uri", "http://127.0.0.1.evil.example/callback"),
        ("redirect_uri", "http://localhost/callback"),
        ("redirect_uri", "http://127.0.0.1/callback?more"),
        ("redirect_uri", "http://user@127.0.0.1/callback"),
        ("redirect_uri", "https://127.0.0.1/callback"),
        ("redirect_uri", "javascript:alert(1)"),
    ] {
        let response = script.get(&authorization(&[more]));
        assert_eq!(response.status(), 400, "{more:?}");
        assert!(!response.headers().contains_key("location"));
    }
    // A parameter that occurs twice could be read in two ways.
    let twice = format!("{}&redirect_uri=x", authorization(&[]));
    assert_eq!(script.get(&twice).status(), 400);
    // The port of a loopback address is free.
    let url = script.authorize(&[("redirect_uri", "http://127.0.0.1:33418/callback")]);
    assert_eq!(url.port(), Some(33418));
}

/// AU-73, AU-75
#[test]
fn refused_authorization_requests() {
    let script = Scripted::new(|settings| settings.scopes(["mcp"]).resources([RESOURCE]));
    for (more, error) in [
        (("response_type", "token"), "unsupported_response_type"),
        (("code_challenge", ""), "invalid_request"),
        (("code_challenge", "short"), "invalid_request"),
        (("code_challenge_method", "plain"), "invalid_request"),
        (("code_challenge_method", ""), "invalid_request"),
        (("scope", "mcp admin"), "invalid_scope"),
        (
            ("resource", "http://localhost:8000/mcp#f"),
            "invalid_target",
        ),
        (
            ("resource", "http://localhost:8000/other"),
            "invalid_target",
        ),
        (("resource", "mcp"), "invalid_target"),
    ] {
        let url = script.authorize(&[more]);
        assert_eq!(parameter(&url, "error").as_deref(), Some(error), "{more:?}");
        assert_eq!(parameter(&url, "iss").as_deref(), Some(ISSUER));
        assert_eq!(parameter(&url, "state").as_deref(), Some("st&te"));
        assert_eq!(parameter(&url, "code"), None);
    }
}

#[test]
fn refused_codes() {
    let script = Scripted::new(|settings| settings);
    let wrong = "wrong-verifier-of-at-least-forty-three-characters";
    for (more, error) in [
        (("code", "unknown"), "invalid_grant"),
        (("code_verifier", ""), "invalid_request"),
        (("code_verifier", wrong), "invalid_grant"),
        (("redirect_uri", "http://127.0.0.1/other"), "invalid_grant"),
        (("resource", ""), "invalid_target"),
        (("resource", "http://localhost:8000/mcp/"), "invalid_target"),
        (("grant_type", "password"), "unauthorized_client"),
        (("grant_type", ""), "invalid_request"),
    ] {
        let refused = script.redeem(&script.code(&[]), &[more]);
        assert_eq!(refusal(&refused), (400, error.into()), "{more:?}");
    }
    // Another client's code, and one that is too old.
    let code = script.code(&[]);
    let form = redemption(&code, &[("client_id", "")]);
    assert_eq!(refusal(&script.robot(&form)), (400, "invalid_grant".into()));
    script.advance(60);
    assert_eq!(
        refusal(&script.redeem(&code, &[])),
        (400, "invalid_grant".into())
    );
    // A body of another type.
    let body = encode(&redemption(&script.code(&[]), &[]));
    let request = Request::post("/token").header("content-type", "text/plain");
    let request = request.body(body.into()).unwrap();
    assert_eq!(
        refusal(&script.server.handle(&request)),
        (400, "invalid_request".into())
    );
}

/// What was issued for a code is revoked when the code is used again.
#[test]
fn a_code_is_used_once() {
    let script = Scripted::new(|settings| settings);
    let code = script.code(&[]);
    let token = json(&script.redeem(&code, &[]))["access_token"].clone();
    let token = token.as_str().unwrap();
    assert_eq!(script.server.introspect(token)["active"], true);
    assert_eq!(
        refusal(&script.redeem(&code, &[])),
        (400, "invalid_grant".into())
    );
    assert_eq!(script.server.introspect(token)["active"], false);
}

/// A client without a registered port gets its code at any; another path is refused.
#[test]
fn the_only_redirect_uri_may_be_left_out() {
    let script = Scripted::new(|settings| settings);
    let url = script.authorize(&[("redirect_uri", "")]);
    assert!(url.as_str().starts_with(REDIRECT));
}
