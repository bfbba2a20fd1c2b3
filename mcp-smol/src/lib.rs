//! Servers and clients of the Model Context Protocol on smol.
//!
//! This crate provides the runtime to the servers and clients of [`mcp_async`], whose types it re-exports: descriptors,
//! sockets, timers and tasks, and the transports and connectors that bring them. The [guides] of `mcp-tokio` have one
//! topic per page, from the first server to a fleet of processes. They hold for this crate, with `mcp_smol` in the place
//! of `mcp_tokio` and [`smol::block_on`] in the place of `#[tokio::main]`.
//!
//! [guides]: https://docs.rs/mcp-tokio/latest/mcp_tokio/guide/index.html
//! [`smol::block_on`]: https://docs.rs/smol/latest/smol/fn.block_on.html
//!
//! A server on standard input and output:
//!
//! ```no_run
//! use mcp_smol::{Server, schemars, stdio};
//!
//! #[derive(serde::Deserialize, schemars::JsonSchema)]
//! struct Forecast { city: String }
//!
//! fn main() -> std::io::Result<()> {
//!     let server = Server::builder("weather", "1.0")
//!         .tool("forecast", "Forecast for a city", |args: Forecast, cx| async move {
//!             cx.progress(0.5).await;
//!             Ok(format!("sunny in {}", args.city))
//!         });
//!     smol::block_on(server.serve(stdio()))
//! }
//! ```
//!
//! A client that starts a server and calls a tool:
//!
//! ```no_run
//! use mcp_smol::{Client, Command, child};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     smol::block_on(async {
//!         let server = Command::new("uvx").args(["weather-server"]);
//!         let client = Client::connect(child(server)).await?;
//!         let answer = client.call_tool("forecast", &serde_json::json!({"city": "Kyoto"})).await?;
//!         println!("{}", answer.text());
//!         client.close().await?;
//!         Ok(())
//!     })
//! }
//! ```
//!
//! # Where to begin
//!
//! | Task | Use |
//! |---|---|
//! | Build a server of typed handlers | [`Server`] |
//! | Serve it on the standard streams | [`Server::serve`], [`stdio`](fn@stdio) |
//! | Serve it over HTTP | [`Server::http`], [`tcp`] |
//! | Serve it as part of another HTTP server | [`HttpService`] |
//! | Start a server and call its tools | [`Client::connect`], [`child`] |
//! | Call the tools of a server over HTTP | [`Client::connect`], [`http`](fn@http) |
//! | Test a server or a client in one process | [`in_memory`] |
//! | Answer each request by hand, on standard streams or any other stream | [`server::serve_stdio`], [`server::connect`] |
//! | Send each request by hand, to a child process or over any stream | [`Command::connect_in_task`], [`client::connect_in_task`] |
//!
//! # Features
//!
//! | Feature | Default | Adds |
//! |---|---|---|
//! | `server` | yes | typed tools, resources and prompts: [`Server`] |
//! | `client` | yes | typed calls, callbacks and subscriptions: [`Client`] |
//! | `http-server`, `http-client` | yes | HTTP for one role; `http` is both |
//! | `http2` | yes | HTTP/2 for the roles that have HTTP: over TLS, or where it is asked for |
//! | `tls` | yes | HTTPS for servers and clients, with rustls |
//! | `signal` | yes | ends servers on SIGINT, SIGTERM and Ctrl-C: [`interrupted`] |
//! | `tracing` | yes | spans and events |
//! | `schema` | no | checks by the complete JSON Schema of a tool |
//! | `auth` | no | OAuth 2.1 over HTTP: clients log in, servers are protected |
//! | `keyring` | no | credentials of clients in the keyring of the system; includes `auth` and `http-client` |
//! | `simd-json` | no | arguments of typed handlers are decoded by the crate `simd-json` |
//! | `skills` | no | skills: served, listed, loaded and checked |
//! | `compose` | no | many servers as one: `compose` has configuration files, merged lists and hosts |
//! | `simd` | no | long text beyond ASCII is validated by vector instructions, with the crate `simdutf8` |
//! | `disk` | no | tasks and logins in files, which outlive the process: `tasks::store::DiskTaskStore`, `DelegatedLogin::file` |
//! | `redis` | no | sessions and tasks in Redis or Valkey, which several processes share: [`RedisStore`] |
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod io;
mod runtime;
#[cfg(feature = "signal")]
mod signal;
#[cfg(any(feature = "http-server", feature = "http-client"))]
mod sockets;
mod timer;
mod transports;

pub use io::{pair, split};
pub use runtime::Runtime;
#[cfg(feature = "signal")]
pub use signal::interrupted;
#[cfg(feature = "http-client")]
pub use transports::http;
#[cfg(all(feature = "server", feature = "client"))]
pub use transports::in_memory;
#[cfg(feature = "server")]
pub use transports::stdio;
#[cfg(any(feature = "server", feature = "client"))]
pub use transports::streams;
#[cfg(feature = "http-server")]
pub use transports::tcp;
#[cfg(feature = "client")]
pub use transports::{child, reopened};

pub use mcp_async::process::{Child, Command, ExitedEarly, Grace, Process};
pub use mcp_async::stdio::{Input, Output, StdioMode};
pub use mcp_async::{
    Answered, AuditRecord, CallOutcome, ErrorChain, ErrorReply, Instant, Job, Limits,
    MessageReader, MessageSink, MessageSource, MessageWriter, Method, Payload, PingPolicy,
    Revision, RevisionSet, SendError, TraceContext, code, json, process, stdio, uri_template,
};
pub use {mcp_async, mcp_proto};

pub use mcp_async::runtime::{BoxFuture, RuntimeHandle};
#[cfg(any(feature = "server", feature = "schema"))]
pub use mcp_async::schema;
#[cfg(feature = "server")]
pub use mcp_async::schemars;
#[cfg(feature = "server")]
pub use mcp_async::server;
#[cfg(any(feature = "server", feature = "client"))]
pub use mcp_async::{Streams, model, tasks};
#[cfg(feature = "client")]
pub use mcp_async::{client, process::Ending};
#[cfg(any(feature = "http-server", feature = "http-client"))]
pub use mcp_async::{http, net};

#[cfg(feature = "auth")]
pub use mcp_async::auth;
#[cfg(feature = "compose")]
pub use mcp_compose as compose;
#[cfg(feature = "skills")]
pub use mcp_skills as skills;

#[cfg(feature = "client")]
#[doc(inline)]
pub use mcp_async::Client;
#[cfg(feature = "server")]
#[doc(inline)]
pub use mcp_async::Server;
#[cfg(feature = "http-server")]
#[doc(inline)]
pub use mcp_async::http::HttpService;
#[cfg(feature = "http-client")]
#[doc(inline)]
pub use mcp_async::net::HttpClient;
#[cfg(feature = "server")]
#[doc(inline)]
pub use mcp_async::server::ServerBuilder;
#[cfg(feature = "redis")]
pub use mcp_redis_store::{RedisConfigError, RedisStore, RedisSubscription};

/// Compiles the programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
