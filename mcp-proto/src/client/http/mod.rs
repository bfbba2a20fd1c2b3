//! The client's side of HTTP, without HTTP: what to send for a message, and what came back.
//!
//! One [`Origin`] stands for one URL; it knows the session and what the tools of the server want
//! in headers. Each message that leaves is an [`Exchange`], which says the fields of its request,
//! judges the answer and decides how the exchange goes on. What it decides is an [`After`], to be
//! told to the [`Client`](crate::client::Client) machine.
//!
//! ```text
//!   message --Exchange::new--> fields --> head --> Body::Nothing --.
//!                                ^         |-----> Body::Json  --- answer --> After
//!                                |         |-----> Body::Events -- event, end --^
//!                                |         `-----> Body::Refusal - refused -----'
//!                                `------- After::Resume, when its time has come
//! ```

mod exchange;
mod mirrored;
mod origin;
mod oversized;
mod refusal;
mod reply;
mod retry;
mod retry_after;
mod tools;
mod unrelated;

pub use exchange::Exchange;
pub use origin::Origin;
pub use oversized::Oversized;
pub use reply::{After, Body, ReplyHead, Verb};
