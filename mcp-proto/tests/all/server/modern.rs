//! 2026-07-28: requests that say everything themselves.

use mcp_proto::model::LoggingLevel;
use mcp_proto::server::{AskOptions, ProgressReport, ServerConfig};
use mcp_proto::{IgnoreReason, InputRequired, Question, RevisionSet, SendError};

use super::Talk;
use crate::script::server::{
    INITIALIZED, METHOD_NOT_FOUND, cancelled, config, error, initialize, modern, notification, raw,
    request,
};

const ALL: &str = r#"["2026-07-28","2025-11-25","2025-06-18","2025-03-26","2024-11-05"]"#;
const INFO: &str = r#""io.modelcontextprotocol/serverInfo":{"name":"s","version":"1"}"#;

fn modern_only() -> ServerConfig<'static> {
    ServerConfig {
        revisions: RevisionSet::modern(),
        ..config()
    }
}

fn result(id: &str, members: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{{members}}}}}"#)
}

fn unsupported(id: &str, supported: &str, requested: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"error":{{"code":-32022,"message":"unsupported protocol version","data":{{"supported":{supported},"requested":{requested}}}}}}}"#
    )
}

/// A request with exactly this `_meta`.
fn with_meta(id: &str, method: &str, meta: &str) -> String {
    request(id, method, &format!(r#""_meta":{meta}"#))
}

/// DC-01, DC-03, DC-05, VR-08.
#[test]
fn dc_03_discover() {
    let config = ServerConfig {
        instructions: Some("Hi"),
        discover_ttl: 60_000,
        ..config()
    };
    Talk::with(config)
        .say(&modern("\"d\"", "server/discover", "", "{}"))
        .hears(&[&result(
            "\"d\"",
            &format!(
                r#""resultType":"complete","supportedVersions":{ALL},"capabilities":{{"logging":{{}},"prompts":{{"listChanged":true}},"resources":{{"subscribe":true,"listChanged":true}},"tools":{{"listChanged":true}}}},"instructions":"Hi","ttlMs":60000,"cacheScope":"private","_meta":{{{INFO}}}"#
            ),
        )]);
    let quiet = ServerConfig {
        identify: false,
        ..ServerConfig::new("s", "1")
    };
    Talk::with(quiet)
        .say(&modern("1", "server/discover", "", "{}"))
        .hears(&[&result(
            "1",
            &format!(
                r#""resultType":"complete","supportedVersions":{ALL},"capabilities":{{}},"ttlMs":0,"cacheScope":"private""#
            ),
        )]);
}

/// VR-03, VR-24: what is missing is named.
#[test]
fn vr_03_required_meta() {
    const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
    const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
    #[track_caller]
    fn check(line: &str, missing: &str) {
        let expected = error("1", -32602, &format!("{missing} is missing or malformed"));
        Talk::with(config()).say(line).hears(&[&expected]).sees(&[]);
        Talk::open(config(), "2025-11-25", "{}")
            .say(line)
            .hears(&[&expected]);
    }
    check(&request("1", "server/discover", ""), VERSION);
    check(&with_meta("1", "server/discover", "{}"), VERSION);
    for version in ["1", "null", "{}"] {
        let meta = format!(r#"{{"{VERSION}":{version},"{CAPABILITIES}":{{}}}}"#);
        check(&with_meta("1", "tools/list", &meta), VERSION);
    }
    let named = format!(r#"{{"{VERSION}":"2026-07-28"}}"#);
    check(&with_meta("1", "tools/list", &named), CAPABILITIES);
    for capabilities in ["1", "null", "[]"] {
        let meta = format!(r#"{{"{VERSION}":"2026-07-28","{CAPABILITIES}":{capabilities}}}"#);
        check(&with_meta("1", "tools/list", &meta), CAPABILITIES);
    }
    check(&with_meta("1", "server/discover", "1"), "_meta");
}

/// VR-04, VR-22, DC-06.
#[test]
fn vr_04_versions_that_are_not_spoken() {
    for version in ["2027-01-01", "2025-11-25", "", "2026-07-280"] {
        let line = modern("1", "server/discover", "", "{}").replace("2026-07-28", version);
        let expected = unsupported("1", ALL, &format!("\"{version}\""));
        Talk::with(config()).say(&line).hears(&[&expected]);
        Talk::open(config(), "2025-11-25", "{}")
            .say(&line)
            .hears(&[&expected]);
    }
    let long = "9".repeat(500);
    let line = modern("1", "tools/list", "", "{}").replace("2026-07-28", &long);
    Talk::with(config()).say(&line).hears(&[&unsupported(
        "1",
        ALL,
        &format!("\"{}\"", "9".repeat(32)),
    )]);
    let legacy_only = ServerConfig {
        revisions: RevisionSet::legacy(),
        ..config()
    };
    Talk::with(legacy_only)
        .say(&modern("1", "tools/list", "", "{}"))
        .hears(&[&unsupported(
            "1",
            r#"["2025-11-25","2025-06-18","2025-03-26","2024-11-05"]"#,
            "\"2026-07-28\"",
        )]);
}

/// VR-20, VR-25.
#[test]
fn vr_25_modern_only() {
    let mut talk = Talk::with(modern_only());
    talk.say(&initialize("2025-11-25", "{}"))
        .hears(&[&unsupported("0", r#"["2026-07-28"]"#, "\"2025-11-25\"")]);
    talk.say(&request("1", "ping", ""))
        .hears(&[&error("1", -32601, METHOD_NOT_FOUND)]);
    talk.say(&request("2", "tools/list", "")).hears(&[&error(
        "2",
        -32602,
        "io.modelcontextprotocol/protocolVersion is missing or malformed",
    )]);
    talk.say(INITIALIZED).ignores(IgnoreReason::Misplaced);
    talk.say(r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#)
        .hears(&[
            r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"batches are not supported"}}"#,
        ]);
}

/// VR-33, JR-28.
#[test]
fn removed_and_ungated_methods() {
    for (method, params) in [
        ("ping", ""),
        ("initialize", ""),
        ("logging/setLevel", r#""level":"info""#),
        ("resources/subscribe", r#""uri":"a:b""#),
        ("resources/unsubscribe", r#""uri":"a:b""#),
        ("tasks/result", r#""taskId":"t""#),
        ("tasks/list", ""),
        ("roots/list", ""),
        ("completion/complete", ""),
        ("tasks/get", r#""taskId":"t""#),
        ("nonsense", ""),
    ] {
        Talk::with(config())
            .say(&modern("1", method, params, "{}"))
            .hears(&[&error("1", -32601, METHOD_NOT_FOUND)]);
    }
    Talk::with(ServerConfig::new("s", "1"))
        .say(&modern("1", "tools/list", "", "{}"))
        .hears(&[&error("1", -32601, METHOD_NOT_FOUND)]);
}

/// JR-20, CH-01, CH-02, VR-08: what the payload lacks is added, what it has stays.
#[test]
fn jr_20_results_are_completed() {
    #[track_caller]
    fn check(method: &str, params: &str, payload: &str, expected: &str) {
        let mut talk = Talk::with(config());
        talk.say(&modern("1", method, params, "{}"));
        talk.answer(0, payload).hears(&[&result("1", expected)]);
    }
    let cached =
        format!(r#""resultType":"complete","ttlMs":0,"cacheScope":"private","_meta":{{{INFO}}}"#);
    for (method, params) in [
        ("tools/list", ""),
        ("prompts/list", ""),
        ("resources/list", ""),
        ("resources/templates/list", ""),
        ("resources/read", r#""uri":"a:b""#),
    ] {
        check(
            method,
            params,
            r#"{"x":[]}"#,
            &format!(r#""x":[],{cached}"#),
        );
    }
    check(
        "tools/list",
        "",
        r#"{"ttlMs":5,"cacheScope":"public","tools":[]}"#,
        &format!(
            r#""ttlMs":5,"cacheScope":"public","tools":[],"resultType":"complete","_meta":{{{INFO}}}"#
        ),
    );
    let call = r#""name":"x""#;
    check(
        "tools/call",
        call,
        "{}",
        &format!(r#""resultType":"complete","_meta":{{{INFO}}}"#),
    );
    check(
        "tools/call",
        call,
        r#"{"resultType":"task","_meta":{"a":1}}"#,
        &format!(r#""resultType":"task","_meta":{{{INFO},"a":1}}"#),
    );
    let mut talk = Talk::with(ServerConfig {
        identify: false,
        ..config()
    });
    talk.say(&modern("1", "tools/call", call, "{}"));
    talk.answer(0, r#"{"a":1}"#)
        .hears(&[&result("1", r#""a":1,"resultType":"complete""#)]);
}

/// RS-04, JR-23, JR-24.
#[test]
fn error_codes_of_the_modern_era() {
    for (code, expected) in [
        (-32002, -32602),
        (-32042, -32603),
        (-32099, -32603),
        (-32023, -32603),
        (-32021, -32021),
        (-32602, -32602),
        (17, 17),
    ] {
        let mut talk = Talk::with(config());
        talk.say(&modern("1", "resources/read", r#""uri":"a:b""#, "{}"));
        talk.fail(0, code).hears(&[&error("1", expected, "no")]);
    }
}

/// JR-06: an id is free again once it is answered.
#[test]
fn jr_06_ids() {
    let mut talk = Talk::with(config());
    let line = modern("1", "tools/list", "", "{}");
    talk.say(&line).sees(&["request 0 tools/list"]);
    talk.say(&line)
        .hears(&[&error("1", -32600, "id is in use")])
        .sees(&[]);
    talk.say(&modern("\"1\"", "tools/list", "", "{}"))
        .sees(&["request 1 tools/list"]);
    talk.fail(0, 1).hears(&[&error("1", 1, "no")]);
    talk.say(&line).sees(&["request 2 tools/list"]);
}

/// VR-24: both eras share the ids of one pipe, and a cancellation says by its id which one.
/// VR-18, VR-19.
#[test]
fn vr_24_eras_share_one_pipe() {
    let mut talk = Talk::open(config(), "2025-11-25", "{}");
    talk.say(&request("1", "tools/list", ""))
        .say(&modern("2", "tools/list", "", "{}"))
        .sees(&["request 0 tools/list", "request 1 tools/list"]);
    talk.say(&modern("1", "tools/list", "", "{}"))
        .hears(&[&error("1", -32600, "id is in use")]);
    talk.say(&cancelled("2")).sees(&["cancelled 1"]);
    talk.say(&cancelled("1")).sees(&["cancelled 0"]);
    // Before any handshake too.
    let mut talk = Talk::with(config());
    talk.say(&modern("2", "tools/list", "", "{}"))
        .say(&cancelled("2"))
        .sees(&["request 0 tools/list", "cancelled 0"]);
    // And a handshake may follow.
    talk.say(&initialize("2025-11-25", "{}"));
    assert!(talk.machine.revision().is_some());
}

/// JR-44: nothing of an earlier request counts. VR-06.
#[test]
fn jr_44_capabilities_are_those_of_the_request() {
    let mut talk = Talk::open(config(), "2025-11-25", r#"{"elicitation":{}}"#);
    talk.say(&modern(
        "1",
        "tools/call",
        r#""name":"x""#,
        r#"{"elicitation":{}}"#,
    ))
    .say(&modern("2", "tools/call", r#""name":"x""#, "{}"));
    let params = raw(r#"{"message":"m","requestedSchema":{}}"#);
    let question = Question {
        method: "elicitation/create".into(),
        params: &params,
    };
    let input = InputRequired {
        requests: &[("k", question)],
        state: None,
    };
    assert_eq!(
        talk.need(1, input),
        Err(SendError::MissingCapability("elicitation.form"))
    );
    talk.need(0, input).unwrap();
    talk.hears(&[&result(
        "1",
        &format!(
            r#""resultType":"input_required","inputRequests":{{"k":{{"method":"elicitation/create","params":{{"message":"m","requestedSchema":{{}}}}}}}},"_meta":{{{INFO}}}"#
        ),
    )]);
}

/// MR-01..05.
#[test]
fn mr_02_input_is_required_only_where_it_may_be() {
    let everything = r#"{"elicitation":{"url":{}},"sampling":{},"roots":{}}"#;
    #[track_caller]
    fn check(
        method: &str,
        params: &str,
        capabilities: &str,
        question: (&str, &str),
        expected: Result<(), SendError>,
    ) {
        let mut talk = Talk::with(config());
        talk.say(&modern("1", method, params, capabilities));
        let params = raw(question.1);
        let question = Question {
            method: question.0.into(),
            params: &params,
        };
        let input = InputRequired {
            requests: &[("k", question)],
            state: Some("s"),
        };
        assert_eq!(talk.need(0, input), expected);
        // What was refused is still to be answered.
        assert_eq!(talk.machine.is_live(talk.token(0)), expected.is_err());
    }
    let roots = ("roots/list", "{}");
    for (method, params) in [
        ("tools/call", r#""name":"x""#),
        ("prompts/get", r#""name":"x""#),
        ("resources/read", r#""uri":"x:y""#),
    ] {
        check(method, params, everything, roots, Ok(()));
    }
    check(
        "tools/list",
        "",
        everything,
        roots,
        Err(SendError::NotInRevision),
    );
    let call = ("tools/call", r#""name":"x""#);
    let refused = |what| Err(SendError::MissingCapability(what));
    check(call.0, call.1, "{}", roots, refused("roots"));
    check(
        call.0,
        call.1,
        everything,
        ("ping", "{}"),
        Err(SendError::NotInRevision),
    );
    check(
        call.0,
        call.1,
        everything,
        ("roots/list", "1"),
        Err(SendError::Encode),
    );
    let url = (
        "elicitation/create",
        r#"{"mode":"url","url":"https://a.b","message":"m"}"#,
    );
    let form = ("elicitation/create", r#"{"message":"m"}"#);
    check(call.0, call.1, everything, url, Ok(()));
    check(
        call.0,
        call.1,
        everything,
        form,
        refused("elicitation.form"),
    );
    check(call.0, call.1, r#"{"elicitation":{}}"#, form, Ok(()));
    check(
        call.0,
        call.1,
        r#"{"elicitation":{}}"#,
        url,
        refused("elicitation.url"),
    );
    let tools = ("sampling/createMessage", r#"{"tools":[]}"#);
    check(call.0, call.1, everything, tools, refused("sampling.tools"));
    check(
        call.0,
        call.1,
        r#"{"sampling":{"tools":{}}}"#,
        tools,
        Ok(()),
    );
    let context = (
        "sampling/createMessage",
        r#"{"includeContext":"allServers"}"#,
    );
    check(
        call.0,
        call.1,
        everything,
        context,
        refused("sampling.context"),
    );
}

/// MR-03, MR-04.
#[test]
fn mr_03_input_asks_for_something_once() {
    let mut talk = Talk::with(config());
    talk.say(&modern(
        "1",
        "tools/call",
        r#""name":"x""#,
        r#"{"roots":{}}"#,
    ));
    let params = raw("{}");
    let question = Question {
        method: "roots/list".into(),
        params: &params,
    };
    assert_eq!(
        talk.need(0, InputRequired::default()),
        Err(SendError::Encode)
    );
    let twice = InputRequired {
        requests: &[("k", question), ("k", question)],
        state: None,
    };
    assert_eq!(talk.need(0, twice), Err(SendError::Encode));
    let state = InputRequired {
        requests: &[],
        state: Some("a\"b"),
    };
    talk.need(0, state).unwrap();
    talk.hears(&[&result(
        "1",
        &format!(r#""resultType":"input_required","requestState":"a\"b","_meta":{{{INFO}}}"#),
    )]);
}

/// MR-14: what comes back malformed is an error.
#[test]
fn mr_14_malformed_answers() {
    for (params, what) in [
        (
            r#""inputResponses":1"#,
            "inputResponses is missing or malformed",
        ),
        (
            r#""requestState":{}"#,
            "requestState is missing or malformed",
        ),
        (
            r#""requestState":"a","requestState":"b""#,
            "requestState occurs twice",
        ),
        (
            r#""inputResponses":{},"inputResponses":{}"#,
            "inputResponses occurs twice",
        ),
    ] {
        Talk::with(config())
            .say(&modern(
                "1",
                "tools/call",
                &format!(r#""name":"x",{params}"#),
                "{}",
            ))
            .hears(&[&error("1", -32602, what)]);
    }
}

/// MR-02: a method without rounds has no such members, and ignores them like all that it does not know.
#[test]
fn answers_to_no_question_are_ignored() {
    for params in [r#""inputResponses":1"#, r#""requestState":{}"#] {
        let mut talk = Talk::with(config());
        talk.say(&modern("1", "tools/list", params, "{}"));
        assert_eq!(talk.events(), ["request 0 tools/list"], "{params}");
    }
}

/// LG-05, LG-07.
#[test]
fn lg_05_logs_only_where_the_request_asks() {
    let leveled = |id: &str, level: &str| {
        modern(id, "tools/list", "", "{}").replace(
            r#""_meta":{"#,
            &format!(r#""_meta":{{"io.modelcontextprotocol/logLevel":{level},"#),
        )
    };
    let mut talk = Talk::with(config());
    talk.say(&modern("1", "tools/list", "", "{}"))
        .say(&leveled("2", "\"warning\""));
    talk.log(Some(0), LoggingLevel::Emergency, "x").unwrap();
    talk.log(Some(1), LoggingLevel::Notice, "x").unwrap();
    talk.hears(&[]);
    talk.log(Some(1), LoggingLevel::Warning, "x").unwrap();
    talk.hears(&[r#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"warning","logger":"l","data":"x"}}"#]);
    for level in ["\"loud\"", "1"] {
        talk.say(&leveled("3", level))
            .hears(&[&error("3", -32602, "unknown log level")]);
    }
    talk.answer(1, "{}");
    assert_eq!(
        talk.log(Some(1), LoggingLevel::Error, "x"),
        Err(SendError::Stale)
    );
}

/// PG-04 in this era.
#[test]
fn progress_is_told() {
    let mut talk = Talk::with(config());
    let line = modern("1", "tools/list", "", "{}")
        .replace(r#""_meta":{"#, r#""_meta":{"progressToken":"t","#);
    talk.say(&line);
    talk.progress(0, ProgressReport::new(1.5)).unwrap();
    talk.hears(&[r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"t","progress":1.5}}"#]);
}

/// ST-13: a server of this era never asks; ST-12: its client never answers. RT-06.
#[test]
fn st_13_no_questions() {
    let mut talk = Talk::open(config(), "2025-11-25", r#"{"roots":{}}"#);
    talk.say(&modern(
        "1",
        "tools/call",
        r#""name":"x""#,
        r#"{"roots":{}}"#,
    ));
    let asked = talk.ask(Some(0), "roots/list", "{}", AskOptions::default());
    assert_eq!(asked, Err(SendError::NotInRevision));
    let mut talk = Talk::with(config());
    assert_eq!(
        talk.ask(None, "roots/list", "{}", AskOptions::default()),
        Err(SendError::NotReady)
    );
    talk.say(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)
        .ignores(IgnoreReason::LateResponse);
}

/// CN-15: the alias is off in this era.
#[test]
fn the_alias_does_not_reach_modern_requests() {
    let mut talk = Talk::open(config(), "2025-11-25", "{}");
    talk.say(&modern("1", "tools/list", "", "{}"))
        .sees(&["request 0 tools/list"]);
    talk.say(&notification("$/cancelRequest", r#""id":1"#))
        .ignores(IgnoreReason::UnknownCancellation);
    assert!(talk.machine.is_live(talk.token(0)));
}

/// JR-52: what decides is there once.
#[test]
fn doubled_members_are_refused() {
    for (meta, what) in [
        (r#""progressToken":1,"progressToken":1"#, "progressToken"),
        (
            r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#,
            "io.modelcontextprotocol/protocolVersion",
        ),
        (
            r#""io.modelcontextprotocol/client\u0043apabilities":{}"#,
            "io.modelcontextprotocol/clientCapabilities",
        ),
        (
            r#""io.modelcontextprotocol/clientInfo":{},"io.modelcontextprotocol/clientInfo":{}"#,
            "io.modelcontextprotocol/clientInfo",
        ),
        (r#""traceparent":"","traceparent":"""#, "traceparent"),
    ] {
        let line = modern("1", "tools/list", "", "{}")
            .replace(r#""_meta":{"#, &format!(r#""_meta":{{{meta},"#));
        Talk::with(config()).say(&line).hears(&[&error(
            "1",
            -32602,
            &format!("{what} occurs twice"),
        )]);
    }
}
