//! Handlers that ask, in every revision: nested requests in a legacy session, rounds in
//! 2026-07-28, from one source.

mod client_tasks;
mod hand;
mod parity;
mod state;
mod support;
mod tasks;
