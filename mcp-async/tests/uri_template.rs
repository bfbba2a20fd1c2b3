//! URI templates: the examples of RFC 6570, malformed templates, matching, hostile URIs, and that
//! matching undoes expansion.

use mcp_async::uri_template::{Captures, ParseErrorKind, UriTemplate, Value};
use proptest::collection::vec;
use proptest::prelude::*;

/// The values that section 3.2 of the RFC expands.
fn example(name: &str) -> Option<Value> {
    Some(match name {
        "count" => Value::list(["one", "two", "three"]),
        "dom" => Value::list(["example", "com"]),
        "dub" => "me/too".into(),
        "hello" => "Hello World!".into(),
        "half" => "50%".into(),
        "var" => "value".into(),
        "who" => "fred".into(),
        "base" => "http://example.com/home/".into(),
        "path" => "/foo/bar".into(),
        "list" => Value::list(["red", "green", "blue"]),
        "keys" => Value::map([("semi", ";"), ("dot", "."), ("comma", ",")]),
        "v" => "6".into(),
        "x" => "1024".into(),
        "y" => "768".into(),
        "empty" => "".into(),
        "empty_keys" => Value::Map(Vec::new()),
        "umlaut" => "äöü€𝄞".into(),
        "encoded" => "%20x".into(),
        _ => return None,
    })
}

#[test]
fn expands_the_examples_of_the_rfc() {
    let check = |template: &str, expected: &str| {
        let parsed = UriTemplate::parse(template).expect(template);
        assert_eq!(parsed.expand(&example), expected, "{template}");
        assert_eq!(parsed.to_string(), template);
    };
    // 3.2.1
    check("{count}", "one,two,three");
    check("{count*}", "one,two,three");
    check("{/count}", "/one,two,three");
    check("{/count*}", "/one/two/three");
    check("{;count}", ";count=one,two,three");
    check("{;count*}", ";count=one;count=two;count=three");
    check("{?count}", "?count=one,two,three");
    check("{?count*}", "?count=one&count=two&count=three");
    check("{&count*}", "&count=one&count=two&count=three");
    // 3.2.2
    check("{var}", "value");
    check("{hello}", "Hello%20World%21");
    check("{half}", "50%25");
    check("O{empty}X", "OX");
    check("O{undef}X", "OX");
    check("{x,y}", "1024,768");
    check("{x,hello,y}", "1024,Hello%20World%21,768");
    check("?{x,empty}", "?1024,");
    check("?{x,undef}", "?1024");
    check("?{undef,y}", "?768");
    check("{var:3}", "val");
    check("{var:30}", "value");
    check("{list}", "red,green,blue");
    check("{list*}", "red,green,blue");
    check("{keys}", "semi,%3B,dot,.,comma,%2C");
    check("{keys*}", "semi=%3B,dot=.,comma=%2C");
    // 3.2.3
    check("{+var}", "value");
    check("{+hello}", "Hello%20World!");
    check("{+half}", "50%25");
    check("{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex");
    check("{+base}index", "http://example.com/home/index");
    check("O{+empty}X", "OX");
    check("O{+undef}X", "OX");
    check("{+path}/here", "/foo/bar/here");
    check("here?ref={+path}", "here?ref=/foo/bar");
    check("up{+path}{var}/here", "up/foo/barvalue/here");
    check("{+x,hello,y}", "1024,Hello%20World!,768");
    check("{+path,x}/here", "/foo/bar,1024/here");
    check("{+path:6}/here", "/foo/b/here");
    check("{+list}", "red,green,blue");
    check("{+list*}", "red,green,blue");
    check("{+keys}", "semi,;,dot,.,comma,,");
    check("{+keys*}", "semi=;,dot=.,comma=,");
    // 3.2.4
    check("{#var}", "#value");
    check("{#hello}", "#Hello%20World!");
    check("{#half}", "#50%25");
    check("foo{#empty}", "foo#");
    check("foo{#undef}", "foo");
    check("{#x,hello,y}", "#1024,Hello%20World!,768");
    check("{#path,x}/here", "#/foo/bar,1024/here");
    check("{#path:6}/here", "#/foo/b/here");
    check("{#list}", "#red,green,blue");
    check("{#list*}", "#red,green,blue");
    check("{#keys}", "#semi,;,dot,.,comma,,");
    check("{#keys*}", "#semi=;,dot=.,comma=,");
    // 3.2.5
    check("{.who}", ".fred");
    check("{.who,who}", ".fred.fred");
    check("{.half,who}", ".50%25.fred");
    check("www{.dom*}", "www.example.com");
    check("X{.var}", "X.value");
    check("X{.empty}", "X.");
    check("X{.undef}", "X");
    check("X{.var:3}", "X.val");
    check("X{.list}", "X.red,green,blue");
    check("X{.list*}", "X.red.green.blue");
    check("X{.keys}", "X.semi,%3B,dot,.,comma,%2C");
    check("X{.keys*}", "X.semi=%3B.dot=..comma=%2C");
    check("X{.empty_keys}", "X");
    check("X{.empty_keys*}", "X");
    // 3.2.6
    check("{/who}", "/fred");
    check("{/who,who}", "/fred/fred");
    check("{/half,who}", "/50%25/fred");
    check("{/who,dub}", "/fred/me%2Ftoo");
    check("{/var}", "/value");
    check("{/var,empty}", "/value/");
    check("{/var,undef}", "/value");
    check("{/var,x}/here", "/value/1024/here");
    check("{/var:1,var}", "/v/value");
    check("{/list}", "/red,green,blue");
    check("{/list*}", "/red/green/blue");
    check("{/list*,path:4}", "/red/green/blue/%2Ffoo");
    check("{/keys}", "/semi,%3B,dot,.,comma,%2C");
    check("{/keys*}", "/semi=%3B/dot=./comma=%2C");
    // 3.2.7
    check("{;who}", ";who=fred");
    check("{;half}", ";half=50%25");
    check("{;empty}", ";empty");
    check("{;v,empty,who}", ";v=6;empty;who=fred");
    check("{;v,bar,who}", ";v=6;who=fred");
    check("{;x,y}", ";x=1024;y=768");
    check("{;x,y,empty}", ";x=1024;y=768;empty");
    check("{;x,y,undef}", ";x=1024;y=768");
    check("{;hello:5}", ";hello=Hello");
    check("{;list}", ";list=red,green,blue");
    check("{;list*}", ";list=red;list=green;list=blue");
    check("{;keys}", ";keys=semi,%3B,dot,.,comma,%2C");
    check("{;keys*}", ";semi=%3B;dot=.;comma=%2C");
    // 3.2.8
    check("{?who}", "?who=fred");
    check("{?half}", "?half=50%25");
    check("{?x,y}", "?x=1024&y=768");
    check("{?x,y,empty}", "?x=1024&y=768&empty=");
    check("{?x,y,undef}", "?x=1024&y=768");
    check("{?var:3}", "?var=val");
    check("{?list}", "?list=red,green,blue");
    check("{?list*}", "?list=red&list=green&list=blue");
    check("{?keys}", "?keys=semi,%3B,dot,.,comma,%2C");
    check("{?keys*}", "?semi=%3B&dot=.&comma=%2C");
    // 3.2.9
    check("{&who}", "&who=fred");
    check("{&half}", "&half=50%25");
    check("?fixed=yes{&x}", "?fixed=yes&x=1024");
    check("{&x,y,empty}", "&x=1024&y=768&empty=");
    check("{&var:3}", "&var=val");
    check("{&list}", "&list=red,green,blue");
    check("{&keys*}", "&semi=%3B&dot=.&comma=%2C");
    // Beyond the tables: literals, characters, triplets, a prefix that has no meaning.
    check("", "");
    check("x%20y/{var}", "x%20y/value");
    check("größe'{v}", "gr%C3%B6%C3%9Fe'6");
    check("{umlaut:1}{+umlaut:2}", "%C3%A4%C3%A4%C3%B6");
    check("{umlaut}", "%C3%A4%C3%B6%C3%BC%E2%82%AC%F0%9D%84%9E");
    check("{encoded}{+encoded}{+encoded:1}", "%2520x%20x%20");
    check("{?list:1,keys:1,x}", "?x=1024");
}

#[test]
fn refuses_malformed_templates() {
    use ParseErrorKind::*;
    let check = |template: &str, at: usize, kind: ParseErrorKind| {
        let error = UriTemplate::parse(template).expect_err(template);
        assert_eq!((error.at, error.kind), (at, kind), "{template}");
    };
    check("{", 0, UnclosedExpression);
    check("a{x", 1, UnclosedExpression);
    check("{x:", 0, UnclosedExpression);
    check("{x,", 0, UnclosedExpression);
    check("{x.", 0, UnclosedExpression);
    check("{+", 0, UnclosedExpression);
    check("}", 0, UnopenedBrace);
    check("{a}}", 3, UnopenedBrace);
    check("{}", 1, EmptyExpression);
    check("{+}", 2, MissingName);
    check("{a,}", 3, MissingName);
    check("{a,,b}", 3, MissingName);
    check("{*}", 1, MissingName);
    check("{:1}", 1, MissingName);
    check("{=x}", 1, ReservedOperator('='));
    check("{,x}", 1, ReservedOperator(','));
    check("{!x}", 1, ReservedOperator('!'));
    check("{@x}", 1, ReservedOperator('@'));
    check("{|x*}", 1, ReservedOperator('|'));
    check("{$x}", 1, UnexpectedCharacter('$'));
    check("{??x}", 2, UnexpectedCharacter('?'));
    check("{a{b}}", 2, UnexpectedCharacter('{'));
    check("{ a}", 1, UnexpectedCharacter(' '));
    check("{a b}", 2, UnexpectedCharacter(' '));
    check("{a-b}", 2, UnexpectedCharacter('-'));
    check("{a..b}", 3, UnexpectedCharacter('.'));
    check("{a.}", 3, UnexpectedCharacter('}'));
    check("{ä}", 1, UnexpectedCharacter('ä'));
    check("{a*b}", 3, UnexpectedCharacter('b'));
    check("{a:3*}", 4, UnexpectedCharacter('*'));
    check("{a*:3}", 3, UnexpectedCharacter(':'));
    check("{a:}", 3, PrefixLength);
    check("{a:x}", 3, PrefixLength);
    check("{a:0}", 3, PrefixLength);
    check("{a:01}", 3, PrefixLength);
    check("{a:10000}", 7, PrefixLength);
    check("{%zz}", 1, PercentEncoding);
    check("100%", 3, PercentEncoding);
    check("%4", 0, PercentEncoding);
    check("a b", 1, LiteralCharacter(' '));
    check("ä<b>", 2, LiteralCharacter('<'));
    check("a\"", 1, LiteralCharacter('"'));
    check("a\u{0}", 1, LiteralCharacter('\0'));
    check("a\\b", 1, LiteralCharacter('\\'));
    check("a\u{FFFF}", 1, LiteralCharacter('\u{FFFF}'));
    for good in [
        "{a.b}",
        "{a%20b}",
        "{_}",
        "{a:9999}",
        "{+a*,b:1}",
        "urn:x:y",
    ] {
        assert!(UriTemplate::parse(good).is_ok(), "{good}");
    }
}

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
        check("f{;x}", &format!("f;x={uri}"));
        check("f{?x}", &format!("f?x={uri}"));
        check("f{?x*}", &format!("f?y={uri}"));
    }
    check("{/x*}", "/a/../b");
    check("{/x*}", "/a/%2E%2E");
    check("{?x*}", "?..=1");
    check("{keys*}", "..=1");
    check("{x}{.y}", "..");
    // Broken encoding, bytes that are not UTF-8, characters that no URI has.
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
    let long = |unit: &str| unit.repeat(65_000 / unit.len());
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
            assert!(template.matches(&(long(unit) + "\u{7f}")).is_none());
        }
    }
    assert!(UriTemplate::parse(&"{".repeat(100_000)).is_err());
}

/// Texts that any operator takes back: not empty, no separators, no dot segments.
fn text() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9 _~%&=?#:;,+é€𝄞-]{1,12}"
}

proptest! {
    #[test]
    fn matching_undoes_expansion(
        a in text(),
        b in proptest::option::of(text()),
        c in proptest::option::of(text()),
        list in vec(text(), 0..4),
        map in proptest::collection::btree_map(text(), text(), 0..4),
    ) {
        let template = UriTemplate::parse("x://{a}/s{/list*}{;b}{?c,map*}{#a}").unwrap();
        let fragment = a.replace('%', "");
        prop_assume!(!fragment.is_empty() && !map.contains_key("c") && !map.keys().all(|key| key == "map"));
        let mut values = vec![("a", Value::from(fragment))];
        values.extend(b.map(|b| ("b", Value::from(b))));
        values.extend(c.map(|c| ("c", Value::from(c))));
        if !list.is_empty() {
            values.push(("list", Value::List(list)));
        }
        values.push(("map", Value::map(map)));
        let uri = template.expand(&values);
        let captures = template.matches(&uri);
        prop_assert!(captures.is_some(), "{}", uri);
        let captures = captures.unwrap();
        for (name, value) in &values {
            prop_assert_eq!(captures.value(name), Some(value), "{}", uri);
        }
        prop_assert_eq!(captures.iter().count(), values.len());
        prop_assert_eq!(template.expand(&captures), uri);
    }

    #[test]
    fn never_takes_what_it_would_not_write(template in "[a-c/]{0,2}([{][+#./;?&]?[a-c](:2|[*])?(,[a-c])?[}][/a-c]?){1,4}", uri in "[ac./;?&=,#%25F-]{0,24}") {
        if let Some(captures) = UriTemplate::parse(&template).unwrap().matches(&uri) {
            let strict = !template.contains("{+") && !template.contains("{#");
            for (_, value) in captures.iter() {
                let texts = match value {
                    Value::String(text) => vec![text],
                    Value::List(items) => items.iter().collect(),
                    Value::Map(pairs) => pairs.iter().flat_map(|(key, value)| [key, value]).collect(),
                };
                for text in texts {
                    prop_assert!(!strict || !text.contains(['/', '\\']) && text != "." && text != "..");
                }
            }
        }
    }
}
