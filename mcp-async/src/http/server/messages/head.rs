//! The head of a request, in the form that the core reads.

use http::Version;
use http::header::{
    ACCEPT, CONTENT_TYPE, HOST, HeaderName, HeaderValue, ORIGIN, TRANSFER_ENCODING,
};
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

    fn values<'h>(&'h self, name: &str, each: &mut dyn FnMut(&'h [u8])) {
        let headers = &self.0.headers;
        // A constant is found without being parsed.
        let lines = match name {
            "accept" => headers.get_all(ACCEPT),
            "content-type" => headers.get_all(CONTENT_TYPE),
            "host" => headers.get_all(HOST),
            "mcp-method" => headers.get_all(&METHOD),
            "mcp-name" => headers.get_all(&NAME),
            "mcp-protocol-version" => headers.get_all(&PROTOCOL_VERSION),
            "mcp-session-id" => headers.get_all(&SESSION_ID),
            "origin" => headers.get_all(ORIGIN),
            "transfer-encoding" => headers.get_all(TRANSFER_ENCODING),
            name => headers.get_all(name),
        };
        if HOST == name
            && let Some(authority) = self.authority()
        {
            each(authority.as_bytes());
            // A single field that says the same is no second host.
            let mut fields = lines.iter().map(HeaderValue::as_bytes);
            let (first, second) = (fields.next(), fields.next());
            let agrees = |field: &[u8]| field.eq_ignore_ascii_case(authority.as_bytes());
            if first.is_some_and(agrees) && second.is_none() {
                return;
            }
        }
        lines.iter().for_each(|line| each(line.as_bytes()));
    }

    fn requires_host(&self) -> bool {
        self.0.version == Version::HTTP_11
    }
}

static METHOD: HeaderName = HeaderName::from_static("mcp-method");
static NAME: HeaderName = HeaderName::from_static("mcp-name");
static PROTOCOL_VERSION: HeaderName = HeaderName::from_static("mcp-protocol-version");
static SESSION_ID: HeaderName = HeaderName::from_static("mcp-session-id");

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
