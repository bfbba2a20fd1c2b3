//! The examples of RFC 6570, sections 1.2 and 3.2, written and read back.

use mcp_async::uri_template::{UriTemplate, Value};

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

/// Expands, and reads the variables back: what they hold expands to the same.
fn check(template: &str, expected: &str) {
    check_expansion(template, expected);
    let parsed = UriTemplate::parse(template).unwrap();
    let captures = parsed.matches(expected);
    let captures = captures.unwrap_or_else(|| panic!("{template} does not match {expected}"));
    assert_eq!(parsed.expand(&captures), expected, "{template}");
}

/// Expands only: nobody can tell what the variables held.
fn check_expansion(template: &str, expected: &str) {
    let parsed = UriTemplate::parse(template).expect(template);
    assert_eq!(parsed.expand(&example), expected, "{template}");
    assert_eq!(parsed.to_string(), template);
}

#[test]
fn the_four_levels() {
    // Section 1.2, level by level.
    check("{var}", "value");
    check("{hello}", "Hello%20World%21");

    check("{+var}", "value");
    check("{+hello}", "Hello%20World!");
    check("{+path}/here", "/foo/bar/here");
    check("here?ref={+path}", "here?ref=/foo/bar");
    check("X{#var}", "X#value");
    check("X{#hello}", "X#Hello%20World!");

    check("map?{x,y}", "map?1024,768");
    check("{x,hello,y}", "1024,Hello%20World%21,768");
    check("{+x,hello,y}", "1024,Hello%20World!,768");
    check("{+path,x}/here", "/foo/bar,1024/here");
    check("{#x,hello,y}", "#1024,Hello%20World!,768");
    check("{#path,x}/here", "#/foo/bar,1024/here");
    check("X{.var}", "X.value");
    check("X{.x,y}", "X.1024.768");
    check("{/var}", "/value");
    check("{/var,x}/here", "/value/1024/here");
    check("{;x,y}", ";x=1024;y=768");
    check("{;x,y,empty}", ";x=1024;y=768;empty");
    check("{?x,y}", "?x=1024&y=768");
    check("{?x,y,empty}", "?x=1024&y=768&empty=");
    check("?fixed=yes{&x}", "?fixed=yes&x=1024");
    check("{&x,y,empty}", "&x=1024&y=768&empty=");

    check("{var:3}", "val");
    check("{var:30}", "value");
    check("{list*}", "red,green,blue");
    // A lone dot is written, but never read: it would be a segment that leads elsewhere.
    check_expansion("{keys*}", "semi=%3B,dot=.,comma=%2C");
    check("{+path:6}/here", "/foo/b/here");
    check("{+list}", "red,green,blue");
    check("{+list*}", "red,green,blue");
    check("{+keys}", "semi,;,dot,.,comma,,");
    check("{#path:6}/here", "#/foo/b/here");
    check("{#list}", "#red,green,blue");
    check("{#list*}", "#red,green,blue");
    check("{#keys}", "#semi,;,dot,.,comma,,");
    check("X{.var:3}", "X.val");
    check("X{.list*}", "X.red.green.blue");
    check("{/var:1,var}", "/v/value");
    check("{/list*}", "/red/green/blue");
    // Nor is an encoded separator, but in a query.
    check_expansion("{/list*,path:4}", "/red/green/blue/%2Ffoo");
    check("{;hello:5}", ";hello=Hello");
    check("{;list*}", ";list=red;list=green;list=blue");
    check("{?var:3}", "?var=val");
    check("{?list*}", "?list=red&list=green&list=blue");
    check("{&var:3}", "&var=val");
    check("{&list*}", "&list=red&list=green&list=blue");
}

#[test]
fn every_expansion() {
    use check_expansion as check;
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
