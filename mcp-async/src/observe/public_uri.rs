//! URIs as logs show them.

/// A URI without what may be secret in it: the user, the query and the fragment.
pub(crate) fn public_uri(uri: &str) -> &str {
    let end = uri.find(['?', '#']).unwrap_or(uri.len());
    let uri = uri.get(..end).unwrap_or_default();
    let authority = uri.split_once("://").map_or("", |(_, rest)| rest);
    let authority = authority.split('/').next().unwrap_or_default();
    // The part before an `@` cannot be cut out of a borrowed text: then the scheme must do.
    match (authority.contains('@'), uri.split_once(':')) {
        (true, Some((scheme, _))) => scheme,
        _ => uri,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uris_keep_their_secrets() {
        for (uri, told) in [
            ("file:///home/ada/notes.txt", "file:///home/ada/notes.txt"),
            ("https://a.b/c?token=1#x", "https://a.b/c"),
            ("https://a.b/c#token", "https://a.b/c"),
            ("postgres://ada:secret@host/db", "postgres"),
            ("https://a.b/user@example", "https://a.b/user@example"),
            ("mailto:ada@example", "mailto:ada@example"),
            ("", ""),
        ] {
            assert_eq!(public_uri(uri), told, "{uri}");
        }
    }
}
