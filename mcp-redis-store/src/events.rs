//! The events of sessions.

use redis::Value;

use crate::error::Failure;
use crate::sessions::written;
use crate::{RedisStore, bytes, decimal, list, number, parts, scripts};
use mcp_async::http::{Replay, StoreError, StoredEvent};

impl RedisStore {
    pub(crate) async fn append_event(&self, event: StoredEvent<'_>) -> Result<(), StoreError> {
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
        let deadline = self.link.deadline();
        written(
            self.run(&scripts::APPEND, &key, &arguments, deadline)
                .await?,
        )
    }

    pub(crate) async fn replay_events(
        &self,
        session: &str,
        stream: u32,
        after: u64,
    ) -> Result<Option<Replay>, Failure> {
        // The scripts count in numbers that are exact up to here.
        if after > MAX_SEQUENCE {
            return Ok(None);
        }
        let arguments: [&[u8]; 2] = [&decimal(stream), &decimal(after)];
        let key = self.session(session);
        let deadline = self.link.deadline();
        match self
            .run(&scripts::REPLAY, &key, &arguments, deadline)
            .await?
        {
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
}

const MAX_SEQUENCE: u64 = 1 << 53;
