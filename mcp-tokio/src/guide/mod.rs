//! Guides: one page for each topic that spans several types.

#[doc = include_str!("caching.md")]
pub mod caching {}

#[doc = include_str!("callbacks.md")]
pub mod callbacks {}

#[doc = include_str!("calls.md")]
pub mod calls {}

#[doc = include_str!("completion.md")]
pub mod completion {}

#[doc = include_str!("extensions.md")]
pub mod extensions {}

#[cfg(feature = "http-server")]
#[doc = include_str!("from_rmcp.md")]
pub mod from_rmcp {}

#[cfg(all(feature = "http-server", feature = "http-client"))]
#[doc = include_str!("http.md")]
pub mod http {}

#[doc = include_str!("limits.md")]
pub mod limits {}

#[cfg(all(feature = "auth", feature = "http-client"))]
#[doc = include_str!("login.md")]
pub mod login {}

#[doc = include_str!("middleware.md")]
pub mod middleware {}

#[doc = include_str!("processes.md")]
pub mod processes {}

#[doc = include_str!("prompts.md")]
pub mod prompts {}

#[doc = include_str!("questions.md")]
pub mod questions {}

#[doc = include_str!("registration.md")]
pub mod registration {}

#[cfg(all(feature = "http-server", feature = "http-client", feature = "auth"))]
#[doc = include_str!("protection.md")]
pub mod protection {}

#[cfg(all(feature = "http-server", feature = "http-client"))]
#[doc = include_str!("remote.md")]
pub mod remote {}

#[doc = include_str!("resources.md")]
pub mod resources {}

#[doc = include_str!("schemas.md")]
pub mod schemas {}

#[doc = include_str!("state.md")]
pub mod state {}

#[doc = include_str!("subscriptions.md")]
pub mod subscriptions {}

#[doc = include_str!("tasks.md")]
pub mod tasks {}

#[cfg(feature = "http-client")]
#[doc = include_str!("testing.md")]
pub mod testing {}

#[doc = include_str!("tools.md")]
pub mod tools {}

#[doc = include_str!("transports.md")]
pub mod transports {}

#[doc = include_str!("users.md")]
pub mod users {}

#[cfg(feature = "tracing")]
#[doc = include_str!("tracing.md")]
pub mod tracing {}
