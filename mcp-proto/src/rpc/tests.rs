//! Messages, whole and with something around them.

use std::format;
use std::string::{String, ToString as _};

use super::*;
use crate::json::{FaultKind, MAX_DEPTH};

/// The content of a message in a line: the kind, the id, the rest.
fn told(message: &Message<'_>) -> String {
    let id = |id: Option<Id<'_>>| id.map_or(String::from("-"), |id| id.to_string());
    match message {
        Message::Request(request) => format!("request {} {}", id(Some(request.id)), request.method),
        Message::Notification(told) => format!("notification {}", told.method),
        Message::Response(Response {
            id: of, outcome, ..
        }) => match outcome {
            Ok(result) => format!("result {} {}", id(*of), result.as_str()),
            Err(error) => format!("error {} {} {}", id(*of), error.code, error.message),
        },
        Message::Invalid(invalid) => {
            let reason = match invalid.reason {
                Reason::Json(fault) => format!("{:?}", fault.kind),
                other => format!("{other:?}"),
            };
            format!("invalid {} {:?} {reason}", id(invalid.id), invalid.shape)
        }
    }
}

fn check(text: &str, expected: &str) {
    assert_eq!(
        told(&Message::parse(text.as_bytes(), MAX_DEPTH)),
        expected,
        "{text}"
    );
    let padded = format!(" \t{text}\r\n");
    assert_eq!(
        told(&Message::parse(padded.as_bytes(), MAX_DEPTH)),
        expected,
        "{padded}"
    );
}

#[test]
fn requests() {
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#,
        "request 1 ping",
    );
    check(
        r#"{"jsonrpc":"2.0","id":"1","method":"ping"}"#,
        r#"request "1" ping"#,
    );
    check(
        r#"{"method":"x","params":{},"id":0,"jsonrpc":"2.0"}"#,
        "request 0 x",
    );
    check(
        r#" { "jsonrpc" : "2.0" , "id" : -7 , "method" : "a" , "more" : [ ] } "#,
        "request -7 a",
    );
    check(
        r#"{"jsonrpc":"2\u002e0","i\u0064":1,"m\u0065thod":"\u0070ing"}"#,
        "request 1 ping",
    );
    check(r#"{"jsonrpc":"2.0","id":"","method":""}"#, r#"request "" "#);
    check(
        r#"{"jsonrpc":"2.0","ID":2,"id":1,"method":"a","Method":"b"}"#,
        "request 1 a",
    );
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"a","params":{"text":"\ud83d"}}"#,
        "request 1 a",
    );
}

#[test]
fn notifications() {
    check(
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "notification notifications/initialized",
    );
    check(
        r#"{"jsonrpc":"2.0","method":"a","params":{"id":1}}"#,
        "notification a",
    );
}

/// JR-10, JR-14, JR-51.
#[test]
fn responses() {
    check(
        r#"{"jsonrpc":"2.0","id":1,"result":{"a":1}}"#,
        r#"result 1 {"a":1}"#,
    );
    check(r#"{"jsonrpc":"2.0","id":1,"result":null}"#, "result 1 null");
    check(
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}"#,
        "error 1 -32601 no",
    );
    check(
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"","data":[]}}"#,
        "error - 1 ",
    );
    check(
        r#"{"jsonrpc":"2.0","error":{"message":"a","code":1}}"#,
        "error - 1 a",
    );
}

/// JR-03, JR-04, JR-36, JR-53.
#[test]
fn ids_are_exact() {
    for id in [
        "0",
        "-0",
        "9007199254740993",
        "-9223372036854775809",
        "123456789012345678901234567890",
        r#""""#,
        r#""a""#,
        r#""1""#,
    ] {
        check(
            &format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"a"}}"#),
            &format!("request {id} a"),
        );
        check(
            &format!(r#"{{"jsonrpc":"2.0","id":{id},"result":0}}"#),
            &format!("result {id} 0"),
        );
    }
    for id in [
        "null", "true", "[]", "{}", "1.0", "1.5", "1e0", "1E400", "1e400", "-0.0",
    ] {
        let request = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"a"}}"#);
        check(&request, "invalid - Request Id");
        let result = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":0}}"#);
        check(&result, "invalid - Response Id");
    }
}

#[test]
fn ids_are_equal_if_type_and_value_are() {
    let id = |text: &'static str| Id::parse(text.as_bytes()).unwrap();
    for (a, b) in [
        ("1", "1"),
        ("0", "-0"),
        (r#""a""#, r#""\u0061""#),
        (r#""\ud83d\ude00""#, "\"\u{1F600}\""),
        (r#""/""#, r#""\/""#),
        (r#""\uD83D""#, r#""\ud83d""#),
    ] {
        assert_eq!(id(a), id(b));
        assert_eq!(id(a).hash32(), id(b).hash32());
    }
    for (a, b) in [
        ("1", r#""1""#),
        ("1", "-1"),
        ("9007199254740992", "9007199254740993"),
        (r#""a""#, r#""A""#),
        (r#""\ud83d""#, r#""\ud83e""#),
        (r#""\ud83d""#, "\"\u{FFFD}\""),
    ] {
        assert_ne!(id(a), id(b));
    }
    assert_eq!(id("18446744073709551615").to_u64(), Some(u64::MAX));
    assert_eq!(id("18446744073709551616").to_u64(), None);
    assert_eq!(id(r#""1""#).to_u64(), None);
}

/// JR-01, JR-08, JR-09.
#[test]
fn json_that_is_no_message() {
    for (text, expected) in [
        ("5", "- Unknown NotObject"),
        ("null", "- Unknown NotObject"),
        (r#""a""#, "- Unknown NotObject"),
        (
            r#"[{"jsonrpc":"2.0","id":1,"method":"a"}]"#,
            "- Unknown NotObject",
        ),
        ("[]", "- Unknown NotObject"),
        ("{}", "- Unknown Version"),
        (r#"{"id":1,"method":"a"}"#, "1 Request Version"),
        (
            r#"{"jsonrpc":"2.1","id":1,"method":"a"}"#,
            "1 Request Version",
        ),
        (r#"{"jsonrpc":2.0,"method":"a"}"#, "- Notification Version"),
        (
            r#"{"jsonrpc":null,"id":1,"result":1}"#,
            "1 Response Version",
        ),
        (r#"{"jsonrpc":"2.0"}"#, "- Unknown Members"),
        (r#"{"jsonrpc":"2.0","id":3}"#, "3 Unknown Members"),
        (
            r#"{"jsonrpc":"2.0","id":3,"method":"a","result":{}}"#,
            "3 Request Members",
        ),
        (
            r#"{"jsonrpc":"2.0","method":"a","result":{}}"#,
            "- Notification Members",
        ),
        (
            r#"{"jsonrpc":"2.0","id":3,"result":1,"error":{}}"#,
            "3 Response Members",
        ),
        (
            r#"{"jsonrpc":"2.0","id":3,"result":1,"error":null}"#,
            "3 Response Members",
        ),
        (r#"{"jsonrpc":"2.0","id":3,"method":5}"#, "3 Request Method"),
        (r#"{"jsonrpc":"2.0","method":null}"#, "- Unknown Method"),
        (
            r#"{"jsonrpc":"2.0","id":3,"method":"a","params":[]}"#,
            "3 Request Params",
        ),
        (
            r#"{"jsonrpc":"2.0","method":"a","params":null}"#,
            "- Notification Params",
        ),
        (r#"{"jsonrpc":"2.0","result":{}}"#, "- Response Id"),
        (r#"{"jsonrpc":"2.0","id":3,"error":{}}"#, "3 Response Error"),
        (
            r#"{"jsonrpc":"2.0","id":3,"error":"no"}"#,
            "3 Response Error",
        ),
        (
            r#"{"jsonrpc":"2.0","id":3,"error":{"code":1}}"#,
            "3 Response Error",
        ),
        (
            r#"{"jsonrpc":"2.0","id":3,"error":{"code":1.5,"message":""}}"#,
            "3 Response Error",
        ),
        (
            r#"{"jsonrpc":"2.0","id":3,"error":{"code":1e400,"message":""}}"#,
            "3 Response Error",
        ),
        (
            r#"{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":null}}"#,
            "3 Response Error",
        ),
    ] {
        check(text, &format!("invalid {expected}"));
    }
}

/// JR-52.
#[test]
fn doubled_members_are_refused() {
    for (text, expected) in [
        (
            r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":1,"method":"a"}"#,
            "1 Request Doubled(Version)",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"a","id":1}"#,
            "- Request Doubled(Id)",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"i\u0064":2,"method":"a"}"#,
            "- Request Doubled(Id)",
        ),
        (
            r#"{"id":1,"id":2,"method":"a","method":"b"}"#,
            "- Request Doubled(Id)",
        ),
        (
            r#"{"method":"a","method":"b","id":1,"id":2}"#,
            "- Request Doubled(Id)",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"a","m\u0065thod":"a"}"#,
            "1 Request Doubled(Method)",
        ),
        (
            r#"{"jsonrpc":"2.0","method":"a","params":{},"params":{}}"#,
            "- Notification Doubled(Params)",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"result":1,"result":1}"#,
            "1 Response Doubled(Result)",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":1,"error":1}"#,
            "1 Response Doubled(Error)",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"","c\u006fde":2}}"#,
            "1 Response Doubled(Code)",
        ),
    ] {
        check(text, &format!("invalid {expected}"));
    }
    check(
        r#"{"jsonrpc":"2.0","id":1,"method":"a","x":1,"x":2}"#,
        "request 1 a",
    );
}

/// JR-02, JR-32.
#[test]
fn bytes_that_are_no_json_keep_their_id() {
    for (text, expected) in [
        ("", "- Unknown Incomplete"),
        ("hello", "- Unknown Syntax"),
        ("\u{FEFF}{}", "- Unknown Syntax"),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"a""#,
            "1 Request Incomplete",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"a"}}"#,
            "1 Request Trailing",
        ),
        (
            r#"{"jsonrpc":"2.0","id":1,"method":"a"}{"#,
            "1 Request Trailing",
        ),
        (
            r#"{"jsonrpc":"2.0","method":"a","params":{x},"id":"z"}"#,
            r#""z" Request Syntax"#,
        ),
        (
            r#"{"jsonrpc":"2.0","result":{x},"id":8}"#,
            "8 Response Syntax",
        ),
        (
            r#"{"jsonrpc":"2.0","method":"a","params":{x}}"#,
            "- Notification Syntax",
        ),
        (
            r#"{"jsonrpc":"2.0","id":01,"method":"a"}"#,
            "- Request Syntax",
        ),
        (
            r#"{'jsonrpc':"2.0","id":1,"method":"a"}"#,
            "1 Request Syntax",
        ),
    ] {
        let message = Message::parse(text.as_bytes(), MAX_DEPTH);
        assert_eq!(told(&message), format!("invalid {expected}"), "{text}");
        let Message::Invalid(invalid) = message else {
            panic!("{text}");
        };
        assert_eq!(invalid.reason.code(), code::PARSE_ERROR);
    }

    let utf8 = b"{\"jsonrpc\":\"2.0\",\"method\":\"\xFF\",\"id\":4}";
    assert_eq!(
        told(&Message::parse(utf8, MAX_DEPTH)),
        "invalid 4 Request Utf8"
    );
}

#[test]
fn every_prefix_and_every_flipped_byte_is_read() {
    let text =
        r#"{"jsonrpc":"2.0","id":"a\u00e9","method":"tools/call","params":{"x":[1,{"y":"é"}]}}"#;
    for end in 0..text.len() {
        let prefix = &text.as_bytes()[..end];
        let message = Message::parse(prefix, MAX_DEPTH);
        assert!(matches!(message, Message::Invalid(_)), "{end}");
    }
    for at in 0..text.len() {
        for flip in [0x01, 0x20, 0x80] {
            let mut text = text.as_bytes().to_vec();
            text[at] ^= flip;
            let _ = told(&Message::parse(&text, MAX_DEPTH));
        }
    }
}

#[test]
fn depth_is_bounded() {
    let nested = |depth: usize| {
        format!(
            r#"{{"jsonrpc":"2.0","method":"a","params":{{"a":{}{}}},"id":5}}"#,
            "[".repeat(depth - 2),
            "]".repeat(depth - 2),
        )
    };
    check(&nested(128), "request 5 a");
    check(&nested(129), "invalid 5 Request Depth");
    check(&nested(200_000), "invalid 5 Request Depth");
    let message = nested(4);
    assert_eq!(
        told(&Message::parse(message.as_bytes(), 3)),
        "invalid 5 Request Depth"
    );
    let Message::Invalid(invalid) = Message::parse(message.as_bytes(), 3) else {
        panic!();
    };
    assert!(matches!(invalid.reason, Reason::Json(fault) if fault.kind == FaultKind::Depth));
}

/// The messages of the protocol, each of which is written as it was read.
#[test]
fn examples_survive_a_round_trip() {
    for line in include_str!("examples.jsonl").lines() {
        let message = Message::parse(line.as_bytes(), MAX_DEPTH);
        assert!(!matches!(message, Message::Invalid(_)), "{line}");
        for size in 0..line.len() {
            let mut out = std::vec![0; size];
            let full = message.encode(&mut out).unwrap_err();
            assert_eq!(full.needed, line.len(), "{line}");
        }
        let mut out = std::vec![0; line.len()];
        assert_eq!(message.encode(&mut out), Ok(line.len()));
        assert_eq!(String::from_utf8(out).unwrap(), line);
    }
}

/// ST-02.
#[test]
fn what_is_written_is_one_line() {
    let text =
        "{\"jsonrpc\":\"2.0\",\"id\":\"\\ud83d\",\"method\":\"\\/\",\"params\":{\n\"a\"\r:1}}";
    let message = Message::parse(text.as_bytes(), MAX_DEPTH);
    let mut out = [0; 128];
    let len = message.encode(&mut out).unwrap();
    assert_eq!(
        core::str::from_utf8(&out[..len]).unwrap(),
        r#"{"jsonrpc":"2.0","id":"\ud83d","method":"\/","params":{ "a" :1}}"#
    );
}

#[test]
fn envelopes() {
    fn check(expected: &str, write: impl Fn(&mut crate::json::Writer<'_>)) {
        let mut out = [0; 128];
        let mut w = crate::json::Writer::new(&mut out);
        write(&mut w);
        let len = w.finish().unwrap();
        assert_eq!(core::str::from_utf8(&out[..len]).unwrap(), expected);
    }
    let params = |w: &mut crate::json::Writer<'_>| -> Result<(), ()> {
        w.literal("{}");
        Ok(())
    };
    check(
        r#"{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{}}"#,
        |w| {
            envelope::request(w, 7, Method::ToolsList, params).unwrap();
        },
    );
    check(r#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#, |w| {
        envelope::bare_request(w, 7, Method::Ping);
    });
    check(r#"{"jsonrpc":"2.0","method":"a\"b","params":{}}"#, |w| {
        envelope::notification(w, Method::from("a\"b"), params).unwrap();
    });
    check(
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        |w| {
            envelope::bare_notification(w, Method::Initialized);
        },
    );
    check(r#"{"jsonrpc":"2.0","id":"x","result":{}}"#, |w| {
        envelope::result(w, Id::from("x"), params).unwrap();
    });
    let error = Reason::Id.error();
    check(
        r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"id must be a string or an integer"}}"#,
        |w| envelope::error(w, None, &error),
    );
    let error = ErrorObject {
        data: Some(crate::json::Raw::TRUE),
        ..ErrorObject::new(code::USER_REJECTED, "no")
    };
    check(
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"no","data":true}}"#,
        |w| {
            envelope::error(w, Id::parse(b"1"), &error);
        },
    );
}

#[test]
fn the_members_of_a_result_are_where_they_were_noted() {
    let check = |members: &str| {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,{members}}}"#);
        let Message::Response(response) = Message::parse(text.as_bytes(), 8) else {
            panic!("{text}")
        };
        let result = response.outcome.unwrap_or_default();
        let walked = result.object().unwrap_or_default().members();
        assert!(response.places.members(result).eq(walked), "{text}");
        !response.places.is_unknown()
    };
    let object = r#"{"a":[{"b":1}],"_meta":{"c":{}},"d":"e"}"#;
    assert_eq!(
        check(&format!(r#""result":{object}"#)),
        cfg!(feature = "alloc")
    );
    for result in [object, "{}", "[1]", "null"] {
        for other in [object, "{}", "1"] {
            check(&format!(r#""result":{result}"#));
            check(&format!(r#""result" : {result} , "x":{other}"#));
            check(&format!(r#""result":{result},"params":{other}"#));
            check(&format!(r#""params":{other},"result":{result}"#));
            check(&format!(r#""par\u0061ms":{other},"result":{result}"#));
        }
    }
}
