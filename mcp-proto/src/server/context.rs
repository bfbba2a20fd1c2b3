//! The parameters of a request that the protocol layer reads.

use core::fmt;

use super::peer_error::PeerError;
use super::reply::Reply;
use crate::json::{Object, Raw, Str, collect};
use crate::model::{ClientFeatures, LoggingLevel, ProtocolMeta, RequestMembers};
use crate::revision::Revision;
use crate::rpc::methods::Params;
use crate::rpc::{Id, Method, Request};

/// The properties of a request besides its parameters.
///
/// In a legacy session these are the values of the session; in 2026-07-28 they are those of this
/// very request, and nothing of an earlier one (JR-44).
#[derive(Clone, Copy)]
pub struct RequestContext<'b> {
    /// Decides how the answer is encoded.
    pub revision: Revision,
    /// The features that the client declared.
    pub features: ClientFeatures,
    /// True if the client asked for [progress](super::Server::progress).
    pub progress: bool,
    /// The least severe log message that it wants of this request. In 2026-07-28 `None` forbids
    /// them all (LG-05).
    pub log_level: Option<LoggingLevel>,
    /// The `name` of `tools/call` and `prompts/get`, the `uri` of a resource's method, the
    /// `cursor` of a list: checked to be there where it must, and to be sound text. Of a method
    /// beyond the protocol its [subject](crate::CustomMethod::subject), if that is sound text.
    pub subject: Option<Str<'b>>,
    /// The `arguments` of `tools/call` and `prompts/get`, which stand there once at most.
    pub arguments: Option<Raw<'b>>,
    /// The answers to the questions of the round before (MR-09).
    pub input_responses: Option<Object<'b>>,
    /// The request state that the server gave the client to send back. It may be forged (MR-07).
    pub request_state: Option<Str<'b>>,
    /// `_meta` as a whole.
    pub meta: Option<Object<'b>>,
    client_info: Option<Raw<'b>>,
    client_capabilities: Option<Raw<'b>>,
    has_trace: bool,
    has_custom_meta: bool,
}

impl<'b> RequestContext<'b> {
    /// The client, in 2026-07-28: an `Implementation`, for logs only (VR-09).
    pub const fn client_info(&self) -> Option<Raw<'b>> {
        self.client_info
    }

    /// Returns the capabilities that the client declared on this request of 2026-07-28, its
    /// extensions included.
    pub fn client_capabilities(&self) -> Option<Object<'b>> {
        self.client_capabilities?.object()
    }

    /// Returns the extensions that the client declared on this request of 2026-07-28, with their settings.
    pub fn client_extensions(&self) -> Option<Object<'b>> {
        let declared = self.client_capabilities?;
        if declared.as_bytes().len() < SHORTEST_EXTENSION {
            return None;
        }
        declared.object()?.get("extensions")?.object()
    }

    /// The W3C trace context: `traceparent`, `tracestate` and `baggage` (JR-31).
    pub fn trace(&self) -> [Option<Str<'b>>; 3] {
        let meta = self.meta.filter(|_| self.has_trace);
        meta.map_or([None; 3], |meta| ProtocolMeta::new(meta).trace())
    }

    /// Returns `_meta` as a whole, if it has a member that the protocol does not define.
    pub fn custom_meta(&self) -> Option<Object<'b>> {
        self.meta.filter(|_| self.has_custom_meta)
    }
}

/// Without the answers and the state, which are not for logs.
impl fmt::Debug for RequestContext<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestContext")
            .field("revision", &self.revision)
            .field("features", &self.features)
            .field("progress", &self.progress)
            .field("log_level", &self.log_level)
            .field("subject", &self.subject)
            .finish_non_exhaustive()
    }
}

/// The members that decide how a request is handled, each found exactly once or not at all.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Members<'b> {
    pub(super) meta: Option<Object<'b>>,
    pub(super) subject: Option<Raw<'b>>,
    /// The subject is that of a method beyond the protocol, which has one.
    pub(super) custom_subject: bool,
    arguments: Option<Raw<'b>>,
    input_responses: Option<Raw<'b>>,
    request_state: Option<Raw<'b>>,
    pub(super) of_meta: RequestMembers<'b>,
}

/// The treatment of a request that its era accepts.
pub(super) enum Admission<'b> {
    /// The core answers it.
    Answer(Reply<'b>),
    /// The application answers it.
    Request(Asked<'b>),
}

/// A request whose context is settled.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked<'b> {
    pub(super) progress_token: Option<Id<'b>>,
    pub(super) context: RequestContext<'b>,
}

impl<'b> Members<'b> {
    /// Finds them; a duplicate is refused, because two readers must never see two messages
    /// (JR-52). `custom_subject` names the subject of a method beyond the protocol.
    pub(super) fn read(
        request: &Request<'b>,
        custom_subject: Option<&str>,
    ) -> Result<Self, PeerError> {
        let Some(params) = request.params else {
            return Ok(Self {
                custom_subject: custom_subject.is_some(),
                ..Self::default()
            });
        };
        let params_of = request.method.facts().params;
        let keys = params_of.unique();
        let mut found = [None; 4 + MOST_OTHERS];
        let of_params = request.places.members(params.as_raw());
        collect(of_params, keys, true, &mut found).map_err(|double| duplicate(keys, double.key))?;
        // The others are the handler's to read; here they are only known to be unambiguous.
        let [meta, input_responses, request_state, subject, other, ..] = found;
        let mut members = Self {
            subject,
            arguments: other.filter(|_| params_of == Params::Name),
            input_responses,
            request_state,
            ..Self::default()
        };
        if let Some(key) = custom_subject {
            let mut subject = [None];
            collect(
                request.places.members(params.as_raw()),
                &[key],
                false,
                &mut subject,
            )
            .map_err(|_| PeerError::Doubled(SUBJECT))?;
            [members.subject] = subject;
            members.custom_subject = true;
        }
        let Some(meta) = meta else {
            return Ok(members);
        };
        let meta = meta.object().ok_or(PeerError::MissingMeta("_meta"))?;
        members.meta = Some(meta);
        let of_meta = request
            .places
            .members_of_meta(params.as_raw(), meta.as_raw());
        members.of_meta = RequestMembers::read(of_meta).map_err(PeerError::Doubled)?;
        Ok(members)
    }

    /// Returns true if `_meta` has another member than the version that only a modern request has.
    pub(super) fn is_modern(&self) -> bool {
        let meta = &self.of_meta;
        let modern = [meta.capabilities, meta.log_level, meta.client_info];
        modern.iter().any(Option::is_some)
    }

    /// Checks the parameters of the method. Returns the request for the application.
    pub(super) fn settle(
        &self,
        method: Method<'_>,
        revision: Revision,
        features: ClientFeatures,
        log_level: Option<LoggingLevel>,
    ) -> Result<Admission<'b>, PeerError> {
        let progress_token = match self.of_meta.progress_token {
            Some(token) => {
                Some(Id::from_raw(token).ok_or(PeerError::MissingMeta("_meta.progressToken"))?)
            }
            None => None,
        };
        let about = method.facts().params;
        let is_cursor = about == Params::Cursor;
        let text = match (about.subject(), self.subject) {
            (Some(key), Some(raw)) => Some(
                raw.string()
                    .filter(|text| is_cursor || text.is_exact())
                    .ok_or(PeerError::Missing(key))?,
            ),
            // The cursor alone may be missing.
            (Some(key), None) if !is_cursor => return Err(PeerError::Missing(key)),
            _ => None,
        };
        // A method without these members ignores them, as it does any member that it does not have.
        let has_rounds = match method {
            Method::TasksUpdate | Method::Other(_) => true,
            _ => method.facts().answer().may_require_input,
        };
        let modern = revision.has_input_required() && has_rounds;
        let input_responses = match self.input_responses.filter(|_| modern) {
            Some(raw) => Some(raw.object().ok_or(PeerError::Missing("inputResponses"))?),
            None => None,
        };
        let request_state = match self.request_state.filter(|_| modern) {
            Some(raw) => Some(raw.string().ok_or(PeerError::Missing("requestState"))?),
            None => None,
        };
        Ok(Admission::Request(Asked {
            progress_token,
            context: RequestContext {
                revision,
                features,
                progress: progress_token.is_some(),
                log_level,
                subject: text,
                arguments: self.arguments,
                input_responses,
                request_state,
                meta: self.meta,
                client_info: self.of_meta.client_info,
                client_capabilities: self.of_meta.capabilities,
                has_trace: self.of_meta.has_trace,
                has_custom_meta: self.of_meta.has_custom,
            },
        }))
    }
}

fn duplicate(keys: &[&'static str], index: usize) -> PeerError {
    PeerError::Doubled(keys.get(index).copied().unwrap_or_default())
}

/// The fewest bytes of capabilities that declare an extension.
const SHORTEST_EXTENSION: usize = r#"{"extensions":{"a/b":{}}}"#.len();
/// The subject of a method beyond the protocol, in an error.
pub(super) const SUBJECT: &str = "the parameter of Mcp-Name";
/// The number of parameters that a method has at most besides the first four.
const MOST_OTHERS: usize = 2;
