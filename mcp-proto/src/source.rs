//! The origins of messages, and the places that the messages about a request go to.

use core::fmt::Debug;

use crate::action::Channel;
use crate::http::Post;

/// The origin of each message of a client, and of a server whose storage is not made for HTTP. Other servers take
/// [`Source::PIPE`] for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pipe;

/// The origin of a message of a server that can be reached over HTTP: a channel and, but for a [`Pipe`], the head to
/// compare with the body.
#[derive(Clone, Copy, Debug)]
pub struct Source<'h> {
    channel: Channel,
    head: Option<&'h Post<'h>>,
}

impl<'h> Source<'h> {
    /// A message from a pipe.
    pub const PIPE: Source<'static> = Source {
        channel: Channel::PIPE,
        head: None,
    };

    /// A message from the body of a POST with this head, which is answered on this channel.
    ///
    /// The [storage](crate::server::Storage) of the server is one for HTTP: `Growing` is, and arrays
    /// are [`OverHttp`](crate::server::OverHttp). A server with another storage could not compare head
    /// and body; there this does not compile:
    ///
    /// ```compile_fail,E0308
    /// use mcp_proto::http::{Post, Version};
    /// use mcp_proto::rpc::{Incoming, Message};
    /// use mcp_proto::server::{Fixed, Server, ServerConfig};
    /// use mcp_proto::{AtOnce, Instant, Machine, Source};
    ///
    /// let mut server = Server::new(ServerConfig::new("demo", "1.0"), Fixed::new()).unwrap();
    /// let post = Post { version: Version::Absent, session: None, method: None, name: None };
    /// let source = Source::post(AtOnce::CHANNEL, &post);
    /// let ping = Incoming::Message(Message::parse(br#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, 8));
    /// let _ = server.handle(Instant::ZERO, &source, ping);
    /// ```
    ///
    /// With `OverHttp(Fixed::new())` it does. Code for any storage that is made for HTTP says so by its place:
    ///
    /// ```
    /// use mcp_proto::http::Post;
    /// use mcp_proto::rpc::Incoming;
    /// use mcp_proto::server::{Event, Reply, Server, Storage};
    /// use mcp_proto::{Action, AtOnce, Channel, Instant, Machine, Source};
    ///
    /// fn arrived<'b, S: Storage<Place = Channel>>(
    ///     server: &mut Server<'_, S>,
    ///     post: &Post<'_>,
    ///     message: Incoming<'b>,
    /// ) -> Action<Event<'b>, Reply<'b>> {
    ///     server.handle(Instant::ZERO, &Source::post(AtOnce::CHANNEL, post), message)
    /// }
    /// ```
    pub const fn post(channel: Channel, head: &'h Post<'h>) -> Self {
        Self {
            channel,
            head: Some(head),
        }
    }

    /// The channel on which an immediate answer leaves.
    pub const fn channel(&self) -> Channel {
        self.channel
    }

    /// The head of the POST that it came with.
    pub const fn head(&self) -> Option<&'h Post<'h>> {
        self.head
    }
}

impl From<Pipe> for Source<'_> {
    fn from(_: Pipe) -> Self {
        Source::PIPE
    }
}

/// The origin of a message: [`Pipe`] or [`Source`].
#[expect(unnameable_types, reason = "only the sealed `Storage` names it")]
pub trait Origin<'h>: Copy + Debug + From<Pipe> {
    /// The channel on which an immediate answer leaves.
    fn channel(self) -> Channel;
    /// The head of the POST that it came with.
    fn head(self) -> Option<&'h Post<'h>>;
}

impl<'h> Origin<'h> for Pipe {
    fn channel(self) -> Channel {
        Channel::PIPE
    }

    fn head(self) -> Option<&'h Post<'h>> {
        None
    }
}

impl<'h> Origin<'h> for Source<'h> {
    fn channel(self) -> Channel {
        self.channel
    }

    fn head(self) -> Option<&'h Post<'h>> {
        self.head
    }
}

/// The place that a request came from, and that everything about it goes to: one of the channels of HTTP, or the pipe,
/// of which there is nothing to remember.
#[expect(unnameable_types, reason = "only the sealed `Storage` names it")]
pub trait Place: Copy + Debug + PartialEq {
    /// The origin of a message.
    type Origin<'h>: Origin<'h>;

    /// True if there are other places than the pipe. Without them, the code for exchanges of HTTP is not linked.
    const MANY: bool;

    /// The place of a channel.
    fn of(channel: Channel) -> Self;
    /// The channel of a place.
    fn channel(self) -> Channel;

    /// Returns true if the place is an exchange, which ends with its last answer.
    fn is_exchange(self) -> bool {
        self.channel().is_exchange()
    }
}

impl Place for Pipe {
    type Origin<'h> = Self;

    const MANY: bool = false;

    fn of(_: Channel) -> Self {
        Self
    }

    fn channel(self) -> Channel {
        Channel::PIPE
    }
}

impl Place for Channel {
    type Origin<'h> = Source<'h>;

    const MANY: bool = true;

    fn of(channel: Channel) -> Self {
        channel
    }

    fn channel(self) -> Channel {
        self
    }
}

/// The origin of a message, passed down with the message.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrival<'h, P: Place> {
    origin: P::Origin<'h>,
    /// True if the message is of 2026-07-28 by its head, or by its body as soon as that is read.
    pub(crate) modern: bool,
}

impl<'h, P: Place> Arrival<'h, P> {
    pub(crate) fn new(origin: &P::Origin<'h>) -> Self {
        let mut arrival = Self {
            origin: *origin,
            modern: false,
        };
        arrival.modern = arrival.head().is_some_and(Post::is_modern);
        arrival
    }

    /// The channel on which an immediate answer leaves.
    pub(crate) fn channel(&self) -> Channel {
        self.origin.channel()
    }

    /// The place that the message came from.
    pub(crate) fn place(&self) -> P {
        P::of(self.channel())
    }

    /// The head of its POST.
    pub(crate) fn head(&self) -> Option<&'h Post<'h>> {
        self.origin.head()
    }
}
