//! The member `resultType`.

use super::declare::{borrowed, borrowed_name};
use crate::json::{Duplicate, Object};

borrowed! {
    ;
    ;
    /// The kind of a result; since 2026-07-28.
    names ResultType {
        /// The answer.
        Complete = "complete",
        /// A list of questions (see [`InputRequiredResult`](super::InputRequiredResult)).
        InputRequired = "input_required",
        /// A task of the extension for tasks.
        Task = "task",
    }
}

impl<'b> ResultType<'b> {
    /// The kind of a result. One that does not say it is complete (JR-21); the `None` within is
    /// one that says it by something else than text, which makes the response invalid (JR-22).
    ///
    /// # Errors
    ///
    /// If it says it twice.
    pub fn of(result: Object<'b>) -> Result<Option<Self>, Duplicate> {
        let [kind] = result.find(["resultType"])?;
        Ok(match kind {
            None => Some(Self::Complete),
            Some(kind) => kind.string().map(Self::from),
        })
    }
}
