//! What a legacy server asks.

use mcp_proto::client::ClientConfig;
use mcp_proto::model::{ClientCapabilities, ClientFeatures};
use mcp_proto::{Limits, Revision, RevisionSet};

use crate::client::connect::{accepting, filled};
use crate::script::client as script;
use crate::script::messages::METHOD_NOT_FOUND;

/// A session of a revision with a client that gives roots, samples without tools and fills in
/// forms; ids go on from 2.
#[track_caller]
fn session(revision: Revision, script: &str) {
    let capabilities = ClientFeatures::ROOTS
        .with(ClientFeatures::ROOTS_LIST_CHANGED)
        .with(ClientFeatures::SAMPLING)
        .with(ClientFeatures::ELICITATION)
        .capabilities();
    declaring(capabilities, revision, script);
}

#[track_caller]
fn declaring(capabilities: ClientCapabilities<'static>, revision: Revision, script: &str) {
    let config = ClientConfig {
        capabilities,
        ..accepting(RevisionSet::of(&[revision]))
    };
    script::check_opened(config, revision, &filled(script));
}

const ASK: &str = r#"< {"jsonrpc":"2.0","id":"q","method":"sampling/createMessage","params":{"messages":[],"maxTokens":9}}
    = asked sampling/createMessage {"messages":[],"maxTokens":9}
    "#;

#[test]
fn questions_are_answered() {
    session(
        Revision::V2025_11_25,
        &format!(
            r#"{ASK}< {{"jsonrpc":"2.0","id":1,"method":"roots/list"}}
            = asked roots/list {{}}
            respond {{"role":"assistant"}}
            > {{"jsonrpc":"2.0","id":"q","result":{{"role":"assistant"}}}}
            respond error -1
            > {{"jsonrpc":"2.0","id":1,"error":{{"code":-1,"message":"no"}}}}
            # An id that was answered may come again.
            {ASK}respond {{}}
            > {{"jsonrpc":"2.0","id":"q","result":{{}}}}"#
        ),
    );
}

#[test]
fn an_answer_is_given_once() {
    session(
        Revision::V2025_11_25,
        &format!(
            r#"{ASK}reply {{}}
            > {{"jsonrpc":"2.0","id":"q","result":{{}}}}
            reply {{}}
            ! Stale"#
        ),
    );
}

#[test]
fn an_answer_that_would_never_fit_is_an_error() {
    let limits = Limits {
        output: 2000,
        ..Limits::default()
    };
    let config = ClientConfig {
        limits,
        capabilities: ClientFeatures::ROOTS
            .with(ClientFeatures::ROOTS_LIST_CHANGED)
            .capabilities(),
        ..accepting(RevisionSet::legacy())
    };
    let long = "x".repeat(2000);
    script::check_opened(
        config,
        Revision::V2025_11_25,
        &format!(
            r#"< {{"jsonrpc":"2.0","id":1,"method":"roots/list"}}
            = asked roots/list {{}}
            respond {{"x":"{long}"}}
            > {{"jsonrpc":"2.0","id":1,"error":{{"code":-32603,"message":"the answer is too long"}}}}
            call 7 acme/x {{"x":"{long}"}}
            ! TooLarge {{ needed: 2060 }}
            notify acme/x {{"x":"{long}"}}
            ! TooLarge {{ needed: 2053 }}"#
        ),
    );
}

#[test]
fn an_answer_is_an_object() {
    for text in ["[]", "7", "null"] {
        session(
            Revision::V2025_11_25,
            &format!(
                "{ASK}reply {text}\n! Encode\nreply {{}}\n> {{\"jsonrpc\":\"2.0\",\"id\":\"q\",\"result\":{{}}}}"
            ),
        );
    }
}

/// LC-17, RT-04.
#[test]
fn what_was_not_declared_is_refused() {
    let refused = |revision, method: &str, params: &str, code: i32, message: &str| {
        session(
            revision,
            &format!(
                r#"< {{"jsonrpc":"2.0","id":5,"method":"{method}","params":{params}}}
                > {{"jsonrpc":"2.0","id":5,"error":{{"code":{code},"message":"{message}"}}}}"#
            ),
        );
    };
    let latest = Revision::V2025_11_25;
    for method in [
        "acme/what",
        "tools/list",
        "$/cancelRequest",
        "shutdown",
        "tasks/get",
    ] {
        refused(latest, method, "{}", -32601, METHOD_NOT_FOUND);
    }
    // LC-23: declared in the handshake, unknown in the answered revision.
    refused(
        Revision::V2025_03_26,
        "elicitation/create",
        "{}",
        -32601,
        METHOD_NOT_FOUND,
    );
    // EL-03
    let mode = "this mode of elicitation was not declared";
    for params in [
        r#"{"mode":"url"}"#,
        r#"{"mode":"x"}"#,
        r#"{"mode":7}"#,
        r#"{"mode":"form","mode":"form"}"#,
    ] {
        refused(latest, "elicitation/create", params, -32602, mode);
    }
    // SP-02
    let tools = "sampling.tools was not declared";
    for params in [r#"{"tools":[]}"#, r#"{"toolChoice":{}}"#] {
        refused(latest, "sampling/createMessage", params, -32602, tools);
    }
    for params in [
        r#"{"tools":[],"tools":[]}"#,
        r#"{"includeContext":"none","includeContext":"allServers"}"#,
    ] {
        let twice = "a parameter occurs twice";
        refused(latest, "sampling/createMessage", params, -32602, twice);
    }
    let nothing = ClientCapabilities::default();
    for method in ["roots/list", "sampling/createMessage", "elicitation/create"] {
        declaring(
            nothing,
            latest,
            &format!(
                r#"< {{"jsonrpc":"2.0","id":5,"method":"{method}","params":{{}}}}
                > 5 ! -32601"#
            ),
        );
    }
}

#[test]
fn modes_of_elicitation() {
    let asked = |elicitation: ClientFeatures, revision, params: &str, expected: bool| {
        let capabilities = elicitation.capabilities();
        let told = if expected {
            format!("= asked elicitation/create {params}")
        } else {
            r#"> {"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"this mode of elicitation was not declared"}}"#.to_owned()
        };
        declaring(
            capabilities,
            revision,
            &format!(
                r#"< {{"jsonrpc":"2.0","id":5,"method":"elicitation/create","params":{params}}}
                {told}"#
            ),
        );
    };
    let none = ClientFeatures::ELICITATION;
    let form = ClientFeatures::ELICITATION_FORM;
    let url = ClientFeatures::ELICITATION_URL;
    let both = form.with(url);
    let latest = Revision::V2025_11_25;
    // EL-01, EL-04
    for declared in [none, form, both] {
        asked(declared, latest, "{}", true);
        asked(declared, latest, r#"{"mode":"form"}"#, true);
        asked(declared, latest, r#"{"mode":"f\u006frm"}"#, true);
    }
    for declared in [url, both] {
        asked(declared, latest, r#"{"mode":"url"}"#, true);
    }
    asked(both, Revision::V2025_06_18, r#"{"mode":"url"}"#, false);
    asked(url, latest, "{}", false);
    asked(form, latest, r#"{"mode":"url"}"#, false);
}

#[test]
fn a_client_of_urls_alone_declares_nothing_to_a_revision_of_forms() {
    let config = ClientConfig {
        capabilities: ClientFeatures::ELICITATION_URL.capabilities(),
        ..accepting(RevisionSet::of(&[Revision::V2025_06_18]))
    };
    script::check(
        config,
        r#"connect
        > {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
    );
}

#[test]
fn sampling_with_tools() {
    let capabilities = ClientFeatures::SAMPLING_TOOLS.capabilities();
    declaring(
        capabilities,
        Revision::V2025_11_25,
        r#"< {"jsonrpc":"2.0","id":5,"method":"sampling/createMessage","params":{"tools":[]}}
        = asked sampling/createMessage {"tools":[]}
        < {"jsonrpc":"2.0","id":6,"method":"sampling/createMessage","params":{"tools":[],"tools":[]}}
        > {"jsonrpc":"2.0","id":6,"error":{"code":-32602,"message":"a parameter occurs twice"}}"#,
    );
    declaring(
        capabilities,
        Revision::V2025_06_18,
        r#"< {"jsonrpc":"2.0","id":5,"method":"sampling/createMessage","params":{"tools":[]}}
        > {"jsonrpc":"2.0","id":5,"error":{"code":-32602,"message":"sampling.tools was not declared"}}"#,
    );
}

/// SP-10: a server omits a context that was not declared (SP-04), and a client may ignore one.
#[test]
fn sp_10_sampling_with_a_context_that_was_not_declared() {
    session(
        Revision::V2025_11_25,
        r#"< {"jsonrpc":"2.0","id":5,"method":"sampling/createMessage","params":{"includeContext":"allServers"}}
        = asked sampling/createMessage {"includeContext":"allServers"}"#,
    );
}

#[test]
fn a_doubled_question_is_ignored() {
    session(
        Revision::V2025_11_25,
        &format!(
            r#"{ASK}< {{"jsonrpc":"2.0","id":"\u0071","method":"roots/list"}}
            ~ DuplicateQuestion
            respond {{}}
            > {{"jsonrpc":"2.0","id":"q","result":{{}}}}"#
        ),
    );
}

#[test]
fn a_question_that_could_not_be_taken_comes_again() {
    session(Revision::V2025_11_25, &format!("{ASK}forget\n{ASK}"));
}

#[test]
fn too_many_questions_are_refused_and_their_cancellation_is_read() {
    let mut script = String::new();
    for id in 1..4 {
        script += &format!(
            r#"< {{"jsonrpc":"2.0","id":{id},"method":"roots/list"}}
            = asked roots/list {{}}
            "#
        );
    }
    script += r#"< {"jsonrpc":"2.0","id":4,"method":"roots/list"}
        > {"jsonrpc":"2.0","id":4,"error":{"code":-32603,"message":"too many questions in flight"}}
        < {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"late"}}
        = unasked late
        < {"jsonrpc":"2.0","id":4,"method":"roots/list"}
        = asked roots/list {}"#;
    session(Revision::V2025_11_25, &script);
}

#[test]
fn ids_of_every_length() {
    let id = |length| "x".repeat(length);
    let (kept, echoed, neither) = (id(64), id(100), id(2000));
    session(
        Revision::V2025_11_25,
        &format!(
            r#"< {{"jsonrpc":"2.0","id":"{kept}","method":"roots/list"}}
            = asked roots/list {{}}
            respond {{}}
            > {{"jsonrpc":"2.0","id":"{kept}","result":{{}}}}
            < {{"jsonrpc":"2.0","id":"{echoed}","method":"roots/list"}}
            > {{"jsonrpc":"2.0","id":"{echoed}","error":{{"code":-32600,"message":"the id is too long"}}}}
            < {{"jsonrpc":"2.0","id":"{echoed}","method":"ping"}}
            > {{"jsonrpc":"2.0","id":"{echoed}","result":{{}}}}
            < {{"jsonrpc":"2.0","id":"{neither}","method":"roots/list"}}
            > {{"jsonrpc":"2.0","error":{{"code":-32600,"message":"the id is too long"}}}}
            < {{"jsonrpc":"2.0","id":"{neither}","method":"ping"}}
            > {{"jsonrpc":"2.0","error":{{"code":-32600,"message":"the id is too long"}}}}"#
        ),
    );
}

#[test]
fn a_question_is_cancelled_by_type_and_value() {
    session(
        Revision::V2025_11_25,
        r#"< {"jsonrpc":"2.0","id":1,"method":"roots/list"}
        = asked roots/list {}
        < {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"1"}}
        ~ UnknownCancellation
        < {"jsonrpc":"2.0","method":"notifications/cancelled","params":{}}
        ~ Malformed
        < {"jsonrpc":"2.0","method":"notifications/cancelled"}
        ~ Malformed
        < {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":null}}
        ~ Malformed
        < {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"requestId":1}}
        ~ Malformed
        < {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1,"reason":7}}
        = unasked
        respond {}
        ! Stale
        < {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}
        ~ UnknownCancellation"#,
    );
}

#[test]
fn the_foreign_cancellation_is_answered_once() {
    // CN-15, CN-16: its sender waits for -32800.
    session(
        Revision::V2025_11_25,
        &format!(
            r#"{ASK}< {{"jsonrpc":"2.0","method":"$/cancelRequest","params":{{"id":"x"}}}}
            ~ UnknownCancellation
            < {{"jsonrpc":"2.0","method":"$/cancelRequest","params":{{"requestId":"q"}}}}
            ~ Malformed
            < {{"jsonrpc":"2.0","method":"$/cancelRequest","params":{{"id":"q"}}}}
            = unasked
            > "q" ! -32800
            < {{"jsonrpc":"2.0","method":"$/cancelRequest","params":{{"id":"q"}}}}
            ~ UnknownCancellation
            respond {{}}
            ! Stale"#
        ),
    );
    let config = ClientConfig {
        cancel_alias: false,
        capabilities: ClientFeatures::ROOTS.capabilities(),
        ..accepting(RevisionSet::legacy())
    };
    script::check_opened(
        config,
        Revision::V2025_11_25,
        r#"< {"jsonrpc":"2.0","id":1,"method":"roots/list"}
        = asked roots/list {}
        < {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}
        ~ Misplaced"#,
    );
}

/// LC-27.
#[test]
fn an_open_question_stretches_timeouts_up_to_the_cap() {
    session(
        Revision::V2025_11_25,
        &format!(
            r#"with timeout=1000 cap=2500
            call 7 ping
            > {{"jsonrpc":"2.0","id":2,"method":"ping"}}
            {ASK}+ 1000
            + 1000
            + 499
            + 1
            > {{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":2,"reason":"timed out"}}}}
            = failed 7 Timeout"#
        ),
    );
    session(
        Revision::V2025_11_25,
        &format!(
            r#"with timeout=1000
            call 7 ping
            > {{"jsonrpc":"2.0","id":2,"method":"ping"}}
            {ASK}+ 1000
            respond {{}}
            > {{"jsonrpc":"2.0","id":"q","result":{{}}}}
            + 999
            + 1
            > {{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":2,"reason":"timed out"}}}}
            = failed 7 Timeout"#
        ),
    );
}

#[test]
fn a_hang_up_voids_questions() {
    session(
        Revision::V2025_11_25,
        &format!("{ASK}hangup\n= unasked\n= closed HungUp\nrespond {{}}\n! Closed"),
    );
}

#[test]
fn notifications_are_delivered_as_they_are() {
    let latest = Revision::V2025_11_25;
    for (method, params) in [
        ("notifications/tools/list_changed", "{}"),
        ("notifications/prompts/list_changed", "{}"),
        ("notifications/resources/list_changed", "{}"),
        ("notifications/resources/updated", r#"{"uri":"file:///a"}"#),
        (
            "notifications/elicitation/complete",
            r#"{"elicitationId":"e"}"#,
        ),
        ("notifications/tasks/status", "{}"),
        // LG-11: logging was not declared; no matter.
        ("notifications/message", r#"{"level":"info","data":null}"#),
    ] {
        session(
            latest,
            &format!(
                r#"< {{"jsonrpc":"2.0","method":"{method}","params":{params}}}
                = told {method}"#
            ),
        );
    }
    for (method, params, why) in [
        ("notifications/resources/updated", "{}", "Malformed"),
        (
            "notifications/resources/updated",
            r#"{"uri":"a","uri":"a"}"#,
            "Malformed",
        ),
        ("notifications/message", r#"{"level":"info"}"#, "Malformed"),
        ("notifications/elicitation/complete", "{}", "Malformed"),
        (
            "notifications/subscriptions/acknowledged",
            "{}",
            "Misplaced",
        ),
        ("notifications/roots/list_changed", "{}", "Misplaced"),
        ("notifications/initialized", "{}", "Misplaced"),
        (
            "notifications/tools/list_change",
            "{}",
            "UnknownNotification",
        ),
        ("exit", "{}", "UnknownNotification"),
    ] {
        session(
            latest,
            &format!(
                r#"< {{"jsonrpc":"2.0","method":"{method}","params":{params}}}
                ~ {why}"#
            ),
        );
    }
}

/// JR-11, RT-02.
#[test]
fn notifications_of_the_client() {
    session(
        Revision::V2025_11_25,
        r#"notify notifications/roots/list_changed
        > {"jsonrpc":"2.0","method":"notifications/roots/list_changed"}
        notify notifications/progress {"progressToken":"t","progress":1}
        > {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1}}
        notify acme/note {"a":1}
        > {"jsonrpc":"2.0","method":"acme/note","params":{"a":1}}
        notify acme/note []
        ! Encode
        notify notifications/initialized
        ! NotInRevision
        notify notifications/cancelled {"requestId":2}
        ! NotInRevision
        notify notifications/message {"level":"info","data":1}
        ! NotInRevision
        notify tools/list
        ! NotInRevision"#,
    );
    declaring(
        ClientFeatures::ROOTS.capabilities(),
        Revision::V2025_11_25,
        r#"notify notifications/roots/list_changed
        ! MissingCapability("roots.listChanged")"#,
    );
}
