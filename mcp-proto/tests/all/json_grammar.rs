//! What the scanner takes and what it refuses, case by case.

use mcp_proto::json::{Fault, FaultKind, Raw};

const DEPTH: u8 = 8;

/// Accepted whole, refused at every cut that leaves no value, and not disturbed by what stands
/// around it.
fn accept(text: &[u8]) {
    let raw = Raw::parse(text, DEPTH).unwrap_or_else(|fault| panic!("{text:?}: {fault}"));
    assert_eq!(raw.as_bytes(), text.trim_ascii());
    let framed = [b"[ ".as_slice(), text, b" , 0, \"some more text behind\"]"].concat();
    let array = Raw::parse(&framed, DEPTH + 1).unwrap().array().unwrap();
    assert_eq!(
        array.elements().next().unwrap().as_bytes(),
        text.trim_ascii()
    );
    assert_eq!(array.len(), 3);
    for end in 0..text.len() {
        let cut = text.get(..end).unwrap();
        match Raw::parse(cut, DEPTH) {
            Ok(raw) => assert_eq!(raw.as_bytes(), cut.trim_ascii()),
            Err(Fault {
                kind: FaultKind::Incomplete | FaultKind::Utf8,
                at,
            }) => assert!(at <= end),
            Err(fault) => panic!("{cut:?}: {fault}"),
        }
    }
}

/// Refused for this reason at this byte, also inside an array and with text behind it.
fn refuse(text: &[u8], kind: FaultKind, at: usize) {
    assert_eq!(
        Raw::parse(text, DEPTH).unwrap_err(),
        Fault { kind, at },
        "{text:?}"
    );
    if let FaultKind::Syntax | FaultKind::Utf8 = kind {
        let framed = [b"[0,".as_slice(), text, b", \"some more text behind\"]"].concat();
        let expected = Fault { kind, at: at + 3 };
        assert_eq!(
            Raw::parse(&framed, DEPTH + 1).unwrap_err(),
            expected,
            "{text:?}"
        );
    }
}

#[test]
fn literals() {
    accept(b"null");
    accept(b"true");
    accept(b" \t\r\nfalse\n\r\t ");
    refuse(b"nul", FaultKind::Incomplete, 3);
    refuse(b"nuLl", FaultKind::Syntax, 2);
    refuse(b"True", FaultKind::Syntax, 0);
    refuse(b"truefalse", FaultKind::Trailing, 4);
    refuse(b"null null", FaultKind::Trailing, 5);
    refuse(b"null\0", FaultKind::Trailing, 4);
    refuse(b"", FaultKind::Incomplete, 0);
    refuse(b"  ", FaultKind::Incomplete, 2);
    refuse(b"NaN", FaultKind::Syntax, 0);
    refuse(b"Infinity", FaultKind::Syntax, 0);
    refuse(b"\x0Bnull", FaultKind::Syntax, 0);
    refuse(b"\x0Cnull", FaultKind::Syntax, 0);
    refuse("\u{A0}null".as_bytes(), FaultKind::Syntax, 0);
    refuse("\u{FEFF}null".as_bytes(), FaultKind::Syntax, 0);
}

#[test]
fn numbers() {
    for text in [
        "0",
        "-0",
        "7",
        "10",
        "123456789012345678901234567890",
        "0.0",
        "-0.5",
        "1.50",
    ] {
        accept(text.as_bytes());
    }
    for text in [
        "0e0",
        "1e400",
        "1E+2",
        "1e-2",
        "-1.25e-10",
        "0.0E0",
        "9007199254740993",
    ] {
        accept(text.as_bytes());
    }
    refuse(b"01", FaultKind::Trailing, 1);
    refuse(b"-", FaultKind::Incomplete, 1);
    refuse(b"-a", FaultKind::Syntax, 1);
    refuse(b"-01", FaultKind::Trailing, 2);
    refuse(b"+1", FaultKind::Syntax, 0);
    refuse(b".5", FaultKind::Syntax, 0);
    refuse(b"1.", FaultKind::Incomplete, 2);
    refuse(b"1.e5", FaultKind::Syntax, 2);
    refuse(b"1e", FaultKind::Incomplete, 2);
    refuse(b"1e+", FaultKind::Incomplete, 3);
    refuse(b"1ee5", FaultKind::Syntax, 2);
    refuse(b"0x10", FaultKind::Trailing, 1);
    refuse(b"1_000", FaultKind::Trailing, 1);
    refuse(b"--1", FaultKind::Syntax, 1);
}

#[test]
fn strings() {
    accept(br#""""#);
    accept(br#""plain""#);
    accept(br#""\"\\\/\b\f\n\r\t""#);
    accept(br#""\u0000\u001f\u00e9\u00E9\uFFFF""#);
    accept(br#""\ud83d\ude00""#);
    accept(br#""\ud83d""#);
    accept(br#""\ude00""#);
    accept(br#""\ud83d\ud83d\ude00""#);
    accept(br#""\ud83d\n""#);
    accept(br#""\ud83dx and a longer text behind it""#);
    accept(b"\"\x7F\"");
    accept("\"\u{80}\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}\u{2028}\"".as_bytes());
    refuse(b"\"", FaultKind::Incomplete, 1);
    refuse(b"\"abc", FaultKind::Incomplete, 4);
    refuse(b"\"abc\\", FaultKind::Incomplete, 5);
    refuse(b"\"abc\\\"", FaultKind::Incomplete, 6);
    refuse(b"\"a\nb\"", FaultKind::Syntax, 2);
    refuse(b"\"a\tb\"", FaultKind::Syntax, 2);
    refuse(b"\"a\0b\"", FaultKind::Syntax, 2);
    refuse(b"\"0123456789012345\x1F\"", FaultKind::Syntax, 17);
    refuse(br#""\x41""#, FaultKind::Syntax, 2);
    refuse(br#""\'""#, FaultKind::Syntax, 2);
    refuse(br#""\U0041""#, FaultKind::Syntax, 2);
    refuse(br#""\u004""#, FaultKind::Syntax, 6);
    refuse(br#""\u00g4""#, FaultKind::Syntax, 5);
    refuse(br#""\ud83d\u12""#, FaultKind::Syntax, 11);
    refuse(br#""\ud83d\x""#, FaultKind::Syntax, 8);
    refuse(b"'a'", FaultKind::Syntax, 0);
}

#[test]
fn utf8() {
    for bad in [
        &b"\x80"[..],
        b"\xBF",
        b"\xC0\x80",
        b"\xC1\xBF",
        b"\xC2",
        b"\xC2\x41",
        b"\xE0\x80\x80",
        b"\xE0\x9F\xBF",
        b"\xE1\x80",
        b"\xE1\x80\xC0",
        b"\xED\xA0\x80",
        b"\xED\xBF\xBF",
        b"\xEF\xBF",
        b"\xF0\x80\x80\x80",
        b"\xF0\x8F\xBF\xBF",
        b"\xF0\x9F\x98",
        b"\xF4\x90\x80\x80",
        b"\xF5\x80\x80\x80",
        b"\xFE",
        b"\xFF",
    ] {
        // At every distance from the words and strides of the scanner, ASCII or not.
        for lead in (0..80).chain([127, 128, 129, 200, 256, 1023, 1024, 1365]) {
            for filler in ["a", "é", "好", "😀"] {
                let before = filler.repeat(lead);
                let text = [b"\"", before.as_bytes(), bad, b"some more text\""].concat();
                refuse(&text, FaultKind::Utf8, 1 + before.len());
            }
        }
    }
    refuse(b"\x80", FaultKind::Syntax, 0);
    refuse(b"{\"\xFF\":1}", FaultKind::Utf8, 2);
}

/// Every stop at every distance from the words and strides of the scanner.
#[test]
fn long_strings() {
    for lead in 0..300 {
        for filler in ["a", "é", "好", "😀", "\\n", "\\u00e9"] {
            let before = filler.repeat(lead);
            let text = format!("\"{before}\"");
            assert_eq!(
                Raw::parse(text.as_bytes(), 0).unwrap().as_bytes(),
                text.as_bytes()
            );
            let text = format!("\"{before}\n{before}\"");
            let fault = Fault {
                kind: FaultKind::Syntax,
                at: 1 + before.len(),
            };
            assert_eq!(Raw::parse(text.as_bytes(), 0).unwrap_err(), fault);
            let text = format!("\"{before}\\q{before}\"");
            let fault = Fault {
                kind: FaultKind::Syntax,
                at: 2 + before.len(),
            };
            assert_eq!(Raw::parse(text.as_bytes(), 0).unwrap_err(), fault);
        }
    }
}

#[test]
fn containers() {
    accept(b"{}");
    accept(b"[]");
    accept(b"[ ]");
    accept(b"{ }");
    accept(b"[[],{},[{}]]");
    accept(br#"{"a":1,"b":[true,{"c":null}],"a":"again"}"#);
    accept(b" { \"a\" : [ 1 , 2 ] , \"\" : { } } ");
    refuse(b"[", FaultKind::Incomplete, 1);
    refuse(b"[1", FaultKind::Incomplete, 2);
    refuse(b"[1,", FaultKind::Incomplete, 3);
    refuse(b"[1,]", FaultKind::Syntax, 3);
    refuse(b"[,1]", FaultKind::Syntax, 1);
    refuse(b"[1 2]", FaultKind::Syntax, 3);
    refuse(b"[1}", FaultKind::Syntax, 2);
    refuse(b"[}", FaultKind::Syntax, 1);
    refuse(b"{]", FaultKind::Syntax, 1);
    refuse(b"{\"a\":1]", FaultKind::Syntax, 6);
    refuse(b"{\"a\"}", FaultKind::Syntax, 4);
    refuse(b"{\"a\":}", FaultKind::Syntax, 5);
    refuse(b"{\"a\":1,}", FaultKind::Syntax, 7);
    refuse(b"{\"a\":1 \"b\":2}", FaultKind::Syntax, 7);
    refuse(b"{a:1}", FaultKind::Syntax, 1);
    refuse(b"{1:1}", FaultKind::Syntax, 1);
    refuse(b"{,}", FaultKind::Syntax, 1);
    refuse(b"{\"a\",\"b\"}", FaultKind::Syntax, 4);
    refuse(b"{\"a\"::1}", FaultKind::Syntax, 5);
    refuse(b"[1]]", FaultKind::Trailing, 3);
    refuse(b"[1]/**/", FaultKind::Trailing, 3);
    refuse(b"]", FaultKind::Syntax, 0);
    refuse(b":", FaultKind::Syntax, 0);
    refuse(b",", FaultKind::Syntax, 0);
}

#[test]
fn depth() {
    let nested = |open: &str, close: &str, levels: usize| {
        format!("{}{}", open.repeat(levels), close.repeat(levels)).into_bytes()
    };
    for limit in [0u8, 1, 2, 7, 64, 65, 127, 128] {
        for (open, inner, close) in [("[", "", "]"), ("[{\"a\":", "[]", "}]")] {
            let step = open.matches(['[', '{']).count();
            let levels = usize::from(limit) / step;
            let text = nested(open, close, levels);
            let text = if inner.is_empty() || levels == 0 {
                text
            } else {
                let levels = levels - 1;
                format!("{}{inner}{}", open.repeat(levels), close.repeat(levels)).into_bytes()
            };
            if !text.is_empty() {
                assert_eq!(Raw::parse(&text, limit).unwrap().as_bytes(), text);
            }
        }
        let text = nested("[", "]", usize::from(limit) + 1);
        let fault = Fault {
            kind: FaultKind::Depth,
            at: usize::from(limit),
        };
        assert_eq!(Raw::parse(&text, limit).unwrap_err(), fault);
    }
    // No limit beyond the stack can be asked for, and a hostile text costs no more than that.
    let text = "[".repeat(200_000);
    let fault = Fault {
        kind: FaultKind::Depth,
        at: 128,
    };
    assert_eq!(Raw::parse(text.as_bytes(), u8::MAX).unwrap_err(), fault);
    // What was closed does not count.
    let flat = format!("[{}[]]", "[],{},".repeat(1000));
    assert!(Raw::parse(flat.as_bytes(), 2).is_ok());
    assert!(Raw::parse(b"1", 0).is_ok());
}
