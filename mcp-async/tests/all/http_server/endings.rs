//! Processes that are asked to end while they have sessions.

use core::future::Future;
use core::pin::{Pin, pin};
use core::task::Poll;
use core::time::Duration;

use mcp_async::http::SessionStore as _;

use crate::http_server::far::Fault;
use crate::http_server::nodes::{Process, at, epoch, pass, ping, processes, session_of_two};
use crate::scripted::{HttpClient, Waiting, call, last_id};
use crate::sim::{advance, done, poll_once, settle};

const STEP: Duration = Duration::from_millis(100);

fn poll<T>(future: Pin<&mut impl Future<Output = T>>) -> Option<T> {
    settle();
    match poll_once(future) {
        Poll::Ready(output) => Some(output),
        Poll::Pending => None,
    }
}

/// The statuses of a request that is sent again and again while this many steps pass.
fn statuses(process: &Process, session: &HttpClient, steps: u32) -> Vec<u16> {
    let there = at(process, session);
    (0..steps)
        .map(|_| {
            advance(STEP);
            there.post(ping()).status.as_u16()
        })
        .collect()
}

/// The processes that the store takes for alive.
fn live(process: &Process) -> usize {
    let store = process.node.common.store();
    let announced = done(store.announce("test", 0, b"", Duration::from_secs(1)));
    announced.unwrap().processes.len() - 1
}

#[test]
fn a_session_lives_while_its_process_ends() {
    let [first, second] = processes();
    let here = first.open();
    let work = here.post(&call(1, "work"));
    advance(STEP);
    first.node.set(Fault::Late(300));
    first.service.shutdown();
    // Those that arrive at the process itself, and those that are forwarded.
    let (mut requests, mut seen) = (Vec::new(), Vec::new());
    for step in 0..60 {
        advance(STEP);
        let processes = [&first, &second].into_iter().filter(|_| step < 40);
        for process in processes {
            requests.push(at(process, &here).begin(ping()));
        }
        requests.retain_mut(|request: &mut Waiting| {
            let status = request.status();
            seen.extend(status);
            status.is_none()
        });
    }
    assert!(requests.is_empty());
    assert!(
        seen.iter().all(|status| [200, 503].contains(status)),
        "{seen:?}"
    );
    drop(work);
    assert_eq!(at(&second, &here).post(ping()).status, 200);
    assert_eq!(epoch(&second, &here), 1);
}

#[test]
fn forwarded_calls_and_calls_whose_client_has_left_end_first() {
    let ([first, second], here, there) = session_of_two();
    let mut forwarded = there.post(&call(1, "work"));
    let mut left = there.post(&call(2, "slow"));
    let id = last_id(&left.text());
    drop(left);
    let mut drained = pin!(first.service.drain());
    assert!(poll(drained.as_mut()).is_none());
    let seen = statuses(&second, &here, 19);
    assert_eq!(seen, [503; 19], "nothing new begins, and the session lives");
    assert!(poll(drained.as_mut()).is_none());
    assert_eq!((first.ran.ended(), live(&second)), (0, 2));
    pass(1);
    assert!(forwarded.text().contains("at last"));
    assert_eq!(first.ran.ended(), 1);
    // The lease is withdrawn, so nothing is waited for.
    assert!(poll(drained.as_mut()).is_some());
    assert_eq!(live(&second), 1);
    assert!(there.get(Some(&id)).whole().contains("at last"));
    assert!(there.post(&call(3, "run")).whole().contains("done"));
    assert_eq!(epoch(&second, &here), 1);
}

#[test]
fn a_process_without_calls_hands_its_sessions_on_at_once() {
    let [first, second] = processes();
    let sessions = [first.open(), first.open()];
    first.service.shutdown();
    for here in &sessions {
        let seen = statuses(&second, here, 10);
        assert_eq!(seen, [200; 10]);
        assert_eq!(epoch(&second, here), 1);
    }
    assert_eq!(live(&second), 1);
    let refused = at(&first, &sessions[0]).post(ping());
    assert_ne!(refused.status, 404);
}

/// A call that has no end is ended with the time for the shutdown, and a store that does not answer is left
/// after a while.
#[test]
fn an_end_is_bounded() {
    for fault in [Fault::None, Fault::Fails, Fault::Hangs] {
        let [first, second] = processes();
        let here = first.open();
        let mut never = here.post(&call(1, "never"));
        never.text();
        first.node.set(fault);
        let mut drained = pin!(first.service.drain());
        assert!(poll(drained.as_mut()).is_none());
        pass(9);
        assert!(poll(drained.as_mut()).is_none());
        pass(4);
        assert!(poll(drained.as_mut()).is_some(), "{fault:?}");
        assert!(never.has_ended());
        pass(16);
        assert_eq!(at(&second, &here).post(ping()).status, 200);
    }
}
