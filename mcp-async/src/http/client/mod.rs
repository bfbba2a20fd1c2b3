//! A client over HTTP: each message is an exchange of its own.
//!
//! The machine hands each message over to what takes it out of the connection, `Outgoing`; it becomes a future that runs its exchange. What the server says in any of
//! them the machine takes as it came.
//!
//! ```text
//!   Session --message--> Outgoing --Order--> Exchanges --poll--> carry: one exchange, resumptions too
//!      ^                                                           |  fails, refusals, lost sessions:
//!      `------------------- Link.incoming <------------------------'  inputs of the machine
//! ```

mod builder;
mod carrier;
mod carry;
mod credentials;
mod exchanges;
mod link;
mod outgoing;
mod seats;
mod session;
mod settings;
mod stream;
