//! What bounds legacy sessions: their number, their streams, their time.

use core::time::Duration;

use crate::legacy::{Session, call, initialize, post, server};
use crate::sim::settle;
use crate::support::{advance, send};

#[test]
fn sessions_are_bounded() {
    let service = server().http().max_sessions(2).into_service();
    let one = Session::open(&service, "2025-11-25");
    let _two = Session::open(&service, "2025-11-25");
    let body = initialize("2025-11-25");
    let refused = send(&service, post(&body));
    assert_eq!(refused.status, 503);
    assert_eq!(refused.header("retry-after"), "5");
    assert_eq!(one.delete().status, 204);
    settle();
    Session::open(&service, "2025-11-25");
}

#[test]
fn streams_are_bounded() {
    let service = server().http().max_streams(2).into_service();
    let session = Session::open(&service, "2025-11-25");
    let _one = session.post(&call(1, "never"));
    let _two = session.post(&call(2, "never"));
    let refused = session.post(&call(3, "echo"));
    assert_eq!(refused.status, 503);
    assert_eq!(refused.header("retry-after"), "5");
}

#[test]
fn idle_sessions_end() {
    let ping = r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#;
    let service = server()
        .http()
        .idle_timeout(Duration::from_secs(60))
        .into_service();
    let session = Session::open(&service, "2025-11-25");
    advance(Duration::from_secs(40));
    assert_eq!(session.post(ping).status, 200);
    advance(Duration::from_secs(40));
    assert_eq!(session.post(ping).status, 200);
    // An open stream and a running request are use.
    let mut stream = session.get(None);
    advance(Duration::from_secs(100));
    assert_eq!(session.post(ping).status, 200);
    stream.text();
    drop(stream);
    let running = session.post(&call(5, "never"));
    drop(running);
    advance(Duration::from_secs(100));
    assert_eq!(session.post(ping).status, 200);
    let cancel = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":5}}"#;
    assert_eq!(session.post(cancel).status, 202);
    advance(Duration::from_secs(61));
    assert_eq!(session.post(ping).status, 404);
}

#[test]
fn sessions_leave_nothing_behind() {
    let idle = Duration::from_secs(60);
    let service = server().http().idle_timeout(idle).into_service();
    let round = |count: u32| {
        for _ in 0..count {
            let session = Session::open(&service, "2025-11-25");
            let mut stream = session.get(None);
            stream.text();
            drop(session.post(&call(1, "slow")));
            drop(stream);
            drop(session.post(&call(2, "echo")));
        }
        for _ in 0..count {
            let session = Session::open(&service, "2025-11-25");
            let mut running = session.post(&call(1, "never"));
            running.text();
            assert_eq!(session.delete().status, 204);
            assert!(running.has_ended());
        }
        advance(Duration::from_secs(1));
        advance(idle);
    };
    round(20);
    let used = allocation_counter::measure(|| round(100));
    // What the clock of the tests keeps of a timer, and room in tables. A session is thousands.
    assert!(
        used.bytes_current < 200 * 300,
        "{} bytes",
        used.bytes_current
    );
}

#[test]
fn the_end_of_the_service_lets_sessions_finish() {
    let service = server().http().grace(Duration::from_secs(5)).into_service();
    let session = Session::open(&service, "2025-11-25");
    let mut stream = session.get(None);
    let mut running = session.post(&call(1, "slow"));
    let mut never = session.post(&call(2, "never"));
    service.shutdown();
    assert_eq!(session.post(&call(3, "echo")).status, 503);
    advance(Duration::from_secs(1));
    assert!(running.text().contains("at last"));
    assert!(running.has_ended());
    assert!(!never.has_ended());
    advance(Duration::from_secs(5));
    assert!(never.has_ended() && stream.has_ended());
}
