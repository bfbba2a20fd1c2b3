//! A client over HTTP: each message is an exchange of its own.
//!
//! The connection is the one of any pair of streams. What it writes, line by line, is taken apart
//! by a [`sink`](ends); each message becomes a future that runs its exchange, and what the server
//! says in any of them is a line that the connection reads.
//!
//! ```text
//!   Connection --line--> Sink --Order--> Exchanges --poll--> carry: one exchange, resumptions too
//!        ^                                                     |  fails, refusals, lost sessions:
//!        `----- Source <--------------- Link.incoming <--------'  inputs of the machine
//! ```

mod builder;
mod carrier;
mod carry;
mod credentials;
mod ends;
mod exchanges;
mod link;
mod seats;
mod session;
mod settings;
mod stream;
