//! Stores in a Redis that the test starts.

use core::time::Duration;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Instant;

use mcp_tokio::RedisStore;
use mcp_tokio::http::{
    Claim, EventStore, Relay, SessionStore, StoreError, StoredEvent, check_event_store,
    check_relay, check_session_store,
};
use mcp_tokio::mcp_async::ErrorChain;

use crate::redis_server::RedisServer;

const MINUTE: Duration = Duration::from_secs(60);

#[tokio::test]
async fn it_is_as_every_store_must_be() {
    let server = RedisServer::start("check", &[]);
    let store = RedisStore::new(&server.url()).unwrap();
    let checks = tokio::join!(
        check_session_store(&store, "sessions"),
        check_event_store(&store, "events"),
        check_relay(&store, &store, "relay"),
    );
    checks.0.unwrap();
    checks.1.unwrap();
    checks.2.unwrap();
    mcp_tokio::mcp_async::tasks::store::check(&store)
        .await
        .unwrap();
    // Another prefix is another store.
    let other = store.clone().prefix("other:");
    store.create("s", b"0", MINUTE).await.unwrap();
    assert_eq!(other.load("s").await.unwrap(), None);
}

/// AU-17, SH-43
#[tokio::test]
async fn verified_senders_are_known_at_every_process() {
    let server = RedisServer::start("pairs", &[]);
    let store = RedisStore::new(&server.url()).unwrap();
    crate::pairs::check::<mcp_tokio::Runtime, _, _>(std::sync::Arc::new(store.clone()), store)
        .await;
}

#[tokio::test]
async fn it_may_ask_for_a_password() {
    let server = RedisServer::start("password", &["--requirepass", "a:b@c"]);
    let refused = RedisStore::new(&server.url()).unwrap().load("s").await;
    assert!(text(&refused.unwrap_err()).contains("NOAUTH"));
    let url = server.url().replace("redis://", "redis://:a%3Ab%40c@") + "/3";
    let store = RedisStore::new(&url).unwrap();
    store.create("s", b"0", MINUTE).await.unwrap();
    assert_eq!(store.load("s").await.unwrap().unwrap(), b"0");
    let url = server.url().replace("redis://", "redis://:wrong@");
    let refused = RedisStore::new(&url).unwrap().load("s").await;
    assert!(text(&refused.unwrap_err()).contains("WRONGPASS"));
    for url in [
        "",
        "127.0.0.1",
        "http://127.0.0.1",
        "rediss://127.0.0.1",
        "unix:///redis",
    ] {
        assert!(RedisStore::new(url).is_err(), "{url}");
    }
}

#[tokio::test]
async fn the_oldest_events_go() {
    let server = RedisServer::start("oldest", &[]);
    let store = RedisStore::new(&server.url()).unwrap().max_events(3, 100);
    let replayed = async |session, stream, after| {
        let replay = store.replay(session, stream, after).await.unwrap();
        replay.map(|replay| replay.messages().len())
    };
    for sequence in 1..=5 {
        store
            .append(StoredEvent::new("s", 0, sequence, b"m"))
            .await
            .unwrap();
    }
    assert_eq!(replayed("s", 0, 1).await, None);
    assert_eq!(replayed("s", 0, 2).await, Some(3));
    let long = [b'x'; 60];
    store
        .append(StoredEvent::new("t", 0, 1, &long))
        .await
        .unwrap();
    store
        .append(StoredEvent::new("t", 7, 1, &long))
        .await
        .unwrap();
    assert_eq!(replayed("t", 0, 0).await, None);
    assert_eq!(replayed("t", 7, 0).await, Some(1));
    store
        .append(StoredEvent::new("t", 0, 2, &long))
        .await
        .unwrap();
    assert_eq!(replayed("t", 7, 0).await, None);
    assert_eq!(
        store.begin_epoch("t", 0).await.unwrap(),
        2,
        "it continues from there"
    );
}

#[tokio::test]
async fn what_is_not_used_expires() {
    let server = RedisServer::start("expiry", &[]);
    let short = Duration::from_millis(100);
    let store = RedisStore::new(&server.url()).unwrap().retention(short);
    store.create("s", b"0", short).await.unwrap();
    store
        .append(StoredEvent::new("s", 1, 1, b"m"))
        .await
        .unwrap();
    assert_eq!(store.announce("a", short).await.unwrap(), ["a"]);
    assert_eq!(store.claim("s", "a").await.unwrap(), Claim::Own);
    assert_eq!(
        store.claim("s", "b").await.unwrap(),
        Claim::Other("a".into())
    );
    // A save and a takeover keep it for longer.
    store.save("s", 0, b"1", 5 * short).await.unwrap();
    tokio::time::sleep(2 * short).await;
    assert_eq!(store.claim("s", "b").await.unwrap(), Claim::Own);
    assert!(!store.send("a", b"late").await.unwrap());
    assert!(store.replay("s", 1, 0).await.unwrap().is_none());
    assert_eq!(store.take_over("s").await.unwrap().unwrap().epoch(), 1);
    tokio::time::sleep(4 * short).await;
    store.check("s", 1).await.unwrap();
    tokio::time::sleep(2 * short).await;
    assert!(matches!(store.check("s", 1).await, Err(StoreError::Gone)));
    assert!(matches!(
        store.save("s", 1, b"2", short).await,
        Err(StoreError::Gone)
    ));
}

#[tokio::test]
async fn calls_share_a_connection() {
    let server = RedisServer::start("share", &[]);
    let store = RedisStore::new(&server.url()).unwrap();
    let record = vec![b'r'; 100_000];
    let calls = (0..200).map(|number| {
        let (store, record) = (store.clone(), record.clone());
        tokio::spawn(async move {
            let id = format!("s{number}");
            store.create(&id, &record, MINUTE).await.unwrap();
            assert_eq!(store.load(&id).await.unwrap().unwrap(), record);
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap();
    }
}

#[tokio::test]
async fn a_lost_store_is_an_error_until_it_is_back() {
    let options = ["--appendonly", "yes", "--appendfsync", "always"];
    let mut server = RedisServer::start("lost", &options);
    let store = RedisStore::new(&server.url()).unwrap();
    store.create("s", b"0", MINUTE).await.unwrap();
    server.stop();
    for _ in 0..20 {
        let began = Instant::now();
        let lost = store.load("s").await.unwrap_err();
        assert!(text(&lost).contains("Redis cannot be reached"), "{lost:?}");
        assert!(began.elapsed() < Duration::from_secs(1));
    }
    server.resume();
    let began = Instant::now();
    while let Err(error) = store.load("s").await {
        assert!(began.elapsed() < Duration::from_secs(5), "{error:?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(store.load("s").await.unwrap().unwrap(), b"0");
}

/// What is no store: it accepts a connection, reads a command, and sends this.
fn stranger(reply: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("redis://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        // The first two connections are all that the test makes.
        for stream in listener.incoming().take(2) {
            let mut stream = stream.unwrap();
            let _ = stream.read(&mut [0; 1024]);
            let _ = stream.write_all(reply);
            let _ = stream.read_to_end(&mut Vec::new());
        }
    });
    url
}

#[tokio::test]
async fn no_call_waits_for_longer_than_it_may() {
    let limit = Duration::from_millis(200);
    for (reply, expected) in [
        (&b""[..], "did not reply within 200ms"),
        (b"$100\r\nhalf", "did not reply within 200ms"),
        (
            b"HTTP/1.1 400 Bad Request\r\n\r\n",
            "does not speak the protocol",
        ),
        (b":12\r\n", "of another kind"),
        (b"*1\r\n:1\r\n", "of another kind"),
        (b"-ERR not now\r\n", "not now"),
    ] {
        let store = RedisStore::new(&stranger(reply)).unwrap().timeout(limit);
        let began = Instant::now();
        let failed = text(&store.load("s").await.unwrap_err());
        assert!(failed.contains(expected), "{failed}");
        assert!(began.elapsed() < 5 * limit);
    }
}

fn text(error: &StoreError) -> String {
    ErrorChain(error).to_string()
}
