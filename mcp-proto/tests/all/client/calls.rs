//! Calls, answers, timeouts, cancellation, progress.

use mcp_proto::RevisionSet;

use crate::client::connect::{accepting, filled};
use crate::script::client as script;

/// A session of 2025-11-25 in which `tools`, `resources` with subscriptions and `logging` are
/// declared; ids go on from 2.
#[track_caller]
pub(crate) fn session(script: &str) {
    let opened = r#"connect
        > initialize 1
        < {"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{},"resources":{"subscribe":true},"logging":{}},"serverInfo":{"name":"s","version":"1"}}}
        = connected 2025-11-25 "s"
        > initialized
        "#;
    let config = accepting(RevisionSet::legacy());
    script::check(config, &filled(&format!("{opened}{script}")));
}

#[test]
fn a_call_and_its_answer() {
    session(
        r#"call 7 tools/list
        > {"jsonrpc":"2.0","id":2,"method":"tools/list"}
        call 8 tools/call {"name":"x"}
        > {"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"x"}}
        < {"jsonrpc":"2.0","id":3,"result":{"content":[]}}
        = answer 8 {"content":[]}
        < {"jsonrpc":"2.0","id":2,"error":{"code":-32603,"message":"oops"}}
        = error 7 -32603 oops"#,
    );
}

/// JR-07, JR-33, JR-51.
#[test]
fn an_answer_has_the_id_of_its_request_in_type_and_value() {
    session(
        r#"call 7 tools/list
        > {"jsonrpc":"2.0","id":2,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":"2","result":{}}
        ~ LateResponse
        < {"jsonrpc":"2.0","id":20,"result":{}}
        ~ LateResponse
        < {"jsonrpc":"2.0","id":18446744073709551618,"result":{}}
        ~ LateResponse
        < {"jsonrpc":"2.0","error":{"code":-32700,"message":"what?"}}
        = error - -32700
        < {"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}
        = error - -32700
        < {"jsonrpc":"2.0","id":2,"result":{}}
        = answer 7 {}
        < {"jsonrpc":"2.0","id":2,"result":{}}
        ~ LateResponse"#,
    );
}

/// JR-08, JR-09, JR-32.
#[test]
fn an_answer_that_cannot_be_used_ends_its_call_at_once() {
    for (line, told) in [
        (r#"{"jsonrpc":"2.0","id":2,"result":7}"#, "Result"),
        (
            r#"{"jsonrpc":"2.0","id":2,"result":{},"error":{"code":1,"message":"x"}}"#,
            "Invalid",
        ),
        (r#"{"jsonrpc":"2.0","id":2,"error":{"code":1}}"#, "Invalid"),
        (
            r#"{"jsonrpc":"2.0","id":2,"error":{"code":1.5,"message":"x"}}"#,
            "Invalid",
        ),
        (r#"{"jsonrpc":"1.0","id":2,"result":{}}"#, "Invalid"),
        (r#"{"jsonrpc":"2.0","result":{"a":tru},"id":2}"#, "Invalid"),
        (r#"{"id":2}"#, "Invalid"),
    ] {
        session(&format!(
            r#"call 7 tools/list
            > {{"jsonrpc":"2.0","id":2,"method":"tools/list"}}
            < {line}
            = failed 7 {told}
            < {{"jsonrpc":"2.0","id":2,"result":{{}}}}
            ~ LateResponse"#
        ));
    }
    // An array is not taken apart (JR-19), and nobody waits for what was in it.
    session(
        r#"call 7 tools/list
        > {"jsonrpc":"2.0","id":2,"method":"tools/list"}
        < [{"jsonrpc":"2.0","id":2,"result":{}},{"jsonrpc":"2.0","id":9,"method":"ping"}]
        = batch
        = failed 7 Batch
        ~ Garbage"#,
    );
}

/// JR-32, ST-22.
#[test]
fn garbage_is_reported_and_never_answered() {
    session(
        r#"call 7 tools/list
        > {"jsonrpc":"2.0","id":2,"method":"tools/list"}
        < hello, world
        = invalid unexpected byte at byte 0
        < 7
        = invalid message is not an object
        < []
        = invalid batch is empty
        < {"jsonrpc":"2.0","id":null,"method":"ping"}
        = invalid id must be a string or an integer
        < {"jsonrpc":"2.0","id":1.5,"method":"ping"}
        = invalid id must be a string or an integer
        # The id of a request is the server's, and ends no call of ours.
        < {"jsonrpc":"2.0","id":2,"method":7}
        = invalid method must be a string
        < {"jsonrpc":"2.0","id":2,"id":2,"result":{}}
        = invalid id occurs twice
        < {"jsonrpc":"2.0","id":2,"result":{}}
        = answer 7 {}"#,
    );
}

/// LC-17.
#[test]
fn what_the_server_did_not_declare_is_not_sent() {
    session(
        r#"call 7 prompts/list
        ! MissingCapability("prompts")
        call 7 completion/complete {"ref":{}}
        ! MissingCapability("completions")
        call 7 tasks/list
        ! MissingCapability("tasks.list")
        call 7 initialize {}
        ! NotInRevision
        call 7 server/discover
        ! NotInRevision
        call 7 subscriptions/listen {"notifications":{}}
        ! NotInRevision
        call 7 roots/list
        ! NotInRevision
        call 7 notifications/cancelled {}
        ! NotInRevision
        call 7 $/cancelRequest {}
        ! NotInRevision
        call 7 resources/subscribe {"uri":"file:///a"}
        > {"jsonrpc":"2.0","id":2,"method":"resources/subscribe","params":{"uri":"file:///a"}}
        call 8 logging/setLevel {"level":"info"}
        > {"jsonrpc":"2.0","id":3,"method":"logging/setLevel","params":{"level":"info"}}
        call 9 ping
        > {"jsonrpc":"2.0","id":4,"method":"ping"}
        call 10 acme/refill
        > {"jsonrpc":"2.0","id":5,"method":"acme/refill"}"#,
    );
}

#[test]
fn parameters_are_an_object() {
    for params in ["[]", "7", "\"x\"", "null"] {
        session(&format!("call 7 tools/call {params}\n! Encode"));
        session(&format!(
            "with progress\ncall 7 tools/call {params}\n! Encode"
        ));
    }
}

/// LC-11, LC-18, CN-06.
#[test]
fn a_call_expires_and_the_server_is_told() {
    session(
        r#"call 7 tools/list
        > {"jsonrpc":"2.0","id":2,"method":"tools/list"}
        with timeout=500
        call 8 tools/list
        > {"jsonrpc":"2.0","id":3,"method":"tools/list"}
        + 499
        + 1
        > {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3,"reason":"timed out"}}
        = failed 8 Timeout
        < {"jsonrpc":"2.0","id":3,"result":{}}
        ~ LateResponse
        + 59499
        + 1
        > {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"timed out"}}
        = failed 7 Timeout"#,
    );
}

/// LC-19.
#[test]
fn progress_extends_a_timeout_up_to_the_cap() {
    session(
        r#"with progress timeout=500 cap=1200
        call 7 tools/call {}
        > {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"_meta":{"progressToken":2}}}
        + 400
        < {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":0.5}}
        = progress 7 0.5
        + 400
        < {"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":2,"progress":1,"total":3,"message":"half"}}
        = progress 7 1/3 half
        + 399
        + 1
        > {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2,"reason":"timed out"}}
        = failed 7 Timeout"#,
    );
}

/// PG-09, PG-11.
#[test]
fn progress_that_makes_no_sense_is_dropped() {
    let progress = |params: &str, why: &str| {
        session(&format!(
            r#"with progress
            call 7 tools/call {{}}
            > {{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{{"_meta":{{"progressToken":2}}}}}}
            with
            call 8 tools/list
            > {{"jsonrpc":"2.0","id":3,"method":"tools/list"}}
            < {{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":2,"progress":5}}}}
            = progress 7 5
            < {{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}
            ~ {why}"#
        ));
    };
    progress(r#"{"progressToken":2,"progress":5}"#, "StaleProgress");
    progress(r#"{"progressToken":2,"progress":4.9}"#, "StaleProgress");
    progress(r#"{"progressToken":"2","progress":6}"#, "StaleProgress");
    progress(r#"{"progressToken":9,"progress":6}"#, "StaleProgress");
    // It did not ask.
    progress(r#"{"progressToken":3,"progress":6}"#, "StaleProgress");
    progress(r#"{"progressToken":2,"progress":-1e400}"#, "StaleProgress");
    progress(r#"{"progressToken":2,"progress":"6"}"#, "Malformed");
    progress(
        r#"{"progressToken":2,"progressToken":2,"progress":6}"#,
        "Malformed",
    );
    progress(r#"{"progressToken":2.5,"progress":6}"#, "Malformed");
    progress(r#"{"progress":6}"#, "Malformed");
    progress("{}", "Malformed");
}

/// CN-14.
#[test]
fn a_cancelled_call_is_never_heard_of_again() {
    session(
        r#"call 7 tools/list
        > {"jsonrpc":"2.0","id":2,"method":"tools/list"}
        cancel 7
        > {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}
        cancel 7
        < {"jsonrpc":"2.0","id":2,"result":{}}
        ~ LateResponse
        # CN-06, CN-16: their answer to a cancellation is late, too; for a live id it is an error.
        < {"jsonrpc":"2.0","id":2,"error":{"code":-32800,"message":"Request cancelled"}}
        ~ LateResponse
        call 8 tools/list
        > {"jsonrpc":"2.0","id":3,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":3,"error":{"code":-32800,"message":"Request cancelled"}}
        = error 8 -32800 Request cancelled
        cancel 8"#,
    );
}

/// CN-01: a request that was answered does not run any more.
#[test]
fn a_cancellation_that_the_answer_overtakes_is_not_sent() {
    session(
        r#"call 7 tools/list
        > {"jsonrpc":"2.0","id":2,"method":"tools/list"}
        cancel 7 & < {"jsonrpc":"2.0","id":2,"result":{}}
        ~ LateResponse"#,
    );
}

#[test]
fn a_full_table_refuses_and_empties() {
    let mut script = String::new();
    for n in 2..10 {
        script += &format!(
            "call {n} tools/list\n> {{\"jsonrpc\":\"2.0\",\"id\":{n},\"method\":\"tools/list\"}}\n"
        );
    }
    script += r#"call 10 tools/list
        ! TableFull
        cancel 5
        > {"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}
        call 10 tools/list
        > {"jsonrpc":"2.0","id":10,"method":"tools/list"}
        call 11 tools/list
        ! TableFull
        < {"jsonrpc":"2.0","id":2,"result":{}}
        = answer 2 {}
        call 11 tools/list
        > {"jsonrpc":"2.0","id":11,"method":"tools/list"}"#;
    session(&script);
}

#[test]
fn a_hang_up_ends_every_call_once() {
    session(
        r#"call 7 tools/list
        > {"jsonrpc":"2.0","id":2,"method":"tools/list"}
        call 8 tools/list
        > {"jsonrpc":"2.0","id":3,"method":"tools/list"}
        call 9 tools/list
        > {"jsonrpc":"2.0","id":4,"method":"tools/list"}
        < {"jsonrpc":"2.0","id":3,"result":{}}
        = answer 8 {}
        hangup
        = failed 7 Closed
        = failed 9 Closed
        = closed HungUp
        hangup
        < {"jsonrpc":"2.0","id":2,"result":{}}
        ~ Closed
        call 10 tools/list
        ! Closed
        cancel 7"#,
    );
}

#[test]
fn the_meta_of_the_caller_stays() {
    let check = |params: &str, sent: &str| {
        session(&format!(
            "with progress\ncall 7 tools/call {params}\n> {{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{sent}}}"
        ));
    };
    check("{}", r#"{"_meta":{"progressToken":2}}"#);
    check(r#"{"a":1}"#, r#"{"a":1,"_meta":{"progressToken":2}}"#);
    check(r#"{"_meta":{}}"#, r#"{"_meta":{"progressToken":2}}"#);
    check(
        r#"{"_meta":{"x":1},"a":[]}"#,
        r#"{"_meta":{"progressToken":2,"x":1},"a":[]}"#,
    );
    check(
        r#"{"a":{"_meta":{}},"b":"\"_meta\":{"}"#,
        r#"{"a":{"_meta":{}},"b":"\"_meta\":{","_meta":{"progressToken":2}}"#,
    );
    check(
        r#"{"a":"_meta\"","\u005fmeta":{}}"#,
        r#"{"a":"_meta\"","\u005fmeta":{"progressToken":2}}"#,
    );
    // What only the core may say, or nobody.
    for params in [
        r#"{"_meta":{"progressToken":9}}"#,
        r#"{"_meta":7}"#,
        r#"{"_meta":{},"_meta":{}}"#,
    ] {
        session(&format!(
            "with progress\ncall 7 tools/call {params}\n! Encode"
        ));
    }
}

/// JR-31: a trace is told in every revision, and only once.
#[test]
fn a_call_tells_its_trace() {
    let check = |with: &str, params: &str, sent: &str| {
        session(&format!(
            "with {with}\ncall 7 tools/call {params}\n> {{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{sent}}}"
        ));
    };
    check(
        "parent=00-1-2-01",
        "{}",
        r#"{"_meta":{"traceparent":"00-1-2-01"}}"#,
    );
    check(
        "parent=00-1-2-01 state=a=b,c=d",
        r#"{"_meta":{"x":1},"a":[]}"#,
        r#"{"_meta":{"traceparent":"00-1-2-01","tracestate":"a=b,c=d","x":1},"a":[]}"#,
    );
    check(
        "progress parent=00-1-2-01 state=a=b",
        r#"{"_meta":{}}"#,
        r#"{"_meta":{"progressToken":2,"traceparent":"00-1-2-01","tracestate":"a=b"}}"#,
    );
    check(
        "parent=00-1-2-01 baggage=user=a,b=c;ttl=1",
        "{}",
        r#"{"_meta":{"traceparent":"00-1-2-01","baggage":"user=a,b=c;ttl=1"}}"#,
    );
    for own in ["traceparent", "tracestate", "baggage"] {
        session(&format!(
            "with parent=00-1-2-01\ncall 7 tools/call {{\"_meta\":{{\"{own}\":\"\"}}}}\n! Encode"
        ));
    }
}
