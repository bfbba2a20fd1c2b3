//! Attributes oversized events to their requests.

use alloc::boxed::Box;

use super::exchange::Exchange;
use super::origin::Origin;
use super::passing::Passing;
use crate::frame::sse::Piece;

/// The findings about an event over the limit, while it passes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "a call whose answer was skipped would wait forever"]
pub enum Oversized {
    /// Nothing yet, or nothing more.
    Passing,
    /// It is the answer to the request of this id: tell
    /// [`Client::fail`](crate::client::Client::fail), with
    /// [`Reason::TooLong`](crate::rpc::Reason::TooLong). If it is the only one that the exchange
    /// [awaits](super::Exchange::ids), the exchange is over.
    Answer(u64),
    /// It is over, and no call can be identified: log a warning.
    Lost,
}

impl Exchange {
    /// Takes a piece of an event over the limit, and looks for whose it is: in constant memory,
    /// and as early as possible (SSE-10).
    ///
    /// ```
    /// use mcp_proto::frame::sse::Piece;
    /// use mcp_proto::client::http::{Exchange, Origin, Oversized};
    /// use mcp_proto::rpc::Message;
    ///
    /// let origin = Origin::new();
    /// let message = br#"{"jsonrpc":"2.0","id":7,"method":"tools/list"}"#;
    /// let mut exchange = Exchange::new(&origin, &Message::parse(message, 16));
    /// let asked = Piece::Part(br#"{"jsonrpc":"2.0","method":"x","params":"...."#);
    /// assert_eq!(exchange.oversized(&origin, &asked), Oversized::Passing);
    /// assert_eq!(exchange.oversized(&origin, &Piece::End), Oversized::Lost);
    /// let answer = Piece::Part(br#"{"jsonrpc":"2.0","id":7,"result":"...."#);
    /// assert_eq!(exchange.oversized(&origin, &answer), Oversized::Answer(7));
    /// ```
    pub fn oversized(&mut self, origin: &Origin, piece: &Piece<'_>) -> Oversized {
        if self.epoch != origin.epoch() {
            return Oversized::Passing;
        }
        // In the stream of one request there is one answer, and it need not name itself.
        let own = self.awaited.only();
        let oversized = &mut self.oversized;
        let found = match piece {
            Piece::Event(_) => Oversized::Passing,
            Piece::Part(part) => {
                let passing = oversized.get_or_insert_with(|| Box::new(Passing::new()));
                if passing.told {
                    return Oversized::Passing;
                }
                passing.feed(part);
                match own.filter(|_| !passing.asks()).or_else(|| passing.early()) {
                    Some(id) => {
                        passing.told = true;
                        Oversized::Answer(id)
                    }
                    None => Oversized::Passing,
                }
            }
            Piece::End => match oversized.take() {
                Some(passing) if passing.told => Oversized::Passing,
                Some(passing) => passing.whose().map_or(Oversized::Lost, Oversized::Answer),
                None => Oversized::Passing,
            },
        };
        // The others of an array are still awaited.
        if let (Oversized::Answer(id), None) = (found, own) {
            self.awaited.remove(id);
        }
        found
    }
}
