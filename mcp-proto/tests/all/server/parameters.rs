//! Members of a request that decide how it is handled: twice, or missing.

use mcp_proto::RevisionSet;
use mcp_proto::model::{ServerCapabilities, Settings};
use mcp_proto::server::ServerConfig;

use super::Talk;
use super::talk::{config, error, modern, request};

/// A request with these members in `_meta`.
fn with_meta(method: &str, meta: &str) -> String {
    request("1", method, &format!(r#""_meta":{{{meta}}}"#))
}

/// JR-52: what a method's handler is given is found by one reader as by another.
#[test]
fn doubled_parameters_are_refused() {
    for (method, params, what) in [
        (
            "tools/call",
            r#""name":"x","arguments":{"a":1},"arguments":{"a":2}"#,
            "arguments",
        ),
        (
            "tools/call",
            r#""name":"x","arguments":{},"\u0061rguments":{}"#,
            "arguments",
        ),
        (
            "prompts/get",
            r#""name":"x","arguments":{},"arguments":{}"#,
            "arguments",
        ),
        ("completion/complete", r#""ref":{},"ref":{}"#, "ref"),
        (
            "completion/complete",
            r#""argument":{},"argument":{}"#,
            "argument",
        ),
        (
            "completion/complete",
            r#""context":{},"context":{}"#,
            "context",
        ),
    ] {
        let config = ServerConfig {
            capabilities: ServerCapabilities {
                completions: Some(Settings::default()),
                ..config().capabilities
            },
            ..config()
        };
        let expected = error("1", -32602, &format!("{what} occurs twice"));
        Talk::new(config)
            .say(&modern("1", method, params, "{}"))
            .hears(&[&expected]);
        Talk::open(config, "2025-11-25", "{}")
            .say(&request("1", method, params))
            .hears(&[&expected]);
    }
    // The protocol layer does not read the application's data.
    Talk::new(config())
        .say(&modern(
            "1",
            "tools/call",
            r#""name":"x","arguments":{"a":1,"a":2}"#,
            "{}",
        ))
        .sees(&["request 0 tools/call x"]);
}

/// VR-03: `_meta` of the modern era that lacks the version is not taken for the other era's.
#[test]
fn vr_03_modern_meta_without_version() {
    let missing = "io.modelcontextprotocol/protocolVersion is missing or malformed";
    for meta in [
        r#""io.modelcontextprotocol/clientCapabilities":{}"#,
        r#""io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}"#,
        r#""io.modelcontextprotocol/logLevel":"info""#,
    ] {
        for method in ["tools/list", "ping"] {
            let line = with_meta(method, meta);
            let expected = error("1", -32602, missing);
            Talk::new(config()).say(&line).hears(&[&expected]);
            Talk::open(config(), "2025-11-25", "{}")
                .say(&line)
                .hears(&[&expected]);
        }
        // Where there is no modern era the keys mean nothing.
        let legacy = ServerConfig {
            revisions: RevisionSet::legacy(),
            ..config()
        };
        Talk::open(legacy, "2025-11-25", "{}")
            .say(&with_meta("tools/list", meta))
            .sees(&["request 0 tools/list"]);
    }
    // Other keys of that prefix belong to the era of sessions.
    Talk::open(config(), "2025-11-25", "{}")
        .say(&with_meta(
            "tools/list",
            r#""io.modelcontextprotocol/related-task":{"taskId":"t"}"#,
        ))
        .sees(&["request 0 tools/list"]);
}
