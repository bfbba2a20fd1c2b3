//! Compares the head of a POST with its body (SH-34, SH-38).

use super::context::{Members, SUBJECT};
use super::peer_error::{METHOD, NAME, VERSION};
use super::{PeerError, Server, Storage};
use crate::http::{MetaEvidence, Post, Version, is_modern, mirror};
use crate::json::{Object, Str};
use crate::model::keys;
use crate::revision::Revision;
use crate::rpc::Method;
use crate::source::{Arrival, Place};

impl<S: Storage> Server<'_, S> {
    /// Checks the headers that a request of a legacy session repeats under the draft.
    pub(super) fn check_draft(
        &self,
        from: &Arrival<'_, S::Place>,
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
    pub(super) fn check_notification(
        &self,
        from: &mut Arrival<'_, S::Place>,
        head: &Post<'_>,
        method: Method<'_>,
        params: Option<Object<'_>>,
    ) -> Result<(), PeerError> {
        // The elements of an array are of the session that it is for.
        let is_alone = !self.requests.batch().is_reading();
        let params = params.filter(|_| is_alone);
        let evidence = || MetaEvidence::of(params);
        from.modern = is_modern(self.config.revisions, Some(head), Some(method), evidence);
        let meta = params.and_then(|params| params.get("_meta")?.object());
        let version = match meta.map(|meta| meta.find([keys::PROTOCOL_VERSION])) {
            None => None,
            Some(Ok([version])) => version,
            Some(Err(_)) => return Err(PeerError::HeaderMismatch(VERSION)),
        };
        if let Some(version) = version {
            let body = || version.string().ok_or(PeerError::HeaderMismatch(VERSION));
            named_version(head, body)?;
        } else if head.version == Version::Absent && from.modern {
            // SH-37: there is no older client that the header could be missing of.
            return Err(PeerError::VersionHeaderMissing);
        }
        let serves =
            |revision: Revision| revision.is_modern() && self.config.revisions.contains(revision);
        if from.modern && !matches!(head.version, Version::Known(revision) if serves(revision)) {
            return Err(PeerError::UnsupportedVersion);
        }
        if self.is_draft(from) || (head.is_modern() && head.method.is_some()) {
            same_method(head, method)?;
        }
        Ok(())
    }

    /// Returns true if the message that is being handled is held to the draft of spring 2026.
    pub(super) fn is_draft(&self, from: &Arrival<'_, S::Place>) -> bool {
        let rules = self.session_rules(from);
        rules.is_some_and(Revision::has_mirrored_headers)
    }

    /// Returns true if the server serves a legacy session over HTTP that is held to the transports
    /// draft of spring 2026: `Mcp-Param-*`, which the application has to check, are demanded there,
    /// and numbers may be annotated.
    pub fn is_held_to_draft(&self) -> bool {
        let revision = self.session.revision();
        let rules = revision.and_then(|revision| self.http_rules(revision));
        rules.is_some_and(Revision::has_mirrored_headers)
    }

    /// The revision whose rules for HTTP a request of this one is held to; `None` on a pipe.
    pub(super) fn http_rules(&self, revision: Revision) -> Option<Revision> {
        let rules = revision.over_http(self.config.draft_profile);
        Some(rules).filter(|_| S::Place::MANY && self.session.by_exchanges)
    }

    /// The revision whose rules for HTTP a message of a session is held to; `None` on a pipe and
    /// for a message of the modern era.
    fn session_rules(&self, from: &Arrival<'_, S::Place>) -> Option<Revision> {
        if from.modern || !from.place().is_exchange() {
            return None;
        }
        match self.session.revision() {
            Some(revision) => self.http_rules(revision),
            None => Some(Revision::WITHOUT_HEADER.over_http(self.config.draft_profile)),
        }
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
