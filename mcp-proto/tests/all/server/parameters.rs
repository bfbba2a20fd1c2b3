//! Members of a request that decide how it is handled: twice, or missing.

use mcp_proto::RevisionSet;
use mcp_proto::model::{ServerCapabilities, ServerFeatures};
use mcp_proto::server::ServerConfig;

use crate::script::server::{check, check_opened, config};

/// In a legacy session, and without one.
#[track_caller]
fn in_both_eras(config: ServerConfig<'static>, legacy: &str, modern: &str) {
    check(config, modern);
    check_opened(config, "2025-11-25", "{}", legacy);
}

/// JR-52: what a method's handler is given is found by one reader as by another.
#[test]
fn doubled_parameters_are_refused() {
    let config = ServerConfig {
        capabilities: ServerCapabilities {
            features: config()
                .capabilities
                .features
                .with(ServerFeatures::COMPLETIONS),
            ..config().capabilities
        },
        ..config()
    };
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
        let refused = format!("< 1 ! -32602 {what} occurs twice");
        in_both_eras(
            config,
            &format!("> 1 {method} {{{params}}}\n{refused}"),
            &format!("> 1 {method} {{{params},META}}\n{refused}"),
        );
    }
    // The protocol layer does not read the application's data.
    check(
        config,
        r#"> 1 tools/call {"name":"x","arguments":{"a":1,"a":2},META}
        = request 0 tools/call x"#,
    );
}

/// VR-03: `_meta` of the modern era that lacks the version is not taken for the other era's.
#[test]
fn vr_03_modern_meta_without_version() {
    for meta in [
        r#""io.modelcontextprotocol/clientCapabilities":{}"#,
        r#""io.modelcontextprotocol/clientInfo":{"name":"c","version":"1"}"#,
        r#""io.modelcontextprotocol/logLevel":"info""#,
    ] {
        for method in ["tools/list", "ping"] {
            let script = format!(
                "> 1 {method} {{\"_meta\":{{{meta}}}}}
                < 1 ! -32602 io.modelcontextprotocol/protocolVersion is missing or malformed"
            );
            in_both_eras(config(), &script, &script);
        }
        // Where there is no modern era the keys mean nothing.
        let legacy = ServerConfig {
            revisions: RevisionSet::legacy(),
            ..config()
        };
        let script = format!("> 1 tools/list {{\"_meta\":{{{meta}}}}}\n= request 0 tools/list");
        check_opened(legacy, "2025-11-25", "{}", &script);
    }
    // Other keys of that prefix belong to the era of sessions.
    check_opened(
        config(),
        "2025-11-25",
        "{}",
        r#"> 1 tools/list {"_meta":{"io.modelcontextprotocol/related-task":{"taskId":"t"}}}
        = request 0 tools/list"#,
    );
}
