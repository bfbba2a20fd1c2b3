//! Handshake, probe, negotiation: the client's side of the era matrix (VR-12 to VR-21).

use core::time::Duration;

use mcp_proto::client::{
    Client, ClientConfig, ConnectError, Event, Growing, Negotiation, Timeouts,
};
use mcp_proto::{Instant, Machine as _, Revision, RevisionSet};

use crate::script::client as script;

pub(crate) fn accepting(revisions: RevisionSet) -> ClientConfig<'static> {
    ClientConfig {
        revisions,
        ..ClientConfig::new("t", "1")
    }
}

#[track_caller]
fn legacy(script: &str) {
    script::check(accepting(RevisionSet::legacy()), &filled(script));
}

#[track_caller]
fn modern(script: &str) {
    script::check(accepting(RevisionSet::modern()), &filled(script));
}

#[track_caller]
fn dual(script: &str) {
    script::check(accepting(RevisionSet::all()), &filled(script));
}

/// Abbreviations of the long lines.
pub(crate) fn filled(script: &str) -> String {
    let initialize = r#"> {"jsonrpc":"2.0","id":ID,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#;
    let discover = r#"> {"jsonrpc":"2.0","id":ID,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}}}"#;
    let mut text = script.replace(
        "> initialized",
        r#"> {"jsonrpc":"2.0","method":"notifications/initialized"}"#,
    );
    for id in ["1", "2", "3"] {
        text = text
            .replace(&format!("> initialize {id}"), &initialize.replace("ID", id))
            .replace(&format!("> discover {id}"), &discover.replace("ID", id))
            .replace(
                &format!("< session {id}"),
                &r#"< {"jsonrpc":"2.0","id":ID,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}"#.replace("ID", id),
            )
            .replace(
                &format!("< discovered {id}"),
                &r#"< {"jsonrpc":"2.0","id":ID,"result":{"resultType":"complete","supportedVersions":["2026-07-28","2025-11-25"],"capabilities":{},"ttlMs":0,"cacheScope":"private","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}}}}"#.replace("ID", id),
            )
            .replace(
                &format!("< unsupported {id}"),
                &r#"< {"jsonrpc":"2.0","id":ID,"error":{"code":-32022,"message":"no","data":{"requested":"x","supported":["2026-07-28"]}}}"#.replace("ID", id),
            )
            .replace(
                &format!("< unknown {id}"),
                &r#"< {"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"no"}}"#.replace("ID", id),
            );
    }
    text
}

/// LC-01, LC-02, LC-06.
#[test]
fn a_handshake() {
    legacy(
        r#"connect
        > initialize 1
        < {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"},"instructions":"Be \"kind\"."}}
        = connected 2025-11-25 "s" "Be \"kind\"."
        > initialized
        connect
        ! NotReady"#,
    );
}

#[test]
fn connecting_has_a_timeout_of_its_own() {
    let timeouts = Timeouts {
        connect: Duration::from_secs(2),
        ..Timeouts::default()
    };
    let config = |revisions| ClientConfig {
        timeouts,
        ..accepting(revisions)
    };
    let ended = "+ 1999\n+ 1\n= the server did not answer in time\n= closed NotConnected";
    let script = filled(&format!("connect\n> initialize 1\n{ended}"));
    script::check(config(RevisionSet::legacy()), &script);
    let script = filled(&format!("connect\n> discover 1\n{ended}"));
    script::check(config(RevisionSet::modern()), &script);
}

/// LC-16.
#[test]
fn the_answered_revision_rules() {
    for revision in ["2024-11-05", "2025-03-26", "2025-06-18"] {
        legacy(&format!(
            r#"connect
            > initialize 1
            < {{"jsonrpc":"2.0","id":1,"result":{{"protocolVersion":"{revision}","capabilities":{{}},"serverInfo":{{"name":"s","version":"1"}}}}}}
            = connected {revision} "s"
            > initialized"#
        ));
    }
}

/// LC-05, LC-11.
#[test]
fn a_revision_that_is_not_accepted_ends_it() {
    let newer = accepting(RevisionSet::legacy().and(RevisionSet::at_least(Revision::V2025_06_18)));
    script::check(
        newer,
        &filled(
            r#"connect
            > initialize 1
            < {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}
            = no common revision: the server offers "2025-03-26", this client accepts 2025-11-25, 2025-06-18
            = closed NotConnected
            call 7 tools/list
            ! Closed
            connect
            ! Closed"#,
        ),
    );
    legacy(
        r#"connect
        > initialize 1
        < {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2026-07-28","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}
        = no common revision: the server offers "2026-07-28", this client accepts 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05
        = closed NotConnected"#,
    );
    let mut nothing = Client::with_room(accepting(RevisionSet::EMPTY), Growing);
    nothing.connect(Instant::ZERO).unwrap();
    assert!(matches!(
        nothing.poll_event(),
        Some(Event::ConnectFailed(ConnectError::NoRevision))
    ));
}

#[test]
fn a_refusal_ends_it_unless_it_names_what_would_do() {
    legacy(
        r#"connect
        > initialize 1
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"not today"}}
        = the server refused: not today (code -32603)
        = closed NotConnected"#,
    );
    // LC-25: the example of the specification, and the same thing again is no use.
    legacy(
        r#"connect
        > initialize 1
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no","data":{"supported":["2024-11-05"],"requested":"2025-11-25"}}}
        > {"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
        < {"jsonrpc":"2.0","id":2,"error":{"code":-32602,"message":"still no","data":{"supported":["2024-11-05"],"requested":"2024-11-05"}}}
        = the server refused: still no (code -32602)
        = closed NotConnected"#,
    );
    legacy(
        r#"connect
        > initialize 1
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no","data":{"supported":["1.0"],"requested":"2025-11-25"}}}
        = no common revision: the server offers ["1.0"], this client accepts 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05
        = closed NotConnected"#,
    );
}

/// VR-12, VR-13, VR-15.
#[test]
fn the_era_matrix() {
    // legacy client: legacy or dual server, modern server (VR-25)
    legacy("connect\n> initialize 1\n< session 1\n= connected 2025-11-25 \"s\"\n> initialized");
    legacy(
        r#"connect
        > initialize 1
        < unsupported 1
        = no common revision: the server offers ["2026-07-28"], this client accepts 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05
        = closed NotConnected"#,
    );
    // modern client: modern or dual server, legacy server (VR-15)
    modern("connect\n> discover 1\n< discovered 1\n= connected 2026-07-28 \"s\"");
    modern(
        r#"connect
        > discover 1
        < unknown 1
        = the server refused: no (code -32601)
        = closed NotConnected"#,
    );
    // dual client: modern or dual server, legacy server
    dual("connect\n> discover 1\n< discovered 1\n= connected 2026-07-28 \"s\"");
    dual(
        r#"connect
        > discover 1
        < unknown 1
        > initialize 2
        < session 2
        = connected 2025-11-25 "s"
        > initialized"#,
    );
}

/// VR-13, VR-14, VR-27.
#[test]
fn the_fallback_hangs_on_no_single_code() {
    for answer in [
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"initialize first"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"no","data":{"supported":["2025-11-25"]}}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"?","data":7}}"#,
        // Their codes, not their shapes.
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"?"}}"#,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32021,"message":"?"}}"#,
        // Results that are no DiscoverResult.
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":7}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"resultType":"x","supportedVersions":["2026-07-28"]}}"#,
        r#"{"jsonrpc":"2.0","id":1,"result":{"supportedVersions":[],"supportedVersions":["2026-07-28"]}}"#,
        // A reply that is none, and names the probe.
        r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
        r#"{"jsonrpc":"2.0","result":{"x":},"id":1}"#,
        r#"{"id":1}"#,
    ] {
        dual(&format!(
            "connect\n> discover 1\n< {answer}\n> initialize 2"
        ));
    }
}

/// VR-13, VR-27.
#[test]
fn modern_errors_tell_a_modern_server() {
    // VR-05: the mutual revision, under a new id; once.
    dual(
        r#"connect
        > discover 1
        < unsupported 1
        > discover 2
        < discovered 2
        = connected 2026-07-28 "s""#,
    );
    dual(
        r#"connect
        > discover 1
        < unsupported 1
        > discover 2
        < unsupported 2
        = the server refused: no (code -32022)
        = closed NotConnected"#,
    );
    dual(
        r#"connect
        > discover 1
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no","data":{"supported":["2027-01-01"],"requested":"2026-07-28"}}}
        = no common revision: the server offers ["2027-01-01"], this client accepts 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05
        = closed NotConnected"#,
    );
    for error in [
        r#"{"code":-32020,"message":"header"}"#,
        r#"{"code":-32021,"message":"sampling","data":{"requiredCapabilities":{"sampling":{}}}}"#,
    ] {
        dual(&format!(
            r#"connect
            > discover 1
            < {{"jsonrpc":"2.0","id":1,"error":{error}}}
            = connected 2026-07-28"#
        ));
    }
}

/// DC-04.
#[test]
fn a_common_revision_that_is_legacy_is_selected() {
    // VR-21: the one that was named, though a newer one could be offered.
    dual(
        r#"connect
        > discover 1
        < {"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2027-01-01","2025-06-18"],"capabilities":{}}}
        > {"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
    );
    dual(
        r#"connect
        > discover 1
        < {"jsonrpc":"2.0","id":1,"error":{"code":-32022,"message":"no","data":{"supported":["2024-11-05"],"requested":"2026-07-28"}}}
        > {"jsonrpc":"2.0","id":2,"method":"initialize","params":{"protocolVersion":"2024-11-05","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
    );
    modern(
        r#"connect
        > discover 1
        < {"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2025-06-18"],"capabilities":{}}}
        = no common revision: the server offers ["2025-06-18"], this client accepts 2026-07-28
        = closed NotConnected"#,
    );
}

/// VR-29.
#[test]
fn servers_that_start_slowly_connect() {
    // Silence: after 5 s the handshake is sent as well, and nothing is ever cancelled.
    dual(
        r#"connect
        > discover 1
        + 4999
        + 1
        > initialize 2
        + 15000
        < unknown 1
        < session 2
        = connected 2025-11-25 "s"
        > initialized"#,
    );
    // The modern one answers both, in either order; the first answer decides.
    dual(
        r#"connect
        > discover 1
        + 5000
        > initialize 2
        + 15000
        < discovered 1
        = connected 2026-07-28 "s"
        < unsupported 2
        ~ LateResponse"#,
    );
    dual(
        r#"connect
        > discover 1
        + 5000
        > initialize 2
        < unsupported 2
        > discover 3
        < discovered 1
        ~ LateResponse
        < discovered 3
        = connected 2026-07-28 "s""#,
    );
    // Once there is a session, it stays.
    dual(
        r#"connect
        > discover 1
        + 5000
        > initialize 2
        < session 2
        = connected 2025-11-25 "s"
        > initialized
        < discovered 1
        ~ LateResponse"#,
    );
    modern("connect\n> discover 1\n+ 20000\n< discovered 1\n= connected 2026-07-28 \"s\"");
    legacy(
        "connect\n> initialize 1\n+ 20000\n< session 1\n= connected 2025-11-25 \"s\"\n> initialized",
    );
}

/// LC-09.
#[test]
fn nobody_waits_for_ever() {
    for script in ["> discover 1", "> initialize 1"] {
        let which = if script.contains("discover") {
            modern
        } else {
            legacy
        };
        which(&format!(
            "connect
            {script}
            + 59999
            + 1
            = the server did not answer in time
            = closed NotConnected"
        ));
    }
    dual(
        "connect
        > discover 1
        + 5000
        > initialize 2
        + 59999
        + 1
        = the server did not answer in time
        = closed NotConnected",
    );
}

#[test]
fn a_lost_answer_ends_it_at_once() {
    let lost = |id: u32| {
        [
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}},"error":{{}}}}"#),
            format!(r#"{{"jsonrpc":"2.0","result":{{"a":}},"id":{id}}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":[]}}"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#),
            format!(r#"{{"jsonrpc":"1.0","id":{id},"result":{{}}}}"#),
        ]
    };
    for line in lost(1) {
        let ends = "= the server's answer cannot be used\n= closed NotConnected";
        modern(&format!("connect\n> discover 1\n< {line}\n{ends}"));
        legacy(&format!("connect\n> initialize 1\n< {line}\n{ends}"));
    }
    for line in lost(2) {
        let ends = "= the server's answer cannot be used\n= closed NotConnected";
        dual(&format!(
            "connect\n> discover 1\n+ 5000\n> initialize 2\n< {line}\n{ends}"
        ));
    }
    // An array is never taken apart here.
    legacy(
        r#"connect
        > initialize 1
        < [{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-03-26","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}]
        = batch
        = the server's answer cannot be used
        = closed NotConnected
        ~ Closed"#,
    );
}

#[test]
fn a_hang_up_ends_it_at_once() {
    for (which, first) in [
        (dual as fn(&str), "> discover 1"),
        (modern, "> discover 1"),
        (legacy, "> initialize 1"),
    ] {
        which(&format!(
            "connect
            {first}
            hangup
            = the connection ended before the server answered
            = closed HungUp
            hangup"
        ));
    }
}

#[test]
fn a_known_legacy_server_is_not_probed() {
    let straight = ClientConfig {
        negotiation: Negotiation::Handshake,
        ..accepting(RevisionSet::all())
    };
    script::check(straight, &filled("connect\n> initialize 1"));
    // It may have been replaced by a newer one (VR-17).
    script::check(
        straight,
        &filled(
            r#"connect
            > initialize 1
            < unsupported 1
            > discover 2
            < discovered 2
            = connected 2026-07-28 "s""#,
        ),
    );
}

#[test]
fn ping_is_answered_in_every_phase() {
    let ping = r#"< {"jsonrpc":"2.0","id":"p","method":"ping"}
        > {"jsonrpc":"2.0","id":"p","result":{}}"#;
    dual(&format!(
        r#"connect
        > discover 1
        {ping}
        < unknown 1
        > initialize 2
        {ping}
        < session 2
        = connected 2025-11-25 "s"
        > initialized
        {ping}"#
    ));
    // Other questions come too early (LC-08).
    dual(
        r#"connect
        > discover 1
        < {"jsonrpc":"2.0","id":9,"method":"roots/list"}
        > {"jsonrpc":"2.0","id":9,"error":{"code":-32600,"message":"not initialized"}}"#,
    );
    // And a modern server asks nothing (ST-12, ST-13).
    dual(
        r#"connect
        > discover 1
        < discovered 1
        = connected 2026-07-28 "s"
        < {"jsonrpc":"2.0","id":"p","method":"ping"}
        = request ping"#,
    );
}

#[test]
fn a_server_may_log_while_it_starts() {
    legacy(
        r#"connect
        > initialize 1
        < {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"starting"}}
        = told notifications/message
        < {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}
        ~ Misplaced
        < session 1
        = connected 2025-11-25 "s"
        > initialized"#,
    );
}

/// LC-07.
#[test]
fn nothing_is_called_before_there_is_a_connection() {
    dual(
        r#"call 7 tools/list
        ! NotReady
        connect
        > discover 1
        call 7 tools/list
        ! NotReady
        begin
        ! NotReady
        < discovered 1
        = connected 2026-07-28 "s"
        call 7 tools/list
        ! MissingCapability("tools")"#,
    );
}
