//! Messages between processes.

use core::time::Duration;

use redis::{Value, cmd};

use super::error::Failure;
use super::events::messages;
use super::{RedisStore, decimal, milliseconds, scripts};
use crate::http::{Claim, Relay, StoreFuture};
use crate::net::Network;

impl<R: Network> RedisStore<R> {
    fn processes(&self) -> String {
        format!("{}processes", self.settings.prefix)
    }

    /// Sends a message to a process, or to all others; returns to how many.
    async fn deliver(&self, process: &str, message: &[u8], others: bool) -> Result<i64, Failure> {
        let inboxes = self.key("inbox", "");
        let arguments: [&[u8]; 6] = [
            inboxes.as_bytes(),
            process.as_bytes(),
            message,
            &decimal(MAX_MESSAGES),
            &milliseconds(INBOX_KEEP),
            if others { b"1" } else { b"0" },
        ];
        match self
            .run(&scripts::SEND, &[&self.processes()], &arguments)
            .await?
        {
            Value::Int(-1) => Err(Failure::InboxFull),
            Value::Int(count) => Ok(count),
            _ => Err(Failure::Unexpected),
        }
    }
}

impl<R: Network> Relay for RedisStore<R> {
    fn announce<'a>(&'a self, process: &'a str, lease: Duration) -> StoreFuture<'a, Vec<String>> {
        Box::pin(async move {
            let arguments: [&[u8]; 2] = [process.as_bytes(), &milliseconds(lease)];
            let keys = [&*self.processes()];
            match self.run(&scripts::ANNOUNCE, &keys, &arguments).await? {
                Value::Array(live) => Ok(messages(live)?
                    .into_iter()
                    .filter_map(|name| String::from_utf8(name).ok())
                    .collect()),
                _ => Err(Failure::Unexpected.into()),
            }
        })
    }

    fn withdraw<'a>(&'a self, process: &'a str) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            let mut command = cmd("ZREM");
            command.arg(self.processes()).arg(process);
            self.command(&command).await?;
            let mut command = cmd("DEL");
            command.arg(self.key("inbox", process));
            self.command(&command).await?;
            Ok(())
        })
    }

    fn claim<'a>(&'a self, session: &'a str, process: &'a str) -> StoreFuture<'a, Claim> {
        Box::pin(async move {
            let keys = [self.key("session", session), self.processes()];
            let keys = keys.each_ref().map(String::as_str);
            match self
                .run(&scripts::CLAIM, &keys, &[process.as_bytes()])
                .await?
            {
                Value::Nil => Ok(Claim::Unknown),
                Value::BulkString(owner) if owner.is_empty() => Ok(Claim::Own),
                Value::BulkString(owner) => match String::from_utf8(owner) {
                    Ok(owner) => Ok(Claim::Other(owner)),
                    Err(_) => Err(Failure::Unexpected.into()),
                },
                _ => Err(Failure::Unexpected.into()),
            }
        })
    }

    fn send<'a>(&'a self, process: &'a str, message: &'a [u8]) -> StoreFuture<'a, bool> {
        Box::pin(async move { Ok(self.deliver(process, message, false).await? == 1) })
    }

    fn broadcast<'a>(&'a self, from: &'a str, message: &'a [u8]) -> StoreFuture<'a, ()> {
        Box::pin(async move {
            self.deliver(from, message, true).await?;
            Ok(())
        })
    }

    fn receive<'a>(&'a self, process: &'a str) -> StoreFuture<'a, Vec<Vec<u8>>> {
        Box::pin(async move {
            let mut command = cmd("BLMPOP");
            command
                .arg(WAIT.as_secs())
                .arg(1)
                .arg(self.key("inbox", process))
                .arg("LEFT")
                .arg("COUNT")
                .arg(64);
            let limit = self.settings.timeout + WAIT;
            match self.inbox.call(&command, limit).await? {
                Value::Nil => Ok(Vec::new()),
                Value::Array(popped) => match <[Value; 2]>::try_from(popped) {
                    Ok([_, Value::Array(received)]) => Ok(messages(received)?),
                    _ => Err(Failure::Unexpected.into()),
                },
                _ => Err(Failure::Unexpected.into()),
            }
        })
    }
}

/// How long the store waits for a message.
const WAIT: Duration = Duration::from_secs(1);

/// Messages that may wait in an inbox.
const MAX_MESSAGES: usize = 4096;

/// How long they are kept for a process that does not read them.
const INBOX_KEEP: Duration = Duration::from_secs(60);
