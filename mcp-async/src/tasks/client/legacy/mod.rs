//! Tasks of 2025-11-25, which are part of the protocol there.
//!
//! A client asks for a task by a member of its call, polls it, and takes its result by a request of
//! its own, on whose stream the server also asks: the follower does this for both kinds. Servers may
//! ask for tasks as well.

mod list;
mod question_store;
mod questions;

pub(super) use self::questions::Questions;
