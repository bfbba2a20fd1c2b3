//! The origin of the message that is being handled.

use crate::action::Channel;
use crate::http::Post;
use crate::source::Source;

/// How a message arrived, passed down with it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival<'h> {
    /// Where an immediate answer leaves.
    pub(super) channel: Channel,
    /// The head of its POST.
    pub(super) head: Option<&'h Post<'h>>,
    /// Whether its head, or as soon as that is read its body, says that it is of 2026-07-28.
    pub(super) modern: bool,
}

impl<'h> Arrival<'h> {
    /// By a pipe.
    pub(super) const PIPE: Arrival<'static> = Arrival {
        channel: Channel::PIPE,
        head: None,
        modern: false,
    };

    /// By an exchange of HTTP, or by a pipe.
    pub(super) fn new(source: &Source<'h>) -> Self {
        Self {
            channel: source.channel(),
            head: source.head(),
            modern: source.head().is_some_and(Post::is_modern),
        }
    }
}
