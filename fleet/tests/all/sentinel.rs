//! A primary, a replica and three Sentinels.

use mcp_tokio::RedisStore;
use mcp_tokio::http::{SessionStore, StoreSubscription};

use crate::losses::until_it_works;
use crate::on_tokio::{check, create, text};
use crate::redis_server::{RedisServer, ask, folder, free_port, wait_for};

fn sentinel(primary: u16) -> RedisServer {
    let port = free_port();
    let folder = folder("sentinel", port);
    let file = folder.join("sentinel.conf");
    let text = format!(
        "port {port}\nrequirepass watch\nsentinel sentinel-pass watch\n\
         sentinel monitor My-Primary 127.0.0.1 {primary} 2\n\
         sentinel auth-pass My-Primary secret\n\
         sentinel down-after-milliseconds My-Primary 500\n\
         sentinel failover-timeout My-Primary 2000\n"
    );
    std::fs::write(&file, text).unwrap();
    let options = vec![file.to_str().unwrap().to_owned(), "--sentinel".to_owned()];
    RedisServer::on(port, &folder, options)
}

#[tokio::test]
async fn it_follows_the_primary() {
    let password = ["--requirepass", "secret", "--masterauth", "secret"];
    let mut primary = RedisServer::start("primary", &password);
    let of = primary.port().to_string();
    let replicates = ["--replicaof", "127.0.0.1", &of];
    let replica = RedisServer::start("replica", &[&password[..], &replicates].concat());
    wait_for(|| {
        let role = ask(replica.port(), &["-a", "secret", "ROLE"]);
        role.contains("connected")
    });
    let mut sentinels = [(); 3].map(|()| sentinel(primary.port()));
    for sentinel in &sentinels {
        wait_for(|| {
            let said = sentinel.ask(&["-a", "watch", "SENTINEL", "MASTER", "My-Primary"]);
            let mut lines = said.lines();
            let mut field = |name| {
                lines.find(|line| *line == name);
                lines.next().unwrap_or("").to_owned()
            };
            field("num-slaves") == "1" && field("num-other-sentinels") == "2"
        });
    }
    let urls = sentinels
        .each_ref()
        .map(|it| it.url().replace("redis://", "redis://:watch@"));
    let urls = urls.each_ref().map(String::as_str);
    let unknown = RedisStore::sentinel(&urls, "redis://:secret@other").unwrap();
    let unknown = text(&unknown.load("s").await.unwrap_err());
    assert!(
        unknown.contains("knows no primary of this name"),
        "{unknown}"
    );
    let store = RedisStore::sentinel(&urls, "redis://:secret@My-Primary/1").unwrap();
    check(&store).await;
    let owner = create(&store, "s").await;
    // A Sentinel that does not answer delays nothing, and two are enough.
    sentinels[0].signal("-STOP");
    let other = RedisStore::sentinel(&urls, "redis://:secret@My-Primary/1").unwrap();
    other.load("s").await.unwrap();
    sentinels[0].signal("-CONT");
    sentinels[0].stop();
    // The write has reached the replica before the primary ends.
    let written = primary.ask(&["-a", "secret", "WAIT", "1", "5000"]);
    assert_eq!(written.trim(), "1");
    let mut subscription = store.subscribe().await.unwrap();
    primary.stop();
    subscription.next().await.unwrap_err();
    assert_eq!(until_it_works(&store, "s").await.unwrap(), b"0");
    store
        .announce(&owner.process, owner.lease, b"", crate::on_tokio::MINUTE)
        .await
        .unwrap();
    let mut subscription = store.subscribe().await.unwrap();
    store.publish(b"again").await.unwrap();
    assert_eq!(subscription.next().await.unwrap(), b"again");
    check(&store).await;
}

/// A primary that becomes a replica while its connections stay.
#[tokio::test]
async fn a_primary_that_is_none_any_more_is_left() {
    let first = RedisServer::start("first", &[]);
    let second = RedisServer::start("second", &[]);
    let store = RedisStore::new(&first.url()).unwrap();
    let owner = create(&store, "s").await;
    first.ask(&["REPLICAOF", "127.0.0.1", &second.port().to_string()]);
    let refused = store.save("s", 0, b"1", crate::on_tokio::MINUTE).await;
    let refused = text(&refused.unwrap_err());
    assert!(refused.contains("READONLY"), "{refused}");
    first.ask(&["REPLICAOF", "NO", "ONE"]);
    store
        .create("s", &owner, b"1", crate::on_tokio::MINUTE)
        .await
        .unwrap();
}
