//! Calls that ask: nested requests in a legacy session, rounds in 2026-07-28.
//!
//! ```text
//! legacy      question ----> client ----> answer, and the handler goes on
//!
//! 2026-07-28  question ----> the poll ends ----> input_required with every open question
//!                                                and the sealed state; the handler is dropped
//!             the call again, with answers and state ----> the handler runs from its start,
//!             and each question that has its answer is ready at once
//! ```
//!
//! The state of a call is a [`Round`](super::rounds), stored under the lock of the connection's machine from
//! the first question on; a call without questions has none.

mod answer;
mod begin;
mod client_task;
mod elicit;
mod once;
mod question;
mod roots;
mod state;
mod suspend;

pub(crate) use self::answer::check_answer;
pub(super) use self::begin::{QUESTIONS, begin};
pub use self::elicit::Elicited;
pub use self::question::QuestionFuture;
pub use self::roots::Roots;
pub use self::state::{RequestState, StateError};
