//! The transports draft of spring 2026: sessions together with mirrored headers, on demand.

use mcp_proto::rpc::code;
use mcp_proto::server::ServerConfig;
use mcp_proto::{Revision, RevisionSet, SendError};

use crate::http_server::site::*;

const SESSION: &str = "mcp-session-id: s0";

/// A server that may be asked for the draft by its name.
fn offering() -> ServerConfig<'static> {
    ServerConfig {
        revisions: RevisionSet::all().with(Revision::DraftV1),
        ..config()
    }
}

/// A server that holds every legacy session to it.
fn demanding() -> ServerConfig<'static> {
    ServerConfig {
        draft_profile: true,
        ..config()
    }
}

/// What both of them ask of a session.
fn each(check: impl Fn(&mut Site)) {
    check(&mut Site::open(
        offering(),
        "DRAFT-2026-v1",
        r#"{"roots":{}}"#,
    ));
    let site = &mut Site::of(demanding());
    for (n, version) in ["2025-03-26", "2025-06-18", "2025-11-25"]
        .into_iter()
        .enumerate()
    {
        let session = format!("mcp-session-id: s{n}");
        site.check(
            &["mcp-method: initialize"],
            &initialize(version, r#"{"roots":{}}"#),
            "200 result",
        )
        .check(
            &[&session, "mcp-method: notifications/initialized"],
            INITIALIZED,
            "202",
        );
    }
    site.session(0).seen.clear();
    site.session(0).sent.clear();
    check(site);
}

#[test]
fn it_is_off_by_default() {
    let site = &mut Site::new();
    site.check(&[], &initialize("DRAFT-2026-v1", "{}"), "200 result");
    let server = &site.session(0).server;
    assert_eq!(server.revision(), Some(Revision::V2025_11_25));
    site.check(&[SESSION, "mcp-method: x"], &call("1", "x"), "200 result")
        .check(
            &[SESSION, "mcp-protocol-version: DRAFT-2026-v1"],
            &call("1", "x"),
            "400 -32600",
        );
    // Nor does a server that has it offer it.
    let site = &mut Site::of(offering());
    site.check(&[], &initialize("2030-01-01", "{}"), "200 result")
        .check(&[SESSION], &call("1", "x"), "200 result");
    let server = &site.session(0).server;
    assert_eq!(server.revision(), Some(Revision::V2025_11_25));
}

#[test]
fn methods_and_names_are_demanded() {
    each(|site| {
        let method = "mcp-method: tools/call";
        let x = call("1", "x");
        site.check(&[SESSION, method, "mcp-name: x"], &x, "200 result")
            .check(
                &[SESSION, method, "mcp-name: =?base64?eA==?="],
                &x,
                "200 result",
            )
            .check(&[SESSION, method], &x, "400 -32001")
            .check(&[SESSION, "mcp-name: x"], &x, "400 -32001")
            .check(&[SESSION, method, "mcp-name: y"], &x, "400 -32001")
            .check(&[SESSION, method, "mcp-name: X"], &x, "400 -32001")
            .check(
                &[SESSION, "mcp-method: Tools/Call", "mcp-name: x"],
                &x,
                "400 -32001",
            );
        let list = request("2", "tools/list", "");
        site.check(&[SESSION, "MCP-METHOD: tools/list"], &list, "200 result")
            .check(&[SESSION], &list, "400 -32001")
            .check(&[SESSION], &request("3", "ping", ""), "400 -32001")
            .check(
                &[SESSION, "mcp-method: ping"],
                &request("3", "ping", ""),
                "200 result",
            )
            .check(&[SESSION], &request("4", "odd", ""), "400 -32001")
            .check(
                &[SESSION, "mcp-method: odd"],
                &request("4", "odd", ""),
                "200 -32601",
            );
    });
}

#[test]
fn notifications_too_and_responses_not() {
    each(|site| {
        let told = notification("notifications/roots/list_changed", "");
        site.check(&[SESSION], &told, "400 -32001").check(
            &[SESSION, "mcp-method: notifications/odd"],
            &told,
            "400 -32001",
        );
        site.session(0).sees(&[]);
        site.check(
            &[SESSION, "mcp-method: notifications/roots/list_changed"],
            &told,
            "202",
        )
        .check(&[SESSION], &response("1"), "202");
    });
}

/// Where no revision has to be named first, `initialize` repeats its method as well.
#[test]
fn the_handshake() {
    let body = initialize("2025-06-18", "{}");
    Site::of(demanding())
        .check(&[], &body, "400 -32001")
        .check(&["mcp-method: ping"], &body, "400 -32001")
        .check(&["mcp-method: initialize"], &body, "200 result");
}

/// No question goes to the stream of a GET.
#[test]
fn questions_belong_to_requests() {
    each(|site| {
        let head = [SESSION, "mcp-method: tools/call", "mcp-name: wait"];
        site.check(&head, &call("1", "wait"), "open");
        let talk = site.session(0);
        assert_eq!(talk.ask(None), Err(SendError::NotInRevision));
        talk.sent.clear();
        talk.ask(Some(0)).unwrap();
        let said = &talk.sent[0];
        assert!(said.channel != mcp_proto::Channel::PIPE && said.short().is_some());
    });
}

/// `Mcp-Param-*` are the application's, and its refusal is spelled as the draft has it.
#[test]
fn refusals_of_the_application() {
    each(|site| {
        let head = [SESSION, "mcp-method: tools/call", "mcp-name: wait"];
        site.check(&head, &call("1", "wait"), "open");
        let talk = site.session(0);
        talk.fail(0, code::HEADER_MISMATCH);
        let said = talk.sent.last().unwrap();
        assert_eq!(
            (said.short().as_deref(), said.status),
            (Some("-32001"), 400)
        );
    });
    // Elsewhere in the legacy era it is a code like any other.
    let site = &mut Site::open(config(), "2025-11-25", "{}");
    site.check(&[SESSION], &call("1", "wait"), "open");
    site.session(0)
        .fail(0, code::HEADER_MISMATCH)
        .says(&["3: -32020."]);
}

/// The published eras beside it stay what they are.
#[test]
fn modern_requests_have_their_own_code() {
    for config in [offering(), demanding()] {
        let version = "mcp-protocol-version: 2026-07-28";
        let list = request("1", "tools/list", &modern(""));
        Site::of(config)
            .check(&[version], &list, "400 -32020")
            .check(&[version, "mcp-method: tools/list"], &list, "200 result");
    }
}
