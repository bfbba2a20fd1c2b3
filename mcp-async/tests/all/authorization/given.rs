//! Clients that the user enters, because the authorization server lets none register itself.

use mcp_async::ErrorChain;
use mcp_async::auth::{
    Authorization, ClientProof, CredentialStore as _, EndpointAuth, MemoryCredentialStore,
    PreRegistered,
};
use mcp_auth::IdentitySource;
use mcp_proto::Revision;

use super::party::{ISSUER, Parties, SERVER};
use crate::sim::play;
use crate::texts::has;

fn parties(revision: Revision) -> Parties {
    Parties::new(revision).with(|state| {
        state.registers = false;
        state.given = Some(PreRegistered {
            issuer: None,
            client_id: "client-1".into(),
            proof: ClientProof::Secret("client-secret-1".into()),
        });
    })
}

fn authorization(parties: &Parties) -> Authorization {
    parties.authorization().endpoint_auth(EndpointAuth::Post)
}

/// Runs a client, and compares how often the user saw a page and was asked for a client.
fn check<C>(parties: &Parties, client: impl FnOnce(Parties) -> C, expected: (usize, usize))
where
    C: Future<Output = ()>,
{
    play(client(parties.clone()));
    assert_eq!((parties.pages(), parties.state().questions), expected);
}

/// AU-40, AU-45: the record of the issuer has the client, also for logins of later runs.
#[test]
fn a_client_is_asked_for_once() {
    let parties = parties(Revision::V2026_07_28).with(|state| state.issues_refresh = false);
    check(
        &parties,
        |parties| async move {
            let store = MemoryCredentialStore::new();
            let authorization = authorization(&parties).store(store.clone());
            for _ in 0..3 {
                let client = parties.connect(authorization.clone()).await.unwrap();
                client.tools().page(None).await.unwrap();
                parties.revoke();
            }
            let record = store.load(SERVER).await.unwrap().unwrap();
            assert_eq!(record.issuer, ISSUER);
            assert_eq!(record.identity.source, IdentitySource::Given);
            assert_eq!(record.identity.client_id, "client-1");
        },
        (3, 1),
    );
}

/// AU-118
#[test]
fn a_client_that_is_refused_is_asked_for_again() {
    let parties = parties(Revision::V2026_07_28);
    check(
        &parties,
        |parties| async move {
            let client = parties.connect(authorization(&parties));
            let client = client.await.unwrap();
            parties.revoke();
            parties.state().refuses_client_once = true;
            client.tools().page(None).await.unwrap();
        },
        (2, 2),
    );
}

/// AU-118: the secret was replaced, and no refresh comes before the login.
#[test]
fn a_client_that_is_refused_at_a_login_is_asked_for_again() {
    let parties = parties(Revision::V2026_07_28).with(|state| state.issues_refresh = false);
    check(
        &parties,
        |parties| async move {
            let store = MemoryCredentialStore::new();
            let authorization = authorization(&parties).store(store.clone());
            let client = parties.connect(authorization).await.unwrap();
            parties.revoke();
            let refusal = r#"{"error":"invalid_client"}"#.into();
            let answer = (401, "content-type", "application/json".into(), refusal);
            let url = format!("{ISSUER}/token");
            parties.state().replaced.insert(url, answer);
            let error = client.tools().page(None).await.unwrap_err();
            has(&ErrorChain(&error).to_string(), ["invalid_client"]);
            assert!(store.load(SERVER).await.unwrap().is_none());
            parties.state().replaced.clear();
            client.tools().page(None).await.unwrap();
        },
        (3, 2),
    );
}

/// AU-60: a server does not make a client ask without end.
#[test]
fn a_user_without_a_client_learns_what_to_do() {
    let parties = parties(Revision::V2025_06_18).with(|state| {
        state.given = None;
        state.is_opening_free = true;
    });
    check(
        &parties,
        |parties| async move {
            let client = parties.connect(authorization(&parties));
            let client = client.await.unwrap();
            for _ in 0..5 {
                let error = client.tools().page(None).await.unwrap_err();
                let text = ErrorChain(&error).to_string();
                let advice = "register this client with the authorization server and configure its client id";
                has(&text, [advice, ISSUER]);
            }
        },
        (0, 3),
    );
}

/// Grants without a user ask for nothing.
#[test]
fn a_grant_without_a_user_asks_for_no_client() {
    let parties = parties(Revision::V2026_07_28);
    check(
        &parties,
        |parties| async move {
            let authorization = authorization(&parties)
                .configure(|config| config.grant = mcp_auth::Grant::ClientCredentials);
            let error = parties.connect(authorization).await.unwrap_err();
            has(&ErrorChain(&error).to_string(), ["configure its client id"]);
        },
        (0, 0),
    );
}
