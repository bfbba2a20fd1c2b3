//! Values of the application in the request state.

use core::fmt;

use mcp_proto::json::{DecodeError, EncodeError, MAX_DEPTH, Raw, RawBuf};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::server::call::context::CallContext;
use crate::server::rounds::keys::LIMIT;
use crate::server::rounds::round::Round;

/// Values that a call keeps over its rounds, by keys of the handler's choice; see
/// [`CallContext::request_state`].
#[derive(Debug)]
pub struct RequestState<'a> {
    context: &'a CallContext,
}

/// Reasons for which a value is not kept.
#[derive(Debug)]
#[non_exhaustive]
pub enum StateError {
    /// It does not serialize to JSON, or nests too deeply.
    Encode(EncodeError),
    /// The value that is kept is of another type.
    Decode(DecodeError),
    /// Values and answers of the call would take more than the 64 KiB that a client is asked
    /// to carry.
    Full,
}

impl CallContext {
    /// The application's own values, for as long as the call lasts.
    ///
    /// In 2026-07-28 they travel through the client in the sealed request state, at most
    /// 64 KiB with all answers and all that was computed [once](Self::once); a task keeps them in
    /// memory, without that limit. The client can
    /// **read** them; it cannot change them, keep them for longer than
    /// [`StateKeys::lifetime`](crate::server::rounds::StateKeys::lifetime), or use them in another call. It can send the
    /// same round twice, though: what must happen only once needs a record of your own.
    ///
    /// ```
    /// use mcp_async::server::{CallContext, StateError};
    ///
    /// async fn count_rounds(cx: &CallContext) -> Result<u32, StateError> {
    ///     let state = cx.request_state();
    ///     let rounds = state.value::<u32>("rounds")?.unwrap_or(0) + 1;
    ///     state.set("rounds", &rounds)?;
    ///     Ok(rounds)
    /// }
    /// # let _ = count_rounds;
    /// ```
    pub const fn request_state(&self) -> RequestState<'_> {
        RequestState { context: self }
    }

    /// Returns whether the values of the call have to fit into the request state: a task keeps it in memory.
    pub(super) fn state_travels(&self) -> bool {
        !self.host.has_detached()
    }
}

impl RequestState<'_> {
    /// The value under this key, if there is one and the call is not over.
    ///
    /// # Errors
    /// [`StateError::Decode`]: it is of another type.
    pub fn value<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, StateError> {
        let value = {
            let found = |round: &mut Round| round.carried.values.get(key).cloned();
            self.context.with_existing_round(found).flatten()
        };
        let decoded = value.map(|value| value.decode());
        decoded.transpose().map_err(StateError::Decode)
    }

    /// Keeps a value under this key, instead of the one before. A call that is over keeps
    /// nothing any more.
    ///
    /// # Errors
    /// [`StateError::Encode`], [`StateError::Full`].
    pub fn set<T: Serialize + ?Sized>(&self, key: &str, value: &T) -> Result<(), StateError> {
        let value = encode(value)?;
        let travels = self.context.state_travels();
        let kept = self.context.with_round(|round| {
            let old = round.carried.values.remove(key);
            if travels && !has_room(round, key, &value) {
                if let Some(old) = old {
                    round.carried.values.insert(key.to_owned(), old);
                }
                return Err(StateError::Full);
            }
            round.carried.values.insert(key.to_owned(), value);
            Ok(())
        });
        kept.unwrap_or(Ok(()))
    }

    /// Forgets the answer to the question under this key: it takes no more room in the state, and the same question is asked again.
    /// For a handler that has passed the answer on, as a proxy does.
    pub fn forget_answer(&self, key: &str) {
        let forgotten = self
            .context
            .with_existing_round(|round| round.carried.answers.remove(key));
        drop(forgotten);
    }

    /// Forgets the value under this key.
    pub fn remove(&self, key: &str) {
        self.context
            .with_existing_round(|round| round.carried.values.remove(key));
    }
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Encode(_) => f.write_str("the value cannot be kept"),
            Self::Decode(_) => f.write_str("the value that was kept is of another type"),
            Self::Full => f.write_str("the request state is full"),
        }
    }
}

impl core::error::Error for StateError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Encode(error) => Some(error),
            Self::Decode(error) => Some(error),
            Self::Full => None,
        }
    }
}

/// A value that still parses inside of the state.
pub(super) fn encode<T: Serialize + ?Sized>(value: &T) -> Result<RawBuf, StateError> {
    let value = RawBuf::encode(value).map_err(StateError::Encode)?;
    Raw::parse(value.as_raw().as_bytes(), MAX_DEPTH - NESTED)
        .map_err(|_| StateError::Encode(EncodeError::Depth))?;
    Ok(value)
}

/// Returns whether the state would still fit with this value.
pub(super) fn has_room(round: &Round, key: &str, value: &RawBuf) -> bool {
    round.carried.len() + key.len() + value.as_raw().as_bytes().len() <= ROOM
}

/// Containers around a value.
const NESTED: u8 = 3;

/// Sealing makes four characters of three bytes, and names, tag and expiry take some.
const ROOM: usize = LIMIT / 4 * 3 - 256;
