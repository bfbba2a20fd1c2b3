//! The store, or the way to another process, is away for a while.

use core::sync::atomic::Ordering;
use core::time::Duration;

use mcp_async::http::SessionStore as _;
use mcp_proto::server::ListKind;

use crate::http_server::far::Fault;
use crate::http_server::nodes::{
    Process, at, epoch, pass, ping, processes, session_of_two, set_level, start,
};
use crate::http_server::wire::Break;
use crate::scripted::{HttpClient, Reply, Waiting, call, cancelled, last_id};
use crate::sim;
use crate::sim::{advance, now};
use crate::texts::has;

const SUBSCRIBE: &str = r#"2 resources/subscribe {"uri":"demo://open"}"#;

#[test]
fn a_process_whose_lease_has_lapsed_is_back_at_once() {
    let ([first, second], here, there) = session_of_two();
    for is_known in [false, true] {
        second.node.set(Fault::Fails);
        pass(17);
        second.node.set(Fault::None);
        let before = first.ran.begun();
        assert!(
            there.post(&call(1, "run")).whole().contains("done"),
            "{is_known}"
        );
        assert_eq!(first.ran.begun(), before + 1);
    }
    assert_eq!(epoch(&first, &here), 0);
    // The owner: it learns that the session is still its own.
    first.node.set(Fault::Fails);
    pass(14);
    assert_eq!(here.post(&call(2, "run")).status, 503);
    first.node.set(Fault::None);
    assert!(here.post(&call(3, "run")).whole().contains("done"));
    assert_eq!((first.ran.begun(), epoch(&first, &here)), (3, 0));
}

/// The statuses of the responses that have begun, which are no longer there.
fn statuses(begun: &mut Vec<Waiting>) -> Vec<u16> {
    let mut statuses = Vec::new();
    begun.retain_mut(|begun| {
        let status = begun.status();
        statuses.extend(status);
        status.is_none()
    });
    statuses
}

/// A process that has begun after the others were announced last, and a session of it.
fn new_process(first: &Process) -> (Process, HttpClient) {
    let (common, wire) = (&first.node.common, &first.wire);
    let new = start(common, wire, 2, &|server| server, &|http| http);
    let session = new.open();
    (new, session)
}

#[test]
fn requests_wait_for_one_announcement_together() {
    let ([first, second], _here, there) = session_of_two();
    let count = || second.node.announcements.load(Ordering::SeqCst);
    let many = |session: &HttpClient| -> Vec<Waiting> {
        let begun = (0..20).map(|_| session.begin(ping()));
        begun.collect()
    };
    // None of them knows the process that owns the session.
    let (_new, other) = new_process(&first);
    second.node.set(Fault::Late(100));
    let (before, mut begun) = (count(), many(&at(&second, &other)));
    let mut seen = Vec::new();
    for _ in 0..40 {
        seen.extend(statuses(&mut begun));
        advance(Duration::from_millis(100));
    }
    assert_eq!(seen, [200; 20]);
    assert!(count() <= before + 2, "{} announcements", count() - before);
    // All of them need the lease, which the store does not give.
    second.node.set(Fault::Fails);
    pass(17);
    second.node.set(Fault::FailsLate(1000));
    let mut begun = many(&there);
    assert!(statuses(&mut begun).is_empty());
    pass(1);
    let mut seen = statuses(&mut begun);
    pass(2);
    seen.extend(statuses(&mut begun));
    assert_eq!(seen, [503; 20]);
}

#[test]
fn a_process_without_its_tasks_answers() {
    let [process] = processes();
    let here = process.open();
    sim::end();
    pass(16);
    assert_eq!(here.begin(ping()).status(), Some(503));
}

#[test]
fn a_client_that_leaves_delays_no_takeover() {
    let [first, second] = processes();
    let here = first.open();
    pass(16);
    let (_new, other) = new_process(&first);
    second.node.set(Fault::Late(100));
    let mut left = at(&second, &other).begin(ping());
    assert_eq!(left.status(), None);
    advance(Duration::from_millis(100));
    assert_eq!(left.status(), None, "it is being announced");
    drop(left);
    second.node.set(Fault::None);
    first.kill();
    pass(16);
    assert_eq!(at(&second, &here).post(ping()).status, 200);
}

/// A request that may have arrived is not sent again.
#[test]
fn a_broken_connection_is_told_at_once() {
    let ([first, _second], here, there) = session_of_two();
    first.wire.take();
    first.wire.push(Break::Head);
    let answer = there.post(&call(1, "run"));
    answer.says(503, ["may have run"]);
    assert_eq!((first.wire.take().len(), first.ran.begun()), (1, 1));
    // What was not sent is tried once more.
    first.wire.push(Break::Unsent);
    assert!(there.post(&call(2, "run")).whole().contains("done"));
    assert_eq!((first.wire.take().len(), first.ran.begun()), (2, 2));
    first.wire.set(Break::Unsent);
    let answer = there.post(&call(3, "run"));
    assert_eq!(answer.status, 503);
    assert!(!answer.whole().contains("may have run"));
    assert_eq!((first.wire.take().len(), first.ran.begun()), (2, 2));
    assert_eq!(epoch(&first, &here), 0, "it lives");
}

/// All leases have ended in the store, and their processes live.
#[test]
fn sessions_outlive_an_outage_that_is_longer_than_the_lease() {
    let ([first, second], here, there) = session_of_two();
    let away = |fault| [&first, &second].map(|process| process.node.set(fault));
    for seconds in [18, 60] {
        let mut work = here.post(&call(1, "never"));
        let seen = work.text();
        away(Fault::Fails);
        pass(seconds);
        away(Fault::None);
        // Until the first process announces itself again, it may be dead.
        let soon = there.post(ping()).status.as_u16();
        assert!([200, 503].contains(&soon), "{soon}");
        pass(2);
        assert!(there.post(&call(2, "run")).whole().contains("done"));
        assert_eq!(epoch(&first, &here), 0);
        let mut work = match seconds {
            18 => work,
            _ => here.get(Some(&last_id(&seen))),
        };
        assert!(!work.has_ended(), "calls continue");
        let cancel = &cancelled(1);
        assert_eq!(there.post(cancel).status, 202);
        assert!(work.has_ended());
    }
    assert_eq!(second.ran.begun(), 0);
}

#[test]
fn a_session_that_begins_after_the_store_was_emptied_stays() {
    let [first, second] = processes();
    for _ in 0..3 {
        first.node.common.flush();
        let here = first.open();
        let there = at(&second, &here);
        for _ in 0..12 {
            let status = there.post(ping()).status.as_u16();
            assert!([200, 503].contains(&status), "{status}");
            assert_eq!(here.post(ping()).status, 200);
            advance(Duration::from_millis(500));
        }
        assert_eq!(there.post(ping()).status, 200);
        assert_eq!(epoch(&first, &here), 0);
    }
}

/// A session that the store has lost ends; its client opens a new one.
#[test]
fn a_session_that_the_store_has_lost_ends_everywhere() {
    let [first, second] = processes();
    let here = first.open();
    first.node.common.flush();
    pass(20);
    for process in [&second, &first] {
        assert_eq!(at(process, &here).post(ping()).status, 404);
    }
    pass(1);
    assert_eq!(here.post(ping()).status, 404);
}

/// A stream of the second process's own session, at that process.
fn listening(process: &Process) -> (HttpClient, Reply) {
    let session = process.open();
    assert_eq!(session.post(SUBSCRIBE).status, 200);
    let mut stream = session.get(None);
    stream.text();
    (session, stream)
}

#[test]
fn a_change_while_the_store_is_away_is_told_later() {
    let [first, second] = processes();
    let (_session, mut stream) = listening(&second);
    first.node.set(Fault::Fails);
    first.registry.list_changed(ListKind::Tools);
    first.registry.resource_updated("demo://open");
    pass(20);
    assert!(!stream.text().contains("notifications"));
    first.node.set(Fault::None);
    pass(2);
    let seen = stream.text();
    for told in ["tools/list_changed", "resources/updated"] {
        assert_eq!(seen.matches(told).count(), 1, "{seen}");
    }
}

/// What was published while a subscription was lost is not known.
#[test]
fn after_a_lost_subscription_everything_may_have_changed() {
    let [first, second] = processes();
    let (_session, mut stream) = listening(&second);
    second.node.set(Fault::Fails);
    first.registry.list_changed(ListKind::Tools);
    pass(1);
    second.node.set(Fault::None);
    pass(2);
    let seen = stream.text();
    for told in [
        "tools/list_changed",
        "resources/list_changed",
        "resources/updated",
    ] {
        assert_eq!(seen.matches(told).count(), 1, "{seen}");
    }
    pass(20);
    assert!(!stream.text().contains("notifications"));
}

/// What was acknowledged is known to the next owner, even if the process ends right after.
#[test]
fn what_is_acknowledged_is_stored() {
    for fault in [
        Fault::None,
        Fault::Unanswered,
        Fault::LateAnswer(400),
        Fault::Twice,
    ] {
        let [first, second] = processes();
        let here = first.open();
        first.node.set(fault);
        for (body, stored) in [
            (set_level("error").as_str(), r#""log_level":"error""#),
            (SUBSCRIBE, "demo://open"),
        ] {
            let status = here.begin(body).eventually();
            let expected = if fault == Fault::Unanswered { 503 } else { 200 };
            assert_eq!(status, expected, "{fault:?}");
            let record = first.node.common.record(&here.id).unwrap();
            assert!(record.contains(stored), "{fault:?} {record}");
        }
        first.kill();
        pass(16);
        let there = at(&second, &here);
        let mut stream = there.get(None);
        stream.text();
        assert!(!there.post(&call(3, "log")).text().contains("written"));
        second.registry.resource_updated("demo://open");
        pass(1);
        assert!(stream.text().contains("resources/updated"));
    }
}

/// The record of a session that nobody uses is due for long; what failed is repeated nevertheless.
#[test]
fn an_event_of_a_silent_session_is_offered_again() {
    let [process] = processes();
    let here = process.open();
    pass(16 * 60);
    // The event, and the message to other processes.
    process
        .node
        .script
        .lock()
        .unwrap()
        .extend([Fault::Fails; 2]);
    process.registry.list_changed(ListKind::Tools);
    pass(1);
    let store = process.node.common.store();
    let replay = now(store.replay(&here.id, 0, 0)).unwrap();
    let stored = replay.map_or(0, |replay| replay.messages().len());
    assert_eq!(stored, 1);
}

/// The store may be away again before the wait of a write that has failed is over.
#[test]
fn what_has_failed_is_offered_again_as_soon_as_the_store_answers() {
    let [process] = processes();
    let here = process.open();
    let mut work = here.post(&call(1, "slow"));
    assert!(work.text().contains("\"progress\":1"));
    process.node.set(Fault::Fails);
    let mut level = here.begin(&set_level("error"));
    assert_eq!(level.status(), Some(503));
    // Longer than the lease is good, and not so long that readers are sent away.
    pass(14);
    assert!(!work.text().contains("\"progress\":2"));
    process.node.set(Fault::None);
    // Nothing but the lease needs the store, and no time passes.
    let mut request = here.begin(ping());
    assert_eq!(request.status(), Some(200));
    assert!(work.text().contains("\"progress\":2"));
    has(
        &process.node.common.record(&here.id).unwrap(),
        [r#""log_level":"error""#],
    );
}
