//! Compares the head of a POST with its body (SH-34, SH-38).

use super::context::{Members, SUBJECT};
use super::peer_error::{METHOD, NAME, VERSION};
use super::session::Session;
use super::{PeerError, ServerConfig};
use crate::http::{Post, Version, is_modern, mirror};
use crate::json::{Object, Str};
use crate::model::{MetaEvidence, ProtocolMeta, keys};
use crate::revision::{Revision, RevisionSet};
use crate::rpc::Method;
use crate::source::{Arrival, Place};

/// The rules that heads of POSTs are held to, by the configuration and by the legacy session.
#[derive(Clone, Copy)]
pub(super) struct HeadRules {
    revisions: RevisionSet,
    draft_profile: bool,
    session: Option<Revision>,
    by_exchanges: bool,
}

impl HeadRules {
    /// The rules of a server; `is_http` is false for one that serves pipes only.
    pub(super) fn new(config: &ServerConfig<'_>, session: &Session, is_http: bool) -> Self {
        Self {
            revisions: config.revisions,
            draft_profile: config.draft_profile,
            session: session.revision(),
            by_exchanges: is_http && session.is_by_exchanges(),
        }
    }

    /// Checks the headers that a request of a legacy session repeats under the draft.
    pub(super) fn check_request<P: Place>(
        self,
        from: &Arrival<'_, P>,
        head: &Post<'_>,
        method: Method<'_>,
        members: &Members<'_>,
    ) -> Result<(), PeerError> {
        if !self.is_draft(from) {
            return Ok(());
        }
        same_method(head, method)?;
        // The draft knows no tasks.
        if !method.facts().name_header.contains(Revision::DraftV1) {
            return Ok(());
        }
        same_name(head, method, members)
    }

    /// Checks the headers of a notification. Under the draft a notification repeats its method in the head; in the modern era it
    /// may. A repeated value has to be equal: the method, and the version if its `_meta` names one (SH-34). A version that is not
    /// served is refused (SH-35).
    pub(super) fn check_notification<P: Place>(
        self,
        from: &mut Arrival<'_, P>,
        head: &Post<'_>,
        method: Method<'_>,
        params: Option<Object<'_>>,
    ) -> Result<(), PeerError> {
        let meta = params.and_then(ProtocolMeta::of);
        let members = meta.map(ProtocolMeta::members);
        let evidence = || members.map(MetaEvidence::read).unwrap_or_default();
        from.modern = is_modern(self.revisions, Some(head), Some(method), evidence);
        if meta.is_some_and(ProtocolMeta::has_two_versions) {
            return Err(PeerError::HeaderMismatch(VERSION));
        }
        if let Some(version) = meta.and_then(ProtocolMeta::version) {
            let body = || version.string().ok_or(PeerError::HeaderMismatch(VERSION));
            named_version(head, body)?;
        } else if head.version == Version::Absent && from.modern {
            // SH-37: there is no older client that the header could be missing of.
            return Err(PeerError::VersionHeaderMissing);
        }
        let serves = |revision: Revision| revision.is_modern() && self.revisions.contains(revision);
        if from.modern && !matches!(head.version, Version::Known(revision) if serves(revision)) {
            return Err(PeerError::UnsupportedVersion);
        }
        if self.is_draft(from) || (head.is_modern() && head.method.is_some()) {
            same_method(head, method)?;
        }
        Ok(())
    }

    /// Returns true if the message is held to the draft of spring 2026.
    pub(super) fn is_draft<P: Place>(self, from: &Arrival<'_, P>) -> bool {
        // A message of the modern era, or on a pipe, is not of the session.
        if from.modern || !from.place().is_exchange() {
            return false;
        }
        let rules = match self.session {
            Some(revision) => self.of(revision),
            None => Some(Revision::WITHOUT_HEADER.over_http(self.draft_profile)),
        };
        rules.is_some_and(Revision::has_mirrored_headers)
    }

    /// Returns true if the session is held to the draft of spring 2026.
    pub(super) fn is_session_draft(self) -> bool {
        let rules = self.session.and_then(|revision| self.of(revision));
        rules.is_some_and(Revision::has_mirrored_headers)
    }

    /// The revision whose rules for HTTP a request of this one is held to; `None` on a pipe.
    pub(super) fn of(self, revision: Revision) -> Option<Revision> {
        self.by_exchanges
            .then(|| revision.over_http(self.draft_profile))
    }
}

/// The version has to be there, and to be the one of the body (SH-34). Returns the revision that it names, if it is one of
/// this crate.
pub(super) fn named_version<'b>(
    head: &Post<'_>,
    body: impl FnOnce() -> Result<Str<'b>, PeerError>,
) -> Result<Option<Revision>, PeerError> {
    let (named, same) = match head.version {
        Version::Absent => return Err(PeerError::VersionHeaderMissing),
        Version::Known(revision) => (Some(revision), body()? == *revision.as_str()),
        Version::Unknown(text) => (None, mirror::is_text(text, body()?)),
    };
    match same {
        true => Ok(named),
        false => Err(PeerError::HeaderMismatch(VERSION)),
    }
}

/// `Mcp-Method`, without Base64: a name that no header could carry is no method of ours.
pub(super) fn same_method(head: &Post<'_>, method: Method<'_>) -> Result<(), PeerError> {
    let text = head.method.ok_or(PeerError::HeaderMissing(METHOD))?;
    if mirror::is_text(text, method.name()) {
        Ok(())
    } else {
        Err(PeerError::HeaderMismatch(METHOD))
    }
}

/// `Mcp-Name`: the name, URI or task that the body names.
pub(super) fn same_name(
    head: &Post<'_>,
    method: Method<'_>,
    members: &Members<'_>,
) -> Result<(), PeerError> {
    if method.facts().name_header.is_empty() && !members.custom_subject {
        return Ok(());
    }
    let subject = members.subject.filter(|subject| !subject.is_null());
    match (head.name, subject) {
        // A name that is missing from both is missing from the parameters.
        (None, None) => Ok(()),
        (None, Some(_)) => Err(PeerError::HeaderMissing(NAME)),
        (Some(text), Some(subject)) if mirror::matches(text, subject) => Ok(()),
        (Some(_), _) => Err(PeerError::HeaderMismatch(NAME)),
    }
}

/// Reports a duplicate member as a header mismatch where a header repeats it: the header cannot
/// be equal to both.
pub(super) fn duplicate(head: &Post<'_>, method: Method<'_>, error: PeerError) -> PeerError {
    match error {
        PeerError::Doubled(keys::PROTOCOL_VERSION) if head.is_modern() => {
            PeerError::HeaderMismatch(VERSION)
        }
        PeerError::Doubled(member)
            if head.is_modern()
                && !method.facts().name_header.is_empty()
                && method.facts().params.subject() == Some(member) =>
        {
            PeerError::HeaderMismatch(NAME)
        }
        PeerError::Doubled(SUBJECT) if head.is_modern() => PeerError::HeaderMismatch(NAME),
        other => other,
    }
}
