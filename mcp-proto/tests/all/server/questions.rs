//! Questions of the server in a legacy session: LC-08, LC-17, LC-18, LC-22, LC-23.

use core::time::Duration;

use mcp_proto::server::{AskOptions, ServerConfig};
use mcp_proto::{Channel, Machine, PingPolicy, SendError, Why};

use super::Talk;
use super::talk::{cancelled, config, initialize, notification, request};

const ALL: &str = r#"{"roots":{},"sampling":{},"elicitation":{}}"#;

fn asked(id: u64, method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{params}}}"#)
}

fn given_up(id: u64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{id}}}}}"#
    )
}

fn options(cookie: u64) -> AskOptions {
    AskOptions {
        timeout: Duration::from_secs(10),
        cap: Duration::from_secs(25),
        progress: false,
        cookie,
    }
}

#[test]
fn questions_are_answered_once() {
    let mut talk = Talk::open(config(), "2025-11-25", ALL);
    talk.ask(None, "roots/list", "{}", options(7)).unwrap();
    talk.ask(
        None,
        "sampling/createMessage",
        r#"{"maxTokens":1}"#,
        options(8),
    )
    .unwrap();
    talk.hears(&[
        &asked(1, "roots/list", "{}"),
        &asked(2, "sampling/createMessage", r#"{"maxTokens":1}"#),
    ]);
    // JR-33: type and value decide.
    for id in ["\"1\"", "3", "0", "-1", "18446744073709551617"] {
        talk.say(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{}}}}"#))
            .ignores(Why::LateResponse);
    }
    talk.say(r#"{"jsonrpc":"2.0","id":2,"error":{"code":-1,"message":"no"}}"#)
        .say(r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#)
        .sees(&["answer 1 8 error -1", r#"answer 0 7 {"roots":[]}"#]);
    talk.say(r#"{"jsonrpc":"2.0","id":1,"result":{"roots":[]}}"#)
        .ignores(Why::LateResponse);
}

/// JR-32: a reply that cannot be used ends its question at once.
#[test]
fn an_unusable_answer_ends_its_question() {
    for (line, why) in [
        (
            r#"{"jsonrpc":"2.0","id":1,"result":[]}"#,
            "Unusable(Members)",
        ),
        (
            r#"{"jsonrpc":"1.0","id":1,"result":{}}"#,
            "Unusable(Version)",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#,
            "Unusable(Members)",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}"#,
            "Unusable(Error)",
        ),
    ] {
        let mut talk = Talk::open(config(), "2025-11-25", ALL);
        talk.ask(None, "roots/list", "{}", options(7)).unwrap();
        talk.take();
        talk.say(line)
            .hears(&[])
            .sees(&[&format!("answer 0 7 {why}")]);
    }
}

/// LC-08.
#[test]
fn lc_08_no_questions_before_initialized() {
    let mut talk = Talk::new(config());
    let ask = |talk: &mut Talk| talk.ask(None, "roots/list", "{}", options(0)).map(drop);
    assert_eq!(ask(&mut talk), Err(SendError::NotReady));
    talk.say(&initialize("2025-11-25", ALL));
    assert_eq!(ask(&mut talk), Err(SendError::NotReady));
    talk.say(super::talk::INITIALIZED);
    assert_eq!(ask(&mut talk), Ok(()));
}

/// LC-17, LC-23, EL-02, SP-03, SP-04, RT-05.
#[test]
fn lc_23_capabilities_of_the_client() {
    #[track_caller]
    fn check(
        version: &str,
        capabilities: &str,
        question: (&str, &str),
        expected: Result<(), SendError>,
    ) {
        let mut talk = Talk::open(config(), version, capabilities);
        let asked = talk.ask(None, question.0, question.1, options(0));
        assert_eq!(asked.map(drop), expected);
    }
    let refused = |what| Err(SendError::Undeclared(what));
    let roots = ("roots/list", "{}");
    check("2024-11-05", r#"{"roots":{}}"#, roots, Ok(()));
    check("2024-11-05", r#"{"roots":null}"#, roots, refused("roots"));
    check("2024-11-05", "{}", roots, refused("roots"));
    let form = ("elicitation/create", r#"{"message":"m"}"#);
    let url = ("elicitation/create", r#"{"mode":"url","url":"a:b"}"#);
    check("2025-03-26", ALL, form, Err(SendError::NotInRevision));
    check("2025-06-18", ALL, form, Ok(()));
    check("2025-06-18", "{}", form, refused("elicitation"));
    check(
        "2025-06-18",
        r#"{"elicitation":{"url":{}}}"#,
        url,
        Err(SendError::NotInRevision),
    );
    check("2025-11-25", r#"{"elicitation":{"url":{}}}"#, url, Ok(()));
    check(
        "2025-11-25",
        r#"{"elicitation":{"url":{}}}"#,
        form,
        refused("elicitation.form"),
    );
    check("2025-11-25", ALL, url, refused("elicitation.url"));
    // EL-02, EL-04: a mode that is not known was not declared, and only a missing one is a form.
    for mode in [r#"{"mode":"voice"}"#, r#"{"mode":null}"#] {
        let unknown = ("elicitation/create", mode);
        check("2025-11-25", ALL, unknown, Err(SendError::NotInRevision));
    }
    let named = ("elicitation/create", r#"{"mode":"form"}"#);
    check("2025-11-25", ALL, named, Ok(()));
    let plain = (
        "sampling/createMessage",
        r#"{"maxTokens":1,"includeContext":"none"}"#,
    );
    let tools = ("sampling/createMessage", r#"{"toolChoice":{}}"#);
    let context = (
        "sampling/createMessage",
        r#"{"includeContext":"thisServer"}"#,
    );
    check("2025-11-25", ALL, plain, Ok(()));
    check("2025-11-25", ALL, tools, refused("sampling.tools"));
    check("2025-11-25", r#"{"sampling":{"tools":{}}}"#, tools, Ok(()));
    check(
        "2025-06-18",
        r#"{"sampling":{"tools":{}}}"#,
        tools,
        Err(SendError::NotInRevision),
    );
    check("2025-11-25", ALL, context, refused("sampling.context"));
    check("2025-06-18", ALL, context, Ok(()));
    let both = (
        "sampling/createMessage",
        r#"{"tools":[],"includeContext":"thisServer"}"#,
    );
    check(
        "2025-11-25",
        r#"{"sampling":{"tools":{}}}"#,
        both,
        refused("sampling.context"),
    );
    check(
        "2025-11-25",
        r#"{"sampling":{"tools":{},"context":{}}}"#,
        both,
        Ok(()),
    );
    check(
        "2025-11-25",
        ALL,
        ("tasks/list", "{}"),
        refused("tasks.list"),
    );
    check(
        "2025-06-18",
        ALL,
        ("tasks/list", "{}"),
        Err(SendError::NotInRevision),
    );
    check(
        "2025-11-25",
        ALL,
        ("tools/list", "{}"),
        Err(SendError::NotInRevision),
    );
    check("2025-11-25", ALL, ("ping", "{}"), Ok(()));
    check(
        "2025-11-25",
        ALL,
        ("roots/list", "[]"),
        Err(SendError::Encode),
    );
}

/// LC-18: an expired question is cancelled, and its late answer dropped.
#[test]
fn lc_18_questions_expire() {
    let mut talk = Talk::open(config(), "2025-11-25", ALL);
    talk.ask(None, "roots/list", "{}", options(7)).unwrap();
    talk.take();
    talk.wait(9_999).hears(&[]).sees(&[]);
    talk.wait(1)
        .hears(&[&given_up(1)])
        .sees(&["answer 0 7 Expired"]);
    talk.say(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)
        .ignores(Why::LateResponse);
    assert_eq!(mcp_proto::Machine::poll_timeout(&talk.server), None);
}

/// LC-19, PG-09: progress stretches the timeout, up to the cap.
#[test]
fn lc_19_progress_stretches_the_timeout() {
    let mut talk = Talk::open(config(), "2025-11-25", ALL);
    let patient = AskOptions {
        progress: true,
        ..options(7)
    };
    talk.ask(None, "roots/list", r#"{"_meta":{"a":1}}"#, patient)
        .unwrap();
    talk.hears(&[&asked(
        1,
        "roots/list",
        r#"{"_meta":{"progressToken":1,"a":1}}"#,
    )]);
    let progress = |token: &str, value: &str| {
        notification(
            "notifications/progress",
            &format!(r#""progressToken":{token},"progress":{value}"#),
        )
    };
    talk.wait(9_000)
        .say(&progress("1", "0.5"))
        .sees(&["progress 0 7 0.5"]);
    for (token, value) in [("\"1\"", "1"), ("2", "1"), ("1", "0.5"), ("1", "0.25")] {
        talk.say(&progress(token, value))
            .ignores(Why::StaleProgress);
    }
    for (token, value) in [("1", "\"1\""), ("null", "1"), ("1", "null")] {
        talk.say(&progress(token, value)).ignores(Why::Malformed);
    }
    talk.wait(9_000)
        .say(&progress("1", "1"))
        .sees(&["progress 0 7 1"]);
    talk.wait(6_999).sees(&[]);
    talk.wait(1)
        .sees(&["answer 0 7 Expired"])
        .hears(&[&given_up(1)]);
}

/// CN-01, CN-06.
#[test]
fn the_asker_gives_up() {
    let mut talk = Talk::open(config(), "2025-11-25", ALL);
    let token = talk.ask(None, "roots/list", "{}", options(7)).unwrap();
    talk.take();
    talk.server.cancel(token);
    talk.server.cancel(token);
    talk.drain().hears(&[&given_up(1)]).sees(&[]);
    talk.server.cancel(token);
    talk.say(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)
        .ignores(Why::LateResponse);
    // An answer that crosses the cancellation.
    let token = talk.ask(None, "roots/list", "{}", options(7)).unwrap();
    talk.take();
    talk.server.cancel(token);
    talk.say(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#)
        .hears(&[&given_up(2)])
        .sees(&[]);
}

/// A question ends with the request that it was asked for.
#[test]
fn questions_end_with_their_request() {
    let mut talk = Talk::open(config(), "2025-11-25", ALL);
    let call = request("\"c\"", "tools/call", r#""name":"x""#);
    talk.say(&call);
    talk.ask(Some(0), "roots/list", "{}", options(7)).unwrap();
    talk.ask(None, "roots/list", "{}", options(8)).unwrap();
    talk.take();
    talk.sees(&["request 0 tools/call x"]);
    talk.say(&cancelled("\"c\""))
        .hears(&[&given_up(1)])
        .sees(&["cancelled 0", "answer 1 7 Cancelled"]);
    assert_eq!(
        talk.ask(Some(0), "roots/list", "{}", options(7)),
        Err(SendError::Stale)
    );
    talk.say(&call);
    talk.ask(Some(3), "roots/list", "{}", options(9)).unwrap();
    talk.take();
    talk.answer(3, "{}")
        .sees(&["request 3 tools/call x", "answer 4 9 Cancelled"]);
    assert_eq!(talk.take()[1], given_up(3));
}

#[test]
fn questions_are_bounded() {
    let mut talk = Talk::open(config(), "2025-11-25", ALL);
    for _ in 0..4 {
        talk.ask(None, "roots/list", "{}", options(0)).unwrap();
    }
    assert_eq!(
        talk.ask(None, "roots/list", "{}", options(0)),
        Err(SendError::TableFull)
    );
    talk.say(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    talk.ask(None, "roots/list", "{}", options(0)).unwrap();
}

/// LC-22: an interval, a number of misses, each told, the last one closes.
#[test]
fn lc_22_pings() {
    let config = ServerConfig {
        ping: Some(PingPolicy {
            interval: Duration::from_secs(30),
            timeout: Duration::from_secs(10),
            misses: 2,
        }),
        ..config()
    };
    let mut talk = Talk::open(config, "2025-11-25", ALL);
    let ping = |id: u64| format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#);
    talk.wait(29_999).hears(&[]);
    talk.wait(1).hears(&[&ping(1)]);
    talk.wait(9_999)
        .say(r#"{"jsonrpc":"2.0","id":1,"result":{}}"#)
        .sees(&[]);
    talk.wait(29_999).hears(&[]);
    talk.wait(1).hears(&[&ping(2)]);
    talk.wait(10_000).sees(&["missed 1 of 2"]);
    talk.say(r#"{"jsonrpc":"2.0","id":2,"result":{}}"#)
        .ignores(Why::LateResponse);
    talk.wait(30_000).hears(&[&ping(3)]);
    // An error is a sign of life as well.
    talk.say(r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32601,"message":"m"}}"#);
    talk.wait(30_000).hears(&[&ping(4)]);
    // So is an answer that cannot be used.
    talk.say(r#"{"jsonrpc":"2.0","id":4,"result":{},"result":{}}"#);
    talk.wait(30_000).hears(&[&ping(5)]);
    talk.wait(10_000).sees(&["missed 1 of 2"]);
    talk.wait(30_000).hears(&[&ping(6)]);
    talk.say(&request("1", "tools/list", ""));
    talk.wait(10_000).sees(&[
        "request 0 tools/list",
        "missed 2 of 2",
        "cancelled 0",
        "closed",
    ]);
    assert!(talk.server.is_closed());
    assert_eq!(mcp_proto::Machine::poll_timeout(&talk.server), None);
}

/// Whoever gave up is not told of an end that nobody had told it of yet.
#[test]
fn giving_up_what_has_ended() {
    for client_heard in [true, false] {
        let mut talk = Talk::open(config(), "2025-11-25", ALL);
        let token = talk.ask(None, "roots/list", "{}", options(7)).unwrap();
        talk.take();
        talk.server.cancel_all();
        if client_heard {
            let mut out = [0; 128];
            let now = talk.now;
            let sent = talk.server.poll_transmit(now, Channel::PIPE, &mut out);
            assert!(sent.unwrap().is_some());
        }
        talk.server.cancel(token);
        talk.drain().sees(&[]);
    }
}
