//! The typed client, against servers of every revision, in memory and on a virtual clock.

mod allocations;
mod batches;
mod caching;
mod callbacks;
mod calls;
mod forwarding;
mod paging;
mod restarts;
mod roots;
mod streams;
pub(crate) mod support;
mod tenants;
