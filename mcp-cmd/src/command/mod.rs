//! The commands, one file each.

pub(crate) mod call;
pub(crate) mod complete;
pub(crate) mod completions;
pub(crate) mod gateway;
pub(crate) mod get;
pub(crate) mod info;
pub(crate) mod list;
pub(crate) mod ping;
pub(crate) mod proxy;
pub(crate) mod read;
pub(crate) mod skills;
pub(crate) mod subscribe;
