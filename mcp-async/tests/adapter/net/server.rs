use core::time::Duration;
use std::io::ErrorKind;
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use std::time::Instant;

use mcp_async::net::HttpListener;

use super::service::{LONG, Tested};
use super::{LATER, SOON, local, start};
use crate::adapter::{Runtime, tcp};

#[test]
fn a_short_answer_is_one_write_with_its_length() {
    let server = start(local(), Tested::default());
    let mut client = server.connect();
    for _ in 0..3 {
        let heard = client.get("/hello").hear();
        assert!(heard.starts_with("HTTP/1.1 200 OK\r\n"), "{heard}");
        assert!(heard.contains("content-length: 5\r\n"), "{heard}");
        assert!(heard.ends_with("\r\n\r\nhello"), "{heard}");
    }
}

#[test]
fn the_version_is_told_by_the_first_bytes() {
    let server = start(local(), Tested::default());
    let mut client = server.connect();
    let heard = client.say(PREFACE).hear();
    assert_eq!(heard.as_bytes().get(3), Some(&4), "settings come first");
}

/// The preface, and settings that set nothing (RFC 9113 3.4, 6.5).
const PREFACE: &str = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\u{4}\0\0\0\0\0";

#[test]
fn http2_without_tls_has_to_be_asked_for() {
    let listen = tcp("127.0.0.1:0");
    let server = start(listen, Tested::default());
    let mut client = server.connect();
    assert_eq!(client.say(PREFACE).hear_out(), "");
    assert!(server.connect().get("/hello").hear().ends_with("hello"));
}

/// Settings come first, with the number of streams among them (RFC 9113 6.5.2).
#[test]
fn streams_of_a_connection_of_http2_are_bounded() {
    for (listen, bound) in [(local(), 64), (local().max_concurrent_streams(3), 3)] {
        let server = start(listen, Tested::default());
        let heard = server.connect().say(PREFACE).hear();
        let setting = [0, 3, 0, 0, 0, bound];
        let mut settings = heard.as_bytes().windows(setting.len());
        assert!(settings.any(|window| window == setting), "{heard:?}");
    }
}

#[test]
fn a_connection_of_http2_needs_a_request_in_time() {
    let service = Tested::default();
    let server = start(local().head_timeout(LATER), service.clone());
    let mut used = server.connect();
    used.begin_http2(65_535);
    used.get_http2(1, "/silent");
    let since = Instant::now();

    let server = start(local().head_timeout(SOON), Tested::default());
    let (mut silent, mut half) = (server.connect(), server.connect());
    silent.say(PREFACE);
    half.say(PREFACE);
    // The head is to be continued in another frame.
    half.frame(1, 1, 1, b"\x82\x86\x04\x05/held").unwrap();
    silent.hear_out();
    half.hear_out();

    later_than(since);
    service.has_open(1);
    drop(used);
}

/// Waits until a limit of [`LATER`] that has begun at this moment would long have been over.
fn later_than(since: Instant) {
    thread::sleep((LATER + 2 * SOON).saturating_sub(since.elapsed()));
}

#[test]
fn connections_of_one_address_can_be_bounded() {
    let server = start(local().max_connections_per_address(1), Tested::default());
    let mut first = server.connect();
    assert!(first.get("/hello").hear().contains("hello"));
    let mut refused = server.connect();
    // It may be reset before it has sent anything.
    let _sent = std::io::Write::write_all(&mut refused.0, b"GET /hello HTTP/1.1\r\n");
    assert_eq!(refused.hear_out(), "");
    drop(first);
    let answered = (0..1000).any(|_| {
        thread::sleep(Duration::from_millis(5));
        let mut next = server.connect();
        let request = b"GET /hello HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n";
        let _sent = std::io::Write::write_all(&mut next.0, request);
        next.hear_out().ends_with("hello")
    });
    assert!(answered);
}

/// Where a request ends is uncertain then: the connection is closed after one answer (RFC 9112 6.3).
#[test]
fn a_request_with_two_lengths_is_the_last_of_its_connection() {
    for fields in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 5",
    ] {
        let server = start(local(), Tested::default());
        let head = format!("POST /echo HTTP/1.1\r\nHost: here\r\n{fields}\r\n\r\n");
        let tail = "0\r\n\r\nGET /hello HTTP/1.1\r\nHost: here\r\n\r\n";
        let heard = server.connect().say(&head).say(tail).hear_out();
        assert_eq!(heard.matches("HTTP/1.1").count(), 1, "{heard}");
    }
}

#[test]
fn a_client_that_takes_its_time_is_hung_up_on() {
    let answers = start(local().head_timeout(LATER), Tested::default());
    let mut client = answers.connect();
    client.get("/hello").say("GET /hel");

    let server = start(local().head_timeout(SOON), Tested::default());
    let heads = [
        "",
        "P",
        "PRI * HTTP/2",
        "GET",
        "GET /hello HTTP/1.1\r\nHost: here\r\n",
    ];
    let mut silent = heads.map(|_| server.connect());
    for (client, head) in silent.iter_mut().zip(heads) {
        client.say(head);
    }
    for (client, head) in silent.iter_mut().zip(heads) {
        assert_eq!(client.hear_out(), "", "{head:?}");
    }
    let heard = client.hear_out();
    assert_eq!(heard.matches("hello").count(), 1, "{heard}");
}

#[test]
fn an_idle_connection_of_either_version_is_closed() {
    let answers = start(local().idle_timeout(LATER), Tested::default());
    let mut first = answers.connect();
    first.get("/hello");
    let server = start(local().idle_timeout(SOON), Tested::default());
    server.connect().say(PREFACE).hear_out();
    assert!(first.hear_out().ends_with("hello"));
}

/// The answer has left the service, so only the socket knows that it is on its way.
#[test]
fn a_client_that_reads_slowly_is_not_idle() {
    let limits = local().idle_timeout(SOON).head_timeout(SOON);
    let server = start(limits, Tested::default());
    let mut client = server.connect();
    client.get("/long");
    let since = Instant::now();
    let mut read = 0;
    while since.elapsed() < 3 * SOON {
        read += client.hear().len();
        thread::sleep(SOON / 20);
    }
    read += client.hear_out().len();
    assert!(read > LONG, "{read} bytes were read");
}

#[test]
fn a_stream_that_says_nothing_is_not_idle() {
    let service = Tested::default();
    let limits = local()
        .idle_timeout(LATER)
        .head_timeout(LATER)
        .stall_timeout(LATER);
    let server = start(limits, service.clone());
    let mut client = server.connect();
    assert!(client.get("/silent").hear().contains("200 OK"));
    later_than(Instant::now());
    service.has_open(1);
    drop(client);
    service.has_open(0);
}

#[test]
fn a_client_that_does_not_read_is_hung_up_on() {
    let service = Tested::default();
    let server = start(local().stall_timeout(SOON), service.clone());
    let mut client = server.connect();
    client.get("/flood");
    assert!(client.hear().contains("200 OK"));
    service.has_open(0);
}

/// Credit is the client's to give, for each stream: one that gives none, and goes on with others,
/// holds nothing for long.
#[test]
fn a_stream_of_http2_that_is_not_read_ends_its_connection() {
    let service = Tested::default();
    let server = start(local().stall_timeout(SOON), service.clone());
    let mut unread = [0, 1, 5_000].map(|credit| {
        let mut client = server.connect();
        client.begin_http2(credit);
        client.get_http2(1, "/flood").get_http2(3, "/silent");
        client
    });
    for client in &mut unread {
        client.hear_out();
    }
    service.has_open(0);
    let mut client = server.connect();
    client.begin_http2(65_535);
    client.get_http2(1, "/silent").get_http2(3, "/hello");
    thread::sleep(SOON * 3);
    service.has_open(1);
    drop(client);
    service.has_open(0);
}

/// Requests that are taken back at once, and heads that never end: neither is served for long, and
/// nothing is left of them.
#[test]
fn floods_of_http2() {
    let service = Tested::default();
    let server = start(local(), service.clone());
    let mut resets = server.connect();
    resets.begin_http2(65_535);
    for stream in (1..4_000).step_by(2) {
        let fields = b"\x82\x86\x04\x05/held\x01\x04here";
        let sent = resets.frame(1, 5, stream, fields);
        if sent
            .and_then(|()| resets.frame(3, 0, stream, &[0, 0, 0, 8]))
            .is_err()
        {
            break;
        }
    }
    let _closed = resets.0.shutdown(Shutdown::Write);
    resets.hear_out();
    service.has_open(0);

    let mut head = server.connect();
    head.begin_http2(65_535);
    head.frame(1, 1, 1, b"\x82\x86\x04\x05/held").unwrap();
    let field = [&b"\x00\x01a\x64"[..], &[b'x'; 100]].concat();
    for _ in 0..10_000 {
        if head.frame(9, 0, 1, &field).is_err() {
            break;
        }
    }
    head.hear_out();
    service.has_open(0);
    assert!(server.connect().get("/hello").hear().ends_with("hello"));
}

#[test]
fn whoever_hangs_up_half_or_in_the_middle_leaves_nothing() {
    let service = Tested::default();
    let server = start(local(), service.clone());
    for path in ["/silent", "/held", "/flood"] {
        let mut half = server.connect();
        half.get(path);
        half.0.shutdown(Shutdown::Write).unwrap();
        half.hear_out();
        service.has_open(0);

        let mut reset = server.connect();
        reset.get(path);
        service.has_open(1);
        // Closing with something unread is a reset.
        drop(reset);
        service.has_open(0);
    }
    let mut body = server.connect();
    body.say("POST /echo HTTP/1.1\r\nHost: here\r\nContent-Length: 9\r\n\r\nhalf");
    service.has_open(1);
    drop(body);
    service.has_open(0);
}

#[test]
fn connections_beyond_the_limit_wait() {
    let server = start(local().max_connections(1), Tested::default());
    let mut first = server.connect();
    assert!(first.get("/hello").hear().contains("hello"));
    let mut second = server.connect();
    second.get("/hello").0.set_read_timeout(Some(SOON)).unwrap();
    let kind = std::io::Read::read(&mut second.0, &mut [0])
        .unwrap_err()
        .kind();
    assert!(matches!(kind, ErrorKind::WouldBlock | ErrorKind::TimedOut));
    drop(first);
    second.0.set_read_timeout(Some(super::PATIENCE)).unwrap();
    assert!(second.hear().contains("hello"));
}

#[test]
fn a_head_that_is_too_large_is_refused() {
    let server = start(local().max_head(8192), Tested::default());
    let mut client = server.connect();
    let large = format!(
        "GET /hello HTTP/1.1\r\nHost: here\r\nX: {}\r\n\r\n",
        "x".repeat(20_000)
    );
    assert!(client.say(&large).hear_out().starts_with("HTTP/1.1 431 "));
}

#[test]
fn what_runs_is_finished_and_nothing_begins() {
    let service = Tested::default();
    let server = start(local(), service.clone());
    let (mut idle, mut busy) = (server.connect(), server.connect());
    assert!(idle.get("/hello").hear().contains("hello"));
    busy.get("/held");
    service.has_open(1);
    server.end();
    assert_eq!(idle.hear_out(), "");
    // The socket is closed, or is about to be.
    while let Ok(stream) = TcpStream::connect(server.address) {
        drop(stream);
        thread::sleep(Duration::from_millis(2));
    }
    service.gate.open();
    let heard = busy.hear_out();
    assert!(heard.ends_with("held"), "{heard}");
    server.has_ended();
}

#[test]
fn a_client_that_connected_before_the_end_is_answered() {
    let server = start(local(), Tested::default());
    let mut clients: [_; 8] = core::array::from_fn(|_| server.connect());
    let silent = server.connect();
    server.end();
    for client in &mut clients {
        client.get("/hello");
    }
    for client in &mut clients {
        let heard = client.hear_out();
        assert!(heard.contains("hello"), "{heard}");
    }
    server.has_ended();
    drop(silent);
}

/// The only request of a connection.
#[cfg(target_os = "linux")]
const LAST: &str = "GET /hello HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n";

/// Elsewhere a connection that is accepted at the moment of the end is reset.
#[cfg(target_os = "linux")]
#[test]
fn every_connection_that_the_system_accepts_is_answered_or_refused_at_the_end() {
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let server = start(local(), Tested::default());
                let address = server.address;
                let clients: [_; 3] = core::array::from_fn(|_| {
                    thread::spawn(move || {
                        let mut answered = 0;
                        while let Ok(stream) = TcpStream::connect(address) {
                            let heard = super::Raw(stream).say(LAST).hear_out();
                            assert!(heard.contains("hello"), "after {answered}: {heard:?}");
                            answered += 1;
                        }
                    })
                });
                thread::sleep(SOON);
                server.end();
                server.has_ended();
                for client in clients {
                    client.join().expect("an answer each");
                }
            });
        }
    });
}

#[test]
fn a_socket_that_a_supervisor_keeps_accepts_connections_after_the_end() {
    let kept = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = start(
        HttpListener::from_std(Runtime, kept.try_clone().unwrap()),
        Tested::default(),
    );
    let mut client = server.connect();
    assert!(client.get("/hello").hear().contains("hello"));
    server.has_ended();
    let next = start(HttpListener::from_std(Runtime, kept), Tested::default());
    assert!(next.connect().get("/hello").hear().contains("hello"));
}

#[test]
fn what_runs_too_long_is_dropped() {
    let service = Tested::default();
    let server = start(local().shutdown_timeout(SOON), service.clone());
    let (mut held, mut silent) = (server.connect(), server.connect());
    held.get("/held");
    assert!(silent.get("/silent").hear().contains("200 OK"));
    service.has_open(2);
    server.has_ended();
    assert_eq!(held.hear_out(), "");
    silent.hear_out();
    service.has_open(0);
}

#[test]
fn a_connection_costs_nothing_once_it_is_closed() {
    let service = Tested::default();
    let server = start(local(), service.clone());
    for _ in 0..100 {
        let mut client = server.connect();
        assert!(client.get("/silent").hear().contains("200 OK"));
    }
    service.has_open(0);
}
