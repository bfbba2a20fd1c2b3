//! Nobody watches.

use core::time::Duration;

use mcp_proto::Why;

pub(crate) const fn ignored(_why: Why) {}

pub(crate) const fn panicked() {}

pub(crate) const fn expired(_limit: Duration) {}

pub(crate) const fn ping_missed(_misses: u32, _limit: u32) {}

pub(crate) const fn failed(_code: i64) {}

#[cfg(feature = "server")]
pub(crate) const fn tool_failed() {}
