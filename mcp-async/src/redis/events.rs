//! The events of sessions.

use redis::Value;

use super::error::Failure;
use super::{RedisStore, decimal, milliseconds, scripts, written};
use crate::http::{EventStore, Replay, StoreFuture, StoredEvent};
use crate::net::Network;

impl<R: Network> EventStore for RedisStore<R> {
    fn append<'a>(&'a self, event: StoredEvent<'a>) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let keys = [
                self.removed(event.session),
                self.key("meta", event.session),
                self.key("events", event.session),
                self.key("order", event.session),
            ];
            let keys = keys.each_ref().map(String::as_str);
            let arguments: [&[u8]; 8] = [
                &decimal(event.epoch),
                &decimal(event.stream),
                &decimal(event.sequence),
                event.message,
                if event.end { b"1" } else { b"0" },
                &decimal(self.settings.max_events),
                &decimal(self.settings.max_bytes),
                &milliseconds(self.settings.retention),
            ];
            written(self.run(&scripts::APPEND, &keys, &arguments).await?)
        })
    }

    fn replay<'a>(
        &'a self,
        session: &'a str,
        stream: u32,
        after: u64,
    ) -> StoreFuture<'a, Option<Replay>> {
        Box::pin(async move {
            // The scripts count in numbers that are exact up to here.
            if after > MAX_SEQUENCE {
                return Ok(None);
            }
            let keys = [self.key("meta", session), self.key("events", session)];
            let keys = keys.each_ref().map(String::as_str);
            let arguments: [&[u8]; 2] = [&decimal(stream), &decimal(after)];
            match self.run(&scripts::REPLAY, &keys, &arguments).await? {
                Value::Nil => Ok(None),
                Value::Array(replay) => match <[Value; 2]>::try_from(replay) {
                    Ok([Value::Int(ended), Value::Array(events)]) => {
                        let replay = Replay::new(messages(events)?);
                        Ok(Some(if ended == 1 { replay.ended() } else { replay }))
                    }
                    _ => Err(Failure::Unexpected.into()),
                },
                _ => Err(Failure::Unexpected.into()),
            }
        })
    }

    fn begin_epoch<'a>(&'a self, session: &'a str, epoch: u32) -> StoreFuture<'a, u64> {
        Box::pin(async move {
            let keys = [self.removed(session), self.key("meta", session)];
            let keys = keys.each_ref().map(String::as_str);
            let arguments: [&[u8]; 2] = [&decimal(epoch), &milliseconds(self.settings.retention)];
            match self.run(&scripts::BEGIN_EPOCH, &keys, &arguments).await? {
                Value::Int(last) => Ok(u64::try_from(last).map_err(|_| Failure::Unexpected)?),
                refused => match written(refused) {
                    Ok(()) => Err(Failure::Unexpected.into()),
                    Err(error) => Err(error),
                },
            }
        })
    }

    fn remove<'a>(&'a self, session: &'a str) -> StoreFuture<'a, ()> {
        Box::pin(self.forget(session))
    }
}

pub(super) fn messages(values: Vec<Value>) -> Result<Vec<Vec<u8>>, Failure> {
    let message = |value| match value {
        Value::BulkString(message) => Ok(message),
        _ => Err(Failure::Unexpected),
    };
    values.into_iter().map(message).collect()
}

const MAX_SEQUENCE: u64 = 1 << 53;
