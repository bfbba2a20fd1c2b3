//! Servers at URLs.

use super::http::Site;
use super::run::client;

#[test]
fn a_url_stands_anywhere_before_the_command() {
    let site = Site::mcp();
    let url = &site.url();
    let check = |words: &[&str], said: &str| {
        let text = client(words).good();
        assert!(text.contains(said), "{words:?}: {text}");
    };
    check(&[url], "revision: 2026-07-28");
    check(&[url, "-q"], "revision: 2026-07-28");
    check(&[url, "--json"], r#""revision":"2026-07-28""#);
    check(&["-q", url, "info"], "revision: 2026-07-28");
    check(&["--timeout", "20", url, "--json"], r#""revision":"2026-07-28""#);
    check(&["--json", url, "-q", "list", "tools"], r#""name":"hello""#);
    check(&[url, "call", "hello", "--timeout=20"], "hello");
    check(&["list", "tools", "--", url], "hello");
    client(&[url, "list", "--", "server"]).ended(2, "nothing can follow the URL");
}
