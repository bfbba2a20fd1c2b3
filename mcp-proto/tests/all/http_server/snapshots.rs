//! A session that another process carries on.

use mcp_proto::http::Post;
use mcp_proto::model::{ClientFeatures, LoggingLevel};
use mcp_proto::server::{ListKind, SessionSnapshot};
use mcp_proto::{Channel, Machine, Revision, SendError};

use crate::http_server::site::*;

const HEAD: [&str; 1] = ["mcp-session-id: s0"];

#[test]
fn what_was_agreed_on_is_kept() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let site = &mut Site::open(config(), version, r#"{"roots":{"listChanged":true}}"#);
        site.check(
            &HEAD,
            &request("1", "logging/setLevel", r#""level":"alert""#),
            "200 result",
        )
        .check(
            &HEAD,
            &request("2", "resources/subscribe", r#""uri":"a:b""#),
            "200 result",
        );
        let talk = site.session(0);
        talk.ask(None).unwrap();
        let snapshot = talk.server.snapshot().unwrap();
        let text = serde_json::to_string(&snapshot).unwrap();
        let read: SessionSnapshot = serde_json::from_str(&text).unwrap();
        assert_eq!(read, snapshot, "{text}");
        assert_eq!(snapshot.revision.as_str(), version);
        assert_eq!(snapshot.log_level, Some(LoggingLevel::Alert));
        assert!(
            snapshot.ready
                && snapshot
                    .features
                    .contains(ClientFeatures::ROOTS_LIST_CHANGED)
        );

        let mut other = Talk::resume(config(), &read);
        for uri in talk.server.subscriptions() {
            assert!(other.server.subscribe(uri));
        }
        assert_eq!(other.server.snapshot(), Some(snapshot));
        assert!(other.server.subscriptions().eq(["a:b"]));
        // Too little for its level; and the ids go on.
        other.log(None).ask(None).unwrap();
        other.server.resource_updated("a:b");
        other.server.list_changed(ListKind::Tools);
        other.drain();
        assert!(
            other.sent[0].text.contains(r#""id":2,"#),
            "{}",
            other.sent[0].text
        );
        other.says(&[
            "0: roots/list",
            "0: notifications/tools/list_changed",
            "0: notifications/resources/updated",
        ]);
    }
}

#[test]
fn a_client_that_is_not_ready_is_left_in_peace() {
    let site = &mut Site::new();
    assert_eq!(
        site.post(&[], &initialize("2025-11-25", "{}")),
        "200 result"
    );
    let snapshot = site.session(0).server.snapshot().unwrap();
    assert!(!snapshot.ready);
    let mut other = Talk::resume(config(), &snapshot);
    other.server.list_changed(ListKind::Tools);
    other.drain().says(&[]);
    assert_eq!(other.ask(None), Err(SendError::NotReady));
}

#[test]
fn nothing_is_known_without_a_handshake() {
    let site = &mut Site::new();
    site.post(&[], "{}");
    assert_eq!(site.alone.as_ref().unwrap().server.snapshot(), None);
    let snapshot = SessionSnapshot::stateless(Revision::V2025_06_18);
    let talk = Talk::resume(config(), &snapshot);
    assert_eq!(talk.server.revision(), Some(Revision::V2025_06_18));
    assert!(talk.server.client_features().is_empty());
    assert!(talk.server.next_channel().is_none());
}

#[test]
fn records_that_are_none() {
    for text in [
        "{}",
        r#"{"revision":"2026-07-28","features":0,"log_level":null,"ready":true,"next_id":1}"#,
        r#"{"revision":"2025-06-19","features":0,"log_level":null,"ready":true,"next_id":1}"#,
        r#"{"revision":"2025-06-18","features":-1,"log_level":null,"ready":true,"next_id":1}"#,
        r#"{"revision":"2025-06-18","features":0,"log_level":"loud","ready":true,"next_id":1}"#,
    ] {
        assert!(
            serde_json::from_str::<SessionSnapshot>(text).is_err(),
            "{text}"
        );
    }
    // What a later version wrote that this one does not know is left out.
    let text =
        r#"{"revision":"2025-06-18","features":65535,"log_level":null,"ready":true,"next_id":0}"#;
    let snapshot: SessionSnapshot = serde_json::from_str(text).unwrap();
    assert!(snapshot.features.contains(ClientFeatures::TASKS_EXTENSION));
    let mut talk = Talk::resume(config(), &snapshot);
    talk.ask(None).unwrap();
    assert!(talk.sent[0].text.contains(r#""id":1,"#));
}

/// What is lent to a machine can be made without an endpoint.
#[test]
fn heads_are_plain_values() {
    let post = Post {
        version: mcp_proto::http::Version::Absent,
        session: None,
        method: None,
        name: None,
    };
    let source = mcp_proto::Source::post(Channel::new(1), &post);
    assert_eq!(source.head(), Some(&post));
}
