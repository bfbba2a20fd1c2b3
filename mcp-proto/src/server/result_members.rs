//! Adds members of the protocol to results of the application.

use crate::action::SendError;
use crate::json::{MemberWatch, Raw, Writer, offset};
use crate::payload::Payload;
use crate::revision::Revision;
use crate::splice::{Additions, CLOSE, Members, OwnMeta, WrittenObject};

/// A member that an object has to have; one that it has already stays as it is.
pub(super) struct Addition<'a> {
    pub(super) key: &'static str,
    /// True if the member belongs into `_meta`.
    pub(super) in_meta: bool,
    pub(super) value: &'a dyn Fn(&mut Writer<'_>),
}

/// Completes the object, which ends a message of `len` bytes but for one brace,
/// and returns the new length of the message. `payload` wrote the object, or else the object has
/// members, but none of the additions and no `_meta`.
///
/// # Errors
///
/// [`SendError::BufferFull`] with the exact need.
pub(super) fn complete(
    out: &mut [u8],
    len: usize,
    object: WrittenObject,
    additions: &[Addition<'_>],
    payload: Option<(&dyn Payload, Revision)>,
) -> Result<usize, SendError> {
    let WrittenObject { start, end, .. } = object;
    let is_there = len <= out.len();
    if is_there && out.get(end.saturating_sub(1)..len) != Some(CLOSE.as_bytes()) {
        return Err(SendError::Encode);
    }
    let lacks_all = payload.is_some_and(|(payload, _)| payload.lacks_reserved_members());
    let own = if lacks_all {
        OwnMembers::default()
    } else if let Some(own) = OwnMembers::noted(object, additions) {
        own
    } else if is_there {
        let object = Raw::received(out.get(start..end).unwrap_or_default());
        OwnMembers::read(object, start, additions)?
    } else if let Some((payload, revision)) = payload {
        OwnMembers::write(payload, revision, end.saturating_sub(start), additions)?
    } else {
        OwnMembers::default()
    };
    let is_missing = |in_meta: bool| {
        let mut pairs = additions.iter().zip(own.present);
        pairs.any(|(addition, present)| !present && addition.in_meta == in_meta)
    };
    let members: Members<'_> = &|w| write_missing(additions, own.present, false, w);
    let meta: Members<'_> = &|w| write_missing(additions, own.present, true, w);
    Additions {
        before: is_missing(false).then_some(members),
        meta: is_missing(true).then_some(meta),
        after: None,
    }
    .splice(out, end, own.is_empty, own.meta)
}

/// The members that an object has before it is completed.
#[derive(Default)]
struct OwnMembers {
    is_empty: bool,
    meta: Option<OwnMeta>,
    /// True for each addition that the object has already.
    present: [bool; MOST],
}

impl OwnMembers {
    /// Those of an object that were noted when it was written, if that is all there is to know: it has
    /// no `_meta`.
    fn noted(object: WrittenObject, additions: &[Addition<'_>]) -> Option<Self> {
        if cfg!(not(feature = "alloc")) || object.has("_meta")? {
            return None;
        }
        let mut present = [false; MOST];
        for (present, addition) in present.iter_mut().zip(additions) {
            *present = !addition.in_meta && object.has(addition.key)?;
        }
        Some(Self {
            is_empty: object.end.saturating_sub(object.start) <= EMPTY.len(),
            meta: None,
            present,
        })
    }

    /// Those of an object that begins at `start` of the message.
    fn read(object: Raw<'_>, start: usize, additions: &[Addition<'_>]) -> Result<Self, SendError> {
        let mut own = Self {
            is_empty: true,
            ..Self::default()
        };
        for (name, value) in object.object().ok_or(SendError::Encode)?.members() {
            own.is_empty = false;
            if name != "_meta" {
                note(&mut own.present, additions, false, |key| name == key);
                continue;
            }
            let members = value.object().ok_or(SendError::Encode)?;
            for (name, _) in members.members() {
                note(&mut own.present, additions, true, |key| name == key);
            }
            let before = offset(value.as_bytes(), object.as_bytes()).unwrap_or(0);
            let meta = OwnMeta {
                at: start.saturating_add(before).saturating_add(1),
                is_empty: members.is_empty(),
            };
            if own.meta.replace(meta).is_some() {
                return Err(SendError::Encode);
            }
        }
        Ok(own)
    }

    /// Those of a payload of `len` bytes, for which the buffer has no room.
    #[cold]
    #[inline(never)]
    fn write(
        payload: &dyn Payload,
        revision: Revision,
        len: usize,
        additions: &[Addition<'_>],
    ) -> Result<Self, SendError> {
        let mut watch = MemberWatch::new(additions.iter().map(|addition| addition.key));
        payload
            .write(&mut Writer::watching(&mut watch), revision)
            .map_err(|_| SendError::Encode)?;
        let mut present = [false; MOST];
        for (index, (present, addition)) in present.iter_mut().zip(additions).enumerate() {
            *present = watch.has(index, addition.in_meta);
        }
        Ok(Self {
            is_empty: len <= EMPTY.len(),
            // Nothing is written there.
            meta: watch.own_meta().map(|is_empty| OwnMeta { at: 0, is_empty }),
            present,
        })
    }
}

/// Writes the additions that are not there yet.
fn write_missing(
    additions: &[Addition<'_>],
    present: [bool; MOST],
    in_meta: bool,
    w: &mut Writer<'_>,
) -> Result<(), SendError> {
    let mut first = true;
    for (addition, present) in additions.iter().zip(present) {
        if !present && addition.in_meta == in_meta {
            w.separate(&mut first);
            w.name(addition.key);
            (addition.value)(w);
        }
    }
    Ok(())
}

/// A payload without members.
const EMPTY: &str = "{}";

/// Notes which of the additions is there already.
fn note(
    present: &mut [bool; MOST],
    additions: &[Addition<'_>],
    in_meta: bool,
    is: impl Fn(&str) -> bool,
) {
    for (present, addition) in present.iter_mut().zip(additions) {
        *present |= addition.in_meta == in_meta && is(addition.key);
    }
}

/// No message gets more additions than that.
const MOST: usize = MemberWatch::MOST;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(payload: &str, expected: &str) {
        let additions = [
            Addition {
                key: "kind",
                in_meta: false,
                value: &|w| w.unsigned(1),
            },
            Addition {
                key: "who",
                in_meta: true,
                value: &|w| w.string("me"),
            },
        ];
        let message = std::format!("[{payload}}}");
        let object = WrittenObject {
            start: 1,
            end: 1 + payload.len(),
            ..WrittenObject::default()
        };
        let raw = Raw::parse(payload.as_bytes(), 8).unwrap();
        for size in 0..expected.len() + 64 {
            let mut out = std::vec![0; size];
            if let Some(place) = out.get_mut(..message.len()) {
                place.copy_from_slice(message.as_bytes());
            }
            let payload: (&dyn Payload, _) = (&raw, Revision::V2026_07_28);
            match complete(&mut out, message.len(), object, &additions, Some(payload)) {
                Ok(len) => {
                    assert_eq!(core::str::from_utf8(&out[..len]).unwrap(), expected);
                    assert!(size >= expected.len());
                }
                Err(SendError::BufferFull { needed }) => {
                    assert!(size < expected.len(), "{size} bytes are enough");
                    assert_eq!(needed, expected.len(), "{raw:?} in {size} bytes");
                }
                Err(other) => panic!("{other}"),
            }
        }
    }

    #[test]
    fn members_are_added_where_they_are_missing() {
        check("{}", r#"[{"kind":1,"_meta":{"who":"me"}}}"#);
        check(r#"{"a":2}"#, r#"[{"a":2,"kind":1,"_meta":{"who":"me"}}}"#);
        check(r#"{"_meta":{}}"#, r#"[{"_meta":{"who":"me"},"kind":1}}"#);
        check(
            r#"{"_meta":{"x":1},"a":2}"#,
            r#"[{"_meta":{"who":"me","x":1},"a":2,"kind":1}}"#,
        );
        check(
            r#"{"kind":7,"_meta":{"who":"you"}}"#,
            r#"[{"kind":7,"_meta":{"who":"you"}}}"#,
        );
    }

    #[test]
    fn only_objects_are_completed() {
        for payload in ["[]", "1", "{\"_meta\":1}", "{\"_meta\":{},\"_meta\":{}}"] {
            let mut out = [b'}'; 64];
            out[..payload.len()].copy_from_slice(payload.as_bytes());
            let object = WrittenObject {
                end: payload.len(),
                ..WrittenObject::default()
            };
            assert_eq!(
                complete(&mut out, payload.len() + 1, object, &[], None),
                Err(SendError::Encode),
                "{payload}"
            );
        }
    }
}
