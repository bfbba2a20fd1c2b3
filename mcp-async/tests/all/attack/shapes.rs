//! Requests of the wrong shape: refused by a code, never by silence, and never obeyed.

use mcp_async::Server;
use mcp_async::model::{CreateMessageParams, SamplingMessage};
use mcp_async::server::{Context, ServerBuilder, Template};
use schemars::JsonSchema;
use serde::Deserialize;

use crate::attack::client_of;
use crate::server_typed::support::says;
use crate::texts::has;

#[derive(Deserialize, JsonSchema)]
struct Args {
    number: f64,
    #[serde(default)]
    count: u64,
    #[serde(default)]
    text: String,
}

fn server() -> ServerBuilder {
    Server::builder("shapes", "1")
        .tool("args", "", |args: Args, _| async move {
            Ok(format!(
                "{} {} {}",
                args.number,
                args.count,
                args.text.len()
            ))
        })
        .tool("asks", "", |(): (), cx: Context| async move {
            let asked = vec![SamplingMessage::user("?")];
            let said = cx.sample("q", CreateMessageParams::new(asked, 1)).await?;
            Ok(said.content.text())
        })
        .tool("other", "", says("other"))
        .with(
            Template::new("file:///srv/{name}", "one").raw(|found, _| async move {
                Ok(format!("<{}>", found.captures.string("name").unwrap_or("")))
            }),
        )
}

#[test]
fn arguments() {
    let mut wire = client_of(&server());
    let mut check = |arguments: &str| {
        let params = format!(r#"{{"name":"args","arguments":{arguments}}}"#);
        let answer = wire.ask("tools/call", &params);
        let refused = answer.contains(r#""isError":true"#) || answer.contains("-32602");
        assert!(refused, "{arguments:.100}: {answer:.300}");
        assert!(answer.len() < 4096, "{arguments:.100}: {}", answer.len());
    };
    let deep = format!(r#"{{"number":1,"x":{}{}}}"#, "[".repeat(50), "]".repeat(50));
    check("{}");
    check("[]");
    check("null");
    check(r#"{"number":1,"number":2}"#);
    check(r#"{"number":1e400}"#);
    check(r#"{"number":-1e400}"#);
    check(r#"{"number":"1"}"#);
    check(r#"{"number":1,"count":18446744073709551616}"#);
    check(r#"{"number":1,"count":-1}"#);
    check(r#"{"number":1,"count":1e99}"#);
    check(&format!(
        r#"{{"number":1,"count":{}}}"#,
        "9".repeat(100_000)
    ));
    check(&format!(r#"{{"{}":1}}"#, "k".repeat(100_000)));
    check(&format!(r#"{{"number":"{}"}}"#, "v".repeat(100_000)));
    let params = format!(r#"{{"name":"args","arguments":{deep}}}"#);
    assert!(!wire.ask("tools/call", &params).is_empty());
    let far = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    wire.line(&format!("9 tools/call {far}"));
    let came = wire.hear();
    assert!(came.len() <= 1, "{came:?}");
    // Half a character becomes one that stands for it, of three bytes.
    let fine = r#"{"name":"args","arguments":{"number":1.5,"text":"\ud800"}}"#;
    has(&wire.ask("tools/call", fine), ["1.5 0 3"]);
}

#[test]
fn names_that_are_echoed_are_cut_and_stay_text() {
    let mut wire = client_of(&server());
    for name in ["\\ud800", "\\u0000\\u001b[31m", &"x".repeat(100_000), ""] {
        for (method, member) in [("tools/call", "name"), ("prompts/get", "name")] {
            let answer = wire.ask(method, &format!(r#"{{"{member}":"{name}"}}"#));
            assert!(answer.contains(r#""error""#), "{answer:.300}");
            assert!(answer.len() < 1024, "{}", answer.len());
            assert!(!answer.contains('\u{1b}'), "{answer:?}");
        }
    }
}

#[test]
fn cursors() {
    let mut wire = client_of(&server());
    for cursor in [
        r#""""#,
        r#""AAAA""#,
        r#""\ud800""#,
        r#"7"#,
        r#"{}"#,
        r#"["a"]"#,
        r#""dEEAAAAA""#,
        &format!(r#""{}""#, "A".repeat(500_000)),
    ] {
        let answer = wire.ask("tools/list", &format!(r#"{{"cursor":{cursor}}}"#));
        assert!(answer.contains("-32602"), "{cursor:.50}: {answer:.300}");
    }
    let null = wire.ask("tools/list", r#"{"cursor":null}"#);
    assert!(
        null.contains(r#""tools":["#) || null.contains("-32602"),
        "{null}"
    );
}

#[test]
fn variables_never_lead_elsewhere() {
    let mut wire = client_of(&server());
    let mut check = |name: &str, read: Option<&str>| {
        let answer = wire.ask(
            "resources/read",
            &format!(r#"{{"uri":"file:///srv/{name}"}}"#),
        );
        match read {
            Some(read) => assert!(answer.contains(&format!("<{read}>")), "{name}: {answer}"),
            None => assert!(answer.contains(r#""error""#), "{name:.50}: {answer:.300}"),
        }
    };
    check("a", Some("a"));
    check("a%20b", Some("a b"));
    for name in [
        "..",
        ".",
        "%2e%2e",
        "%2E.",
        "a/b",
        "a%2Fb",
        "a%2fb",
        "..%2F..%2Fetc",
        "a%5Cb",
        "..%5c",
        "%c0%ae%c0%ae",
        "%c0%af",
        "%e0%80%af",
        "%ed%a0%80",
        "%f5%80%80%80",
        "%ff",
        "%",
        "%2",
        "%zz",
        "a#b",
        "a?b",
        "a b",
        "\\ud800",
        &"a".repeat(70_000),
    ] {
        check(name, None);
    }
}

#[test]
fn a_state_is_for_its_call_and_no_other() {
    let mut wire = client_of(&server());
    let answer = wire.ask("tools/call", r#"{"name":"asks"}"#);
    let state = answer.split(r#""requestState":""#).nth(1).unwrap();
    let state = state.split('"').next().unwrap().to_owned();
    let said = r#"{"role":"assistant","model":"m","content":{"type":"text","text":"yes"}}"#;
    let mut check = |name: &str, state: &str, responses: &str, expected: &str| {
        let answer = wire.ask(
            "tools/call",
            &format!(r#"{{"name":"{name}","requestState":{state},"inputResponses":{responses}}}"#),
        );
        assert!(
            answer.contains(expected),
            "{state:.50} {responses:.80}: {answer:.300}"
        );
    };
    let good = format!(r#""{state}""#);
    let responses = format!(r#"{{"q":{said}}}"#);
    check("asks", &good, &responses, r#""text":"yes""#);
    check("other", &good, &responses, "-32602");
    for state in ["7", "{}", r#""""#, r#""AA""#, r#""\ud800""#] {
        check("asks", state, &responses, "-32602");
    }
    for responses in [
        "[]".to_owned(),
        "7".to_owned(),
        format!(r#"{{"q":{said},"q":{said}}}"#),
        format!(r#"{{"q":{said},"\u0071":{said}}}"#),
        r#"{"q":null}"#.to_owned(),
        r#"{"q":"yes"}"#.to_owned(),
    ] {
        check("asks", &good, &responses, "-32602");
    }
    for responses in [
        r#"{}"#.to_owned(),
        r#"{"q":{}}"#.to_owned(),
        format!(r#"{{"\ud800":{said}}}"#),
        format!(r#"{{"q":{{"role":{}{}}}}}"#, "[".repeat(40), "]".repeat(40)),
    ] {
        check("asks", &good, &responses, "input_required");
    }
    // Without a state it is taken for what is asked under its key: whoever gives it would say the
    // same if it were asked first.
    has(
        &wire.ask(
            "tools/call",
            &format!(r#"{{"name":"asks","inputResponses":{responses}}}"#),
        ),
        [r#""text":"yes""#],
    );
}
