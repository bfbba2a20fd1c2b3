//! A store of sessions whose type is not known.

use core::time::Duration;

use super::{
    Announced, Claim, Owner, Replay, SessionStore, StoreError, StoreSubscription, StoredEvent,
    TakenSession,
};
use crate::runtime::BoxFuture;

/// A [`SessionStore`] as an object: its futures are in boxes.
pub(in crate::http) trait DynSessionStore: Send + Sync {
    fn announce<'a>(
        &'a self,
        process: &'a str,
        last: u64,
        announcement: &'a [u8],
        lease: Duration,
    ) -> Answer<'a, Announced>;
    fn withdraw<'a>(&'a self, owner: &'a Owner) -> Answer<'a, ()>;
    fn create<'a>(
        &'a self,
        id: &'a str,
        owner: &'a Owner,
        record: &'a [u8],
        keep: Duration,
    ) -> Answer<'a, ()>;
    fn claim<'a>(&'a self, id: &'a str, owner: &'a Owner, displaces: bool) -> Answer<'a, Claim>;
    fn load<'a>(&'a self, id: &'a str) -> Answer<'a, Option<Vec<u8>>>;
    fn take_over<'a>(&'a self, id: &'a str, owner: &'a Owner) -> Answer<'a, Option<TakenSession>>;
    fn save<'a>(
        &'a self,
        id: &'a str,
        epoch: u32,
        record: &'a [u8],
        keep: Duration,
    ) -> Answer<'a, ()>;
    fn release<'a>(&'a self, id: &'a str, owner: &'a Owner) -> Answer<'a, ()>;
    fn remove<'a>(&'a self, id: &'a str, epoch: u32) -> Answer<'a, ()>;
    fn append<'a>(&'a self, event: StoredEvent<'a>) -> Answer<'a, ()>;
    fn replay<'a>(&'a self, id: &'a str, stream: u32, after: u64) -> Answer<'a, Option<Replay>>;
    fn publish<'a>(&'a self, message: &'a [u8]) -> Answer<'a, ()>;
    fn subscribe(&self) -> Answer<'_, Box<dyn DynSubscription>>;
}

impl<S: SessionStore> DynSessionStore for S {
    fn announce<'a>(
        &'a self,
        process: &'a str,
        last: u64,
        announcement: &'a [u8],
        lease: Duration,
    ) -> Answer<'a, Announced> {
        Box::pin(SessionStore::announce(
            self,
            process,
            last,
            announcement,
            lease,
        ))
    }

    fn withdraw<'a>(&'a self, owner: &'a Owner) -> Answer<'a, ()> {
        Box::pin(SessionStore::withdraw(self, owner))
    }

    fn create<'a>(
        &'a self,
        id: &'a str,
        owner: &'a Owner,
        record: &'a [u8],
        keep: Duration,
    ) -> Answer<'a, ()> {
        Box::pin(SessionStore::create(self, id, owner, record, keep))
    }

    fn claim<'a>(&'a self, id: &'a str, owner: &'a Owner, displaces: bool) -> Answer<'a, Claim> {
        Box::pin(SessionStore::claim(self, id, owner, displaces))
    }

    fn load<'a>(&'a self, id: &'a str) -> Answer<'a, Option<Vec<u8>>> {
        Box::pin(SessionStore::load(self, id))
    }

    fn take_over<'a>(&'a self, id: &'a str, owner: &'a Owner) -> Answer<'a, Option<TakenSession>> {
        Box::pin(SessionStore::take_over(self, id, owner))
    }

    fn save<'a>(
        &'a self,
        id: &'a str,
        epoch: u32,
        record: &'a [u8],
        keep: Duration,
    ) -> Answer<'a, ()> {
        Box::pin(SessionStore::save(self, id, epoch, record, keep))
    }

    fn release<'a>(&'a self, id: &'a str, owner: &'a Owner) -> Answer<'a, ()> {
        Box::pin(SessionStore::release(self, id, owner))
    }

    fn remove<'a>(&'a self, id: &'a str, epoch: u32) -> Answer<'a, ()> {
        Box::pin(SessionStore::remove(self, id, epoch))
    }

    fn append<'a>(&'a self, event: StoredEvent<'a>) -> Answer<'a, ()> {
        Box::pin(SessionStore::append(self, event))
    }

    fn replay<'a>(&'a self, id: &'a str, stream: u32, after: u64) -> Answer<'a, Option<Replay>> {
        Box::pin(SessionStore::replay(self, id, stream, after))
    }

    fn publish<'a>(&'a self, message: &'a [u8]) -> Answer<'a, ()> {
        Box::pin(SessionStore::publish(self, message))
    }

    fn subscribe(&self) -> Answer<'_, Box<dyn DynSubscription>> {
        Box::pin(async {
            let subscription = SessionStore::subscribe(self).await?;
            Ok(Box::new(subscription) as Box<dyn DynSubscription>)
        })
    }
}

/// A [`StoreSubscription`] as an object.
pub(in crate::http) trait DynSubscription: Send {
    fn next(&mut self) -> Answer<'_, Vec<u8>>;
}

impl<S: StoreSubscription> DynSubscription for S {
    fn next(&mut self) -> Answer<'_, Vec<u8>> {
        Box::pin(StoreSubscription::next(self))
    }
}

/// The future of an answer.
type Answer<'a, T> = BoxFuture<'a, Result<T, StoreError>>;
