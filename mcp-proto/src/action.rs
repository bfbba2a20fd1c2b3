//! The vocabulary that client and server share: the results of inputs and of commands.

use core::fmt;

/// The effect of one incoming message.
///
/// Effects of time and of the end of a connection are polled.
#[derive(Debug)]
#[must_use = "a request whose event is dropped is never answered"]
pub enum Action<E, R> {
    /// For the application. It borrows from the input, so the machine is free again.
    Event(E),
    /// The core answers by itself: hand it back through `reply`, which writes the bytes. A reply without bytes only ends its
    /// channel ([`Transmit::end`]), as after the answers of an array.
    Reply(R),
    /// The message was taken into state, and nothing is to be done.
    Done,
    /// The message had no effect, and why.
    Ignore(IgnoreReason),
}

/// The reason why a message had no effect, for logs and tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum IgnoreReason {
    /// A notification with an unknown method (JR-34).
    UnknownNotification,
    /// A response to an unknown or abandoned request (JR-33, CN-06).
    LateResponse,
    /// A cancellation of an unknown or finished request (CN-05).
    UnknownCancellation,
    /// A notification that its revision or its sender's role does not have.
    Misplaced,
    /// A malformed notification or one whose values make no sense (CN-08, PG-09).
    Malformed,
    /// Bytes that are no message, where the role must not answer (JR-32).
    Garbage,
    /// Progress for an unknown token, or one that did not increase (PG-09).
    StaleProgress,
    /// A duplicate question of a server that is already being answered.
    DuplicateQuestion,
    /// The answer was lost: the outbox can hold neither it nor an error in its place.
    NoRoom,
    /// The connection is over.
    Closed,
}

/// The destination of output: a pipe has one channel, HTTP has one for each exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Channel(u32);

impl Channel {
    /// The only channel of a pipe. Over HTTP it is the stream that a session has besides its
    /// exchanges, the one that a GET reads.
    pub const PIPE: Self = Self(0);

    /// The channel of this number. The driver numbers the exchanges: two that one machine still
    /// has to answer must not have the same number.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Its number.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Returns true if the channel is that of an exchange, which ends with its answer.
    pub(crate) const fn is_exchange(self) -> bool {
        self.0 != Self::PIPE.0
    }
}

/// Describes the bytes that a call wrote to the caller's buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "the bytes in the buffer must be sent"]
#[non_exhaustive]
pub struct Transmit {
    /// The channel that the bytes go to.
    pub channel: Channel,
    /// The number of bytes from the start of the buffer; zero if the command left none (an answer
    /// gathered into a batch, say).
    pub len: usize,
    /// True if the channel ends after these bytes: nothing follows on it. A pipe never ends.
    pub end: bool,
    /// The HTTP status, if these are the first bytes of their exchange.
    pub status: u16,
    /// True if the message is an error response of a server; a client does not set it.
    pub is_error: bool,
}

impl Transmit {
    /// `len` bytes for a pipe.
    pub const fn pipe(len: usize) -> Self {
        Self::on(Channel::PIPE, len)
    }

    /// `len` bytes for a channel that stays open after them.
    pub(crate) const fn on(channel: Channel, len: usize) -> Self {
        Self {
            channel,
            len,
            end: false,
            status: OK,
            is_error: false,
        }
    }

    /// No bytes; closes the channel without a response.
    pub(crate) const fn end_of(channel: Channel) -> Self {
        Self {
            end: true,
            ..Self::on(channel, 0)
        }
    }
}

/// The error of a buffer that is too small. Nothing was written and no state changed: drain or grow
/// the buffer, then repeat the call.
///
/// ```
/// use mcp_proto::BufferFull;
/// use mcp_proto::http::Refusal;
///
/// let full = Refusal::Host.write(&mut [0; 8]).unwrap_err();
/// let mut out = vec![0; full.needed];
/// assert!(Refusal::Host.write(&mut out).is_ok());
/// # let _: BufferFull = full;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferFull {
    /// The bytes that the message takes, exactly: a buffer of this size is enough.
    ///
    /// If the core adds members to a payload that does not fit, the payload is written twice:
    /// once more for the members that it has already.
    pub needed: usize,
}

impl fmt::Display for BufferFull {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the buffer is too small: {} bytes needed", self.needed)
    }
}

impl core::error::Error for BufferFull {}

/// The error of a command of the application, which wrote nothing.
///
/// The command can succeed later after [`BufferFull`](Self::BufferFull),
/// [`TableFull`](Self::TableFull) and [`NotReady`](Self::NotReady); the other errors are final.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SendError {
    /// See [`BufferFull`]: the token stays good, the call can be made again.
    BufferFull {
        /// The bytes that the message takes; see [`BufferFull::needed`].
        needed: usize,
    },
    /// The message is longer than the output may ever be ([`Limits::output`], or what the outbox
    /// can hold): waiting is no use.
    ///
    /// [`Limits::output`]: crate::Limits::output
    TooLarge {
        /// The bytes that the message takes.
        needed: usize,
    },
    /// The request is over: answered, cancelled or expired.
    Stale,
    /// The table of requests is full; it empties as answers come in.
    TableFull,
    /// The peer did not declare this capability (LC-17, VR-06).
    MissingCapability(&'static str),
    /// The negotiated revision has no such message.
    NotInRevision,
    /// The connection is not, or no longer, in a phase that allows it; or the batch that is open has no room left.
    NotReady,
    /// The connection is closed.
    Closed,
    /// A progress value that does not increase (PG-04), or a request without progress token.
    Progress,
    /// The payload's own `Serialize` failed, or it is no JSON object.
    Encode,
}

impl SendError {
    /// Tells what will never fit from what only has to wait: an output that can hold no more than
    /// `max_message` bytes makes [`TooLarge`](Self::TooLarge) of a need beyond them.
    pub(crate) fn within(self, max_message: usize) -> Self {
        match self {
            Self::BufferFull { needed } if needed > max_message => Self::TooLarge { needed },
            other => other,
        }
    }
}

impl From<BufferFull> for SendError {
    fn from(full: BufferFull) -> Self {
        Self::BufferFull {
            needed: full.needed,
        }
    }
}

impl fmt::Display for SendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BufferFull { needed } => BufferFull { needed: *needed }.fmt(f),
            Self::TooLarge { needed } => {
                write!(f, "the message is too long: {needed} bytes")
            }
            Self::Stale => f.write_str("the request is over"),
            Self::TableFull => f.write_str("too many requests in flight"),
            Self::MissingCapability(name) => {
                write!(f, "the peer did not declare the capability {name}")
            }
            Self::NotInRevision => f.write_str("the negotiated revision has no such message"),
            Self::NotReady => f.write_str("the connection is not ready for this message"),
            Self::Closed => f.write_str("the connection is closed"),
            Self::Progress => f.write_str("progress does not increase, or was not requested"),
            Self::Encode => f.write_str("the payload does not serialize to a JSON object"),
        }
    }
}

impl core::error::Error for SendError {}

const OK: u16 = 200;
