//! Whole flows, in the manner of each revision.

use mcp_async::ErrorChain;
use mcp_async::auth::{Authorization, ClientProof, SigningKey};
use mcp_auth::Grant;
use mcp_proto::Revision;

use super::party::{ISSUER, Manner, Parties};
use crate::sim::play;
use crate::texts::has;

fn logs_in(revision: Revision, manner: Manner) {
    let parties = Parties::new(revision).with(|state| state.manner = manner);
    play(async {
        let client = parties.connected().await;
        client.tools().page(None).await.unwrap();
        client.call_tool("echo", &()).await.unwrap();
    });
    assert_eq!(parties.pages(), 1);
    assert_eq!(parties.count("/register"), 1);
    assert_eq!(parties.count("/token"), 1);
    // The request that was refused, and no other, had no token.
    let log = parties.state().log.join("\n");
    assert_eq!(
        log.matches(" https://mcp.example/mcp ").count() - log.matches("with token").count(),
        1,
        "{log}"
    );
}

#[test]
fn au_22_a_user_logs_in_in_the_manner_of_2026_07_28() {
    logs_in(Revision::V2026_07_28, Manner::Resource);
}

#[test]
fn a_user_logs_in_in_the_manner_of_2025_06_18() {
    logs_in(Revision::V2025_06_18, Manner::Resource);
}

#[test]
fn au_27_a_user_logs_in_in_the_manner_of_2025_03_26() {
    logs_in(Revision::V2025_03_26, Manner::Root);
    logs_in(Revision::V2025_03_26, Manner::Default);
}

/// AU-26, AU-37
#[test]
fn an_issuer_that_differs_by_its_last_slash_is_a_warning() {
    let notes = crate::connection::spans::Notes::default();
    for (names_with_slash, warns) in [(true, true), (false, false)] {
        let parties = Parties::new(Revision::V2026_07_28)
            .with(|state| state.names_with_slash = names_with_slash);
        notes.watch(|| {
            play(async {
                let client = parties.connect(parties.authorization());
                client.await.unwrap().tools().page(None).await.unwrap();
            });
        });
        let seen = notes.take().join("\n");
        let text = format!("the server names the issuer \"{ISSUER}/\"");
        let is_warned = seen.contains("WARN") && seen.contains(&text);
        assert_eq!(is_warned, warns, "{seen}");
    }
}

/// AU-60, AU-61
#[test]
fn lacking_scopes_lead_to_one_more_consent() {
    let parties = Parties::new(Revision::V2026_07_28).with(|state| {
        state.needs.insert("tools/call".into(), "mcp:write".into());
    });
    play(async {
        let client = parties.connected().await;
        client.call_tool("echo", &()).await.unwrap();
        client.call_tool("echo", &()).await.unwrap();
    });
    assert_eq!(parties.pages(), 2);
    // The registration is used again.
    assert_eq!(parties.count("/register"), 1);
    assert_eq!(parties.count("tools/call"), 3);
}

/// AU-97, AU-98
#[test]
fn bound_tokens_come_with_fresh_proofs_and_nonces() {
    let parties = Parties::new(Revision::V2026_07_28).with(|state| {
        state.binds = true;
        state.nonce = Some("nonce-1".into());
    });
    play(async {
        let key = SigningKey::generate().unwrap();
        let client = parties.connect(parties.authorization().require_dpop(key));
        let client = client.await.unwrap();
        client.call_tool("echo", &()).await.unwrap();
        parties.state().nonce = Some("nonce-2".into());
        client.call_tool("echo", &()).await.unwrap();
        client.call_tool("echo", &()).await.unwrap();
    });
    assert_eq!(parties.pages(), 1);
    // Each nonce is demanded once.
    assert_eq!(parties.state().proofs.len(), 2 + 1 + 2 + 1);
}

/// AU-80
#[test]
fn a_client_without_a_user_logs_in_with_a_secret() {
    let parties = Parties::new(Revision::V2026_07_28);
    play(async {
        let authorization =
            Authorization::client_secret("machine", "machine-secret").issuer(ISSUER);
        let client = parties.connect(authorization).await.unwrap();
        client.tools().page(None).await.unwrap();
    });
    assert_eq!((parties.pages(), parties.count("/register")), (0, 0));
    assert_eq!(parties.count("/token"), 1);
}

/// AU-36: the order of the settings does not matter.
#[test]
fn a_secret_goes_to_the_configured_issuer_only() {
    let secret = || ClientProof::Secret("machine-secret".into());
    for is_first in [true, false] {
        let parties = Parties::new(Revision::V2026_07_28);
        play(async {
            let other = "https://other.example";
            let authorization = Authorization::new();
            let authorization = match is_first {
                true => authorization.issuer(other).registered("machine", secret()),
                false => authorization.registered("machine", secret()).issuer(other),
            };
            let authorization =
                authorization.configure(|config| config.grant = Grant::ClientCredentials);
            let error = parties.connect(authorization).await.unwrap_err();
            has(&ErrorChain(&error).to_string(), [other]);
        });
        assert_eq!(parties.count("/token"), 0);
    }
}

/// A session has a stream of the server's own.
#[test]
fn the_stream_of_a_session_leads_to_an_authorization_as_well() {
    let parties = Parties::new(Revision::V2025_06_18).with(|state| state.is_opening_free = true);
    play(async {
        let client = parties.connected().await;
        client.tools().page(None).await.unwrap();
    });
    assert_eq!(parties.pages(), 1);
    assert_eq!(parties.count("GET https://mcp.example/mcp "), 2);
}
