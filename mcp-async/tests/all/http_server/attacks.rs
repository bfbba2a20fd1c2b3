//! What hostile clients send, and what must not come of it.

use core::time::Duration;
use std::collections::BTreeMap;

use http::{HeaderValue, Request, StatusCode};
use mcp_async::Server;
use mcp_async::http::HttpService;

use crate::scripted::{
    self, HttpClient, Reply, RequestExt, Serve, SseClient, array, cancelled, initialize, message,
    modern, modern_message, plain_call, post, send,
};
use crate::server_typed::support::never;
use crate::sim::{advance, end, settle};

fn service() -> HttpService {
    Server::builder("demo", "1.0")
        .tool("never", "Has no end", never)
        .http()
        .legacy_sse("/sse", "/messages")
        .served()
}

fn get(client: &HttpClient, last: Option<&[u8]>) -> Reply {
    let mut request = scripted::get(None);
    if let Some(last) = last {
        let last = HeaderValue::from_bytes(last).unwrap();
        request.headers_mut().insert("last-event-id", last);
    }
    client.send(request)
}

fn never_ending(id: u32) -> String {
    plain_call(id, "never")
}

/// An array of many small things is answered with less than it takes itself.
#[test]
fn arrays_are_not_amplified() {
    let check = |client: &HttpClient| {
        let [ping, list] = ["1 ping", "1 tools/list"].map(modern_message);
        for element in ["1", "{}", "[]", &ping, &list] {
            let count = 120_000 / element.len();
            let body = format!("[{}]", vec![element; count].join(","));
            let answer = client.post(&body).whole();
            assert!(answer.len() < 100_000, "{element}: {}", answer.len());
        }
    };
    let service = service();
    for revision in [
        "2024-11-05",
        "2025-03-26",
        "2025-06-18",
        "2025-11-25",
        "2026-07-28",
    ] {
        check(&HttpClient::open(&service, revision));
    }
}

/// Ids of events are guessed easily, and lead nowhere.
#[test]
fn nobody_reads_what_is_anothers() {
    let service = service();
    let [own, other] = [(); 2].map(|()| HttpClient::open(&service, "2025-11-25"));
    let mut theirs = other.post(&never_ending(1));
    let text = theirs.text();
    let id = text.strip_prefix("id: ").and_then(|it| it.split_once('\n'));
    let (id, _) = id.expect(&text);
    let large = u128::from(u64::MAX);
    let ids = [
        id.to_owned(),
        format!("{id}0"),
        format!("{}-0", u32::MAX),
        format!("{}-0", u64::from(u32::MAX) + 1),
        format!("1-{large}"),
        format!("1-{}", large + 1),
    ];
    let odd = [
        &b""[..],
        b"-",
        b"0",
        b"0-0",
        b"0-1",
        b"1",
        b"1-",
        b"-1",
        b"-1-0",
        b"1--1",
        b"1-+1",
        b"1-0x",
        b"01-00",
        b"\xff\xfe",
        b"2-0\t3-0",
    ];
    let ids = ids.iter().map(String::as_bytes).chain(odd);
    for id in ids {
        assert_eq!(get(&own, Some(id)).status, 400, "{id:?}");
    }
    assert!(!theirs.has_ended());
    let resumed = get(&other, Some(id.as_bytes()));
    assert_eq!(resumed.status, 200);
    assert!(theirs.has_ended(), "the later reader wins");
}

/// Who does not read the one stream of 2024-11-05 is not answered without bounds.
#[test]
fn an_unread_stream_takes_no_more() {
    let service = service();
    let mut client = SseClient::open(&service);
    let ping = |id: u32| {
        let long = "x".repeat(200);
        format!(r#""{long}{id}" ping"#)
    };
    let say = |client: &SseClient, text: &str| {
        let reply = client.post(text);
        settle();
        (reply.status, !reply.header("retry-after").is_empty())
    };
    let taken = (StatusCode::ACCEPTED, false);
    assert_eq!(say(&client, &initialize("2024-11-05")), taken);
    let mut statuses = BTreeMap::new();
    for id in 0..5_000 {
        *statuses.entry(say(&client, &ping(id))).or_insert(0) += 1;
    }
    let refused = (StatusCode::SERVICE_UNAVAILABLE, true);
    assert!(
        statuses[&taken] > 500 && statuses[&refused] > 500,
        "{statuses:?}"
    );
    assert_eq!(
        client.stream.text().matches("event: message").count(),
        1 + statuses[&taken]
    );
    assert_eq!(say(&client, &ping(1)), taken, "there is room again");
}

/// A session has a bound for what hangs in it; it does not keep others from being served, and
/// its end frees all of it.
#[test]
fn what_hangs_is_bounded() {
    let service = service();
    let session = HttpClient::open(&service, "2025-11-25");
    let mut statuses = BTreeMap::new();
    for id in 1..3_000 {
        let reply = session.post(&never_ending(id));
        *statuses.entry(reply.status).or_insert(0) += 1;
        // Of some the client hangs up, and others it keeps.
        if id % 2 == 0 {
            core::mem::forget(reply);
        }
    }
    assert_eq!(statuses[&StatusCode::OK], 1_024, "{statuses:?}");
    assert_eq!(statuses[&StatusCode::SERVICE_UNAVAILABLE], 1_975);
    let mut streams: Vec<_> = (0..1_000).map(|_| get(&session, None)).collect();
    let open_streams = streams
        .iter_mut()
        .filter_map(|it| (!it.has_ended()).then_some(()));
    assert_eq!(open_streams.count(), 1, "the latest reader alone");
    let other = HttpClient::open(&service, "2025-11-25");
    let ping = "1 ping";
    assert_eq!(other.post(ping).status, 200);

    let tasks = settle();
    assert_eq!(session.delete().status, 204);
    assert_eq!(settle(), tasks - 1, "its task has ended");
    assert!(streams.iter_mut().all(Reply::has_ended));
    assert_eq!(get(&session, None).status, 404);
}

/// Sessions that are opened and left cost nothing once their time is over.
#[test]
fn sessions_that_are_left_go() {
    let service = service();
    let before = settle();
    for _ in 0..1_000 {
        let session = HttpClient::open(&service, "2025-06-18");
        drop(get(&session, None));
    }
    assert_eq!(settle(), before + 1_000);
    advance(Duration::from_secs(31 * 60));
    assert_eq!(settle(), before);
}

/// An id in use is refused however it comes, and whoever had it first keeps it.
#[test]
fn ids_in_use_stay_whose_they_are() {
    let service = service();
    let session = HttpClient::open(&service, "2025-03-26");
    let mut first = session.post(&never_ending(7));
    let ping = "7 ping";
    for body in [message(ping), array(&[ping, &never_ending(7), ping])] {
        let answer = session.post(&body).whole();
        let refusals = answer.matches(r#""id":7,"error":{"code":-32600"#).count();
        assert_eq!(refusals, body.matches("jsonrpc").count(), "{answer}");
    }
    assert_eq!((first.text().as_str(), first.has_ended()), ("", false));
    let reply = session.post(&cancelled(7));
    assert_eq!(reply.status, 202);
    assert!(first.has_ended());
    assert_eq!(session.post(ping).status, 200);
    // A runtime that is over takes its sessions with it.
    end();
    assert_eq!(session.post(ping).status, 404);
}

/// Whatever is no message is refused, and opens no session.
#[test]
fn what_is_no_message_is_refused() {
    let service = service();
    let session = HttpClient::open(&service, "2025-03-26");
    let before = settle();
    let [ping, handshake] = ["1 ping", &initialize("2025-03-26")].map(message);
    let bodies = [
        String::new(),
        " \n\n ".into(),
        "[".repeat(100_000),
        "\u{feff}{}".into(),
        "\0".repeat(1_000),
        format!("{ping}{ping}"),
        format!("{handshake}\n{ping}"),
        format!("[{handshake},{ping}]"),
        format!("[{handshake}]"),
        "[]".into(),
    ];
    for body in &bodies {
        for request in [post(body), modern(body)] {
            let reply = send(&service, request);
            assert_eq!(reply.status, 400, "{body:.100}");
            assert!(reply.header("mcp-session-id").is_empty());
            assert!(reply.whole().contains(r#""error":{"code":-32"#));
        }
    }
    assert_eq!(settle(), before);
    assert_eq!(session.post(&ping).status, 200);
}

/// Names that only look like this machine's own, as a page would have that was rebound to it.
#[test]
fn names_that_look_like_our_own_are_not() {
    let service = service();
    let names = [
        "localhost.evil.example",
        "127.0.0.1.evil.example",
        "localhost.",
        "evil.localhost",
        "127.1",
        "127.0.0.2",
        "0.0.0.0",
        "2130706433",
        "0x7f000001",
        "[::]",
        "[::ffff:127.0.0.1]",
        "::1",
        "localhost@evil.example",
        "evil.example@localhost",
        "localhost:80@evil.example",
        "localhost:",
        "localhost:8000:8000",
        "localhost:-1",
        "localhost evil.example",
        "localhost, evil.example",
        "\"localhost\"",
        "",
    ];
    let status = |request: Request<String>| send(&service, request).status.as_u16();
    let ping = || post("1 ping");
    for name in names {
        // Some are no hosts at all.
        let found = status(ping().with("host", name));
        assert!(matches!(found, 400 | 403), "host {name:?}");
        for origin in [
            name.to_owned(),
            format!("http://{name}"),
            format!("https://{name}/"),
        ] {
            let found = status(ping().with("origin", &origin));
            assert_eq!(found, 403, "origin {origin:?}");
        }
    }
    for target in [
        "http://evil.example/mcp",
        "http://localhost@evil.example/mcp",
        "http://localhost.evil.example:8000/mcp",
    ] {
        let mut request = ping().to(target);
        assert_eq!(status(request.clone()), 400, "two hosts, {target}");
        request.headers_mut().remove("host");
        assert_eq!(status(request), 403, "{target}");
    }
    for (doubled, value, expected) in [
        ("host", "localhost:8000", 400),
        ("origin", "http://localhost", 403),
    ] {
        let mut request = ping().with("origin", "http://localhost");
        let value = HeaderValue::from_static(value);
        request.headers_mut().append(doubled, value);
        assert_eq!(status(request), expected, "two of {doubled}");
    }
}

/// What a modern request repeats in its head is compared with its body, so it cannot come where
/// nothing is compared.
#[test]
fn modern_requests_do_not_hide_in_arrays() {
    let service = service();
    let session = HttpClient::open(&service, "2025-03-26");
    let list = modern_message("1 tools/list");
    for messages in [&[&*list][..], &["2 ping", &list]] {
        let body = array(messages);
        let answer = session.post(&body).whole();
        assert!(!answer.contains("\"tools\":["), "{answer}");
    }
}
