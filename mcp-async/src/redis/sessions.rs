//! Sessions and their owners.

use core::time::Duration;

use redis::{Value, cmd};

use super::error::Failure;
use super::{RedisStore, decimal, milliseconds, scripts, written};
use crate::http::{SessionStore, StoreError, StoreFuture, TakenSession};
use crate::net::Network;

impl<R: Network> SessionStore for RedisStore<R> {
    fn create<'a>(&'a self, id: &'a str, record: &'a [u8], keep: Duration) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let keys = [self.key("session", id), self.removed(id)];
            let keys = keys.each_ref().map(String::as_str);
            let arguments: [&[u8]; 2] = [record, &milliseconds(keep)];
            written(self.run(&scripts::CREATE, &keys, &arguments).await?)
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
            let key = self.key("session", id);
            written(self.run(&scripts::SAVE, &[&key], &arguments).await?)
        })
    }

    fn check<'a>(&'a self, id: &'a str, epoch: u32) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let mut command = cmd("HGET");
            command.arg(self.key("session", id)).arg("e");
            match self.command(&command).await? {
                Value::Nil => Err(StoreError::Gone),
                Value::BulkString(current) if current == decimal(epoch) => Ok(()),
                Value::BulkString(_) => Err(StoreError::Conflict),
                _ => Err(Failure::Unexpected.into()),
            }
        })
    }

    fn load<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<Vec<u8>>> {
        Box::pin(async move {
            let mut command = cmd("HGET");
            command.arg(self.key("session", id)).arg("r");
            match self.command(&command).await? {
                Value::Nil => Ok(None),
                Value::BulkString(record) => Ok(Some(record)),
                _ => Err(Failure::Unexpected.into()),
            }
        })
    }

    fn take_over<'a>(&'a self, id: &'a str) -> StoreFuture<'a, Option<TakenSession>> {
        Box::pin(async move {
            let key = self.key("session", id);
            match self.run(&scripts::TAKE_OVER, &[&key], &[]).await? {
                Value::Nil => Ok(None),
                Value::Array(taken) => match <[Value; 2]>::try_from(taken) {
                    Ok([Value::BulkString(record), Value::Int(epoch)]) => {
                        let epoch = u32::try_from(epoch).map_err(|_| Failure::Unexpected)?;
                        Ok(Some(TakenSession::new(record, epoch)))
                    }
                    _ => Err(Failure::Unexpected.into()),
                },
                _ => Err(Failure::Unexpected.into()),
            }
        })
    }

    fn remove<'a>(&'a self, id: &'a str) -> StoreFuture<'a, ()> {
        Box::pin(self.forget(id))
    }
}
