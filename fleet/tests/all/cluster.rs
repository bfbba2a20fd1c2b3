//! Clusters.

use core::sync::atomic::{AtomicBool, Ordering};
use std::process::Command;
use std::sync::Arc;

use mcp_tokio::RedisStore;
use mcp_tokio::http::{SessionStore, StoredEvent};

use crate::losses::until_it_works;
use crate::on_tokio::{MINUTE, check, create};
use crate::redis_server::{RedisServer, folder, free_port, wait_for};

fn nodes(count: usize, replicas: usize) -> Vec<RedisServer> {
    let node = || {
        let (port, bus) = (free_port().to_string(), free_port().to_string());
        let options = [
            "--port",
            &port,
            "--cluster-enabled",
            "yes",
            "--cluster-port",
            &bus,
            "--cluster-node-timeout",
            "1000",
            "--requirepass",
            "secret",
            "--masterauth",
            "secret",
        ];
        let options = options.map(str::to_owned).to_vec();
        let port = port.parse().unwrap();
        RedisServer::on(port, &folder("cluster", port), options)
    };
    let nodes: Vec<_> = (0..count).map(|_| node()).collect();
    let addresses = nodes
        .iter()
        .map(|node| format!("127.0.0.1:{}", node.port()));
    cli(
        &["create"],
        addresses,
        &["--cluster-replicas", &replicas.to_string(), "--cluster-yes"],
    );
    wait_until_ok(&nodes, count);
    nodes
}

fn wait_until_ok(nodes: &[RedisServer], known: usize) {
    for node in nodes {
        wait_for(|| {
            let info = node.ask(&["-a", "secret", "CLUSTER", "INFO"]);
            let known = format!("cluster_known_nodes:{known}\r");
            info.contains("cluster_state:ok") && info.contains(&known)
        });
    }
}

fn cli(command: &[&str], addresses: impl Iterator<Item = String>, options: &[&str]) -> String {
    let done = Command::new("redis-cli")
        .args(["-a", "secret", "--no-auth-warning", "--cluster"])
        .args(command)
        .args(addresses)
        .args(options)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{said}");
    said
}

fn store(nodes: &[RedisServer]) -> RedisStore {
    let urls = nodes
        .iter()
        .map(|node| node.url().replace("redis://", "redis://:secret@"));
    let urls: Vec<_> = urls.collect();
    let urls: Vec<_> = urls.iter().map(String::as_str).collect();
    RedisStore::cluster(&urls).unwrap()
}

#[tokio::test]
async fn keys_may_be_anywhere() {
    let nodes = nodes(3, 0);
    // One node is enough to find the others.
    for known in [&nodes[..], &nodes[..1]] {
        check(&store(known)).await;
    }
    let store = store(&nodes);
    for number in 0..30 {
        create(&store, &format!("s{number}")).await;
    }
    let sizes = nodes
        .iter()
        .map(|node| node.ask(&["-a", "secret", "DBSIZE"]));
    let sizes: Vec<u32> = sizes.map(|size| size.trim().parse().unwrap()).collect();
    assert!(sizes.iter().all(|size| *size > 0), "{sizes:?}");
}

#[tokio::test]
async fn keys_may_move_while_they_are_in_use() {
    let nodes = nodes(3, 0);
    let store = store(&nodes);
    let mut writers = Vec::new();
    let moved = Arc::new(AtomicBool::new(false));
    for number in 0..20 {
        let (store, moved) = (store.clone(), Arc::clone(&moved));
        writers.push(tokio::spawn(async move {
            let id = format!("s{number}");
            create(&store, &id).await;
            let mut sequence = 0;
            while !moved.load(Ordering::Relaxed) {
                sequence += 1;
                let event = StoredEvent::new(&id, 1, sequence, b"x");
                store.append(event).await.unwrap();
                tokio::time::sleep(core::time::Duration::from_millis(2)).await;
            }
            let replay = store.replay(&id, 1, sequence - 1).await.unwrap().unwrap();
            assert_eq!(replay.messages().len(), 1);
        }));
    }
    tokio::time::sleep(core::time::Duration::from_millis(100)).await;
    let first = nodes[0].ask(&["-a", "secret", "CLUSTER", "MYID"]);
    let address = format!("127.0.0.1:{}", nodes[0].port());
    let weight = format!("{}=0", first.trim());
    let options = [
        "--cluster-weight".to_owned(),
        weight,
        "--cluster-pipeline".into(),
        "1".into(),
    ];
    let done = tokio::task::spawn_blocking(move || {
        let options = options.each_ref().map(String::as_str);
        cli(&["rebalance"], [address].into_iter(), &options)
    });
    done.await.unwrap();
    moved.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(nodes[0].ask(&["-a", "secret", "DBSIZE"]).trim(), "0");
}

#[tokio::test]
async fn a_node_may_be_replaced_by_its_replica() {
    let mut nodes = nodes(6, 1);
    let store = store(&nodes);
    let ids: Vec<_> = (0..20).map(|number| format!("s{number}")).collect();
    for id in &ids {
        create(&store, id).await;
    }
    let primary = |node: &RedisServer| node.ask(&["-a", "secret", "ROLE"]).starts_with("master");
    let first = nodes.iter().position(primary).unwrap();
    let written = nodes[first].ask(&["-a", "secret", "WAIT", "1", "5000"]);
    assert_eq!(written.trim(), "1");
    nodes[first].stop();
    nodes.remove(first);
    wait_for(|| nodes.iter().filter(|node| primary(node)).count() == 3);
    wait_until_ok(&nodes, 6);
    for id in &ids {
        assert_eq!(until_it_works(&store, id).await.unwrap(), b"0");
        store.save(id, 0, b"1", MINUTE).await.unwrap();
    }
    check(&store).await;
}
