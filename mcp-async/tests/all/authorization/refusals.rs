//! Refusals: storms of them, endless ones, and those of other parties.

use core::pin::Pin;

use mcp_async::auth::AuthorizationError;
use mcp_async::client::{CallError, ConnectError};
use mcp_async::{Client, ErrorChain};
use mcp_proto::Revision;

use super::party::{ISSUER, Parties};
use crate::sim::{join_all, play};
use crate::texts::has;

const MODERN: Revision = Revision::V2026_07_28;

type Call<'c> = Pin<Box<dyn Future<Output = Result<(), CallError>> + 'c>>;

fn tools(client: &Client) -> Call<'_> {
    Box::pin(async { client.tools().page(None).await.map(drop) })
}

async fn call_eight_times(client: &Client) -> Vec<Result<(), CallError>> {
    join_all((0..8).map(|_| tools(client)).collect()).await
}

/// AU-116, AU-67
#[test]
fn a_storm_of_refusals_meets_one_refresh() {
    let parties = Parties::new(MODERN);
    play(async {
        let client = parties.connected().await;
        parties.revoke();
        let results = call_eight_times(&client).await;
        assert!(results.iter().all(Result::is_ok), "{results:?}");
    });
    assert_eq!((parties.pages(), parties.count("/token")), (1, 2));
}

#[test]
fn a_storm_without_refresh_tokens_meets_one_consent() {
    let parties = Parties::new(MODERN).with(|state| state.issues_refresh = false);
    play(async {
        let client = parties.connected().await;
        parties.revoke();
        let results = call_eight_times(&client).await;
        assert!(results.iter().all(Result::is_ok), "{results:?}");
    });
    assert_eq!((parties.pages(), parties.count("/token")), (2, 2));
}

/// AU-120
#[test]
fn endless_refusals_end_with_an_error() {
    let parties = Parties::new(MODERN).with(|state| state.refuses_all = true);
    play(async {
        let client = parties.connect(parties.authorization());
        let error = client.await.unwrap_err();
        let ConnectError::Authorization(error) = error else {
            panic!("{error:?}");
        };
        let AuthorizationError::Flow(error) = &*error else {
            panic!("{error:?}");
        };
        assert_eq!(error.url, super::party::SERVER);
        let said = "the new token was refused with status 401";
        assert!(error.to_string().contains(said), "{error}");
    });
    assert_eq!(parties.pages(), 1);
}

/// AU-60
#[test]
fn endless_demands_for_scopes_end_with_an_error() {
    let parties = Parties::new(MODERN);
    play(async {
        let client = parties.connected().await;
        // Whatever is granted, another one is needed.
        parties
            .state()
            .needs
            .insert("tools/list".into(), "no such".into());
        let error = client.tools().page(None).await.unwrap_err();
        assert!(matches!(error, CallError::Authorization(_)), "{error:?}");
        // The connection is as good as before.
        parties.state().needs.clear();
        client.tools().page(None).await.unwrap();
    });
    assert_eq!(parties.pages(), 2);
}

/// AU-60: a call that waits for the authorization of another one asks for its own scopes after it.
#[test]
fn calls_at_once_that_need_different_scopes() {
    let parties = Parties::new(MODERN);
    play(async {
        let client = parties.connected().await;
        let needs = ["tools/list", "prompts/list", "tools/call"];
        parties.state().needs = needs.map(|it| (it.into(), it.into())).into();
        let calls: Vec<Call<'_>> = vec![
            tools(&client),
            Box::pin(async { client.prompts().page(None).await.map(drop) }),
            Box::pin(async { client.call_tool("echo", &()).await.map(drop) }),
        ];
        let results = join_all(calls).await;
        assert!(results.iter().all(Result::is_ok), "{results:?}");
    });
    assert_eq!(parties.pages(), 1 + 3);
}

/// AU-60: scopes that are not granted are asked for once, also by calls at once.
#[test]
fn scopes_that_are_not_granted_are_asked_for_once() {
    for count in [1, 8] {
        let parties = Parties::new(MODERN).with(|state| state.granted = Some("other"));
        play(async {
            let client = parties.connected().await;
            parties.state().needs = [("tools/list".into(), "mcp:read".into())].into();
            let calls = (0..count).map(|_| tools(&client)).collect();
            for result in join_all(calls).await {
                let error = result.unwrap_err();
                assert!(matches!(error, CallError::Authorization(_)), "{error:?}");
            }
        });
        assert_eq!(parties.pages(), 2, "{count}");
    }
}

/// AU-67
#[test]
fn a_refused_refresh_leads_to_a_consent() {
    let parties = Parties::new(MODERN);
    play(async {
        let client = parties.connected().await;
        parties.revoke();
        parties.state().forget_refresh();
        client.tools().page(None).await.unwrap();
    });
    assert_eq!((parties.pages(), parties.count("/token")), (2, 3));
    assert_eq!(parties.count("/register"), 1);
}

/// AU-118: an outage of the authorization server removes nothing and asks no user.
#[test]
fn a_failed_refresh_keeps_the_tokens() {
    for (status, error) in [
        (400, "invalid_dpop_proof"),
        (400, "slow_down"),
        (500, "server_error"),
        (503, "temporarily_unavailable"),
        (429, ""),
        (403, ""),
    ] {
        let parties = Parties::new(MODERN);
        play(async {
            let client = parties.connected().await;
            parties.revoke();
            let body = match error {
                "" => "<html>".into(),
                _ => format!(r#"{{"error":"{error}"}}"#),
            };
            let answer = (status, "content-type", "application/json".into(), body);
            let token = format!("{ISSUER}/token");
            parties.state().replaced.insert(token.clone(), answer);
            let failed = client.tools().page(None).await.unwrap_err();
            assert!(matches!(failed, CallError::Authorization(_)), "{failed:?}");
            parties.state().replaced.remove(&token);
            client.tools().page(None).await.unwrap();
        });
        // The refresh token was used when the outage was over.
        assert_eq!(
            (parties.pages(), parties.count("/register")),
            (1, 1),
            "{error}"
        );
    }
}

/// A registration that the authorization server does not know any more is made anew.
#[test]
fn a_registration_that_is_refused_is_replaced() {
    let parties = Parties::new(MODERN);
    play(async {
        let client = parties.connected().await;
        parties.revoke();
        parties.state().refuses_client_once = true;
        client.tools().page(None).await.unwrap();
    });
    assert_eq!((parties.pages(), parties.count("/register")), (2, 2));
}

/// AU-60: a server that repeats its demand in each request does not open pages without an end.
#[test]
fn demands_of_many_requests_open_few_pages() {
    let parties = Parties::new(MODERN);
    play(async {
        let client = parties.connected().await;
        parties
            .state()
            .needs
            .insert("tools/list".into(), "no such".into());
        for _ in 0..4 {
            let error = client.tools().page(None).await.unwrap_err();
            assert!(matches!(error, CallError::Authorization(_)), "{error:?}");
        }
        let error = client.tools().page(None).await.unwrap_err();
        has(&ErrorChain(&error).to_string(), ["too often"]);
        // Another consent is possible.
        let needs = [("tools/call".into(), "mcp:write".into())];
        parties.state().needs = needs.into();
        client.call_tool("echo", &()).await.unwrap();
    });
    assert_eq!(parties.pages(), 1 + 3 + 1);
}

/// AU-59: the scopes of one demand are not asked for in a later login.
#[test]
fn an_earlier_demand_names_the_place_of_the_metadata_only() {
    let parties = Parties::new(MODERN).with(|state| state.issues_refresh = false);
    play(async {
        let client = parties.connected().await;
        parties
            .state()
            .needs
            .insert("tools/call".into(), "mcp:write".into());
        client.call_tool("echo", &()).await.unwrap();
        parties.revoke();
        parties.state().names_nothing = true;
        client.tools().page(None).await.unwrap();
    });
    let asked = parties.state().asked_scopes.clone();
    assert_eq!(asked, ["", "mcp:write", ""]);
}

/// A status 403 for another reason is not about credentials.
#[test]
fn other_refusals_are_handed_on() {
    let parties = Parties::new(MODERN);
    play(async {
        let client = parties.connected().await;
        let page = (403, "", String::new(), String::new());
        parties
            .state()
            .replaced
            .insert(super::party::SERVER.into(), page);
        let error = client.tools().page(None).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            CallError::Failed(mcp_proto::client::Failure::Status(403)).to_string()
        );
        assert_eq!(parties.pages(), 1);
    });
}

#[test]
fn errors_name_the_document_and_its_url() {
    let check_error = |url: &str, (status, body): (u16, &str), expected: &[&str]| {
        let parties = Parties::new(MODERN).with(|state| {
            let answer = (
                status,
                "content-type",
                "application/json".into(),
                body.into(),
            );
            state.replaced.insert(url.into(), answer);
        });
        let expected: Vec<String> = expected.iter().map(|&part| part.to_owned()).collect();
        play(async {
            let client = parties.connect(parties.authorization());
            let error = client.await.unwrap_err();
            let text = ErrorChain(&error).to_string();
            for part in expected {
                assert!(text.contains(&part), "{text}");
            }
        });
    };
    let token = format!("{ISSUER}/token");
    check_error(
        &token,
        (200, "[]"),
        &["token response", &token, "expected a JSON object"],
    );
    check_error(
        &token,
        (400, r#"{"error":"invalid_grant"}"#),
        &[&token, "invalid_grant"],
    );
    let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(2 << 20));
    check_error(&token, (200, &long), &["longer than 1048576 bytes"]);
    let registration = format!("{ISSUER}/register");
    check_error(
        &registration,
        (200, "<html>"),
        &["client registration", &registration],
    );
    let metadata = format!("{ISSUER}/.well-known/oauth-authorization-server");
    let other = r#"{"issuer":"https://evil.example"}"#;
    check_error(
        &metadata,
        (200, other),
        &[&metadata, "https://evil.example"],
    );
}

/// A stream that the server refuses whatever the token is asks no user, and is not asked for without
/// an end.
#[test]
fn a_stream_that_is_always_refused_ends_nothing() {
    let parties = Parties::new(Revision::V2025_06_18).with(|state| state.refuses_streams = true);
    play(async {
        let client = parties.connected().await;
        for _ in 0..3 {
            client.tools().page(None).await.unwrap();
            crate::sim::sleep(core::time::Duration::from_secs(60)).await;
        }
    });
    assert_eq!((parties.pages(), parties.count("/token")), (1, 2));
    assert_eq!(parties.count("GET https://mcp.example/mcp "), 2);
}

#[test]
fn a_user_who_declines_ends_the_call() {
    let parties = Parties::new(MODERN).with(|state| state.declines = true);
    play(async {
        let client = parties.connect(parties.authorization());
        has(
            &ErrorChain(&client.await.unwrap_err()).to_string(),
            ["the user closed the window"],
        );
        assert_eq!(parties.pages(), 1);
    });
}

/// AU-119
#[test]
fn a_client_that_may_not_ask_sends_no_user_anywhere() {
    let parties = Parties::new(MODERN);
    play(async {
        let authorization = parties.authorization().non_interactive();
        let client = parties.connect(authorization).await;
        let text = ErrorChain(&client.unwrap_err()).to_string();
        let said = format!("a user must log in at {ISSUER}");
        assert!(text.contains(&said), "{text}");
        assert!(!text.contains("metadata"), "{text}");
        assert_eq!(parties.pages(), 0);
    });
}
