//! What a transport of single exchanges tells: calls that fail in it, sessions that are lost.

use mcp_proto::client::{Client, ClientConfig, Fixed};
use mcp_proto::{Instant, Machine, PingPolicy, Revision, RevisionSet};

use crate::client::connect::{accepting, filled};
use crate::script::client as script;

#[track_caller]
fn check(revisions: RevisionSet, script: &str) {
    script::check(accepting(revisions), &filled(script));
}

#[track_caller]
fn dual(script: &str) {
    check(RevisionSet::all(), script);
}

/// In a session of 2025-11-25; ids go on from 2.
#[track_caller]
fn session(script: &str) {
    let config = accepting(RevisionSet::legacy());
    script::check_opened(config, Revision::V2025_11_25, &filled(script));
}

/// A handshake with the parameters that are offered after a session was lost.
const AGAIN: &str =
    r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}"#;

#[track_caller]
fn lost(script: &str) {
    session(&script.replace("AGAIN", AGAIN));
}

/// VR-31.
#[test]
fn silence_says_nothing_of_an_era() {
    dual(
        r#"http
        > discover 1
        + 59000
        + 1000
        = the server did not answer in time
        = closed NotConnected"#,
    );
}

/// VR-16, VR-23.
#[test]
fn a_refused_probe_leads_to_the_handshake() {
    for status in [400, 404, 405, 406] {
        dual(&format!(
            r#"http
            > discover 1
            refuse 1 {status}
            > initialize 2
            < session 2
            = connected 2025-11-25 "s"
            > initialized"#
        ));
    }
}

#[test]
fn a_refused_handshake_is_the_end() {
    let end = "refuse 2 404
        = the server answered with status 404
        = closed NotConnected";
    dual(&format!(
        "http\n> discover 1\nrefuse 1 404\n> initialize 2\n{end}"
    ));
    check(
        RevisionSet::legacy(),
        &format!("http\n> initialize 1\n{}", end.replace("2 404", "1 404")),
    );
    // There is no way down for a client of the modern era.
    check(
        RevisionSet::modern(),
        &format!("http\n> discover 1\n{}", end.replace("2 404", "1 404")),
    );
}

/// VR-31.
#[test]
fn a_server_that_cannot_be_reached_is_of_no_era() {
    dual(
        "http
        > discover 1
        fail 7 unreachable
        fail 1 unreachable
        = the server could not be reached
        = closed NotConnected",
    );
}

/// XH-26.
#[test]
fn a_call_fails_alone() {
    session(
        r#"call 1 x/a
        > {"jsonrpc":"2.0","id":2,"method":"x/a"}
        call 2 x/b
        > {"jsonrpc":"2.0","id":3,"method":"x/b"}
        fail 2 unreachable
        = failed 1 Unreachable
        fail 2 unreachable
        refuse 2 500
        < {"jsonrpc":"2.0","id":2,"result":{}}
        ~ LateResponse
        refuse 3 431
        = failed 2 Status(431)
        + 60000"#,
    );
}

/// SC-14, SC-21.
#[test]
fn what_broke_off_is_cancelled_in_a_session_and_lost_without_one() {
    session(
        r#"call 1 x/a
        > {"jsonrpc":"2.0","id":2,"method":"x/a"}
        fail 2 broken
        > {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}
        = failed 1 Broken"#,
    );
    check(
        RevisionSet::modern(),
        r#"http
        > discover 1
        < discovered 1
        = connected 2026-07-28 "s"
        call 1 x/a {}
        > {"jsonrpc":"2.0","id":2,"method":"x/a","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}}}
        fail 2 broken
        = failed 1 Broken
        lose"#,
    );
}

/// SC-10.
#[test]
fn a_lost_session_is_opened_again_with_what_was_in_flight() {
    lost(
        r#"call 1 x/a {"n":1}
        > {"jsonrpc":"2.0","id":2,"method":"x/a","params":{"n":1}}
        call 2 x/b
        > {"jsonrpc":"2.0","id":3,"method":"x/b"}
        cancel 2
        > {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}
        lose
        > {"jsonrpc":"2.0","id":4,"method":"initialize","params":AGAIN}
        lose
        retry 1
        ! NotReady
        < {"jsonrpc":"2.0","id":2,"result":{}}
        ~ LateResponse
        < {"jsonrpc":"2.0","id":4,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}
        = connected 2025-11-25
        > initialized
        = again 1
        retry 1
        > {"jsonrpc":"2.0","id":5,"method":"x/a","params":{"n":1}}
        < {"jsonrpc":"2.0","id":2,"result":{}}
        ~ LateResponse
        lose
        > {"jsonrpc":"2.0","id":6,"method":"initialize","params":AGAIN}
        = failed 1 Session"#,
    );
}

#[test]
fn questions_end_with_their_session() {
    let roots = mcp_proto::model::ClientFeatures::ROOTS.capabilities();
    let config = ClientConfig {
        capabilities: roots,
        ..accepting(RevisionSet::legacy())
    };
    script::check_opened(
        config,
        Revision::V2025_11_25,
        r#"< {"jsonrpc":"2.0","id":"q","method":"roots/list"}
        = asked roots/list {}
        lose
        > {"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{"roots":{}},"clientInfo":{"name":"t","version":"1"}}}
        = unasked
        respond {"roots":[]}
        ! NotReady"#,
    );
}

#[test]
fn a_session_that_cannot_be_opened_again_ends_everything() {
    lost(
        r#"call 1 x/a
        > {"jsonrpc":"2.0","id":2,"method":"x/a"}
        lose
        > {"jsonrpc":"2.0","id":3,"method":"initialize","params":AGAIN}
        refuse 3 503
        = the server answered with status 503
        = failed 1 Closed
        = closed NotConnected"#,
    );
}

#[test]
fn what_has_failed_already_tells_nobody_in_the_new_session() {
    lost(
        r#"call 1 x/a
        > {"jsonrpc":"2.0","id":2,"method":"x/a"}
        call 2 x/b
        > {"jsonrpc":"2.0","id":3,"method":"x/b"}
        lose
        > {"jsonrpc":"2.0","id":4,"method":"initialize","params":AGAIN}
        cancel 2
        < {"jsonrpc":"2.0","id":4,"result":{"protocolVersion":"2025-06-18","capabilities":{}}}
        = connected 2025-06-18
        > initialized
        = again 1
        retry 2
        ! Stale
        + 600000
        = failed 1 Timeout"#,
    );
}

#[test]
fn what_a_session_is_to_know_goes_before_everything_else() {
    let script = r#"http
        > initialize 1
        < {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"logging":{}}}}
        = connected 2025-11-25
        > initialized
        call 1 x/a
        > {"jsonrpc":"2.0","id":2,"method":"x/a"}
        call 2 logging/setLevel {"level":"info"}
        > {"jsonrpc":"2.0","id":3,"method":"logging/setLevel","params":{"level":"info"}}
        call 3 x/b
        > {"jsonrpc":"2.0","id":4,"method":"x/b"}
        lose
        > {"jsonrpc":"2.0","id":5,"method":"initialize","params":AGAIN}
        hold
        release
        cancel 3
        < {"jsonrpc":"2.0","id":5,"result":{"protocolVersion":"2025-11-25","capabilities":{"logging":{},"resources":{"subscribe":true}}}}
        = connected 2025-11-25
        > initialized
        = again 2
        retry 1
        ! NotReady
        call 4 x/c
        ! NotReady
        retry 2
        > {"jsonrpc":"2.0","id":6,"method":"logging/setLevel","params":{"level":"info"}}
        call 5 resources/subscribe {"uri":"file:///a"}
        > {"jsonrpc":"2.0","id":7,"method":"resources/subscribe","params":{"uri":"file:///a"}}
        release
        = again 1
        release
        retry 1
        > {"jsonrpc":"2.0","id":8,"method":"x/a"}
        call 4 x/c
        > {"jsonrpc":"2.0","id":9,"method":"x/c"}"#;
    check(RevisionSet::legacy(), &script.replace("AGAIN", AGAIN));
}

/// Whatever was told of it, it is told once for each session.
#[test]
fn a_session_that_is_lost_before_its_calls_are_sent_again() {
    lost(
        r#"call 1 x/a
        > {"jsonrpc":"2.0","id":2,"method":"x/a"}
        lose
        > {"jsonrpc":"2.0","id":3,"method":"initialize","params":AGAIN}
        < {"jsonrpc":"2.0","id":3,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}
        = connected 2025-11-25
        > initialized
        = again 1
        lose
        > {"jsonrpc":"2.0","id":4,"method":"initialize","params":AGAIN}
        retry 1
        ! NotReady
        < {"jsonrpc":"2.0","id":4,"result":{"protocolVersion":"2025-11-25","capabilities":{}}}
        = connected 2025-11-25
        > initialized
        = again 1
        retry 1
        > {"jsonrpc":"2.0","id":5,"method":"x/a"}"#,
    );
}

#[test]
fn the_ping_of_a_lost_session_is_forgotten() {
    let config = ClientConfig {
        ping: Some(PingPolicy::default()),
        ..accepting(RevisionSet::legacy())
    };
    let mut client = Client::new(config, Fixed::new().requests::<1>().questions::<1>()).unwrap();
    client.connect_by_exchanges(Instant::ZERO).unwrap();
    client.lose_session(Instant::ZERO);
    assert!(!client.awaits(1), "nothing has left yet");
    let mut out = [0; 512];
    let on = client.next_channel().unwrap();
    let _ = client.poll_transmit(Instant::ZERO, on, &mut out).unwrap();
    assert!(client.awaits(1) && !client.awaits(2));
}
