//! Subscriptions and list changes of a legacy session: RS-10, RS-16, LC-26.

use mcp_proto::server::ServerConfig;

use crate::script::server::{check, check_opened, config};

/// RS-10: only after a subscription that the application agreed to.
#[test]
fn rs_10_updates() {
    check_opened(
        config(),
        "2025-11-25",
        "{}",
        r#"> 1 resources/subscribe {"uri":"file:///a"}
        = request 0 resources/subscribe file:///a
        > 2 resources/subscribe {"uri":"file:///b"}
        = request 1 resources/subscribe file:///b
        > 3 resources/subscribe {"uri":"file:///c"}
        = request 2 resources/subscribe file:///c
        updated file:///a
        answer 0 {}
        < 1 = {}
        < - notifications/resources/updated {"uri":"file:///a"}
        fail 1 -32002
        < 2 ! -32002 no
        > - notifications/cancelled {"requestId":3}
        = cancelled 2
        updated file:///a & updated file:///b & updated file:///c & updated file:///a/sub
        < - notifications/resources/updated {"uri":"file:///a"}"#,
    );
}

/// RS-16: twice is once, and who was never subscribed can leave.
#[test]
fn rs_16_twice_is_once() {
    check_opened(
        config(),
        "2024-11-05",
        "{}",
        r#"> 1 resources/subscribe {"uri":"x:1"}
        = request 0 resources/subscribe x:1
        > 2 resources/subscribe {"uri":"x:\u0031"}
        = request 1 resources/subscribe x:1
        answer 0 {}
        < 1 = {}
        answer 1 {}
        < 2 = {}
        > 3 resources/subscribe {"uri":"x:1"}
        = request 2 resources/subscribe x:1
        answer 2 {}
        < 3 = {}
        updated x:1
        < - notifications/resources/updated {"uri":"x:1"}
        > 4 resources/unsubscribe {"uri":"x:2"}
        = request 3 resources/unsubscribe x:2
        answer 3 {}
        < 4 = {}
        > 5 resources/unsubscribe {"uri":"x:1"}
        = request 4 resources/unsubscribe x:1
        answer 4 {}
        < 5 = {}
        > 6 resources/unsubscribe {"uri":"x:1"}
        = request 5 resources/unsubscribe x:1
        answer 5 {}
        < 6 = {}
        updated x:1
        watched x:1
        = false"#,
    );
}

#[test]
fn subscriptions_are_bounded() {
    let long = "x".repeat(300);
    let mut script = format!(
        r#"> 1 resources/subscribe {{"uri":"{long}"}}
        < 1 ! -32603 limit reached: subscriptions
        "#
    );
    for id in 0..5 {
        let uri = format!("x:{}", "y".repeat(30 + id));
        script += &format!(
            r#"> {id} resources/subscribe {{"uri":"{uri}"}}
            = request {id} resources/subscribe {uri}
            answer {id} {{}}
            < {id} = {{}}
            "#
        );
    }
    script += &format!(
        r#"> 9 resources/subscribe {{"uri":"{}"}}
        < 9 ! -32603 limit reached: subscriptions
        in-flight
        = 0"#,
        "x".repeat(40)
    );
    check_opened(config(), "2025-11-25", "{}", &script);
}

/// LC-26: what changes before `initialized` is told after it, once. RS-02, PR-02.
#[test]
fn list_changes_wait_until_initialized() {
    check(
        config(),
        r#"changed tools
        open 2025-11-25 {}
        changed resources
        changed tools
        changed resources
        > - notifications/initialized
        = initialized
        < - notifications/tools/list_changed
        < - notifications/resources/list_changed
        changed prompts
        < - notifications/prompts/list_changed"#,
    );
    // Who did not declare it does not tell.
    check_opened(
        ServerConfig::new("s", "1"),
        "2025-11-25",
        "{}",
        "changed tools",
    );
}

/// TL-02 in both eras of one pipe.
#[test]
fn both_eras_hear_of_a_change() {
    check_opened(
        config(),
        "2025-11-25",
        "{}",
        r#"> 1 subscriptions/listen {"notifications":{"toolsListChanged":true},META}
        = listening 0
        < - notifications/subscriptions/acknowledged {"_meta":{"io.modelcontextprotocol/subscriptionId":1},"notifications":{"toolsListChanged":true}}
        changed tools
        < - notifications/tools/list_changed {"_meta":{"io.modelcontextprotocol/subscriptionId":1}}
        < - notifications/tools/list_changed"#,
    );
}
