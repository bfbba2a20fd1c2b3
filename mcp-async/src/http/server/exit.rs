//! Where the messages of a server's connection go.

use core::task::{Context, Poll};
use std::collections::VecDeque;

use mcp_proto::{Channel, SentToken, Transmit};

use super::streams::SessionStreams;
use crate::connection::{Exit, Receipt};

/// The way out of one connection.
#[derive(Default)]
pub(crate) enum Way {
    /// A pair of byte streams.
    #[default]
    Pipe,
    /// One exchange that stands for itself.
    Exchange(Replies),
    /// The streams of a legacy session.
    Session(Box<SessionStreams>),
}

/// What one exchange still has to send.
#[derive(Default)]
pub(crate) struct Replies {
    messages: VecDeque<Vec<u8>>,
    unread: usize,
    /// How many bytes may wait before a handler has to.
    limit: usize,
    /// The HTTP status that the first message asks for.
    status: Option<u16>,
    ended: bool,
}

/// What an exchange has come to.
pub(super) enum First {
    /// It is over, without a word.
    Nothing,
    /// It is over with one message, for this HTTP status.
    Single(u16, Vec<u8>),
    /// There is more to it than an answer.
    Several,
    /// It goes on, and nothing was said until now.
    Pending,
}

impl Way {
    pub(super) fn exchange(limit: usize) -> Self {
        Self::Exchange(Replies {
            limit,
            ..Replies::default()
        })
    }

    pub(super) fn session(streams: SessionStreams) -> Self {
        Self::Session(Box::new(streams))
    }

    /// What the exchange has to send; `None` if there is no exchange.
    pub(super) const fn replies(&mut self) -> Option<&mut Replies> {
        match self {
            Self::Exchange(replies) => Some(replies),
            Self::Pipe | Self::Session(_) => None,
        }
    }

    /// Whether a store does not have everything yet that was sent.
    pub(super) fn awaits_store(&self) -> bool {
        matches!(self, Self::Session(streams) if streams.has_unsettled())
    }

    /// The streams of the session; `None` if there is none.
    pub(crate) const fn streams(&mut self) -> Option<&mut SessionStreams> {
        match self {
            Self::Session(streams) => Some(streams),
            Self::Pipe | Self::Exchange(_) => None,
        }
    }
}

impl Replies {
    /// What it came to before anything was read. An answer without a message before it is taken.
    pub(super) fn first(&mut self) -> First {
        match (self.ended, self.messages.len()) {
            (true, 0) => First::Nothing,
            (true, 1) => {
                self.unread = 0;
                let message = self.messages.pop_front().unwrap_or_default();
                First::Single(self.status.unwrap_or(200), message)
            }
            (false, 0) => First::Pending,
            _ => First::Several,
        }
    }

    /// Whether nothing more comes after what is there.
    pub(super) const fn has_ended(&self) -> bool {
        self.ended
    }

    /// Appends what waits as events.
    pub(super) fn read(&mut self, out: &mut Vec<u8>) {
        out.reserve(self.unread + self.messages.len() * EVENT);
        for message in self.messages.drain(..) {
            // A message has no line break in it: what the core writes has none, and what came
            // from outside lost them.
            out.extend_from_slice(b"data: ");
            out.extend_from_slice(&message);
            out.extend_from_slice(b"\n\n");
        }
        self.unread = 0;
    }
}

impl Exit for Way {
    fn is_pipe(&self) -> bool {
        matches!(self, Self::Pipe)
    }

    fn has_room(&self, on: Channel) -> bool {
        match self {
            Self::Pipe => true,
            Self::Exchange(replies) => replies.unread < replies.limit,
            Self::Session(streams) => streams.has_room(on),
        }
    }

    fn take(
        &mut self,
        transmit: Transmit,
        request: Option<SentToken>,
        message: &[u8],
    ) -> Option<Receipt> {
        match self {
            Self::Pipe => None,
            Self::Session(streams) => streams.take(transmit, request, message),
            Self::Exchange(replies) => {
                if !message.is_empty() {
                    replies.status.get_or_insert(transmit.status);
                    replies.unread = replies.unread.saturating_add(message.len());
                    replies.messages.push_back(message.to_vec());
                }
                replies.ended |= transmit.end;
                None
            }
        }
    }

    fn poll_stored(&mut self, cx: &Context<'_>, receipt: Receipt) -> Poll<()> {
        match self {
            Self::Session(streams) => streams.poll_stored(cx, receipt),
            Self::Pipe | Self::Exchange(_) => Poll::Ready(()),
        }
    }
}

/// What an event has around its message.
const EVENT: usize = "data: \n\n".len();
