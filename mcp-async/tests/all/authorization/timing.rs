//! Time: users who think, calls that are dropped, streams that stay open.

use core::time::Duration;

use mcp_async::auth::AuthorizationError;
use mcp_async::client::{CallError, ConnectError};
use mcp_async::runtime::Runtime as _;
use mcp_proto::Revision;

use super::party::Parties;
use crate::sim::{Sim, play, sleep};

const MODERN: Revision = Revision::V2026_07_28;

/// AU-33, VR-26: neither the era nor the connection is given up while the user logs in.
#[test]
fn the_time_of_the_user_is_not_that_of_the_server() {
    for revision in [MODERN, Revision::V2025_06_18] {
        let parties = Parties::new(revision).with(|state| state.thinks = 240);
        play(async {
            let client = parties.connected().await;
            client.tools().page(None).await.unwrap();
            parties
                .state()
                .needs
                .insert("tools/call".into(), "more".into());
            let call = client
                .call_tool("echo", &())
                .timeout(Duration::from_secs(5));
            call.await.unwrap();
        });
        assert_eq!(parties.pages(), 2);
    }
}

#[test]
fn a_user_who_does_nothing_ends_the_authorization() {
    let parties = Parties::new(MODERN).with(|state| state.thinks = 3600);
    play(async {
        let limit = Duration::from_secs(60);
        let client = parties.connect(parties.authorization().timeout(limit));
        let error = client.await.unwrap_err();
        let ConnectError::Authorization(error) = error else {
            panic!("{error:?}");
        };
        assert!(matches!(*error, AuthorizationError::Timeout), "{error:?}");
        assert!((59_000..=62_000).contains(&Sim.now().as_millis()));
    });
}

/// AU-116: the response of a refresh whose call was dropped is not lost.
#[test]
fn a_dropped_call_does_not_end_the_authorization() {
    let parties = Parties::new(MODERN).with(|state| state.issues_refresh = false);
    play(async {
        let client = parties.connected().await;
        parties.revoke();
        parties.state().thinks = 30;
        let limit = Duration::from_secs(10);
        let call = client.tools().page(None).max_duration(limit).await;
        assert!(matches!(call.unwrap_err(), CallError::Timeout));
        sleep(Duration::from_secs(30)).await;
        client.tools().page(None).await.unwrap();
    });
    assert_eq!(parties.pages(), 2);
}

/// AU-117: a call does not wait for the stream of a session, which stays open.
#[test]
fn calls_are_refreshed_while_a_stream_is_open() {
    let parties = Parties::new(Revision::V2025_06_18).with(|state| state.holds_streams = true);
    play(async {
        let client = parties.connected().await;
        client.tools().page(None).await.unwrap();
        parties.revoke();
        let began = Sim.now();
        client.tools().page(None).await.unwrap();
        assert_eq!(Sim.now(), began);
    });
    assert_eq!((parties.pages(), parties.count("/token")), (1, 2));
}

#[test]
fn a_client_that_is_dropped_ends_its_authorization() {
    let parties = Parties::new(MODERN).with(|state| state.issues_refresh = false);
    play(async {
        let client = parties.connected().await;
        parties.revoke();
        parties.state().thinks = 200;
        let limit = Duration::from_secs(10);
        let call = client.tools().page(None).max_duration(limit).await;
        assert!(matches!(call.unwrap_err(), CallError::Timeout));
        drop(client);
        sleep(Duration::from_secs(1)).await;
        assert_eq!(crate::sim::settle(), 0);
    });
}
