//! Adds members of the protocol to results of the application.

use crate::action::SendError;
use crate::json::{Raw, Writer};
use crate::splice::{Additions, CLOSE, META, Members, OwnMeta};

/// A member that an object has to have; one that it has already stays as it is.
pub(super) struct Addition<'a> {
    pub(super) key: &'static str,
    /// Whether it belongs into `_meta`.
    pub(super) in_meta: bool,
    /// The bytes that it takes with its key, without a comma.
    pub(super) len: usize,
    pub(super) value: &'a dyn Fn(&mut Writer<'_>),
}

/// Completes the object at `start..end`, which ends a message of `len` bytes but for one brace,
/// and returns the new length of the message.
///
/// # Errors
///
/// [`SendError::BufferFull`] with the exact need once the payload is there as a whole; before that,
/// see [`check_room`].
pub(super) fn complete(
    out: &mut [u8],
    len: usize,
    (start, end): (usize, usize),
    additions: &[Addition<'_>],
) -> Result<usize, SendError> {
    check_room(out, len, (start, end), additions)?;
    if out.get(end.saturating_sub(1)..len) != Some(CLOSE.as_bytes()) {
        return Err(SendError::Encode);
    }
    let object = Raw::received(out.get(start..end).unwrap_or_default());
    let mut present = [false; MOST];
    let mut own = None;
    let mut first = true;
    for (name, value) in object.object().ok_or(SendError::Encode)?.members() {
        first = false;
        if name != "_meta" {
            note(&mut present, additions, false, |key| name == key);
            continue;
        }
        let members = value.object().ok_or(SendError::Encode)?;
        for (name, _) in members.members() {
            note(&mut present, additions, true, |key| name == key);
        }
        let before = (value.as_bytes().as_ptr() as usize)
            .saturating_sub(object.as_bytes().as_ptr() as usize);
        let meta = OwnMeta {
            at: start.saturating_add(before).saturating_add(1),
            is_empty: members.is_empty(),
        };
        if own.replace(meta).is_some() {
            return Err(SendError::Encode);
        }
    }
    let is_missing = |in_meta: bool| {
        let mut pairs = additions.iter().zip(present);
        pairs.any(|(addition, present)| !present && addition.in_meta == in_meta)
    };
    let members: Members<'_> = &|w| write_missing(additions, present, false, w);
    let meta: Members<'_> = &|w| write_missing(additions, present, true, w);
    Additions {
        before: is_missing(false).then_some(members),
        meta: is_missing(true).then_some(meta),
        after: None,
    }
    .splice(out, end, first, own)
}

/// Writes the additions that are not there yet.
fn write_missing(
    additions: &[Addition<'_>],
    present: [bool; MOST],
    in_meta: bool,
    w: &mut Writer<'_>,
) -> Result<(), SendError> {
    let mut separator = "";
    for (addition, present) in additions.iter().zip(present) {
        if !present && addition.in_meta == in_meta {
            w.literal(separator);
            addition.write(w);
            separator = ",";
        }
    }
    Ok(())
}

/// Checks that a message of `len` bytes, whose payload is at `start..end`, is there as a whole, so
/// that the payload can be looked at.
///
/// If it is not, the members that the payload may have are not known, so the need is that of a
/// payload with none of them: enough in any case, and exact unless the payload brings some.
pub(super) fn check_room(
    out: &[u8],
    len: usize,
    (start, end): (usize, usize),
    additions: &[Addition<'_>],
) -> Result<(), SendError> {
    if len <= out.len() {
        return Ok(());
    }
    let is_empty = end.saturating_sub(start) <= EMPTY.len();
    let mut needed = len;
    for in_meta in [false, true] {
        let mut lens = additions
            .iter()
            .filter(|it| it.in_meta == in_meta)
            .map(|it| it.len);
        let Some(first) = lens.next() else { continue };
        // Each has a comma before it, but for the first member of an object.
        let members = lens.fold(first, |sum, len| sum.saturating_add(len).saturating_add(1));
        let comma = usize::from(!is_empty || needed > len);
        let braces = if in_meta { META.len() + 1 } else { 0 };
        needed = needed
            .saturating_add(members)
            .saturating_add(comma + braces);
    }
    Err(SendError::BufferFull { needed })
}

/// A payload without members.
const EMPTY: &str = "{}";

impl Addition<'_> {
    fn write(&self, w: &mut Writer<'_>) {
        w.literal("\"");
        w.literal(self.key);
        w.literal("\":");
        (self.value)(w);
    }
}

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
const MOST: usize = 4;

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(payload: &str, expected: &str) {
        let additions = [
            Addition {
                key: "kind",
                in_meta: false,
                len: r#""kind":1"#.len(),
                value: &|w| w.unsigned(1),
            },
            Addition {
                key: "who",
                in_meta: true,
                len: r#""who":"me""#.len(),
                value: &|w| w.string("me"),
            },
        ];
        let message = std::format!("[{payload}}}");
        let object = (1, 1 + payload.len());
        let has_members = ["kind", "who", "_meta"]
            .iter()
            .any(|name| payload.contains(name));
        for size in 0..expected.len() + 64 {
            let mut out = std::vec![0; size];
            let whole = out.get_mut(..message.len()).map(|place| {
                place.copy_from_slice(message.as_bytes());
            });
            match complete(&mut out, message.len(), object, &additions) {
                Ok(len) => {
                    assert_eq!(core::str::from_utf8(&out[..len]).unwrap(), expected);
                    assert!(size >= expected.len());
                }
                Err(SendError::BufferFull { needed }) => {
                    assert!(size < expected.len(), "{size} bytes are enough");
                    assert!(needed >= expected.len());
                    if whole.is_some() || !has_members {
                        assert_eq!(needed, expected.len(), "{payload} in {size} bytes");
                    }
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
            let object = (0, payload.len());
            assert_eq!(
                complete(&mut out, payload.len() + 1, object, &[]),
                Err(SendError::Encode),
                "{payload}"
            );
        }
    }
}
