//! Requests of 2026-07-28, which carry their own description (JR-44).

use super::config::ServerSettings;
use super::context::{Admission, Members};
use super::headers;
use super::reply::{Reply, ReplyKind};
use super::{PeerError, Storage};
use crate::http::Post;
use crate::json::{Object, Raw};
use crate::model::{ClientFeatures, LoggingLevel, keys};
use crate::prepared_config::PreparedConfig;
use crate::rpc::{Id, Method};

/// Accepts a request whose `_meta` names a version (VR-19).
///
/// The order of the checks is that of HTTP, where it decides the status: version, header of
/// the method, the other `_meta` members, method, header of the name, capability of the
/// client, parameters.
// Not inlined: the stack of every other message would have room for its variables.
#[inline(never)]
pub(super) fn admit<'s, 'b, S: Storage>(
    config: &PreparedConfig<impl ServerSettings<'s>>,
    head: Option<&Post<'_>>,
    id: Id<'b>,
    method: Method<'b>,
    members: &Members<'b>,
) -> Result<Admission<'b>, PeerError> {
    let answer = |reply| Ok(Admission::Answer(reply));
    let version = || {
        let version = members.of_meta.version.and_then(Raw::string);
        version.ok_or(PeerError::MissingMeta(keys::PROTOCOL_VERSION))
    };
    let named = match head {
        Some(head) => headers::named_version(head, version)?,
        None => version()?.revision(),
    };
    let Some(revision) = named.filter(|revision| {
        S::MODERN && revision.is_modern() && config.revisions.contains(*revision)
    }) else {
        // VR-04, VR-22: a legacy one is not spoken in this way either.
        let error = PeerError::UnsupportedVersion;
        return answer(Reply::refusal(Some(id), error, members.of_meta.version));
    };
    if let Some(head) = head {
        headers::same_method(head, method)?;
    }
    let capabilities = members
        .of_meta
        .capabilities
        .and_then(Raw::object)
        .ok_or(PeerError::MissingMeta(keys::CLIENT_CAPABILITIES))?;
    let features = ClientFeatures::read(Some(capabilities)).known_in(revision);
    let log_level = match members.of_meta.log_level {
        Some(raw) => {
            let level = raw.string().and_then(LoggingLevel::parse);
            Some(level.ok_or(PeerError::LogLevel)?)
        }
        None => None,
    };
    if method == Method::ServerDiscover {
        return answer(Reply::to(Some(id), ReplyKind::Discover(revision)));
    }
    if !config.serves(method, revision) {
        return Err(PeerError::UnknownMethod);
    }
    if let Some(head) = head {
        headers::same_name(head, method, members)?;
    }
    // TK-44: of all methods only these need something of the client by themselves.
    let of_tasks = method
        .facts()
        .client_declares
        .contains(ClientFeatures::TASKS_EXTENSION);
    if of_tasks && !features.contains(ClientFeatures::TASKS_EXTENSION) {
        return Err(PeerError::TasksUndeclared);
    }
    if let Method::Other(name) = method
        && let Some(place) = config.texts().place_of(name)
        && lacks_extension(config, place, capabilities)
    {
        let refusal = Reply::refusal(Some(id), PeerError::ExtensionUndeclared, None);
        let reply = Reply {
            method: u16::try_from(place).unwrap_or(u16::MAX),
            ..refusal
        };
        return answer(reply);
    }
    members.settle(method, revision, features, log_level)
}

/// Returns true if the method at this place of those beyond the protocol needs an extension that these capabilities of the
/// client do not declare (EX-05, EX-06).
fn lacks_extension<'s>(
    config: &PreparedConfig<impl ServerSettings<'s>>,
    place: usize,
    capabilities: Object<'_>,
) -> bool {
    let method = config.texts().method_at(place);
    let Some(required) = method.and_then(|method| method.requires) else {
        return false;
    };
    let extensions = member(capabilities, "extensions");
    extensions
        .and_then(|extensions| member(extensions, required))
        .is_none()
}

/// The object under this key, if the key stands there once.
fn member<'b>(object: Object<'b>, key: &str) -> Option<Object<'b>> {
    match object.find([key]) {
        Ok([value]) => value.and_then(Raw::object),
        Err(_) => None,
    }
}
