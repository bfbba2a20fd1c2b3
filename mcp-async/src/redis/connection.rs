//! A connection to a store, which is made when a command needs it and made again when it broke.

use core::future::poll_fn;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll};
use core::time::Duration;
use std::sync::Arc;

use futures_io::{AsyncRead, AsyncWrite};
use redis::{Cmd, Value};

use super::error::Failure;
use super::frame::Replies;
use super::queue::Queue;
use super::target::Target;
use crate::net::Network;
use crate::net::time::{RuntimeSleep, timeout};

/// Commands of many calls share it, each waiting for its own reply.
pub(super) struct Connection<R> {
    target: Arc<Target>,
    /// How long a connection may take to be made.
    timeout: Duration,
    queue: Arc<Queue>,
    runtime: PhantomData<fn() -> R>,
}

impl<R: Network> Connection<R> {
    pub(super) fn new(target: &Arc<Target>, timeout: Duration) -> Self {
        Self {
            target: Arc::clone(target),
            timeout,
            queue: Arc::default(),
            runtime: PhantomData,
        }
    }

    /// The reply to a command, which the store has `limit` for. A command is sent once: one whose
    /// connection broke may have had its effect.
    pub(super) async fn call(&self, command: &Cmd, limit: Duration) -> Result<Value, Failure> {
        let now = R::default().now();
        let command = command.get_packed_command();
        // The connection ends when a reply is still due after the call has given up.
        let (reply, starts) = self.queue.push(&command, now, now + 2 * limit)?;
        if starts {
            let (target, queue) = (Arc::clone(&self.target), Arc::clone(&self.queue));
            R::spawn(Box::pin(drive::<R>(target, queue, self.timeout)));
        }
        match timeout::<R, _>(limit, reply.wait()).await {
            Some(Ok(Value::ServerError(error))) if error.code() == "NOSCRIPT" => {
                Err(Failure::NoScript)
            }
            Some(Ok(Value::ServerError(error))) => Err(Failure::Refused(error.to_string())),
            Some(result) => result,
            None => Err(Failure::Timeout(limit)),
        }
    }
}

impl<R> Drop for Connection<R> {
    fn drop(&mut self) {
        self.queue.close();
    }
}

/// Makes a connection and serves the commands of the queue until it breaks.
async fn drive<R: Network>(target: Arc<Target>, queue: Arc<Queue>, limit: Duration) {
    let connected = match timeout::<R, _>(limit, connect::<R>(&target)).await {
        Some(connected) => connected,
        None => Err(Failure::Timeout(limit)),
    };
    let failure = match connected {
        Ok(mut link) => {
            queue.connected();
            poll_fn(|cx| link.poll(&queue, cx)).await
        }
        Err(failure) => failure,
    };
    queue.fail(R::default().now(), &failure);
}

async fn connect<R: Network>(target: &Target) -> Result<Link<R>, Failure> {
    let stream = target.dial::<R>().await.map_err(broken)?;
    let mut link = Link {
        stream,
        replies: Replies::new(),
        writing: target.login.clone(),
        written: 0,
        overdue: RuntimeSleep::until(R::default().now()),
    };
    for _ in 0..target.logins {
        let reply = poll_fn(|cx| {
            if let Err(failure) = link.write(cx) {
                return Poll::Ready(Err(failure));
            }
            link.poll_reply(cx)
        });
        if let Value::ServerError(error) = reply.await? {
            return Err(Failure::Refused(error.to_string()));
        }
    }
    Ok(link)
}

/// A connection that was made.
struct Link<R: Network> {
    stream: R::Stream,
    replies: Replies,
    writing: Vec<u8>,
    written: usize,
    /// Fires when the first command has waited too long.
    overdue: RuntimeSleep<R>,
}

impl<R: Network> Link<R> {
    /// Serves the commands of the queue; ready when the connection is over.
    fn poll(&mut self, queue: &Queue, cx: &mut Context<'_>) -> Poll<Failure> {
        match self.turn(queue, cx) {
            Ok(()) => Poll::Pending,
            Err(failure) => Poll::Ready(failure),
        }
    }

    fn turn(&mut self, queue: &Queue, cx: &mut Context<'_>) -> Result<(), Failure> {
        loop {
            {
                let mut commands = queue.lock();
                if commands.closed {
                    return Err(Failure::Unreachable("the store was dropped".into()));
                }
                commands.waker = Some(cx.waker().clone());
                if self.written == self.writing.len() {
                    self.written = 0;
                    self.writing.clear();
                    core::mem::swap(&mut self.writing, &mut commands.out);
                }
            }
            self.write(cx)?;
            if self.written < self.writing.len() || queue.lock().out.is_empty() {
                break;
            }
        }
        while let Poll::Ready(reply) = self.poll_reply(cx) {
            queue.reply(Ok(reply?))?;
        }
        if let Some(deadline) = queue.deadline() {
            self.overdue.reset(deadline);
            if self.overdue.poll_done(cx).is_ready() {
                return Err(Failure::Unreachable("a reply is overdue".into()));
            }
        }
        Ok(())
    }

    /// Writes what the stream takes now.
    fn write(&mut self, cx: &mut Context<'_>) -> Result<(), Failure> {
        while let Some(rest) = self
            .writing
            .get(self.written..)
            .filter(|rest| !rest.is_empty())
        {
            match Pin::new(&mut self.stream).poll_write(cx, rest) {
                Poll::Pending => return Ok(()),
                Poll::Ready(Ok(0)) => return Err(closed()),
                Poll::Ready(Ok(count)) => self.written += count,
                Poll::Ready(Err(error)) => return Err(broken(error)),
            }
        }
        match Pin::new(&mut self.stream).poll_flush(cx) {
            Poll::Ready(Err(error)) => Err(broken(error)),
            _ => Ok(()),
        }
    }

    fn poll_reply(&mut self, cx: &mut Context<'_>) -> Poll<Result<Value, Failure>> {
        loop {
            if let Some(reply) = self.replies.next()? {
                let value = redis::parse_redis_value(&reply);
                return Poll::Ready(value.map_err(|_| Failure::Malformed));
            }
            let mut portion = [0; PORTION];
            match Pin::new(&mut self.stream).poll_read(cx, &mut portion) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Ok(0)) => return Poll::Ready(Err(closed())),
                Poll::Ready(Ok(count)) => {
                    self.replies
                        .receive(portion.get(..count).unwrap_or_default());
                }
                Poll::Ready(Err(error)) => return Poll::Ready(Err(broken(error))),
            }
        }
    }
}

fn broken(error: std::io::Error) -> Failure {
    Failure::Unreachable(error.to_string().into())
}

fn closed() -> Failure {
    Failure::Unreachable("the connection was closed".into())
}

/// What is read at a time.
const PORTION: usize = 16 << 10;
