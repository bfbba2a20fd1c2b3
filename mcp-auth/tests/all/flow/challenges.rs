//! Parsing of `WWW-Authenticate` (AU-20).

use mcp_auth::{Challenge, Scheme};

fn parse(fields: &[&str]) -> Vec<Challenge> {
    Challenge::parse_all(fields.iter().map(|field| field.as_bytes()))
}

/// The schemes and the values of one parameter.
fn values(field: &str, name: &str) -> Vec<(String, Option<String>)> {
    let challenges = parse(&[field]);
    let value = |challenge: &Challenge| {
        let value = challenge.parameter(name).map(String::from);
        (challenge.scheme().to_owned(), value)
    };
    challenges.iter().map(value).collect()
}

fn owned<const N: usize>(list: [(&str, Option<&str>); N]) -> Vec<(String, Option<String>)> {
    list.map(|(scheme, value)| (scheme.into(), value.map(String::from)))
        .into()
}

#[test]
fn one_parameter_in_every_form() {
    for field in [
        r#"Bearer scope="a b""#,
        r#"bearer SCOPE="a b""#,
        r#"Bearer realm="x", scope="a b""#,
        r#"Bearer realm=x,scope="a b""#,
        "Bearer scope\t = \t\"a b\"",
        r#"Bearer scope="\a \b""#,
        r#"Bearer ,, scope="a b" ,"#,
        r#"Bearer scope='a b'"#,
        r#"Bearer scope='a b', realm="x""#,
        // Doubled: the first counts.
        r#"Bearer scope="a b", scope="c""#,
    ] {
        let challenges = parse(&[field]);
        assert_eq!(challenges.len(), 1, "{field}");
        assert!(challenges[0].is(Scheme::Bearer), "{field}");
        assert_eq!(challenges[0].parameter("scope"), Some("a b"), "{field}");
    }
}

#[test]
fn several_challenges() {
    for (field, expected) in [
        ("Bearer", owned([("Bearer", None)])),
        ("Bearer ", owned([("Bearer", None)])),
        ("", owned([])),
        (" , ,", owned([])),
        ("Bearer, DPoP", owned([("Bearer", None), ("DPoP", None)])),
        (
            "Basic realm=\"a, Bearer p=b\", Bearer p=c",
            owned([("Basic", None), ("Bearer", Some("c"))]),
        ),
        (
            "Negotiate YWJj/+==, Bearer p=c",
            owned([("Negotiate", None), ("Bearer", Some("c"))]),
        ),
        (
            "Negotiate, Bearer p=\"c\"",
            owned([("Negotiate", None), ("Bearer", Some("c"))]),
        ),
        (
            "DPoP algs=\"ES256\", p=1, Bearer p=2",
            owned([("DPoP", Some("1")), ("Bearer", Some("2"))]),
        ),
        (
            "Bearer p=https://h/a?b=c",
            owned([("Bearer", Some("https://h/a?b=c"))]),
        ),
        ("Bearer p=\"a\\\"b\"", owned([("Bearer", Some("a\"b"))])),
        ("Bearer p=\"\"", owned([("Bearer", Some(""))])),
        ("Bearer p='a", owned([("Bearer", Some("'a"))])),
        ("Bearer p=it's", owned([("Bearer", Some("it's"))])),
        // Unterminated: the challenge cannot be used, those before it can.
        ("Basic p=1, Bearer p=\"abc", owned([("Basic", Some("1"))])),
        ("Bearer p=\"abc\\", owned([])),
        ("@@, Bearer p=1", owned([("Bearer", Some("1"))])),
    ] {
        assert_eq!(values(field, "p"), expected, "{field}");
    }
}

#[test]
fn several_fields() {
    let challenges = parse(&["Basic realm=\"a", "Bearer scope=b", "DPoP scope=c"]);
    let bearer = Challenge::select(&challenges, Scheme::Bearer).unwrap();
    assert_eq!(bearer.parameter("scope"), Some("b"));
    let dpop = Challenge::select(&challenges, Scheme::Dpop).unwrap();
    assert_eq!(dpop.scopes().unwrap().to_string(), "c");
}

#[test]
fn bounds() {
    let field = "Bearer p=1, ".repeat(10_000);
    assert_eq!(parse(&[&field]).len(), 32);
    let field = format!(
        "Bearer {}",
        (0..10_000).map(|n| format!("p{n}=1, ")).collect::<String>()
    );
    let challenges = parse(&[&field]);
    assert_eq!(challenges[0].parameter("p63"), Some("1"));
    assert_eq!(challenges[0].parameter("p64"), None);
}

#[test]
fn arbitrary_bytes_end() {
    // Every sequence of the characters that matter.
    let letters = b"B =\",'\\x";
    let mut count = 0_u32;
    for number in 0..8_u32.pow(6) {
        let field: Vec<u8> = (0..6)
            .map(|at| letters[(number >> (3 * at) & 7) as usize])
            .collect();
        count += Challenge::parse_all([&field[..]]).len() as u32;
    }
    assert!(count > 0);
    assert!(Challenge::parse_all([&b"Bearer p=\"\xff\xfe\""[..]]).len() == 1);
}
