//! The state between rounds, in hands that we do not trust.

use core::time::Duration;

use mcp_async::server::{AskError, CallContext, StateError, StateKeys};
use mcp_proto::model::LoggingLevel;

use crate::rounds::hand::{Came, Hand, Wall, round, said};
use crate::rounds::support::say;
use crate::seen::Seen;

/// Asks twice.
async fn twice(cx: CallContext, notes: Seen) -> Result<String, AskError> {
    notes.note("run");
    let first = say(&cx, "first", "one").await?;
    let second = say(&cx, "second", "two").await?;
    Ok(format!("{first} {second}"))
}

fn hand(keys: StateKeys) -> Hand {
    Hand::new(keys, None, twice)
}

/// MR-16.
#[test]
fn answers_travel_on() {
    let mut hand = hand(StateKeys::new([1; 32]));
    let state = hand.call("").asks(&["first"]);
    let state = hand.again(&state, &said("first", "a")).asks(&["second"]);
    // Only the latest answer is sent (MR-16).
    hand.again(&state, &said("second", "b")).says("a b");
    assert_eq!(hand.notes.take().len(), 3);
}

/// MR-07.
#[test]
fn a_tampered_state_is_refused_before_the_handler_runs() {
    let mut hand = hand(StateKeys::new([1; 32]));
    let state = hand.call("").asks(&["first"]);
    hand.notes.take();
    let answer = said("first", "a");
    for at in 0..state.len() {
        let mut tampered = state.clone().into_bytes();
        tampered[at] = if tampered[at] == b'A' { b'B' } else { b'A' };
        let tampered = String::from_utf8(tampered).unwrap();
        hand.again(&tampered, &answer).refused();
        hand.again(&state[..at], &answer).refused();
    }
    for state in [
        format!("{state}A"),
        format!("{state}="),
        format!(" {state}"),
        "opaque".into(),
        "\\ud83d".into(),
        "A".repeat(70_000),
    ] {
        hand.again(&state, &answer).refused();
    }
    assert_eq!(hand.notes.take(), [] as [&str; 0]);
    hand.again(&state, &answer).asks(&["second"]);
}

/// MR-08.
#[test]
fn an_expired_state_is_refused() {
    let wall = Wall::default();
    let mut hand = hand(wall.keys(1).lifetime(Duration::from_secs(60)));
    let state = hand.call("").asks(&["first"]);
    wall.advance(Duration::from_secs(59));
    let state = hand.again(&state, &said("first", "a")).asks(&["second"]);
    // Each round has its own time.
    wall.advance(Duration::from_secs(59));
    hand.again(&state, &said("second", "b")).says("a b");
    wall.advance(Duration::from_secs(1));
    hand.again(&state, &said("second", "b")).refused();
}

/// MR-08.
#[test]
fn a_state_of_another_call_is_refused() {
    let mut hand = hand(StateKeys::new([1; 32]));
    let mut check = |begun: &str, retried: &str, same: bool| {
        let (method, members) = begun.split_once(' ').unwrap();
        let state = hand.request(method, members).asks(&["first"]);
        let (method, members) = retried.split_once(' ').unwrap();
        let members = members.to_owned() + &round(&state, &said("first", "a"));
        let came = hand.request(method, &members);
        if same {
            came.asks(&["second"]);
        } else {
            came.refused();
        }
    };
    let call = r#"tools/call "name":"t","arguments":{"a":1,"b":"x"}"#;
    check(call, call, true);
    check(
        call,
        r#"tools/call "arguments": {"b":"\u0078", "a":1}, "name":"t""#,
        true,
    );
    check(
        call,
        r#"tools/call "name":"u","arguments":{"a":1,"b":"x"}"#,
        false,
    );
    check(
        call,
        r#"tools/call "name":"t","arguments":{"a":2,"b":"x"}"#,
        false,
    );
    check(call, r#"tools/call "name":"t","arguments":{"a":1}"#, false);
    check(call, r#"tools/call "name":"t""#, false);
    check(
        call,
        r#"prompts/get "name":"t","arguments":{"a":1,"b":"x"}"#,
        false,
    );
    let read = r#"resources/read "uri":"a:b""#;
    check(read, read, true);
    check(read, r#"resources/read "uri":"a:c""#, false);
}

/// MR-08.
#[test]
fn a_state_of_somebody_else_is_refused() {
    let of = |principal| Hand::new(StateKeys::new([1; 32]), principal, twice);
    let people = [None, Some("ada"), Some("eve")];
    for begun in people {
        let state = of(begun).call("").asks(&["first"]);
        for retried in people {
            let came = of(retried).again(&state, &said("first", "a"));
            if begun == retried {
                came.asks(&["second"]);
            } else {
                came.refused();
            }
        }
    }
}

/// JR-46.
#[test]
fn keys_rotate() {
    let (old, new) = ([1; 32], [2; 32]);
    let state = hand(StateKeys::new(old)).call("").asks(&["first"]);
    let answer = said("first", "a");
    hand(StateKeys::new(new)).again(&state, &answer).refused();
    let mut rotated = hand(StateKeys::new(new).previous([9; 32]).previous(old));
    let state = rotated.again(&state, &answer).asks(&["second"]);
    // What comes next is sealed with the new key.
    hand(StateKeys::new(old))
        .again(&state, &said("second", "b"))
        .refused();
    hand(StateKeys::new(new))
        .again(&state, &said("second", "b"))
        .says("a b");
    let random = StateKeys::random().unwrap();
    let state = hand(random.clone()).call("").asks(&["first"]);
    hand(random).again(&state, &answer).asks(&["second"]);
    hand(StateKeys::random().unwrap())
        .again(&state, &answer)
        .refused();
}

/// MR-06, MR-14.
#[test]
fn what_was_not_asked_is_ignored_and_what_is_missing_is_asked_again() {
    let mut hand = hand(StateKeys::new([1; 32]));
    let state = hand.call("").asks(&["first"]);
    let both = format!("{},{}", said("first", "a"), said("second", "b"));
    hand.again(&state, &both).asks(&["second"]);
    hand.again(&state, &said("third", "c")).asks(&["first"]);
    hand.again(&state, r#""x":1,"y":null"#).asks(&["first"]);
    let state = hand
        .call(&format!(r#","requestState":"{state}""#))
        .asks(&["first"]);
    hand.again(&state, &said("first", "a")).asks(&["second"]);
}

#[test]
fn answers_without_a_state_are_taken_for_what_is_asked_under_their_keys() {
    let mut hand = hand(StateKeys::new([1; 32]));
    let early = |answers: &str| format!(r#","inputResponses":{{{answers}}}"#);
    let state = hand.call(&early(&said("first", "a"))).asks(&["second"]);
    hand.again(&state, &said("second", "b")).says("a b");
    let both = format!(r#"{},"x":1,{}"#, said("first", "a"), said("second", "b"));
    hand.call(&early(&both)).says("a b");
    // What is no answer, or stands there twice, is as good as absent.
    let shapes = [r#""first":1"#, r#""first":{}"#, r#""x":{}"#, ""];
    for shape in shapes {
        hand.call(&early(shape)).asks(&["first"]);
    }
    let double = format!("{},{}", said("first", "a"), said("first", "b"));
    hand.call(&early(&double)).asks(&["first"]);
    hand.call(r#","inputResponses":[]"#).refused();
}

#[test]
fn an_answer_of_another_shape_is_asked_again_and_a_malformed_one_refused() {
    let mut hand = hand(StateKeys::new([1; 32]));
    let state = hand.call("").asks(&["first"]);
    let shapes = [
        r#"{}"#,
        r#"{"action":"accept"}"#,
        r#"{"role":"assistant","model":7}"#,
    ];
    for shape in shapes {
        hand.again(&state, &format!(r#""first":{shape}"#))
            .asks(&["first"]);
    }
    for malformed in ["1", "null", "\"a\"", "[]"] {
        hand.again(&state, &format!(r#""first":{malformed}"#))
            .refused();
    }
    let double = format!("{},{}", said("first", "a"), said("first", "b"));
    hand.again(&state, &double).refused();
    let no_object = format!(r#","requestState":"{state}","inputResponses":[]"#);
    hand.call(&no_object).refused();
}

#[test]
fn a_question_that_changed_is_asked_again() {
    let mut hand = Hand::new(StateKeys::new([1; 32]), None, |cx, _| async move {
        let state = cx.request_state();
        let runs = state.value::<u32>("runs").unwrap().unwrap_or(0);
        state.set("runs", &(runs + 1)).unwrap();
        say(&cx, "key", &format!("question {}", runs / 2)).await
    });
    // Asked as number 0, and again as number 0: answered.
    let state = hand.call("").asks(&["key"]);
    hand.again(&state, &said("key", "zero")).says("zero");
    // Without an answer there is a further run, and the one after it asks number 1: what the
    // client says to number 0 is no answer to that.
    let state = hand.again(&state, "").asks(&["key"]);
    let state = hand.again(&state, &said("key", "zero")).asks(&["key"]);
    hand.again(&state, &said("key", "one")).says("one");
}

#[test]
fn what_is_too_much_to_carry() {
    let mut hand = Hand::new(StateKeys::new([1; 32]), None, |cx, notes| async move {
        let large = "x".repeat(30_000);
        let state = cx.request_state();
        state.set("large", &large).unwrap();
        // Instead of the value before, not beside it.
        state.set("large", &large).unwrap();
        let full = state.set("more", &large);
        assert!(matches!(full, Err(StateError::Full)), "{full:?}");
        let full = cx.once("more", async { large.clone() }).await;
        assert!(matches!(full, Err(StateError::Full)), "{full:?}");
        let other = state.value::<u32>("large");
        assert!(matches!(other, Err(StateError::Decode(_))), "{other:?}");
        notes.note("checked");
        let answer = say(&cx, "key", "one").await?;
        state.remove("large");
        say(&cx, "next", "two").await?;
        Ok(answer)
    });
    let state = hand.call("").asks(&["key"]);
    assert!(state.len() < 64 << 10);
    let state = hand.again(&state, &said("key", "a")).asks(&["next"]);
    assert!(state.len() < 1 << 10, "what was removed is not carried");
    assert_eq!(hand.notes.take().len(), 2);

    // An answer cannot be kept from growing: then the call fails, and says of what.
    let mut hand = self::hand(StateKeys::new([1; 32]));
    let state = hand.call("").asks(&["first"]);
    let came = hand.again(&state, &said("first", &"x".repeat(60_000)));
    let limit = "limit reached: bytes of request state";
    assert_eq!(came, Came::Error(-32603, limit.into()));
}

#[test]
fn what_is_told_leaves_before_the_question() {
    let mut hand = Hand::new(StateKeys::new([1; 32]), None, |cx, _| async move {
        cx.progress(1.0).total(2.0).message("half").await;
        cx.log(LoggingLevel::Info, "asking").logger("test").await;
        say(&cx, "key", "one").await
    });
    let mut state = String::new();
    for _ in 0..2 {
        let members = if state.is_empty() {
            String::new()
        } else {
            round(&state, "")
        };
        let lines = hand.send("tools/call", &format!(r#""name":"tool"{members}"#));
        assert!(
            lines[0].contains(r#""progress":1,"total":2,"message":"half""#),
            "{lines:?}"
        );
        assert!(
            lines[1].contains(r#""logger":"test","data":"asking""#),
            "{lines:?}"
        );
        assert!(lines[2].contains("input_required"), "{lines:?}");
        assert_eq!(lines.len(), 3);
        let state_at = lines[2].split(r#""requestState":""#).nth(1).unwrap();
        state = state_at.split('"').next().unwrap().to_owned();
    }
}

#[test]
fn an_error_of_the_handler_is_no_question() {
    let mut hand = Hand::new(StateKeys::new([1; 32]), None, |_, _| async {
        Err(AskError::Timeout)
    });
    assert!(matches!(hand.call(""), Came::Error(1, _)));
}
