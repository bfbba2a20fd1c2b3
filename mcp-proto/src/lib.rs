//! The Model Context Protocol as a state machine without I/O.
//!
//! Messages and the current time go in; events for the application, bytes for the peer and a
//! deadline come out. The crate performs no I/O, reads no clock, draws no random numbers and needs
//! no allocator. A machine runs unchanged under an async runtime, in a `poll(2)` loop, on a
//! microcontroller and in a fuzzer, as client and as server, in every revision from 2024-11-05 to
//! 2026-07-28.
//!
//! Programs that use tokio or smol begin with `mcp-tokio` or `mcp-smol`, which add typed handlers
//! and calls. This crate is for drivers of another kind.
//!
//! # Layers
//!
//! ```text
//! server::http  client::http   sessions and event streams; exchanges of a client   feature `alloc`
//! server        client         the two roles: messages in, events out
//! link                         the order of work on one connection
//! http                         the heads of requests, for a server with any HTTP parser
//! Inbox         Outbox         the buffers of one connection
//! model                        payloads of messages
//! rpc                          one JSON-RPC message
//! json                         one JSON value
//! revision                     differences between revisions
//! frame                        the ends of lines and events
//! ```
//!
//! Each layer uses the layers below it and can be used without those above it.
//!
//! # Where to begin
//!
//! | Task | Start with |
//! |---|---|
//! | Drive a server or a client over a byte stream | [`Link`] |
//! | Serve HTTP with a parser and sockets of the application | `server::http::HttpServer`, or [`http::Endpoint`] without `alloc` |
//! | Send requests to a server over HTTP | `client::http` |
//! | Read requests and answer them | [`server::Event`], [`server::Server::respond`] |
//! | Send requests and read results | [`client::Client::call`], [`client::Event`] |
//! | Write a driver with an order of work of its own | [`Machine`] |
//! | Read and write payloads | [`model`], [`json::Raw::decode`], [`Payload`] |
//! | Bound memory and messages | [`Limits`], [`server::Fixed`], [`client::Fixed`] |
//! | Find out what a revision has | [`Revision`] |
//! | Obtain and check the tokens of a protected server | the crate `mcp-auth` |
//!
//! # The loop
//!
//! A driver repeats four steps: it reads bytes into [`Link::inbox`](Link), passes the time to
//! [`Link::turn`], which hands events to the application, writes the bytes of [`Link::outbox`](Link),
//! and waits for bytes or for [`Machine::poll_timeout`]. This server has one tool and blocks while it
//! waits, so it leaves the timeout out:
//!
//! ```
//! use std::io::{self, Read, Write};
//!
//! use mcp_proto::json::Raw;
//! use mcp_proto::model::ServerFeatures;
//! use mcp_proto::rpc::Method;
//! use mcp_proto::server::{Event, Fixed, Server, ServerConfig};
//! use mcp_proto::{Instant, Link, Outcome, TurnEnd, Verdict};
//!
//! const TOOLS: &[u8] = br#"{"tools":[{"name":"greet","inputSchema":{"type":"object"}}]}"#;
//! const GREETING: &[u8] = br#"{"content":[{"type":"text","text":"Hello!"}]}"#;
//!
//! /// Serves one client until its input ends. All memory is on the stack.
//! fn serve(mut input: impl Read, mut output: impl Write) -> io::Result<()> {
//!     let capabilities = ServerFeatures::TOOLS.capabilities();
//!     let config = ServerConfig { capabilities, ..ServerConfig::new("demo", "1.0") };
//!     let server = Server::new(config, Fixed::new()).map_err(io::Error::other)?;
//!     let mut link = Link::new(server, [0; 4096], [0; 4096]).map_err(io::Error::other)?;
//!     let started = std::time::Instant::now();
//!     loop {
//!         let now = Instant::from_millis(started.elapsed().as_millis() as u64);
//!         let rest = link.turn(now, |server, event, outbox| {
//!             let Event::Request { token, method, .. } = event else { return Verdict::Done };
//!             // The core refuses all other methods: the capabilities do not declare them.
//!             let text = if method == Method::ToolsList { TOOLS } else { GREETING };
//!             let result = Raw::parse(text, 8).unwrap_or_default();
//!             // If the result does not fit, the client has to read first, and the request comes again.
//!             outbox.put(|out| server.respond(token, Outcome::Result(&result), out)).into()
//!         });
//!         let written = link.outbox.pending().len();
//!         output.write_all(link.outbox.pending())?;
//!         link.outbox.consume(written);
//!         match rest {
//!             TurnEnd::Full => continue,
//!             // Calls that are still running would end here: see `Machine::hang_up`.
//!             TurnEnd::Empty if link.inbox.is_closed() => return Ok(()),
//!             TurnEnd::Empty => {}
//!         }
//!         if let Some(spare) = link.inbox.spare_mut() {
//!             match input.read(spare)? {
//!                 0 => link.inbox.close(),
//!                 count => link.inbox.filled(count),
//!             }
//!         }
//!     }
//! }
//!
//! let call = br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"greet","_meta":{
//!     "io.modelcontextprotocol/protocolVersion":"2026-07-28",
//!     "io.modelcontextprotocol/clientCapabilities":{}}}}"#;
//! let line: Vec<u8> = call.iter().copied().filter(|byte| *byte != b'\n').collect();
//! let mut answer = Vec::new();
//! serve(&line[..], &mut answer)?;
//! assert!(String::from_utf8_lossy(&answer).contains("Hello!"));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! The examples of the repository are complete drivers: `bare_loop` (both roles over non-blocking
//! sockets, with timers, cancellation and slow tools), `completion_loop` (buffers that belong to the
//! engine while an operation is in flight), `http_server` (HTTP on plain sockets) and `from_c` (a
//! static library for C). The folder `firmware` is a server and a client on microcontrollers. The README of the
//! crate has the loop for non-blocking sockets, and tables of what each number of [`server::Fixed`]
//! bounds.
//!
//! # Features
//!
//! | Feature | Adds |
//! |---|---|
//! | `alloc` | storage that grows (`Growing`, `Vec`), owned copies of text and messages, lists of a peer that are written again, `server::http`, `client::http` |
//! | `diagnostics` (on by default) | an error text of its own for each fault and, where there is no `alloc`, the id in the answer to a message that is broken or too long |
//! | `heapless` | `heapless::Vec` as storage (`Heapless`) |
//! | `simd` | long text beyond ASCII is validated with the crate `simdutf8`, which has `unsafe` code for vector instructions; without its feature `std` it uses those that the program is compiled for |
//! | `serde-json`, `simd-json`, `serde-json-core` | other decoders for types of the application, such as `Raw::decode_serde_json`; `simd-json` requires `std` |
//!
//! The other features are off by default.
#![no_std]
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "alloc")]
extern crate alloc;
#[cfg(test)]
extern crate std;

mod action;
mod array_buf;
mod batch;
mod config_error;
mod conversation;
mod custom_method;
mod extension_name;
mod features;
mod id_buf;
mod inbox;
mod limits;
pub mod link;
mod machine;
mod outbox;
mod payload;
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
mod per_revision;
mod ping;
mod prepared_config;
mod received;
mod sent;
mod slice_writer;
mod slots;
mod source;
mod splice;
mod store;
mod texts;
mod time;
mod token;

// A connection and its driver.
pub use conversation::{AtOnce, Conversation, Outgoing, Receipt};
pub use inbox::Inbox;
#[cfg(all(feature = "alloc", target_has_atomic = "ptr"))]
pub use inbox::Large;
pub use link::pipe_link::{Link, TurnEnd, Verdict};
pub use link::step::Step;
pub use machine::Machine;
pub use outbox::{NeedsBuffer, Outbox, Written};

// The input and the output of a machine.
pub use action::{Action, BufferFull, Channel, IgnoreReason, SendError, Transmit};
pub use payload::{InputRequired, Outcome, Payload, Question};
pub use source::{Pipe, Source};
pub use time::Instant;
pub use token::{SentToken, Token};

// Configuration.
pub use config_error::ConfigError;
pub use custom_method::{CustomMethod, ResultType};
pub use extension_name::is_extension_name;
pub use limits::Limits;
pub use ping::PingPolicy;
pub use prepared_config::{Config, PreparedConfig};
pub use revision::set::RevisionSet;
pub use revision::version::Revision;

// Storage.
#[cfg(feature = "heapless")]
pub use store::Heapless;
pub use store::Store;

pub mod client;
pub mod frame;
pub mod http;
pub mod json;
pub mod model;
pub mod revision;
pub mod rpc;
pub mod server;

/// Compiles the programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
