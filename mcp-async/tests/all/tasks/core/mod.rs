//! Tasks of 2025-11-25.

mod calls;
mod declared;
mod ends;
mod http;
mod questions;
mod support;
