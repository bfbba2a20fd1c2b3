//! Encodes requests, with the `_meta` that their revision requires.

use memchr::memchr2_iter;

use super::{Call, ClientConfig, Round};
use crate::action::SendError;
use crate::json::{MAX_DEPTH, MemberWatch, Object, Raw, Writer, offset};
use crate::model::{is_modern_key, is_trace_key, keys, write_request_meta};
use crate::prepared_config::PreparedConfig;
use crate::revision::Revision;
use crate::rpc::envelope;
use crate::splice::{Additions, Members, OwnMeta, WrittenObject, check_object, write_around};

/// Writes one request. State is not touched: it changes after the bytes fit.
///
/// A payload is any serializer's work, so what it wrote is looked at where something has to be
/// added: a `_meta` of its own receives the core's members at its front, otherwise one is
/// appended.
pub(super) fn request(
    config: &PreparedConfig<ClientConfig<'_>>,
    revision: Revision,
    id: u64,
    call: &Call<'_>,
    round: Round<'_>,
    out: &mut [u8],
) -> Result<usize, SendError> {
    let extra = Extra {
        config,
        revision,
        id,
        call,
        round,
    };
    let Some(params) = call.params else {
        let mut writer = Writer::new(out);
        if extra.is_needed() {
            envelope::request(&mut writer, id, call.method, |writer| {
                writer.literal("{");
                extra.with(|additions| additions.append(writer, true))?;
                writer.literal("}");
                Ok::<_, SendError>(())
            })?;
        } else {
            envelope::bare_request(&mut writer, id, call.method);
        }
        return Ok(writer.finish()?);
    };
    let (len, object) = write_around(params, revision, out, |writer, params| {
        envelope::request(writer, id, call.method, params)
    })?;
    if !extra.is_needed() {
        return check_object(out, len, object);
    }
    if len <= out.len() {
        return extra.splice(out, len, object);
    }
    let WrittenObject { start, end, .. } = object;
    let mut watch = MemberWatch::default();
    if object.has("_meta") != Some(false) {
        params
            .write(&mut Writer::watching(&mut watch), revision)
            .map_err(|_| SendError::Encode)?;
    }
    // Nothing is written there.
    let own = watch.own_meta().map(|is_empty| OwnMeta { at: 0, is_empty });
    extra.with(|additions| additions.splice(out, end, end == start + 2, own))
}

/// The members that a request adds to the parameters of the application.
struct Extra<'e, 'c> {
    config: &'e PreparedConfig<ClientConfig<'c>>,
    revision: Revision,
    id: u64,
    call: &'e Call<'e>,
    round: Round<'e>,
}

impl Extra<'_, '_> {
    fn is_needed(&self) -> bool {
        self.revision.describes_requests() || self.call.progress || self.call.trace.is_some()
    }

    /// Gives all of it to `add`.
    fn with<T>(&self, add: impl FnOnce(&Additions<'_>) -> T) -> T {
        let round: Members<'_> = &|writer| self.round(writer);
        let further = self.round.responses.is_some() || self.round.state.is_some();
        add(&Additions {
            before: None,
            meta: Some(&|writer| self.meta(writer)),
            after: further.then_some(round),
        })
    }

    /// VR-01, VR-02, PG-01, JR-31: the members of `_meta`.
    fn meta(&self, writer: &mut Writer<'_>) -> Result<(), SendError> {
        let mut comma = false;
        if self.revision.describes_requests() {
            modern_meta(self.config, self.revision, self.call.extensions, writer)?;
            if let Some(level) = self.call.log_level {
                writer.literal(",");
                writer.name(keys::LOG_LEVEL);
                writer.string(level);
            }
            comma = true;
        }
        if self.call.progress {
            writer.literal(if comma { "," } else { "" });
            writer.name(keys::PROGRESS_TOKEN);
            writer.unsigned(self.id);
            comma = true;
        }
        if let Some(trace) = self.call.trace {
            writer.literal(if comma { "," } else { "" });
            writer.name(keys::TRACE_PARENT);
            writer.string(trace.parent);
            if let Some(state) = trace.state {
                writer.literal(",");
                writer.name(keys::TRACE_STATE);
                writer.string(state);
            }
            if let Some(baggage) = trace.baggage {
                writer.literal(",");
                writer.name(keys::BAGGAGE);
                writer.string(baggage);
            }
        }
        Ok(())
    }

    /// MR-09, MR-11, MR-16: the members of a further round.
    fn round(&self, writer: &mut Writer<'_>) -> Result<(), SendError> {
        let mut separator = "";
        if let Some(responses) = self.round.responses {
            writer.literal("\"inputResponses\":");
            responses
                .write(writer, self.revision)
                .map_err(|_| SendError::Encode)?;
            separator = ",";
        }
        if let Some(state) = self.round.state {
            writer.literal(separator);
            writer.literal("\"requestState\":");
            writer.raw(state);
        }
        Ok(())
    }

    /// Completes the request of `len` bytes with this payload.
    fn splice(
        &self,
        out: &mut [u8],
        len: usize,
        object: WrittenObject,
    ) -> Result<usize, SendError> {
        check_object(out, len, object)?;
        let WrittenObject { start, end, .. } = object;
        let written = out.get(start..end).unwrap_or_default();
        let first = written.len() == 2;
        let further = self.round.responses.is_some() || self.round.state.is_some();
        let own = if further
            || object
                .has("_meta")
                .unwrap_or_else(|| may_have_meta(written))
        {
            self.own_meta(written, start)?
        } else {
            None
        };
        self.with(|additions| additions.splice(out, end, first, own))
    }

    /// Returns the place of the payload's own `_meta`, if it has one; an error if the payload has a
    /// member that the core writes itself.
    fn own_meta(&self, written: &[u8], start: usize) -> Result<Option<OwnMeta>, SendError> {
        let params = Raw::parse(written, MAX_DEPTH)
            .ok()
            .and_then(Raw::object)
            .ok_or(SendError::Encode)?;
        let [meta, responses, state] = params
            .find(["_meta", "inputResponses", "requestState"])
            .map_err(|_| SendError::Encode)?;
        let duplicate = (responses.is_some() && self.round.responses.is_some())
            || (state.is_some() && self.round.state.is_some());
        let Some(raw) = meta else {
            return if duplicate {
                Err(SendError::Encode)
            } else {
                Ok(None)
            };
        };
        let meta = raw.object().ok_or(SendError::Encode)?;
        if duplicate || self.is_taken(meta) {
            return Err(SendError::Encode);
        }
        let before = offset(raw.as_bytes(), written).ok_or(SendError::Encode)?;
        Ok(Some(OwnMeta {
            at: start.saturating_add(before).saturating_add(1),
            is_empty: meta.is_empty(),
        }))
    }

    fn is_taken(&self, meta: Object<'_>) -> bool {
        meta.members().any(|(key, _)| {
            (self.call.progress && key == keys::PROGRESS_TOKEN)
                || (self.call.trace.is_some() && is_trace_key(key))
                || (self.revision.describes_requests() && is_modern_key(key))
        })
    }
}

/// The members of `_meta` that every modern request has.
pub(super) fn modern_meta(
    config: &PreparedConfig<ClientConfig<'_>>,
    revision: Revision,
    extensions: Option<&[&str]>,
    writer: &mut Writer<'_>,
) -> Result<(), SendError> {
    let texts = config.texts();
    match extensions {
        None => texts.write_request_meta(revision, writer),
        Some(chosen) => write_request_meta(revision, writer, |writer| {
            texts.write_capabilities_with(chosen, revision, writer);
        }),
    }
    if config.identify {
        writer.literal(",");
        writer.name(keys::CLIENT_INFO);
        texts.write_info(revision, writer);
    }
    Ok(())
}

/// Returns true if the text may have a `_meta`, be it behind an escape: cheaper than a walk.
fn may_have_meta(written: &[u8]) -> bool {
    memchr2_iter(b'_', b'\\', written).any(|at| {
        let rest = written.get(at..).unwrap_or_default();
        rest.starts_with(b"_meta\"") || rest.starts_with(b"\\u")
    })
}
