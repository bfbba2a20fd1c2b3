//! What the protocol says about HTTP, without HTTP: heads and bodies are the caller's.

pub mod mirror;
