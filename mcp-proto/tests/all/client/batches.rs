//! Arrays of messages, which only 2025-03-26 has.

use mcp_proto::client::ClientConfig;
use mcp_proto::model::ClientFeatures;
use mcp_proto::{Limits, Revision, RevisionSet};

use crate::client::connect::accepting;
use crate::script::client as script;
use crate::script::messages::{METHOD_NOT_FOUND, error};

#[track_caller]
fn session(revision: Revision, script: &str) {
    let config = ClientConfig {
        capabilities: ClientFeatures::ROOTS.capabilities(),
        limits: Limits {
            batch: 3,
            ..Limits::default()
        },
        ..accepting(RevisionSet::legacy())
    };
    script::check_opened(config, revision, script);
}

/// JR-16, SC-03.
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
fn calls_that_are_not_of_the_batch_leave_at_once() {
    session(
        Revision::V2025_03_26,
        r#"begin
        call 7 ping
        with alone
        call 8 ping
        > {"jsonrpc":"2.0","id":3,"method":"ping"}
        end
        > [{"jsonrpc":"2.0","id":2,"method":"ping"}]"#,
    );
}

/// The array leaves by itself, and what was said of its calls after it.
#[test]
fn a_batch_that_is_deferred_leaves_before_all_else() {
    session(
        Revision::V2025_03_26,
        r#"begin
        call 7 ping
        call 8 ping
        cancel 7
        defer
        > [{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"ping"}]
        > {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}
        < {"jsonrpc":"2.0","id":3,"result":{}}
        = answer 8 {}
        # Without calls there is nothing to wait for.
        begin
        defer
        begin
        call 9 ping
        end
        > [{"jsonrpc":"2.0","id":4,"method":"ping"}]"#,
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
        ! NotReady
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
            ! TooLarge {{ needed: 665 }}
            call 7 acme/wrong []
            ! Encode
            call 7 ping
            call 8 acme/long {{"x":"{long}"}}
            ! NotReady
            end
            > [{{"jsonrpc":"2.0","id":2,"method":"ping"}}]"#
        ),
    );
}

#[test]
fn arrays_of_everything_are_taken_apart() {
    // JR-15, JR-54, JR-55: in order; a cancelled element counts as answered, a bad one stops no other.
    session(
        Revision::V2025_03_26,
        r#"call 7 ping
        > {"jsonrpc":"2.0","id":2,"method":"ping"}
        < [{"jsonrpc":"2.0","id":5,"method":"ping"},7,{"jsonrpc":"2.0","id":6,"method":"roots/list"},{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":6}},{"jsonrpc":"2.0","id":2,"result":{}}]
        = invalid message is not an object
        = asked roots/list {}
        = unasked
        = answer 7 {}
        > [{"jsonrpc":"2.0","id":5,"result":{}}]
        < []
        = invalid batch is empty
        < [{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}]
        = told notifications/message"#,
    );
}

const QUESTIONS: &str = r#"< [{"jsonrpc":"2.0","id":5,"method":"roots/list"},{"jsonrpc":"2.0","id":6,"method":"roots/list"},{"jsonrpc":"2.0","id":7,"method":"what"}]
    = asked roots/list {}
    = asked roots/list {}
    "#;

/// The answer to the last of the questions.
fn unknown() -> String {
    error("7", -32601, METHOD_NOT_FOUND)
}

/// JR-18, SC-03.
#[test]
fn the_answers_to_an_array_are_one_array() {
    session(
        Revision::V2025_03_26,
        &format!(
            r#"{QUESTIONS}respond {{}}
            # Everything else passes meanwhile, a second array is answered singly.
            call 9 ping
            > {{"jsonrpc":"2.0","id":2,"method":"ping"}}
            < [{{"jsonrpc":"2.0","id":"p","method":"ping"}}]
            > {{"jsonrpc":"2.0","id":"p","result":{{}}}}
            respond error -32603
            > [{},{{"jsonrpc":"2.0","id":5,"result":{{}}}},{{"jsonrpc":"2.0","id":6,"error":{{"code":-32603,"message":"no"}}}}]
            < [{{"jsonrpc":"2.0","id":"p","method":"ping"}}]
            > [{{"jsonrpc":"2.0","id":"p","result":{{}}}}]"#,
            unknown()
        ),
    );
}

#[test]
fn an_array_does_not_wait_for_what_was_cancelled() {
    session(
        Revision::V2025_03_26,
        &format!(
            r#"{QUESTIONS}< {{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":5}}}}
            = unasked
            < {{"jsonrpc":"2.0","method":"$/cancelRequest","params":{{"id":6}}}}
            = unasked
            > 6 ! -32800
            > [{}]"#,
            unknown()
        ),
    );
    session(
        Revision::V2025_03_26,
        &format!("{QUESTIONS}hangup\n= unasked\n= unasked\n= closed HungUp"),
    );
}

#[test]
fn an_answer_without_room_in_the_array_leaves_singly() {
    let long = "x".repeat(600);
    session(
        Revision::V2025_03_26,
        &format!(
            r#"{QUESTIONS}respond {{"x":"{long}"}}
            > {{"jsonrpc":"2.0","id":5,"result":{{"x":"{long}"}}}}
            respond {{}}
            > [{},{{"jsonrpc":"2.0","id":6,"result":{{}}}}]"#,
            unknown()
        ),
    );
}

#[test]
fn questions_of_an_array_are_limited() {
    session(
        Revision::V2025_03_26,
        r#"< [{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"ping"},{"jsonrpc":"2.0","id":3,"method":"ping"},{"jsonrpc":"2.0","id":4,"method":"ping"},{"jsonrpc":"2.0","id":5,"method":"ping"}]
        ~ Garbage
        > [{"jsonrpc":"2.0","id":1,"result":{}},{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","id":3,"result":{}},{"jsonrpc":"2.0","id":4,"error":{"code":-32603,"message":"too many questions in a batch"}}]"#,
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
