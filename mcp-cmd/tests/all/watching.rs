//! `subscribe`, on servers of a few lines of shell.

use super::run::{Ran, client, member};

#[test]
fn a_legacy_server_tells() {
    let ran = watch(
        LEGACY,
        &[
            "--revisions",
            "2025-11-25",
            "subscribe",
            "test://a",
            "--lists",
        ],
        2,
    );
    let records = records(&ran);
    assert_eq!(member(&records[0], "event"), "\"listening\"");
    assert_eq!(
        member(&records[0], "to.resourceSubscriptions.0"),
        "\"test://a\""
    );
    assert_eq!(records[1], r#"{"event":"updated","uri":"test://a"}"#);
    assert_eq!(records[2], r#"{"event":"list_changed","list":"tools"}"#);
    assert_eq!(records.len(), 3);
}

#[test]
fn a_modern_server_tells() {
    let ran = watch(
        MODERN,
        &[
            "--revisions",
            "2026-07-28",
            "subscribe",
            "test://a",
            "test://b",
        ],
        1,
    );
    let records = records(&ran);
    assert_eq!(
        member(&records[0], "to.resourceSubscriptions"),
        "[\"test://a\"]"
    );
    assert_eq!(records[1], r#"{"event":"updated","uri":"test://a"}"#);
    assert!(
        ran.err.contains("the server does not tell of test://b"),
        "{}",
        ran.err
    );
}

#[test]
fn the_server_ends_it() {
    let words = [
        "--revisions",
        "2026-07-28",
        "--json",
        "subscribe",
        "test://a",
    ];
    let server = ["--", "sh", "-c", MODERN];
    let ran = client(&[&words[..], &server].concat());
    ran.ended(6, "the server has ended the subscription");
}

fn watch(server: &str, words: &[&str], count: u32) -> Ran {
    let count = count.to_string();
    let rest = ["--json", "--count", &count, "--", "sh", "-c", server];
    client(&[words, &rest].concat())
}

fn records(ran: &Ran) -> Vec<String> {
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    ran.text().lines().map(str::to_owned).collect()
}

/// `initialize`, `notifications/initialized`, `resources/subscribe`; then two changes.
const LEGACY: &str = r#"
read initialize
echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true},"resources":{"subscribe":true}},"serverInfo":{"name":"shell","version":"1"}}}'
read initialized
read subscribe
echo '{"jsonrpc":"2.0","id":2,"result":{}}'
echo '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"test://a"}}'
echo '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}'
cat >/dev/null
"#;

/// `server/discover`, `subscriptions/listen`; then its acknowledgement, a change, and its end.
const MODERN: &str = r#"
read discover
echo '{"jsonrpc":"2.0","id":1,"result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"resources":{"subscribe":true}},"ttlMs":0,"cacheScope":"private"}}'
read listen
meta='"_meta":{"io.modelcontextprotocol/subscriptionId":2}'
echo '{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":{"resourceSubscriptions":["test://a"]},'"$meta"'}}'
echo '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"test://a",'"$meta"'}}'
echo '{"jsonrpc":"2.0","id":2,"result":{"resultType":"complete",'"$meta"'}}'
cat >/dev/null
"#;
