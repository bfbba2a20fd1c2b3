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
//! use mcp_proto::http::{Endpoint, Head, Opening, PostStatus, Refusal, Route};
//! use mcp_proto::server::{Event, Fixed, OverHttp, Server, ServerConfig, SessionSnapshot};
//! use mcp_proto::rpc::{ErrorObject, code};
//! use mcp_proto::{Action, AtOnce, Conversation, Inbox, Instant, Limits, Outbox, Outcome, Source};
//!
//! /// The status and the body of the response.
//! fn answer<'o>(
//!     head: &impl Head,
//!     body: &mut Inbox<[u8; 1024]>,
//!     outbox: &'o mut Outbox<[u8; 512]>,
//! ) -> Result<(u16, &'o [u8]), Refusal> {
//!     // 1. The head by itself. Without sessions a POST is all there is.
//!     let endpoint = Endpoint { sessions: false, ..Endpoint::default() };
//!     let Opening::Post(post) = endpoint.open(head)? else { return Err(Refusal::Method) };
//!     // 2. The machine that the body is for: a new one, over with this exchange.
//!     let message = body.next_message().ok_or(Refusal::BodyUnreadable)?;
//!     let storage = OverHttp(Fixed::new().requests::<1>());
//!     let (now, config) = (Instant::ZERO, ServerConfig::new("demo", "1.0"));
//!     let mut server = Server::new(config, storage).unwrap();
//!     match endpoint.route(&post, &message) {
//!         Route::Stateless(revision) => server.resume(now, &SessionSnapshot::stateless(revision)),
//!         Route::Modern | Route::Initialize => {}
//!         Route::Session(_) => return Err(Refusal::SessionUnknown),
//!         Route::Refuse(refusal) => return Err(refusal),
//!     };
//!     // 3. The body, which is compared with the head, and the answer of the application.
//!     let mut at_once = AtOnce::default();
//!     let mut conversation = Conversation { machine: &mut server, outgoing: &mut at_once, outbox: &mut *outbox };
//!     let (source, mut status) = (Source::post(AtOnce::CHANNEL, &post), PostStatus::default());
//!     let look = |action: &Action<_, _>| status.note(&message, action.http_status());
//!     if let Some(Event::Request { token, .. }) = conversation.handle(now, &source, message, look) {
//!         let error = Outcome::Error(ErrorObject::new(code::METHOD_NOT_FOUND, "nothing here yet"));
//!         let _ = conversation.put(|server, out| server.respond(token, error, out));
//!     }
//!     // 4. A status alone, or a message that has one.
//!     Ok(at_once.response(status.get(), outbox).unwrap_or((500, b"")))
//! }
//! # struct Post;
//! # impl Head for Post {
//! #     fn method(&self) -> &str { "POST" }
//! #     fn path(&self) -> &str { "/mcp" }
//! #     fn fields<'h>(&'h self, each: &mut dyn FnMut(&'h str, &'h [u8])) {
//! #         each("host", b"localhost");
//! #         each("content-type", b"application/json");
//! #     }
//! # }
//!
//! let mut body = Inbox::new([0; 1024], &Limits::default());
//! let ping = br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
//! body.spare_mut().unwrap()[..ping.len()].copy_from_slice(ping);
//! body.filled(ping.len());
//! body.close();
//! let mut outbox = Outbox::new([0; 512], &Limits::default());
//! let response = answer(&Post, &mut body, &mut outbox)?;
//! assert_eq!(response, (200, &br#"{"jsonrpc":"2.0","id":1,"result":{}}"#[..]));
//! # Ok::<(), Refusal>(())
//! ```

mod access;
mod endpoint;
mod era;
mod fields;
mod head;
mod http_sse;
mod limits;
#[cfg(feature = "alloc")]
mod owned_post;
mod refusal;
mod response;
mod route;

// An endpoint and its settings.
pub use access::Access;
pub use endpoint::Endpoint;
pub use limits::HttpLimits;

// A request.
pub use endpoint::{Get, Opening, Post, Version, is_preflight};
pub use head::{Field, Head, SessionId};
pub use http_sse::{HttpSseEndpoint, HttpSseOpening};
#[cfg(feature = "alloc")]
pub use owned_post::OwnedPost;
pub use route::Route;

// A response.
pub use refusal::Refusal;
pub(crate) use response::ACCEPTED;
pub use response::{
    BodyKind, FieldValue, PostStatus, ResponseHead, origin_fields, preflight_fields,
};

pub(crate) use era::is_modern;

#[cfg(feature = "alloc")]
pub mod annotation;
pub mod media;
pub mod mirror;
