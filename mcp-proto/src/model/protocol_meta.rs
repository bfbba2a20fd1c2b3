//! The members of `_meta` that the protocol has reserved, in the messages that the core reads and writes.

use super::keys;
use crate::json::{Members, Object, Raw, Str, Writer, collect};
use crate::revision::Revision;
use crate::rpc::Id;

/// The `_meta` of a message, for the members that the protocol has reserved (JR-30).
///
/// A getter that returns an option takes the first of members that stand twice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ProtocolMeta<'b>(Object<'b>);

/// The members of a request, each found exactly once or not at all.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RequestMembers<'b> {
    pub(crate) progress_token: Option<Raw<'b>>,
    /// Its presence makes a request modern (VR-19).
    pub(crate) version: Option<Raw<'b>>,
    pub(crate) capabilities: Option<Raw<'b>>,
    pub(crate) log_level: Option<Raw<'b>>,
    pub(crate) client_info: Option<Raw<'b>>,
    pub(crate) has_trace: bool,
    /// True if there is a member that the protocol does not define.
    pub(crate) has_custom: bool,
}

/// The evidence of the era in `_meta` of a request.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct MetaEvidence {
    /// It names a version (VR-19).
    pub(crate) version: bool,
    /// It has another member that only a modern request has (VR-03).
    pub(crate) other: bool,
}

impl<'b> ProtocolMeta<'b> {
    /// The value of a member `_meta`.
    pub(crate) const fn new(meta: Object<'b>) -> Self {
        Self(meta)
    }

    /// The `_meta` of these parameters, or of this result, if it is an object.
    pub(crate) fn of(message: Object<'b>) -> Option<Self> {
        message.get("_meta")?.object().map(Self)
    }

    /// The members.
    pub(crate) fn members(self) -> Members<'static, 'b> {
        self.0.into()
    }

    /// The revision of the message.
    pub(crate) fn version(self) -> Option<Raw<'b>> {
        self.0.get(keys::PROTOCOL_VERSION)
    }

    /// Returns true if the revision stands twice.
    pub(crate) fn has_two_versions(self) -> bool {
        self.0.find([keys::PROTOCOL_VERSION]).is_err()
    }

    /// The name and version of the server.
    pub(crate) fn server_info(self) -> Option<Object<'b>> {
        self.0.get(keys::SERVER_INFO)?.object()
    }

    /// Returns true if the message names a subscription, even by what is no id.
    pub(crate) fn names_subscription(self) -> bool {
        self.0.get(keys::SUBSCRIPTION_ID).is_some()
    }

    /// The id of the listen that the message belongs to, if it stands there once.
    pub(crate) fn subscription(self) -> Option<Id<'b>> {
        let [id] = self.0.find([keys::SUBSCRIPTION_ID]).ok()?;
        Id::from_raw(id?)
    }

    /// The W3C trace context: `traceparent`, `tracestate` and `baggage` (JR-31).
    pub(crate) fn trace(self) -> [Option<Str<'b>>; 3] {
        TRACE.map(|key| self.0.get(key)?.string())
    }
}

impl MetaEvidence {
    /// The evidence in these members of a `_meta`. Of a member that stands twice one is enough: the
    /// machine refuses it.
    pub(crate) fn read(members: Members<'_, '_>) -> Self {
        let mut evidence = Self::default();
        for (name, _) in members {
            evidence.version |= name == keys::PROTOCOL_VERSION;
            evidence.other |= name != keys::PROTOCOL_VERSION && is_modern_key(name);
        }
        evidence
    }
}

impl<'b> RequestMembers<'b> {
    /// Finds them among the members of a `_meta`.
    ///
    /// # Errors
    ///
    /// The key that stands twice (JR-52).
    pub(crate) fn read(members: Members<'_, 'b>) -> Result<Self, &'static str> {
        let mut found = [None; REQUEST.len()];
        let has_custom = collect(members, &REQUEST, true, &mut found)
            .map_err(|double| REQUEST.get(double.key).copied().unwrap_or_default())?;
        let [
            progress_token,
            version,
            capabilities,
            log_level,
            client_info,
            parent,
            state,
            baggage,
        ] = found;
        Ok(Self {
            progress_token,
            version,
            capabilities,
            log_level,
            client_info,
            has_trace: parent.or(state).or(baggage).is_some(),
            has_custom,
        })
    }
}

/// Returns true for the members that only a request of 2026-07-28 has.
pub(crate) fn is_modern_key(key: Str<'_>) -> bool {
    let modern = [
        keys::PROTOCOL_VERSION,
        keys::CLIENT_CAPABILITIES,
        keys::LOG_LEVEL,
        keys::CLIENT_INFO,
    ];
    modern.iter().any(|own| key == **own)
}

/// Returns true for the members of a trace.
pub(crate) fn is_trace_key(key: Str<'_>) -> bool {
    TRACE.iter().any(|own| key == **own)
}

/// Writes the revision and, by the closure, the capabilities of the client as members of `_meta`.
pub(crate) fn write_request_meta(
    revision: Revision,
    w: &mut Writer<'_>,
    capabilities: impl FnOnce(&mut Writer<'_>),
) {
    w.name(keys::PROTOCOL_VERSION);
    w.string(revision.as_str());
    w.literal(",");
    w.name(keys::CLIENT_CAPABILITIES);
    capabilities(w);
}

const TRACE: [&str; 3] = [keys::TRACE_PARENT, keys::TRACE_STATE, keys::BAGGAGE];

const REQUEST: [&str; 8] = [
    keys::PROGRESS_TOKEN,
    keys::PROTOCOL_VERSION,
    keys::CLIENT_CAPABILITIES,
    keys::LOG_LEVEL,
    keys::CLIENT_INFO,
    keys::TRACE_PARENT,
    keys::TRACE_STATE,
    keys::BAGGAGE,
];
