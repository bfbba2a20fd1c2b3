//! Which status and which challenge requests get.

use http::{Method, Request};
use mcp_async::http::HttpService;
use mcp_async::server::{Extension, ExtensionMethod};

use crate::protection::support::{METADATA, REVISIONS, protected, protection, server, service};
use crate::scripted::{
    HttpClient, INITIALIZED, Reply, RequestExt, Serve, get, initialize, modern, plain_call, post,
    send,
};
use crate::sim::Sim;
use crate::texts::has;

fn who() -> Request<String> {
    modern(&plain_call(1, "who"))
}

fn with(authorization: &[&str]) -> Reply {
    let mut request = who();
    for value in authorization {
        let value = value.parse().unwrap();
        request.headers_mut().append("authorization", value);
    }
    send(&service(), request)
}

/// AU-01, AU-02, AU-08, AU-09, AU-12.
#[test]
fn refusals_have_their_status_and_challenge() {
    let metadata = format!(r#"resource_metadata="{METADATA}""#);
    let check = |authorization: &[&str], status: u16, error: &str| {
        let reply = with(authorization);
        assert_eq!(reply.status, status, "{authorization:?}");
        assert_eq!(reply.header("content-type"), "application/json");
        assert_eq!(reply.headers.get_all("www-authenticate").iter().count(), 1);
        let challenge = reply.header("www-authenticate").to_owned();
        assert!(challenge.starts_with("Bearer "), "{challenge}");
        assert!(challenge.contains(r#"scope="mcp""#), "{challenge}");
        assert!(challenge.contains(&metadata), "{challenge}");
        match error {
            "" => assert!(!challenge.contains("error"), "{challenge}"),
            error => assert!(
                challenge.contains(&format!(r#"error="{error}""#)),
                "{challenge}"
            ),
        }
        let body = reply.whole();
        assert!(
            body.starts_with(r#"{"jsonrpc":"2.0","error":{"code":-32600,"#),
            "{body}"
        );
    };
    check(&[], 401, "");
    check(&["Basic YTpi"], 401, "");
    check(&["DPoP ada/mcp/60"], 401, "");
    check(&["Bearer unknown"], 401, "invalid_token");
    check(&["Bearer ada/mcp/-3600"], 401, "invalid_token");
    check(&["Bearer other/mcp/60"], 401, "invalid_token");
    check(&["Bearer ada/other/60"], 403, "insufficient_scope");
    check(&["Bearer"], 400, "invalid_request");
    check(&["Bearer a b"], 400, "invalid_request");
    check(
        &["Bearer ada/mcp/60", "Bearer ada/mcp/60"],
        400,
        "invalid_request",
    );
    let long = format!("Bearer {}", "a".repeat(20_000));
    check(&[&long], 400, "invalid_request");
}

#[test]
fn a_token_admits_its_user() {
    for scheme in ["Bearer", "bearer", "BEARER"] {
        let reply = with(&[&format!("{scheme} ada/mcp/60")]);
        reply.has_head(200, [("www-authenticate", "")]);
        has(&reply.whole(), ["ada"]);
    }
    for revision in REVISIONS {
        let client = HttpClient::signed(&service(), revision, "ada/mcp/60");
        has(&client.call("who").whole(), ["ada"]);
    }
}

/// AU-07: a handler passes no token on that it does not have.
#[test]
fn handlers_receive_no_token_unless_they_are_to() {
    let kept = server().http().protect(protection().keep_tokens());
    let kept = kept.served();
    for (service, expected) in [(service(), "none"), (kept, "Bearer ada/mcp/60")] {
        for revision in REVISIONS {
            has(
                &HttpClient::signed(&service, revision, "ada/mcp/60")
                    .call("header")
                    .whole(),
                [expected],
            );
        }
    }
}

/// AU-12.
#[test]
fn tokens_in_the_query_are_refused() {
    for (query, signs) in [
        ("access_token=ada/mcp/60", false),
        ("access_token=ada/mcp/60", true),
        ("a=b&access%5Ftoken=ada/mcp/60", true),
    ] {
        let mut request = who().to(&format!("/mcp?{query}"));
        if signs {
            request = request.signed("ada/mcp/60");
        }
        let reply = send(&service(), request);
        assert_eq!(reply.status, 400);
        assert!(reply.header("www-authenticate").contains("invalid_request"));
    }
    let request = who().to("/mcp?a=access_token").signed("ada/mcp/60");
    assert_eq!(send(&service(), request).status, 200);
}

/// AU-05: `initialize`, notifications and the methods of sessions, too.
#[test]
fn every_request_needs_a_token() {
    let service = service();
    assert_eq!(send(&service, post(&initialize("2025-11-25"))).status, 401);
    assert_eq!(send(&service, post(INITIALIZED)).status, 401);
    assert_eq!(send(&service, modern("1 server/discover")).status, 401);
    for method in [Method::GET, Method::DELETE, Method::PUT] {
        let request = get(None).with_method(method);
        assert_eq!(send(&service, request).status, 401);
    }
    let client = HttpClient::signed(&service, "2025-11-25", "ada/mcp/60");
    for token in ["unknown", "ada/mcp/-3600"] {
        let client = client.with_token(token);
        assert_eq!(client.call("who").status, 401);
        assert_eq!(client.get(None).status, 401);
        assert_eq!(client.delete().status, 401);
    }
    assert_eq!(client.call("who").status, 200);
}

/// AU-18: the failure of a verifier is not the fault of the token.
#[test]
fn a_verifier_that_fails_is_503() {
    let reply = with(&["Bearer broken/mcp/60"]);
    assert_eq!(reply.status, 503);
    assert_ne!(reply.header("retry-after"), "");
    assert_eq!(reply.header("www-authenticate"), "");
    let text = reply.whole();
    assert!(text.contains("cannot be verified at the moment"), "{text}");
    assert!(!text.contains("database"), "{text}");
}

#[test]
fn guests_are_admitted_where_that_is_allowed() {
    let protection = protection().allow_anonymous();
    let service = protected(protection);
    send(&service, who()).says(200, ["a guest"]);
    // A token that is sent must be good.
    assert_eq!(send(&service, who().signed("unknown")).status, 401);
}

/// AU-16, SH-03, SH-51.
#[test]
fn browsers_read_challenges_and_need_no_token_to_ask() {
    let service: HttpService = service();
    let from = |method: Method, origin: &'static str| {
        let request = modern("{}").with_method(method);
        send(&service, request.with("origin", origin))
    };
    let page = "http://localhost:5173";
    let preflight = from(Method::OPTIONS, page);
    preflight.has_head(204, [("access-control-allow-origin", page)]);
    let refused = from(Method::POST, page);
    refused.has_head(401, [("access-control-allow-origin", page)]);
    has(
        refused.header("access-control-expose-headers"),
        ["WWW-Authenticate"],
    );
    // Of other pages nothing is checked but that.
    let refused = from(Method::POST, "https://attacker.example");
    refused.has_head(
        403,
        [
            ("www-authenticate", ""),
            ("access-control-allow-origin", ""),
        ],
    );
}

/// An extension with one method.
fn example() -> Extension {
    let method = ExtensionMethod::new("example/sea").raw(|params, _| async move { Ok(params) });
    Extension::new("example.com/sea").with_method(method)
}

#[test]
fn mistakes_in_settings_are_found_when_the_service_is_made() {
    use mcp_async::auth::Protection;
    let check = |protection: Protection, text: &str| {
        let error = server()
            .extension(example())
            .http()
            .protect(protection)
            .into_service(Sim)
            .unwrap_err();
        has(&format!("{error:?}"), [text]);
    };
    check(
        Protection::new("http://mcp.example/mcp"),
        "the resource must be an https URL",
    );
    check(
        Protection::new("https://mcp.example/mcp"),
        "at least one authorization server",
    );
    check(protection().scopes(["two words"]), "a required scope");
    check(
        protection().method_scopes("tools/call", [""]),
        "method_scopes of tools/call",
    );
    check(protection().max_questions(0), "max_questions is zero");
    for (method, nearest) in [
        ("tool/call", "tools/call"),
        ("prompt/gets", "prompts/get"),
        ("resources/reads", "resources/read"),
        ("roots/list", "tools/list"),
        ("example/see", "example/sea"),
    ] {
        check(
            protection().method_scopes(method, ["call"]),
            &format!(
                "method_scopes of {method}: no request has this method; the nearest is {nearest}"
            ),
        );
    }
}
