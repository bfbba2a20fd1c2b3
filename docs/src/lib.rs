//! Compiles the programs of the README.

/// The README.
#[cfg(doctest)]
#[doc = include_str!("../../README.md")]
struct Readme;
