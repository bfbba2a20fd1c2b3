//! Client errors and their encoding.

use core::fmt;

use crate::json::Writer;
use crate::rpc::{Reason, code};

/// A rule that a message of the client broke, or a limit of ours that it met.
///
/// The code and the text are one table; the statuses are in `status.rs`. No code is invented beyond those of the
/// specification (JR-23, JR-25).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PeerError {
    /// The bytes are no message that we accept (JR-32).
    Invalid(Reason),
    /// An array where the revision has none, or where no buffer gathers answers (JR-19).
    Batch,
    /// More elements in an array than [`Limits::batch`](crate::Limits::batch).
    BatchTooLong,
    /// `initialize` inside an array (JR-17).
    InitializeInBatch,
    /// A request of the modern era inside an array (JR-19).
    ModernInBatch,
    /// A request before `initialize` (LC-12).
    NotInitialized,
    /// A second `initialize` (LC-13).
    AlreadyInitialized,
    /// An id longer than a slot keeps.
    IdTooLong,
    /// An id that the same sender has in flight (JR-05, JR-06).
    IdInUse,
    /// More requests in flight than [`Limits::in_flight`](crate::Limits::in_flight).
    TooManyRequests,
    /// More than [`Limits::subscriptions`](crate::Limits::subscriptions), or than their
    /// [bytes](crate::Limits::subscription_bytes).
    TooManySubscriptions,
    /// The revision has no such method, or a capability that was not declared gates it (LC-17,
    /// JR-28).
    UnknownMethod,
    /// A parameter that the protocol layer reads is missing or has the wrong type.
    Missing(&'static str),
    /// A member of `_meta` that the protocol layer reads, or `_meta` itself, is missing or has the wrong type (VR-03).
    MissingMeta(&'static str),
    /// A parameter that the protocol layer reads comes twice (JR-52).
    Doubled(&'static str),
    /// A level of logging that does not exist (LG-04, LG-07).
    LogLevel,
    /// `initialize` names no version at all (LC-15).
    NoVersion,
    /// A revision that this server does not speak (VR-04, VR-22, VR-25).
    UnsupportedVersion,
    /// `MCP-Protocol-Version` is missing, so the error lists the supported versions (SH-37,
    /// VR-20).
    VersionHeaderMissing,
    /// A header that a request of its revision has is missing (SH-38).
    HeaderMissing(&'static str),
    /// A header says something else than the body (SH-34, SH-38).
    HeaderMismatch(&'static str),
    /// A response, of a revision whose servers never ask (SH-48).
    Unasked,
    /// A request about tasks by a client that did not declare the extension (VR-07, TK-44).
    TasksUndeclared,
    /// A request that [needs an extension](crate::CustomMethod::requires), by a client that did
    /// not declare it (EX-06).
    ExtensionUndeclared,
}

impl PeerError {
    /// Returns the code of the error that answers it. A fault in a header has the code -32001 under
    /// the [draft](super::ServerConfig::draft_profile).
    pub const fn code(self) -> i64 {
        match self {
            Self::Invalid(reason) => reason.code(),
            Self::Batch
            | Self::InitializeInBatch
            | Self::ModernInBatch
            | Self::NotInitialized
            | Self::AlreadyInitialized
            | Self::IdTooLong
            | Self::IdInUse
            | Self::Unasked => code::INVALID_REQUEST,
            Self::BatchTooLong | Self::TooManyRequests | Self::TooManySubscriptions => {
                code::INTERNAL_ERROR
            }
            Self::UnknownMethod => code::METHOD_NOT_FOUND,
            Self::Missing(_)
            | Self::MissingMeta(_)
            | Self::Doubled(_)
            | Self::LogLevel
            | Self::NoVersion => code::INVALID_PARAMS,
            Self::UnsupportedVersion => code::UNSUPPORTED_VERSION,
            Self::VersionHeaderMissing | Self::HeaderMissing(_) | Self::HeaderMismatch(_) => {
                code::HEADER_MISMATCH
            }
            Self::TasksUndeclared | Self::ExtensionUndeclared => code::MISSING_CLIENT_CAPABILITY,
        }
    }

    /// The parameter that it is about, and what is to be said: one short sentence (JR-13).
    const fn pieces(self) -> (&'static str, &'static str) {
        if !cfg!(feature = "diagnostics") {
            return ("", code::short_text(self.code()));
        }
        match self {
            Self::Invalid(reason) => ("", reason.message()),
            Self::Batch => ("", "batches are not supported"),
            Self::BatchTooLong => ("", "limit reached: elements of a batch"),
            Self::InitializeInBatch => ("", "initialize must not be part of a batch"),
            Self::ModernInBatch => ("", "this revision has no batches"),
            Self::NotInitialized => ("", "not initialized"),
            Self::AlreadyInitialized => ("", "already initialized"),
            Self::IdTooLong => ("", "id is too long"),
            Self::IdInUse => ("", "id is in use"),
            Self::TooManyRequests => ("", "limit reached: requests in flight"),
            Self::TooManySubscriptions => ("", "limit reached: subscriptions"),
            Self::UnknownMethod => ("", "method not found"),
            Self::Missing(member) | Self::MissingMeta(member) => {
                (member, " is missing or malformed")
            }
            Self::Doubled(member) => (member, " occurs twice"),
            Self::LogLevel => ("", "unknown log level"),
            Self::NoVersion => ("protocolVersion", " is missing or no string"),
            Self::UnsupportedVersion => ("", "unsupported protocol version"),
            Self::VersionHeaderMissing => (VERSION, MISSING),
            Self::HeaderMissing(field) => (field, MISSING),
            Self::HeaderMismatch(field) => (field, " does not match the body"),
            Self::Unasked => ("", "this revision has no requests of servers"),
            Self::TasksUndeclared => (
                "",
                "the client must declare the extension io.modelcontextprotocol/tasks",
            ),
            Self::ExtensionUndeclared => ("", "the client must declare an extension"),
        }
    }

    pub(super) fn write_message(self, w: &mut Writer<'_>) {
        let (member, sentence) = self.pieces();
        if member.is_empty() {
            w.string(sentence);
        } else {
            w.literal("\"");
            w.literal(member);
            w.literal(sentence);
            w.literal("\"");
        }
    }
}

const MISSING: &str = " is missing";

impl fmt::Display for PeerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (member, sentence) = self.pieces();
        f.write_str(member)?;
        f.write_str(sentence)
    }
}

impl core::error::Error for PeerError {}

/// The headers that repeat parts of a body, as an error names them.
pub(super) const VERSION: &str = "MCP-Protocol-Version";
pub(super) const METHOD: &str = "Mcp-Method";
pub(super) const NAME: &str = "Mcp-Name";
