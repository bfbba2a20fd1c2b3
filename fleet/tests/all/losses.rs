//! Stores that are away, stop or are something else.

use core::time::Duration;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Instant;

use mcp_tokio::RedisStore;
use mcp_tokio::http::{SessionStore, StoreSubscription, StoredEvent};

use crate::on_tokio::{create, text};
use crate::redis_server::RedisServer;

/// Waits until the store works, and returns what it has.
pub(crate) async fn until_it_works(store: &RedisStore, id: &str) -> Option<Vec<u8>> {
    let began = Instant::now();
    loop {
        match store.load(id).await {
            Ok(found) => return found,
            Err(error) => assert!(began.elapsed() < Duration::from_secs(20), "{error:?}"),
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn a_lost_store_is_an_error_until_it_is_back() {
    let options = ["--appendonly", "yes", "--appendfsync", "always"];
    let mut server = RedisServer::start("lost", &options);
    let store = RedisStore::new(&server.url()).unwrap();
    create(&store, "s").await;
    let mut subscription = store.subscribe().await.unwrap();
    server.stop();
    let ended = text(&subscription.next().await.unwrap_err());
    assert!(ended.contains("the connection was closed"), "{ended}");
    assert!(store.subscribe().await.is_err());
    for _ in 0..20 {
        let began = Instant::now();
        let lost = store.load("s").await.unwrap_err();
        assert!(text(&lost).contains("Redis cannot be reached"), "{lost:?}");
        assert!(began.elapsed() < Duration::from_secs(1));
    }
    server.resume();
    assert_eq!(until_it_works(&store, "s").await.unwrap(), b"0");
    let mut subscription = store.subscribe().await.unwrap();
    store.publish(b"again").await.unwrap();
    assert_eq!(subscription.next().await.unwrap(), b"again");
}

#[tokio::test]
async fn a_connection_that_was_closed_meanwhile_costs_no_call() {
    let server = RedisServer::start("closed", &[]);
    let store = RedisStore::new(&server.url()).unwrap();
    create(&store, "s").await;
    for _ in 0..3 {
        server.ask(&["CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"]);
        // The client sees an error.
        tokio::time::sleep(Duration::from_millis(200)).await;
        store.load("s").await.unwrap();
    }
}

/// Passes on what comes, until it resets all connections.
fn relay(port: u16) -> (String, std::sync::mpsc::Sender<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    let (sender, resets) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let mut client = client.unwrap();
            let server = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
            let (mut to, mut from) = (server.try_clone().unwrap(), server);
            let mut back = client.try_clone().unwrap();
            let answers = std::thread::spawn(move || {
                let _ = std::io::copy(&mut from, &mut back);
            });
            let mut first = [0; 1];
            loop {
                // A socket that is closed with bytes that were not read resets its connection.
                if client.peek(&mut first).unwrap_or(0) == 0 || resets.try_recv().is_ok() {
                    break;
                }
                let mut portion = [0; 4096];
                let count = client.read(&mut portion).unwrap_or(0);
                to.write_all(&portion[..count]).unwrap();
            }
            let _ = to.shutdown(std::net::Shutdown::Both);
            answers.join().unwrap();
        }
    });
    (url, sender)
}

#[tokio::test]
async fn a_reset_costs_one_call() {
    let server = RedisServer::start("reset", &[]);
    let (url, resets) = relay(server.port());
    let store = RedisStore::new(&url).unwrap();
    create(&store, "s").await;
    for _ in 0..3 {
        resets.send(()).unwrap();
        let began = Instant::now();
        let reset = text(&store.load("s").await.unwrap_err());
        assert!(reset.contains("Redis cannot be reached"), "{reset}");
        assert_eq!(store.load("s").await.unwrap().unwrap(), b"0");
        assert!(began.elapsed() < Duration::from_secs(1));
    }
}

#[tokio::test]
async fn a_store_that_stops_is_late_and_then_away() {
    let server = RedisServer::start("stopped", &[]);
    let limit = Duration::from_millis(500);
    let store = RedisStore::new(&server.url()).unwrap().timeout(limit);
    create(&store, "s").await;
    let mut subscription = store.subscribe().await.unwrap();
    server.signal("-STOP");
    let began = Instant::now();
    let late = store
        .append(StoredEvent::new("s", 0, 1, b"x"))
        .await
        .unwrap_err();
    assert!(
        text(&late).contains("did not reply within 500ms"),
        "{late:?}"
    );
    assert!(subscription.next().await.is_err(), "no echo");
    // One of many calls tries, the others fail at once.
    let mut fast = 0;
    for _ in 0..20 {
        let began = Instant::now();
        store.load("s").await.unwrap_err();
        fast += usize::from(began.elapsed() < limit / 10);
    }
    assert!(fast >= 15, "{fast}");
    assert!(began.elapsed() < 20 * limit);
    server.signal("-CONT");
    assert_eq!(until_it_works(&store, "s").await.unwrap(), b"0");
}

#[tokio::test]
async fn a_subscription_that_waits_for_long_is_not_lost() {
    let server = RedisServer::start("echo", &[]);
    let limit = Duration::from_millis(100);
    let store = RedisStore::new(&server.url()).unwrap().timeout(limit);
    let mut subscription = store.subscribe().await.unwrap();
    let waits = tokio::time::timeout(10 * limit, subscription.next()).await;
    assert!(waits.is_err(), "nothing was published");
    store.publish(b"x").await.unwrap();
    assert_eq!(subscription.next().await.unwrap(), b"x");
    // A channel that nothing arrives on, as with a server that is no primary any more.
    server.ask(&["CLIENT", "KILL", "TYPE", "pubsub"]);
    subscription.next().await.unwrap_err();
}

#[tokio::test]
async fn what_is_not_read_in_time_is_lost() {
    let server = RedisServer::start("unread", &[]);
    let store = RedisStore::new(&server.url()).unwrap();
    let mut subscription = store.subscribe().await.unwrap();
    for _ in 0..5_000 {
        store.publish(b"x").await.unwrap();
    }
    let mut read = 0;
    let lost = loop {
        match subscription.next().await {
            Ok(_) => read += 1,
            Err(lost) => break text(&lost),
        }
    };
    assert!(lost.contains("not read in time"), "{lost}");
    assert!(read < 5_000, "{read}");
}

/// A server that is no store: it accepts connections, and answers what it reads with these replies, the last one
/// again and again.
fn stranger(replies: &'static [&'static [u8]]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().take(2) {
            let mut stream = stream.unwrap();
            let mut replies = replies.iter();
            let mut reply: &[u8] = b"";
            while let Ok(1..) = stream.read(&mut [0; 1024]) {
                reply = replies.next().unwrap_or(&reply);
                if stream.write_all(reply).is_err() {
                    break;
                }
            }
        }
    });
    url
}

#[tokio::test]
async fn no_call_waits_for_longer_than_it_may() {
    let limit = Duration::from_millis(200);
    for (replies, expected) in STRANGERS {
        let store = RedisStore::new(&stranger(replies)).unwrap().timeout(limit);
        let began = Instant::now();
        let failed = text(&store.load("s").await.unwrap_err());
        assert!(failed.contains(expected), "{failed}, not {expected}");
        assert!(began.elapsed() < 5 * limit);
    }
}

const HELLO: &[u8] = b"%1\r\n+server\r\n+redis\r\n";

/// Replies of a server, and the text of the error about it.
const STRANGERS: &[(&[&[u8]], &str)] = &[
    (&[b""], "did not reply within 200ms"),
    (&[b"$100\r\nhalf"], "did not reply within 200ms"),
    (
        &[b"HTTP/1.1 400 Bad Request\r\n\r\n"],
        "does not speak the protocol",
    ),
    (
        &[HELLO, b"HTTP/1.1 400\r\n\r\n"],
        "does not speak the protocol",
    ),
    (&[b"-ERR not now\r\n"], "ERR not now"),
    (&[b"-ERR unknown command `HELLO`\r\n"], "knows no HELLO"),
    (&[HELLO, b""], "did not reply within 200ms"),
    (&[HELLO, b"$100\r\nhalf"], "did not reply within 200ms"),
    (&[HELLO, b":12\r\n"], "of another kind"),
    (&[HELLO, b"*1\r\n:1\r\n"], "of another kind"),
    (&[HELLO, b"*2\r\n:1\r\n:1\r\n"], "by another version"),
    (&[HELLO, b"*2\r\n$1\r\n1\r\n:1\r\n"], "of another kind"),
    (&[HELLO, b"-LOADING not now\r\n"], "LOADING not now"),
];
