//! Answers that the core gives without the application.

use super::config::ServerSettings;
use super::peer_error::PeerError;
use super::peer_error::VERSION;
use crate::action::{BufferFull, Channel};
use crate::features::{ClientFeatures, TASKS_EXTENSION};
use crate::json::{Object, Raw, Str, Writer};
use crate::model::{LoggingLevel, keys};
use crate::prepared_config::PreparedConfig;
use crate::revision::{Revision, RevisionSet};
use crate::rpc::{Id, code, envelope};
use crate::token::MachineId;

/// An answer that needs no application: to be handed back through
/// [`reply`](crate::Machine::reply) of the machine that returned it, which writes it and then changes
/// the state. Another machine writes nothing.
///
/// It can be looked into first, for logs.
#[derive(Clone, Copy, Debug)]
#[must_use = "a request whose reply is dropped is never answered"]
pub struct Reply<'b> {
    /// The machine that returned it.
    pub(super) machine: Option<MachineId>,
    pub(super) id: Option<Id<'b>>,
    /// It belongs into the array that is being gathered.
    pub(super) batched: bool,
    pub(super) channel: Channel,
    pub(super) end: bool,
    pub(super) status: u16,
    /// An error without an id says so by `null` (JR-51).
    pub(super) null_id: bool,
    /// The message that it answers is held to the draft of spring 2026.
    pub(super) draft: bool,
    /// The place of the method that needs an extension which the client did not declare.
    pub(super) method: u16,
    pub(super) kind: ReplyKind<'b>,
}

/// The content of a [`Reply`].
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ReplyKind<'b> {
    /// The handshake of a legacy session.
    Initialize(Initialize<'b>),
    /// The description of the server in this revision.
    Discover(Revision),
    /// To a ping (LC-21).
    Pong,
    /// To `logging/setLevel` (LG-03).
    LogLevel(LoggingLevel),
    /// An error.
    Error {
        /// The rule that was broken.
        error: PeerError,
        /// The version that was asked for, where that is what was wrong.
        requested: Option<Raw<'b>>,
    },
    /// The end of the exchange of an array whose answers have left one by one. It writes no message.
    BatchEnd,
}

/// The handshake of a legacy session, as it is about to be answered.
#[derive(Clone, Copy, Debug)]
pub struct Initialize<'b> {
    /// The revision that the session will have.
    pub revision: Revision,
    /// The one that the client offered, which is another one after a counter-offer (LC-04).
    pub offered: Str<'b>,
    /// The features of the client that the revision has (LC-23).
    pub features: ClientFeatures,
    /// Everything that it declared.
    pub capabilities: Object<'b>,
    /// The description of the client: an `Implementation`.
    pub client_info: Object<'b>,
}

impl<'b> Reply<'b> {
    /// Returns the content.
    pub const fn kind(&self) -> &ReplyKind<'b> {
        &self.kind
    }

    /// The rule that the client broke, if that is what it is about.
    pub const fn error(&self) -> Option<PeerError> {
        match self.kind {
            ReplyKind::Error { error, .. } => Some(error),
            _ => None,
        }
    }

    /// The answer to the sender of this id.
    pub(super) const fn to(id: Option<Id<'b>>, kind: ReplyKind<'b>) -> Self {
        Self {
            machine: None,
            id,
            batched: false,
            channel: Channel::PIPE,
            end: false,
            status: 200,
            null_id: false,
            draft: false,
            method: u16::MAX,
            kind,
        }
    }

    /// An error; an id that is too long to be echoed is left out.
    pub(super) fn refusal(
        id: Option<Id<'b>>,
        error: PeerError,
        requested: Option<Raw<'b>>,
    ) -> Self {
        Self::to(id, ReplyKind::Error { error, requested })
    }

    pub(super) fn write<'s>(
        &self,
        config: &PreparedConfig<impl ServerSettings<'s>>,
        http: bool,
        out: &mut [u8],
    ) -> Result<usize, BufferFull> {
        if matches!(self.kind, ReplyKind::BatchEnd) {
            return Ok(0);
        }
        let mut w = Writer::new(out);
        w.literal(r#"{"jsonrpc":"2.0""#);
        match self.id {
            Some(id) => {
                w.literal(r#","id":"#);
                id.write(&mut w);
            }
            None if self.null_id => w.literal(r#","id":null"#),
            None => {}
        }
        match self.kind {
            ReplyKind::Initialize(Initialize { revision, .. }) => {
                w.literal(r#","result":"#);
                write_initialize(config, revision, &mut w);
            }
            ReplyKind::Discover(revision) => {
                w.literal(r#","result":"#);
                write_discover(config, revision, &mut w);
            }
            ReplyKind::Pong | ReplyKind::LogLevel(_) => w.literal(r#","result":{}"#),
            ReplyKind::Error { error, requested } => {
                w.literal(",");
                let code = match error.code() {
                    code::HEADER_MISMATCH if http && self.draft => DRAFT_HEADER_MISMATCH,
                    code => code,
                };
                envelope::error_with(&mut w, code, |w| {
                    if http && matches!(error, PeerError::VersionHeaderMissing) {
                        write_version_missing(config, w);
                    } else if let Some(extension) = self.required_extension(config, error) {
                        write_required(extension, w);
                    } else {
                        error.write_message(w);
                    }
                    if matches!(
                        error,
                        PeerError::NoVersion
                            | PeerError::UnsupportedVersion
                            | PeerError::VersionHeaderMissing
                    ) {
                        w.literal(envelope::DATA);
                        w.literal(r#"{"supported":"#);
                        write_versions(config.revisions, w);
                        write_requested(requested, w);
                        w.literal("}");
                    }
                });
                return w.finish();
            }
            ReplyKind::BatchEnd => {}
        }
        w.literal("}");
        w.finish()
    }

    fn required_extension<'s, 'c>(
        &self,
        config: &'c PreparedConfig<impl ServerSettings<'s>>,
        error: PeerError,
    ) -> Option<&'c str> {
        match error {
            PeerError::TasksUndeclared => Some(TASKS_EXTENSION),
            PeerError::ExtensionUndeclared => {
                config.texts().method_at(self.method.into())?.requires
            }
            _ => None,
        }
    }
}

impl ReplyKind<'_> {
    /// The HTTP status of an exchange that it answers.
    pub(super) const fn status(&self, modern: bool) -> u16 {
        match self {
            Self::Error { error, .. } => error.status(modern),
            _ => 200,
        }
    }
}

/// The most that a reply can take, whatever the client sends.
pub(super) fn reserve<'s>(config: &PreparedConfig<impl ServerSettings<'s>>) -> usize {
    let mut w = Writer::counting();
    write_versions(config.revisions, &mut w);
    let mut largest = REFUSAL + w.len();
    for method in config.texts().methods() {
        if let Some(extension) = method.requires {
            let mut w = Writer::counting();
            write_required(extension, &mut w);
            largest = largest.max(REFUSAL + w.len());
        }
    }
    for revision in config.revisions.iter() {
        let mut w = Writer::counting();
        match revision.is_legacy() {
            true => write_initialize(config, revision, &mut w),
            false => write_discover(config, revision, &mut w),
        }
        largest = largest.max(w.len());
    }
    ENVELOPE + largest
}

fn write_initialize<'s>(
    config: &PreparedConfig<impl ServerSettings<'s>>,
    revision: Revision,
    w: &mut Writer<'_>,
) {
    w.literal(r#"{"protocolVersion":"#);
    w.string(revision.as_str());
    write_self(config, revision, w);
    w.literal(r#","serverInfo":"#);
    config.texts().write_info(revision, w);
    w.literal("}");
}

fn write_discover<'s>(
    config: &PreparedConfig<impl ServerSettings<'s>>,
    revision: Revision,
    w: &mut Writer<'_>,
) {
    w.literal(r#"{"resultType":"complete","supportedVersions":"#);
    write_versions(config.revisions, w);
    write_self(config, revision, w);
    w.literal(r#","ttlMs":"#);
    w.unsigned(u64::from(config.discover_ttl));
    w.literal(r#","cacheScope":"#);
    w.string(config.discover_scope.as_str());
    if config.identify {
        w.literal(r#","_meta":{"#);
        w.name(keys::SERVER_INFO);
        config.texts().write_info(revision, w);
        w.literal("}");
    }
    w.literal("}");
}

fn write_self<'s>(
    config: &PreparedConfig<impl ServerSettings<'s>>,
    revision: Revision,
    w: &mut Writer<'_>,
) {
    w.literal(r#","capabilities":"#);
    config.texts().write_capabilities(revision, w);
    if let Some(instructions) = config.texts().instructions() {
        w.literal(r#","instructions":"#);
        w.string(instructions);
    }
}

/// Modern ones first, then legacy ones (VR-22), the newest of each first.
fn write_versions(revisions: RevisionSet, w: &mut Writer<'_>) {
    w.literal("[");
    for (n, revision) in revisions.iter().enumerate() {
        if n > 0 {
            w.literal(",");
        }
        w.string(revision.as_str());
    }
    w.literal("]");
}

/// Writes the error text for a missing version, with the versions of this server: the client may
/// not know them (VR-20, VR-25).
fn write_version_missing<'s>(config: &PreparedConfig<impl ServerSettings<'s>>, w: &mut Writer<'_>) {
    w.literal("\"");
    w.literal(VERSION);
    w.literal(" is missing; this server speaks ");
    for (n, revision) in config.revisions.iter().enumerate() {
        if n > 0 {
            w.literal(", ");
        }
        w.literal(revision.as_str());
    }
    w.literal("\"");
}

/// Writes the version that the client asked for, cut to a length that was reserved.
fn write_requested(requested: Option<Raw<'_>>, w: &mut Writer<'_>) {
    let Some(requested) = requested else {
        return;
    };
    if let Some(text) = requested.string() {
        w.literal(r#","requested":"#);
        w.chars(text.chars().take(REQUESTED));
    } else if requested.as_bytes().len() <= REQUESTED {
        w.literal(r#","requested":"#);
        w.raw(requested);
    }
}

/// Writes the extension that a client has to declare: the `message` and the `data` of that error.
fn write_required(extension: &str, w: &mut Writer<'_>) {
    w.joined(&["the client must declare the extension ", extension]);
    w.literal(r#","data":{"requiredCapabilities":{"extensions":{"#);
    w.string(extension);
    w.literal(":{}}}}");
}

/// The code of an error in the draft of spring 2026 where head and body differ.
const DRAFT_HEADER_MISMATCH: i64 = match Revision::DraftV1.header_mismatch_code() {
    Some(code) => code,
    None => code::HEADER_MISMATCH,
};
/// `{"jsonrpc":"2.0","id":"",""result":}` and a little.
const ENVELOPE: usize = 48;
/// Code, the longest sentence with the longest parameter, and a requested version in which
/// every character is escaped.
const REFUSAL: usize = 256 + 6 * REQUESTED;
/// Characters of a version string that are echoed; those of all revisions are shorter.
const REQUESTED: usize = 32;
