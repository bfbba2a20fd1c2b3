//! Guides: a page for each matter that takes more than a function's documentation.

#[doc = include_str!("questions.md")]
pub mod questions {}
