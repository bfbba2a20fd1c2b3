//! Arrays of messages, which only 2025-03-26 has.

use mcp_proto::Limits;
use mcp_proto::client::ClientConfig;
use mcp_proto::model::{ClientCapabilities, RootsCapability};
use mcp_proto::revision::{Revision, RevisionSet};

use crate::connect::accepting;
use crate::script;

#[track_caller]
fn session(revision: Revision, script: &str) {
    let config = ClientConfig {
        capabilities: ClientCapabilities {
            roots: Some(RootsCapability::default()),
            ..ClientCapabilities::default()
        },
        limits: Limits {
            batch: 3,
            ..Limits::default()
        },
        ..accepting(RevisionSet::legacy())
    };
    script::check_opened(config, revision, script);
}

#[test]
fn calls_leave_as_one_array() {
    session(
        Revision::V2025_03_26,
        r#"begin
        begin
        ! NotReady
        call 7 ping
        call 8 acme/b {"x":1}
        # A cancellation waits for what it names.
        cancel 7
        notify acme/note
        > {"jsonrpc":"2.0","method":"acme/note"}
        end
        > [{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"acme/b","params":{"x":1}}]
        > {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}
        end
        ! NotReady
        < [{"jsonrpc":"2.0","id":3,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}}]
        = answer 8 {}
        ~ LateResponse
        # And singly.
        begin
        call 9 ping
        end
        > [{"jsonrpc":"2.0","id":4,"method":"ping"}]
        < {"jsonrpc":"2.0","id":4,"result":{}}
        = answer 9 {}"#,
    );
}

#[test]
fn an_empty_batch_is_nothing() {
    session(
        Revision::V2025_03_26,
        r#"begin
        end
        end
        ! NotReady"#,
    );
}

#[test]
fn a_batch_is_limited_in_calls_and_bytes() {
    session(
        Revision::V2025_03_26,
        r#"begin
        call 7 ping
        call 8 ping
        call 9 ping
        call 10 ping
        ! TableFull
        end
        > [{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"ping"},{"jsonrpc":"2.0","id":4,"method":"ping"}]
        begin
        call 10 ping
        end
        > [{"jsonrpc":"2.0","id":5,"method":"ping"}]"#,
    );
    let long = "x".repeat(600);
    session(
        Revision::V2025_03_26,
        &format!(
            r#"begin
            call 7 acme/long {{"x":"{long}"}}
            ! TableFull
            call 7 acme/wrong []
            ! Encode
            call 7 ping
            end
            > [{{"jsonrpc":"2.0","id":2,"method":"ping"}}]"#
        ),
    );
}

#[test]
fn arrays_of_everything_are_taken_apart() {
    session(
        Revision::V2025_03_26,
        r#"call 7 ping
        > {"jsonrpc":"2.0","id":2,"method":"ping"}
        < [{"jsonrpc":"2.0","id":5,"method":"ping"},7,{"jsonrpc":"2.0","id":6,"method":"roots/list"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}},{"jsonrpc":"2.0","id":2,"result":{}}]
        > {"jsonrpc":"2.0","id":5,"result":{}}
        = invalid message is not an object
        = asked roots/list -
        = unasked
        = answer 7 {}
        < []
        = invalid batch is empty"#,
    );
}

#[test]
fn elsewhere_arrays_are_skipped_and_reported() {
    for revision in [
        Revision::V2024_11_05,
        Revision::V2025_06_18,
        Revision::V2025_11_25,
    ] {
        session(
            revision,
            r#"begin
            ! NotInRevision
            < [{"jsonrpc":"2.0","id":5,"method":"ping"}]
            = batch
            ~ Garbage
            < {"jsonrpc":"2.0","id":5,"method":"ping"}
            > {"jsonrpc":"2.0","id":5,"result":{}}"#,
        );
    }
}
