//! Authorization of a client against parties that answer at once, in memory.

mod browser;
mod given;
pub(crate) mod guard;
mod keyring;
mod party;
mod refusals;
mod secrets;
mod stores;
mod timing;
mod whole;
