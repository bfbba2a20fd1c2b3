//! The server role, told as conversations over one pipe.

mod batches;
mod cancellation;
mod extensions;
mod input;
mod legacy;
mod listens;
mod modern;
mod operations;
mod overdue;
mod parameters;
#[cfg(feature = "alloc")]
mod progress;
mod questions;
mod results;
mod rows;
mod subscriptions;
mod teardown;

use crate::script::server::Talk;
