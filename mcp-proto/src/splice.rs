//! Writes messages around payloads of the application, checks those payloads, and adds members of
//! the protocol to them.

use crate::action::{BufferFull, SendError};
use crate::json::{EncodeError, Fields, Raw, Writer};
use crate::payload::Payload;
use crate::revision::Revision;
use crate::rpc::{Method, envelope};

/// Writes members, with commas between them but not around them.
pub(crate) type Members<'a> = &'a dyn Fn(&mut Writer<'_>) -> Result<(), SendError>;

/// The members that are added to an object.
#[derive(Clone, Copy)]
pub(crate) struct Additions<'a> {
    /// Members of the object that precede a `_meta` that is added.
    pub(crate) before: Option<Members<'a>>,
    /// Members of its `_meta`.
    pub(crate) meta: Option<Members<'a>>,
    /// Members of the object that follow a `_meta` that is added.
    pub(crate) after: Option<Members<'a>>,
}

/// The `_meta` that an object has already.
#[derive(Clone, Copy)]
pub(crate) struct OwnMeta {
    /// The offset of its members in the buffer.
    pub(crate) at: usize,
    /// True if the `_meta` has no members.
    pub(crate) is_empty: bool,
}

impl Additions<'_> {
    /// Writes the additions as the last members of an object that has no `_meta`; `first` if it
    /// has no members at all.
    pub(crate) fn append(&self, w: &mut Writer<'_>, first: bool) -> Result<(), SendError> {
        self.write(w, first, true)
    }

    /// Adds the members to the object that ends at `end` and is the last value of a message whose
    /// own brace follows. Returns the new length of the message.
    ///
    /// ```text
    /// before  {"id":1,"result":{"content":[]}}
    /// after   {"id":1,"result":{"content":[],"resultType":"complete","_meta":{..}}}
    /// ```
    ///
    /// # Errors
    /// [`SendError::BufferFull`] with the exact need; the message is unfinished then.
    pub(crate) fn splice(
        &self,
        out: &mut [u8],
        end: usize,
        first: bool,
        own: Option<OwnMeta>,
    ) -> Result<usize, SendError> {
        let mut close = end.saturating_sub(1);
        if let (Some(own), Some(meta)) = (own, self.meta) {
            let mut inside = Writer::counting();
            meta(&mut inside)?;
            let size = inside.len().saturating_add(usize::from(!own.is_empty));
            let mut rest = Writer::counting();
            self.write(&mut rest, first, false)?;
            let needed = close
                .saturating_add(size)
                .saturating_add(rest.len())
                .saturating_add(CLOSE.len());
            if needed > out.len() {
                return Err(SendError::BufferFull { needed });
            }
            open_gap(out, own.at, close, size);
            let mut w = Writer::new(out.get_mut(own.at..).unwrap_or_default());
            meta(&mut w)?;
            w.literal(if own.is_empty { "" } else { "," });
            close = close.saturating_add(size);
        }
        let mut w = Writer::new(out.get_mut(close..).unwrap_or_default());
        self.write(&mut w, first, own.is_none())?;
        CLOSE.bytes().for_each(|brace| w.byte(brace));
        match w.finish() {
            Ok(len) => Ok(close.saturating_add(len)),
            Err(BufferFull { needed }) => Err(SendError::BufferFull {
                needed: close.saturating_add(needed),
            }),
        }
    }

    fn write(&self, w: &mut Writer<'_>, first: bool, meta: bool) -> Result<(), SendError> {
        let mut first = first;
        if let Some(before) = self.before {
            w.separate(&mut first);
            before(w)?;
        }
        if let Some(members) = self.meta.filter(|_| meta) {
            w.separate(&mut first);
            w.literal(META);
            members(w)?;
            w.byte(b'}');
        }
        if let Some(after) = self.after {
            w.separate(&mut first);
            after(w)?;
        }
        Ok(())
    }
}

/// Writes a message around a payload, which is not checked yet. Returns the length of the message,
/// and the place of the payload, even if it is beyond the end of `out`.
pub(crate) fn write_around(
    payload: &dyn Payload,
    revision: Revision,
    out: &mut [u8],
    message: impl FnOnce(&mut Writer<'_>, WritePayload<'_>) -> Result<(), EncodeError>,
) -> Result<(usize, WrittenObject), SendError> {
    let payload = object(payload, revision);
    let mut w = Writer::new(out);
    w.note_fields(&RESERVED);
    let mut object = WrittenObject::default();
    message(&mut w, &mut |w| {
        object.start = w.len();
        payload.write(w, revision)?;
        object.end = w.len();
        object.reserved = w.noted_fields(object.start, object.end);
        Ok(())
    })
    .map_err(|_| SendError::Encode)?;
    Ok((w.len(), object))
}

/// The object of the application in a message.
#[derive(Clone, Copy, Default)]
pub(crate) struct WrittenObject {
    /// The offset of its opening brace.
    pub(crate) start: usize,
    /// The offset behind its closing brace.
    pub(crate) end: usize,
    /// Those of [`RESERVED`] that it has, if they are known.
    pub(crate) reserved: Option<Fields>,
}

impl WrittenObject {
    /// Returns whether the object has one of the members that the protocol adds to it; `None` if that
    /// is to be searched for.
    pub(crate) fn has(self, name: &str) -> Option<bool> {
        let fields = self.reserved?;
        let index = RESERVED.iter().position(|reserved| *reserved == name)?;
        Some(fields.has(index))
    }
}

/// The members that the protocol adds to objects of the application.
const RESERVED: [&str; 4] = ["_meta", "resultType", "ttlMs", "cacheScope"];

/// Returns the payload, or the object without members in the place of `()`.
pub(crate) fn object(payload: &dyn Payload, revision: Revision) -> &dyn Payload {
    match payload.is_unit(revision) {
        true => &Raw::EMPTY_OBJECT,
        false => payload,
    }
}

/// Writes the payload of a message.
pub(crate) type WritePayload<'a> = &'a mut dyn FnMut(&mut Writer<'_>) -> Result<(), EncodeError>;

/// Writes a notification of the application.
pub(crate) fn write_notification(
    method: Method<'_>,
    params: Option<&dyn Payload>,
    revision: Revision,
    out: &mut [u8],
) -> Result<usize, SendError> {
    let Some(params) = params else {
        let mut w = Writer::new(out);
        envelope::bare_notification(&mut w, method);
        return Ok(w.finish()?);
    };
    let (len, object) = write_around(params, revision, out, |w, params| {
        envelope::notification(w, method, params)
    })?;
    check_object(out, len, object)
}

/// Checks that a payload in a message of `len` bytes, which is there as a whole,
/// is an object: parameters and results always are.
pub(crate) fn check_object(
    out: &[u8],
    len: usize,
    object: WrittenObject,
) -> Result<usize, SendError> {
    if len > out.len() {
        return Err(SendError::BufferFull { needed: len });
    }
    match out.get(object.start..object.end) {
        Some([b'{', .., b'}']) => Ok(len),
        _ => Err(SendError::Encode),
    }
}

/// Moves what stands at `from..to` on by `size` bytes: one by one from the end, because
/// `copy_within` has a panic path, which firmware must not link.
fn open_gap(out: &mut [u8], from: usize, to: usize, size: usize) {
    for at in (from..to).rev() {
        let byte = out.get(at).copied().unwrap_or_default();
        if let Some(place) = out.get_mut(at.saturating_add(size)) {
            *place = byte;
        }
    }
}

/// The name and the brace that open a `_meta` that is added.
const META: &str = "\"_meta\":{";
/// The end of the object, and of the message around it.
pub(crate) const CLOSE: &str = "}}";
