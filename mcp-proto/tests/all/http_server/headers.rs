//! What a head repeats of its body, in 2026-07-28: SH-34 to SH-39, XH-11 to XH-14, XH-22.

use mcp_proto::RevisionSet;
use mcp_proto::model::{ServerCapabilities, Settings};
use mcp_proto::server::ServerConfig;

use crate::http_server::site::*;

const V5: &str = "MCP-Protocol-Version: 2026-07-28";

#[track_caller]
fn check(fields: &[&str], body: &str, expected: &str) {
    Site::new().check(fields, body, expected);
}

/// The method and its header, and a body of these parameters.
#[track_caller]
fn named(method: &str, params: &str, name: &str, expected: &str) {
    let header = format!("Mcp-Method: {method}");
    check(
        &[V5, &header, name],
        &request("1", method, &modern(params)),
        expected,
    );
}

/// SH-34, SH-39.
#[test]
fn the_version() {
    let list = |version| request("1", "tools/list", &versioned("", version));
    let method = "Mcp-Method: tools/list";
    check(&[V5, method], &list("2026-07-28"), "200 result");
    check(
        &["mcp-PROTOCOL-version:\t2026-07-28 ", method],
        &list("2026-07-28"),
        "200 result",
    );
    check(&[method], &list("2026-07-28"), "400 -32020");
    for header in [
        "MCP-Protocol-Version: 2026-07-29",
        "MCP-Protocol-Version: 2025-11-25",
        "MCP-Protocol-Version: DRAFT-2026-v1",
        "MCP-Protocol-Version:",
        "MCP-Protocol-Version: =?base64?MjAyNi0wNy0yOA==?=",
    ] {
        check(&[header, method], &list("2026-07-28"), "400 -32020");
    }
    // SH-35, VR-22: both say the same, and we do not speak it.
    for version in [
        "2026-07-29",
        "2025-11-25",
        "2024-11-05",
        "DRAFT-2026-v1",
        "x",
    ] {
        let header = format!("MCP-Protocol-Version: {version}");
        check(&[&header, method], &list(version), "400 -32022");
        check(&[V5, method], &list(version), "400 -32020");
    }
    // The same text, escaped.
    check(&[V5, method], &list("2026\\u002d07-28"), "200 result");
}

/// SH-36, SH-38, SH-39.
#[test]
fn the_method() {
    let list = request("1", "tools/list", &modern(""));
    check(&[V5, "mcp-method: tools/list"], &list, "200 result");
    check(&[V5, "MCP-METHOD: tools/list"], &list, "200 result");
    check(&[V5, "Mcp-Method:  tools/list "], &list, "200 result");
    for header in [
        "-mcp-method",
        "mcp-method: TOOLS/LIST",
        "mcp-method: tools/call",
        "mcp-method:",
        "mcp-method: tools/list,tools/list",
        "mcp-method: =?base64?dG9vbHMvbGlzdA==?=",
        "+mcp-method: tools/list",
    ] {
        let mut fields = vec![V5, header];
        if header.starts_with('+') {
            fields.push("+mcp-method: tools/list");
        }
        check(&fields, &list, "400 -32020");
    }
    check(
        &[V5, "mcp-method: tools/list"],
        &request("1", "tools\\/list", &modern("")),
        "200 result",
    );
    // It is asked for before anybody looks whether there is such a method, and discovery too.
    let odd = request("1", "odd", &modern(""));
    check(&[V5], &odd, "400 -32020");
    check(&[V5, "mcp-method: odd"], &odd, "404 -32601");
    let discover = request("1", "server/discover", &modern(""));
    check(&[V5], &discover, "400 -32020");
    check(
        &[V5, "mcp-method: server/discover"],
        &discover,
        "200 result",
    );
}

/// SH-38, XH-27.
#[test]
fn the_name() {
    for (method, member) in [
        ("tools/call", "name"),
        ("prompts/get", "name"),
        ("resources/read", "uri"),
    ] {
        let params = format!(r#""{member}":"a b""#);
        named(method, &params, "Mcp-Name: a b", "200 result");
        named(method, &params, "mcp-NAME:\t a b ", "200 result");
        named(method, &params, "-mcp-name", "400 -32020");
        named(method, &params, "Mcp-Name:", "400 -32020");
        named(method, &params, "Mcp-Name: A B", "400 -32020");
        named(method, &params, "Mcp-Name: a  b", "400 -32020");
        named(method, &params, "Mcp-Name: a b, a b", "400 -32020");
        // Its own member is meant, and a string.
        named(method, r#""title":"a b""#, "Mcp-Name: a b", "400 -32020");
        named(method, "", "-mcp-name", "200 -32602");
        named(method, "", "Mcp-Name: a b", "400 -32020");
        named(
            method,
            &format!(r#""{member}":null"#),
            "-mcp-name",
            "200 -32602",
        );
        named(
            method,
            &format!(r#""{member}":7"#),
            "Mcp-Name: 7",
            "200 -32602",
        );
        named(
            method,
            &format!(r#""{member}":7"#),
            "-mcp-name",
            "400 -32020",
        );
    }
    // Others have none, and a header that nobody asked for is nobody's.
    named("tools/list", r#""cursor":"c""#, "-mcp-name", "200 result");
    named("tools/list", r#""cursor":"c""#, "Mcp-Name: x", "200 result");
}

/// SH-38, XH-13, XH-14.
#[test]
fn names_that_no_header_carries() {
    let tool = |name: &str, header: &str, expected: &str| {
        named(
            "tools/call",
            &format!(r#""name":"{name}""#),
            header,
            expected,
        );
    };
    tool("ok", "Mcp-Name: =?base64?b2s=?=", "200 result");
    tool("日本語", "Mcp-Name: =?base64?5pel5pys6Kqe?=", "200 result");
    tool(
        "\\u65e5本語",
        "Mcp-Name: =?base64?5pel5pys6Kqe?=",
        "200 result",
    );
    tool(" x", "Mcp-Name: =?base64?IHg=?=", "200 result");
    tool("a\\nb", "Mcp-Name: =?base64?YQpi?=", "200 result");
    tool("", "Mcp-Name:", "200 result");
    tool("", "Mcp-Name: =?base64??=", "200 result");
    tool(
        "=?base64?b2s=?=",
        "Mcp-Name: =?base64?PT9iYXNlNjQ/YjJzPT89?=",
        "200 result",
    );
    // The text of a sentinel stands for what is inside of it.
    tool("=?base64?b2s=?=", "Mcp-Name: =?base64?b2s=?=", "400 -32020");
    // XH-22: broken ones say nothing, half ones and other cases are literal.
    for broken in ["b2s", "b2s==", "b2!=", "b2t=", "b2s=b2s=", "=b2s"] {
        tool(
            "ok",
            &format!("Mcp-Name: =?base64?{broken}?="),
            "400 -32020",
        );
    }
    for literal in ["b2s=", "=?base64?b2s=", "=?BASE64?b2s=?=", "b2s=?="] {
        tool("ok", &format!("Mcp-Name: {literal}"), "400 -32020");
        tool(literal, &format!("Mcp-Name: {literal}"), "200 result");
    }
}

/// JR-52.
#[test]
fn what_is_doubled_is_equal_to_no_header() {
    let doubled = |params: &str, name, expected| {
        named("tools/call", params, name, expected);
    };
    doubled(r#""name":"a","name":"a""#, "Mcp-Name: a", "400 -32020");
    doubled(r#""name":"a","n\u0061me":"b""#, "Mcp-Name: b", "400 -32020");
    doubled(
        r#""requestState":"a","requestState":"a""#,
        "Mcp-Name: a",
        "400 -32602",
    );
    let twice = r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
    let list = request("1", "tools/list", twice);
    check(&[V5, "mcp-method: tools/list"], &list, "400 -32020");
    check(&["mcp-method: tools/list"], &list, "400 -32602");
}

/// JR-52: a legacy request is compared with no header, so that it gets what it would get on a pipe.
#[test]
fn what_is_doubled_in_a_legacy_request_is_a_fault_of_its_parameters() {
    let mut site = Site::open(config(), "2025-11-25", "{}");
    for version in ["2025-11-25", "2025-03-26", ""] {
        let version = format!("mcp-protocol-version: {version}");
        let mut fields = vec![
            "mcp-session-id: s0",
            "mcp-method: tools/call",
            "mcp-name: a",
        ];
        if !version.ends_with(' ') {
            fields.push(&version);
        }
        for params in [
            r#""name":"a","name":"a""#,
            r#""name":"a","arguments":{},"arguments":{}"#,
            r#""name":"a","_meta":{},"_meta":{}"#,
            r#""name":"a","_meta":{"progressToken":1,"progressToken":2}"#,
        ] {
            let call = format!(
                r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{{params}}}}}"#
            );
            site.check(&fields, &call, "400 -32602");
        }
    }
}

/// Each check is met by a request that fails it and all those behind it. SH-56.
#[test]
fn the_order_of_checks() {
    let meta = |version: &str, rest: &str| {
        format!(
            r#""name":"x","_meta":{{"io.modelcontextprotocol/protocolVersion":{version}{rest}}}"#
        )
    };
    let tool = |params: &str| request("1", "tools/call", params);
    let capable = r#","io.modelcontextprotocol/clientCapabilities":{}"#;
    check(&[], "{", "400 -32700");
    check(&[], r#"{"id":1,"method":"tools/call"}"#, "400 -32600");
    check(&[], &tool(&meta("5", "")), "400 -32020");
    check(&[V5], &tool(&meta("5", "")), "400 -32602");
    check(&[V5], &tool(&meta("null", "")), "400 -32602");
    check(&[V5], &tool(&meta(r#""1""#, "")), "400 -32020");
    let future = "MCP-Protocol-Version: 2030-01-01";
    check(&[future], &tool(&meta(r#""2030-01-01""#, "")), "400 -32022");
    let ours = r#""2026-07-28""#;
    check(&[V5], &tool(&meta(ours, "")), "400 -32020");
    let odd = |rest: &str| request("1", "odd", &meta(ours, rest));
    check(&[V5, "mcp-method: odd"], &odd(""), "400 -32602");
    let loud = format!(r#"{capable},"io.modelcontextprotocol/logLevel":"loud""#);
    check(&[V5, "mcp-method: odd"], &odd(&loud), "400 -32602");
    check(&[V5, "mcp-method: odd"], &odd(capable), "404 -32601");
    let method = "mcp-method: tools/call";
    check(&[V5, method], &tool(&meta(ours, capable)), "400 -32020");
    let state = format!(r#""requestState":5,{}"#, meta(ours, capable));
    check(&[V5, method], &tool(&state), "400 -32020");
    check(&[V5, method, "mcp-name: x"], &tool(&state), "200 -32602");
}

#[test]
fn a_capability_is_asked_for_behind_the_name() {
    let config = ServerConfig {
        capabilities: ServerCapabilities {
            extensions: raw(r#"{"io.modelcontextprotocol/tasks":{}}"#)
                .object()
                .map(Settings::from),
            ..config().capabilities
        },
        ..config()
    };
    let get = request("1", "tasks/get", &modern(r#""taskId":"t""#));
    let method = "mcp-method: tasks/get";
    Site::of(config)
        .check(&[V5, method], &get, "400 -32020")
        .check(&[V5, method, "mcp-name: u"], &get, "400 -32020")
        .check(&[V5, method, "mcp-name: t"], &get, "400 -32021");
}

#[test]
fn notifications_may_repeat_their_method() {
    let told = notification("notifications/odd", "");
    check(&[V5], &told, "202");
    check(&[V5, "mcp-method: notifications/odd"], &told, "202");
    check(&[V5, "mcp-method: notifications/even"], &told, "400 -32020");
    check(&[V5, "mcp-method:"], &told, "400 -32020");
}

/// SH-34, SH-35, SH-37.
#[test]
fn notifications_may_repeat_their_version() {
    let told = |version| versioned("", version);
    let told = |version| notification("notifications/odd", &told(version));
    check(&[V5], &told("2026-07-28"), "202");
    check(&[], &told("2026-07-28"), "400 -32020");
    for version in ["2025-11-25", "2026-07-29", "x"] {
        let header = format!("MCP-Protocol-Version: {version}");
        check(&[V5], &told(version), "400 -32020");
        check(&[&header], &told("2026-07-28"), "400 -32020");
        check(&[&header], &told(version), "400 -32022");
    }
    for version in ["5", "null"] {
        let meta = format!(r#""_meta":{{"io.modelcontextprotocol/protocolVersion":{version}}}"#);
        let told = notification("notifications/odd", &meta);
        check(&[V5], &told, "400 -32020");
        check(&["MCP-Protocol-Version: 2025-11-25"], &told, "400 -32020");
    }
    // A server that has no other era.
    let modern = ServerConfig {
        revisions: RevisionSet::modern(),
        ..config()
    };
    let plain = notification("notifications/odd", "");
    let old = "MCP-Protocol-Version: 2025-11-25";
    for (head, expected) in [(V5, "202"), (old, "400 -32022")] {
        Site::of(modern).check(&[head], &plain, expected);
    }
    let twice = format!(
        "{0},{0}",
        r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#
    );
    let twice = notification("notifications/odd", &format!(r#""_meta":{{{twice}}}"#));
    check(&[V5], &twice, "400 -32020");
}

/// SH-37, VR-03: members that only the modern era has make a notification modern.
#[test]
fn notifications_of_the_modern_era_name_their_version() {
    for member in [
        r#""clientInfo":{"name":"c","version":"1"}"#,
        r#""logLevel":"info""#,
        r#""clientCapabilities":{}"#,
    ] {
        let meta = format!(r#""_meta":{{"io.modelcontextprotocol/{}}}"#, &member[1..]);
        let told = notification("notifications/odd", &meta);
        check(&[V5], &told, "202");
        check(&[], &told, "400 -32020");
        check(&["MCP-Protocol-Version: 2025-11-25"], &told, "400 -32022");
    }
}

/// In the legacy era nobody looks at them. DF-01.
#[test]
fn older_clients_may_send_whatever_they_like() {
    let mut site = Site::open(config(), "2025-11-25", "{}");
    let fields = [
        "mcp-session-id: s0",
        "mcp-method: nonsense",
        "mcp-name: =?base64?!?=",
    ];
    site.check(&fields, &call("1", "x"), "200 result")
        .check(&fields, INITIALIZED, "202");
}
