//! What the protocol says about HTTP, without HTTP: heads and bodies are the caller's.

mod access;
mod endpoint;
mod head;
mod refusal;
mod route;

pub use access::Access;
pub use endpoint::{Endpoint, Get, Opening, Post, SessionId, Version};
pub use head::{Field, Head};
pub use refusal::Refusal;
pub use route::Route;

#[cfg(feature = "alloc")]
pub mod annotation;
#[cfg(feature = "alloc")]
pub mod client;
pub mod media;
pub mod mirror;
#[cfg(feature = "alloc")]
pub mod streams;
