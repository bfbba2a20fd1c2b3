//! No secret is shown.

use mcp_async::auth::{Protection, StaticKeys};
use mcp_async::http::HttpService;

use crate::connection::spans::Notes;
use crate::protection::signer::{Claims, Signer};
use crate::protection::support::{ISSUER, RESOURCE, REVISIONS, protected, protection, server};
use crate::scripted::{HttpClient, RequestExt, Serve, modern, plain_call, send};

/// What a service answers to requests with these tokens, and how it shows itself.
fn shown(service: &HttpService, tokens: &[&str]) -> String {
    let mut shown = format!("{service:?}");
    for token in tokens {
        for tool in ["who", "unknown"] {
            let reply = send(service, modern(&plain_call(1, tool)).signed(token));
            shown += &format!("{:?}", reply.headers);
            shown += &reply.whole();
        }
    }
    shown
}

/// AU-90: everything that is written about settings, services, requests and failures is searched for
/// the tokens.
#[test]
fn responses_logs_and_debug_output_show_no_token() {
    let notes = Notes::default();
    let shown = notes.watch(|| {
        let protection = protection();
        let mut all = format!("{protection:?}");
        let http = server().http().protect(protection);
        all += &format!("{http:?}");
        let service = http.served();
        let tokens = [
            "s3cret",
            "s3cret/mcp/-3600",
            "s3cret/other/60",
            "broken/s3cret/60",
            "ada/mcp+s3cret/60",
        ];
        all += &shown(&service, &tokens);
        for revision in REVISIONS {
            let client = HttpClient::signed(&service, revision, "ada/mcp+s3cret/60");
            all += &client.call("who").text();
        }

        let issuer = Signer::ed25519(1);
        let good = issuer.token("s3cret", &Claims::default());
        let forged = Signer::ed25519(2).token("s3cret", &Claims::default());
        for keys in [issuer.key_set("s3cret"), "{}".into()] {
            let keys = StaticKeys::new(keys);
            all += &format!("{keys:?}");
            let protection = Protection::new(RESOURCE).issuer_with_keys(ISSUER, keys);
            let service = protected(protection);
            let all_of_them = shown(&service, &[&good, &forged]);
            for token in [&good, &forged] {
                for part in token.split('.') {
                    assert!(!all_of_them.contains(part), "{all_of_them}");
                }
            }
            all += &all_of_them;
        }
        all
    });
    let logged = notes.take().join("\n");
    // The failures were logged.
    assert!(logged.contains("could not be verified"), "{logged}");
    assert!(logged.contains("the database of t0ken is down"), "{logged}");
    assert!(logged.contains("the access token has expired"), "{logged}");
    for text in [&shown, &logged] {
        assert!(!text.contains("s3cret"), "{text}");
    }
}

/// AU-18: authorization servers that issue such tokens are common.
#[test]
fn the_log_names_the_setting_that_accepts_untyped_tokens() {
    let issuer = Signer::ed25519(1);
    let refused = |header: &str| {
        let notes = Notes::default();
        notes.watch(|| {
            let keys = StaticKeys::new(issuer.key_set("1"));
            let protection = Protection::new(RESOURCE).issuer_with_keys(ISSUER, keys);
            let service = protected(protection);
            let token = issuer.sign(header, "{}");
            let reply = send(&service, modern("1 tools/list").signed(&token));
            assert_eq!(reply.status, 401);
            assert!(!reply.whole().contains("accept_untyped_tokens"));
        });
        notes.take().join("\n").contains("`accept_untyped_tokens`")
    };
    assert!(refused(r#"{"alg":"EdDSA","kid":"1","typ":"JWT"}"#));
    assert!(refused(r#"{"alg":"EdDSA","kid":"1"}"#));
    assert!(!refused(r#"{"alg":"EdDSA","kid":"1","typ":"id+jwt"}"#));
}
