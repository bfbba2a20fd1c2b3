//! The server side of HTTP, independent of an HTTP library.
//!
//! Each session, and each request of a revision without sessions, is one [`Conversation`](crate::Conversation) of a machine
//! and its [`streams`]. [`HttpServer`] is a map of them for drivers without an order of work of their own. The driver
//! provides an HTTP/1.1 parser and sockets:
//!
//! | Event | The driver calls |
//! |---|---|
//! | The head of a request was read | [`open`](HttpServer::open) |
//! | A part of its body was read, and the last part | [`body`](HttpServer::body), [`end_body`](HttpServer::end_body) |
//! | The body is there | [`receive`](HttpServer::receive) with each message, then [`finish`](HttpServer::finish) |
//! | The client closed the connection during an exchange | [`hang_up`](HttpServer::hang_up) |
//! | After each of them, and at [`poll_timeout`](HttpServer::poll_timeout) | [`step`](HttpServer::step), until [`HttpStep::Idle`] |
//! | There is an event, of a message or of a step | the application, with [`commands`](HttpServer::commands) for its answers |
//! | A step returns [`HttpStep::Ready`], and after a write that had to wait | [`response`](HttpServer::response), [`read`](HttpServer::read) |
//!
//! ```
//! use mcp_proto::http::{Endpoint, Head};
//! use mcp_proto::rpc::{ErrorObject, code};
//! use mcp_proto::server::http::streams::StreamRead;
//! use mcp_proto::server::http::{Commands, HttpOptions, HttpServer, HttpStep};
//! use mcp_proto::server::{Event, ServerConfig};
//! use mcp_proto::{Action, Instant, Outcome};
//!
//! /// The application: it has no tools yet.
//! fn serve(now: Instant, event: &Event<'_>, commands: &mut Commands<'_, '_>) {
//!     if let Event::Request { token, .. } = event {
//!         let error = ErrorObject::new(code::METHOD_NOT_FOUND, "nothing here yet");
//!         let _ = commands.respond(now, *token, Outcome::Error(error));
//!     }
//! }
//!
//! /// One request that is there as a whole: the status and the body of its response.
//! fn request(http: &mut HttpServer<'_>, now: Instant, head: &impl Head, body: &[u8]) -> (u16, Vec<u8>) {
//!     let exchange = http.open(now, head, None);
//!     http.body(exchange, body);
//!     if let Some(body) = http.end_body(now, exchange, || "of 128 random bits".to_owned()) {
//!         for message in body.messages() {
//!             if let Action::Event(event) = http.receive(now, &body, message)
//!                 && let Some(mut commands) = http.commands(body.machine())
//!             {
//!                 serve(now, &event, &mut commands);
//!             }
//!         }
//!         http.finish(now, body);
//!     }
//!     let (mut status, mut text) = (0, Vec::new());
//!     loop {
//!         match http.step(now) {
//!             HttpStep::Event { machine, event } => {
//!                 if let Some(mut commands) = http.commands(machine) {
//!                     serve(now, &event, &mut commands);
//!                 }
//!             }
//!             HttpStep::Ready(ready) => {
//!                 if let Some(head) = http.response(ready) {
//!                     status = head.status;
//!                 }
//!                 while http.read(now, ready, &mut text, 8192) == StreamRead::More {}
//!             }
//!             HttpStep::Idle => return (status, text),
//!         }
//!     }
//! }
//! # struct Post;
//! # impl Head for Post {
//! #     fn method(&self) -> &str { "POST" }
//! #     fn path(&self) -> &str { "/mcp" }
//! #     fn fields<'h>(&'h self, each: &mut dyn FnMut(&'h str, &'h [u8])) {
//! #         each("host", b"localhost");
//! #         each("content-type", b"application/json");
//! #         each("mcp-protocol-version", b"2026-07-28");
//! #         each("mcp-method", b"server/discover");
//! #     }
//! # }
//!
//! let config = ServerConfig::new("demo", "1.0");
//! let mut http = HttpServer::new(Endpoint::default(), config, HttpOptions::default())?;
//! let discover = br#"{"jsonrpc":"2.0","id":1,"method":"server/discover","params":{"_meta":{
//!     "io.modelcontextprotocol/protocolVersion":"2026-07-28",
//!     "io.modelcontextprotocol/clientCapabilities":{}}}}"#;
//! let (status, body) = request(&mut http, Instant::ZERO, &Post, discover);
//! assert_eq!(status, 200);
//! assert!(body.starts_with(br#"{"jsonrpc":"2.0","id":1,"result":{"#));
//! # Ok::<(), mcp_proto::ConfigError>(())
//! ```
//!
//! # Bounds
//!
//! All clients together can make an [`HttpServer`] hold so much, as its [`HttpOptions`] say:
//!
//! | What it holds | Bounded by |
//! |---|---|
//! | Sessions, those that begin and end included | `limits.sessions` in number; one without use ends after `limits.session_idle` |
//! | Requests that belong to no session | `exchanges` in number |
//! | Bodies that arrive | `bodies` bytes together, `limits.body` bytes each, for `body_timeout` |
//! | Messages for a session without a reader, and those kept for replay | `streams.bytes` and `streams.events` |
//! | Unread messages of a stream with a reader | `streams.unread` bytes and one message, and the answers to its requests |
//! | Streams of a session | `streams.streams`, and as many more whose request is answered at once |
//! | Requests and questions of a session | [`Limits`](crate::Limits) |
//!
//! A message is at most [`Limits::output`](crate::Limits::output) bytes long. These bounds do not tell clients apart, so one
//! client can use up each of them. A driver for clients that do not trust each other bounds the connections of each client.
//! It must bound three things in any case, because `HttpServer` does not see them: the number of connections, the requests
//! that are under way on each, and the time that a head takes ([`HttpLimits::head`](crate::http::HttpLimits::head)).
//!
//! The two endpoints of 2024-11-05 are not served.

mod commands;
mod deadlines;
mod entry;
mod exchange;
mod http_server;
mod ids;
mod requests;
mod responses;
pub mod streams;

pub use commands::Commands;
pub use exchange::ExchangeHead;
pub use http_server::{HttpOptions, HttpServer, HttpStep};
pub use ids::{ExchangeId, ServerId};
pub use requests::PostBody;
