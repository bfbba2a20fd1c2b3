//! A client over HTTP: each message is an exchange.
//!
//! `UnsentMessages` takes each message of the machine out of the connection, and the message becomes a
//! future that runs its exchange. Messages of the server return to the machine from any exchange.
//!
//! ```text
//!   Session --message--> Unsent --Order--> Exchanges --poll--> run_exchange: one exchange, resumptions too
//!      ^                                                           |  fails, refusals, lost sessions:
//!      `------------------- Link.incoming <------------------------'  inputs of the machine
//! ```

#[cfg(feature = "auth")]
pub(crate) mod authorization;
#[cfg(feature = "auth")]
mod authorized;
#[cfg(feature = "auth")]
mod authorized_builder;
mod builder;
mod carrier;
mod connector;
mod credentials;
mod exchanges;
mod fields;
mod http_event;
mod link;
#[cfg(not(feature = "auth"))]
mod no_authorization;
mod permits;
mod run_exchange;
mod send;
mod session;
mod settings;
mod stream;

#[cfg(not(feature = "auth"))]
use no_authorization as authorization;

pub use connector::HttpConnector;
pub use http_event::{HttpEvent, HttpStep};
