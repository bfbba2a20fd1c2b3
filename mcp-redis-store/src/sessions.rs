//! Sessions, their records and their events.

use core::time::Duration;

use redis::{Value, cmd};

use crate::error::Failure;
use crate::scripts::{LAYOUT, StoredScript};
use crate::subscription::RedisSubscription;
use crate::{RedisStore, bytes, decimal, list, milliseconds, number, parts, scripts};
use mcp_async::http::{
    Announced, Claim, Owner, Replay, SessionStore, StoreError, StoredEvent, TakenSession,
};

impl SessionStore for RedisStore {
    type Subscription = RedisSubscription;

    async fn announce(
        &self,
        process: &str,
        last: u64,
        announcement: &[u8],
        lease: Duration,
    ) -> Result<Announced, StoreError> {
        self.renew_lease(process, last, announcement, lease).await
    }

    async fn withdraw(&self, owner: &Owner) -> Result<(), StoreError> {
        let arguments: [&[u8]; 2] = [owner.process.as_bytes(), &decimal(owner.lease)];
        let key = self.processes();
        self.write(&scripts::WITHDRAW, &key, &arguments).await
    }

    async fn create(
        &self,
        id: &str,
        owner: &Owner,
        record: &[u8],
        keep: Duration,
    ) -> Result<(), StoreError> {
        let arguments: [&[u8]; 4] = [
            record,
            &milliseconds(keep),
            owner.process.as_bytes(),
            &decimal(owner.lease),
        ];
        let key = self.session(id);
        self.write(&scripts::CREATE, &key, &arguments).await
    }

    async fn claim(&self, id: &str, owner: &Owner, displaces: bool) -> Result<Claim, StoreError> {
        Ok(self.claim_session(id, owner, displaces).await?)
    }

    async fn load(&self, id: &str) -> Result<Option<Vec<u8>>, StoreError> {
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
    }

    async fn take_over(&self, id: &str, owner: &Owner) -> Result<Option<TakenSession>, StoreError> {
        let arguments: [&[u8]; 2] = [owner.process.as_bytes(), &decimal(owner.lease)];
        let key = self.session(id);
        match self.run(&scripts::TAKE_OVER, &key, &arguments).await? {
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
    }

    async fn save(
        &self,
        id: &str,
        epoch: u32,
        record: &[u8],
        keep: Duration,
    ) -> Result<(), StoreError> {
        let arguments: [&[u8]; 3] = [&decimal(epoch), record, &milliseconds(keep)];
        let key = self.session(id);
        self.write(&scripts::SAVE, &key, &arguments).await
    }

    async fn release(&self, id: &str, owner: &Owner) -> Result<(), StoreError> {
        let arguments = [owner.process.as_bytes()];
        let key = self.session(id);
        self.write(&scripts::RELEASE, &key, &arguments).await
    }

    async fn remove(&self, id: &str, epoch: u32) -> Result<(), StoreError> {
        let arguments: [&[u8]; 1] = [&decimal(epoch)];
        let key = self.session(id);
        self.write(&scripts::REMOVE, &key, &arguments).await
    }

    async fn append(&self, event: StoredEvent<'_>) -> Result<(), StoreError> {
        let arguments: [&[u8]; 7] = [
            &decimal(event.epoch),
            &decimal(event.stream),
            &decimal(event.sequence),
            event.message,
            if event.end { b"1" } else { b"0" },
            &decimal(self.settings.max_events),
            &decimal(self.settings.max_bytes),
        ];
        let key = self.session(event.session);
        self.write(&scripts::APPEND, &key, &arguments).await
    }

    async fn replay(
        &self,
        id: &str,
        stream: u32,
        after: u64,
    ) -> Result<Option<Replay>, StoreError> {
        if after > MAX_SEQUENCE {
            return Ok(None);
        }
        let arguments: [&[u8]; 2] = [&decimal(stream), &decimal(after)];
        let key = self.session(id);
        match self.run(&scripts::REPLAY, &key, &arguments).await? {
            Value::Nil => Ok(None),
            found => {
                let [ended, events] = parts(found)?;
                let events = list(events)?.into_iter().map(bytes);
                let replay = Replay::new(events.collect::<Result<_, _>>()?);
                Ok(Some(match number(&ended)? {
                    0 => replay,
                    _ => replay.ended(),
                }))
            }
        }
    }

    async fn publish(&self, message: &[u8]) -> Result<(), StoreError> {
        Ok(self.publish_to(&self.channel(), message).await?)
    }

    async fn subscribe(&self) -> Result<RedisSubscription, StoreError> {
        Ok(self.begin_subscription().await?)
    }
}

impl RedisStore {
    pub(crate) fn session(&self, id: &str) -> String {
        self.key("session", id)
    }

    /// Runs a script that writes.
    async fn write(
        &self,
        script: &StoredScript,
        key: &str,
        arguments: &[&[u8]],
    ) -> Result<(), StoreError> {
        match self.run(script, key, arguments).await? {
            Value::BulkString(text) if text == b"ok" => Ok(()),
            Value::BulkString(text) if text == b"conflict" => Err(StoreError::Conflict),
            Value::BulkString(text) if text == b"gone" => Err(StoreError::Gone),
            _ => Err(Failure::Unexpected.into()),
        }
    }
}

/// The largest number that the scripts count to exactly.
const MAX_SEQUENCE: u64 = 1 << 53;

pub(crate) fn epoch_of(value: &Value) -> Result<u32, Failure> {
    u32::try_from(number(value)?).map_err(|_| Failure::Unexpected)
}
