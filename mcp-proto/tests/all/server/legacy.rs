//! The handshake and what it opens: the session, logging, progress and capability gates.

use mcp_proto::model::{LoggingLevel, ServerCapabilities, ServerFeatures};
use mcp_proto::server::{ProgressReport, ServerConfig};
use mcp_proto::{CustomMethod, IgnoreReason, Revision, RevisionSet, SendError};

use super::Talk;
use crate::script::server::{
    INITIALIZED, METHOD_NOT_FOUND, config, error, initialize, notification, request,
};

fn opened(version: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"{version}","capabilities":{{"logging":{{}},"prompts":{{"listChanged":true}},"resources":{{"subscribe":true,"listChanged":true}},"tools":{{"listChanged":true}}}},"serverInfo":{{"name":"s","version":"1"}}}}}}"#
    )
}

/// LC-04: the same version if it is accepted, otherwise the newest that is. LC-03.
#[test]
fn lc_04_versions_are_negotiated() {
    #[track_caller]
    fn check(revisions: RevisionSet, offered: &str, expected: &str) {
        let mut talk = Talk::with(ServerConfig {
            revisions,
            ..config()
        });
        talk.say(&initialize(offered, "{}"))
            .hears(&[&opened(expected)]);
        assert_eq!(talk.machine.revision().unwrap().as_str(), expected);
    }
    let all = RevisionSet::all();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        check(all, version, version);
        check(all, &version.replace('-', "\\u002d"), version);
    }
    for version in [
        "1999-01-01",
        "2030-01-01",
        "",
        "2026-07-28",
        "DRAFT-2026-v1",
    ] {
        check(all, version, "2025-11-25");
    }
    let recent = RevisionSet::at_least(Revision::V2025_06_18);
    check(recent, "2024-11-05", "2025-11-25");
    check(recent, "2025-06-18", "2025-06-18");
    check(
        RevisionSet::of(&[Revision::V2024_11_05]),
        "2025-11-25",
        "2024-11-05",
    );
    check(
        all.with(Revision::DraftV1),
        "DRAFT-2026-v1",
        "DRAFT-2026-v1",
    );
}

/// LC-15: only what is no version at all is an error.
#[test]
fn lc_15_no_version_is_refused_with_those_supported() {
    let supported =
        r#""supported":["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]"#;
    for (version, requested) in [
        ("", String::new()),
        (r#""protocolVersion":7"#, r#","requested":7"#.into()),
        (r#""protocolVersion":null"#, r#","requested":null"#.into()),
    ] {
        let mut talk = Talk::with(config());
        talk.say(&request("0", "initialize", version)).hears(&[&format!(
            r#"{{"jsonrpc":"2.0","id":0,"error":{{"code":-32602,"message":"protocolVersion is missing or no string","data":{{{supported}{requested}}}}}}}"#
        )]);
        talk.say(&initialize("2025-11-25", "{}"))
            .hears(&[&opened("2025-11-25")]);
    }
}

#[test]
fn initialize_with_doubled_members_is_refused() {
    let twice = r#""protocolVersion":"2025-11-25","protocolVersion":"2025-06-18""#;
    let mut talk = Talk::with(config());
    talk.say(&request("0", "initialize", twice)).hears(&[&error(
        "0",
        -32602,
        "protocolVersion occurs twice",
    )]);
}

/// LC-01: every revision with a handshake says who is asking.
#[test]
fn lc_01_initialize_names_its_client() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        for info in ["", r#","clientInfo":"c""#, r#","clientInfo":null"#] {
            let params = format!(r#""protocolVersion":"{version}","capabilities":{{}}{info}"#);
            let mut talk = Talk::with(config());
            talk.say(&request("0", "initialize", &params))
                .hears(&[&error("0", -32602, "clientInfo is missing or malformed")]);
            // Nothing was opened, so a better one is welcome.
            talk.say(&initialize(version, "{}"))
                .hears(&[&opened(version)]);
        }
    }
}

/// LC-12, LC-21. JR-10.
#[test]
fn lc_12_only_ping_is_served_before_the_handshake() {
    let mut talk = Talk::with(config());
    talk.say(&request("1", "tools/list", ""))
        .hears(&[&error("1", -32600, "not initialized")]);
    talk.say(&request("\"p\"", "ping", ""))
        .hears(&[r#"{"jsonrpc":"2.0","id":"p","result":{}}"#]);
    talk.say(&initialize("2025-11-25", "{}"))
        .hears(&[&opened("2025-11-25")])
        .sees(&[]);
}

/// LC-13: a second handshake changes nothing.
#[test]
fn lc_13_second_initialize_is_refused() {
    let mut talk = Talk::open(config(), "2025-06-18", "{}");
    talk.say(&initialize("2025-03-26", "{}"))
        .hears(&[&error("0", -32600, "already initialized")]);
    assert_eq!(talk.machine.revision(), Some(Revision::V2025_06_18));
}

/// LC-14: a request counts as `initialized`, a ping does not.
#[test]
fn lc_14_requests_race_initialized() {
    let mut talk = Talk::with(config());
    talk.say(&initialize("2025-11-25", "{}"))
        .hears(&[&opened("2025-11-25")]);
    talk.say(&request("1", "ping", ""))
        .hears(&[r#"{"jsonrpc":"2.0","id":1,"result":{}}"#])
        .sees(&[]);
    talk.say(&request("2", "tools/list", ""))
        .sees(&["request 0 tools/list", "initialized"]);
    talk.say(INITIALIZED).sees(&[]);
    // So does one that is refused.
    let mut talk = Talk::with(config());
    talk.say(&initialize("2025-11-25", "{}"))
        .say(&request("1", "nonsense", ""))
        .sees(&["initialized"]);
}

/// LC-21, in every phase.
#[test]
fn lc_21_pings_are_answered_in_every_phase() {
    let mut talk = Talk::with(config());
    let pong = [r#"{"jsonrpc":"2.0","id":7,"result":{}}"#];
    let ping = request("7", "ping", "");
    talk.say(&ping).hears(&pong);
    talk.say(&initialize("2024-11-05", "{}"))
        .hears(&[&opened("2024-11-05")]);
    talk.say(&ping).hears(&pong);
    talk.say(INITIALIZED);
    talk.say(&ping).hears(&pong);
}

/// LC-17, JR-35: what is not declared, not in the revision, or the other side's to be asked.
#[test]
fn lc_17_gates() {
    #[track_caller]
    fn check(capabilities: ServerCapabilities<'static>, version: &str, method: &str, params: &str) {
        let config = ServerConfig {
            capabilities,
            ..config()
        };
        let mut talk = Talk::open(config, version, "{}");
        talk.say(&request("1", method, params))
            .hears(&[&error("1", -32601, METHOD_NOT_FOUND)])
            .sees(&[]);
    }
    let nothing = ServerCapabilities::default();
    let all = config().capabilities;
    for method in [
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "completion/complete",
        "tasks/list",
    ] {
        check(nothing, "2025-11-25", method, "");
    }
    check(nothing, "2024-11-05", "completion/complete", "");
    check(
        nothing,
        "2025-11-25",
        "logging/setLevel",
        r#""level":"info""#,
    );
    check(nothing, "2025-11-25", "tools/call", r#""name":"x""#);
    for method in [
        "roots/list",
        "sampling/createMessage",
        "elicitation/create",
        "subscriptions/listen",
        "tasks/get",
        "nonsense",
        "notifications/initialized",
        "notifications/cancelled",
        "shutdown",
        "exit",
        "$/cancelRequest",
        "TOOLS/LIST",
        "tools/list ",
        "",
    ] {
        check(all, "2025-11-25", method, "");
    }
}

#[test]
fn methods_of_the_application_reach_it() {
    let config = ServerConfig {
        methods: const {
            &[
                CustomMethod::new("acme/refill"),
                CustomMethod::new("notifications/acme"),
            ]
        },
        ..config()
    };
    let mut talk = Talk::open(config, "2025-11-25", "{}");
    talk.say(&request("1", "acme/refill", ""))
        .say(&notification("notifications/acme", ""))
        .say(&notification("notifications/other", ""))
        .sees(&["request 0 acme/refill", "notification notifications/acme"]);
}

#[test]
fn a_tool_is_listed_and_called() {
    let mut talk = Talk::open(config(), "2025-11-25", "{}");
    talk.say(&request("1", "tools/list", ""))
        .sees(&["request 0 tools/list"]);
    talk.answer(0, r#"{"tools":[]}"#)
        .hears(&[r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[]}}"#]);
    talk.say(&request(
        "9007199254740993",
        "tools/call",
        r#""name":"echo","arguments":{}"#,
    ))
    .sees(&["request 1 tools/call echo"]);
    talk.answer(1, "{\"content\":[\n]}")
        .hears(&[r#"{"jsonrpc":"2.0","id":9007199254740993,"result":{"content":[ ]}}"#]);
    assert_eq!(
        talk.outcome(
            1,
            mcp_proto::Outcome::Result(&crate::script::server::raw("{}"))
        ),
        Err(SendError::Stale)
    );
    assert_eq!(talk.machine.in_flight(), 0);
}

#[test]
fn a_result_is_an_object() {
    let mut talk = Talk::open(config(), "2025-11-25", "{}");
    talk.say(&request("1", "tools/list", ""));
    for text in ["[]", "null", "1", "\"{}\""] {
        let result = crate::script::server::raw(text);
        let outcome = mcp_proto::Outcome::Result(&result);
        assert_eq!(talk.outcome(0, outcome), Err(SendError::Encode));
    }
    talk.answer(0, "{}");
}

/// RS-03, JR-24: codes by revision.
#[test]
fn error_codes_of_the_legacy_era() {
    #[track_caller]
    fn check(version: &str, code: i64, expected: i64) {
        let mut talk = Talk::open(config(), version, "{}");
        talk.say(&request("1", "resources/read", r#""uri":"a:b""#))
            .sees(&["request 0 resources/read a:b"]);
        talk.fail(0, code).hears(&[&error("1", expected, "no")]);
    }
    check("2024-11-05", -32002, -32002);
    check("2025-11-25", -32002, -32002);
    check("2025-11-25", -32042, -32042);
    check("2025-06-18", -32042, -32603);
    check("2025-11-25", -32602, -32602);
    check("2025-11-25", 7, 7);
}

/// LG-02..04.
#[test]
fn lg_03_levels() {
    let mut talk = Talk::open(config(), "2025-11-25", "{}");
    let line = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","logger":"l","data":"x"}}"#;
    talk.log(None, LoggingLevel::Debug, "x").unwrap();
    talk.hears(&[]);
    talk.log(None, LoggingLevel::Info, "x").unwrap();
    talk.hears(&[line]);
    talk.say(&request("1", "logging/setLevel", r#""level":"error""#))
        .hears(&[r#"{"jsonrpc":"2.0","id":1,"result":{}}"#]);
    talk.log(None, LoggingLevel::Warning, "x").unwrap();
    talk.hears(&[]);
    for level in [
        r#""level":"loud""#,
        r#""level":3"#,
        "",
        r#""level":"Error""#,
    ] {
        talk.say(&request("2", "logging/setLevel", level))
            .hears(&[&error("2", -32602, "unknown log level")]);
    }
    talk.say(&request(
        "3",
        "logging/setLevel",
        r#""level":"info","level":"debug""#,
    ))
    .hears(&[&error("3", -32602, "level occurs twice")]);
    talk.log(None, LoggingLevel::Error, "x").unwrap();
    talk.hears(&[&line.replace("\"info\"", "\"error\"")]);
}

/// LG-01, LC-08.
#[test]
fn logs_need_the_capability_and_a_session() {
    let mut talk = Talk::with(config());
    assert_eq!(
        talk.log(None, LoggingLevel::Error, "x"),
        Err(SendError::NotReady)
    );
    talk.say(&initialize("2025-11-25", "{}"));
    talk.log(None, LoggingLevel::Error, "x").unwrap();
    let mut talk = Talk::open(ServerConfig::new("s", "1"), "2025-11-25", "{}");
    assert_eq!(
        talk.log(None, LoggingLevel::Error, "x"),
        Err(SendError::MissingCapability("logging"))
    );
}

/// PG-01..05, PG-11.
#[test]
fn pg_04_progress_rises() {
    let mut talk = Talk::open(config(), "2025-11-25", "{}");
    let call = r#""name":"x","_meta":{"progressToken":"\u0074"}"#;
    talk.say(&request("1", "tools/call", call));
    let at = |progress| ProgressReport::new(progress);
    talk.progress(0, at(0.5)).unwrap();
    let full = ProgressReport {
        progress: 1.0,
        total: Some(2.0),
        message: Some("half"),
    };
    talk.progress(0, full).unwrap();
    talk.hears(&[
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"\u0074","progress":0.5}}"#,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"\u0074","progress":1,"total":2,"message":"half"}}"#,
    ]);
    for value in [1.0, 0.9, -1.0, f64::NAN, f64::INFINITY] {
        assert_eq!(talk.progress(0, at(value)), Err(SendError::Progress));
    }
    talk.answer(0, "{}");
    assert_eq!(talk.progress(0, at(2.0)), Err(SendError::Stale));
    talk.say(&request("2", "tools/call", r#""name":"x""#));
    assert_eq!(talk.progress(1, at(1.0)), Err(SendError::Progress));
}

/// 2024-11-05 has no `message`.
#[test]
fn progress_messages_are_left_out_where_there_are_none() {
    let mut talk = Talk::open(config(), "2024-11-05", "{}");
    talk.say(&request(
        "1",
        "tools/list",
        r#""_meta":{"progressToken":1}"#,
    ));
    let told = ProgressReport {
        message: Some("m"),
        ..ProgressReport::new(1.0)
    };
    talk.progress(0, told).unwrap();
    talk.hears(&[
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#,
    ]);
}

/// PG-02: a token that no slot can keep gets no progress, and costs nothing else.
#[test]
fn progress_tokens_have_a_type() {
    let mut talk = Talk::open(config(), "2025-11-25", "{}");
    for token in ["null", "1.5", "[]", "true", "{}"] {
        talk.say(&request(
            "1",
            "tools/list",
            &format!(r#""_meta":{{"progressToken":{token}}}"#),
        ))
        .hears(&[&error(
            "1",
            -32602,
            "_meta.progressToken is missing or malformed",
        )]);
    }
    let long = format!(r#""_meta":{{"progressToken":"{}"}}"#, "x".repeat(65));
    talk.say(&request("2", "tools/list", &long))
        .sees(&["request 0 tools/list"]);
    assert_eq!(
        talk.progress(0, ProgressReport::new(1.0)),
        Err(SendError::Progress)
    );
}

/// LG-03, LC-16: an older revision leaves out what it does not have.
#[test]
fn lc_16_the_answered_version_rules_the_encoding() {
    let config = ServerConfig {
        info: mcp_proto::model::Implementation {
            title: Some("T".into()),
            website_url: Some("https://a.b".into()),
            ..mcp_proto::model::Implementation::new("s", "1")
        },
        instructions: Some("Units are metric."),
        capabilities: ServerFeatures::COMPLETIONS.capabilities(),
        ..ServerConfig::new("s", "1")
    };
    let check = |version: &str, capabilities: &str, info: &str| {
        Talk::with(config).say(&initialize(version, "{}")).hears(&[&format!(
            r#"{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"{version}","capabilities":{capabilities},"instructions":"Units are metric.","serverInfo":{{"name":"s","version":"1"{info}}}}}}}"#
        )]);
    };
    check("2024-11-05", "{}", "");
    check("2025-03-26", r#"{"completions":{}}"#, "");
    check("2025-06-18", r#"{"completions":{}}"#, r#","title":"T""#);
    check(
        "2025-11-25",
        r#"{"completions":{}}"#,
        r#","title":"T","websiteUrl":"https://a.b""#,
    );
}

/// JR-34 and notifications that are nobody's business.
#[test]
fn jr_34_unknown_notifications_are_ignored() {
    let mut talk = Talk::with(config());
    talk.say(INITIALIZED).ignores(IgnoreReason::Misplaced);
    let mut talk = Talk::open(config(), "2025-06-18", r#"{"roots":{"listChanged":true}}"#);
    for (method, why) in [
        ("notifications/nonsense", IgnoreReason::UnknownNotification),
        ("exit", IgnoreReason::UnknownNotification),
        ("tools/call", IgnoreReason::Misplaced),
        ("notifications/message", IgnoreReason::Misplaced),
        ("notifications/tasks/status", IgnoreReason::Misplaced),
    ] {
        talk.say(&notification(method, "")).ignores(why);
    }
    talk.say(&notification("notifications/roots/list_changed", ""))
        .sees(&["notification notifications/roots/list_changed"]);
}
