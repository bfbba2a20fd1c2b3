//! Slow and faulty stores.

use core::time::Duration;

use mcp_async::tasks::server::Tasks;
use mcp_async::tasks::store::MemoryTaskStore;

use super::stores::{Fault, Hostile};
use super::support::{client, create, pass, server, status};

/// TK-61
#[test]
fn a_slow_store_does_not_lose_the_process() {
    let shared = MemoryTaskStore::new();
    let slow = Hostile::over(shared.clone(), Fault::Slow(900), usize::MAX / 2);
    let fast = Hostile::over(shared, Fault::Fails, usize::MAX / 2);
    let (first, running) = server(Tasks::new().store(slow.clone()));
    let (second, _) = server(Tasks::new().store(fast));
    let (mut here, mut there) = (client(&first), client(&second));
    let id = create(&mut here, "job", r#"{"steps":1000}"#);
    slow.fail_after(0);
    for turn in 0..200 {
        pass(100);
        assert_eq!(status(&mut there, &id), "working", "turn {turn}");
    }
    assert_eq!(running.get(), 1);
    crate::sim::end();
}

#[test]
fn a_record_that_cannot_be_removed_does_not_keep_others() {
    let shared = MemoryTaskStore::new();
    let stuck = Hostile::over(shared.clone(), Fault::Stuck, usize::MAX / 2);
    let ttl = Some(Duration::from_secs(1));
    let (server, _) = server(Tasks::new().store(stuck).ttl(ttl));
    let mut wire = client(&server);
    for _ in 0..10 {
        create(&mut wire, "job", "{}");
        pass(10);
    }
    for _ in 0..9 {
        pass(500);
    }
    assert!(shared.is_empty());
    crate::sim::end();
}

#[test]
fn a_store_that_keeps_removed_records_is_not_asked_without_a_pause() {
    let kept = Hostile::new(Fault::Keeps, usize::MAX / 2);
    let ttl = Some(Duration::from_secs(1));
    let (server, _) = server(Tasks::new().store(kept).ttl(ttl));
    let mut wire = client(&server);
    for _ in 0..300 {
        create(&mut wire, "job", "{}");
    }
    // It returns.
    for _ in 0..10 {
        pass(500);
    }
    crate::sim::end();
}
