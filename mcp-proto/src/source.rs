//! The origin of a message.

use crate::action::Channel;
use crate::http::Post;

/// The origin of a message: a channel and, over HTTP, the head to compare with the body.
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
    /// are [`OverHttp`](crate::server::OverHttp). A server with another storage cannot compare head
    /// and body, and [ignores](crate::IgnoreReason::NotOverHttp) the message.
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
