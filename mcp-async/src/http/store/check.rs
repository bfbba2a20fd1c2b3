//! The requirements on every store, for the tests of stores.

use core::error::Error;
use core::fmt::Debug;
use core::time::Duration;
use std::sync::Arc;

use super::{Claim, DynSessionStore, Owner, Replay, SessionStore, StoreError, StoredEvent};

/// A store did something else than it must, or failed.
type Checked = Result<(), Box<dyn Error + Send + Sync>>;

/// Checks a store: run it in the tests of a store. It makes processes and sessions whose names begin with
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
/// The wrong result of the store and the right one, or the error of the store.
pub async fn check_session_store(store: &impl SessionStore, prefix: &str) -> Checked {
    let store: &dyn DynSessionStore = store;
    let processes = processes(store, prefix).await?;
    claims(store, &processes, &format!("{prefix}-claimed")).await?;
    records(store, &processes, &format!("{prefix}-record")).await?;
    events(store, &processes, &format!("{prefix}-events")).await?;
    logins(store, &format!("{prefix} login")).await?;
    messages(store, prefix).await?;
    for process in &processes {
        store.withdraw(process).await?;
    }
    Ok(())
}

/// Announcements; three processes that live.
async fn processes(
    store: &dyn DynSessionStore,
    prefix: &str,
) -> Result<[Owner; 3], Box<dyn Error + Send + Sync>> {
    let [a, b, c] = ["a", "b", "c"].map(|name| Arc::<str>::from(format!("{prefix}-{name}")));
    let announced = store.announce(&a, 0, b"\0\r\n\xff", LEASE).await?;
    let first = Owner::new(a, announced.lease);
    let live = |announced: &super::Announced, owner: &Owner| {
        let mut live = announced.processes.iter();
        live.find(|live| live.owner == *owner)
            .map(|live| live.announcement.clone())
    };
    let said = Some(b"\0\r\n\xff".to_vec());
    same("an announced process", live(&announced, &first), said)?;
    let again = store
        .announce(&first.process, first.lease, b"new", LEASE)
        .await?;
    same("a renewed lease", again.lease, first.lease)?;
    same(
        "what is said now",
        live(&again, &first),
        Some(b"new".to_vec()),
    )?;
    let second = store.announce(&b, 0, b"", LEASE).await?;
    same(
        "another process lives",
        live(&second, &first).is_some(),
        true,
    )?;
    let second = Owner::new(b, second.lease);
    store
        .withdraw(&Owner::new(Arc::clone(&second.process), second.lease + 1))
        .await?;
    let stays = store
        .announce(&second.process, second.lease, b"", LEASE)
        .await?;
    same(
        "a lease of another number is not withdrawn",
        stays.lease,
        second.lease,
    )?;
    store.withdraw(&second).await?;
    let ended = store
        .announce(&first.process, first.lease, b"", LEASE)
        .await?;
    same("a lease that was withdrawn", live(&ended, &second), None)?;
    let begun = store
        .announce(&second.process, second.lease, b"", LEASE)
        .await?;
    same("a lease after another", begun.lease > second.lease, true)?;
    let second = Owner::new(second.process, begun.lease);
    let forgotten = store.announce(&second.process, 0, b"", LEASE).await?;
    same(
        "a process that has forgotten its lease",
        forgotten.lease > second.lease,
        true,
    )?;
    let second = Owner::new(second.process, forgotten.lease);
    let third = store.announce(&c, 1 << 52, b"", LEASE).await?;
    same(
        "a lease that the store has forgotten",
        third.lease > 1 << 52,
        true,
    )?;
    Ok([first, second, Owner::new(c, third.lease)])
}

async fn claims(store: &dyn DynSessionStore, processes: &[Owner; 3], id: &str) -> Checked {
    let [a, b, c] = processes;
    let claim = async |owner: &Owner, displaces| store.claim(id, owner, displaces).await;
    same("an unknown session", claim(a, true).await?, Claim::Unknown)?;
    store.create(id, a, b"0", KEEP).await?;
    same("an own session", claim(a, false).await?, Claim::Own(0))?;
    for displaces in [false, true] {
        let found = claim(b, displaces).await?;
        same(
            "a session of another process",
            found,
            Claim::Other(a.clone()),
        )?;
        let stranger = Owner::new(&*b.process, b.lease + 1);
        let found = claim(&stranger, displaces).await?;
        same("a claim in a lease that is not", found, Claim::Unannounced)?;
        let stranger = Owner::new(format!("{id}-stranger"), 1);
        let found = claim(&stranger, displaces).await?;
        same("a claim of an unknown process", found, Claim::Unannounced)?;
    }
    let refused = store.take_over(id, b).await.map(|_| ());
    same("a takeover without a claim", outcome(refused)?, CONFLICT)?;
    // Another lease of the owner.
    store.withdraw(a).await?;
    same("a dead owner", claim(b, false).await?, Claim::Dead)?;
    let announced = store.announce(&a.process, a.lease, b"", LEASE).await?;
    let again = Owner::new(&*a.process, announced.lease);
    same(
        "an owner that lives again",
        claim(b, true).await?,
        Claim::Other(again.clone()),
    )?;
    same(
        "the same process",
        claim(&again, false).await?,
        Claim::Own(0),
    )?;
    store.withdraw(&again).await?;
    same("a displaced owner", claim(b, true).await?, Claim::Own(0))?;
    let taken = store
        .take_over(id, b)
        .await?
        .ok_or("a session was not taken over")?;
    same("the first takeover", taken.epoch, 1)?;
    same(
        "the epoch of an own session",
        claim(b, false).await?,
        Claim::Own(1),
    )?;
    let announced = store
        .announce(&again.process, again.lease, b"", LEASE)
        .await?;
    let again = Owner::new(&*a.process, announced.lease);
    same(
        "for the owner before",
        claim(&again, true).await?,
        Claim::Other(b.clone()),
    )?;
    store.release(id, c).await?;
    same(
        "a release by another",
        claim(c, true).await?,
        Claim::Other(b.clone()),
    )?;
    store.release(id, b).await?;
    same(
        "a session without owner",
        claim(c, false).await?,
        Claim::Own(1),
    )?;
    store.remove(id, 1).await?;
    same("a removed session", claim(c, true).await?, Claim::Unknown)?;
    store.release(id, c).await?;
    // The first process as the other checks know it has another lease by now.
    store.withdraw(&again).await?;
    Ok(())
}

/// A record of a login is a session of an owner that announces nothing: of those who take it, the last one writes.
async fn logins(store: &dyn DynSessionStore, id: &str) -> Checked {
    let owner = Owner::new("logins", 0);
    let take = async || {
        let taken = store.take_over(id, &owner).await?;
        Ok::<_, StoreError>(taken.map(|taken| (taken.epoch, taken.record)))
    };
    same("an unknown login", take().await?, None)?;
    store.create(id, &owner, b"0", KEEP).await?;
    let first = take().await?.ok_or("a login is not taken")?;
    let second = take().await?.ok_or("a login is not taken again")?;
    same("a login that was taken twice", second.0 > first.0, true)?;
    let late = store.save(id, first.0, b"1", KEEP).await;
    same("a write that comes late", outcome(late)?, CONFLICT)?;
    for record in [b"2", b"3"] {
        store.save(id, second.0, record, KEEP).await?;
    }
    same(
        "a login that was written",
        store.load(id).await?,
        Some(b"3".to_vec()),
    )?;
    let late = store.remove(id, first.0).await;
    same("a removal that comes late", outcome(late)?, CONFLICT)?;
    store.remove(id, second.0).await?;
    same("a login that has ended", take().await?, None)?;
    let late = store.save(id, second.0, b"4", KEEP).await;
    same("a write after the end", outcome(late)?, GONE)
}

async fn records(store: &dyn DynSessionStore, processes: &[Owner; 3], id: &str) -> Checked {
    let [_, owner, _] = processes;
    let other = &format!("{id}-other");
    let record = |text: &[u8]| Some(text.to_vec());
    let save = async |epoch, text| outcome(store.save(id, epoch, text, KEEP).await);
    same("an unknown session", store.load(id).await?, None)?;
    same(
        "an unknown session taken over",
        store.take_over(id, owner).await?,
        None,
    )?;
    same("an unknown session saved", save(0, b"x").await?, GONE)?;
    store.create(id, owner, b"0", KEEP).await?;
    store.create(other, owner, b"\0\r\n\xff", KEEP).await?;
    same(
        "a record of any bytes",
        store.load(other).await?,
        record(b"\0\r\n\xff"),
    )?;
    same("an epoch to come", save(1, b"x").await?, CONFLICT)?;
    same("a save", save(0, b"1").await?, DONE)?;
    same("what was saved", store.load(id).await?, record(b"1"))?;
    for epoch in 1..=3 {
        let taken = store.take_over(id, owner).await?;
        let taken = taken.ok_or("a session was not taken over")?;
        same("the record taken over", &*taken.record, &b"1"[..])?;
        same("the epoch that begins", taken.epoch, epoch)?;
        same(
            "a save of the epoch before",
            save(epoch - 1, b"late").await?,
            CONFLICT,
        )?;
    }
    same(
        "a refused save wrote nothing",
        store.load(id).await?,
        record(b"1"),
    )?;
    let early = outcome(store.remove(id, 2).await)?;
    same("a removal by the owner before", early, CONFLICT)?;
    same(
        "a refused removal removed nothing",
        store.load(id).await?,
        record(b"1"),
    )?;
    store.remove(id, 3).await?;
    store.remove(id, 3).await?;
    same("a removed session", store.load(id).await?, None)?;
    same("a removed session saved", save(3, b"2").await?, GONE)?;
    same(
        "a removed session taken over",
        store.take_over(id, owner).await?,
        None,
    )?;
    same(
        "another session",
        store.load(other).await?,
        record(b"\0\r\n\xff"),
    )?;
    store.remove(other, 0).await?;
    Ok(())
}

async fn events(store: &dyn DynSessionStore, processes: &[Owner; 3], id: &str) -> Checked {
    let [_, owner, _] = processes;
    let other = &format!("{id}-other");
    let event = |sequence, message| StoredEvent::new(id, 1, sequence, message);
    let replay = |messages: &[&[u8]]| {
        Some(Replay::new(
            messages.iter().map(|message| message.to_vec()).collect(),
        ))
    };
    let unknown = outcome(store.append(event(1, b"one")).await)?;
    same("an event of an unknown session", unknown, GONE)?;
    for session in [id, other] {
        store.create(session, owner, b"0", KEEP).await?;
    }
    same("an unknown stream", store.replay(id, 1, 0).await?, None)?;
    store.append(event(1, b"one")).await?;
    store.append(event(3, b"three")).await?;
    same(
        "a replay ends at a gap",
        store.replay(id, 1, 0).await?,
        replay(&[b"one"]),
    )?;
    same("a replay after a gap", store.replay(id, 1, 1).await?, None)?;
    store.append(event(2, b"\0\r\n\xff")).await?;
    let all: [&[u8]; 3] = [b"one", b"\0\r\n\xff", b"three"];
    same(
        "a replay in order",
        store.replay(id, 1, 0).await?,
        replay(&all),
    )?;
    store.append(event(2, b"\0\r\n\xff")).await?;
    same(
        "an event that arrives twice",
        store.replay(id, 1, 0).await?,
        replay(&all),
    )?;
    same(
        "a replay of nothing",
        store.replay(id, 1, 3).await?,
        replay(&[]),
    )?;
    for after in [4, u64::MAX] {
        same("a number to come", store.replay(id, 1, after).await?, None)?;
    }
    same("another stream", store.replay(id, 2, 0).await?, None)?;
    same("another session", store.replay(other, 1, 0).await?, None)?;
    let mut last = event(4, b"four");
    last.end = true;
    store.append(last).await?;
    let ended = replay(&[b"four"]).map(Replay::ended);
    same("an end", store.replay(id, 1, 3).await?, ended)?;
    let ended = replay(&[]).map(Replay::ended);
    same("after an end", store.replay(id, 1, 4).await?, ended)?;
    store.append(StoredEvent::new(id, 2, 1, b"x")).await?;
    let mut end = StoredEvent::new(id, 2, 2, b"");
    end.end = true;
    store.append(end).await?;
    let ended = replay(&[b"x"]).map(Replay::ended);
    same(
        "an end without a message",
        store.replay(id, 2, 0).await?,
        ended,
    )?;
    store.append(StoredEvent::new(id, 0, 1, b"own")).await?;
    store.append(StoredEvent::new(id, 0, 2, b"")).await?;
    let taken = store.take_over(id, owner).await?;
    let taken = taken.map(|taken| (taken.epoch, taken.last_event));
    same("the last event of the own stream", taken, Some((1, 2)))?;
    let before = store.replay(id, 0, 0).await?;
    same("events after a takeover", before, replay(&[b"own", b""]))?;
    let displaced = store.append(event(5, b"late")).await;
    same(
        "an event of the epoch before",
        outcome(displaced)?,
        CONFLICT,
    )?;
    let mut own = StoredEvent::new(id, 0, 3, b"next");
    own.epoch = 1;
    same("the new owner", outcome(store.append(own).await)?, DONE)?;
    own.session = other;
    own.epoch = 0;
    store.append(own).await?;
    store.remove(id, 1).await?;
    own.session = id;
    same("a removed session", outcome(store.append(own).await)?, GONE)?;
    same(
        "events of a removed session",
        store.replay(id, 1, 0).await?,
        None,
    )?;
    let stays = store.replay(other, 0, 2).await?;
    same("another session stays", stays, replay(&[b"next"]))?;
    store.remove(other, 0).await?;
    Ok(())
}

async fn messages(store: &dyn DynSessionStore, prefix: &str) -> Checked {
    let mut both = [store.subscribe().await?, store.subscribe().await?];
    let sent = [&b"one"[..], b"\0\r\n\xff", b""].map(|text| [prefix.as_bytes(), text].concat());
    for message in &sent {
        store.publish(message).await?;
    }
    for subscription in &mut both {
        for message in &sent {
            loop {
                let received = subscription.next().await?;
                // Other tests may publish.
                if received.starts_with(prefix.as_bytes()) {
                    same("messages in order", &received, message)?;
                    break;
                }
            }
        }
    }
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
const LEASE: Duration = Duration::from_secs(60);
