//! The revisions that a server reports.

use crate::json::{Object, Raw, Str};
use crate::model::ProtocolMeta;
use crate::revision::RevisionSet;
use crate::rpc::{ErrorObject, code};

/// The members of a DiscoverResult.
pub(super) struct Discovered<'b> {
    /// An array.
    pub(super) versions: Raw<'b>,
    pub(super) server: Option<Object<'b>>,
    pub(super) capabilities: Option<Object<'b>>,
    pub(super) instructions: Option<Str<'b>>,
}

impl<'b> Discovered<'b> {
    pub(super) fn read(result: Raw<'b>) -> Option<Self> {
        let [kind, versions, capabilities, instructions, meta] = result
            .object()?
            .find([
                "resultType",
                "supportedVersions",
                "capabilities",
                "instructions",
                "_meta",
            ])
            .ok()?;
        // JR-21: a missing type is `complete`.
        if kind.is_some_and(|kind| kind.string().is_none_or(|kind| kind != "complete")) {
            return None;
        }
        let versions = versions.filter(|versions| versions.array().is_some())?;
        Some(Self {
            versions,
            server: meta
                .and_then(Raw::object)
                .and_then(|meta| ProtocolMeta::new(meta).server_info()),
            capabilities: capabilities.and_then(Raw::object),
            instructions: instructions.and_then(Raw::string),
        })
    }
}

/// The list of revisions in an error with one of these codes.
pub(super) fn supported<'b>(error: ErrorObject<'b>, codes: &[i64]) -> Option<Raw<'b>> {
    if !codes.contains(&error.code) {
        return None;
    }
    let [supported] = error.data?.object()?.find(["supported"]).ok()?;
    supported.filter(|supported| supported.array().is_some())
}

/// Returns true if only a modern server has this error: one of three codes with the `data` that is
/// defined for it (VR-27).
pub(super) fn is_modern(error: ErrorObject<'_>) -> bool {
    match error.code {
        code::HEADER_MISMATCH => true,
        code::UNSUPPORTED_VERSION => supported(error, &[error.code]).is_some(),
        code::MISSING_CLIENT_CAPABILITY => error
            .data
            .and_then(Raw::object)
            .and_then(|data| data.get("requiredCapabilities"))
            .is_some(),
        _ => false,
    }
}

/// Those of a peer's list that have a name here.
pub(super) fn revisions(list: Raw<'_>) -> RevisionSet {
    list.array()
        .into_iter()
        .flat_map(|list| list.elements())
        .filter_map(Raw::string)
        .filter_map(Str::revision)
        .collect()
}
