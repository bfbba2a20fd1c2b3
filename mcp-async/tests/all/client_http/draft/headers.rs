//! What the head of a request repeats, and what a server says of it.

use std::collections::HashMap;

use mcp_async::client::CallError;

use super::*;

#[test]
fn methods_of_requests_and_notifications() {
    for (revision, switched) in WAYS {
        check(
            |site| async move {
                let client = client(&site, revision, switched).await;
                client.ping().await.unwrap();
                client.notify_roots_changed().await.unwrap();
                client.call_tool("a", &()).await.unwrap();
            },
            |site| async move {
                let asked = site.expect("\"initialize\"").await;
                asked.says(&[("mcp-method", "initialize")]);
                asked.all(revision);
                for method in ["notifications/initialized", "GET", "ping"] {
                    let asked = site.expect(method).await;
                    let said = if method == "GET" { "" } else { method };
                    asked.says(&[("mcp-method", said), ("mcp-session-id", "s-1")]);
                    match method {
                        "GET" => asked.refuse(405, ""),
                        "ping" => asked.result("{}"),
                        _ => asked.accept(),
                    }
                }
                let asked = site.expect("roots/list_changed").await;
                asked.says(&[("mcp-method", "notifications/roots/list_changed")]);
                asked.accept();
                let (id, stream) = site.expect("tools/call").await.id_and_stream();
                stream.event(FORM);
                // A response has none.
                let answer = site.expect(r#""id":"q","result""#).await;
                answer.says(&[("mcp-method", ""), ("mcp-session-id", "s-1")]);
                answer.accept();
                stream.event(&format!(r#"{id} = {{"content":[]}}"#));
            },
        );
    }
}

#[test]
fn names_and_their_encoding() {
    each(
        |client| async move {
            client.call_tool("a", &()).await.unwrap();
            client.call_tool(" ок", &()).await.unwrap();
            client.read_resource("file:///a").await.unwrap();
            client.get_prompt("p", &()).await.unwrap();
        },
        |site| async move {
            let asked = site.expect("tools/call").await;
            asked.says(&[("mcp-name", "a")]);
            asked.done();
            let asked = site.expect("tools/call").await;
            asked.says(&[("mcp-name", "=?base64?INC+0Lo=?=")]);
            asked.done();
            let asked = site.expect("resources/read").await;
            asked.says(&[("mcp-name", "file:///a")]);
            asked.result(r#"{"contents":[]}"#);
            let asked = site.expect("prompts/get").await;
            asked.says(&[("mcp-name", "p")]);
            asked.result(r#"{"messages":[]}"#);
        },
    );
}

#[test]
fn headers_that_are_demanded() {
    for (revision, switched) in WAYS {
        check(
            |site| async move {
                let client = client(&site, revision, switched).await;
                client.call_tool("a", &()).await.unwrap();
            },
            |site| async move {
                let asked = site.expect("\"initialize\"").await;
                // No version rules before it is agreed on.
                asked.says(&[("mcp-method", "initialize"), ("mcp-protocol-version", "")]);
                asked.all(revision);
                site.expect("notifications/initialized").await.accept();
                site.expect("GET").await.refuse(405, "");
                let asked = site.expect("tools/call").await;
                asked.says(&[
                    ("mcp-method", "tools/call"),
                    ("mcp-name", "a"),
                    ("mcp-protocol-version", revision.as_str()),
                ]);
                asked.done();
            },
        );
    }
}

fn error(code: i64) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":null,"error":{{"code":{code},"message":"m"}}}}"#)
}

/// Whichever of the codes says it: the tools are listed again, and the call is made once more
/// (XH-17).
#[test]
fn the_code_of_a_mismatch() {
    for code in [-32001, -32020] {
        each(
            |client| async move {
                let zone = HashMap::from([("zone", "a")]);
                client.call_tool("route", &zone).await.unwrap();
                let error = client.call_tool("route", &zone).await.unwrap_err();
                assert!(matches!(error, CallError::Server(error) if error.code == code));
            },
            |site| async move {
                let asked = site.expect("tools/call").await;
                asked.says(&[("mcp-param-zone", "")]);
                asked.json(400, "", &error(code));
                site.expect("tools/list").await.tools(ZONE);
                let asked = site.expect("tools/call").await;
                asked.says(&[("mcp-param-zone", "a")]);
                asked.done();
                // What it knows may be wrong for good.
                site.expect("tools/call").await.json(400, "", &error(code));
                site.expect("tools/list").await.tools(ZONE);
                site.expect("tools/call").await.json(400, "", &error(code));
            },
        );
    }
}

/// With another status, and where no header repeats anything, it is a code like any other.
#[test]
fn codes_that_are_no_mismatch() {
    let script = |client: Client, code: i64| async move {
        let error = client.call_tool("route", &()).await.unwrap_err();
        assert!(matches!(error, CallError::Server(error) if error.code == code));
    };
    for code in [-32001, -32020] {
        for status in [200, 403, 500] {
            each(
                |client| script(client, code),
                |site| async move {
                    let asked = site.expect("tools/call").await;
                    asked.json(status, "", &error(code));
                    // Nothing more was asked, but that the session ends.
                    site.expect("DELETE").await.accept();
                },
            );
        }
        each(
            |client| script(client, code),
            |site| async move {
                let asked = site.expect("tools/call").await;
                let answer = error(code).replace("null", asked.id());
                asked.stream().event(&answer);
                // Nothing more was asked, but that the session ends.
                site.expect("DELETE").await.accept();
            },
        );
        check(
            |site| async move { script(site.connect(&[LATEST]).await.unwrap(), code).await },
            |site| async move {
                site.open(LATEST).await;
                site.expect("tools/call").await.json(400, "", &error(code));
                // Nothing more was asked, but that the session ends.
                site.expect("DELETE").await.accept();
            },
        );
    }
}

/// A server need not send one: then the status is all that is known.
#[test]
fn the_body_of_a_mismatch() {
    each(
        |client| async move {
            let error = client.call_tool("route", &()).await.unwrap_err();
            let status = mcp_proto::client::Failure::Status(400);
            assert!(matches!(error, CallError::Failed(failure) if failure == status));
        },
        |site| async move { site.expect("tools/call").await.refuse(400, "") },
    );
}

#[test]
fn numbers_in_headers() {
    let load = r#""load":{"type":"number","x-mcp-header":"Load"}"#;
    for (said, header) in [
        ("1.5", "1.5"),
        ("42", "42"),
        ("-2.5e3", "-2500"),
        ("1e-3", "0.001"),
        ("null", ""),
    ] {
        let said = format!(r#"{{"load":{said}}}"#);
        check_call(load, &said, &[("mcp-param-load", header)]);
    }
    // An integer is one here, too, and what is none has no header.
    let count = r#""count":{"type":"integer","x-mcp-header":"Count"}"#;
    check_call(count, r#"{"count":7}"#, &[("mcp-param-count", "7")]);
    check_call(count, r#"{"count":1.5}"#, &[("mcp-param-count", "")]);
}

/// XH-04, XH-07: the rule of 2026-07-28 stays what it is.
#[test]
fn numbers_elsewhere() {
    check(
        |site| async move {
            let builder = site.client(&[Revision::V2026_07_28]).draft_profile();
            let client = site.join(builder).await.unwrap();
            assert!(client.tools().all().await.unwrap().is_empty());
        },
        |site| async move {
            site.expect("server/discover").await.discovered();
            let tool = r#"{"name":"a","inputSchema":{"type":"object","properties":{"load":{"type":"number","x-mcp-header":"Load"}}}}"#;
            site.expect("tools/list").await.result(&format!(
                r#"{{"resultType":"complete","tools":[{tool}],"ttlMs":0,"cacheScope":"private"}}"#
            ));
        },
    );
}

#[test]
fn names_of_headers() {
    check_call(
        r#""zone":{"type":"string","x-mcp-header":"a.b~c"}"#,
        r#"{"zone":"a"}"#,
        &[("mcp-param-a.b~c", "a")],
    );
    for name in ["a b", "a:b", "Région", ""] {
        check_dropped(&format!(
            r#""zone":{{"type":"number","x-mcp-header":"{name}"}}"#
        ));
    }
}

#[test]
fn nesting() {
    let deep = format!(r#""deep":{{"type":"object","properties":{{{ZONE}}}}}"#);
    check_call(
        &deep,
        r#"{"deep":{"zone":"a"},"zone":"b"}"#,
        &[("mcp-param-zone", "a")],
    );
    check_dropped(r#""a":{"items":{"type":"number","x-mcp-header":"A"}}"#);
}

#[test]
fn text_that_looks_encoded() {
    check_call(
        ZONE,
        r#"{"zone":"=?base64?literal?="}"#,
        &[("mcp-param-zone", "=?base64?PT9iYXNlNjQ/bGl0ZXJhbD89?=")],
    );
}

#[test]
fn sentinels_are_in_lower_case() {
    let literal = "=?BASE64?SGVsbG8=?=";
    check_call(
        ZONE,
        &format!(r#"{{"zone":"{literal}"}}"#),
        &[("mcp-param-zone", literal)],
    );
}

const ZONE: &str = r#""zone":{"type":"string","x-mcp-header":"Zone"}"#;
