//! The status of a POST, from the verdicts on its messages.

use super::response::ACCEPTED;
use crate::rpc::Incoming;

/// The HTTP status of a POST, gathered from the verdicts on its messages.
///
/// ```
/// use mcp_proto::http::PostStatus;
/// use mcp_proto::rpc::Messages;
///
/// let mut status = PostStatus::default();
/// for message in Messages::new(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, 8) {
///     let verdict = Some(202); // as `Action::http_status` has it
///     status.note(&message, verdict);
/// }
/// assert_eq!(status.get(), Some(202));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PostStatus {
    /// An answer follows, or was given.
    answered: bool,
    array: bool,
    status: Option<u16>,
}

impl PostStatus {
    /// Notes the verdict on the next message, an [`Action::http_status`](crate::Action::http_status).
    pub const fn note(&mut self, incoming: &Incoming<'_>, verdict: Option<u16>) {
        self.array |= matches!(incoming, Incoming::BatchStart);
        match verdict {
            Some(_) => self.status = verdict,
            None => self.answered = true,
        }
    }

    /// Returns true if the messages are the elements of an array.
    pub const fn is_array(self) -> bool {
        self.array
    }

    /// The status of a response without a message; `None` if an answer follows. That of an array without answers is 202.
    pub const fn get(self) -> Option<u16> {
        match (self.answered, self.array) {
            (true, _) => None,
            (false, true) => Some(ACCEPTED),
            (false, false) => self.status,
        }
    }
}
