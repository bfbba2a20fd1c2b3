//! What other documents say and the specification does not, and what the specification leaves
//! open: a case for each rule that concerns a client on a pipe.

use mcp_proto::client::ClientConfig;
use mcp_proto::model::ClientFeatures;
use mcp_proto::{Revision, RevisionSet};

use crate::client::calls::session;
use crate::client::connect::accepting;
use crate::script::client as script;

/// CN-15: our cancellation is never the foreign one.
#[test]
fn the_foreign_cancellation_is_never_sent() {
    session(
        r#"call 7 tools/list
        > {"jsonrpc":"2.0","id":2,"method":"tools/list"}
        call 8 $/cancelRequest {"id":2}
        ! NotInRevision
        notify $/cancelRequest {"id":2}
        ! NotInRevision
        cancel 7
        > {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}"#,
    );
}

/// JR-50, JR-26: codes of other meanings are plain errors, passed on as they came.
#[test]
fn foreign_codes_are_plain_errors() {
    for code in [-32800, -32001, -32002, -32003, -32042, -32000, 404] {
        session(&format!(
            r#"call 7 tools/call {{"name":"x"}}
            > {{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"x"}}}}
            < {{"jsonrpc":"2.0","id":2,"error":{{"code":{code},"message":"no"}}}}
            = error 7 {code} no"#
        ));
    }
}

/// SP-15, JR-57: results are passed on unchanged.
#[test]
fn results_are_passed_on_unchanged() {
    session(
        r#"call 7 tools/call {"name":"x"}
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"x"}}
        < {"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn","n":1e400,"cut":"\ud83d","structuredContent":null}}
        = answer 7 {"stopReason":"end_turn","n":1e400,"cut":"\ud83d","structuredContent":null}"#,
    );
}

/// ST-21: blank lines; JR-51: errors without id.
#[test]
fn blank_lines_and_errors_without_id() {
    session(
        "<
        <   \t
        < {\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":\"x\"}}
        = error - -32700
        < {\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"x\"}}
        = error - -32700",
    );
}

/// JR-01, JR-32: a client answers nothing whose `jsonrpc` is not "2.0".
#[test]
fn other_versions_of_json_rpc_are_reported() {
    session(
        r#"< {"jsonrpc":"1.0","id":1,"method":"ping"}
        = invalid jsonrpc must be "2.0"
        < {"id":1,"method":"ping"}
        = invalid jsonrpc must be "2.0"
        < {"method":"notifications/message"}
        = invalid jsonrpc must be "2.0""#,
    );
}

/// LC-24: no revision has `shutdown` or `exit`.
#[test]
fn there_is_no_shutdown() {
    session(
        r#"< {"jsonrpc":"2.0","id":1,"method":"shutdown"}
        > 1 ! -32601
        < {"jsonrpc":"2.0","method":"exit"}
        ~ UnknownNotification"#,
    );
}

/// JR-05, JR-06: ids are never used again, in any revision, whatever became of their requests.
#[test]
fn ids_are_never_used_again() {
    session(
        r#"call 7 tools/list
        > {"jsonrpc":"2.0","id":2,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":2,"result":{}}
        = answer 7 {}
        call 7 tools/list
        > {"jsonrpc":"2.0","id":3,"method":"tools/list"}
        cancel 7
        > {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}
        call 7 tools/list
        > {"jsonrpc":"2.0","id":4,"method":"tools/list"}"#,
    );
}

/// VR-32: the user sets a minimum in one call.
#[test]
fn a_minimum_revision() {
    script::check(
        accepting(RevisionSet::at_least(Revision::V2025_11_25).and(RevisionSet::legacy())),
        r#"connect
        > {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
        < {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}
        = no common revision: the server offers "2025-06-18", this client accepts 2025-11-25
        = closed NotConnected"#,
    );
}

/// LC-17, JR-43: capabilities bind in the first revisions, too. CP-08: completion has none in
/// 2024-11-05.
#[test]
fn capabilities_bind_in_every_revision() {
    script::check_opened(
        accepting(RevisionSet::legacy()),
        Revision::V2024_11_05,
        r#"call 7 tools/list
        ! MissingCapability("tools")
        call 7 completion/complete {"ref":{}}
        > {"jsonrpc":"2.0","id":2,"method":"completion/complete","params":{"ref":{}}}"#,
    );
}

/// CN-08: a cancellation without `requestId` is malformed. CN-13: `1` is not `"1"`.
#[test]
fn cancellations_need_the_exact_id() {
    let config = ClientConfig {
        capabilities: ClientFeatures::ROOTS.capabilities(),
        ..accepting(RevisionSet::legacy())
    };
    script::check_opened(
        config,
        Revision::V2025_11_25,
        r#"< {"jsonrpc":"2.0","id":9007199254740993,"method":"roots/list"}
        = asked roots/list {}
        < {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"reason":"x"}}
        ~ Malformed
        < {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":9007199254740992}}
        ~ UnknownCancellation
        < {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"9007199254740993"}}
        ~ UnknownCancellation
        # JR-07, JR-53: any integer, echoed exactly.
        respond {}
        > {"jsonrpc":"2.0","id":9007199254740993,"result":{}}"#,
    );
}

/// VR-33: what the modern revision dropped is not sent to a modern server. VR-02.
#[test]
fn what_was_removed_is_not_sent() {
    script::check(
        accepting(RevisionSet::modern()),
        r#"connect
        > {"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}}}
        < {"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"logging":{},"resources":{"subscribe":true}}}}
        = connected 2026-07-28
        call 7 ping
        ! NotInRevision
        call 7 logging/setLevel {"level":"info"}
        ! NotInRevision
        call 7 resources/subscribe {"uri":"file:///a"}
        ! NotInRevision
        call 7 initialize {}
        ! NotInRevision
        call 7 server/discover
        > {"jsonrpc":"2.0","id":2,"method":"server/discover","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{},"io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"}}}}"#,
    );
}

/// JR-52: doubled members of what the client decides by.
#[test]
fn doubled_members_are_refused() {
    session(
        r#"< {"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a","\u0075ri":"b"}}
        ~ Malformed
        call 7 tools/list
        > {"jsonrpc":"2.0","id":2,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":2,"result":{},"result":{}}
        = failed 7 Invalid"#,
    );
}
