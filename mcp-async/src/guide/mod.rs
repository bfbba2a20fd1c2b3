//! Guides: a page for each matter that takes more than a function's documentation.

#[doc = include_str!("questions.md")]
pub mod questions {}

#[doc = include_str!("schemas.md")]
#[cfg(feature = "server")]
pub mod schemas {}
