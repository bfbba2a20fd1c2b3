//! Values that are computed once, although the handler runs several times.

use core::future::{Future, poll_fn};
use core::task::{self, Poll};

use mcp_proto::json::RawBuf;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::state::{StateError, encode, has_room};
use crate::server::call::context::CallContext;
use crate::server::rounds::round::{Computing, Waiting};

impl CallContext {
    /// Computes a value in the first run of the handler that gets here, and returns that same
    /// value in every later one: for what has an effect, what differs from run to run and what
    /// takes long.
    ///
    /// In 2026-07-28 the handler runs again with the answers to its questions, and the value
    /// travels in the [request state](Self::request_state), so it is bounded, and the client
    /// can read it. A round that ends while the value is still being computed forgets it: await
    /// it before, not beside a question.
    ///
    /// ```
    /// use mcp_async::server::{AskError, CallContext, Elicited};
    /// # #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// # struct Confirm { sure: bool }
    /// # async fn reserve() -> u64 { 7 }
    ///
    /// async fn book(cx: CallContext) -> Result<String, Box<dyn std::error::Error>> {
    ///     let order = cx.once("order", reserve()).await?; // one reservation, not two
    ///     let message = format!("Confirm order {order}?");
    ///     match cx.elicit::<Confirm>("confirm", &message).await? {
    ///         Elicited::Accepted(Confirm { sure: true }) => Ok(format!("booked {order}")),
    ///         _ => Ok("not booked".into()),
    ///     }
    /// }
    /// # let _ = book;
    /// ```
    ///
    /// # Errors
    /// [`StateError`]: the value was computed, and cannot be kept.
    pub async fn once<T, F>(&self, key: &str, compute: F) -> Result<T, StateError>
    where
        T: Serialize + DeserializeOwned,
        F: Future<Output = T>,
    {
        let compute = async { Ok::<T, Never>(compute.await) };
        self.try_once(key, compute).await.map_err(|error| error.0)
    }

    /// As [`once`](Self::once), for what may fail: an error is not kept, so the next run tries
    /// again.
    ///
    /// ```
    /// use mcp_async::server::{CallContext, HandlerError};
    /// # async fn reserve() -> Result<u64, std::io::Error> { Ok(7) }
    ///
    /// async fn order(cx: &CallContext) -> Result<u64, HandlerError> {
    ///     cx.try_once("order", async { Ok(reserve().await?) }).await
    /// }
    /// # let _ = order;
    /// ```
    ///
    /// # Errors
    /// Those of the future, and [`StateError`].
    pub async fn try_once<T, E, F>(&self, key: &str, compute: F) -> Result<T, E>
    where
        T: Serialize + DeserializeOwned,
        E: From<StateError>,
        F: Future<Output = Result<T, E>>,
    {
        let mut number = None;
        let claim = match poll_fn(|cx| self.claim(key, &mut number, cx)).await {
            Claimed::Value(value) => return Ok(value.decode().map_err(StateError::Decode)?),
            Claimed::Work(claim) => claim,
        };
        let value = compute.await?;
        let encoded = encode(&value)?;
        if let Some(claim) = claim {
            claim.keep(encoded)?;
        }
        Ok(value)
    }

    /// The value, or the right to compute it.
    fn claim<'a>(
        &'a self,
        key: &'a str,
        number: &mut Option<u64>,
        cx: &task::Context<'_>,
    ) -> Poll<Claimed<'a>> {
        // A waker that is replaced is dropped outside of the lock.
        let mut old = None;
        let claimed = self.with_round(|round| {
            if let Some(value) = round.carried.computed.get(key) {
                return Poll::Ready(Claimed::Value(value.clone()));
            }
            let number = *number.get_or_insert(round.number());
            if let Some(computing) = round.find_computing(key) {
                old = computing.waiting.join(number, cx);
                return Poll::Pending;
            }
            round.computing.push(Computing {
                key: key.to_owned(),
                waiting: Waiting::default(),
            });
            Poll::Ready(Claimed::Work(Some(Claim { context: self, key })))
        });
        claimed.unwrap_or(Poll::Ready(Claimed::Work(None)))
    }
}

enum Claimed<'a> {
    Value(RawBuf),
    /// Without a claim in a call that is over, which keeps nothing.
    Work(Option<Claim<'a>>),
}

/// The right to compute a value; the next one gets it when it is dropped.
struct Claim<'a> {
    context: &'a CallContext,
    key: &'a str,
}

impl Claim<'_> {
    fn keep(&self, value: RawBuf) -> Result<(), StateError> {
        let travels = self.context.state_travels();
        let kept = self.context.with_round(|round| {
            if travels && !has_room(round, self.key, &value) {
                return Err(StateError::Full);
            }
            round.carried.computed.insert(self.key.to_owned(), value);
            Ok(())
        });
        kept.unwrap_or(Ok(()))
    }
}

impl Drop for Claim<'_> {
    fn drop(&mut self) {
        let waiting = self
            .context
            .with_existing_round(|round| round.computed(self.key));
        waiting.unwrap_or_default().wake();
    }
}

/// The error of a computation that has none.
struct Never(StateError);

impl From<StateError> for Never {
    fn from(error: StateError) -> Self {
        Self(error)
    }
}
