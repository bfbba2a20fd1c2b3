//! The rules of the protocol for HTTP, independent of an HTTP library: the caller parses heads and
//! reads bodies.
//!
//! | Task | Use |
//! |---|---|
//! | Accept or refuse a request by its head | [`Endpoint::open`] |
//! | Find the machine for its body | [`Endpoint::route`] |
//! | Serve sessions, streams and requests with a parser and sockets | `server::http::HttpServer` (feature `alloc`) |
//! | Store and replay the event streams of a session | `server::http::streams` (feature `alloc`) |
//! | Send requests as a client | `client::http` (feature `alloc`) |
//!
//! A server answers a POST in four steps. With arrays as storage this needs no allocator, so a
//! microcontroller can use it with any HTTP implementation:
//!
//! ```
//! use mcp_proto::http::{Endpoint, Head, Opening, Refusal, Route};
//! use mcp_proto::server::{Event, Fixed, OverHttp, Server, ServerConfig, SessionSnapshot};
//! use mcp_proto::rpc::{ErrorObject, code};
//! use mcp_proto::{Action, Channel, Inbox, Instant, Limits, Machine, Outcome, Source};
//!
//! /// The status, and the length of the body in `out`.
//! fn answer(head: &impl Head, body: &mut Inbox<[u8; 1024]>, out: &mut [u8]) -> (u16, usize) {
//!     fn refuse(refusal: Refusal, out: &mut [u8]) -> (u16, usize) {
//!         (refusal.status(), refusal.write(out).unwrap_or(0))
//!     }
//!     // 1. The head by itself. Without sessions a POST is all there is.
//!     let endpoint = Endpoint { sessions: false, ..Endpoint::default() };
//!     let post = match endpoint.open(head) {
//!         Ok(Opening::Post(post)) => post,
//!         Ok(_) => return refuse(Refusal::Method, out),
//!         Err(refusal) => return refuse(refusal, out),
//!     };
//!     // 2. The machine that the body is for: a new one, over with this exchange.
//!     let Some(message) = body.next_message() else { return (400, 0) };
//!     let storage = OverHttp(Fixed::<64, 1, 0, 0, 0>::new());
//!     let (now, config) = (Instant::ZERO, ServerConfig::new("demo", "1.0"));
//!     let mut server = match endpoint.route(&post, &message) {
//!         Route::Stateless(revision) => {
//!             Server::resume(now, config, storage, &SessionSnapshot::stateless(revision)).unwrap()
//!         }
//!         Route::Modern | Route::Initialize => Server::new(config, storage).unwrap(),
//!         Route::Session(_) => return (404, 0),
//!         Route::Refuse(refusal) => return refuse(refusal, out),
//!     };
//!     // 3. The body, which is compared with the head.
//!     let action = server.handle(now, &Source::post(Channel::new(1), &post), message);
//!     // 4. A status alone, or a message that has one.
//!     if let Some(status) = action.http_status() {
//!         return (status, 0);
//!     }
//!     let sent = match action {
//!         Action::Reply(reply) => server.reply(now, reply, out).ok(),
//!         Action::Event(Event::Request { token, .. }) => {
//!             let error = ErrorObject::new(code::METHOD_NOT_FOUND, "nothing here yet");
//!             server.respond(now, token, Outcome::Error(error), out).ok()
//!         }
//!         _ => None,
//!     };
//!     sent.map_or((500, 0), |sent| (sent.status, sent.len))
//! }
//! # struct Post;
//! # impl Head for Post {
//! #     fn method(&self) -> &str { "POST" }
//! #     fn path(&self) -> &str { "/mcp" }
//! #     fn values<'h>(&'h self, name: &str, each: &mut dyn FnMut(&'h [u8])) {
//! #         match name {
//! #             "host" => each(b"localhost"),
//! #             "content-type" => each(b"application/json"),
//! #             _ => {}
//! #         }
//! #     }
//! # }
//!
//! let mut body = Inbox::new([0; 1024], &Limits::default());
//! let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
//! body.spare_mut().unwrap()[..ping.len()].copy_from_slice(ping);
//! body.filled(ping.len());
//! body.close();
//! let mut out = [0; 512];
//! let (status, len) = answer(&Post, &mut body, &mut out);
//! assert_eq!(status, 200);
//! assert_eq!(&out[..len], br#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
//! ```

mod access;
mod endpoint;
mod head;
mod limits;
mod refusal;
mod route;

// An endpoint and its settings.
pub use access::Access;
pub use endpoint::Endpoint;
pub use limits::HttpLimits;

// A request.
pub use endpoint::{Get, Opening, Post, SessionId, Version};
pub use head::{Field, Head};
pub use refusal::Refusal;
pub use route::Route;

#[cfg(feature = "alloc")]
pub mod annotation;
pub mod media;
pub mod mirror;
