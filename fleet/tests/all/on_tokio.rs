//! Stores in a Redis that the test starts.

use core::time::Duration;
use std::path::Path;

use mcp_tokio::RedisStore;
use mcp_tokio::http::{
    Claim, Owner, SessionStore, StoreError, StoreSubscription, StoredEvent, check_session_store,
};
use mcp_tokio::mcp_async::ErrorChain;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair,
};

use crate::redis_server::{RedisServer, folder, free_port};

pub(crate) const MINUTE: Duration = Duration::from_secs(60);

pub(crate) async fn check(store: &RedisStore) {
    check_session_store(store, "sessions").await.unwrap();
    mcp_tokio::mcp_async::tasks::store::check(store)
        .await
        .unwrap();
}

/// A session that a process which lives owns.
pub(crate) async fn create(store: &RedisStore, id: &str) -> Owner {
    let process = format!("process-of-{id}");
    let announced = store.announce(&process, 0, b"", MINUTE).await.unwrap();
    let owner = Owner::new(process, announced.lease);
    store.create(id, &owner, b"0", MINUTE).await.unwrap();
    owner
}

pub(crate) fn text(error: &StoreError) -> String {
    ErrorChain(error).to_string()
}

#[tokio::test]
async fn it_is_as_every_store_must_be() {
    let server = RedisServer::start("check", &[]);
    let store = RedisStore::new(&server.url()).unwrap();
    check(&store).await;
    // Another prefix or database is another store.
    let owner = create(&store, "s").await;
    let numbered = RedisStore::new(&format!("{}/1", server.url())).unwrap();
    for other in [store.clone().prefix("other:"), numbered] {
        assert_eq!(other.load("s").await.unwrap(), None);
        let announced = other.announce("b", 0, b"", MINUTE).await.unwrap();
        assert_eq!(announced.processes.len(), 1);
        let mut subscription = other.subscribe().await.unwrap();
        store.publish(b"not here").await.unwrap();
        other.publish(b"here").await.unwrap();
        assert_eq!(subscription.next().await.unwrap(), b"here");
    }
    store.withdraw(&owner).await.unwrap();
}

#[tokio::test]
async fn it_may_be_a_socket_of_unix() {
    let name = format!("mcp-redis-{}.sock", std::process::id());
    let path = std::env::temp_dir().join(name);
    let path = path.to_str().unwrap();
    let options = ["--unixsocket", path, "--requirepass", "secret"];
    let server = RedisServer::start("unix", &options);
    for scheme in ["unix", "redis+unix"] {
        let store = RedisStore::new(&format!("{scheme}://{path}?pass=secret&db=2")).unwrap();
        check(&store).await;
    }
    drop(server);
    std::fs::remove_file(path).unwrap();
}

/// Makes certificates for a store, and for its clients, in a folder.
fn certify(folder: &Path) -> [Vec<u8>; 3] {
    let mut root = CertificateParams::new(Vec::new()).unwrap();
    root.distinguished_name = DistinguishedName::new();
    root.distinguished_name.push(DnType::CommonName, "root");
    root.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let root = CertifiedIssuer::self_signed(root, KeyPair::generate().unwrap()).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = CertificateParams::new(vec!["127.0.0.1".into()]).unwrap();
    let certificate = certificate.signed_by(&key, &root).unwrap();
    for (name, pem) in [
        ("root", root.pem()),
        ("certificate", certificate.pem()),
        ("key", key.serialize_pem()),
    ] {
        std::fs::write(folder.join(name), pem).unwrap();
    }
    [root.pem(), certificate.pem(), key.serialize_pem()].map(String::into_bytes)
}

#[tokio::test]
async fn it_may_speak_tls() {
    for asks in ["no", "yes"] {
        let port = free_port();
        let folder = folder("tls", port);
        let [root, chain, key] = certify(&folder);
        let path = |name| folder.join(name).to_str().unwrap().to_owned();
        let (port_option, certificates) = (port.to_string(), [path("certificate"), path("key")]);
        let root_path = path("root");
        let options = [
            "--port",
            "0",
            "--tls-port",
            &port_option,
            "--tls-cert-file",
            &certificates[0],
            "--tls-key-file",
            &certificates[1],
            "--tls-ca-cert-file",
            &root_path,
            "--tls-auth-clients",
            asks,
        ];
        let options = options.map(str::to_owned).to_vec();
        let _server = RedisServer::on(port, &folder, options);
        let url = format!("rediss://127.0.0.1:{port}");
        let store = RedisStore::new(&url).unwrap();
        let unknown = text(&store.load("s").await.unwrap_err());
        assert!(
            unknown.contains("invalid peer certificate: UnknownIssuer"),
            "{unknown}"
        );
        let store = match asks {
            "no" => store.roots(&root).unwrap(),
            _ => {
                let anonymous = store.clone().roots(&root).unwrap();
                anonymous.load("s").await.unwrap_err();
                store.roots_and_identity(&root, &chain, &key).unwrap()
            }
        };
        check(&store).await;
    }
}

#[tokio::test]
async fn it_may_ask_for_a_password() {
    let user = "--user mcp on >a:b@c ~mcp:* &mcp:* +@all -@admin +role";
    let user: Vec<_> = user.split(' ').collect();
    let server = RedisServer::start(
        "password",
        &[&["--requirepass", "other"][..], &user].concat(),
    );
    let refused = async |url: &str| {
        let store = RedisStore::new(url).unwrap();
        let refused = text(&store.load("s").await.unwrap_err());
        assert!(!refused.contains("secret"), "{refused}");
        let shown = format!("{store:?}");
        assert!(
            !shown.contains("secret") && !shown.contains("mcp@"),
            "{shown}"
        );
        refused
    };
    let said = refused(&server.url()).await;
    assert!(said.contains("NOAUTH"), "{said}");
    let said = refused(&server.url().replace("redis://", "redis://:secret@")).await;
    assert!(said.contains("WRONGPASS"), "{said}");
    for login in ["mcp:a%3Ab%40c@", ":other@"] {
        let url = server
            .url()
            .replace("redis://", &format!("redis://{login}"))
            + "/3";
        check(&RedisStore::new(&url).unwrap()).await;
    }
}

#[test]
fn addresses_that_cannot_be_are_refused() {
    for url in [
        "",
        "127.0.0.1",
        "http://127.0.0.1",
        "redis://",
        "rediss://127.0.0.1/#insecure",
        "redis://127.0.0.1/x",
    ] {
        assert!(RedisStore::new(url).is_err(), "{url}");
        assert!(RedisStore::cluster(&[url]).is_err(), "{url}");
        assert!(
            RedisStore::sentinel(&[url], "redis://name").is_err(),
            "{url}"
        );
        assert!(
            RedisStore::sentinel(&["redis://127.0.0.1"], url).is_err(),
            "{url}"
        );
    }
    assert!(RedisStore::cluster(&[]).is_err());
    assert!(RedisStore::cluster(&["unix:///x"]).is_err());
    assert!(RedisStore::cluster(&["redis://:a@127.0.0.1", "redis://127.0.0.2"]).is_err());
    assert!(RedisStore::sentinel(&["redis://127.0.0.1"], "unix:///x").is_err());
    assert!(
        RedisStore::new("redis://127.0.0.1")
            .unwrap()
            .roots(b"")
            .is_err()
    );
    assert!(
        RedisStore::new("rediss://127.0.0.1")
            .unwrap()
            .roots(b"")
            .is_err()
    );
}

#[tokio::test]
async fn the_oldest_events_go() {
    let server = RedisServer::start("oldest", &[]);
    let store = RedisStore::new(&server.url()).unwrap().max_events(3, 100);
    let replayed = async |session, stream, after| {
        let replay = store.replay(session, stream, after).await.unwrap();
        replay.map(|replay| replay.messages().len())
    };
    let append = async |session, stream, sequence, message: &[u8]| {
        let event = StoredEvent::new(session, stream, sequence, message);
        store.append(event).await.unwrap();
    };
    create(&store, "s").await;
    for sequence in 1..=5 {
        append("s", 0, sequence, b"m").await;
    }
    assert_eq!(replayed("s", 0, 1).await, None);
    assert_eq!(replayed("s", 0, 2).await, Some(3));
    let long = [b'x'; 60];
    let owner = create(&store, "t").await;
    append("t", 0, 1, &long).await;
    append("t", 7, 1, &long).await;
    assert_eq!(replayed("t", 0, 0).await, None);
    assert_eq!(replayed("t", 7, 0).await, Some(1));
    append("t", 0, 2, &long).await;
    assert_eq!(replayed("t", 7, 0).await, None);
    let taken = store.take_over("t", &owner).await.unwrap().unwrap();
    assert_eq!(taken.last_event, 2, "it continues from there");
    append_too_long(&store).await;
}

/// An event that is longer than all may be is not kept, but its number is.
async fn append_too_long(store: &RedisStore) {
    let owner = create(store, "u").await;
    let event = StoredEvent::new("u", 0, 1, &[b'x'; 101]);
    store.append(event).await.unwrap();
    assert!(store.replay("u", 0, 0).await.unwrap().is_none());
    let taken = store.take_over("u", &owner).await.unwrap().unwrap();
    assert_eq!(taken.last_event, 1);
}

#[tokio::test]
async fn what_is_not_used_expires() {
    let server = RedisServer::start("expiry", &[]);
    let short = Duration::from_millis(200);
    let store = RedisStore::new(&server.url()).unwrap();
    let owner = create(&store, "s").await;
    store.save("s", 0, b"1", short).await.unwrap();
    store
        .append(StoredEvent::new("s", 1, 1, b"m"))
        .await
        .unwrap();
    // A save keeps it for longer, and its events with it; an event does not.
    store.save("s", 0, b"1", 10 * short).await.unwrap();
    tokio::time::sleep(2 * short).await;
    assert!(store.replay("s", 1, 0).await.unwrap().is_some());
    store.save("s", 0, b"1", short).await.unwrap();
    store
        .append(StoredEvent::new("s", 1, 2, b"m"))
        .await
        .unwrap();
    tokio::time::sleep(2 * short).await;
    assert_eq!(
        store.claim("s", &owner, true).await.unwrap(),
        Claim::Unknown
    );
    assert!(store.replay("s", 1, 0).await.unwrap().is_none());
    let late = store.append(StoredEvent::new("s", 1, 3, b"m")).await;
    assert!(matches!(late, Err(StoreError::Gone)));
    assert!(matches!(
        store.save("s", 0, b"2", short).await,
        Err(StoreError::Gone)
    ));
    // The leases of processes end by the clock of the store.
    store.withdraw(&owner).await.unwrap();
    let announced = store.announce("a", 0, b"", short).await.unwrap();
    let first = Owner::new("a", announced.lease);
    assert_eq!(
        store
            .announce("b", 0, b"", MINUTE)
            .await
            .unwrap()
            .processes
            .len(),
        2
    );
    tokio::time::sleep(2 * short).await;
    assert_eq!(
        store
            .announce("b", 0, b"", short)
            .await
            .unwrap()
            .processes
            .len(),
        1
    );
    assert_eq!(
        store.claim("s", &first, true).await.unwrap(),
        Claim::Unannounced
    );
    let again = store.announce("a", first.lease, b"", short).await.unwrap();
    assert!(again.lease > first.lease);
    tokio::time::sleep(Duration::from_millis(2_500)).await;
    assert_eq!(server.ask(&["DBSIZE"]).trim(), "0", "nothing is left");
}

#[tokio::test]
async fn calls_share_a_connection() {
    let server = RedisServer::start("share", &[]);
    let store = RedisStore::new(&server.url()).unwrap();
    let record = vec![b'r'; 100_000];
    let owner = Owner::new("a", 1);
    let calls = (0..200).map(|number| {
        let (store, record, owner) = (store.clone(), record.clone(), owner.clone());
        tokio::spawn(async move {
            let id = format!("s{number}");
            store.create(&id, &owner, &record, MINUTE).await.unwrap();
            assert_eq!(store.load(&id).await.unwrap().unwrap(), record);
        })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await.unwrap();
    }
    let clients = server.ask(&["CLIENT", "LIST"]);
    assert_eq!(clients.lines().count(), 2, "one of them lists: {clients}");
}

#[tokio::test]
async fn a_full_store_can_be_emptied() {
    let server = RedisServer::start("full", &[]);
    let store = RedisStore::new(&server.url()).unwrap();
    let owner = create(&store, "s").await;
    let record = vec![b'r'; 1 << 20];
    let ids = ["s", "t", "u"];
    for id in &ids[1..] {
        store.create(id, &owner, &record, MINUTE).await.unwrap();
    }
    server.ask(&["CONFIG", "SET", "maxmemory", "1mb"]);
    let full = store.create("v", &owner, b"0", MINUTE).await.unwrap_err();
    assert!(text(&full).contains("OOM"), "{full:?}");
    let refused = store.append(StoredEvent::new("s", 0, 1, b"x")).await;
    assert!(text(&refused.unwrap_err()).contains("OOM"));
    // A process lives on, and takes sessions over and ends them.
    let other = store.announce("other", 0, b"", MINUTE).await.unwrap();
    let other = Owner::new("other", other.lease);
    store.withdraw(&owner).await.unwrap();
    let claimed = store.claim("s", &other, true).await.unwrap();
    assert_eq!(claimed, Claim::Own(0));
    assert!(store.take_over("s", &other).await.unwrap().is_some());
    // A store that forgot the scripts takes them although it is full.
    server.ask(&["SCRIPT", "FLUSH"]);
    store.release("s", &other).await.unwrap();
    for id in ids {
        store.remove(id, u32::from(id == "s")).await.unwrap();
    }
    store.withdraw(&other).await.unwrap();
    assert_eq!(server.ask(&["DBSIZE"]).trim(), "0");
}

/// AU-17, SH-43
#[tokio::test]
async fn verified_senders_are_known_at_every_process() {
    let server = RedisServer::start("pairs", &[]);
    let store = RedisStore::new(&server.url()).unwrap();
    crate::pairs::check(mcp_tokio::Runtime, store.clone(), store).await;
}
