//! What the protocol says about HTTP, without HTTP: heads and bodies are the caller's.

mod access;
mod endpoint;
mod head;
mod refusal;

pub use access::Access;
pub use endpoint::{Endpoint, Get, Opening, Post, SessionId, Version};
pub use head::{Field, Head};
pub use refusal::Refusal;

#[cfg(feature = "alloc")]
pub mod annotation;
#[cfg(feature = "alloc")]
pub mod client;
pub mod media;
pub mod mirror;
