//! The head of a request, in the form that the core reads.

use http::Version;
use http::header::{HOST, HeaderValue};
use http::request::Parts;
use mcp_proto::http::Head;

/// The head of a request of the `http` crate.
pub(in crate::http::server) struct RequestHead<'r>(pub(in crate::http::server) &'r Parts);

impl RequestHead<'_> {
    /// Returns the host of the target, which HTTP/2, and HTTP/1.1 with a target in full, send in
    /// the place of `Host`.
    fn authority(&self) -> Option<&str> {
        let authority = self.0.uri.authority()?.as_str();
        let (_, host) = authority.rsplit_once('@').unwrap_or(("", authority));
        Some(host)
    }
}

impl Head for RequestHead<'_> {
    fn method(&self) -> &str {
        self.0.method.as_str()
    }

    fn path(&self) -> &str {
        self.0.uri.path()
    }

    fn fields<'h>(&'h self, each: &mut dyn FnMut(&'h str, &'h [u8])) {
        let headers = &self.0.headers;
        let authority = self.authority();
        if let Some(authority) = authority {
            each(HOST.as_str(), authority.as_bytes());
        }
        // A single field that says the same is no second host.
        let is_repeated = authority.is_some_and(|authority| {
            let mut fields = headers.get_all(HOST).iter();
            let (first, second) = (fields.next(), fields.next());
            let agrees =
                |it: &HeaderValue| it.as_bytes().eq_ignore_ascii_case(authority.as_bytes());
            first.is_some_and(agrees) && second.is_none()
        });
        for (name, value) in headers {
            if !(is_repeated && *name == HOST) {
                each(name.as_str(), value.as_bytes());
            }
        }
    }

    fn values<'h>(&'h self, name: &str, each: &mut dyn FnMut(&'h [u8])) {
        // The host stands in the field or in the target (HTTP/2).
        if name.eq_ignore_ascii_case(HOST.as_str()) {
            return self.fields(&mut |known, value| {
                if known == HOST.as_str() {
                    each(value);
                }
            });
        }
        for value in self.0.headers.get_all(name) {
            each(value.as_bytes());
        }
    }

    fn requires_host(&self) -> bool {
        self.0.version == Version::HTTP_11
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;
    use mcp_proto::http::Field;

    #[track_caller]
    fn check(uri: &str, hosts: &[&str], expected: Field<'_>) {
        let mut request = Request::builder().uri(uri);
        for host in hosts {
            request = request.header("host", *host);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        assert_eq!(
            RequestHead(&parts).field("Host"),
            expected,
            "{uri} {hosts:?}"
        );
    }

    #[test]
    fn the_authority_stands_for_the_host() {
        check("/mcp", &[], Field::None);
        check("/mcp", &["a:1"], Field::One(b"a:1"));
        check("/mcp", &["a:1", "a:1"], Field::Many);
        check("http://a:1/mcp", &[], Field::One(b"a:1"));
        check("http://me@a:1/mcp", &["A:1"], Field::One(b"a:1"));
        check("http://a:1/mcp", &["b:1"], Field::Many);
        check("http://a:1/mcp", &["a:1", "a:1"], Field::Many);
    }
}
