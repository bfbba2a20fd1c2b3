//! Parts of URLs.

/// Returns a URL, or a reference without a scheme, without what may be secret: user, password and query.
pub(crate) fn shown(url: &str) -> String {
    let (start, end) = match url.split_once(['?', '#']) {
        Some((start, _)) => (start, "?..."),
        None => (url, ""),
    };
    let parts = start.split_once("//");
    let parts = parts.filter(|(scheme, _)| scheme.is_empty() || scheme.ends_with(':'));
    let Some((scheme, rest)) = parts else {
        return format!("{start}{end}");
    };
    let path = rest.find('/').and_then(|at| rest.get(at..));
    format!("{scheme}//{}{}{end}", host(rest), path.unwrap_or_default())
}

/// The host and port of a URL, without user and password.
pub(crate) fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        let check = |url: &str, expected: &str| assert_eq!(host(url), expected);
        check("http://a", "a");
        check(
            "https://ada:secret@a.example:8000/mcp?x=@y",
            "a.example:8000",
        );
        check("a", "a");
        let url = "https://ada:secret@a.example/mcp?key=secret";
        assert_eq!(shown(url), "https://a.example/mcp?...");
        assert_eq!(shown("http://a"), "http://a");
        assert_eq!(shown("/mcp?key=secret"), "/mcp?...");
        assert_eq!(shown("//ada:secret@a/b//c"), "//a/b//c");
        assert_eq!(shown("a@b//c"), "a@b//c");
    }
}
