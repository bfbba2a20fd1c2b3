//! Heads of HTTP requests, before an endpoint.

use mcp_proto::Revision;
use mcp_proto::http::{Endpoint, Head, Opening};

/// Whatever a head says, however often and however spelled: the endpoint lets in and refuses
/// exactly what the rules say, one by one and in their order.
///
/// The input is a head as HTTP/1.1 writes it: a method and a path, then a field on each line.
pub fn request_heads(input: &[u8]) {
    let Some(head) = Lines::parse(input) else {
        return;
    };
    let endpoint = Endpoint::default();
    let found = match endpoint.open(&head) {
        Ok(Opening::Post(post)) => {
            assert_eq!(post.session, head.first("mcp-session-id"));
            assert_eq!(post.method, head.first("mcp-method"));
            assert_eq!(post.name, head.first("mcp-name"));
            Ok("POST")
        }
        Ok(Opening::Get(get)) => {
            let session = Some(get.session.as_bytes());
            assert_eq!(session, head.first("mcp-session-id"));
            assert_eq!(get.last_event_id, head.first("last-event-id"));
            Ok("GET")
        }
        Ok(Opening::Delete(session)) => {
            let session = Some(session.as_bytes());
            assert_eq!(session, head.first("mcp-session-id"));
            Ok("DELETE")
        }
        Ok(Opening::Preflight) => Ok("OPTIONS"),
        Err(refusal) => {
            let mut body = [0; 256];
            let len = refusal.write(&mut body).expect("as much as is enough");
            let value: serde_json::Value = serde_json::from_slice(&body[..len]).expect("JSON");
            assert_eq!(value["error"]["code"], refusal.code());
            assert!(refusal.write(&mut body[..len - 1]).is_err());
            Err(refusal.status())
        }
    };
    assert_eq!(found, naive(&head));
}

/// A head as it was written.
pub(crate) struct Lines<'h> {
    method: &'h str,
    path: &'h str,
    fields: Vec<(&'h [u8], &'h [u8])>,
}

impl<'h> Lines<'h> {
    pub(crate) fn parse(input: &'h [u8]) -> Option<Self> {
        let mut lines = input.split(|byte| *byte == b'\n');
        let (method, path) = core::str::from_utf8(lines.next()?).ok()?.split_once(' ')?;
        let fields = lines.filter_map(|line| {
            let colon = line.iter().position(|byte| *byte == b':')?;
            Some((&line[..colon], &line[colon + 1..]))
        });
        Some(Self {
            method,
            path,
            fields: fields.collect(),
        })
    }

    /// The values of a field, without the white space around them.
    fn all(&self, name: &str) -> Vec<&'h [u8]> {
        let space = |byte: &u8| *byte == b' ' || *byte == b'\t';
        let named = |field: &[u8]| field.to_ascii_lowercase() == name.as_bytes();
        let values = self.fields.iter().filter(|(field, _)| named(field));
        values
            .map(|(_, value)| {
                let start = value.iter().position(|byte| !space(byte));
                let end = value.iter().rposition(|byte| !space(byte));
                match (start, end) {
                    (Some(start), Some(end)) => &value[start..=end],
                    _ => &value[..0],
                }
            })
            .collect()
    }

    fn first(&self, name: &str) -> Option<&'h [u8]> {
        self.all(name).first().copied()
    }
}

impl Head for Lines<'_> {
    fn method(&self) -> &str {
        self.method
    }

    fn path(&self) -> &str {
        self.path
    }

    fn fields<'v>(&'v self, each: &mut dyn FnMut(&'v str, &'v [u8])) {
        for (name, value) in &self.fields {
            each(core::str::from_utf8(name).unwrap_or_default(), value);
        }
    }
}

/// What it is let in as, or the status that refuses it.
fn naive(head: &Lines<'_>) -> Result<&'static str, u16> {
    if head.path != "/mcp" {
        return Err(404);
    }
    let codings = head.all("transfer-encoding");
    let chunked = |coding: &&[u8]| coding.eq_ignore_ascii_case(b"chunked");
    if codings.len() > 1 || !codings.iter().all(chunked) {
        return Err(501);
    }
    let hosts = head.all("host");
    if hosts.len() != 1 || !is_host(hosts[0]) {
        return Err(400);
    }
    if !is_this_machine(hosts[0]) {
        return Err(403);
    }
    let origins = head.all("origin");
    let local = |origin: &[u8]| {
        let origin = origin.to_ascii_lowercase();
        let host = origin
            .strip_prefix(b"http://")
            .or(origin.strip_prefix(b"https://"));
        host.is_some_and(is_this_machine)
    };
    if origins.len() > 1 || !origins.iter().all(|origin| local(origin)) {
        return Err(403);
    }
    let at_most_one = |names: &[&str]| match names.iter().all(|name| head.all(name).len() < 2) {
        true => Ok(()),
        false => Err(400_u16),
    };
    let legacy = || match head.first("mcp-protocol-version") {
        None => Ok(()),
        Some(version) if version == Revision::V2026_07_28.as_str().as_bytes() => Err(405_u16),
        Some(version) => {
            let mut known = Revision::ALL.iter();
            match known.any(|revision| revision.as_str().as_bytes() == version) {
                true => Ok(()),
                false => Err(400),
            }
        }
    };
    let session = || match head.first("mcp-session-id") {
        Some(id) if !id.is_empty() && id.iter().all(u8::is_ascii_graphic) => Ok(()),
        _ => Err(400_u16),
    };
    match head.method {
        "POST" => {
            let kinds = head.all("content-type");
            let json = |kind: &[u8]| media(kind.split(|byte| *byte == b';').next());
            if kinds.len() != 1 || json(kinds[0]) != "application/json" {
                return Err(415);
            }
            if !takes(head, "application/json") || !takes(head, "text/event-stream") {
                return Err(406);
            }
            let single = [
                "mcp-protocol-version",
                "mcp-session-id",
                "mcp-method",
                "mcp-name",
            ];
            at_most_one(&single)?;
            Ok("POST")
        }
        "GET" => {
            at_most_one(&["mcp-protocol-version"])?;
            legacy()?;
            if !takes(head, "text/event-stream") {
                return Err(406);
            }
            at_most_one(&["mcp-session-id", "last-event-id"])?;
            session()?;
            Ok("GET")
        }
        "DELETE" => {
            at_most_one(&["mcp-protocol-version"])?;
            legacy()?;
            at_most_one(&["mcp-session-id"])?;
            session()?;
            Ok("DELETE")
        }
        "OPTIONS" if !origins.is_empty() => Ok("OPTIONS"),
        _ => Err(405),
    }
}

/// A host with an optional port (RFC 9112, section 3.2).
fn is_host(host: &[u8]) -> bool {
    let Ok(host) = core::str::from_utf8(host) else {
        return false;
    };
    let (name, port, more) = match host.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((name, port)) => (name, port, ":"),
            None => return false,
        },
        None => {
            let (name, port) = host.split_at(host.find(':').unwrap_or(host.len()));
            (name, port, "")
        }
    };
    let allowed = |byte: char| {
        byte.is_ascii_alphanumeric() || "-._~%!$&'()*+,;=".contains(byte) || more.contains(byte)
    };
    let numbered = match port.strip_prefix(':') {
        Some("") => true,
        Some(digits) => {
            digits.bytes().all(|byte| byte.is_ascii_digit())
                && digits.parse::<u64>().is_ok_and(|port| port <= 65_535)
        }
        None => port.is_empty(),
    };
    !name.is_empty() && name.chars().all(allowed) && numbered
}

/// A name of this machine for itself, with a port or without one.
fn is_this_machine(host: &[u8]) -> bool {
    let Ok(host) = core::str::from_utf8(host) else {
        return false;
    };
    let host = host.to_ascii_lowercase();
    ["localhost", "127.0.0.1", "[::1]"].iter().any(|name| {
        host.strip_prefix(name).is_some_and(|rest| {
            let port = rest.strip_prefix(':').unwrap_or("0");
            (rest.is_empty() || rest.starts_with(':'))
                && !port.is_empty()
                && port.bytes().all(|byte| byte.is_ascii_digit())
        })
    })
}

/// Whether the ranges of `Accept` that fit best let this type through; the last one counts.
fn takes(head: &Lines<'_>, wanted: &str) -> bool {
    let lines = head.all("accept");
    if lines.is_empty() {
        return true;
    }
    let group = format!("{}/*", wanted.split('/').next().unwrap_or_default());
    let ranges: Vec<&[u8]> = lines
        .iter()
        .flat_map(|line| line.split(|byte| *byte == b','))
        .collect();
    for name in [wanted, &group, "*/*"] {
        let fitting = ranges.iter().rev().find(|range| {
            let found = media(range.split(|byte| *byte == b';').next());
            found == name
        });
        if let Some(range) = fitting {
            let mut parameters = range.split(|byte| *byte == b';').skip(1);
            return !parameters.any(|parameter| {
                let parameter = media(Some(parameter));
                let weight = parameter.strip_prefix("q=0");
                weight.is_some_and(|rest| rest.bytes().all(|byte| b"0.".contains(&byte)))
            });
        }
    }
    false
}

/// In lower case and without white space around it; what is no UTF-8 is no media type.
fn media(text: Option<&[u8]>) -> String {
    let text = core::str::from_utf8(text.unwrap_or_default()).unwrap_or("\u{0}");
    text.trim_matches([' ', '\t']).to_ascii_lowercase()
}
