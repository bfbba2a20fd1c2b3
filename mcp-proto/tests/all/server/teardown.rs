//! How a connection ends: every request does so, exactly once.

use crate::script::server::{check_opened, config};

#[track_caller]
fn full(script: &str) {
    let requests = r#"> 1 tools/list
        = request 0 tools/list
        > [{"jsonrpc":"2.0","id":2,"method":"tools/list"}]
        = request 1 tools/list
        > 3 tools/list {META}
        = request 2 tools/list
        > 4 subscriptions/listen {"notifications":{},META}
        = listening 3
        < - notifications/subscriptions/acknowledged {"_meta":{"io.modelcontextprotocol/subscriptionId":4},"notifications":{}}
        ask 0 roots/list
        < 1 roots/list {}
        "#;
    let script = format!("{requests}{script}");
    check_opened(config(), "2025-03-26", r#"{"roots":{}}"#, &script);
}

#[test]
fn hanging_up_ends_everything_once() {
    full(
        r#"hangup
        = answer 4 0 Closed
        = cancelled 0
        = cancelled 1
        = cancelled 2
        = cancelled 3
        = closed
        timeout
        = none
        hangup
        changed tools
        cancel-all
        give-up 4
        answer 0 {}
        ! Closed
        ask - roots/list
        ! Closed
        in-flight
        = 0"#,
    );
}

/// The grace of an orderly shutdown is over; what was answered still leaves.
#[test]
fn cancelling_everything() {
    full(
        r#"in-flight
        = 3
        answer 1 {}
        < [{"jsonrpc":"2.0","id":2,"result":{}}]
        cancel-all
        < 4 = {"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":4}}
        < - notifications/cancelled {"requestId":4}
        < - notifications/cancelled {"requestId":1}
        = answer 4 0 Cancelled
        = cancelled 0
        = cancelled 2
        in-flight
        = 0
        closed
        = false"#,
    );
}

/// A request that was cancelled by the alias is not told of twice.
#[test]
fn the_alias_and_the_end() {
    check_opened(
        config(),
        "2025-11-25",
        "{}",
        r#"> 1 tools/list
        = request 0 tools/list
        > - $/cancelRequest {"id":1}
        = cancelled 0
        < 1 ! -32800
        hangup
        = closed"#,
    );
}

/// An event that could not be handled comes again.
#[test]
fn a_forgotten_request_comes_again() {
    check_opened(
        config(),
        "2025-11-25",
        "{}",
        r#"> 1 resources/subscribe {"uri":"a:b"}
        = request 0 resources/subscribe a:b
        forget 0
        forget 0
        watched a:b
        = false
        > 1 resources/subscribe {"uri":"a:b"}
        = request 1 resources/subscribe a:b
        answer 1 {}
        < 1 = {}
        watched a:b
        = true"#,
    );
}
