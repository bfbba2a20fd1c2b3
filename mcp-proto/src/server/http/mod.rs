//! The server's side of HTTP, without HTTP.

pub mod streams;
