//! A large message that takes ownership of the storage that holds it.

use alloc::sync::Arc;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;
use core::ops::Range;

use super::{Given, Inbox, begins_array};
use crate::json::offset;
use crate::rpc::{Incoming, Message};

/// A message taken out of an [`Inbox`] together with the inbox's storage, so that parts of it can be
/// kept without a copy; see [`RawBuf::within`](crate::json::RawBuf::within).
pub struct Large {
    bytes: Arc<Vec<u8>>,
    text: Range<usize>,
    /// The bytes that the inbox held after the message.
    rest: Range<usize>,
    depth: u8,
}

impl Large {
    /// Returns the message.
    pub fn message(&self) -> Incoming<'_> {
        let text = self.bytes.get(self.text.clone()).unwrap_or_default();
        Incoming::Message(Message::parse(text, self.depth))
    }

    /// The storage that the message borrows from.
    pub const fn bytes(&self) -> &Arc<Vec<u8>> {
        &self.bytes
    }
}

impl Inbox<Vec<u8>> {
    /// Takes out the next message, if it is all there, has at least `least` bytes, and makes up
    /// enough of the storage to be worth it: at least a quarter, and as much as what is behind
    /// it. Otherwise [`next_message`](Self::next_message) has it, as it has every array.
    ///
    /// Until the message is [put back](Self::put_back) the inbox is empty and takes no bytes.
    ///
    /// ```
    /// use mcp_proto::json::RawBuf;
    /// use mcp_proto::rpc::{Incoming, Message};
    /// use mcp_proto::{Inbox, Limits};
    ///
    /// let mut inbox = Inbox::new(Vec::new(), &Limits::default());
    /// let text = format!(
    ///     "{{\"jsonrpc\":\"2.0\",\"method\":\"x\",\"params\":{{\"text\":\"{}\"}}}}\n",
    ///     "a".repeat(500),
    /// );
    /// inbox.spare_mut().ok_or("full")?[..text.len()].copy_from_slice(text.as_bytes());
    /// inbox.filled(text.len());
    ///
    /// let large = inbox.take_large(256).ok_or("a small one")?;
    /// let Incoming::Message(Message::Notification(told)) = large.message() else {
    ///     return Err("no notification");
    /// };
    /// let kept = RawBuf::within(large.bytes(), told.params.unwrap_or_default().as_raw());
    /// inbox.put_back(large);
    /// assert_eq!(kept.as_raw().as_bytes().len(), 511);
    /// # Ok::<(), &str>(())
    /// ```
    pub fn take_large(&mut self, least: usize) -> Option<Large> {
        if self.end.saturating_sub(self.start) < least {
            return None;
        }
        if self.given != Given::Nothing {
            self.release();
        }
        if self.batch.is_some() {
            return None;
        }
        let line = self.find_line()?;
        let held = self.store.get(self.start..self.end)?;
        let text = self.lines.text(held.get(..line)?);
        let behind = held.len().saturating_sub(line);
        let wanted = least.max(behind).max(self.store.len() / 4);
        if text.len() < wanted || begins_array(text) {
            return None;
        }
        let at = offset(text, &self.store)?;
        let text = at..at.saturating_add(text.len());
        self.pass_line();
        let rest = self.start..self.end;
        (self.start, self.end) = (0, 0);
        Some(Large {
            bytes: Arc::new(core::mem::take(&mut self.store)),
            text,
            rest,
            depth: self.depth,
        })
    }

    /// Frees the storage if the inbox is empty and the storage exceeds `max` bytes: it has grown for a large message. While
    /// a line over the limit is skipped, the storage stays.
    pub fn shrink_to(&mut self, max: usize) {
        if self.given != Given::Nothing {
            self.release();
        }
        if self.is_empty() && self.store.len() > max {
            (self.start, self.end) = (0, 0);
            self.store = Vec::new();
        }
    }

    /// Gives the storage back, directly after the message was handled. If a part of it was kept,
    /// its holder keeps the storage, and the inbox gets a new one of the same size.
    pub fn put_back(&mut self, large: Large) {
        match Arc::try_unwrap(large.bytes) {
            Ok(store) => {
                self.store = store;
                (self.start, self.end) = (large.rest.start, large.rest.end);
            }
            Err(kept) => {
                let rest = kept.get(large.rest).unwrap_or_default();
                // Zeroed memory costs nothing before it is used.
                self.store = vec![0; kept.len()];
                for (to, byte) in self.store.iter_mut().zip(rest) {
                    *to = *byte;
                }
                (self.start, self.end) = (0, rest.len());
            }
        }
    }
}

impl fmt::Debug for Large {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Large")
            .field("text", &self.text)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use std::format;
    use std::string::{String, ToString as _};

    use super::*;
    use crate::Limits;
    use crate::json::RawBuf;
    use crate::rpc::Message;

    const LEAST: usize = 64;

    fn line(id: u32, size: usize) -> String {
        let text = "x".repeat(size);
        format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"m\",\"params\":{{\"t\":\"{text}\"}}}}"
        )
    }

    fn note(incoming: Incoming<'_>) -> String {
        match incoming {
            Incoming::Message(Message::Request(request)) => request.id.to_string(),
            Incoming::Message(Message::Invalid(_)) => "invalid".into(),
            Incoming::BatchStart => "[".into(),
            Incoming::BatchEnd => "]".into(),
            other => format!("{other:?}"),
        }
    }

    /// Reads a stream, taking what is large, and keeping every second or no part of it.
    fn read(stream: &[u8], chunk: usize, keeps: bool) -> (Vec<String>, usize) {
        let limits = Limits {
            message: 4096,
            ..Limits::default()
        };
        let mut inbox = Inbox::new(Vec::new(), &limits);
        let (mut log, mut kept, mut taken) = (Vec::new(), Vec::new(), 0);
        let mut drain = |inbox: &mut Inbox<Vec<u8>>| {
            loop {
                if let Some(large) = inbox.take_large(LEAST) {
                    taken += 1;
                    log.push(note(large.message()));
                    if let Incoming::Message(Message::Request(request)) = large.message()
                        && keeps
                        && taken % 2 == 0
                    {
                        let params = request.params.unwrap_or_default().as_raw();
                        let part = RawBuf::within(large.bytes(), params);
                        assert!(part.is_shared());
                        kept.push((params.as_str().to_string(), part));
                    }
                    inbox.put_back(large);
                } else if let Some(incoming) = inbox.next_message() {
                    log.push(note(incoming));
                } else {
                    break;
                }
            }
        };
        for mut piece in stream.chunks(chunk) {
            while !piece.is_empty() {
                let spare = inbox.spare_mut().expect("everything was read");
                let len = spare.len().min(piece.len());
                spare[..len].copy_from_slice(&piece[..len]);
                inbox.filled(len);
                piece = &piece[len..];
                drain(&mut inbox);
            }
        }
        inbox.close();
        drain(&mut inbox);
        assert!(inbox.is_empty());
        for (text, part) in &kept {
            assert_eq!(part.as_raw().as_str(), text, "it stays what it was");
        }
        (log, taken)
    }

    #[test]
    fn large_messages_are_taken_in_their_turn() {
        let stream = [
            "\u{feff}",
            &line(1, 500),
            "\r\n",
            &line(2, 3),
            "\n\n",
            &line(3, 700),
            "\n[",
            &line(4, 300),
            "]\n",
            &"y".repeat(300),
            "\n",
            &line(5, 5000),
            "\n",
            &line(6, 400),
            "\n",
            &line(7, 4000),
            "\n",
            &line(8, 1500),
        ]
        .concat();
        let expected = [
            "1", "2", "3", "[", "4", "]", "invalid", "invalid", "6", "7", "8",
        ];
        for chunk in (1..300).chain([512, 1000, 4096, 100_000]) {
            for keeps in [false, true] {
                let (log, taken) = read(stream.as_bytes(), chunk, keeps);
                assert_eq!(log, expected, "{chunk} {keeps}");
                assert!(taken >= 1, "{chunk}: nothing was large");
            }
        }
    }

    /// A small message in a large storage would keep all of it.
    #[test]
    fn only_what_is_most_of_the_storage_is_taken() {
        let mut inbox = Inbox::new(vec![0; 4096], &Limits::default());
        let mut feed = |text: &str| {
            inbox.spare_mut().unwrap()[..text.len()].copy_from_slice(text.as_bytes());
            inbox.filled(text.len());
            let large = inbox.take_large(LEAST);
            let taken = large.is_some();
            match large {
                Some(large) => inbox.put_back(large),
                None => drop(inbox.next_message().map(note)),
            }
            taken
        };
        assert!(feed(&(line(1, 1500) + "\n")));
        assert!(!feed(&(line(1, 500) + "\n")));
        assert!(!feed(&(line(1, 5) + "\n")));
    }

    /// Storage is freed when nothing is in it, and comes again when bytes do; a line that is skipped keeps it.
    #[test]
    fn storage_is_freed_between_messages() {
        let limits = Limits {
            message: 256,
            ..Limits::default()
        };
        let mut inbox = Inbox::new(Vec::new(), &limits);
        let put = |inbox: &mut Inbox<Vec<u8>>, bytes: &[u8]| {
            for byte in bytes {
                inbox.spare_mut().expect("room for more")[0] = *byte;
                inbox.filled(1);
            }
        };
        let first = line(1, 100) + "\n";
        put(&mut inbox, first.as_bytes());
        inbox.shrink_to(16);
        assert!(inbox.capacity() > 16, "a message waits");
        assert_eq!(inbox.next_message().map(note).as_deref(), Some("1"));
        inbox.shrink_to(1 << 20);
        assert!(inbox.capacity() > 16, "it is not large");
        inbox.shrink_to(16);
        assert_eq!(inbox.capacity(), 0);
        // A line over the limit arrives in two parts, with time between them.
        let (long, second) = (line(2, 400) + "\n", line(3, 10) + "\n");
        for cut in 0..long.len() {
            put(&mut inbox, &long.as_bytes()[..cut]);
            let told = inbox.next_message().map(note);
            inbox.shrink_to(16);
            put(&mut inbox, &long.as_bytes()[cut..]);
            put(&mut inbox, second.as_bytes());
            let mut notes: Vec<String> = told.into_iter().collect();
            while let Some(message) = inbox.next_message() {
                notes.push(note(message));
            }
            assert_eq!(notes, ["invalid", "3"], "{cut}");
        }
    }
}
