//! A page that a server asks a person to visit.

use super::menu::menu;
use super::plain::plain;
use mcp_tokio::mcp_async::model::{ElicitResult, ElicitUrlParams};

/// Shows where the page is, and opens it if the person says so (EL-07). Blocks.
///
/// # Errors
///
/// Those of the terminal, Ctrl-C among them.
pub(crate) fn visit(page: &ElicitUrlParams, server: &str) -> dialoguer::Result<ElicitResult> {
    let url = visible(&page.url);
    let Some(host) = host(&page.url) else {
        eprintln!("{server} asks to open {url}, which is no page of the web; it is declined");
        return Ok(ElicitResult::decline());
    };
    eprintln!("\n{server} asks: {}", plain(&page.message));
    eprintln!("  page: {url}\n  host: {}", visible(host));
    let items = [
        "Open it in the browser",
        "I open it myself",
        "Decline",
        "Cancel",
    ];
    // Nothing is opened by a key pressed too early.
    Ok(match menu("Visit this page?", &items, 2)? {
        Some(0) => {
            if let Err(error) = open::that_detached(&page.url) {
                eprintln!("  the browser cannot be started ({error}): please open it yourself");
            }
            ElicitResult::agree()
        }
        Some(1) => ElicitResult::agree(),
        Some(2) => ElicitResult::decline(),
        _ => ElicitResult::cancel(),
    })
}

/// The URL with everything that is not plain ASCII spelt out: nothing looks like what it is not.
fn visible(url: &str) -> String {
    let spelt = url.chars().map(|c| match c {
        '!'..='~' => c.to_string(),
        other => other.escape_unicode().to_string(),
    });
    spelt.collect()
}

/// The host of a page of the web, without a name or a port.
fn host(url: &str) -> Option<&str> {
    let (scheme, rest) = url.split_once("://")?;
    let web = ["http", "https"]
        .iter()
        .any(|web| scheme.eq_ignore_ascii_case(web));
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = match host.split_once(']') {
        Some((address, _)) => address.strip_prefix('[')?,
        None => host.split(':').next()?,
    };
    Some(host).filter(|host| web && !host.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        let check = |url: &str, expected: Option<&str>| assert_eq!(host(url), expected, "{url}");
        check("https://example.com", Some("example.com"));
        check("HTTP://example.com:8080/a@b", Some("example.com"));
        check("https://example.com@evil.test/", Some("evil.test"));
        check("https://evil.test\\@example.com/", Some("evil.test"));
        check("https://[::1]:80/", Some("::1"));
        check("https://evil.test?@example.com", Some("evil.test"));
        check("https:///path", None);
        check("file:///etc/passwd", None);
        check("javascript:alert(1)", None);
        check("", None);
    }

    #[test]
    fn nothing_hides_in_a_url() {
        assert_eq!(
            visible("https://exаmple.com/\x1b[8m \u{202e}"),
            "https://ex\\u{430}mple.com/\\u{1b}[8m\\u{20}\\u{202e}"
        );
    }
}
