//! Tasks, and records of other layouts.

use mcp_tokio::RedisStore;
use mcp_tokio::http::{SessionStore, StoredEvent};
use mcp_tokio::mcp_async::ErrorChain;
use mcp_tokio::mcp_async::tasks::store::{TaskRecord, TaskStore};

use crate::on_tokio::{MINUTE, create, text};
use crate::redis_server::RedisServer;

#[tokio::test]
async fn records_of_another_layout_are_left_alone() {
    let server = RedisServer::start("layout", &[]);
    let store = RedisStore::new(&server.url()).unwrap();
    let owner = create(&store, "s").await;
    let task = TaskRecord::new("t", "boot", 1_000).with_owner(Some("o"));
    TaskStore::create(&store, &task).await.unwrap();
    for key in ["mcp:session:s", "mcp:task:t"] {
        server.ask(&["HSET", key, "v", "0"]);
    }
    let failures = [
        SessionStore::load(&store, "s").await.map(|_| ()),
        store.save("s", 0, b"1", MINUTE).await,
        store.claim("s", &owner, true).await.map(|_| ()),
        store.take_over("s", &owner).await.map(|_| ()),
        store.release("s", &owner).await,
        store.append(StoredEvent::new("s", 0, 1, b"x")).await,
        store.replay("s", 0, 0).await.map(|_| ()),
        SessionStore::create(&store, "s", &owner, b"1", MINUTE).await,
        SessionStore::remove(&store, "s", 0).await,
    ];
    for failure in failures {
        let failure = text(&failure.unwrap_err());
        assert!(failure.contains("by another version"), "{failure}");
    }
    for failure in [
        TaskStore::load(&store, "t").await.map(|_| ()),
        TaskStore::create(&store, &task).await.map(|_| ()),
        store.replace(&task.failed("x")).await.map(|_| ()),
        TaskStore::remove(&store, "t").await,
    ] {
        let failure = ErrorChain(&failure.unwrap_err()).to_string();
        assert!(failure.contains("by another version"), "{failure}");
    }
    assert!(store.list("o", None, 10).await.unwrap().is_empty());
    assert!(store.orphaned(10).await.unwrap().is_empty());
    assert_eq!(server.ask(&["HGET", "mcp:session:s", "r"]).trim(), "0");
    server.ask(&["HSET", "mcp:task:t", "v", "2"]);
    assert_eq!(store.list("o", None, 10).await.unwrap(), [task]);
}

#[tokio::test]
async fn a_damaged_record_is_an_error_of_its_own_task() {
    let server = RedisServer::start("damaged", &[]);
    let store = RedisStore::new(&server.url()).unwrap();
    let task = |id: &str| {
        let task = TaskRecord::new(id, "boot", 1_000);
        task.with_owner(Some("o")).with_ttl(Some(1_000_000))
    };
    for id in ["a", "b"] {
        assert!(TaskStore::create(&store, &task(id)).await.unwrap());
    }
    server.ask(&["HSET", "mcp:task:a", "d", "garbage"]);
    assert!(TaskStore::load(&store, "a").await.is_err());
    for found in [
        store.list("o", None, 10).await,
        store.orphaned(10).await,
        store.expired(2_000_000, 1).await,
    ] {
        assert_eq!(found.unwrap(), [task("b")]);
    }
}

#[tokio::test]
async fn tasks_that_are_gone_leave_nothing() {
    let server = RedisServer::start("tasks", &[]);
    let store = RedisStore::new(&server.url()).unwrap();
    for number in 0..120 {
        let task = TaskRecord::new(format!("t{number:03}"), "boot", 1_000);
        let task = task.with_owner(Some("o")).with_ttl(Some(10));
        assert!(TaskStore::create(&store, &task).await.unwrap());
        // As if it had expired by itself.
        if number < 100 {
            server.ask(&["DEL", &format!("mcp:task:t{number:03}")]);
        }
    }
    assert_eq!(store.list("o", None, 10).await.unwrap().len(), 10);
    assert_eq!(store.orphaned(15).await.unwrap().len(), 15);
    assert_eq!(store.expired(2_000, 200).await.unwrap().len(), 20);
    for task in store.orphaned(1_000).await.unwrap() {
        TaskStore::remove(&store, task.id()).await.unwrap();
    }
    let left = server.ask(&["KEYS", "*"]);
    assert_eq!(left.trim(), "mcp:tasks:2:boots");
}
