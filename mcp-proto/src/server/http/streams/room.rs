//! Makes room: which messages wait, and which entries are removed.

use alloc::collections::VecDeque;

use super::stream::Stream;
use super::{Delivery, Streams, TOO_MANY};
use crate::action::Channel;
use crate::http::Refusal;

impl Streams {
    /// Returns true if a producer may put another message on this stream: its reader keeps up, or
    /// the stream has no reader and the oldest messages make room. The answer changes with
    /// [`read`](Self::read), [`detach`](Self::detach) and [`settle`](Self::settle).
    ///
    /// ```
    /// use mcp_proto::server::http::streams::{Delivery, StreamLimits, Streams};
    /// use mcp_proto::Channel;
    ///
    /// let limits = StreamLimits { unread: 2, ..StreamLimits::default() };
    /// let mut streams = Streams::new(Delivery::Resumable, limits);
    /// let reader = streams.listen();
    /// streams.push(Channel::PIPE, b"{}", None, false);
    /// assert!(!streams.has_room(Channel::PIPE), "its reader is slow");
    /// let _ = streams.read(&reader, &mut Vec::new(), 8192);
    /// assert!(streams.has_room(Channel::PIPE));
    /// ```
    pub fn has_room(&self, on: Channel) -> bool {
        self.stream(self.target(on))
            .is_none_or(|stream| stream.unread() < self.limits.unread || stream.is_losable())
    }

    /// The bytes of a stream that wait for a reader that is there.
    pub fn unread(&self, on: Channel) -> usize {
        let stream = self.stream(self.target(on));
        stream.map_or(0, Stream::unread_by_reader)
    }

    /// The bytes of all streams that wait for a reader that is there.
    pub const fn unread_by_readers(&self) -> usize {
        self.unread
    }

    /// Counts the bytes of a stream that wait for its reader, after its entries, its reader or what that has read have
    /// changed.
    pub(super) fn count(&mut self, channel: Channel) {
        let Some(stream) = self.stream_mut(channel) else {
            return;
        };
        let unread = stream.unread_by_reader();
        let before = core::mem::replace(&mut stream.counted, unread);
        self.unread = self.unread.saturating_sub(before).saturating_add(unread);
    }

    /// Drops what the limits do not allow to be kept: first what was read, of the stream that has
    /// most of it; then what is unread; finally the retained questions.
    pub(super) fn trim(&mut self) {
        while self.is_over_limits() {
            let victim = self.most_read().or_else(|| self.most_unread());
            match victim {
                Some(channel) => self.drop_first(channel),
                None => match self.questions.pop_front() {
                    Some(kept) => {
                        self.events = self.events.saturating_sub(1);
                        self.bytes = self.bytes.saturating_sub(kept.message.len());
                    }
                    None => return,
                },
            }
        }
    }

    /// Drops the oldest entry of a stream that is read once, if it was read.
    pub(super) fn drop_read(&mut self, channel: Channel) -> bool {
        let read = self
            .stream(channel)
            .is_some_and(|stream| stream.droppable().0 > 0);
        if read {
            self.drop_first(channel);
        }
        read
    }

    /// Makes room for a new stream: drops the oldest that was read to its end, or else the
    /// oldest finished one without reader.
    pub(super) fn remove_finished(&mut self) -> Result<(), Refusal> {
        let finished = |delivered: bool| {
            self.posts
                .iter()
                .find(|stream| stream.is_finished() && (stream.is_delivered() || !delivered))
                .map(|stream| stream.channel)
        };
        let oldest = finished(true).or_else(|| finished(false)).ok_or(TOO_MANY)?;
        self.remove(oldest);
        Ok(())
    }

    /// Removes a stream and what it holds.
    pub(super) fn remove(&mut self, channel: Channel) {
        if let Some(stream) = self.stream(channel) {
            let (events, bytes) = (stream.len(), stream.bytes());
            self.events = self.events.saturating_sub(events);
            self.bytes = self.bytes.saturating_sub(bytes);
            self.forget(channel);
        }
    }

    /// Removes a stream whose entries do not count any more.
    pub(super) fn forget(&mut self, channel: Channel) {
        if channel == Channel::PIPE {
            let own = self.own.take();
            let counted = own.map_or(0, |own| own.counted);
            self.unread = self.unread.saturating_sub(counted);
        } else if let Ok(index) = self.index(channel) {
            let post = self.posts.remove(index);
            let counted = post.map_or(0, |post| post.counted);
            self.unread = self.unread.saturating_sub(counted);
            // A request without a session has no other.
            if self.delivery == Delivery::Once && self.posts.is_empty() {
                self.posts = VecDeque::new();
            }
        }
    }

    fn drop_first(&mut self, channel: Channel) {
        let Some(stream) = self.stream_mut(channel) else {
            return;
        };
        let before = stream.bytes();
        let question = stream.drop_first();
        let freed = before.saturating_sub(stream.bytes());
        let empty = stream.is_finished() && stream.len() == 0;
        match question {
            // It still counts separately.
            Some(question) => self.questions.push_back(question),
            None => {
                self.events = self.events.saturating_sub(1);
                self.bytes = self.bytes.saturating_sub(freed);
            }
        }
        if empty {
            self.forget(channel);
        }
    }

    fn is_over_limits(&self) -> bool {
        self.events > self.limits.events || self.bytes > self.limits.bytes
    }

    fn most_read(&self) -> Option<Channel> {
        let by_bytes = self.bytes > self.limits.bytes;
        self.most(|stream| match stream.droppable() {
            (0, _) => None,
            (events, bytes) => Some(if by_bytes { bytes } else { events }),
        })
    }

    fn most_unread(&self) -> Option<Channel> {
        let by_bytes = self.bytes > self.limits.bytes;
        self.most(|stream| {
            let weight = if by_bytes {
                stream.bytes()
            } else {
                stream.len()
            };
            stream.is_losable().then_some(weight)
        })
    }

    /// The stream that weighs most; the oldest of them, the session's own last.
    fn most(&self, weigh: impl Fn(&Stream) -> Option<usize>) -> Option<Channel> {
        let mut most: Option<(usize, Channel)> = None;
        for stream in self.posts.iter().chain(self.own.as_deref()) {
            if let Some(weight) = weigh(stream)
                && most.is_none_or(|(heaviest, _)| weight > heaviest)
            {
                most = Some((weight, stream.channel));
            }
        }
        most.map(|(_, channel)| channel)
    }
}
