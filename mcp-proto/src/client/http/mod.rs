//! The client side of HTTP, independent of an HTTP library.
//!
//! An [`Origin`] represents one URL: it holds the session and the headers that the tools of the
//! server require. Each message that leaves is an [`Exchange`], which determines the fields of its
//! request, evaluates the response and returns an [`ExchangeOutcome`]: how the exchange continues, or what the
//! driver reports to the [`Client`](crate::client::Client) machine. Begin with [`Origin::new`] and
//! [`Exchange::new`]; an array of calls begins with [`Exchange::batch`].
//!
//! ```text
//!   message --Exchange::new--> fields --> head --> Body::Nothing --.
//!                                ^         |-----> Body::Json  --- answer --> ExchangeOutcome
//!                                |         |-----> Body::Events -- event, messages, end --^
//!                                |         `-----> Body::Refusal - refused -----'
//!                                `------- ExchangeOutcome::Resume, when its time has come
//! ```

mod awaited;
mod error_body;
mod exchange;
mod mirrored;
mod origin;
mod oversized;
mod passing;
mod refusal;
mod reply;
mod retry;
mod retry_after;
mod stray_requests;
mod tools;

pub use exchange::Exchange;
pub use origin::Origin;
pub use oversized::Oversized;
pub use reply::{Body, ExchangeOutcome, HttpMethod, ReplyHead};
