//! Servers at URLs.

use super::http::{Asked, Site};
use super::run::{client, member};

#[test]
fn a_url_stands_anywhere_before_the_command() {
    let site = Site::mcp();
    let url = &site.url();
    let check = |words: &[&str], said: &str| {
        let text = client(words).good();
        assert!(text.contains(said), "{words:?}: {text}");
    };
    check(&[url], "revision: 2026-07-28");
    check(&[url, "-q"], "revision: 2026-07-28");
    check(&[url, "--json"], r#""revision":"2026-07-28""#);
    check(&["-q", url, "info"], "revision: 2026-07-28");
    check(
        &["--timeout", "20", url, "--json"],
        r#""revision":"2026-07-28""#,
    );
    check(&["--json", url, "-q", "list", "tools"], r#""name":"hello""#);
    check(&[url, "call", "hello", "--timeout=20"], "hello");
    check(&["list", "tools", "--", url], "hello");
    assert_eq!(site.count("\"tools/call\""), 1);
    client(&[url, "list", "--", "server"]).ended(2, "nothing can follow the URL");
}

#[test]
fn what_is_no_answer_is_described() {
    let site = Site::mcp();
    let at = |path: &str| format!("{}{path}", site.origin);
    let check = |url: &str, said: &str| client(&["info", "--", url]).ended(3, said);
    let hint = format!("; did you mean {}?", site.url());
    for path in ["", "/"] {
        check(&at(path), &hint);
    }
    let said = format!(
        "the server answered with status 404; {} sent text/html: <!doctype html>\n",
        at("/other?...")
    );
    check(&at("/other?key=s3cret"), &said);
    let said = format!("; {} sent text/html: <!doctype html>\n", at("/page"));
    check(&at("/page"), &said);
    let said = format!("; {} sent application/json: {{oops\n", at("/broken"));
    check(&at("/broken"), &said);
    let said = client(&["info", "--json", "--", &at("")]).member("error.message");
    assert!(said.contains("did you mean"), "{said}");
}

#[test]
fn the_wire_is_shown_without_secrets() {
    let site = Site::mcp();
    let url = site.url();
    let header = ["--header", "Authorization: Bearer s3cret"];
    let ran = client(&[&header[..], &["--trace", &url, "call", "hello"]].concat());
    let wire = ran.err.clone();
    let shown = |line: &str| {
        assert!(
            wire.lines().any(|it| it.starts_with(line)),
            "{line}: {wire}"
        );
    };
    shown(&format!("-> #1 POST {}", site.url()));
    shown("-> #3 mcp-name: hello");
    shown("-> #3 authorization: ...");
    shown(r#"-> #3 {"jsonrpc":"2.0","id":3,"method":"tools/call""#);
    shown("<- #3 200 OK");
    shown("<- #3 set-cookie: ...");
    shown("<- #3 content-type: application/json");
    shown(r#"<- #3 {"jsonrpc":"2.0","id":3,"result""#);
    assert!(!wire.contains("s3cret"), "{wire}");
    assert_eq!(ran.good(), "hello\n");
}

/// A server that repeats what it was sent, in errors, headers and bodies.
#[test]
fn secrets_that_a_server_repeats_are_masked() {
    let echo = |asked: &Asked| {
        let request = format!("{}\n{}", asked.line, asked.fields);
        let request = request.replace(['\n', '"'], " ");
        let error = format!(
            r#"{{"jsonrpc":"2.0","id":{},"error":{{"code":-1,"message":"{request}","data":["{request}"]}}}}"#,
            member(&asked.body, "id")
        );
        (request, error)
    };
    let site = Site::new(move |asked| {
        if asked.body.is_empty() {
            return ("405 Method Not Allowed", String::new());
        }
        let (request, error) = echo(asked);
        match asked.line.starts_with("POST /page") {
            true => ("404 Not Found\ncontent-type: text/plain", request),
            false => (
                "200 OK\nlocation: http://user:s3cret5@ORIGIN/?s3cret6\ncontent-type: application/json",
                error,
            ),
        }
    });
    let host = site.origin.strip_prefix("http://").unwrap();
    for path in ["page", "mcp"] {
        for option in ["--trace", "--json", "-q"] {
            let url = format!("http://ada:s3cret1@{host}/{path}?key=s3cret2&s3cret3=");
            let headers = [
                "--header",
                "authorization: bearer s3cret4",
                "--header",
                "x-key:s3cret7",
            ];
            let ran = client(&[&headers[..], &[option, "info", "--", &url]].concat());
            let text = format!("{}{}", ran.err, ran.text());
            assert_eq!(ran.code, Some(3), "{text}");
            assert!(text.contains("x-key: ..."), "{text}");
            assert!(!text.contains("s3cret"), "{text}");
        }
    }
}

/// The query of an endpoint is the session of a server of 2024-11-05.
#[test]
fn endpoints_are_shown_without_sessions() {
    for events in [
        "event: endpoint\ndata: /messages?id=s3cret\n\n",
        "data:ORIGIN/messages?id=s3cret\r\nevent: endpoint\r\n\r\n",
    ] {
        let site = Site::new(move |asked| match asked.line.as_str() {
            "GET /mcp" => ("200 OK\ncontent-type: text/event-stream", events.into()),
            "POST /messages?id=s3cret" => ("202 Accepted", String::new()),
            _ => ("405 Method Not Allowed", String::new()),
        });
        let ran = client(&["--trace", &site.url(), "--revisions", "2024-11-05"]);
        assert_eq!(ran.code, Some(3), "{}", ran.err);
        assert!(ran.err.contains("/messages?...\n"), "{}", ran.err);
        let posted = format!("POST {}/messages?...\n", site.origin);
        assert!(ran.err.contains(&posted), "{}", ran.err);
        assert!(!ran.err.contains("s3cret"), "{}", ran.err);
    }
}

#[test]
fn failed_exchanges_are_shown() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    drop(listener);
    let ran = client(&["--trace", &url]);
    assert_eq!(ran.code, Some(3), "{}", ran.err);
    assert!(ran.err.contains("<- #1 failed: "), "{}", ran.err);
}

/// Events are shown as they arrive, and their session is not.
#[test]
fn events_are_shown() {
    let site = Site::new(|asked| match member(&asked.body, "method").as_str() {
        "\"server/discover\"" => ("404 Not Found", String::new()),
        "\"initialize\"" => (
            "200 OK\nmcp-session-id: s3cret\ncontent-type: text/event-stream",
            format!(
                "event: message\ndata: {{\"jsonrpc\":\"2.0\",\"id\":{},\"result\":{{\"protocolVersion\":\"2025-11-25\",\
                 \"capabilities\":{{}},\"serverInfo\":{{\"name\":\"site\",\"version\":\"1\"}}}}}}\n\n",
                member(&asked.body, "id")
            ),
        ),
        _ => ("202 Accepted", String::new()),
    });
    let ran = client(&["--trace", &site.url(), "--revisions", "2025-11-25"]);
    let wire = ran.err.clone();
    for line in [
        "<- #1 event: message\n<- #1 data: {\"jsonrpc\"",
        "<- #1 mcp-session-id: ...",
        "-> #2 mcp-session-id: ...",
    ] {
        assert!(wire.contains(line), "{line}: {wire}");
    }
    assert!(!wire.contains("s3cret"), "{wire}");
    assert!(ran.good().contains("site 1"));
}
