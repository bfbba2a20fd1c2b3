//! What 2026-07-28 does differently: every request tells all, rounds of input, subscriptions.

use mcp_proto::client::ClientConfig;
use mcp_proto::model::ClientFeatures;
use mcp_proto::{ResultType, RevisionSet};

use crate::client::connect::{accepting, filled};
use crate::script::client as script;

/// A modern connection to a server with tools and prompts; ids go on from 2. The client gives
/// forms and roots. `META` stands for what every request carries.
#[track_caller]
fn modern(script: &str) {
    let meta = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{"roots":{},"elicitation":{}}"#;
    let opened = r#"connect
        > {"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{META}}}
        < {"jsonrpc":"2.0","id":1,"result":{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{},"prompts":{}}}}
        = connected 2026-07-28
        "#;
    let config = ClientConfig {
        identify: false,
        capabilities: ClientFeatures::ROOTS
            .with(ClientFeatures::ELICITATION)
            .capabilities(),
        result_types: &[ResultType {
            name: "task",
            extension: "io.modelcontextprotocol/tasks",
            methods: &["tools/call"],
        }],
        ..accepting(RevisionSet::modern())
    };
    script::check(
        config,
        &filled(&format!("{opened}{script}")).replace("META", meta),
    );
}

const ASKS: &str = r#"{"jsonrpc":"2.0","id":ID,"result":{"resultType":"input_required","inputRequests":{"ok":{"method":"elicitation/create","params":{"message":"Go?"}}},"requestState":"v1.\u0041"}}"#;

fn asks(id: u32) -> String {
    ASKS.replace("ID", &id.to_string())
}

/// VR-01. VR-02.
#[test]
fn every_request_tells_revision_and_capabilities() {
    modern(
        r#"call 7 tools/list
        > {"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{META}}}
        with progress level=info
        call 8 tools/call {"name":"x","_meta":{"traceparent":"00-1-1-00"}}
        > {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"x","_meta":{META,"io.modelcontextprotocol/logLevel":"info","progressToken":3,"traceparent":"00-1-1-00"}}}
        < {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete","tools":[]}}
        = answer 7 {"resultType":"complete","tools":[]}
        call 9 tools/call {"_meta":{"io.modelcontextprotocol/clientInfo":{}}}
        ! Encode
        call 9 ping
        ! NotInRevision
        call 9 resources/list
        ! MissingCapability("resources")
        call 9 tasks/get {"taskId":"1"}
        ! MissingCapability("io.modelcontextprotocol/tasks")
        call 9 tasks/cancel {"taskId":"1"}
        ! MissingCapability("io.modelcontextprotocol/tasks")
        notify notifications/roots/list_changed
        ! NotInRevision
        begin
        ! NotInRevision"#,
    );
}

#[test]
fn a_result_is_of_a_known_type() {
    for (result, told) in [
        // JR-21
        (r#"{"content":[]}"#, r#"answer 7 {"content":[]}"#),
        (
            r#"{"resultType":"task"}"#,
            r#"answer 7 {"resultType":"task"}"#,
        ),
        // JR-22
        (r#"{"resultType":"later"}"#, "failed 7 ResultType"),
        (r#"{"resultType":7}"#, "failed 7 ResultType"),
        (
            r#"{"resultType":"complete","resultType":"complete"}"#,
            "failed 7 Result",
        ),
        (r#"[]"#, "failed 7 Result"),
        // MR-03, MR-04, MR-05, MR-17
        (r#"{"resultType":"input_required"}"#, "failed 7 Result"),
        (
            r#"{"resultType":"input_required","inputRequests":{}}"#,
            "failed 7 Result",
        ),
        (
            r#"{"resultType":"input_required","inputRequests":7}"#,
            "failed 7 Result",
        ),
        (
            r#"{"resultType":"input_required","requestState":7}"#,
            "failed 7 Result",
        ),
        (
            r#"{"resultType":"input_required","inputRequests":{"a":{"method":"ping","params":{}}}}"#,
            "failed 7 Input",
        ),
        (
            r#"{"resultType":"input_required","inputRequests":{"a":{"method":"sampling/createMessage","params":{}}}}"#,
            "failed 7 Input",
        ),
        // MR-17
        (
            r#"{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create","params":{"mode":"url"}}}}"#,
            "failed 7 Input",
        ),
        (
            r#"{"resultType":"input_required","inputRequests":{"a":{"method":"elicitation/create"}}}"#,
            "failed 7 Input",
        ),
        (
            r#"{"resultType":"input_required","inputRequests":{"a":{"method":"roots/list"},"\u0061":{"method":"roots/list"}}}"#,
            "failed 7 Input",
        ),
    ] {
        modern(&format!(
            r#"call 7 tools/call {{}}
            > {{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"_meta":{{META}}}}}}
            < {{"jsonrpc":"2.0","id":2,"result":{result}}}
            = {told}"#
        ));
    }
    // MR-02
    modern(&format!(
        r#"call 7 tools/list
        > {{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{{"_meta":{{META}}}}}}
        < {}
        = failed 7 Result"#,
        asks(2)
    ));
}

/// MR-09, MR-11, MR-12, LC-27.
#[test]
fn a_round_of_input() {
    modern(&format!(
        r#"call 7 tools/call {{"name":"move"}}
        > {{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"name":"move","_meta":{{META}}}}}}
        < {}
        = input 7 {{"ok":{{"method":"elicitation/create","params":{{"message":"Go?"}}}}}} "v1.\u0041"
        < {{"jsonrpc":"2.0","id":2,"result":{{}}}}
        ~ LateResponse
        # A person takes a while: the timeout does not run.
        + 300000
        retry 7 {{"ok":{{"action":"accept"}}}} "v1.\u0041"
        > {{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{{"name":"move","_meta":{{META}},"inputResponses":{{"ok":{{"action":"accept"}}}},"requestState":"v1.\u0041"}}}}
        retry 7 {{}}
        ! NotReady
        < {{"jsonrpc":"2.0","id":3,"result":{{"resultType":"complete"}}}}
        = answer 7 {{"resultType":"complete"}}
        retry 7 {{}}
        ! Stale"#,
        asks(2)
    ));
}

#[test]
fn a_question_in_a_result_may_have_an_id() {
    // MR-21: an example of the specification has one.
    modern(
        r#"call 7 tools/call {}
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"_meta":{META}}}
        < {"jsonrpc":"2.0","id":2,"result":{"resultType":"input_required","inputRequests":{"r":{"id":1,"method":"roots/list"}}}}
        = input 7 {"r":{"id":1,"method":"roots/list"}} -
        retry 7 {"r":{"roots":[]}}
        > {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"_meta":{META},"inputResponses":{"r":{"roots":[]}}}}"#,
    );
}

#[test]
fn a_round_keeps_the_meta_of_the_caller() {
    modern(&format!(
        r#"call 7 tools/call {{"_meta":{{"x":1}},"name":"m"}}
        > {{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"_meta":{{META,"x":1}},"name":"m"}}}}
        < {}
        = input 7 {{"ok":{{"method":"elicitation/create","params":{{"message":"Go?"}}}}}} "v1.\u0041"
        retry 7 {{}} "s"
        > {{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{{"_meta":{{META,"x":1}},"name":"m","inputResponses":{{}},"requestState":"s"}}}}"#,
        asks(2)
    ));
}

#[test]
fn parameters_do_not_say_what_a_round_adds() {
    for (params, round) in [
        (r#"{"inputResponses":{}}"#, "{}"),
        (r#"{"requestState":"s"}"#, r#"- "s""#),
    ] {
        let sent = params.strip_suffix('}').unwrap();
        modern(&format!(
            r#"call 7 tools/call {params}
            > {{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{sent},"_meta":{{META}}}}}}
            < {}
            = input 7 {{"ok":{{"method":"elicitation/create","params":{{"message":"Go?"}}}}}} "v1.\u0041"
            retry 7 {round}
            ! Encode"#,
            asks(2)
        ));
    }
}

#[test]
fn a_round_ends_with_the_cap_the_connection_or_the_caller() {
    let begun = format!(
        r#"with cap=90000
        call 7 prompts/get {{"name":"x"}}
        > {{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{{"name":"x","_meta":{{META}}}}}}
        < {}
        = input 7 {{"ok":{{"method":"elicitation/create","params":{{"message":"Go?"}}}}}} "v1.\u0041"
        "#,
        asks(2)
    );
    // The server knows of no request any more, so it is told nothing.
    modern(&format!(
        "{begun}+ 89999\n+ 1\n= failed 7 Timeout\nretry 7 {{}}\n! Stale"
    ));
    modern(&format!(
        "{begun}hangup\n= failed 7 Closed\n= closed HungUp\nretry 7 {{}}\n! Closed"
    ));
    modern(&format!("{begun}cancel 7\nretry 7 {{}}\n! Stale"));
}

/// MR-10, MR-16.
#[test]
fn a_state_alone_pauses() {
    let mut script = r#"call 7 tools/call {}
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"_meta":{META}}}
        "#
    .to_owned();
    for (id, pause) in [(2, 250), (3, 500), (4, 1000)] {
        script += &format!(
            r#"< {{"jsonrpc":"2.0","id":{id},"result":{{"resultType":"input_required","requestState":"s"}}}}
            = input 7 - "s"
            retry 7 - "s"
            ! NotReady
            + {}
            + 1
            = again 7
            retry 7 - "s"
            > {{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"_meta":{{META}},"requestState":"s"}}}}
            "#,
            pause - 1,
            id + 1
        );
    }
    modern(&script);
}

/// MR-16.
#[test]
fn rounds_are_limited() {
    let mut script = r#"call 7 tools/call {}
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"_meta":{META}}}
        "#
    .to_owned();
    for id in 2..18 {
        script += &format!(
            r#"< {}
            = input 7 {{"ok":{{"method":"elicitation/create","params":{{"message":"Go?"}}}}}} "v1.\u0041"
            retry 7 {{}}
            > {{"jsonrpc":"2.0","id":{},"method":"tools/call","params":{{"_meta":{{META}},"inputResponses":{{}}}}}}
            "#,
            asks(id),
            id + 1
        );
    }
    script += &format!("< {}\n= failed 7 Rounds", asks(18));
    modern(&script);
}

#[test]
fn an_unsupported_version_is_negotiated_once() {
    modern(
        r#"call 7 tools/list
        > {"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{META}}}
        < unsupported 2
        = again 7
        retry 7
        > {"jsonrpc":"2.0","id":3,"method":"tools/list","params":{"_meta":{META}}}
        < unsupported 3
        = error 7 -32022 no"#,
    );
    modern(
        r#"call 7 tools/list
        > {"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{META}}}
        < {"jsonrpc":"2.0","id":2,"error":{"code":-32022,"message":"no","data":{"supported":["2027-01-01"],"requested":"2026-07-28"}}}
        = error 7 -32022 no"#,
    );
}

#[test]
fn a_cancellation_names_the_latest_id() {
    modern(&format!(
        r#"call 7 tools/call {{}}
        > {{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"_meta":{{META}}}}}}
        < {}
        = input 7 {{"ok":{{"method":"elicitation/create","params":{{"message":"Go?"}}}}}} "v1.\u0041"
        retry 7 {{}}
        > {{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{{"_meta":{{META}},"inputResponses":{{}}}}}}
        cancel 7
        > {{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":3}}}}"#,
        asks(2)
    ));
}

const LISTEN: &str = r#"call 7 subscriptions/listen {"notifications":{"toolsListChanged":true}}
    > {"jsonrpc":"2.0","id":2,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},"_meta":{META}}}
    "#;
const LISTENING: &str = r#"< {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":2},"notifications":{"toolsListChanged":true}}}
    = listening 7 {"toolsListChanged":true}
    "#;

#[test]
fn a_subscription() {
    modern(&format!(
        r#"{LISTEN}{LISTENING}
        # SB-12: nothing limits it now.
        + 3600000
        < {{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":2}}}}}}
        = told 7 notifications/tools/list_changed
        < {{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":2}},"uri":"file:///a"}}}}
        = told 7 notifications/resources/updated
        # ST-14, CN-13: of no subscription of ours.
        < {{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}}
        ~ Misplaced
        < {{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":"2"}}}}}}
        ~ Misplaced
        < {{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":2}}}}}}
        ~ Malformed
        # CN-17: the first end counts, the second is of an unknown id.
        < {{"jsonrpc":"2.0","id":2,"result":{{"resultType":"complete","_meta":{{"io.modelcontextprotocol/subscriptionId":2}}}}}}
        = answer 7 {{"resultType":"complete","_meta":{{"io.modelcontextprotocol/subscriptionId":2}}}}
        < {{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":2}}}}
        ~ UnknownCancellation"#
    ));
}

/// ST-15, CN-09, SB-11.
#[test]
fn the_ends_of_a_subscription() {
    modern(&format!(
        r#"{LISTEN}{LISTENING}
        < {{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":2}}}}
        = failed 7 Ended
        < {{"jsonrpc":"2.0","id":2,"result":{{}}}}
        ~ LateResponse"#
    ));
    modern(&format!(
        r#"{LISTEN}{LISTENING}
        cancel 7
        > {{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":2}}}}
        < {{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":2}}}}}}
        ~ Misplaced"#
    ));
    // The timeout is for the acknowledgement.
    modern(&format!(
        r#"{LISTEN}+ 59999
        + 1
        > {{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":2,"reason":"timed out"}}}}
        = failed 7 Timeout"#
    ));
    modern(&format!(
        "{LISTEN}{LISTENING}hangup\n= failed 7 Closed\n= closed HungUp"
    ));
    // CN-11: nothing else is ended this way.
    modern(
        r#"call 7 tools/list
        > {"jsonrpc":"2.0","id":2,"method":"tools/list","params":{"_meta":{META}}}
        < {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}
        ~ UnknownCancellation"#,
    );
}

/// SB-04, SB-06: each message belongs to the subscription that it names, acknowledged or not.
#[test]
fn two_subscriptions() {
    modern(&format!(
        r#"{LISTEN}call 8 subscriptions/listen {{"notifications":{{"promptsListChanged":true}}}}
        > {{"jsonrpc":"2.0","id":3,"method":"subscriptions/listen","params":{{"notifications":{{"promptsListChanged":true}},"_meta":{{META}}}}}}
        < {{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":3}},"notifications":{{"promptsListChanged":true}}}}}}
        = listening 8 {{"promptsListChanged":true}}
        < {{"jsonrpc":"2.0","method":"notifications/prompts/list_changed","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":3}}}}}}
        = told 8 notifications/prompts/list_changed
        {LISTENING}< {{"jsonrpc":"2.0","method":"notifications/tools/list_changed","params":{{"_meta":{{"io.modelcontextprotocol/subscriptionId":2}}}}}}
        = told 7 notifications/tools/list_changed"#
    ));
}

/// LG-10.
#[test]
fn notifications_of_requests_come_in_order() {
    modern(
        r#"with progress level=debug
        call 7 tools/call {}
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"_meta":{META,"io.modelcontextprotocol/logLevel":"debug","progressToken":2}}}
        < {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}
        = told notifications/message
        < {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1}}
        = progress 7 1
        < {"jsonrpc":"2.0","id":2,"result":{"resultType":"complete"}}
        = answer 7 {"resultType":"complete"}"#,
    );
}

/// SC-05, ST-12.
#[test]
fn a_modern_server_asks_nothing() {
    modern(
        r#"< {"jsonrpc":"2.0","id":1,"method":"roots/list"}
        = request roots/list
        < {"jsonrpc":"2.0","id":2,"method":"acme/what"}
        = request acme/what
        < {"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}
        ~ Misplaced
        < {"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":{"elicitationId":"x"}}
        ~ Misplaced
        < [{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}]
        = batch
        ~ Garbage"#,
    );
}
