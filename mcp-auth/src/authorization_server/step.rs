//! What a login asks for, and the answers.

use alloc::string::String;
use alloc::vec::Vec;

use super::context::LoginContext;
use crate::{HttpRequest, HttpResponse};

/// A part of a login that runs in steps: each [`LoginStep::Do`] is answered with one [`LoginInput`], until
/// [`LoginStep::Done`].
///
/// The first input is [`LoginInput::Start`].
pub trait LoginMachine {
    /// The result.
    type Output;

    /// Takes the answer to the last step and returns the next one.
    fn advance(
        &mut self,
        context: &LoginContext<'_>,
        input: LoginInput<'_>,
    ) -> LoginStep<Self::Output>;
}

/// The next action of the caller, or the result.
#[derive(Debug)]
#[must_use]
pub enum LoginStep<T> {
    /// An action.
    Do(LoginAction),
    /// The result.
    Done(T),
}

impl<T> LoginStep<T> {
    pub(super) fn map<U>(self, to: impl FnOnce(T) -> U) -> LoginStep<U> {
        match self {
            Self::Do(action) => LoginStep::Do(action),
            Self::Done(result) => LoginStep::Done(to(result)),
        }
    }
}

/// An action of the caller. Records are sealed; `keep` is in seconds, after which a store may forget them. Anyone can
/// bring about a [`Create`](Self::Create), so that a caller bounds those of one party and of one user.
///
/// If an action fails, the answer is [`LoginInput::Failed`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum LoginAction {
    /// Reads a record; the answer is [`LoginInput::Record`].
    Load {
        /// The name of the record: no session of the protocol can have it, because it has a space.
        key: String,
        /// True if the record is going to be changed: the version in the answer is then a new one, and saving
        /// with earlier ones fails.
        to_change: bool,
    },
    /// Creates a record under a name that is not used; the answer is [`LoginInput::Written`].
    Create {
        /// The name.
        key: String,
        /// The record.
        record: Vec<u8>,
        /// The time to keep it.
        keep: u64,
        /// The user who has logged in, as a hash that is the same for each login of theirs; `None` for a record of the party
        /// that sends the request.
        user: Option<String>,
    },
    /// Replaces a record that was loaded to be changed, unless it was loaded so again; the answer is
    /// [`LoginInput::Written`].
    Save {
        /// The name.
        key: String,
        /// The version that was loaded.
        version: u32,
        /// The record.
        record: Vec<u8>,
        /// The time to keep it.
        keep: u64,
    },
    /// Removes a record, on the same condition; the answer is [`LoginInput::Written`].
    Remove {
        /// The name.
        key: String,
        /// The version that was loaded.
        version: u32,
    },
    /// Sends a request; the answer is [`LoginInput::Response`], with the field `Content-Type`. The metadata document of
    /// a client may come from a cache that follows HTTP, unless the result was that it cannot be used, and the addresses
    /// of its host must be public (AU-29).
    Send(HttpRequest),
    /// Waits about a quarter of a second; the answer is [`LoginInput::Waited`].
    Wait,
}

/// The answer to a [`LoginStep`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum LoginInput<'i> {
    /// Begins.
    Start,
    /// A record with its version, if there is one.
    Record(Option<(u32, &'i [u8])>),
    /// True if the record was written; false if it was loaded to be changed again, or is gone.
    Written(bool),
    /// A response.
    Response(HttpResponse<'i>),
    /// The action failed: a text for the log, without secrets.
    Failed(&'i str),
    /// The time is over.
    Waited,
}
