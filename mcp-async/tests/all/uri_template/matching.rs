//! Which URIs match, with what, and which do not.

use mcp_async::uri_template::{Captures, UriTemplate, Value};

fn matched(template: &str, uri: &str) -> Option<Captures> {
    UriTemplate::parse(template).expect(template).matches(uri)
}

/// What was captured as one line: texts in quotes, lists and maps in their brackets.
fn shown(template: &str, uri: &str) -> Option<String> {
    let captures = matched(template, uri)?;
    let one = |(name, value): (&str, &Value)| match value {
        Value::String(text) => format!("{name}={text}"),
        Value::List(items) => format!("{name}=[{}]", items.join(" ")),
        Value::Map(pairs) => {
            let pairs: Vec<_> = pairs
                .iter()
                .map(|(key, value)| format!("{key}:{value}"))
                .collect();
            format!("{name}={{{}}}", pairs.join(" "))
        }
    };
    Some(captures.iter().map(one).collect::<Vec<_>>().join("; "))
}

#[test]
fn matches_uris() {
    let check = |template: &str, uri: &str, expected: &str| {
        assert_eq!(
            shown(template, uri).as_deref(),
            Some(expected),
            "{template} on {uri}"
        );
    };
    check("", "", "");
    check("a/b", "a/b", "");
    check("n/{id}", "n/7", "id=7");
    check("n/{id}", "n/a%20%C3%A9%26%25", "id=a é&%");
    check("n/{id}", "n/%41", "id=A");
    check("{a}/{b}", "1/2", "a=1; b=2");
    check("{a}-{b}", "x-y-z", "a=x; b=y-z");
    check("{x,y}", "1024,768", "x=1024; y=768");
    check("{x,y}", "1024", "x=1024");
    check("{a:3}", "%C3%A9xy", "a=éxy");
    check("{/a:1,a}", "/v/value", "a=value");
    check("{a}/{a}", "7/7", "a=7");
    check("f/{+path}", "f/a/../b%2Fc", "path=a/../b/c");
    check("{+path}/{name}", "a/b/c", "path=a/b; name=c");
    check("{+path}{?q}", "a/b?q=1", "path=a/b; q=1");
    check("{+x,y}", "1,2,3", "x=1; y=2,3");
    check("x{#f}", "x#a/b", "f=a/b");
    check("x{#f}", "x", "");
    check("x{#f}", "x#", "f=");
    check("{name}{.ext}", "a.tar.gz", "name=a; ext=tar.gz");
    check("{name}{.ext}", "readme", "name=readme");
    check("www{.dom*}", "www.example.com", "dom=[example com]");
    check("{/path*}/edit", "/a/b/edit", "path=[a b]");
    check("{/path*,last}", "/a/b/c", "path=[a b]; last=c");
    check("{/x}", "/", "x=");
    check("{list*}", "red,gr%2Ceen", "list=[red gr,een]");
    check("{keys*}", "semi=%3B,dot=x", "keys={semi:; dot:x}");
    check("{;x,y}", ";y;x=1", "x=1; y=");
    check("s{?a,b}", "s?b=2&a=1", "a=1; b=2");
    check("s{?a,b}", "s?b=", "b=");
    check("s{?a,b}", "s", "");
    check("s{?a}{&b}", "s?a=1&b=2", "a=1; b=2");
    check("s?q={q}{&b}", "s?q=1&b=2", "q=1; b=2");
    check("s{?l*}", "s?l=1&l=2", "l=[1 2]");
    check("s{?m*}", "s?x=1&y=%26", "m={x:1 y:&}");
    check("s{?a,m*}", "s?x=1&a=2", "a=2; m={x:1}");
    check("s{?a}{#f}", "s?a=1#f", "a=1; f=f");
    check("s{?a:2}", "s?a=%C3%A9x", "a=éx");
    // A URL can be a value of a query, but is none of a path.
    check(
        "s{?url}",
        "s?url=https%3A%2F%2Fa.example%2Fb%3Fc%3D1%26d",
        "url=https://a.example/b?c=1&d",
    );
    check("s?a=1{&url}", "s?a=1&url=%2fa%5Cb", r"url=/a\b");
    check("s{?a:3,b}", "s?a=%2Fb%2F&b=.x", "a=/b/; b=.x");
    check("s{?l*}", "s?l=%2F&l=a%2Fb", "l=[/ a/b]");
    check("s{?m*}", "s?x=%2F&y=1", "m={x:/ y:1}");
}

#[test]
fn refuses_uris() {
    let check = |template: &str, uri: &str| {
        assert_eq!(shown(template, uri), None, "{template} on {uri}");
    };
    check("", "a");
    check("n/{id}", "n/");
    check("n/{id}", "m/7");
    check("n/{id}", "n/7/");
    check("{+path}", "");
    // Separators and dot segments, plain, encoded, and where the operator takes one of them itself.
    for uri in [
        "a/b", "a%2Fb", "a%2fb", "a%5Cb", "..", ".", "%2E%2e", "%2E", "..%2F", ".%2E", "a\\b",
    ] {
        check("{x}", uri);
        check("{x*}", uri);
        check("f{/x}", &format!("f/{uri}"));
        check("{.x}", &format!(".{uri}/"));
        check("f{;x}", &format!("f;x={uri}"));
        check("f{?x*}", &format!("f?{uri}=1"));
    }
    // In a query only what stands encoded, and nothing that climbs.
    for uri in [
        "a/b",
        "..",
        ".",
        "%2E%2e",
        "..%2F",
        ".%2E",
        "a\\b",
        "a%2F..",
        "%2F%2e%2E%2F",
        "..%5Ca",
        "a%2F.%2Fb",
    ] {
        check("f{?x}", &format!("f?x={uri}"));
        check("f?a=1{&x}", &format!("f?a=1&x={uri}"));
        check("f{?x*}", &format!("f?y={uri}"));
    }
    check("{/x*}", "/a/../b");
    check("{/x*}", "/a/%2E%2E");
    check("{?x*}", "?..=1");
    check("{keys*}", "..=1");
    check("{x}{.y}", "..");
    // Broken encoding, bytes that are not UTF-8, a NUL, characters that no URI has.
    for uri in [
        "%",
        "%4",
        "%zz",
        "%+1",
        "%FF",
        "%C3",
        "%C3x",
        "%C0%AF",
        "%ED%A0%80",
        "%F4%90%80%80",
        "%E2%82",
        "%00",
        "a%00.txt",
        "é",
        "a b",
        "{x}",
    ] {
        check("{x}", uri);
        check("{+x}", uri);
        check("{x*}", uri);
        check("{?x}", &format!("?x={uri}"));
        check("{#x}", &format!("#{uri}"));
    }
    check("%C3{x}", "%C3%A9");
    // What no expansion writes.
    check("{x}", "a:b");
    check("{x}", "a,b");
    check("{x:2}", "abc");
    check("{?x:2}", "?x=abc");
    check("{a}/{a}", "7/8");
    check("{/a:1,a}", "/w/value");
    check("{list*}", "a=1,b");
    check("{keys*}", "a=1,a=2");
    check("{keys*}", "a=1=2");
    check("{keys*}", "=1");
    check("s{?a,b}", "s?");
    check("s{?a,b}", "s?a");
    check("s{?a,b}", "s?c=1");
    check("s{?a,b}", "s?a=1&c=1");
    check("s{?a,b}", "s?a=1&a=1");
    check("s{?a,b}", "s?a=1&");
    check("s{?a,b}", "s&a=1");
    check("s{?m*}", "s?x=1&x=2");
    check("s{;a}", "s;a=");
}

#[test]
fn ends_on_hostile_input() {
    let long = |unit: &str, bytes: usize| unit.repeat(bytes / unit.len());
    let names: Vec<_> = (0..250).map(|index| format!("v{index}")).collect();
    let mut templates = vec![
        "{a}{b}{c}{d}!".repeat(12),
        "{+a}{+b}".repeat(24) + "!",
        "{+a*}{/b*}{?c*}{&d*}".repeat(12),
    ];
    templates.push(format!("{{?{}}}!", names.join(",")));
    templates.push(format!("{{+p}}{{;{}}}{{&q:9999}}!", names.join(",")));
    for template in &templates {
        let template = UriTemplate::parse(template).expect("well-formed");
        for unit in [
            "a", "/", ".", "?", "&", "&a=1", ";v1=1", "?v0=a&", ",", "a=", "%41", "%C3%A9", "%C3",
            "%",
        ] {
            // A matching end is missing each time.
            assert!(template.matches(&(long(unit, 8_000) + "\u{7f}")).is_none());
        }
        // Nearly the longest URI that is matched at all.
        assert!(template.matches(&(long("a", 65_000) + "\u{7f}")).is_none());
    }
    assert!(UriTemplate::parse(&"{".repeat(100_000)).is_err());
}
