//! Servers and clients of the Model Context Protocol on smol.
//!
//! This crate names the types of [`mcp_async`] with the runtime filled in, and provides what a
//! runtime must: descriptors, sockets, timers and tasks. See [`mcp_async`] for handlers, calls and
//! configuration, and its guide for one topic per page.
//!
//! A server on standard input and output:
//!
//! ```no_run
//! use mcp_smol::{Server, schemars};
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
//!     smol::block_on(server.serve_stdio())
//! }
//! ```
//!
//! A client that starts a server and calls a tool:
//!
//! ```no_run
//! use mcp_smol::Client;
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     smol::block_on(async {
//!         let client = Client::spawn("uvx", ["weather-server"]).await?;
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
//! | Serve it over HTTP | [`Server::serve_http`](mcp_async::Server::serve_http) |
//! | Serve it as part of another HTTP server | [`HttpService`] |
//! | Start a server and call its tools | [`Client`] |
//! | Call the tools of a server over HTTP | [`Client::connect`](mcp_async::Client::connect) |
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
//! | `tls` | yes | HTTPS for servers and clients, with rustls |
//! | `signal` | yes | ends servers on SIGINT, SIGTERM and Ctrl-C: [`interrupted`] |
//! | `tracing` | yes | spans and events |
//! | `schema` | no | checks by the complete JSON Schema of a tool |
//! | `auth` | no | OAuth 2.1 over HTTP: clients log in, servers are protected |
//! | `keyring` | no | credentials of clients in the keyring of the system; includes `auth` and `http-client` |
//! | `simd-json` | no | arguments of typed handlers are decoded by the crate `simd-json` |
//! | `skills` | no | skills: served, listed, loaded and checked |
//! | `disk` | no | tasks in a file, which outlive the process: `tasks::store::DiskTaskStore` |
//! | `redis` | no | sessions and tasks in Redis or Valkey, which several processes share: [`RedisStore`] |
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(any(feature = "server", feature = "client"))]
#[doc(hidden)]
pub mod instances;
mod io;
mod reactor;
#[cfg(feature = "signal")]
mod signal;
#[cfg(any(feature = "http-server", feature = "http-client"))]
mod sockets;
mod timer;

pub use io::{pair, split};
pub use reactor::Runtime;
#[cfg(feature = "signal")]
pub use signal::interrupted;
#[cfg(any(feature = "http-server", feature = "http-client"))]
pub use sockets::{Listener, Socket};
pub use timer::Timer;

pub use mcp_async::process::{Child, Command, Ending, ExitedEarly, Grace, Process, SpawnError};
pub use mcp_async::stdio::{Input, Output, StdioMode};
pub use mcp_async::{
    Answered, CallOutcome, ErrorChain, ErrorReply, Job, TraceContext, client, process, server,
    stdio,
};
pub use mcp_proto::rpc::Method;
pub use mcp_proto::{Limits, Payload, PingPolicy, Revision, RevisionSet, SendError, json};
pub use {mcp_async, mcp_proto};

#[cfg(any(feature = "server", feature = "schema"))]
pub use mcp_async::schema;
#[cfg(feature = "server")]
pub use mcp_async::schemars;
#[cfg(any(feature = "http-server", feature = "http-client"))]
pub use mcp_async::{http, net};
#[cfg(any(feature = "server", feature = "client"))]
pub use mcp_async::{model, tasks};

#[cfg(feature = "auth")]
pub use mcp_async::auth;
#[cfg(feature = "skills")]
pub use mcp_async::skills;

#[cfg(feature = "redis")]
pub use mcp_async::redis::RedisStore;

/// A client of one server, on this runtime.
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use mcp_smol::Client;
///
/// let client = Client::spawn("uvx", ["weather-server"]).await?;
/// for tool in client.tools().all().await? {
///     println!("{}", tool.name);
/// }
/// client.close().await?;
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "client")]
pub type Client = mcp_async::Client<Runtime>;

/// A server of typed handlers, which share the state `S`.
///
/// ```
/// use mcp_smol::Server;
/// use mcp_smol::server::NoArguments;
///
/// let server = Server::builder("demo", "1.0")
///     .tool("hello", "Greets", |_: NoArguments, _| async { Ok("Hello!") });
/// assert!(server.build().is_ok());
/// ```
#[cfg(feature = "server")]
pub type Server<S = ()> = mcp_async::Server<Runtime, S>;

/// A [`Server`] that is being configured, whose handlers share the state `S`.
///
/// ```
/// use mcp_smol::ServerBuilder;
/// use mcp_smol::server::NoArguments;
///
/// /// Adds a tool that works with any state.
/// fn hello<S: Send + Sync + 'static>(server: ServerBuilder<S>) -> ServerBuilder<S> {
///     server.tool("hello", "Greets", |_: NoArguments, _| async { Ok("Hello!") })
/// }
/// # let _ = hello::<()>;
/// ```
#[cfg(feature = "server")]
pub type ServerBuilder<S = ()> = mcp_async::server::ServerBuilder<Runtime, S>;

/// Sends the requests of a [`Client`] with the settings of the program: a proxy, trusted
/// certificates, timeouts.
///
/// ```
/// use core::time::Duration;
/// use mcp_smol::HttpClient;
///
/// let http = HttpClient::builder().connect_timeout(Duration::from_secs(5)).no_proxy().build();
/// // Client::builder("demo", "1.0").connect_through("https://mcp.example.com/mcp", http).await?
/// # let _ = http;
/// ```
#[cfg(feature = "http-client")]
pub type HttpClient = mcp_async::net::HttpClient<Runtime>;

/// A [`Server`] as a service for HTTP requests, to mount in a router or to keep in a struct.
///
/// ```
/// use mcp_smol::{HttpService, Server};
///
/// struct App {
///     mcp: HttpService,
/// }
///
/// let app = App { mcp: Server::builder("demo", "1.0").http().into_service()? };
/// app.mcp.shutdown();
/// # Ok::<(), mcp_smol::server::BuildError>(())
/// ```
#[cfg(feature = "http-server")]
pub type HttpService = mcp_async::http::HttpService<Runtime>;

/// Compiles the programs of the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
