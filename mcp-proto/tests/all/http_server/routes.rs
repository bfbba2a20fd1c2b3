//! Which machine a POST is for, and what happens where there is none: VR-28.

use mcp_proto::http::Endpoint;
use mcp_proto::{Revision, RevisionSet};

use crate::http_server::site::*;

const V4: &str = "mcp-protocol-version: 2025-11-25";
const V5: &str = "mcp-protocol-version: 2026-07-28";

/// A list of tools by a modern client.
fn list() -> String {
    request("1", "tools/list", &modern(""))
}

/// VR-28, SH-34, SH-41.
#[test]
fn a_version_in_the_body_makes_it_modern_whatever_the_head_says() {
    let method = "mcp-method: tools/list";
    let mut site = Site::open(config(), "2025-11-25", "{}");
    site.check(&[V5, method], &list(), "200 result")
        .check(&[V5, method, "mcp-session-id: s0"], &list(), "200 result")
        .check(&[V5, method, "mcp-session-id: gone"], &list(), "200 result")
        .check(&[V5, method, "mcp-session-id: a b"], &list(), "200 result")
        .check(&[method], &list(), "400 -32020")
        .check(&[V4, method], &list(), "400 -32020")
        .check(&["mcp-protocol-version: x", method], &list(), "400 -32020");
    site.session(0).sees(&[]).says(&[]);
}

/// VR-28, VR-03.
#[test]
fn a_modern_version_in_the_head_alone_misses_the_one_in_the_body() {
    let plain = request("1", "tools/list", "");
    let mut site = Site::open(config(), "2025-11-25", "{}");
    site.check(&[V5, "mcp-method: tools/list"], &plain, "400 -32602")
        .check(&[V5], &plain, "400 -32602")
        .check(&[V5, "mcp-session-id: s0"], &plain, "400 -32602")
        .check(&[V5], &initialize("2025-11-25", "{}"), "400 -32602");
}

/// VR-28.
#[test]
fn initialize_opens_a_session_each_time() {
    let mut site = Site::new();
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        site.check(&[], &initialize(version, "{}"), "200 result");
        let header = format!("mcp-protocol-version: {version}");
        site.check(&[&header], &initialize(version, "{}"), "200 result");
    }
    for n in 0..8 {
        let revision = Revision::ALL[n / 2];
        assert_eq!(site.session(n).server.revision(), Some(revision));
    }
    // LC-13: inside of a session it is one too many, and the session goes on.
    site.check(
        &["mcp-session-id: s3"],
        &initialize("2025-11-25", "{}"),
        "200 -32600",
    )
    .check(
        &["mcp-session-id: s3"],
        &request("1", "ping", ""),
        "200 result",
    );
    // Without a version there is nothing to negotiate (LC-15).
    site.check(&[], &request("0", "initialize", ""), "200 -32602");
}

/// VR-28, LC-16.
#[test]
fn a_session_goes_on_in_its_revision() {
    let list = request("1", "tools/list", "");
    let mut site = Site::open(config(), "2025-06-18", "{}");
    for header in [
        "-x",
        "mcp-protocol-version: 2025-06-18",
        V4,
        "mcp-protocol-version: 2024-11-05",
    ] {
        site.check(&[header, "mcp-session-id: s0"], &list, "200 result");
        assert_eq!(
            site.session(0).server.revision(),
            Some(Revision::V2025_06_18)
        );
    }
    // SH-33
    for header in [
        "mcp-protocol-version: 2025-06-19",
        "mcp-protocol-version:",
        "mcp-protocol-version: DRAFT-2026-v1",
        "mcp-protocol-version: 1.0",
    ] {
        site.check(&[header, "mcp-session-id: s0"], &list, "400 -32600");
    }
    // SH-29, SH-30, SH-28
    site.check(&[], &list, "400 -32600")
        .check(&[V4], &list, "400 -32600")
        .check(&[], INITIALIZED, "400 -32600")
        .check(&[], &response("1"), "400 -32600")
        .check(&["mcp-session-id: s1"], &list, "404")
        .check(&["mcp-session-id: S0"], &list, "404")
        .check(&["mcp-session-id:"], &list, "400 -32600")
        .check(&["mcp-session-id: s 0"], &list, "400 -32600");
}

/// SH-57.
#[test]
fn what_occurs_twice_is_refused() {
    let list = list();
    for field in [
        "+mcp-protocol-version: 2026-07-28",
        "+Mcp-Method: tools/list",
        "+mcp-name: x",
        "+mcp-session-id: s0",
    ] {
        let mut site = Site::open(config(), "2025-11-25", "{}");
        let usual = [
            V5,
            "mcp-method: tools/list",
            "mcp-name: x",
            "mcp-session-id: s0",
        ];
        let mut fields = usual.to_vec();
        site.check(&fields, &list, "200 result");
        fields.push(field);
        site.check(&fields, &list, "400 -32020");
    }
    // The code belongs to 2026-07-28.
    for field in [
        "+mcp-protocol-version: 2025-11-25",
        "+mcp-protocol-version: 2025-11-25; +mcp-protocol-version: x",
        "+Mcp-Method: tools/list; +Mcp-Method: tools/list",
        "+mcp-name: x; +mcp-name: x",
        "+mcp-session-id: s0",
    ] {
        let mut site = Site::open(config(), "2025-11-25", "{}");
        let mut fields = vec!["mcp-session-id: s0", "mcp-protocol-version: 2025-11-25"];
        let call = call("1", "x");
        site.check(&fields, &call, "200 result");
        fields.extend(field.split("; "));
        site.check(&fields, &call, "400 -32600");
    }
}

/// VR-28.
#[test]
fn without_sessions_each_exchange_stands_for_itself() {
    let site = &mut Site::new();
    site.endpoint.sessions = false;
    let list = request("1", "tools/list", "");
    // SH-32, SH-37
    site.check(&[], &list, "200 result");
    let assumed = |site: &Site| site.alone.as_ref().unwrap().server.revision();
    assert_eq!(assumed(site), Some(Revision::V2025_03_26));
    site.check(&[V4], &list, "200 result");
    assert_eq!(assumed(site), Some(Revision::V2025_11_25));
    site.check(&["mcp-session-id: s9"], &list, "200 result")
        .check(&[], INITIALIZED, "202")
        .check(&[], &response("1"), "202")
        .check(&[], &request("1", "ping", ""), "200 result")
        .check(&[], &format!("[{list}]"), "200 [result]")
        .check(&[V4], &format!("[{list}]"), "400 -32600")
        .check(&[], &initialize("2025-06-18", "{}"), "200 result")
        .check(&["mcp-protocol-version: x"], &list, "400 -32600");
    // Who does not serve the one that is assumed needs to be told another.
    site.endpoint.revisions = RevisionSet::all().without(Revision::V2025_03_26);
    site.check(&[], &list, "400 -32600")
        .check(&[V4], &list, "200 result");
}

#[test]
fn a_modern_server_has_no_other_era() {
    let site = &mut Site::serving(RevisionSet::modern());
    let head = [V5, "mcp-method: tools/list"];
    site.check(&head, &list(), "200 result")
        .check(
            &[V5, "mcp-method: tools/list", "mcp-session-id: x"],
            &list(),
            "200 result",
        )
        // SH-37, VR-25: what every request of an older client lacks first is the header.
        .check(&[], &request("1", "tools/list", ""), "400 -32020")
        .check(&[], &request("1", "ping", ""), "400 -32020")
        .check(&[], INITIALIZED, "400 -32020")
        .check(&[V4], &request("1", "tools/list", ""), "400 -32602")
        .check(&[], "[1]", "400 -32600")
        .check(&[V5, "mcp-method: ping"], &request("1", "ping", &modern("")), "404 -32601")
        .check(&[], &initialize("2025-11-25", "{}"), "400 -32020");
    // VR-20: it says what it speaks.
    let said = &site.alone.as_ref().unwrap().sent[0];
    assert_eq!(
        said.text,
        r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32020,"message":"MCP-Protocol-Version is missing; this server speaks 2026-07-28","data":{"supported":["2026-07-28"]}}}"#
    );
}

#[test]
fn a_legacy_server_says_so_to_modern_clients() {
    let site = &mut Site::serving(RevisionSet::legacy());
    let head = [V5, "mcp-method: tools/list"];
    site.check(&head, &list(), "400 -32022")
        .check(&head, &request("1", "tools/list", ""), "400 -32602")
        .check(
            &[V5, "mcp-method: server/discover"],
            &request("1", "server/discover", &modern("")),
            "400 -32022",
        )
        .check(&[], &request("1", "server/discover", ""), "400 -32600")
        .check(&[], &initialize("2026-07-28", "{}"), "200 result");
}

#[test]
fn a_bare_discover_can_only_be_modern() {
    let site = &mut Site::open(config(), "2025-11-25", "{}");
    let bare = request("1", "server/discover", "");
    site.check(&[], &bare, "400 -32020")
        .check(&["mcp-session-id: s0"], &bare, "400 -32020")
        .check(&[V4], &bare, "400 -32602");
}

#[test]
fn the_usual_endpoint_has_sessions() {
    assert!(Endpoint::default().sessions);
}
