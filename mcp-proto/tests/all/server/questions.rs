//! Questions of the server in a legacy session: LC-08, LC-17, LC-18, LC-22, LC-23.

use core::time::Duration;

use mcp_proto::PingPolicy;
use mcp_proto::server::ServerConfig;

use crate::script::server::{check, check_opened, config};

const ALL: &str = r#"{"roots":{},"sampling":{},"elicitation":{}}"#;

/// In a session of 2025-11-25 with a client that can be asked for anything. `patience` stands for
/// a timeout of 10 s that progress stretches to 25 s.
#[track_caller]
fn session(script: &str) {
    let script = script.replace("patience", "timeout=10000 cap=25000");
    check_opened(config(), "2025-11-25", ALL, &script);
}

#[test]
fn questions_are_answered_once() {
    session(
        r#"ask - roots/list {} cookie=7
        < 1 roots/list {}
        ask - sampling/createMessage {"maxTokens":1} cookie=8
        < 2 sampling/createMessage {"maxTokens":1}
        # JR-33: type and value decide.
        > "1" = {}
        ~ LateResponse
        > 3 = {}
        ~ LateResponse
        > 0 = {}
        ~ LateResponse
        > -1 = {}
        ~ LateResponse
        > 18446744073709551617 = {}
        ~ LateResponse
        > 2 ! -1 no
        = answer 1 8 error -1 no
        > 1 = {"roots":[]}
        = answer 0 7 {"roots":[]}
        > 1 = {"roots":[]}
        ~ LateResponse"#,
    );
}

/// JR-32: a reply that cannot be used ends its question at once.
#[test]
fn an_unusable_answer_ends_its_question() {
    for (line, why) in [
        (r#"{"jsonrpc":"2.0","id":1,"result":[]}"#, "Members"),
        (r#"{"jsonrpc":"1.0","id":1,"result":{}}"#, "Version"),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
            "Members",
        ),
        (r#"{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}"#, "Error"),
    ] {
        session(&format!(
            "ask - roots/list {{}} cookie=7
            < 1 roots/list {{}}
            > {line}
            = answer 0 7 Unusable({why})"
        ));
    }
}

/// LC-08.
#[test]
fn lc_08_no_questions_before_initialized() {
    check(
        config(),
        r#"ask - roots/list
        ! NotReady
        open 2025-11-25 {"roots":{}}
        ask - roots/list
        ! NotReady
        > - notifications/initialized
        = initialized
        ask - roots/list
        < 1 roots/list {}"#,
    );
}

/// LC-17, LC-23, EL-02, SP-03, SP-04, RT-05.
#[test]
fn lc_23_capabilities_of_the_client() {
    #[track_caller]
    fn check(version: &str, capabilities: &str, question: &str, expected: &str) {
        let expected = match expected {
            "" => format!("< 1 {question}"),
            refused => format!("! {refused}"),
        };
        let script = format!("ask - {question}\n{expected}");
        check_opened(config(), version, capabilities, &script);
    }
    const NOT_IN_REVISION: &str = "NotInRevision";
    let refused = |what| format!("MissingCapability({what:?})");
    let roots = "roots/list {}";
    check("2024-11-05", r#"{"roots":{}}"#, roots, "");
    check("2024-11-05", r#"{"roots":null}"#, roots, &refused("roots"));
    check("2024-11-05", "{}", roots, &refused("roots"));
    let form = r#"elicitation/create {"message":"m"}"#;
    let url = r#"elicitation/create {"mode":"url","url":"a:b"}"#;
    let urls = r#"{"elicitation":{"url":{}}}"#;
    check("2025-03-26", ALL, form, NOT_IN_REVISION);
    check("2025-06-18", ALL, form, "");
    check("2025-06-18", "{}", form, &refused("elicitation"));
    check("2025-06-18", urls, url, NOT_IN_REVISION);
    check("2025-11-25", urls, url, "");
    check("2025-11-25", urls, form, &refused("elicitation.form"));
    check("2025-11-25", ALL, url, &refused("elicitation.url"));
    // EL-02, EL-04: a mode that is not known was not declared, and only a missing one is a form.
    for mode in [r#"{"mode":"voice"}"#, r#"{"mode":null}"#] {
        let unknown = format!("elicitation/create {mode}");
        check("2025-11-25", ALL, &unknown, NOT_IN_REVISION);
    }
    let named = r#"elicitation/create {"mode":"form"}"#;
    check("2025-11-25", ALL, named, "");
    let plain = r#"sampling/createMessage {"maxTokens":1,"includeContext":"none"}"#;
    let tools = r#"sampling/createMessage {"toolChoice":{}}"#;
    let context = r#"sampling/createMessage {"includeContext":"thisServer"}"#;
    let with_tools = r#"{"sampling":{"tools":{}}}"#;
    check("2025-11-25", ALL, plain, "");
    check("2025-11-25", ALL, tools, &refused("sampling.tools"));
    check("2025-11-25", with_tools, tools, "");
    check("2025-06-18", with_tools, tools, NOT_IN_REVISION);
    check("2025-11-25", ALL, context, &refused("sampling.context"));
    check("2025-06-18", ALL, context, "");
    let both = r#"sampling/createMessage {"tools":[],"includeContext":"thisServer"}"#;
    check("2025-11-25", with_tools, both, &refused("sampling.context"));
    let with_both = r#"{"sampling":{"tools":{},"context":{}}}"#;
    check("2025-11-25", with_both, both, "");
    check("2025-11-25", ALL, "tasks/list {}", &refused("tasks.list"));
    check("2025-06-18", ALL, "tasks/list {}", NOT_IN_REVISION);
    check("2025-11-25", ALL, "tools/list {}", NOT_IN_REVISION);
    check("2025-11-25", ALL, "ping {}", "");
    check("2025-11-25", ALL, "roots/list []", "Encode");
}

/// LC-18: an expired question is cancelled, and its late answer dropped.
#[test]
fn lc_18_questions_expire() {
    session(
        r#"ask - roots/list {} patience cookie=7
        < 1 roots/list {}
        + 9999
        + 1
        < - notifications/cancelled {"requestId":1}
        = answer 0 7 Timeout
        > 1 = {}
        ~ LateResponse
        timeout
        = none"#,
    );
}

/// LC-19, PG-09: progress stretches the timeout, up to the cap.
#[test]
fn lc_19_progress_stretches_the_timeout() {
    session(
        r#"ask - roots/list {"_meta":{"a":1}} progress patience cookie=7
        < 1 roots/list {"_meta":{"progressToken":1,"a":1}}
        + 9000
        > - notifications/progress {"progressToken":1,"progress":0.5}
        = progress 0 7 0.5
        > - notifications/progress {"progressToken":"1","progress":1}
        ~ StaleProgress
        > - notifications/progress {"progressToken":2,"progress":1}
        ~ StaleProgress
        > - notifications/progress {"progressToken":1,"progress":0.5}
        ~ StaleProgress
        > - notifications/progress {"progressToken":1,"progress":0.25}
        ~ StaleProgress
        > - notifications/progress {"progressToken":1,"progress":"1"}
        ~ Malformed
        > - notifications/progress {"progressToken":null,"progress":1}
        ~ Malformed
        > - notifications/progress {"progressToken":1,"progress":null}
        ~ Malformed
        + 9000
        > - notifications/progress {"progressToken":1,"progress":1}
        = progress 0 7 1
        + 6999
        + 1
        < - notifications/cancelled {"requestId":1}
        = answer 0 7 Timeout"#,
    );
}

/// PG-03: only the token that a question gave is one.
#[test]
fn pg_03_progress_that_was_not_asked_for_is_ignored() {
    session(
        r#"ask - roots/list {} patience cookie=7
        < 1 roots/list {}
        + 9000
        > - notifications/progress {"progressToken":1,"progress":0.5}
        ~ StaleProgress
        + 999
        + 1
        < - notifications/cancelled {"requestId":1}
        = answer 0 7 Timeout"#,
    );
}

/// CN-01, CN-06.
#[test]
fn the_asker_gives_up() {
    session(
        r#"ask - roots/list
        < 1 roots/list {}
        give-up 0 & give-up 0
        < - notifications/cancelled {"requestId":1}
        give-up 0
        > 1 = {}
        ~ LateResponse
        # An answer that crosses the cancellation.
        ask - roots/list
        < 2 roots/list {}
        give-up 1 & > 2 = {}
        ~ LateResponse
        < - notifications/cancelled {"requestId":2}"#,
    );
}

/// A question ends with the request that it was asked for.
#[test]
fn questions_end_with_their_request() {
    session(
        r#"> "c" tools/call {"name":"x"}
        = request 0 tools/call x
        ask 0 roots/list {} cookie=7
        < 1 roots/list {}
        ask - roots/list {} cookie=8
        < 2 roots/list {}
        > - notifications/cancelled {"requestId":"c"}
        = cancelled 0
        < - notifications/cancelled {"requestId":1}
        = answer 1 7 Cancelled
        ask 0 roots/list
        ! Stale
        > "c" tools/call {"name":"x"}
        = request 3 tools/call x
        ask 3 roots/list {} cookie=9
        < 3 roots/list {}
        answer 3 {}
        < "c" = {}
        < - notifications/cancelled {"requestId":3}
        = answer 4 9 Cancelled"#,
    );
}

#[test]
fn questions_are_bounded() {
    session(
        r#"ask - roots/list
        < 1 roots/list {}
        ask - roots/list
        < 2 roots/list {}
        ask - roots/list
        < 3 roots/list {}
        ask - roots/list
        < 4 roots/list {}
        ask - roots/list
        ! TableFull
        > 2 = {}
        = answer 1 0 {}
        ask - roots/list
        < 5 roots/list {}"#,
    );
}

/// LC-22: an interval, a number of misses, each told, the last one closes.
#[test]
fn lc_22_pings() {
    let config = ServerConfig {
        ping: Some(PingPolicy {
            interval: Duration::from_secs(30),
            timeout: Duration::from_secs(10),
            misses: 2,
        }),
        ..config()
    };
    check_opened(
        config,
        "2025-11-25",
        ALL,
        r#"+ 29999
        + 1
        < 1 ping
        + 9999
        > 1 = {}
        + 29999
        + 1
        < 2 ping
        + 10000
        = missed 1 of 2
        > 2 = {}
        ~ LateResponse
        + 30000
        < 3 ping
        # An error is a sign of life as well.
        > 3 ! -32601 m
        + 30000
        < 4 ping
        # So is an answer that cannot be used.
        > {"jsonrpc":"2.0","id":4,"result":{},"result":{}}
        + 30000
        < 5 ping
        + 10000
        = missed 1 of 2
        + 30000
        < 6 ping
        > 1 tools/list
        = request 0 tools/list
        + 10000
        = missed 2 of 2
        = cancelled 0
        = closed
        closed
        = true
        timeout
        = none"#,
    );
}

/// Whoever gave up is not told of an end that nobody had told it of yet.
#[test]
fn giving_up_what_has_ended() {
    session(
        r#"ask - roots/list
        < 1 roots/list {}
        cancel-all & give-up 0
        < - notifications/cancelled {"requestId":1}"#,
    );
    // The client has heard of it.
    session(
        r#"ask - roots/list
        < 1 roots/list {}
        cancel-all & transmit & give-up 0
        < - notifications/cancelled {"requestId":1}"#,
    );
}
