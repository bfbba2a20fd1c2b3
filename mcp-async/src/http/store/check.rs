//! What every store must do, for the tests of stores.

use core::error::Error;
use core::fmt::Debug;
use core::time::Duration;

use super::{Claim, EventStore, Relay, Replay, SessionStore, StoreError, StoredEvent};

/// A store did something else than it must, or failed.
type Checked = Result<(), Box<dyn Error + Send + Sync>>;

/// Checks a store of sessions: run it in the tests of a store. It makes sessions whose ids begin with
/// `prefix`, which no other test may use.
///
/// ```
/// use mcp_async::http::{MemoryStore, check_session_store};
///
/// let store = MemoryStore::default();
/// let mut check = Box::pin(check_session_store(&store, "check"));
/// let mut cx = core::task::Context::from_waker(core::task::Waker::noop());
/// assert!(matches!(check.as_mut().poll(&mut cx), core::task::Poll::Ready(Ok(()))));
/// ```
///
/// # Errors
/// What the store did, and what it must do.
pub async fn check_session_store(store: &dyn SessionStore, prefix: &str) -> Checked {
    let [a, b] = ["a", "b"].map(|name| format!("{prefix}-{name}"));
    let record = |text: &[u8]| Some(text.to_vec());
    same("an unknown session", store.load(&a).await?, None)?;
    same(
        "an unknown session taken over",
        store.take_over(&a).await?,
        None,
    )?;
    same(
        "an unknown session saved",
        outcome(store.save(&a, 0, b"x", KEEP).await)?,
        GONE,
    )?;
    same(
        "an unknown session checked",
        outcome(store.check(&a, 0).await)?,
        GONE,
    )?;
    store.create(&a, b"0", KEEP).await?;
    store.create(&b, b"\0\r\n\xff", KEEP).await?;
    same(
        "a record of any bytes",
        store.load(&b).await?,
        record(b"\0\r\n\xff"),
    )?;
    same("the first epoch", outcome(store.check(&a, 0).await)?, DONE)?;
    same(
        "an epoch to come",
        outcome(store.check(&a, 1).await)?,
        CONFLICT,
    )?;
    same(
        "a save",
        outcome(store.save(&a, 0, b"1", KEEP).await)?,
        DONE,
    )?;
    same("what was saved", store.load(&a).await?, record(b"1"))?;
    for epoch in 1..=3 {
        let taken = store
            .take_over(&a)
            .await?
            .ok_or("a session was not taken over")?;
        same("the record taken over", taken.record(), &b"1"[..])?;
        same("the epoch that begins", taken.epoch(), epoch)?;
        let displaced = store.save(&a, epoch - 1, b"late", KEEP).await;
        same("a displaced owner's save", outcome(displaced)?, CONFLICT)?;
        same(
            "a displaced owner",
            outcome(store.check(&a, epoch - 1).await)?,
            CONFLICT,
        )?;
        same(
            "the new owner",
            outcome(store.check(&a, epoch).await)?,
            DONE,
        )?;
    }
    same(
        "a refused save wrote nothing",
        store.load(&a).await?,
        record(b"1"),
    )?;
    store.remove(&a).await?;
    store.remove(&a).await?;
    same("a removed session", store.load(&a).await?, None)?;
    same(
        "a removed session saved",
        outcome(store.save(&a, 3, b"2", KEEP).await)?,
        GONE,
    )?;
    same(
        "a removed session checked",
        outcome(store.check(&a, 3).await)?,
        GONE,
    )?;
    same(
        "a removed session taken over",
        store.take_over(&a).await?,
        None,
    )?;
    same("another session", outcome(store.check(&b, 0).await)?, DONE)?;
    store.remove(&b).await?;
    Ok(())
}

/// Checks a store of events: see [`check_session_store`].
///
/// # Errors
/// What the store did, and what it must do.
pub async fn check_event_store(store: &dyn EventStore, prefix: &str) -> Checked {
    let [a, b] = ["a", "b"].map(|name| format!("{prefix}-{name}"));
    let event = |sequence, message| StoredEvent::new(&a, 1, sequence, message);
    let replay = |messages: &[&[u8]]| {
        Some(Replay::new(
            messages.iter().map(|message| message.to_vec()).collect(),
        ))
    };
    same("an unknown stream", store.replay(&a, 1, 0).await?, None)?;
    same(
        "an unknown session's last event",
        store.begin_epoch(&a, 0).await?,
        0,
    )?;
    store.append(event(1, b"one")).await?;
    store.append(event(3, b"three")).await?;
    same(
        "a replay ends at a gap",
        store.replay(&a, 1, 0).await?,
        replay(&[b"one"]),
    )?;
    same("a replay after a gap", store.replay(&a, 1, 1).await?, None)?;
    store.append(event(2, b"\0\r\n\xff")).await?;
    let all: [&[u8]; 3] = [b"one", b"\0\r\n\xff", b"three"];
    same(
        "a replay in order",
        store.replay(&a, 1, 0).await?,
        replay(&all),
    )?;
    store.append(event(2, b"\0\r\n\xff")).await?;
    same(
        "an event that arrives twice",
        store.replay(&a, 1, 0).await?,
        replay(&all),
    )?;
    same(
        "a replay of nothing",
        store.replay(&a, 1, 3).await?,
        replay(&[]),
    )?;
    same("a number to come", store.replay(&a, 1, 4).await?, None)?;
    same(
        "the greatest number",
        store.replay(&a, 1, u64::MAX).await?,
        None,
    )?;
    same("another stream", store.replay(&a, 2, 0).await?, None)?;
    same("another session", store.replay(&b, 1, 0).await?, None)?;
    let mut last = event(4, b"four");
    last.end = true;
    store.append(last).await?;
    let ended = replay(&[b"four"]).map(Replay::ended);
    same("an end", store.replay(&a, 1, 3).await?, ended)?;
    let ended = replay(&[]).map(Replay::ended);
    same("after an end", store.replay(&a, 1, 4).await?, ended)?;
    store.append(StoredEvent::new(&a, 2, 1, b"x")).await?;
    let mut end = StoredEvent::new(&a, 2, 2, b"");
    end.end = true;
    store.append(end).await?;
    let ended = replay(&[b"x"]).map(Replay::ended);
    same(
        "an end without a message",
        store.replay(&a, 2, 0).await?,
        ended,
    )?;
    store.append(StoredEvent::new(&a, 0, 1, b"own")).await?;
    store.append(StoredEvent::new(&a, 0, 2, b"")).await?;
    same(
        "the last event of the own stream",
        store.begin_epoch(&a, 1).await?,
        2,
    )?;
    same(
        "events after a takeover",
        store.replay(&a, 0, 0).await?,
        replay(&[b"own", b""]),
    )?;
    same(
        "a displaced owner",
        outcome(store.append(event(5, b"late")).await)?,
        CONFLICT,
    )?;
    let earlier = store.begin_epoch(&a, 0).await.map(drop);
    same("an epoch that has ended", outcome(earlier)?, CONFLICT)?;
    let mut own = StoredEvent::new(&a, 0, 3, b"next");
    own.epoch = 1;
    same("the new owner", outcome(store.append(own).await)?, DONE)?;
    own.session = &b;
    own.epoch = 2;
    store.append(own).await?;
    store.remove(&a).await?;
    store.remove(&a).await?;
    own.session = &a;
    same("a removed session", outcome(store.append(own).await)?, GONE)?;
    let begun = store.begin_epoch(&a, 9).await.map(drop);
    same("an epoch of a removed session", outcome(begun)?, GONE)?;
    same(
        "events of a removed session",
        store.replay(&a, 1, 0).await?,
        None,
    )?;
    same(
        "another session stays",
        store.replay(&b, 0, 2).await?,
        replay(&[b"next"]),
    )?;
    store.remove(&b).await?;
    Ok(())
}

/// Checks a relay with the store of sessions that it belongs to: see [`check_session_store`].
///
/// # Errors
/// What the relay did, and what it must do.
pub async fn check_relay(relay: &dyn Relay, store: &dyn SessionStore, prefix: &str) -> Checked {
    let [a, b, c, session] = ["a", "b", "c", "s"].map(|name| format!("{prefix}-{name}"));
    let lease = Duration::from_secs(60);
    same(
        "a process that was not announced",
        relay.send(&a, b"lost").await?,
        false,
    )?;
    for process in [&a, &b, &c] {
        let live = relay.announce(process, lease).await?;
        same("an announced process", live.contains(process), true)?;
    }
    same(
        "an unknown session",
        relay.claim(&session, &a).await?,
        Claim::Unknown,
    )?;
    store.create(&session, b"0", KEEP).await?;
    same(
        "a session without owner",
        relay.claim(&session, &a).await?,
        Claim::Own,
    )?;
    same(
        "an own session",
        relay.claim(&session, &a).await?,
        Claim::Own,
    )?;
    same(
        "a session of another",
        relay.claim(&session, &b).await?,
        Claim::Other(a.clone()),
    )?;
    for message in [&b"one"[..], b"\0\r\n\xff", b""] {
        same("a live process", relay.send(&a, message).await?, true)?;
    }
    let received = relay.receive(&a).await?;
    same(
        "messages in order",
        received,
        vec![b"one".to_vec(), b"\0\r\n\xff".to_vec(), vec![]],
    )?;
    relay.broadcast(&b, b"all").await?;
    relay.send(&b, b"own").await?;
    same(
        "a broadcast",
        relay.receive(&a).await?,
        vec![b"all".to_vec()],
    )?;
    same(
        "the sender of a broadcast",
        relay.receive(&b).await?,
        vec![b"own".to_vec()],
    )?;
    relay.withdraw(&a).await?;
    same("a dead process", relay.send(&a, b"lost").await?, false)?;
    same("a dead owner", relay.claim(&session, &c).await?, Claim::Own)?;
    same(
        "the next owner",
        relay.claim(&session, &b).await?,
        Claim::Other(c.clone()),
    )?;
    let live = relay.announce(&b, lease).await?;
    same("a process that withdrew", live.contains(&a), false)?;
    store.remove(&session).await?;
    same(
        "a removed session",
        relay.claim(&session, &b).await?,
        Claim::Unknown,
    )?;
    relay.withdraw(&b).await?;
    relay.withdraw(&c).await?;
    Ok(())
}

/// The outcome of a write that may be refused.
fn outcome(written: Result<(), StoreError>) -> Result<&'static str, StoreError> {
    match written {
        Ok(()) => Ok(DONE),
        Err(StoreError::Conflict) => Ok(CONFLICT),
        Err(StoreError::Gone) => Ok(GONE),
        Err(failed) => Err(failed),
    }
}

fn same<T: PartialEq + Debug>(what: &str, found: T, expected: T) -> Checked {
    match found == expected {
        true => Ok(()),
        false => Err(format!("{what}: {found:?}, expected {expected:?}").into()),
    }
}

const DONE: &str = "done";
const CONFLICT: &str = "conflict";
const GONE: &str = "gone";

const KEEP: Duration = Duration::from_secs(60);
