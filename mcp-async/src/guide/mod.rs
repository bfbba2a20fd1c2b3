//! Guides: a page for each matter that takes more than a function's documentation.

#[doc = include_str!("caching.md")]
pub mod caching {}

#[doc = include_str!("callbacks.md")]
pub mod callbacks {}

#[doc = include_str!("calls.md")]
pub mod calls {}

#[doc = include_str!("processes.md")]
pub mod processes {}

#[doc = include_str!("questions.md")]
pub mod questions {}

#[doc = include_str!("schemas.md")]
#[cfg(feature = "server")]
pub mod schemas {}

#[doc = include_str!("subscriptions.md")]
pub mod subscriptions {}
