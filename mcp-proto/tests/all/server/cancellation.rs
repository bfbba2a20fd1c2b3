//! Cancellation, and `$/cancelRequest` of other protocols.

use mcp_proto::server::ServerConfig;

use crate::script::server::{check, check_opened, config};

/// A session with a call that wants progress.
#[track_caller]
fn busy(script: &str) {
    let call = r#"> 1 tools/call {"name":"x","_meta":{"progressToken":1}}
        = request 0 tools/call x
        "#;
    check_opened(config(), "2025-11-25", "{}", &format!("{call}{script}"));
}

/// CN-04, ST-16: nothing more is said of it. CN-07.
#[test]
fn cn_04_no_response_follows() {
    busy(
        r#"> - notifications/cancelled {"requestId":1,"reason":"user\ud83d"}
        = cancelled 0 user�
        answer 0 {}
        ! Stale
        progress 0 1
        ! Stale
        in-flight
        = 0
        # Its id is free again.
        > 1 tools/list
        = request 1 tools/list"#,
    );
}

/// CN-05, CN-08, CN-13.
#[test]
fn cn_05_what_names_nothing_is_ignored() {
    let mut script = String::new();
    for id in ["2", "\"1\"", "10", "-1", "\"\""] {
        script += &format!(
            "> - notifications/cancelled {{\"requestId\":{id}}}
            ~ UnknownCancellation\n"
        );
    }
    for id in ["null", "1.0", "[1]", "{}", "true", "1e0"] {
        script += &format!(
            "> - notifications/cancelled {{\"requestId\":{id}}}
            ~ Malformed\n"
        );
    }
    busy(&format!(
        r#"{script}
        > - notifications/cancelled {{}}
        ~ Malformed
        > - notifications/cancelled {{"requestId":1,"requestId":1}}
        ~ Malformed
        > - notifications/cancelled {{"id":1}}
        ~ Malformed
        > - notifications/cancelled
        ~ Malformed
        live 0
        = true
        answer 0 {{}}
        < 1 = {{}}
        > - notifications/cancelled {{"requestId":1}}
        ~ UnknownCancellation"#
    ));
}

/// CN-02: `initialize` is answered at once, so nothing is left to cancel.
#[test]
fn cn_02_initialize_is_never_cancelled() {
    check(
        config(),
        r#"> - notifications/cancelled {"requestId":0}
        ~ UnknownCancellation
        open 2025-11-25 {}
        revision
        = 2025-11-25
        > - notifications/cancelled {"requestId":0}
        ~ UnknownCancellation
        > - $/cancelRequest {"id":0}
        ~ UnknownCancellation
        revision
        = 2025-11-25"#,
    );
}

/// CN-15, CN-16.
#[test]
fn the_alias_is_answered_once() {
    busy(
        r#"> - $/cancelRequest {"id":1}
        = cancelled 0
        < 1 ! -32800
        answer 0 {}
        ! Stale
        > - $/cancelRequest {"id":1}
        ~ UnknownCancellation
        > - $/cancelRequest {"id":"1"}
        ~ UnknownCancellation
        > - $/cancelRequest {"id":5}
        ~ UnknownCancellation
        > - $/cancelRequest {}
        ~ Malformed
        > - $/cancelRequest {"id":null}
        ~ Malformed
        > - $/cancelRequest {"requestId":1}
        ~ Malformed
        > - $/cancelRequest {"id":1,"id":1}
        ~ Malformed"#,
    );
}

/// CN-15: as a request it is unknown, and the switch turns the notification off.
#[test]
fn the_alias_has_limits() {
    busy(
        r#"> 2 $/cancelRequest {"id":1}
        < 2 ! -32601
        live 0
        = true"#,
    );
    let strict = ServerConfig {
        cancel_alias: false,
        ..config()
    };
    check_opened(
        strict,
        "2025-11-25",
        "{}",
        r#"> 1 tools/list
        = request 0 tools/list
        > - $/cancelRequest {"id":1}
        ~ UnknownNotification
        live 0
        = true"#,
    );
}

/// A full table refuses, and still hears the cancellation that empties it.
#[test]
fn a_full_table_keeps_reading() {
    let calls: String = (0..8)
        .map(|n| format!("> {} tools/list\n= request {n} tools/list\n", n + 1))
        .collect();
    let script = r#"> 9 tools/list
        < 9 ! -32603 limit reached: requests in flight
        > 10 ping
        < 10 = {}
        > - notifications/cancelled {"requestId":3}
        = cancelled 2
        > 9 tools/list
        = request 8 tools/list
        in-flight
        = 8"#;
    check_opened(config(), "2025-11-25", "{}", &(calls + script));
}
