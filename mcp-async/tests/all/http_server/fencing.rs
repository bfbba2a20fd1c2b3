//! Sessions that several processes know: who may write them, and when they end for all.

use core::sync::atomic::Ordering;
use core::task::{Context as Task, Waker};
use std::sync::Arc;

use mcp_async::http::SessionStore as _;

use crate::http_server::busy::{busy, with_busy};
use crate::http_server::far::Fault;
use crate::http_server::nodes::{
    Process, at, epoch, pass, ping, processes, processes_of, processes_with, session_of_two,
};
use crate::scripted::{HttpClient, Waiting, call, delete, initialize, last_id, post, send};
use crate::sim::{Mode, done, settle};
use crate::texts::has;

const LEVEL: &str = r#"3 logging/setLevel {"level":"error"}"#;

fn record(process: &Process, session: &HttpClient) -> Option<String> {
    process.node.common.record(&session.id)
}

/// SH-61: a session that ends while its owner is away does not come back with it.
#[test]
fn a_session_that_ended_elsewhere_does_not_come_back() {
    let [first, second, third] = processes();
    let here = first.open();
    let mut running = here.post(&call(1, "slow"));
    running.text();
    first.node.set(Fault::Fails);
    pass(16);
    assert_eq!(at(&second, &here).delete().status, 204);
    assert_eq!(here.post(LEVEL).status, 503, "the store cannot be asked");
    first.node.set(Fault::None);
    pass(2);
    assert_eq!(here.post(LEVEL).status, 404);
    pass(60);
    assert!(!running.text().contains("at last"));
    assert!(running.has_ended());
    assert_eq!(at(&third, &here).post(ping()).status, 404);
    assert_eq!(record(&first, &here), None);
}

/// SH-61: a partition. The lease of the first process ends, and the second one owns the session.
#[test]
fn a_displaced_process_runs_nothing() {
    let ([first, second], here, there) = session_of_two();
    let mut reply = here.post(&call(1, "slow"));
    let seen = reply.text();
    let mut own = here.get(None);
    own.text();
    first.node.set(Fault::Fails);
    // It serves as long as its lease is certainly good, and sends nothing that the store has not taken.
    pass(5);
    assert_eq!(here.post(&call(2, "run")).status, 200);
    assert_eq!(reply.text(), "");
    pass(11);
    for attempt in 0..3 {
        let answer = here.post(&call(3, "run"));
        assert_eq!(
            (answer.status.as_u16(), first.ran.begun()),
            (503, 1),
            "{attempt}"
        );
        assert!(there.post(&call(4, "run")).whole().contains("done"));
    }
    assert_eq!(epoch(&second, &here), 1);
    assert_eq!(there.post(LEVEL).status, 200);
    assert_eq!(here.get(None).status, 503);
    assert_eq!(here.delete().status, 503);
    // It is right as soon as it reaches the store again: the session is forwarded.
    first.node.set(Fault::None);
    assert_eq!(here.post(&call(5, "run")).status, 200);
    assert_eq!((first.ran.begun(), second.ran.begun()), (1, 4));
    assert_eq!(reply.text(), "", "what the store refused is not sent");
    assert!(reply.has_ended() && own.has_ended());
    assert!(!there.get(Some(&last_id(&seen))).whole().contains("at last"));
    has(&record(&second, &here).unwrap(), [r#""log_level":"error""#]);
    assert_eq!([&first, &second].map(|process| process.ran.wrong()), [0; 2]);
}

/// SH-61: another process has had the session, and has released it, while the first one was away.
#[test]
fn a_session_that_was_elsewhere_meanwhile_is_read_again() {
    let [first, second] = processes();
    let here = first.open();
    first.node.set(Fault::Fails);
    pass(16);
    assert_eq!(at(&second, &here).post(LEVEL).status, 200);
    second.service.shutdown();
    pass(1);
    first.node.set(Fault::None);
    assert!(here.post(&call(1, "run")).whole().contains("done"));
    assert_eq!((first.ran.wrong(), epoch(&first, &here)), (0, 2));
    let logged = here.post(&call(2, "log")).whole();
    assert!(!logged.contains("written"), "{logged}");
}

/// SH-61: a pause. Requests wait in the process, which finds them when it continues.
#[test]
fn a_process_that_was_paused_runs_nothing_of_what_waits() {
    let [first, second] = processes_of(with_busy, |http| http);
    let here = first.open();
    let there = at(&second, &here);
    let mut reply = here.post(&call(1, "slow"));
    reply.text();
    let client = here.clone();
    let (first, second, mut direct) = busy(&here, move || {
        first.sim.set(Mode::Paused);
        let run = call(2, "run");
        // One waits for the session, which is busy, and one was forwarded.
        let mut direct = client.begin(&run);
        let mut forwarded = there.begin(&run);
        assert_eq!([direct.status(), forwarded.status()], [None; 2]);
        pass(20);
        assert_eq!(forwarded.status(), Some(503), "it may have run");
        assert!(there.post(&run).whole().contains("done"));
        assert_eq!(epoch(&second, &client), 1);
        first.sim.set(Mode::Runs);
        (first, second, direct)
    });
    settle();
    assert_eq!(direct.status(), Some(503));
    pass(2);
    assert!(!reply.text().contains("at last"));
    assert!(reply.has_ended());
    assert!(here.post(&call(4, "run")).whole().contains("done"));
    assert_eq!((first.ran.begun(), second.ran.wrong()), (0, 0));
}

#[test]
fn an_end_that_the_store_did_not_take_is_not_confirmed() {
    let [process] = processes();
    let (store, session) = (&process.node, process.open());
    store.set(Fault::Fails);
    assert_eq!(session.delete().status, 503);
    store.set(Fault::None);
    assert!(record(&process, &session).is_some());
    assert_eq!(session.delete().status, 204);
    assert_eq!(record(&process, &session), None);
}

/// A request has run when its session is displaced while it waits for the store, and its answer says so.
#[test]
fn a_displaced_session_says_what_has_run() {
    let [first, second] = processes();
    let here = first.open();
    let mut slow = here.post(&call(1, "slow"));
    slow.text();
    // An event of the call is on its way to the store, and then the record.
    first.node.set(Fault::Late(2_000));
    pass(2);
    first.node.set(Fault::Late(30_000));
    let mut level = here.begin(LEVEL);
    assert_eq!(level.status(), None);
    let (store, next) = (first.node.common.store(), second.node.owner());
    done(store.release(&here.id, &first.node.owner())).unwrap();
    done(store.claim(&here.id, &next, false)).unwrap();
    done(store.take_over(&here.id, &next)).unwrap();
    pass(3);
    let reply = level.reply().expect("an answer");
    reply.says(503, ["it has run"]);
}

#[test]
fn a_save_that_failed_is_repeated() {
    for fault in [Fault::Fails, Fault::Full] {
        let [process] = processes();
        let (store, session) = (&process.node, process.open());
        store.set(fault);
        // It is not acknowledged before it is stored, even if it is sent again.
        let refused = session.post(LEVEL);
        refused.says(503, ["it has run"]);
        for _ in 0..2 {
            assert_eq!(session.begin(LEVEL).eventually(), 503);
            // What changes nothing does not wait for that.
            assert_eq!(session.post(ping()).status, 200);
            assert!(session.post(&call(4, "run")).whole().contains("done"));
        }
        let saves = || store.saves.load(Ordering::SeqCst);
        let before = saves();
        pass(300);
        let tries = saves() - before;
        assert!((250..=305).contains(&tries), "{tries}");
        store.set(Fault::None);
        pass(60);
        has(
            &record(&process, &session).unwrap(),
            [r#""log_level":"error""#],
        );
        let after = saves();
        pass(300);
        assert_eq!(saves(), after);
    }
}

/// SH-61: a process that was paused makes room for a new session.
#[test]
fn a_session_that_makes_room_stays_in_the_process_that_has_it() {
    let [first, second] = processes_with(|http| http.max_sessions(1));
    let opening = || post(&initialize("2025-11-25"));
    let open = || first.sim.run(|| send(&first.service, opening()));
    // Its client has said nothing else.
    let client = HttpClient::new(&first.service, "2025-11-25");
    let here = client.in_session(open().header("mcp-session-id"));
    first.sim.set(Mode::Paused);
    pass(61);
    let there = at(&second, &here);
    assert_eq!(there.post(ping()).status, 200);
    first.sim.set(Mode::Runs);
    assert_eq!(open().status, 200);
    pass(1);
    assert!(record(&second, &here).is_some());
    assert_eq!(
        (there.post(ping()).status.as_u16(), epoch(&second, &here)),
        (200, 1)
    );
}

/// A process that has no room leaves the session to one that has.
#[test]
fn a_process_without_room_takes_no_session() {
    let [first, second, third] = processes_with(|http| http.max_sessions(1));
    let here = first.open();
    let _other = second.open();
    first.kill();
    pass(16);
    assert_eq!(at(&second, &here).post(ping()).status, 503);
    assert_eq!(at(&third, &here).post(ping()).status, 200);
}

/// A client that hangs up while its session is being stored leaves neither a record nor a place behind.
#[test]
fn a_handshake_that_is_abandoned_leaves_nothing() {
    let [process] = processes_with(|http| http.max_sessions(1));
    for fault in [Fault::LateAnswer(100), Fault::Late(100), Fault::Unanswered] {
        process.node.set(fault);
        let opening = post(&initialize("2025-11-25"));
        let mut leaving = Waiting::new(&process.service, opening);
        process
            .sim
            .run(|| assert!(leaving.poll().is_none_or(|reply| reply.status == 503)));
        settle();
        drop(leaving);
        process.node.set(Fault::None);
        pass(12);
        let store = format!("{:?}", process.node.common.store());
        assert!(store.contains("sessions: 0"), "{fault:?}: {store}");
        assert_eq!(process.open().delete().status, 204);
    }
    // The place is not taken for longer than the store may take.
    process.node.set(Fault::Hangs);
    let mut leaving = Waiting::new(&process.service, post(&initialize("2025-11-25")));
    process.sim.run(|| assert!(leaving.poll().is_none()));
    settle();
    drop(leaving);
    pass(3);
    process.node.set(Fault::None);
    assert_eq!(process.open().delete().status, 204);
}

#[test]
fn a_session_that_was_taken_over_too_often_is_over() {
    let [first, second] = processes();
    let session = first.open();
    let (store, owner) = (first.node.common.store(), first.node.owner());
    for _ in 0..4095 {
        done(store.take_over(&session.id, &owner)).unwrap();
    }
    first.kill();
    pass(16);
    let there = at(&second, &session);
    assert_eq!(there.post(ping()).status, 404, "the client opens a new one");
    assert_eq!(record(&second, &session), None);
}

/// A process of another version has saved it: this one neither serves nor removes it.
#[test]
fn a_record_of_another_version_is_left_alone() {
    let [first, second] = processes();
    let session = first.open();
    let saved = record(&first, &session).unwrap();
    for other in [
        saved.replacen(r#""v":1"#, r#""v":2"#, 1),
        "\u{1}".to_owned(),
    ] {
        assert_ne!(other, saved);
        let (store, owner) = (first.node.common.store(), first.node.owner());
        done(store.create(
            &session.id,
            &owner,
            other.as_bytes(),
            core::time::Duration::MAX,
        ))
        .unwrap();
        first.kill();
        pass(16);
        let there = at(&second, &session);
        assert_eq!(there.post(ping()).status, 503);
        assert_eq!(there.get(None).status, 503);
        assert_eq!(there.delete().status, 503);
        assert_eq!(record(&second, &session).unwrap(), other);
    }
}

/// A waker that counts its clones.
struct Counted;

impl std::task::Wake for Counted {
    fn wake(self: Arc<Self>) {}
}

/// hyper polls a service whenever its connection has something to read.
#[test]
fn whoever_waits_is_remembered_once() {
    let [first, second, third] = processes();
    let [here, other] = [first.open(), second.open()];
    first.kill();
    pass(16);
    let there = at(&second, &here);
    second.node.set(Fault::Hangs);
    let counted = Arc::new(Counted);
    let waker = Waker::from(Arc::clone(&counted));
    let check = |mut begun: Waiting| {
        for _ in 0..100 {
            settle();
            let polled = begun.poll_with(&mut Task::from_waker(&waker));
            assert!(polled.is_pending());
        }
        let clones = Arc::strong_count(&counted);
        assert!(clones < 10, "{clones}");
    };
    check(there.begin(ping()));
    check(other.begin_sending(delete()));
    // A forwarded request waits for its owner.
    second.sim.set(Mode::Paused);
    let mut waiting = at(&third, &other).begin(ping());
    assert!(
        waiting
            .poll_with(&mut Task::from_waker(&waker))
            .is_pending()
    );
}

#[test]
fn a_client_that_leaves_is_forgotten() {
    let [first, second] = processes();
    let there = at(&second, &first.open());
    assert_eq!(there.post(ping()).status, 200);
    first.sim.set(Mode::Paused);
    let clients = [(); 50].map(|()| {
        let counted = Arc::new(Counted);
        let waker = Waker::from(Arc::clone(&counted));
        let mut begun = there.begin(ping());
        assert!(begun.poll_with(&mut Task::from_waker(&waker)).is_pending());
        counted
    });
    // Until now those wait who are to be polled in it.
    first.sim.set(Mode::Runs);
    assert_eq!(clients.each_ref().map(Arc::strong_count), [1; 50]);
}
