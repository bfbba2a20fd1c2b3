//! The runtime-neutral async half of an MCP client and server.
//!
//! The crate connects the state machines of [`mcp_proto`] to byte streams and to HTTP: the future of
//! a connection reads, writes, keeps deadlines and runs the handlers. It depends on no runtime. The
//! untyped API takes two byte streams (the traits of [`futures_io`]) and a [`Runtime`](runtime::Runtime); in the
//! typed API, a transport or a connector brings it, such as those of `mcp-tokio` and `mcp-smol`.
//!
//! # Where to begin
//!
//! | Task | Start with |
//! |---|---|
//! | Serve typed tools, resources and prompts | `Server` (feature `server`), through an adapter |
//! | Call a server | `Client` (feature `client`), through an adapter |
//! | Learn one topic: state, questions, HTTP, middleware, .. | the [guides], which are written for `mcp-tokio` |
//! | Answer every request by hand | [`server::connect`] with a [`server::Service`] (feature `server`) |
//! | Send every request by hand | [`client::connect`], [`client::Peer`] (feature `client`) |
//! | Carry messages over another transport | [`MessageSource`], [`MessageSink`] |
//! | Support another runtime | [`Runtime`](runtime::Runtime) |
//! | Use several servers as one | the crate `mcp-compose` |
//! | Serve, load and check skills | the crate `mcp-skills` |
//! | Share sessions and tasks between processes | the crate `mcp-redis-store` |
//!
//! [guides]: https://docs.rs/mcp-tokio/latest/mcp_tokio/guide/index.html
//!
//! # Modules
//!
//! ```text
//! http                both roles over HTTP: services, sessions, stores    feature `http-server` or `http-client`
//! tasks               calls that become tasks, and their stores
//! server   client     handlers and calls, typed and untyped               the feature of this name
//! auth                OAuth 2.1 for both roles                            feature `auth`
//! net                 sockets, TLS and HTTP without MCP                   feature `http-server` or `http-client`
//! process  stdio      child processes and standard streams
//! runtime             runtimes as values, in-memory streams
//! model               owned messages
//! schema              schemas of types, validation of values              feature `server` or `schema`
//! uri_template        URI templates of RFC 6570
//! ```
//!
//! # Features
//!
//! | Feature | Default | Adds |
//! |---|---|---|
//! | `server` | yes | tools, resources and prompts: `Server`; requests answered by hand: [`server::connect`] |
//! | `client` | yes | typed calls, callbacks and subscriptions: `Client`; requests sent by hand: [`client::connect`] |
//! | `http-server`, `http-client` | yes | HTTP for one role; `http` is both |
//! | `http2` | yes | HTTP/2 for the roles that have HTTP: over TLS, or where it is asked for |
//! | `tls` | yes | HTTPS for servers and clients, with rustls |
//! | `tracing` | yes | spans and events |
//! | `schema` | no | checks by the complete JSON Schema of a tool |
//! | `auth` | no | OAuth 2.1 over HTTP: clients log in, servers are protected |
//! | `keyring` | no | credentials of clients in the keyring of the system; includes `auth` and `http-client` |
//! | `simd-json` | no | arguments of typed handlers are decoded by the crate `simd-json` |
//! | `simd` | no | long text beyond ASCII is validated by vector instructions, with the crate `simdutf8` |
//! | `disk` | no | tasks and logins in files, which outlive the process: `tasks::store::DiskTaskStore`, `DelegatedLogin::file` |
//!
//! A program needs one role at least; without both, what they share remains: runtimes, standard streams, messages.
//!
//! # A connection by hand
//!
//! A client and a server in one process, joined by a [`duplex`](runtime::duplex):
//!
//! ```
//! use core::future::Future;
//! use core::pin::pin;
//! use core::task::{Context, Poll, Waker};
//!
//! use mcp_async::server::service_fn;
//! use mcp_async::runtime::{ManualRuntime, duplex};
//! use mcp_async::{client, server};
//! use mcp_proto::client::ClientConfig;
//! use mcp_async::json::RawBuf;
//! use mcp_async::model::ServerFeatures;
//! use mcp_async::Method;
//! use mcp_proto::server::ServerConfig;
//!
//! #[derive(serde::Serialize)]
//! struct Nothing {
//!     tools: [(); 0],
//! }
//!
//! let (left, right) = duplex(4096);
//! let runtime = ManualRuntime::default();
//! let config = ServerConfig {
//!     capabilities: ServerFeatures::TOOLS.capabilities(),
//!     ..ServerConfig::new("empty", "1.0")
//! };
//! let service = service_fn(|call| call.ready(Ok(Nothing { tools: [] })));
//! let (mut served, _peer) = server::connect(right.split(), runtime.clone(), config, service);
//! let config = ClientConfig::new("demo", "1.0");
//! let (mut connection, client) = client::connect(left.split(), runtime, config, ());
//!
//! // A program would spawn the two connections and await the call; here both are polled by hand.
//! let mut call = pin!(client.call::<RawBuf>(Method::ToolsList, None));
//! let cx = &mut Context::from_waker(Waker::noop());
//! let listed = loop {
//!     let _ = (pin!(&mut served).poll(cx), pin!(&mut connection).poll(cx));
//!     if let Poll::Ready(answer) = call.as_mut().poll(cx) {
//!         break answer?;
//!     }
//! };
//! assert!(listed.as_raw().as_str().contains("\"tools\":[]"));
//! # Ok::<(), mcp_async::client::CallError>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
// Code that only some features use is compiled without them too; dead code is looked for where all of them are on.
#![cfg_attr(
    not(all(
        feature = "server",
        feature = "client",
        feature = "http-server",
        feature = "http-client",
        feature = "tls",
        feature = "auth",
        feature = "schema",
        feature = "disk",
        feature = "tracing"
    )),
    allow(dead_code, unnameable_types, unreachable_pub, unused_imports)
)]

mod audit_record;
mod call_outcome;
mod connection;
#[cfg(all(
    feature = "auth",
    any(feature = "http-server", feature = "http-client")
))]
mod crypto;
mod cursor;
mod error;
mod file_uri;
#[cfg(all(feature = "server", feature = "client"))]
mod in_memory;
mod io;
mod leases;
mod observe;
mod payload;
mod private_file;
mod random;
mod scratch;
mod shares;
mod shrink;
mod streams;
mod sync;
mod trace_context;
mod values;

pub use audit_record::AuditRecord;
pub use call_outcome::CallOutcome;
#[cfg(feature = "client")]
pub use client::Client;
pub use connection::{Answered, Job};
pub use error::{ErrorChain, ErrorReply};
#[cfg(all(feature = "server", feature = "client"))]
pub use in_memory::in_memory;
pub use io::{MessageReader, MessageSink, MessageSource, MessageWriter, Tap, stdio};
pub use mcp_proto::rpc::{Method, code};
pub use mcp_proto::{Instant, Limits, Payload, PingPolicy, Revision, RevisionSet, SendError, json};
/// The traits and the derive macro for the schemas of arguments and results.
#[cfg(feature = "server")]
pub use schemars;
#[cfg(feature = "server")]
pub use server::serving::Server;
pub use streams::Streams;
pub use trace_context::{NoTrace, TraceContext};

#[cfg(feature = "auth")]
pub mod auth;
#[cfg(feature = "client")]
pub mod client;
#[cfg(any(feature = "http-server", feature = "http-client"))]
pub mod http;
pub mod model;
#[cfg(any(feature = "http-server", feature = "http-client"))]
pub mod net;
pub mod process;
pub mod runtime;
#[cfg(any(feature = "server", feature = "schema"))]
pub mod schema;
#[cfg(feature = "server")]
pub mod server;
pub mod tasks;
pub mod uri_template;

/// Compiles the programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
