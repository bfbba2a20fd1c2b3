//! Tasks of 2025-11-25, by the engine and the store of the extension.
//!
//! A record of such a task is marked, and the methods of the one kind do not find the tasks of the
//! other. The requests that only this kind has are here: the call that asks for a task, the list,
//! and the wait for a result. During that wait the client is asked what the task asks; the session
//! is asked and notified apart from requests.

mod accompanied;
mod call;
mod list;
mod questions;
