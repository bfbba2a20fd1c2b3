//! What belongs to the principal of a token, and ends with the token.

use crate::protection::support::{REVISIONS, protected, protection, service};
use crate::scripted::{HttpClient, last_id};
use crate::sim::advance;
use crate::texts::has;
use core::time::Duration;

/// AU-17, SH-43: whatever another principal knows, it gets what an unknown session gets.
#[test]
fn a_session_belongs_to_the_principal_of_its_token() {
    for revision in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let ada = HttpClient::signed(&service(), revision, "ada/mcp/60");
        let last = last_id(&ada.call("slow").text());
        for stranger in ["bob/mcp/60", "bob/mcp+other/60"] {
            let bob = ada.with_token(stranger);
            let refused = bob.call("who");
            assert_eq!(refused.status, 404, "{revision}");
            assert_eq!(refused.header("www-authenticate"), "");
            assert_eq!(bob.get(None).status, 404, "{revision}");
            assert_eq!(bob.get(Some(&last)).status, 404, "{revision}");
            assert_eq!(bob.delete().status, 404, "{revision}");
        }
        // A new token of the same user continues it.
        let ada = ada.with_token("ada/mcp+more/90");
        assert!(ada.call("who").whole().contains("ada"), "{revision}");
        advance(Duration::from_secs(1));
        let text = ada.get(Some(&last)).text();
        assert!(text.contains("at last"), "{revision}: {text}");
    }
}

/// AU-17, SH-43: guests do not share the sessions of users.
#[test]
fn a_guest_does_not_continue_the_session_of_a_user() {
    let protection = protection().allow_anonymous();
    let service = protected(protection);
    let ada = HttpClient::signed(&service, "2025-11-25", "ada/mcp/60");
    assert_eq!(ada.with_token("").ask("tools/list", "").status, 404);
}

/// AU-17: what is open ends with the token, after the leeway of a minute in which it is accepted.
#[test]
fn a_stream_ends_when_its_token_expires() {
    for revision in REVISIONS {
        let ada = HttpClient::signed(&service(), revision, "ada/mcp/600");
        let mut stream = match revision {
            "2026-07-28" => {
                let filter = r#""notifications":{"toolsListChanged":true}"#;
                ada.ask("subscriptions/listen", filter)
            }
            _ => ada.get(None),
        };
        assert_eq!(stream.status, 200);
        advance(Duration::from_secs(600));
        stream.text();
        assert!(!stream.has_ended(), "{revision}");
        advance(Duration::from_secs(61));
        stream.text();
        assert!(stream.has_ended(), "{revision}");
    }
}

/// SH-18: a handler of a session outlives the stream, and its answer waits for a new token.
#[test]
fn an_answer_waits_for_the_next_token() {
    let ada = HttpClient::signed(&service(), "2025-11-25", "ada/mcp/-59");
    let mut reply = ada.call("slow");
    let last = last_id(&reply.text());
    advance(Duration::from_secs(2));
    let text = reply.text();
    assert!(reply.has_ended());
    assert!(!text.contains("at last"), "{text}");
    let again = ada.with_token("ada/mcp/60");
    has(&again.get(Some(&last)).text(), ["at last"]);
}
