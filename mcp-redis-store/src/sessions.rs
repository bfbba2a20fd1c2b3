//! Sessions and their records.

use core::time::Duration;

use redis::{Value, cmd};

use crate::error::Failure;
use crate::scripts::LAYOUT;
use crate::subscription::RedisSubscription;
use crate::{RedisStore, bytes, decimal, milliseconds, number, parts, scripts};
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
        let deadline = self.link.deadline();
        written(
            self.run(&scripts::WITHDRAW, &key, &arguments, deadline)
                .await?,
        )
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
        let deadline = self.link.deadline();
        written(
            self.run(&scripts::CREATE, &self.session(id), &arguments, deadline)
                .await?,
        )
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
    }

    async fn save(
        &self,
        id: &str,
        epoch: u32,
        record: &[u8],
        keep: Duration,
    ) -> Result<(), StoreError> {
        let arguments: [&[u8]; 3] = [&decimal(epoch), record, &milliseconds(keep)];
        let deadline = self.link.deadline();
        written(
            self.run(&scripts::SAVE, &self.session(id), &arguments, deadline)
                .await?,
        )
    }

    async fn release(&self, id: &str, owner: &Owner) -> Result<(), StoreError> {
        let arguments = [owner.process.as_bytes()];
        let deadline = self.link.deadline();
        written(
            self.run(&scripts::RELEASE, &self.session(id), &arguments, deadline)
                .await?,
        )
    }

    async fn remove(&self, id: &str, epoch: u32) -> Result<(), StoreError> {
        let arguments: [&[u8]; 1] = [&decimal(epoch)];
        let deadline = self.link.deadline();
        written(
            self.run(&scripts::REMOVE, &self.session(id), &arguments, deadline)
                .await?,
        )
    }

    async fn append(&self, event: StoredEvent<'_>) -> Result<(), StoreError> {
        self.append_event(event).await
    }

    async fn replay(
        &self,
        id: &str,
        stream: u32,
        after: u64,
    ) -> Result<Option<Replay>, StoreError> {
        Ok(self.replay_events(id, stream, after).await?)
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
