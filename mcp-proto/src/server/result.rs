//! Members that the protocol adds to what the application wrote.

use crate::action::SendError;
use crate::json::{Raw, Writer};

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
/// ```text
/// before  {"id":1,"result":{"content":[]}}
/// after   {"id":1,"result":{"content":[],"resultType":"complete","_meta":{..}}}
/// ```
///
/// The need is that of an object that has none of the members: whoever has such a buffer
/// succeeds, whoever has less fails, whatever the payload holds.
pub(super) fn complete(
    out: &mut [u8],
    len: usize,
    (start, end): (usize, usize),
    additions: &[Addition<'_>],
) -> Result<usize, SendError> {
    check_room(out, len, additions)?;
    let close = end.saturating_sub(1);
    if out.get(close..len) != Some(CLOSE.as_bytes()) {
        return Err(SendError::Encode);
    }
    let object = Raw::received(out.get(start..end).unwrap_or_default());
    let mut present = [false; MOST];
    let mut meta = None;
    let mut separator = "";
    for (name, value) in object.object().ok_or(SendError::Encode)?.members() {
        separator = ",";
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
        let inside = start.saturating_add(before).saturating_add(1);
        if meta.replace((inside, members.is_empty())).is_some() {
            return Err(SendError::Encode);
        }
    }
    let missing = |in_meta: bool| {
        let wanted = move |(addition, present): &(&Addition<'_>, bool)| {
            !present && addition.in_meta == in_meta
        };
        additions
            .iter()
            .zip(present)
            .filter(wanted)
            .map(|(addition, _)| addition)
    };
    let mut close = close;
    match meta {
        Some((inside, empty)) if missing(true).next().is_some() => {
            let size = missing(true).fold(0, |size: usize, addition| {
                size.saturating_add(addition.len).saturating_add(1)
            });
            let size = size.saturating_sub(usize::from(empty));
            open_gap(out, inside, close, size);
            close = close.saturating_add(size);
            let mut w = Writer::new(out.get_mut(inside..).unwrap_or_default());
            let mut between = "";
            for addition in missing(true) {
                w.literal(between);
                addition.write(&mut w);
                between = ",";
            }
            if !empty {
                w.literal(",");
            }
        }
        _ => {}
    }
    let mut w = Writer::new(out.get_mut(close..).unwrap_or_default());
    for addition in missing(false) {
        w.literal(separator);
        addition.write(&mut w);
        separator = ",";
    }
    if meta.is_none() && missing(true).next().is_some() {
        w.literal(separator);
        w.literal(META);
        let mut between = "";
        for addition in missing(true) {
            w.literal(between);
            addition.write(&mut w);
            between = ",";
        }
        w.literal("}");
    }
    w.literal(CLOSE);
    Ok(close.saturating_add(w.len()))
}

/// Whether there is room for a message of `len` bytes and all that may be added to it.
pub(super) fn check_room(
    out: &[u8],
    len: usize,
    additions: &[Addition<'_>],
) -> Result<(), SendError> {
    let in_meta = additions.iter().any(|addition| addition.in_meta);
    let braces = if in_meta { META.len() + 2 } else { 0 };
    let needed = additions
        .iter()
        .fold(len.saturating_add(braces), |needed, addition| {
            needed.saturating_add(addition.len).saturating_add(1)
        });
    if needed > out.len() {
        return Err(SendError::BufferFull { needed });
    }
    Ok(())
}

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

/// Moves what stands at `from..to` on by `size` bytes: one by one from the end, because
/// `copy_within` brings a panic path, and hardly anybody writes `_meta`.
fn open_gap(out: &mut [u8], from: usize, to: usize, size: usize) {
    for at in (from..to).rev() {
        let byte = out.get(at).copied().unwrap_or_default();
        if let Some(place) = out.get_mut(at.saturating_add(size)) {
            *place = byte;
        }
    }
}

const META: &str = "\"_meta\":{";
/// The end of the object, and of the message around it.
const CLOSE: &str = "}}";
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
        let mut fitted = None;
        for size in message.len()..message.len() + 64 {
            let mut out = std::vec![0; size];
            out[..message.len()].copy_from_slice(message.as_bytes());
            match complete(&mut out, message.len(), object, &additions) {
                Ok(len) => {
                    assert_eq!(core::str::from_utf8(&out[..len]).unwrap(), expected);
                    fitted.get_or_insert(size);
                }
                Err(error) => {
                    assert_eq!(fitted, None);
                    assert!(matches!(error, SendError::BufferFull { needed } if needed > size));
                }
            }
        }
        assert!(fitted.is_some());
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
