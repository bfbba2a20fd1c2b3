//! The paths of the two endpoints of 2024-11-05.

/// The paths of the two endpoints.
#[derive(Clone, Debug)]
pub(in crate::http::server) struct HttpSsePaths {
    pub(in crate::http::server) stream: String,
    post: String,
    /// The second as seen from the first, so that it is true behind every prefix (HS-07).
    pub(in crate::http::server) reference: String,
}

impl HttpSsePaths {
    pub(in crate::http::server) fn new(stream: String, post: String) -> Self {
        let reference = relative(&stream, &post);
        Self {
            stream,
            post,
            reference,
        }
    }

    /// The paths of both.
    pub(in crate::http::server) fn both(&self) -> [&str; 2] {
        [&self.stream, &self.post]
    }

    /// Returns true if one of the two endpoints is at this path.
    pub(super) fn is_at(&self, path: &str) -> bool {
        path == self.stream || path == self.post
    }
}

/// A reference to `to` as seen from `from`, both of them paths (RFC 3986, section 4.2).
fn relative(from: &str, to: &str) -> String {
    let folder = |path: &str| {
        let (folder, _) = path.rsplit_once('/').unwrap_or(("", path));
        folder.split('/').map(str::to_owned).collect::<Vec<_>>()
    };
    let (own, other) = (folder(from), folder(to));
    let shared = own.iter().zip(&other).take_while(|(a, b)| a == b).count();
    let mut reference = "../".repeat(own.len() - shared);
    for segment in other.iter().skip(shared) {
        reference.push_str(segment);
        reference.push('/');
    }
    let (_, name) = to.rsplit_once('/').unwrap_or(("", to));
    reference.push_str(name);
    // A colon would make a scheme of it, and nothing at all would mean `from` itself.
    let first = reference.split('/').next().unwrap_or_default();
    if first.contains(':') || first.is_empty() {
        reference.insert_str(0, "./");
    }
    reference
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(from: &str, to: &str, expected: &str) {
        assert_eq!(relative(from, to), expected, "{from} to {to}");
    }

    #[test]
    fn references() {
        check("/sse", "/messages", "messages");
        check("/a/sse", "/a/messages", "messages");
        check("/a/sse", "/messages", "../messages");
        check("/sse", "/a/b", "a/b");
        check("/a/b/sse", "/a/c/post", "../c/post");
        check("/a/sse", "/b/", "../b/");
        check("/sse", "/", "./");
        check("/sse", "/a:b", "./a:b");
        check("/sse", "/sse", "sse");
    }
}
