//! Outcomes of requests, as the revision of the request spells them.

use super::config::ServerSettings;
use super::question_check::check_question;
use super::result_members::{Addition, complete};
use super::storage::{Request, Storage};
use crate::action::SendError;
use crate::json::{MAX_DEPTH, Raw, Writer};
use crate::model::keys;
use crate::payload::{InputRequired, Outcome, Payload};
use crate::prepared_config::PreparedConfig;
use crate::revision::Revision;
use crate::rpc::{ErrorObject, Id, code, envelope};
use crate::splice::{WrittenObject, check_object, object, write_around};

/// Writes an outcome of a request, as its revision spells it.
///
/// # Errors
///
/// Those of [`Server::respond`](super::Server::respond).
pub(super) fn write_outcome<'s, S: Storage>(
    config: &PreparedConfig<impl ServerSettings<'s>>,
    request: &Request<S>,
    outcome: &Outcome<'_>,
    out: &mut [u8],
) -> Result<usize, SendError> {
    match outcome {
        Outcome::Error(error) => write_error(request.id(), error, request.revision, out),
        Outcome::Result(payload) => write_result::<S>(config, request, *payload, out),
        Outcome::Input(input) => write_input::<S>(config, request, input, out),
    }
}

/// A result, with what its revision demands.
fn write_result<'s, S: Storage>(
    config: &PreparedConfig<impl ServerSettings<'s>>,
    request: &Request<S>,
    payload: &dyn Payload,
    out: &mut [u8],
) -> Result<usize, SendError> {
    let revision = request.revision;
    let (len, object) = write_around(payload, revision, out, |w, payload| {
        envelope::result(w, request.id(), payload)
    })?;
    if !S::MODERN || !revision.requires_result_type() {
        return check_object(out, len, object);
    }
    let write_name = |w: &mut Writer<'_>| {
        config.texts().write_info(revision, w);
    };
    let additions = [
        RESULT_TYPE,
        TIME_TO_LIVE,
        CACHE_SCOPE,
        identity_of(&write_name),
    ];
    // Without a cache no hints, and no name where it is kept back.
    let cacheable = request.traits.cacheable && revision.requires_cache_hints();
    let [result_type, ttl, scope, name] = additions;
    let mut complete =
        |additions: &[_]| complete(out, len, object, additions, Some((payload, revision)));
    match (cacheable, config.identify) {
        (true, true) => complete(&[result_type, ttl, scope, name]),
        (true, false) => complete(&[result_type, ttl, scope]),
        (false, true) => complete(&[result_type, name]),
        (false, false) => complete(&[result_type]),
    }
}

/// Questions in place of a result: MR-01..05.
fn write_input<'s, S: Storage>(
    config: &PreparedConfig<impl ServerSettings<'s>>,
    request: &Request<S>,
    input: &InputRequired<'_>,
    out: &mut [u8],
) -> Result<usize, SendError> {
    let revision = request.revision;
    if !S::MODERN || !revision.has_input_required() || !request.traits.asks_back {
        return Err(SendError::NotInRevision);
    }
    if input.requests.is_empty() && input.state.is_none() {
        return Err(SendError::Encode);
    }
    for (n, (key, question)) in input.requests.iter().enumerate() {
        if !question.method.facts().answer().is_input {
            return Err(SendError::NotInRevision);
        }
        if input.requests.iter().take(n).any(|(other, _)| other == key) {
            return Err(SendError::Encode);
        }
    }
    let mut w = Writer::new(out);
    let mut place = WrittenObject::default();
    envelope::result(&mut w, request.id(), |w| {
        place.start = w.len();
        w.literal(r#"{"resultType":"input_required""#);
        if !input.requests.is_empty() {
            w.literal(r#","inputRequests":{"#);
            let mut separator = "";
            for (key, question) in input.requests {
                w.literal(separator);
                w.string(key);
                w.literal(r#":{"method":"#);
                w.text_exact(question.method.name());
                w.literal(r#","params":"#);
                object(question.params, revision).write(w, revision)?;
                w.literal("}");
                separator = ",";
            }
            w.literal("}");
        }
        if let Some(state) = input.state {
            w.literal(r#","requestState":"#);
            w.string(state);
        }
        w.literal("}");
        place.end = w.len();
        Ok(())
    })
    .map_err(|_: crate::json::EncodeError| SendError::Encode)?;
    let len = w.len();
    let write_name = |w: &mut Writer<'_>| {
        config.texts().write_info(revision, w);
    };
    let name = [identity_of(&write_name)];
    let additions = if config.identify {
        name.as_slice()
    } else {
        &[]
    };
    if len <= out.len() {
        check_questions::<S>(out, place, request, input)?;
    }
    complete(out, len, place, additions, None)
}

/// Checks the questions of a payload that is there as a whole.
fn check_questions<S: Storage>(
    out: &[u8],
    place: WrittenObject,
    request: &Request<S>,
    input: &InputRequired<'_>,
) -> Result<(), SendError> {
    let written = Raw::parse(
        out.get(place.start..place.end).unwrap_or_default(),
        MAX_DEPTH,
    )
    .ok()
    .and_then(Raw::object)
    .ok_or(SendError::Encode)?;
    let questions = written.get("inputRequests").and_then(Raw::object);
    for (key, question) in input.requests {
        let params = questions
            .and_then(|questions| questions.get(key)?.object()?.get("params")?.object())
            .ok_or(SendError::Encode)?;
        check_question(question.method, params, request.features, request.revision)?;
    }
    Ok(())
}

/// An error, with a code that its revision has.
fn write_error(
    id: Id<'_>,
    error: &ErrorObject<'_>,
    revision: Revision,
    out: &mut [u8],
) -> Result<usize, SendError> {
    let mut w = Writer::new(out);
    let error = ErrorObject {
        code: code_for_revision(error.code, revision),
        ..*error
    };
    envelope::error(&mut w, Some(id), &error);
    Ok(w.finish()?)
}

/// The code that says the same in this revision (LC-12, JR-23, JR-24, RS-03, RS-04).
fn code_for_revision(code: i64, revision: Revision) -> i64 {
    match code {
        code::RESOURCE_NOT_FOUND => revision.resource_not_found_code(),
        code::URL_ELICITATION_REQUIRED if !revision.has_url_elicitation_error() => {
            code::INTERNAL_ERROR
        }
        // In those revisions the message names the capability that the client lacks.
        code::MISSING_CLIENT_CAPABILITY if !revision.reserves_error_codes() => code::INTERNAL_ERROR,
        // This range is reserved for the specification.
        -32099..=-32020
            if revision.reserves_error_codes()
                && !matches!(
                    code,
                    code::HEADER_MISMATCH
                        | code::MISSING_CLIENT_CAPABILITY
                        | code::UNSUPPORTED_VERSION
                ) =>
        {
            code::INTERNAL_ERROR
        }
        other => code::written(other),
    }
}

/// Returns the addition to `_meta` that names the server (VR-08).
fn identity_of<'a>(value: &'a dyn Fn(&mut Writer<'_>)) -> Addition<'a> {
    Addition {
        key: keys::SERVER_INFO,
        in_meta: true,
        value,
    }
}

const RESULT_TYPE: Addition<'static> = Addition {
    key: "resultType",
    in_meta: false,
    value: &|w| w.literal("\"complete\""),
};

const TIME_TO_LIVE: Addition<'static> = Addition {
    key: "ttlMs",
    in_meta: false,
    value: &|w| w.literal("0"),
};

const CACHE_SCOPE: Addition<'static> = Addition {
    key: "cacheScope",
    in_meta: false,
    value: &|w| w.literal("\"private\""),
};
