//! The messages of an exchange without a session.

use std::collections::VecDeque;

use mcp_proto::{Channel, SentToken, Transmit};

use super::unread::UnreadBytes;
use crate::connection::{Core, Outbound, Receipt};
use crate::server::Machine;

/// What one exchange still has to send.
pub(super) struct Replies {
    messages: VecDeque<Vec<u8>>,
    unread: usize,
    /// The bytes that were read last, of which the connection may hold most.
    handed_over: usize,
    /// Counts both.
    counted: UnreadBytes,
    /// There was no room for the last message: handlers wait.
    is_crowded: bool,
    /// How many bytes may wait before a handler has to.
    limit: usize,
    /// The HTTP status that the first message asks for.
    status: Option<u16>,
    ended: bool,
}

/// The state of an exchange.
pub(super) enum First {
    /// It is over without a response.
    Nothing,
    /// It is over with one message, for this HTTP status.
    Single(u16, Vec<u8>),
    /// There is more to it than an answer.
    Several,
    /// It continues, and nothing was sent until now.
    Pending,
}

impl Replies {
    /// Those of this connection; `None` if it is no exchange.
    pub(super) fn of(core: &mut Core<Machine>) -> Option<&mut Self> {
        core.outbound.downcast_mut()
    }

    /// Nothing yet; `limit` bytes may wait before a handler has to.
    pub(super) const fn new(limit: usize, counted: UnreadBytes) -> Self {
        Self {
            messages: VecDeque::new(),
            unread: 0,
            handed_over: 0,
            counted,
            is_crowded: false,
            limit,
            status: None,
            ended: false,
        }
    }

    /// What it came to before anything was read. An answer without a message before it is taken.
    pub(super) fn first(&mut self) -> First {
        match (self.ended, self.messages.len()) {
            (true, 0) => First::Nothing,
            (true, 1) => {
                self.unread = 0;
                self.counted.set(0);
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

    /// Appends what waits as events. What was read before has left.
    pub(super) fn read(&mut self, out: &mut Vec<u8>) {
        out.reserve(self.unread + self.messages.len() * EVENT);
        for message in self.messages.drain(..) {
            // A message has no line break in it: what the core writes has none, and what came
            // from outside lost them.
            out.extend_from_slice(b"data: ");
            out.extend_from_slice(&message);
            out.extend_from_slice(b"\n\n");
        }
        self.handed_over = core::mem::take(&mut self.unread);
        self.counted.set(self.handed_over);
        self.is_crowded = false;
    }
}

impl Outbound for Replies {
    fn has_room(&self, _: Channel) -> bool {
        self.unread < self.limit && !self.is_crowded
    }

    fn take(
        &mut self,
        transmit: Transmit,
        _: Option<SentToken>,
        message: &[u8],
    ) -> Option<Receipt> {
        if !message.is_empty() {
            self.status.get_or_insert(transmit.status);
            self.unread = self.unread.saturating_add(message.len());
            let both = self.unread.saturating_add(self.handed_over);
            if !self.counted.grow_to(both) {
                self.counted.set(both);
                self.is_crowded = true;
            }
            self.messages.push_back(message.to_vec());
        }
        self.ended |= transmit.end;
        None
    }
}

/// What an event has around its message.
const EVENT: usize = "data: \n\n".len();

#[cfg(test)]
mod tests {
    use super::super::caller::CallerId;
    use super::super::unread::UnreadBudget;
    use super::*;

    #[test]
    fn handlers_wait_while_the_caller_has_too_much_unread() {
        let budget = UnreadBudget::new(30_000);
        let part = || budget.part(Some(CallerId::Principal("ada".into())));
        let [mut first, mut second] = [part(), part()].map(|part| Replies::new(1 << 20, part));
        let mut out = Vec::new();
        let message = vec![b'x'; 16_000];
        let take = |replies: &mut Replies| {
            replies.take(Transmit::pipe(message.len()), None, &message);
            replies.has_room(Channel::PIPE)
        };
        assert!(take(&mut first));
        assert!(!take(&mut second));
        // What the connection has read may wait there.
        first.read(&mut out);
        second.read(&mut out);
        assert!(!take(&mut second));
        first.read(&mut out);
        second.read(&mut out);
        second.read(&mut out);
        assert!(take(&mut first) && out.len() > 48_000);
    }
}
