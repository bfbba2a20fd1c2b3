//! The typed client, against servers of every revision, in memory and on a virtual clock.
#![cfg(all(feature = "client", feature = "server"))]

mod calls;
mod support;
