//! What is no template.

use mcp_async::uri_template::{ParseErrorKind, UriTemplate};

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
