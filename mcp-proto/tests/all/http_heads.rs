//! Which heads are let in, and as what: every field missing, doubled, wrong.

use mcp_proto::http::{
    Access, Endpoint, Head, HttpSseEndpoint, HttpSseOpening, Opening, Refusal, Version, media,
};
use mcp_proto::rpc::OwnedMessages;
use mcp_proto::{BufferFull, Revision, RevisionSet};

use crate::http::Sent;

#[track_caller]
fn refused(method: &str, with: &[&str], expected: Refusal) {
    let found = Endpoint::default()
        .open(&Sent::usual(method, with))
        .map(drop);
    assert_eq!(found, Err(expected), "{method} {with:?}");
}

#[track_caller]
fn accepted(method: &str, with: &[&str]) {
    let found = Endpoint::default()
        .open(&Sent::usual(method, with))
        .map(drop);
    assert_eq!(found, Ok(()), "{method} {with:?}");
}

/// SH-03, SH-51.
#[test]
fn hosts_and_origins() {
    for method in ["POST", "GET", "DELETE", "PUT"] {
        refused(method, &["-host"], Refusal::HostMalformed);
        refused(method, &["+host: localhost"], Refusal::HostMalformed);
        refused(method, &["host: localhost:eighty"], Refusal::HostMalformed);
        refused(method, &["host: localhost:65536"], Refusal::HostMalformed);
        refused(method, &["host: me@localhost"], Refusal::HostMalformed);
        refused(method, &["host:"], Refusal::HostMalformed);
        refused(
            method,
            &["host: evil.example", "origin: http://evil.example"],
            Refusal::Host,
        );
        refused(method, &["origin: http://evil.example"], Refusal::Origin);
        refused(method, &["origin: null"], Refusal::Origin);
        refused(
            method,
            &["+origin: http://localhost", "+origin: http://localhost"],
            Refusal::Origin,
        );
    }
    accepted("POST", &["origin: http://localhost:5173"]);
    accepted("POST", &["host: LOCALHOST"]);
    let open = Endpoint {
        access: Access {
            hosts: None,
            origins: &["https://app.example"],
        },
        path: None,
        ..Endpoint::default()
    };
    let anywhere = Sent::post(&["host: x", "origin: https://app.example"]).at("/elsewhere");
    assert!(open.open(&anywhere).is_ok());
    for wrong in ["-host", "+host: x", "host: x:eighty"] {
        assert_eq!(
            open.open(&Sent::post(&[wrong])),
            Err(Refusal::HostMalformed),
            "{wrong}"
        );
    }
}

/// HTTP/2 may name the host elsewhere, and HTTP/1.0 need not.
#[test]
fn a_version_without_host() {
    struct Other(Sent);

    impl Head for Other {
        fn method(&self) -> &str {
            self.0.method()
        }

        fn path(&self) -> &str {
            self.0.path()
        }

        fn fields<'h>(&'h self, each: &mut dyn FnMut(&'h str, &'h [u8])) {
            self.0.fields(each);
        }

        fn requires_host(&self) -> bool {
            false
        }
    }

    let open = Endpoint {
        access: Access {
            hosts: None,
            origins: &[],
        },
        ..Endpoint::default()
    };
    let without = Other(Sent::post(&["-host"]));
    assert!(open.open(&without).is_ok());
    assert_eq!(Endpoint::default().open(&without), Err(Refusal::Host));
    let two = Other(Sent::post(&["+host: x"]));
    assert_eq!(open.open(&two), Err(Refusal::HostMalformed));
}

#[test]
fn transfer_codings() {
    for method in ["POST", "GET", "DELETE", "PUT"] {
        for coding in [
            "transfer-encoding: gzip, chunked",
            "transfer-encoding: chunked, chunked",
            "transfer-encoding: chunked;q=1",
            "transfer-encoding: identity",
            "transfer-encoding:",
        ] {
            refused(method, &[coding], Refusal::TransferEncoding);
        }
        let twice = ["transfer-encoding: chunked", "+transfer-encoding: chunked"];
        refused(method, &twice, Refusal::TransferEncoding);
    }
    accepted("POST", &["transfer-encoding: chunked"]);
    let two = ["transfer-encoding: chunked", "content-length: 5"];
    refused("POST", &two, Refusal::TwoLengths);
    assert_eq!(Refusal::TwoLengths.status(), 400);
    accepted("POST", &["transfer-encoding: Chunked"]);
    assert_eq!(Refusal::TransferEncoding.status(), 501);
}

/// SH-41, SH-54.
#[test]
fn paths_and_methods() {
    for path in ["/", "/mcp/", "/mcp2", ""] {
        let sent = Sent::post(&[]).at(path);
        assert_eq!(
            Endpoint::default().open(&sent),
            Err(Refusal::Path),
            "{path}"
        );
    }
    for method in ["PUT", "PATCH", "HEAD", "post", "OPTIONS", ""] {
        refused(method, &[], Refusal::Method);
    }
    let preflight = Sent::usual("OPTIONS", &["origin: http://localhost:1"]);
    assert_eq!(Endpoint::default().open(&preflight), Ok(Opening::Preflight));
    let modern = Endpoint {
        revisions: RevisionSet::of(&[Revision::V2026_07_28]),
        ..Endpoint::default()
    };
    assert_eq!(modern.open(&Sent::usual("GET", &[])), Err(Refusal::Method));
    assert_eq!(
        modern.open(&Sent::usual("DELETE", &[])),
        Err(Refusal::Method)
    );
    for method in ["GET", "DELETE"] {
        let names = "mcp-protocol-version: 2026-07-28";
        refused(method, &[names], Refusal::MethodOfRevision);
        refused(
            method,
            &[names, "-accept", "-mcp-session-id"],
            Refusal::MethodOfRevision,
        );
        let legacy = Endpoint {
            revisions: RevisionSet::of(&[Revision::V2025_11_25]),
            ..Endpoint::default()
        };
        let found = legacy.open(&Sent::usual(method, &[names])).map(drop);
        assert_eq!(found, Err(Refusal::Version));
    }
    let stateless = Endpoint {
        sessions: false,
        ..Endpoint::default()
    };
    for method in ["GET", "DELETE"] {
        let found = stateless.open(&Sent::usual(method, &[])).map(drop);
        assert_eq!(found, Err(Refusal::Method), "{method}");
    }
    assert_eq!(stateless.methods(), "POST");
    assert_eq!(Refusal::MethodOfRevision.status(), 405);
    assert_eq!(
        (modern.methods(), Endpoint::default().methods()),
        ("POST", "GET, POST, DELETE")
    );
}

/// SH-50.
#[test]
fn media_types() {
    for kind in [
        "text/plain",
        "application/jsonx",
        "",
        "text/json, application/json",
    ] {
        refused(
            "POST",
            &[&format!("content-type: {kind}")],
            Refusal::ContentType,
        );
    }
    refused("POST", &["-content-type"], Refusal::ContentType);
    refused(
        "POST",
        &["+content-type: application/json"],
        Refusal::ContentType,
    );
    accepted("POST", &["content-type: APPLICATION/json ; charset=utf-8"]);
    for accept in [
        "application/json",
        "text/event-stream",
        "text/html",
        "application/json;q=0, */*",
        "",
    ] {
        refused("POST", &[&format!("accept: {accept}")], Refusal::Accept);
    }
    accepted("POST", &["accept: */*"]);
    accepted("POST", &["-accept"]);
    accepted("POST", &["accept: application/*;q=0.2,text/*"]);
    accepted(
        "POST",
        &["accept: application/json", "+accept: text/event-stream"],
    );
    refused("GET", &["accept: application/json"], Refusal::Accept);
    accepted("GET", &["accept: text/event-stream"]);
    assert!(media::is(
        b"text/event-stream;charset=utf-8",
        media::EVENT_STREAM
    ));
}

fn doubled(field: &'static str) -> Refusal {
    Refusal::Doubled {
        field,
        modern: false,
    }
}

/// SH-57.
#[test]
fn doubled_fields() {
    for name in [
        "MCP-Protocol-Version",
        "Mcp-Session-Id",
        "Mcp-Method",
        "Mcp-Name",
    ] {
        let twice = [format!("{name}: x"), format!("+{name}: x")];
        refused("POST", &[&twice[0], &twice[1]], doubled(name));
    }
    refused("GET", &["+mcp-session-id: s1"], doubled("Mcp-Session-Id"));
    refused(
        "GET",
        &["+last-event-id: 1", "+last-event-id: 1"],
        doubled("Last-Event-ID"),
    );
    // Where only the modern era is served, its code is the one.
    let modern = Endpoint {
        revisions: RevisionSet::modern(),
        ..Endpoint::default()
    };
    let twice = Sent::post(&["mcp-method: x", "+mcp-method: x"]);
    assert_eq!(
        modern.open(&twice).unwrap_err(),
        Refusal::Doubled {
            field: "Mcp-Method",
            modern: true,
        }
    );
}

/// SH-28, SH-33.
#[test]
fn versions_and_sessions() {
    let open = |with: &[&str]| match Endpoint::default().open(&Sent::post(with)) {
        Ok(Opening::Post(post)) => match post.version {
            Version::Absent => "absent".to_owned(),
            Version::Known(revision) => revision.to_string(),
            Version::Unknown(text) => format!("? {}", String::from_utf8_lossy(text)),
        },
        other => format!("{other:?}"),
    };
    assert_eq!(open(&[]), "absent");
    assert_eq!(open(&["mcp-protocol-version: 2025-06-18"]), "2025-06-18");
    assert_eq!(open(&["mcp-protocol-version: 2099-01-01"]), "? 2099-01-01");
    for method in ["GET", "DELETE"] {
        accepted(method, &["mcp-protocol-version: 2025-06-18"]);
        refused(
            method,
            &["mcp-protocol-version: 2099-01-01"],
            Refusal::Version,
        );
        refused(method, &["-mcp-session-id"], Refusal::SessionMissing);
        for id in ["", "a b", "\u{e9}", "a\u{7f}"] {
            refused(
                method,
                &[&format!("mcp-session-id: {id}")],
                Refusal::SessionMalformed,
            );
        }
    }
    let resumed = Sent::usual("GET", &["last-event-id: s-1 "]);
    let Ok(Opening::Get(get)) = Endpoint::default().open(&resumed) else {
        panic!("a GET of a session is let in")
    };
    assert_eq!(
        (get.session.as_str(), get.last_event_id),
        ("s1", Some(&b"s-1"[..]))
    );
}

/// Every refusal has a status, and a body that is written whole or not at all.
#[test]
fn bodies() {
    use Refusal::*;
    let all = [
        Path,
        Host,
        Origin,
        Method,
        ContentType,
        Accept,
        doubled("Mcp-Name"),
        Version,
        SessionMissing,
        SessionMalformed,
    ];
    for refusal in all {
        let mut body = [0; 256];
        let len = refusal.write(&mut body).unwrap();
        let text = core::str::from_utf8(&body[..len]).unwrap();
        assert!(text.contains(&refusal.to_string()), "{text}");
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        assert_eq!(value["error"]["code"], refusal.code());
        assert!((400..500).contains(&refusal.status()));
        for short in 0..len {
            assert_eq!(
                refusal.write(&mut body[..short]),
                Err(BufferFull { needed: len })
            );
        }
    }
}

/// HS-05, HS-06.
#[test]
fn the_two_endpoints_of_2024_11_05_have_one_method_each() {
    use HttpSseEndpoint::{Messages, Stream};

    let endpoint = Endpoint {
        path: None,
        ..Endpoint::default()
    };
    let origin = "origin: http://localhost:1";
    let request = Ok(HttpSseOpening::Request);
    let table: &[(HttpSseEndpoint, &str, &[&str], _)] = &[
        (Stream, "GET", &[], request),
        (Stream, "GET", &["accept: text/event-stream"], request),
        (Stream, "GET", &["-accept"], request),
        (
            Stream,
            "GET",
            &["accept: application/json"],
            Err(Refusal::Accept),
        ),
        (
            Stream,
            "GET",
            &["host: attacker.example"],
            Err(Refusal::Host),
        ),
        (Stream, "POST", &[], Err(Refusal::Method)),
        (Stream, "POST", &["-accept"], Err(Refusal::Method)),
        (Stream, "OPTIONS", &[origin], Ok(HttpSseOpening::Preflight)),
        (Stream, "OPTIONS", &[], Err(Refusal::Method)),
        (Messages, "POST", &[], request),
        (Messages, "POST", &["accept: text/html"], request),
        (
            Messages,
            "POST",
            &["-content-type"],
            Err(Refusal::ContentType),
        ),
        (
            Messages,
            "POST",
            &["content-type: text/plain"],
            Err(Refusal::ContentType),
        ),
        (
            Messages,
            "POST",
            &["origin: http://attacker.example"],
            Err(Refusal::Origin),
        ),
        (Messages, "GET", &[], Err(Refusal::Method)),
        (Messages, "DELETE", &[], Err(Refusal::Method)),
        (
            Messages,
            "OPTIONS",
            &[origin],
            Ok(HttpSseOpening::Preflight),
        ),
    ];
    for (at, method, with, expected) in table {
        let opened = endpoint.open_http_sse(*at, &Sent::usual(method, with));
        assert_eq!(opened, *expected, "{at:?} {method} {with:?}");
    }
    assert_eq!([Stream.methods(), Messages.methods()], ["GET", "POST"]);
    for (body, is_json) in [("{}", true), ("[]", true), ("{", false), ("", false)] {
        let body = OwnedMessages::parse(body.as_bytes().to_vec(), 8);
        let checked = HttpSseEndpoint::check_body(&body);
        assert_eq!(checked.is_ok(), is_json, "{checked:?}");
    }
}
