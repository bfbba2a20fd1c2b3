//! Compiles the programs of the README.
#![doc = include_str!("../../README.md")]
