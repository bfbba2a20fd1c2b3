//! Sessions and their records.

use core::time::Duration;

use redis::{Value, cmd};

use crate::error::Failure;
use crate::scripts::LAYOUT;
use crate::{RedisStore, bytes, decimal, milliseconds, number, parts, scripts};
use mcp_async::http::{
    Announced, Claim, Owner, Replay, SessionStore, StoreError, StoreFuture, StoredEvent,
    Subscription, TakenSession,
};

impl SessionStore for RedisStore {
    fn announce<'a>(
        &'a self,
        process: &'a str,
        last: u64,
        announcement: &'a [u8],
        lease: Duration,
    ) -> StoreFuture<'a, Announced> {
        Box::pin(self.renew_lease(process, last, announcement, lease))
    }

    fn withdraw<'a>(&'a self, owner: &'a Owner) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let arguments: [&[u8]; 2] = [owner.process.as_bytes(), &decimal(owner.lease)];
            let key = self.processes();
            let deadline = self.link.deadline();
            written(
                self.run(&scripts::WITHDRAW, &key, &arguments, deadline)
                    .await?,
            )
        })
    }

    fn create<'a>(
        &'a self,
        id: &'a str,
        owner: &'a Owner,
        record: &'a [u8],
        keep: Duration,
    ) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let arguments: [&[u8]; 4] = [
                record,
                &milliseconds(keep),
                owner.process.as_bytes(),
                &decimal(owner.lease),
            ];
            let deadline = self.link.deadline();
            written(
                self.run(&scripts::CREATE, &self.session(id), &arguments, deadline)
                    .await?,
            )
        })
    }

    fn claim<'a>(
        &'a self,
        id: &'a str,
        owner: &'a Owner,
        displaces: bool,
    ) -> StoreFuture<'a, Claim> {
        Box::pin(async move { Ok(self.claim_session(id, owner, displaces).await?) })
    }

    fn load<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<Vec<u8>>> {
        Box::pin(async move {
            let mut command = cmd("HMGET");
            command.arg(self.session(id)).arg("v").arg("r");
            let reply = self.command(&command, self.link.deadline()).await?;
            match parts(reply)? {
                [Value::Nil, _] | [_, Value::Nil] => Ok(None),
                [Value::BulkString(layout), record] if layout == LAYOUT.as_bytes() => {
                    Ok(Some(bytes(record)?))
                }
                _ => Err(Failure::Layout.into()),
            }
        })
    }

    fn take_over<'a>(
        &'a self,
        id: &'a str,
        owner: &'a Owner,
    ) -> StoreFuture<'a, Option<TakenSession>> {
        Box::pin(async move {
            let arguments: [&[u8]; 2] = [owner.process.as_bytes(), &decimal(owner.lease)];
            let deadline = self.link.deadline();
            let key = self.session(id);
            match self
                .run(&scripts::TAKE_OVER, &key, &arguments, deadline)
                .await?
            {
                Value::Nil => Ok(None),
                Value::BulkString(text) if text == b"conflict" => Err(StoreError::Conflict),
                taken => {
                    let [record, epoch, last] = parts(taken)?;
                    Ok(Some(TakenSession {
                        record: bytes(record)?,
                        epoch: epoch_of(&epoch)?,
                        last_event: number(&last)?,
                    }))
                }
            }
        })
    }

    fn save<'a>(
        &'a self,
        id: &'a str,
        epoch: u32,
        record: &'a [u8],
        keep: Duration,
    ) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let arguments: [&[u8]; 3] = [&decimal(epoch), record, &milliseconds(keep)];
            let deadline = self.link.deadline();
            written(
                self.run(&scripts::SAVE, &self.session(id), &arguments, deadline)
                    .await?,
            )
        })
    }

    fn release<'a>(&'a self, id: &'a str, owner: &'a Owner) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let arguments = [owner.process.as_bytes()];
            let deadline = self.link.deadline();
            written(
                self.run(&scripts::RELEASE, &self.session(id), &arguments, deadline)
                    .await?,
            )
        })
    }

    fn remove<'a>(&'a self, id: &'a str, epoch: u32) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let arguments: [&[u8]; 1] = [&decimal(epoch)];
            let deadline = self.link.deadline();
            written(
                self.run(&scripts::REMOVE, &self.session(id), &arguments, deadline)
                    .await?,
            )
        })
    }

    fn append<'a>(&'a self, event: StoredEvent<'a>) -> StoreFuture<'a, ()> {
        Box::pin(self.append_event(event))
    }

    fn replay<'a>(
        &'a self,
        id: &'a str,
        stream: u32,
        after: u64,
    ) -> StoreFuture<'a, Option<Replay>> {
        Box::pin(async move { Ok(self.replay_events(id, stream, after).await?) })
    }

    fn publish<'a>(&'a self, message: &'a [u8]) -> StoreFuture<'a, ()> {
        Box::pin(async move { Ok(self.publish_to(&self.channel(), message).await?) })
    }

    fn subscribe(&self) -> StoreFuture<'_, Box<dyn Subscription>> {
        Box::pin(async move { Ok(self.begin_subscription().await?) })
    }
}

impl RedisStore {
    pub(crate) fn session(&self, id: &str) -> String {
        self.key("session", id)
    }
}

/// Converts a script's answer to a write.
pub(crate) fn written(reply: Value) -> Result<(), StoreError> {
    match reply {
        Value::BulkString(text) if text == b"ok" => Ok(()),
        Value::BulkString(text) if text == b"conflict" => Err(StoreError::Conflict),
        Value::BulkString(text) if text == b"gone" => Err(StoreError::Gone),
        _ => Err(Failure::Unexpected.into()),
    }
}

pub(crate) fn epoch_of(value: &Value) -> Result<u32, Failure> {
    u32::try_from(number(value)?).map_err(|_| Failure::Unexpected)
}
